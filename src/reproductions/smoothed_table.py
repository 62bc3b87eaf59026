"""Liu, Wang and Xia 2023: Table 1 with numbers in place of orders of growth.

The tally of 2020 with 0.2 % of the ballots lost: smoothed and ordinary privacy, without noise and with it. Electorates
lie between DC and NE-3, the ends that are built in; the state and district files are used when they are given.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from reproductions.elections import EPSILON, LOST, POPULAR_VOTES, UNITS_2020, ends, read_units
from reproductions.experiment import Experiment, Part, Result, Row
from sordino.smoothed import sampling

LN10 = math.log(10.0)
LAST = POPULAR_VOTES[-1]
EPSILONS = (round(EPSILON, 4), 0.5, 1.0, 2.0, 7.0)
RATES = (1 - LOST, 0.5)
BUILT_IN = "DC and NE-3, built in"
FILES = {
    "56 units from file": Path("elections") / "us_president_2020_states.csv",
    "435 districts from file": Path("elections") / "us_president_2020_districts.csv",
}
SMOOTHED, COUNT, WORST, NOISY = "smoothed DP", "the count of 2020", "DP", "DP, Laplace noise 1/epsilon"


def _electorates(data: Path | None) -> dict[str, list[float]]:
    """Democratic share at both ends of the hull, by source."""
    found = {BUILT_IN: [UNITS_2020["DC"], UNITS_2020["NE-3"]]}
    for name, path in FILES.items():
        if data is not None and (data / path).exists():
            units = read_units(data / path)
            found[name] = [units[end] for end in ends(units)]
    return {name: [one / (one + two) for one, two in pair] for name, pair in found.items()}


def _parts(scale: str, data: Path | None) -> list[Part]:
    sizes = (10_000, 1_000_000) if scale == "smoke" else (10_000, 1_000_000, 10_000_000, LAST.votes)
    parts: list[Part] = [
        {"notion": SMOOTHED, "electorates": name, "shares": shares, "voters": n, "lost": LOST}
        for name, shares in _electorates(data).items()
        for n in sizes
    ]
    parts.append({"notion": COUNT, "year": LAST.year, "lost": LOST})
    parts += [{"notion": WORST, "voters": n, "lost": LOST} for n in sizes]
    parts += [{"notion": NOISY, "rate": rate} for rate in RATES]
    return [{**part, "epsilons": list(EPSILONS)} for part in parts]


def falling_rate(share: float, lost: float, epsilon: float) -> float:
    """The limit of -ln(smoothed delta)/n when all voters come from one electorate with minority ``share``.

    Lost and published ballots are independent binomial samples, so the cost per voter of a count that gives a vote away
    is lost KL(beta, share) + (1 - lost) KL(alpha, share). With k the minority's share of all ballots it is given away
    where beta, its share of the lost ones, is k / (k + e^epsilon (1 - k)); k is free, the cheapest is taken.

    Example:
        >>> round(1e5 * falling_rate(0.0553, 0.002, 1.0), 3)
        2.904
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import kl_div

    def divergence(a: float, b: float) -> float:
        return float(kl_div(a, b) + kl_div(1 - a, 1 - b))

    def cost(k: float) -> float:
        beta = k / (k + math.exp(epsilon) * (1 - k))
        alpha = (k - lost * beta) / (1 - lost)
        return lost * divergence(beta, share) + (1 - lost) * divergence(alpha, share)

    found = minimize_scalar(
        cost, bounds=(share / 4, min(1.0, 4 * share)), method="bounded", options={"xatol": 1e-12}
    )
    return float(found.fun)


def attained(rate: float, epsilon: float) -> float:
    """Epsilon of a tally of a sample with Laplace noise 1/epsilon, at its worst database: one lone vote.

    Without that vote the count is 0, with it 1 with probability ``rate``; the ratio of the two densities is largest at
    and beyond 1. No database exceeds ln(1 + rate (e^epsilon - 1)) (amplification by sampling), so this is the price.

    Example:
        >>> round(attained(0.5, 1.0), 4)
        0.6201
    """
    import numpy as np

    from sordino.noise.laplace import Laplace

    y = np.linspace(-3.0, 4.0, 1401)
    without = Laplace().logpdf(epsilon * y)
    lone = np.logaddexp(math.log(rate) + Laplace().logpdf(epsilon * (y - 1)), math.log1p(-rate) + without)
    return float(np.abs(lone - without).max())


def _compute(part: Part) -> list[Row]:
    notion, rows = part["notion"], []
    for epsilon in part["epsilons"]:
        where, voters, rate, delta, fall, limit = "any", 0, 1 - part.get("lost", 0.0), -math.inf, 0.0, 0.0
        paid = epsilon
        if notion == SMOOTHED:
            where, voters = part["electorates"], part["voters"]
            model = sampling(size=voters, electorates=part["shares"], held_back=part["lost"])
            delta = model.delta(epsilon=epsilon, method="auto" if voters <= 20_000 else "ends").log_delta
            minority = min(min(share, 1 - share) for share in part["shares"])
            fall, limit = -delta / voters, falling_rate(minority, part["lost"], epsilon)
        elif notion == COUNT:
            tally = LAST.sampled(lost=part["lost"])
            where, voters, delta = "as counted", LAST.votes, tally.log_delta(epsilon)
        elif notion == WORST:
            voters = part["voters"]
            # The database of one lone vote reaches the worst case at every epsilon.
            delta = sampling(records=[voters - 1, 1], held_back=part["lost"]).log_delta(epsilon)
        else:
            rate, paid = part["rate"], attained(part["rate"], epsilon)
        rows.append([notion, where, rate, voters, epsilon, paid, delta / LN10, fall, limit])
    return rows


