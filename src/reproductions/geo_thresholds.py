"""Liang and Yi 2024: Figures 3 and 8, one-way thresholds against the number of people.

Errors are exact expectations over the points, not simulations: the noise mechanisms are unbiased with a known variance
per person, M0's bias is found by quadrature. Incomes are a log-normal stand-in; Californian households if given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row
from sordino.geo import QueryMechanism, Threshold
from sordino.geo.baseline import expected_bias, noise_variance
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.query import Query

MU, SIGMA = 11.494, 0.829  # of the logarithms of incomes
PEOPLE = (100_000, 200_000, 400_000, 800_000, 1_600_000)
#: Threshold in dollars, and the distances at which epsilon is one.
ONE_WAY = {
    10_000: (800, 1200, 2000),
    100_000: (8000, 12_000, 20_000),
    500_000: (16_000, 24_000, 40_000),
    1_000_000: (32_000, 48_000, 80_000),
}
FIGURES = {"3": (10_000, 500_000), "8": (100_000, 1_000_000)}
HOUSEHOLDS = Path("incomes") / "acs2024_ca_households.parquet"
M0, M2, M3, LDP, BEST = "M0 moved points", "M2 Laplace", "M3 published", "local DP", "Laplace-Pareto"
#: Our mechanisms: noise, scope of the bound, smoothing as a share of the loss per dollar.
OURS = {
    "PolyPlace, global bound": ("polyplace", "global", 1 / 9),
    "PolyPlace, local bound": ("polyplace", "local", 1 / 4),
    BEST: ("laplace-pareto", "local", 0.3),
}
STAND_IN, REAL = "log-normal stand-in", "California households"


def log_normal(count: int) -> NDArray[np.float64]:
    """Equally likely incomes of the fitted log-normal law: its quantiles.

    Example:
        >>> [round(float(x)) for x in log_normal(3)]
        [44003, 98125, 218817]
    """
    from scipy.special import ndtri

    return np.exp(MU + SIGMA * ndtri((np.arange(count) + 0.5) / count))


def incomes(source: str, count: int, data: str | None) -> NDArray[np.float64]:
    """The stand-in, or households drawn with their weights from the public file."""
    if source == STAND_IN or data is None:
        return log_normal(count)
    from pyarrow import parquet

    table = parquet.read_table(Path(data) / HOUSEHOLDS, columns=["income", "weight"])
    income, weight = table["income"].to_numpy(), table["weight"].to_numpy().astype(float)
    generator = np.random.default_rng(2001)
    return generator.choice(income, count, p=weight / weight.sum()).astype(float)


def variances(query: Query, price: Geo, points: NDArray[np.float64], *, radius: float) -> dict[str, float]:
    """Mean variance per person of the unbiased mechanisms: the paper's and ours."""
    found = {
        name: float(noise_variance(key, query, points, price, radius=radius).mean())
        for key, name in (("M2", M2), ("LDP", LDP), ("M3", M3))
    }
    for name, (noise, scope, share) in OURS.items():
        made = QueryMechanism.choose(
            query, price, noise=noise, scope=scope, smoothing=share * float(price.rate)
        )
        found[name] = float(made.variance(points).mean())
    return found


def _parts(figure: str, scale: str, data: Path | None) -> list[Part]:
    count = 2_000 if scale == "smoke" else 40_000
    sources = [STAND_IN, *([REAL] if data is not None and (data / HOUSEHOLDS).exists() else [])]
    return [
        {
            "source": source,
            "threshold": at,
            "distances": list(ONE_WAY[at]),
            "people": list(PEOPLE),
            "points": count,
            "data": None if source == STAND_IN else str(data),
        }
        for source in sources
        for at in FIGURES[figure]
    ]


def _compute(part: Part) -> list[Row]:
    x, at = incomes(part["source"], part["points"], part["data"]), part["threshold"]
    rows: list[Row] = []
    for distance in part["distances"]:
        price = Geo(1, per=distance)
        query = Threshold(at=at, width=min(0.2 * at, 2.0 * distance))
        bias, spread = expected_bias("M0", query, x, price, quantiles=512)
        found = {M0: (float(bias.mean() ** 2), float(spread.mean()))}
        for name, value in variances(query, price, x, radius=distance).items():
            found[name] = 0.0, value
        for name, (squared, variance) in found.items():
            cell = [part["source"], at, distance, name]
            rows += [[*cell, people, squared + variance / people] for people in part["people"]]
    return rows


