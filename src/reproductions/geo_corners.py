"""Liang and Yi 2024: Figure 4, two-way thresholds on generated incomes and debts.

Errors are exact expectations against the sharp corner: noise and softening for the unbiased mechanisms, the bias of
moved points for M0, an integral of the bivariate normal law that needs no sample. Data are generated, as in the paper.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row
from reproductions.geo_thresholds import BEST, LDP, M0, M2, M3, MU, OURS, SIGMA, variances
from sordino.geo import QueryMechanism, TwoWayThreshold
from sordino.geo.baseline import planar_radius
from sordino.privacy import Geo

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

DEBT_RATIO, CORRELATION = 1.791, 0.4
DISTANCES = (8000, 12_000, 20_000)
PEOPLE = (400_000, 800_000, 1_600_000, 3_200_000, 6_400_000)
DEFAULT = (12_000, 1_600_000)  # of the paper: distance at which epsilon is one, people
RADIUS = 12_000  # the paper's C, for local DP
#: Width of the band as a multiple of the distance: the paper's, and a narrower one that suits less noise.
BAND, NARROW = 2.0, 1.2
NARROWED, SOFT = "Laplace-Pareto, narrow band", "no noise, soft corner"
_CENTRES = np.array([MU, MU + math.log(DEBT_RATIO)])


def spread_evenly(count: int, dimension: int) -> NDArray[np.float64]:
    """Points that fill the unit cube evenly: multiples of the powers of the root of x^(d+1) = x + 1, modulo one."""
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (dimension + 1))
    steps = root ** -np.arange(1.0, dimension + 1)
    filled: NDArray[np.float64] = (0.5 + np.arange(count)[:, None] * steps) % 1.0
    return filled


def debts(count: int) -> NDArray[np.float64]:
    """Equally likely pairs of income and debt of the correlated log-normal law (section 5 of the paper).

    Example:
        >>> np.log(debts(4096)).mean(axis=0).round(1)
        array([11.5, 12.1])
    """
    from scipy.special import ndtri

    one, two = ndtri(spread_evenly(count, 2)).T
    pair = np.stack([one, CORRELATION * one + math.sqrt(1 - CORRELATION**2) * two], axis=1)
    drawn: NDArray[np.float64] = np.exp(_CENTRES + SIGMA * pair)
    return drawn


def both_above(one: ArrayLike, two: ArrayLike) -> NDArray[np.float64]:
    """Probability that income and debt are above two thresholds, by Owen's T function (Owen 1956).

    Example:
        >>> both_above([-1.0, 1e5], [-1.0, -1.0]).round(4)
        array([1.    , 0.4909])
    """
    from scipy.special import ndtr, owens_t

    with np.errstate(divide="ignore"):
        logs = [np.log(np.maximum(np.asarray(x, dtype=np.float64), 1e-12)) for x in (one, two)]
    h, k = (-(x - centre) / SIGMA for x, centre in zip(logs, _CENTRES, strict=True))
    h, k = (np.where(np.abs(x) < 1e-9, 1e-9, x) for x in (h, k))
    root = math.sqrt(1 - CORRELATION**2)
    below = (
        0.5 * (ndtr(h) + ndtr(k))
        - owens_t(h, (k / h - CORRELATION) / root)
        - owens_t(k, (h / k - CORRELATION) / root)
    )
    found: NDArray[np.float64] = np.clip(below - np.where(h * k < 0, 0.5, 0.0), 0.0, 1.0)
    return found


def moved(corner: tuple[float, float], distance: float, *, nodes: int = 32) -> tuple[float, float]:
    """Bias of M0 at a sharp corner, and the mean variance of a report.

    The radius of the planar Laplace law has density r e^-r, so Gauss-Laguerre points integrate it; angles are even. A
    person's chance q of being moved into the corner has E[q^2] = P(two independent moves both land there).
    """
    from scipy.special import roots_genlaguerre

    radius, weight = roots_genlaguerre(nodes, 1.0)
    angle = 2 * math.pi * (np.arange(nodes) + 0.5) / nodes
    east, north = distance * np.outer(radius, np.cos(angle)), distance * np.outer(radius, np.sin(angle))
    mean = float(weight @ both_above(corner[0] - east, corner[1] - north).mean(axis=1) / weight.sum())
    u = spread_evenly(nodes * nodes, 4)
    pairs = [
        distance * planar_radius(u[:, i], 2) * turn(2 * math.pi * u[:, i + 1])
        for turn in (np.cos, np.sin)
        for i in (0, 2)
    ]
    both = both_above(corner[0] - np.minimum(pairs[0], pairs[1]), corner[1] - np.minimum(pairs[2], pairs[3]))
    return mean - float(both_above(*corner)), mean - float(both.mean())


def softness(query: TwoWayThreshold, crowd: NDArray[np.float64]) -> float:
    """Mean of the soft answer minus the sharp one; only points near the boundary are looked at, others give zero."""
    (one, two), near = query.at, 2 * query.width
    x, y = crowd.T
    band = (x > one - near) & (y > two - near) & ((x < one + near) | (y < two + near))
    some = crowd[band]
    sharp = (some[:, 0] > one) & (some[:, 1] > two)
    return float((query.value(some) - sharp).sum()) / crowd.shape[0]


def _parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    """The paper's grid of 33 corners a side, and one of 12."""
    sides, count, many = ((4,), 512, 16_384) if scale == "smoke" else ((12, 33), 4096, 524_288)
    return [
        {"side": side, "distance": distance, "points": count, "crowd": many}
        for side in sides
        for distance in DISTANCES
    ]


