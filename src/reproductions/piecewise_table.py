"""Durfee 2025 (piecewise Laplace): which mechanism wins, as a table of errors relative to piecewise Laplace.

Exact errors on generated columns: normal, log-normal, uniform, bimodal and Pareto, each in public bounds. Noise is
clipped to the bounds. ``best`` lines take the smoothing of least error with hindsight: a bound, not a mechanism.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row
from sordino.data.memory import Memory
from sordino.errors import Unsupported
from sordino.mechanisms.additive.additive import profile_points
from sordino.mechanisms.nested.intervals import Interpolation, Intervals, line_pieces
from sordino.mechanisms.nested.nested import NATS, intervals_of
from sordino.mechanisms.parts.law import Piece, PieceLaw
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.noise.laplace_log_normal import LaplaceLogNormal
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.privacy import Concentrated, Guarantee, Pure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sordino.reading.profile import Opened

BOUNDS = {
    "normal": (-50, 1050),
    "log-normal": (0, 5_000_000),
    "uniform": (0, 1),
    "bimodal": (-100, 100),
    "Pareto": (0, 10_000),
}
STATISTICS = ("median", "q0.9", "q0.99", "trim0.1", "trim0.05", "mean")
REPEATS = {201: 12, 1001: 5, 10001: 2}
#: Smoothings per epsilon among which ``best`` chooses.
SHARES = ("0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45")
DEPTH = 2500
FORMS = (Interpolation.linear(), Interpolation.step(0), Interpolation.step(Fraction(1, 2)))
Error = tuple[float, float]


def draw_column(name: str, rows: int, seed: int) -> Any:
    """Draw a generated column.

    Example:
        >>> draw_column("uniform", 3, 1).shape
        (3,)
    """
    random = np.random.default_rng([seed, rows, sum(map(ord, name))])
    if name == "normal":
        return random.normal(size=rows)
    if name == "log-normal":
        return random.lognormal(11, 0.9, rows)
    if name == "uniform":
        return random.uniform(size=rows)
    if name == "bimodal":
        return random.normal(size=rows) + np.where(random.uniform(size=rows) < 0.5, -5.0, 5.0)
    return 1 + random.pareto(2.5, rows)


def _statistic(name: str, rows: int, low: int, high: int) -> Any:
    from sordino.statistics.mean import Mean
    from sordino.statistics.median import Median
    from sordino.statistics.quantile import Quantile
    from sordino.statistics.trimmed_mean import TrimmedMean

    if name == "median":
        return Median("x", low=low, high=high)
    if name == "mean":
        return Mean("x", low=low, high=high)
    if name.startswith("q"):
        return Quantile("x", q=Fraction(name[1:]), low=low, high=high)
    return TrimmedMean("x", trim=Fraction(int(float(name[4:]) * rows), rows), low=low, high=high)


@lru_cache(maxsize=512)
def _noise(family: Any, target: Guarantee, smoothing: Fraction, options: tuple[tuple[str, Any], ...]) -> Any:
    """Scale per unit of the smooth bound, tails at a grid of sizes, and the integral of 2 z P(Z > z) up to them."""
    try:
        calibration = family.calibrate(target, smoothing=smoothing, **dict(options))
    except Unsupported:
        return None
    z = np.concatenate([[0.0], np.geomspace(1e-4, 1e9, 2600)])
    tail = np.asarray(calibration.noise.sf(z))
    below = np.concatenate([[0.0], np.cumsum(np.diff(z * z) * (tail[1:] + tail[:-1]) / 2)])
    return float(calibration.scale), z, tail, below


def clipped_error(noise: Any, bound: float, up: float, down: float) -> Error:
    """Root mean square and median absolute error of value + noise clipped to ``[value - down, value + up]``.

    Example:
        >>> plain = _noise(Laplace, Pure(1), Fraction(0), ())
        >>> [round(x, 2) for x in clipped_error(plain, 1.0, 1e6, 1e6)]
        [1.41, 0.69]
    """
    scale, z, tail, below = noise
    size = scale * bound
    if size == 0:
        return 0.0, 0.0
    square = sum(float(np.interp(end / size, z, below)) for end in (up, down))
    # Half of the mass lies beyond the quartile; past the nearer bound only one side is left, with less than half.
    quartile = size * float(np.interp(-0.25, -tail, z))
    return size * math.sqrt(square), min(quartile, up, down)


def piece_error(opened: Opened, pieces: list[Piece], slope: Fraction, *, median: bool = False) -> Error:
    """Root mean square and, if asked, median absolute error of a mechanism on the reachable intervals."""
    law = PieceLaw(pieces, slope)
    centre, step = Fraction(opened.value), float(opened.units.step)
    root = step * math.sqrt(law.mean_squared_error(centre))
    if not median:
        return root, math.nan
    low, high = 0.0, float(max((opened.top or 0) - centre, centre - (opened.bottom or 0)))
    for _ in range(60):
        middle = (low + high) / 2
        inside = law.cdf(centre + Fraction(middle)) - law.cdf(centre - Fraction(middle))
        low, high = (low, middle) if inside >= 0.5 else (middle, high)
    return root, step * high


def errors_on(opened: Opened, epsilon: Fraction) -> dict[str, Error]:
    """Every mechanism's errors on one reading at one price; piecewise Laplace itself under its two prices."""
    pure, concentrated = Pure(epsilon), Concentrated(epsilon * epsilon / 2)
    whole = intervals_of(opened)
    levels = math.ceil(NATS / pure.slope) + 1
    family = Intervals.of(whole.low[:levels], whole.high[:levels], first=whole.first, last=whole.last)
    linear, inverse, stair = (line_pieces(family, form) for form in FORMS)
    found = {
        "PLM": piece_error(opened, linear, pure.slope, median=True),
        "PLM, zCDP": piece_error(opened, linear, concentrated.slope),
        "INV": piece_error(opened, inverse, pure.slope, median=True),
        "STAIR": piece_error(opened, stair, pure.slope),
        "INV, zCDP": piece_error(opened, inverse, concentrated.slope),
    }
    step = float(opened.units.step)
    up = step * float((opened.top or 0) - opened.value)
    down = step * float(opened.value - (opened.bottom or 0))
    bounds, starts = profile_points(opened.profile)
    sizes, places = step * np.asarray(bounds, dtype=float), np.asarray(starts, dtype=float)

    def smooth(family: Any, target: Guarantee, share: str, **options: Any) -> Error:
        smoothing = Fraction(share) * epsilon
        noise = _noise(family, target, smoothing, tuple(options.items()))
        if noise is None:
            return math.inf, math.inf
        return clipped_error(noise, float(np.max(np.exp(-float(smoothing) * places) * sizes)), up, down)

    def best(answer: Callable[[str], Error]) -> Error:
        tried = [answer(share) for share in SHARES]
        return min(error[0] for error in tried), min(error[1] for error in tried)

    found["POLY best"] = best(lambda share: smooth(PolyPlace, pure, share))
    found["POLY .2"] = smooth(PolyPlace, pure, "0.2")
    found["POLY, Thm 8, best"] = best(lambda share: smooth(PolyPlace, pure, share, method="published"))
    found["POLY, Thm 8, .2"] = smooth(PolyPlace, pure, "0.2", method="published")
    found["T3 best"] = best(lambda share: smooth(StudentT, pure, share, method="published", df=3))
    found["LLN best, zCDP"] = best(
        lambda share: smooth(LaplaceLogNormal, concentrated, share, method="analytic")
    )
    for name, law, target in (("Laplace GS", Laplace, pure), ("Gauss GS, zCDP", Gaussian, concentrated)):
        found[name] = clipped_error(_noise(law, target, Fraction(0), ()), float(sizes[-1]), up, down)
    return found