def _largest(result: Result) -> int:
    return int(max(result.column("voters", notion=SMOOTHED)))


def _say(result: Result) -> str:
    n = _largest(result)
    cells = [
        f"1e{result.one('log10 delta', electorates=BUILT_IN, voters=n, epsilon=e):.4g}" for e in EPSILONS
    ]
    two = [result.one("rate", electorates=BUILT_IN, voters=n, epsilon=e) for e in (1.0, 7.0)]
    limits = [result.one("limit", electorates=BUILT_IN, voters=n, epsilon=e) for e in (1.0, 7.0)]
    small = 10 ** result.one("log10 delta", electorates=BUILT_IN, voters=10_000, epsilon=1.0)
    half = result.one("found epsilon", notion=NOISY, **{"sampling rate": 0.5}, epsilon=1.0)
    others = [name for name in result.values("electorates") if name in FILES]
    data = f" The files ({', '.join(others)}) give the other rows." if others else ""
    return (
        f"Smoothed delta of {n:,} voters with 0.2 % of the ballots lost is {', '.join(cells)} at epsilon "
        f"{', '.join(f'{e:g}' for e in EPSILONS)}: exp(-c n) with c = {two[0]:.3g} and {two[1]:.3g} at epsilon 1 and 7 "
        f"(in the limit {limits[0]:.3g} and {limits[1]:.3g}). Such a c is small: 10,000 voters have {small:.2f}. "
        f"Ordinary delta is the sampling rate at every epsilon. With noise the paper's (eta epsilon, 0) is too small: "
        f"half of the ballots and epsilon 1 cost {half:.3f}, not 0.5.{data}"
    )


def table(result: Result) -> tuple[list[str], list[list[str]]]:
    """Table 1 as words: the heads, and one row per notion and kind of electorate."""
    n = _largest(result)
    head = ["notion", "electorates", "the paper", *[f"epsilon {e:g}" for e in EPSILONS]]
    rows = []
    for name in result.values("electorates"):
        if name in (BUILT_IN, *FILES):
            said = result.column("log10 delta", electorates=name, voters=n)
            rows.append([SMOOTHED, name, "exp(-Theta(n))", *[_power(x) for x in said]])
    said = result.column("log10 delta", notion=COUNT)
    rows.append([COUNT, "as counted", "below 1/n", *[_power(x) for x in said]])
    said = result.column("log10 delta", notion=WORST, voters=n)
    rows.append([WORST, "any", "delta = eta", *[f"{10**x:.4g}" for x in said]])
    for rate in result.values("sampling rate"):
        paid = result.column("found epsilon", notion=NOISY, **{"sampling rate": rate})
        if paid:
            pairs = [f"{found:.4g} ({rate * e:.4g})" for found, e in zip(paid, EPSILONS, strict=True)]
            rows.append(["DP, noise 1/epsilon", f"any, {100 * rate:g} % kept", "(eta epsilon, 0)", *pairs])
    return head, rows


def _power(log10: float) -> str:
    return f"{10**log10:.3g}" if log10 > -3 else f"$10^{{{log10:.{1 if log10 > -1000 else 0}f}}}$"


def _draw(result: Result) -> Any:
    from sordino import plots

    head, rows = table(result)
    with plots.style() as plt:
        figure, axes = plt.subplots(figsize=(12.6, 0.36 * len(rows) + 0.8))
        axes.axis("off")
        axes.set_title(
            f"Table 1 for {_largest(result):,} voters (2020), 0.2 % of the ballots lost: delta without noise; "
            "with noise, epsilon at delta 0 (the paper's)"
        )
        wide = [0.145, 0.165, 0.115, *[0.115] * len(EPSILONS)]
        drawn = axes.table(
            rows, colLabels=head, colWidths=wide, cellLoc="center", bbox=(0, 0, 1, 1), edges="horizontal"
        )
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(9.5)
        for (line, column), cell in drawn.get_celld().items():
            cell.set_linewidth(0.8 if line else 1.2)
            if line == 0:
                cell.set_text_props(weight="bold")
            if column < 2:
                cell.set_text_props(ha="left")
        return figure


EXPERIMENTS = (
    Experiment(
        "liu-2023-table-1",
        "liu-2023",
        "smoothed and ordinary privacy of the 2020 tally, with and without noise, in numbers",
        "Without noise the tally is (epsilon, exp(-Theta(n))) under smoothed DP and (0, eta) under DP; with noise of "
        "level 1/epsilon it is (eta epsilon, 0) under DP.",
        (
            "notion",
            "electorates",
            "sampling rate",
            "voters",
            "epsilon",
            "found epsilon",
            "log10 delta",
            "rate",
            "limit",
        ),
        _parts,
        _compute,
        _say,
        _draw,
    ),
)