def _compute(part: Part) -> list[Row]:
    points, distance, side = debts(part["points"]), part["distance"], part["side"]
    crowd = debts(part["crowd"])  # the softness is a small difference of two means: it needs many points
    price, edges = Geo(1, per=distance), np.linspace(1e4, 1e6, side)
    bias: dict[str, float] = {}
    noise: dict[str, float] = {}
    for one in edges:
        for two in edges:
            soft, queries = {}, {}
            for share in (BAND, NARROW):
                # The paper's width keeps below twice the smaller threshold only for most corners; so does ours.
                query = TwoWayThreshold(at=(one, two), width=min(0.2 * np.hypot(one, two), share * distance))
                queries[share], soft[share] = query, softness(query, crowd) ** 2
            found = {
                name: (soft[BAND], v)
                for name, v in variances(queries[BAND], price, points, radius=RADIUS).items()
            }
            _, scope, smoothing = OURS[BEST]
            made = QueryMechanism.choose(
                queries[NARROW],
                price,
                noise="laplace-pareto",
                scope=scope,
                smoothing=smoothing * float(price.rate),
            )
            found[NARROWED] = soft[NARROW], float(made.variance(points).mean())
            found[SOFT] = soft[BAND], 0.0
            shift, spread = moved((one, two), distance)
            found[M0] = shift**2, spread
            for name, (squared, variance) in found.items():
                bias[name] = bias.get(name, 0.0) + squared / side**2
                noise[name] = noise.get(name, 0.0) + variance / side**2
    sizes = PEOPLE if distance == DEFAULT[0] else (DEFAULT[1],)
    return [
        [side, distance, name, people, bias[name], noise[name], bias[name] + noise[name] / people]
        for name in bias
        for people in sizes
    ]


def _say(result: Result) -> str:
    side = result.values("side")[-1]
    words, won, best, gain = [], 0, 0, []
    for distance in DISTANCES:
        cell = {
            name: result.one("error", side=side, distance=distance, people=DEFAULT[1], mechanism=name)
            for name in (M0, M2, M3, BEST, NARROWED)
        }
        won += cell[M3] < cell[M2]
        best += cell[M3] < min(cell[M0], cell[M2])
        gain.append(cell[M3] / cell[NARROWED])
        words.append(f"1/{distance}: {', '.join(f'{name} {value:.2g}' for name, value in cell.items())}")
    return (
        f"Squared error against the sharp corner, mean over {side} x {side} corners, {DEFAULT[1]:,} people (generated "
        f"data): {'; '.join(words)}. M3 beats M2 in {won} of {len(DISTANCES)} settings and is the paper's best in "
        f"{best}. Laplace-Pareto noise with a narrower band has {min(gain):.1f} to {max(gain):.1f} times less than M3."
    )


NAMES = (M0, M2, M3, LDP, "PolyPlace, local bound", BEST, NARROWED, SOFT)


def _draw(result: Result) -> Any:
    from sordino import plots

    side = result.values("side")[-1]
    with plots.style() as plt:
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.8), sharey=True)
        for (name, line), mark in zip(zip(NAMES, plots.lines(), strict=False), "ovsPD*^x", strict=True):
            look = {"marker": mark, "markersize": 5, **line}
            errors = [
                result.one("error", side=side, distance=d, people=DEFAULT[1], mechanism=name)
                for d in DISTANCES
            ]
            left.plot(DISTANCES, errors, label=name, **look)
            errors = result.column("error", side=side, distance=DEFAULT[0], mechanism=name)
            right.plot(PEOPLE, errors, **look)
        left.set(xscale="log", yscale="log", xlabel="distance at which epsilon is 1 (dollars)")
        left.set(ylabel="squared error, mean over the corners", title=f"{DEFAULT[1]:,} people")
        left.set_xticks(DISTANCES, [f"{d:,}" for d in DISTANCES])
        right.set(xscale="log", xlabel="people", title=f"epsilon 1 per {DEFAULT[0]:,} dollars")
        right.set_xticks(PEOPLE, [f"{n / 1e6:g}M" for n in PEOPLE])
        for axis in (left, right):
            axis.minorticks_off()
        figure.suptitle(
            f"Two-way thresholds, {side} x {side} sharp corners, generated incomes and debts",
            x=0.01,
            ha="left",
            fontsize=11,
        )
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return figure


EXPERIMENTS = (
    Experiment(
        "liang-2024-figure-4",
        "liang-2024",
        "error of two-way thresholds on incomes and debts, exact expectations",
        "M3 performs the best over the entire set of corners; M0 does not gain from more people.",
        ("side", "distance", "mechanism", "people", "squared bias", "variance", "error"),
        _parts,
        _compute,
        _say,
        _draw,
    ),
)