def _parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    if scale == "smoke":
        cells = [("median", 201), ("trim0.1", 1001), ("mean", 201)]
        return [{"statistic": s, "rows": n, "epsilons": ["1"], "repeats": 2, "seed": 3008} for s, n in cells]
    return [
        {"statistic": s, "rows": n, "epsilons": ["1", "0.5", "0.1"], "repeats": repeats, "seed": 3008}
        for s in STATISTICS
        for n, repeats in REPEATS.items()
    ]


def _compute(part: Part) -> list[Row]:
    rows = part["rows"]
    logs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for name, (low, high) in BOUNDS.items():
        statistic = _statistic(part["statistic"], rows, low, high)
        for repeat in range(part["repeats"]):
            source = Memory({"x": draw_column(name, rows, part["seed"] + repeat)})
            (summary,) = source.summary(statistic.request(depth=min(rows, DEPTH)))
            opened = statistic.read(summary).open()
            for epsilon in part["epsilons"]:
                found = errors_on(opened, Fraction(epsilon))
                for mechanism, error in found.items():
                    against = found["PLM, zCDP" if mechanism.endswith("zCDP") else "PLM"]
                    pair = tuple(math.log(a / b) for a, b in zip(error, against, strict=True))
                    logs.setdefault((epsilon, mechanism), []).append((pair[0], pair[1]))
    table = []
    for (epsilon, mechanism), pairs in logs.items():
        mean, spread = np.mean(pairs, axis=0), np.std(pairs, axis=0) / math.sqrt(len(pairs))
        ratios = [float(x) for x in (*np.exp(mean), *spread)]
        table.append([part["statistic"], rows, float(epsilon), mechanism, *ratios])
    return table