def _source(result: Result) -> str:
    """Draw and speak of real data when they were given."""
    return str(result.values("source")[-1])


def gains(result: Result, source: str) -> list[tuple[float, float]]:
    """Squared errors of M3 and of M2 over that of Laplace-Pareto noise, by setting; any number of people gives them."""
    found = []
    for at in result.values("threshold"):
        for distance in ONE_WAY[at]:
            cell = {"source": source, "threshold": at, "distance": distance, "people": PEOPLE[2]}
            m3, m2, ours = (result.one("error", mechanism=name, **cell) for name in (M3, M2, BEST))
            found.append((m3 / ours, m2 / ours))
    return found


def _say(result: Result) -> str:
    source = _source(result)
    ratios = gains(result, source)
    worse = [
        f"{at:,}"
        for at, three in zip(result.values("threshold"), zip(*[iter(ratios)] * 3, strict=True), strict=True)
        if all(m3 > m2 for m3, m2 in three)
    ]
    tell = (
        f"M3 loses to M2 at a threshold of {', '.join(worse)} dollars"
        if worse
        else "M3 beats M2 in all settings"
    )
    wins = sum(m2 > 1 for _, m2 in ratios)
    most = {"source": source, "people": PEOPLE[-1]}
    stuck = [
        result.one("error", mechanism=M0, threshold=at, distance=d, **most)
        / result.one("error", mechanism=M0, threshold=at, distance=d, **{**most, "people": PEOPLE[0]})
        for at in result.values("threshold")
        for d in ONE_WAY[at]
    ]
    return (
        f"On {source}: {tell}. Laplace-Pareto noise has {min(m3 for m3, _ in ratios):.1f} to "
        f"{max(m3 for m3, _ in ratios):.0f} times less squared error than M3 and beats M2 in {wins} of {len(ratios)} "
        f"settings. Sixteen times the people leave M0 {100 * min(stuck):.0f} to {100 * max(stuck):.0f} % of its error."
    )


def _draw(result: Result) -> Any:
    from sordino import plots

    source, thresholds = _source(result), result.values("threshold")
    with plots.style() as plt:
        figure, axes = plt.subplots(len(thresholds), 3, figsize=(10.4, 6.6), sharex=True, sharey="row")
        for row, at in zip(axes, thresholds, strict=True):
            for axis, distance in zip(row, ONE_WAY[at], strict=True):
                cell = {"source": source, "threshold": at, "distance": distance}
                for (name, line), mark in zip(
                    zip((M0, M2, M3, *OURS), plots.lines(), strict=False), "ovs^D*", strict=True
                ):
                    errors = result.column("error", mechanism=name, **cell)
                    axis.plot(PEOPLE, errors, marker=mark, markersize=4, label=name, **line)
                axis.set(xscale="log", yscale="log")
                axis.set_title(f"threshold {at:,}, epsilon 1 per {distance:,}", fontsize=9.5)
                axis.set_xticks(PEOPLE, [f"{n / 1e6:g}M" for n in PEOPLE], minor=False)
                axis.minorticks_off()
            row[0].set_ylabel("mean squared error")
        for axis in axes[-1]:
            axis.set_xlabel("people")
        figure.suptitle(f"One-way thresholds on incomes (dollars): {source}", x=0.01, ha="left", fontsize=11)
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return figure


def _three(scale: str, data: Path | None) -> list[Part]:
    return _parts("3", scale, data)


def _eight(scale: str, data: Path | None) -> list[Part]:
    return _parts("8", scale, data)


_COLUMNS = ("source", "threshold", "distance", "mechanism", "people", "error")
EXPERIMENTS = (
    Experiment(
        "liang-2024-figure-3",
        "liang-2024",
        "error of one-way thresholds on incomes at 10,000 and 500,000 dollars, exact expectations",
        "Most incomes are far from these thresholds: the smooth-sensitivity mechanism M3 is far better than M2. M0 is "
        "good at large epsilon, but more people do not help it.",
        _COLUMNS,
        _three,
        _compute,
        _say,
        _draw,
    ),
    Experiment(
        "liang-2024-figure-8",
        "liang-2024",
        "error of one-way thresholds on incomes at 100,000 and 1,000,000 dollars, exact expectations",
        "Many incomes are near 100,000: M3 is a constant factor worse than M2 there, and M0 does badly. At 1,000,000 "
        "it is as in Figure 3.",
        _COLUMNS,
        _eight,
        _compute,
        _say,
        _draw,
    ),
)
