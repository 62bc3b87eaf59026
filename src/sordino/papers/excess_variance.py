"""Paper 004 (Bun & Steinke), Figures 2 to 6: excess variance of the private trimmed mean of Gaussian data.

Excess = n E[(trimmed - mean)^2] + n E[S^2] Var[Z]: by Basu's theorem this is n MSE - 1 without the noise of the mean
itself. E[S^2] is averaged over simulated columns by the product's own smooth bounds, Var[Z] is exact. As in the paper
each noise takes the best smoothing of a grid, with hindsight: a figure of what is possible, not a mechanism.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from sordino.certification.limits import variance_lower_bound
from sordino.errors import Unsupported
from sordino.noise.arsinh_normal import ArsinhNormal
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.noise.laplace_log_normal import LaplaceLogNormal
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.noise.uniform_log_normal import UniformLogNormal
from sordino.papers.experiment import Experiment, Part, Result, Row, series
from sordino.papers.trimmed_mean import trimmed_means
from sordino.privacy import Approx, Concentrated, Pure, TruncatedConcentrated

LOW, HIGH = -50, 1050
DELTA, OMEGA = 1e-6, 10
NOT_PRIVATE, LIMIT = "trimming alone, no privacy", "lower bound (Prop. 36)"
#: Figure: rows, epsilon, rows trimmed at full scale and at smoke scale.
SETTINGS: dict[str, tuple[int, float, tuple[int, ...], tuple[int, ...]]] = {
    "004-figure-2": (201, 1.0, (8, 12, 16, 20, 25, 30, 37, 45, 52, 60, 70, 80, 90, 98), (20, 37, 60)),
    "004-figure-3": (501, 1.0, (8, 12, 17, 22, 28, 35, 42, 52, 62, 80, 100, 130, 170, 220), (22, 42)),
    "004-figure-4": (1001, 1.0, (10, 14, 19, 25, 32, 42, 58, 74, 91, 120, 160, 220, 300, 420), (25, 58)),
    "004-figure-5": (5001, 1.0, (14, 20, 28, 41, 56, 72, 87, 105, 127, 170, 250, 400, 700), (28, 72)),
    "004-figure-6": (5001, 0.2, (100, 140, 180, 224, 300, 400, 480, 579, 700, 850, 1000, 1300), (224,)),
}


@lru_cache(maxsize=4096)
def variances(epsilon: float, smoothing: float) -> dict[str, float]:
    """Variance of every noise per squared unit of smooth sensitivity, infinite where it has none.

    Example:
        >>> found = variances(1.0, 0.1)
        >>> round(found["PolyPlace"] ** 0.5, 4), round(found["Student t (3), Thm 31"] ** 0.5, 4)
        (1.6457, 3.3333)
    """
    g = Fraction(f"{smoothing:.6g}")
    e = Fraction(str(epsilon))
    pure, concentrated = Pure(e), Concentrated(e * e / 2)
    found = {
        "PolyPlace": _variance(PolyPlace, pure, g),
        "PolyPlace, Thm 8": _variance(PolyPlace, pure, g, method="published"),
        "Student t, exact": _variance(StudentT, pure, g),
        "Student t (3), Thm 31": _variance(StudentT, pure, g, method="published", df=3),
        "arsinh-normal, certified": _variance(ArsinhNormal, concentrated, g),
        "Student t, certified": _variance(StudentT, concentrated, g),
        "uniform-log-normal, certified": _variance(UniformLogNormal, concentrated, g),
        "Laplace-log-normal, Thm 18": _variance(LaplaceLogNormal, concentrated, g, method="analytic"),
        "arsinh-normal, Thm 25": _variance(
            ArsinhNormal, concentrated, g, method="analytic", sigma=Fraction("1.154701")
        ),
        "Laplace, exact": _variance(Laplace, Approx(e, DELTA), g),
        "Gaussian, exact": _variance(Gaussian, TruncatedConcentrated(e * e / 2, OMEGA), g),
    }
    # The shift of paper 004's Theorem 34, a printed formula for comparison only.
    shift = epsilon + smoothing - math.expm1(smoothing) * math.log(1 / DELTA)
    found["Laplace, Thm 34"] = 2 / shift**2 if shift > 0 else math.inf
    found[LIMIT] = variance_lower_bound(e * e / 2, g)
    return found


def _variance(family: Any, target: Any, smoothing: Fraction, **options: Any) -> float:
    try:
        return float(family.calibrate(target, smoothing=smoothing, **options).std) ** 2
    except Unsupported:
        return math.inf


def smooth_squares(
    *, rows: int, trimmed: int, smoothings: tuple[float, ...], samples: int, seed: int
) -> tuple[Any, Any]:
    """Mean and standard error of the squared smooth bound of the trimmed mean over simulated columns.

    Example:
        >>> mean, error = smooth_squares(rows=21, trimmed=5, smoothings=(0.5,), samples=3, seed=1)
        >>> mean.shape, bool(mean[0] > 0)
        ((1,), True)
    """
    from sordino.data.memory import Memory
    from sordino.mechanisms.additive import profile_points
    from sordino.statistics.trimmed_mean import TrimmedMean

    statistic = TrimmedMean("x", trim=Fraction(trimmed, rows), low=LOW, high=HIGH)
    found = np.empty((samples, len(smoothings)))
    for index in range(samples):
        column = np.random.default_rng([seed, rows, trimmed, index]).normal(size=rows)
        (summary,) = Memory({"x": column}).summary(statistic.request(depth=trimmed + 2))
        opened = statistic.read(summary).open()
        step = float(opened.units.length(1))
        bounds, starts = profile_points(opened.profile)
        # max over k of e^(-t k) LS_k for all smoothings at once; Profile.smooth does one of them.
        weighed = np.exp(-np.outer(smoothings, starts)) * np.asarray(bounds, dtype=float)
        found[index] = (step * weighed.max(axis=1)) ** 2
    return found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(samples)


def trimming_cost(*, rows: int, trimmed: int, samples: int, seed: int) -> float:
    """Estimate n E[(trimmed mean - mean)^2] of Gaussian data."""
    generator = np.random.default_rng([seed, rows, trimmed])
    total, chunk = 0.0, 200
    for _ in range(samples // chunk):
        ordered = np.sort(generator.standard_normal((chunk, rows)), axis=1)
        both = trimmed_means(ordered, (0, trimmed))
        total += float(((both[:, 1] - both[:, 0]) ** 2).sum())
    return rows * total / (samples // chunk * chunk)


def _parts(name: str, scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    rows, epsilon, full, few = SETTINGS[name]
    smoke = scale == "smoke"
    count = 14 if smoke else 36
    smoothings = [float(f"{x:.4g}") for x in np.geomspace(0.02 * epsilon, 0.75 * epsilon, count)]
    large = rows > 2000
    samples = 40 if smoke else (400 if large else 1000)
    costs = 400 if smoke else (4_000 if large else 20_000)
    return [
        {
            "rows": rows,
            "epsilon": epsilon,
            "trimmed": trimmed,
            "smoothings": smoothings,
            "samples": samples,
            "trimming_samples": costs,
            "seed": 4002,
        }
        for trimmed in (few if smoke else full)
    ]


def _compute(part: Part) -> list[Row]:
    rows, trimmed, epsilon = part["rows"], part["trimmed"], part["epsilon"]
    smoothings = tuple(part["smoothings"])
    squares, errors = smooth_squares(
        rows=rows, trimmed=trimmed, smoothings=smoothings, samples=part["samples"], seed=part["seed"]
    )
    cost = trimming_cost(rows=rows, trimmed=trimmed, samples=part["trimming_samples"], seed=part["seed"] + 1)
    table = [variances(epsilon, t) for t in smoothings]
    found: list[Row] = []
    for name in table[0]:
        added = [rows * row[name] * square for row, square in zip(table, squares, strict=True)]
        best = int(np.argmin(added))
        if math.isfinite(added[best]):
            spread = rows * table[best][name] * float(errors[best])
            found.append([name, trimmed, smoothings[best], cost + float(added[best]), spread])
    return [*found, [NOT_PRIVATE, trimmed, None, cost, 0.0]]


def best(result: Result, noise: str) -> dict[str, Any]:
    """The row of a noise with the least excess."""
    found: dict[str, Any] = min(result.select(noise=noise), key=lambda row: row["excess"])
    return found


def _say(result: Result) -> str:
    rows, epsilon = result.settings[0]["rows"], result.settings[0]["epsilon"]
    words = []
    for name in result.values("noise"):
        if name != NOT_PRIVATE:
            row = best(result, name)
            words.append(f"{name} {row['excess']:.3g} (m {row['trimmed']}, t {row['smoothing']:.3g})")
    whole = (HIGH - LOW) ** 2 / epsilon**2 / rows
    return (
        f"Least excess variance at n = {rows}, epsilon = {epsilon:g}: {'; '.join(words)}; Gaussian noise for the "
        f"global bound {whole:.3g}."
    )


PROMISES = {
    "PolyPlace": "pure",
    "PolyPlace, Thm 8": "pure",
    "Student t, exact": "pure",
    "Student t (3), Thm 31": "pure",
    "Laplace, exact": "delta 1e-6",
    "Laplace, Thm 34": "delta 1e-6",
    "Gaussian, exact": "truncated, omega 10",
}


def _draw(result: Result) -> Any:
    from sordino import plots

    rows, epsilon = result.settings[0]["rows"], result.settings[0]["epsilon"]
    curves = series(result, name="noise", x="trimmed", y="excess")
    low = min(curves[LIMIT][1])
    noises = [name for name in curves if name not in (LIMIT, NOT_PRIVATE)]
    top = 12 * float(np.median([min(curves[name][1]) for name in noises]))
    with plots.style() as plt:
        figure, axes = plt.subplots(figsize=(9.6, 5.0))
        for name, line in zip(noises, plots.lines(), strict=False):
            x, y = curves[name]
            label = f"{name} ({PROMISES.get(name, 'concentrated')})"
            if min(y) > top:
                label += ": above the frame"
            axes.plot(x, y, label=label, **line)
        axes.plot(*curves[LIMIT], color="#000000", linewidth=1.0, label=LIMIT)
        axes.plot(
            *curves[NOT_PRIVATE], color="#666666", linewidth=1.2, linestyle=(0, (1, 2)), label=NOT_PRIVATE
        )
        axes.set(
            xlabel=f"rows trimmed on each side, of {rows} (log scale)",
            ylabel="excess variance\n(n times the squared error, minus 1)",
            title=f"Private trimmed mean of N(0, 1) in [-50, 1050], n = {rows}, epsilon = {epsilon:g}",
            xscale="log",
            yscale="log",
            ylim=(0.6 * low, top),
        )
        plots.plain_ticks(axes.yaxis)
        plots.plain_ticks(axes.xaxis)
        figure.legend(loc="outside right center", fontsize=8.5)
        return figure


def _experiment(name: str) -> Experiment:
    rows, epsilon, _, _ = SETTINGS[name]
    return Experiment(
        name,
        "004",
        f"excess variance of the private trimmed mean against trimming, n = {rows}, epsilon {epsilon:g}",
        "Laplace-log-normal noise is best, closely followed by Student's t; a factor of two over the non-private "
        "variance at n = 201, ten percent at n = 1001. Arsinh-normal and uniform-log-normal noise are worse.",
        ("noise", "trimmed", "smoothing", "excess", "standard error"),
        partial(_parts, name),
        _compute,
        _say,
        _draw,
    )


EXPERIMENTS = tuple(_experiment(name) for name in SETTINGS)