def _say(result: Result) -> str:
    def cell(statistic: str, mechanism: str) -> str:
        rows = max(result.column("rows", statistic=statistic))
        return f"{result.one('rmse', statistic=statistic, rows=rows, epsilon=1.0, mechanism=mechanism):.3g}"

    return (
        f"Root mean square error relative to piecewise Laplace at epsilon 1 and the most rows: median: PolyPlace with "
        f"hindsight {cell('median', 'POLY best')}, inverse sensitivity {cell('median', 'INV')}; trimmed mean (10 %): "
        f"PolyPlace {cell('trim0.1', 'POLY best')}; mean: Laplace noise {cell('mean', 'Laplace GS')}. Piecewise "
        "Laplace wins quantiles with enough data, PolyPlace trimmed means, plain Laplace noise means."
    )


def _draw(result: Result) -> Any:
    from sordino import plots

    lines = ("INV", "POLY best", "POLY .2", "T3 best", "Laplace GS", "LLN best, zCDP", "Gauss GS, zCDP")
    names = result.values("statistic")
    with plots.style() as plt:
        figure, axes = plt.subplots(
            1, len(names), figsize=(max(2.2 * len(names), 7.0), 5.0), sharey=True, squeeze=False
        )
        markers = dict(zip(lines, "osv^DPX", strict=True))
        for axis, name in zip(axes[0], names, strict=True):
            sizes = sorted(set(result.column("rows", statistic=name)))
            cells = [(n, e) for n in sizes for e in sorted(set(result.column("epsilon")), reverse=True)]
            for line, look in zip(lines, plots.lines(), strict=False):
                y = [result.one("rmse", statistic=name, rows=n, epsilon=e, mechanism=line) for n, e in cells]
                axis.plot(
                    range(len(cells)),
                    y,
                    linestyle="",
                    marker=markers[line],
                    markersize=5,
                    color=look["color"],
                    label=line,
                )
            axis.axhline(1.0, color="#666666", linewidth=0.8)
            axis.set(yscale="log", title=name, ylim=(0.02, 2e5), xlabel="rows, epsilon")
            axis.set_xticks(range(len(cells)), [f"{n}, {e:g}" for n, e in cells], rotation=90)
        axes[0][0].set_ylabel("root mean square error\n(piecewise Laplace = 1)")
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=9)
        return figure


EXPERIMENTS = (
    Experiment(
        "durfee-2025-table",
        "durfee-2025",
        "errors of every mechanism relative to piecewise Laplace: quantiles, trimmed means, means",
        "Piecewise Laplace dominates inverse sensitivity, which uniformly outperforms smooth sensitivity.",
        (
            "statistic",
            "rows",
            "epsilon",
            "mechanism",
            "rmse",
            "median",
            "spread of log rmse",
            "spread of log median",
        ),
        _parts,
        _compute,
        _say,
        _draw,
    ),
)
