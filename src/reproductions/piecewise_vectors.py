"""Durfee 2025 (piecewise Laplace), section 5: answers in d dimensions, drawn by the product and set against their laws.

The paper leaves sampling in d dimensions to rejection; the product draws a shell, a term and a direction and rejects
nothing (docs/proofs/mechanism_radial.md). Draws are seeded: these columns are generated and nobody's.
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.additive.radial import RadialLaplace
from sordino.mechanisms.additive.radial_law import RadialLaw
from sordino.privacy import Pure
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.vector import Vector

if TYPE_CHECKING:
    from sordino.reading.profile import Reading

ROWS, TRIMMED, LOW, HIGH = 5001, 500, -50, 1050
GRID = Lattice.dyadic(-30)
#: Dimension: draws at full scale, and at smoke scale.
DIMENSIONS = {1: (800, 150), 2: (800, 150), 5: (300, 60), 20: (60, 0)}
NORMS = {"1": 1.0, "2": 2.0, "inf": math.inf}


def reading_of(dimension: int, norm: float, *, seed: int, mechanism: RadialLaplace) -> Reading:
    """Read the vector of trimmed means of generated columns of N(0, 1).

    Example:
        >>> mechanism = RadialLaplace(price=Pure(1), norm=2)
        >>> len(reading_of(2, 2.0, seed=1, mechanism=mechanism).open().value)
        2
    """
    random = np.random.default_rng([seed, dimension])
    names = [f"x{i}" for i in range(dimension)]
    columns = {name: random.normal(size=ROWS) for name in names}
    parts = tuple(TrimmedMean(name, trim=Fraction(TRIMMED, ROWS), low=LOW, high=HIGH) for name in names)
    statistic = Vector(parts, order=norm)
    (summary,) = Memory(columns).summary(statistic.request(depth=mechanism.depth))
    return statistic.read(summary)


def differences(reading: Reading, mechanism: RadialLaplace, *, draws: int, seed: int) -> Any:
    """Draw answers and give their differences from the true vector, one row each."""
    bits = SeededBits(seed)
    truth = np.array([float(value) for value in reading.open().value])
    drawn: list[Any] = [mechanism.draw(reading, GRID, bits=bits).value for _ in range(draws)]
    return np.array([[float(value) for value in answer] for answer in drawn]) - truth


def _radius_parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    return [
        {"dimension": d, "draws": draws[scale == "smoke"], "points": 60, "epsilon": 1, "seed": 3003}
        for d, draws in DIMENSIONS.items()
        if draws[scale == "smoke"]
    ]


def _radius_compute(part: Part) -> list[Row]:
    mechanism = RadialLaplace(price=Pure(part["epsilon"]), norm=2, dimension=part["dimension"])
    d = part["dimension"]
    reading = reading_of(d, 2.0, seed=part["seed"], mechanism=mechanism)
    law = mechanism.law(reading)
    moved = differences(reading, mechanism, draws=part["draws"], seed=part["seed"])
    radii = np.sort(np.linalg.norm(moved, axis=1))
    inside = np.array([law.cdf(float(r)) for r in radii])
    ranks = np.arange(len(radii) + 1) / len(radii)
    apart = float(max(np.max(ranks[1:] - inside), np.max(inside - ranks[:-1])))
    root = math.sqrt(law.mean_squared_radius())
    # The d-dimensional Laplace law at the full price: density e^(-epsilon r/bound).
    bound = float(reading.open().profile.ceiling)
    whole = RadialLaw([bound], tail=bound, dimension=d, slope=part["epsilon"])
    ratio = math.sqrt(whole.mean_squared_radius()) / root
    grid = np.geomspace(root / 30, 4 * root, part["points"])
    return [
        [d, float(r), law.cdf(float(r)), float(np.mean(radii <= r)), root, ratio, part["draws"], apart]
        for r in grid
    ]


def _radius_say(result: Result) -> str:
    words = []
    for d in result.values("dimension"):
        row = result.select(dimension=d)[0]
        words.append(
            f"d = {d}: root mean square distance {row['root mean square']:.3g}, {row['times global']:.3g} times less "
            f"than Laplace noise for the global bound; {row['draws']} draws differ from the law by {row['apart']:.3f} "
            f"(5 % limit {1.358 / math.sqrt(row['draws']):.3f})"
        )
    return "; ".join(words) + ". Nothing is rejected in any dimension."


def _radius_draw(result: Result) -> Any:
    from sordino import plots

    with plots.style() as plt:
        figure, axes = plt.subplots(figsize=(8.6, 4.6))
        for d, look in zip(result.values("dimension"), plots.lines(), strict=False):
            cells = result.select(dimension=d)
            x = [row["distance"] for row in cells]
            axes.plot(x, [row["law"] for row in cells], label=f"d = {d}: law", **look)
            axes.plot(
                x[::3],
                [row["drawn"] for row in cells][::3],
                linestyle="",
                marker="o",
                markersize=3.5,
                color=look["color"],
                label=f"d = {d}: {cells[0]['draws']} draws",
            )
        axes.set(
            xscale="log",
            ylim=(0, 1.02),
            xlabel="Euclidean distance from the true vector",
            ylabel="probability to be within it",
            title="d trimmed means (10 %) of 5001 rows of N(0, 1) in [-50, 1050], epsilon = 1",
        )
        figure.legend(loc="outside right center")
        return figure


def _plane_parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    draws = 100 if scale == "smoke" else 600
    return [{"norm": norm, "draws": draws, "epsilon": 1, "seed": 3004 + i} for i, norm in enumerate(NORMS)]


def _plane_compute(part: Part) -> list[Row]:
    norm = NORMS[part["norm"]]
    mechanism = RadialLaplace(price=Pure(part["epsilon"]), norm=norm)
    reading = reading_of(2, norm, seed=part["seed"], mechanism=mechanism)
    moved = differences(reading, mechanism, draws=part["draws"], seed=part["seed"])
    law = mechanism.law(reading)
    radii = np.linalg.norm(moved, ord=norm, axis=1)
    return [
        [part["norm"], float(x), float(y), law.cdf(float(r))] for (x, y), r in zip(moved, radii, strict=True)
    ]


def _plane_say(result: Result) -> str:
    words = []
    for norm in NORMS:
        inside = np.sort(result.column("within", norm=norm))
        ranks = np.arange(len(inside) + 1) / len(inside)
        apart = max(float(np.max(ranks[1:] - inside)), float(np.max(inside - ranks[:-1])))
        words.append(f"norm {norm}: {apart:.3f} (5 % limit {1.358 / math.sqrt(len(inside)):.3f})")
    return f"Distances of the draws from their law: {'; '.join(words)}. Level lines are balls of the norm."


def _plane_draw(result: Result) -> Any:
    from sordino import plots

    with plots.style() as plt:
        figure, axes = plt.subplots(1, 3, figsize=(10.6, 4.0), sharex=True, sharey=True)
        reach = float(np.quantile(np.abs([row[1:3] for row in result.rows]), 0.99))
        for axis, norm in zip(axes, NORMS, strict=True):
            x, y = result.column("x", norm=norm), result.column("y", norm=norm)
            axis.plot(x, y, linestyle="", marker=".", markersize=2.5, color=plots.COLOURS[0], alpha=0.6)
            axis.axhline(0, color="#666666", linewidth=0.6)
            axis.axvline(0, color="#666666", linewidth=0.6)
            axis.set(title=f"norm {norm}", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            axis.set_xlabel("first answer minus truth")
        axes[0].set_ylabel("second answer minus truth")
        title = "Two trimmed means (10 %) of 5001 rows of N(0, 1) in [-50, 1050], epsilon = 1"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure


EXPERIMENTS = (
    Experiment(
        "durfee-2025-radius",
        "durfee-2025",
        "distance of d-dimensional answers from the truth: drawn, and by their exact law",
        "In d dimensions the mechanism needs rejection sampling, which could become expensive.",
        ("dimension", "distance", "law", "drawn", "root mean square", "times global", "draws", "apart"),
        _radius_parts,
        _radius_compute,
        _radius_say,
        _radius_draw,
    ),
    Experiment(
        "durfee-2025-plane",
        "durfee-2025",
        "answers in the plane for three norms",
        "The approximate variant extends to balls of any norm.",
        ("norm", "x", "y", "within"),
        _plane_parts,
        _plane_compute,
        _plane_say,
        _plane_draw,
    ),
)
