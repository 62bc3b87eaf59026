"""Bun and Steinke 2019, Figures 2 to 6: excess variance of the private trimmed mean of Gaussian data.

Excess = n E[(trimmed - mean)^2] + n E[S^2] Var[Z]: by Basu's theorem this is n MSE - 1 without the noise of the mean
itself. E[S^2] is averaged over simulated columns by the product's own smooth bounds, Var[Z] is exact. As in the paper
each noise takes the best smoothing of a grid, with hindsight: a figure of what is possible, not a mechanism.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row, series
from reproductions.noise_lines import LIMIT, PRINTED, PROMISES, variances
from reproductions.trimmed_mean import trimmed_means

LOW, HIGH = -50, 1050
NOT_PRIVATE = "trimming alone, no privacy"
GLOBAL = "Gaussian, global sensitivity"


class Setting(NamedTuple):
    """One figure: rows, epsilon, rows trimmed at both scales, and columns simulated at full scale."""

    rows: int
    epsilon: float
    full: tuple[int, ...]
    smoke: tuple[int, ...]
    samples: int
    trimming_samples: int


# fmt: off
SETTINGS = {
    "bun-2019-figure-2": Setting(
        201, 1.0, (3, 5, 8, 12, 16, 19, 25, 30, 37, 41, 45, 52, 59, 66, 72, 80, 90, 98), (19, 37, 59), 8_000, 200_000
    ),
    "bun-2019-figure-3": Setting(
        501, 1.0, (4, 6, 8, 12, 17, 22, 28, 35, 42, 52, 62, 70, 80, 100, 130, 150, 170, 220), (22, 42), 1_200, 100_000
    ),
    "bun-2019-figure-4": Setting(
        1001, 1.0, (4, 7, 10, 14, 18, 25, 32, 42, 50, 58, 74, 91, 120, 160, 220, 300, 420), (25, 58), 800, 60_000
    ),
    "bun-2019-figure-5": Setting(
        5001, 1.0, (5, 9, 14, 20, 28, 41, 56, 72, 87, 105, 127, 170, 210, 250, 400, 700), (28, 72), 250, 30_000
    ),
    "bun-2019-figure-6": Setting(
        5001, 0.2, (60, 100, 140, 180, 224, 300, 400, 480, 579, 700, 800, 1000, 1300, 1600), (224,), 120, 30_000
    ),
}
# fmt: on
#: Smoothings per unit of epsilon: far enough up that the lower bound has its best one inside.
SMOOTHINGS = (0.02, 2.0)


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
    from sordino.mechanisms.additive.additive import profile_points
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


@lru_cache(maxsize=16)
def trimming_costs(
    *, rows: int, trimmed: tuple[int, ...], samples: int, seed: int
) -> dict[int, tuple[float, float]]:
    """Estimate n E[(trimmed mean - mean)^2] of Gaussian data with standard errors, for every trimming at once.

    Example:
        >>> cost, error = trimming_costs(rows=21, trimmed=(3, 5), samples=400, seed=1)[5]
        >>> 0 < error < cost < 0.5
        True
    """
    generator = np.random.default_rng([seed, rows])
    chunk = 200
    totals = np.zeros((2, len(trimmed)))
    for _ in range(samples // chunk):
        ordered = np.sort(generator.standard_normal((chunk, rows)), axis=1)
        means = trimmed_means(ordered, (0, *trimmed))
        squares = rows * (means[:, 1:] - means[:, :1]) ** 2
        totals += squares.sum(axis=0), (squares**2).sum(axis=0)
    count = samples // chunk * chunk
    mean, fourth = totals / count
    errors = np.sqrt((fourth - mean**2) / count)
    return {m: (float(a), float(b)) for m, a, b in zip(trimmed, mean, errors, strict=True)}


def _parts(name: str, scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    setting = SETTINGS[name]
    rows, epsilon, smoke = setting.rows, setting.epsilon, scale == "smoke"
    count = 8 if smoke else 49
    ends = (0.05, 0.5) if smoke else SMOOTHINGS
    smoothings = [float(f"{epsilon * x:.4g}") for x in np.geomspace(*ends, count)]
    asked = setting.smoke if smoke else setting.full
    samples, costs = (40, 2_000) if smoke else (setting.samples, setting.trimming_samples)
    return [
        {
            "rows": rows,
            "epsilon": epsilon,
            "trimmed": trimmed,
            "all_trimmed": list(asked),
            "smoothings": smoothings,
            "samples": samples,
            "trimming_samples": costs,
            "seed": 4002,
        }
        for trimmed in asked
    ]


def _compute(part: Part) -> list[Row]:
    rows, trimmed, epsilon = part["rows"], part["trimmed"], part["epsilon"]
    smoothings = tuple(part["smoothings"])
    squares, errors = smooth_squares(
        rows=rows, trimmed=trimmed, smoothings=smoothings, samples=part["samples"], seed=part["seed"]
    )
    costs = trimming_costs(
        rows=rows,
        trimmed=tuple(part["all_trimmed"]),
        samples=part["trimming_samples"],
        seed=part["seed"] + 1,
    )
    cost, doubt = costs[trimmed]
    table = [variances(epsilon, t) for t in smoothings]
    found: list[Row] = []
    for name in table[0]:
        added = [rows * row[name] * square for row, square in zip(table, squares, strict=True)]
        best = int(np.argmin(added))
        if math.isfinite(added[best]):
            spread = rows * table[best][name] * float(errors[best])
            error = math.hypot(spread, doubt)
            found.append([name, trimmed, smoothings[best], cost + float(added[best]), error])
    return [*found, [NOT_PRIVATE, trimmed, None, cost, doubt]]


def global_excess(rows: int, epsilon: float) -> float:
    """Excess variance of the plain mean of clipped rows with Gaussian noise for its global sensitivity.

    n Var = n (range / n)^2 / (2 rho) with rho = epsilon^2 / 2.

    Example:
        >>> round(global_excess(201, 1.0))
        6020
    """
    return float((HIGH - LOW) ** 2 / (rows * epsilon**2))


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
    whole = global_excess(rows, epsilon)
    return (
        f"Least excess variance at n = {rows}, epsilon = {epsilon:g}: {'; '.join(words)}; Gaussian noise for the "
        f"global bound {whole:.3g}."
    )


def _draw(result: Result) -> Any:
    from sordino import plots

    rows, epsilon = result.settings[0]["rows"], result.settings[0]["epsilon"]
    curves = series(result, name="noise", x="trimmed", y="excess")
    low = min(curves[LIMIT][1])
    noises = [name for name in curves if name not in (LIMIT, NOT_PRIVATE, PRINTED)]
    top = 12 * float(np.median([min(curves[name][1]) for name in noises]))
    with plots.style() as plt:
        figure, axes = plt.subplots(1, 2, figsize=(10.4, 7.6), sharey=True)
        for axis, concentrated in zip(axes, (False, True), strict=True):
            shown = [name for name in noises if (PROMISES[name] == "concentrated") is concentrated]
            for name, line in zip(shown, plots.lines(), strict=False):
                least = min(curves[name][1])
                label = name if concentrated else f"{name} ({PROMISES[name]})"
                above = f": above, {least:.3g}" if least > top else ""
                axis.plot(*curves[name], label=label + above, **line)
            if PRINTED in curves and not concentrated:  # crosses only: nobody should use it
                axis.plot(
                    *curves[PRINTED], color="#000000", linestyle="", marker="x", markersize=5, label=PRINTED
                )
            if concentrated:
                axis.plot(*curves[LIMIT], color="#000000", linewidth=1.0, label=LIMIT)
            if concentrated:  # the baseline: rows clipped to the bounds, noise for the whole range
                whole = global_excess(rows, epsilon)
                above = f": above, {whole:.3g}" if whole > top else ""
                axis.axhline(
                    whole, color="#000000", linewidth=1.2, linestyle=(0, (4, 2)), label=GLOBAL + above
                )
            axis.plot(
                *curves[NOT_PRIVATE], color="#666666", linewidth=1.2, linestyle=(0, (1, 2)), label=NOT_PRIVATE
            )
            axis.set(
                xlabel=f"rows trimmed on each side, of {rows} (log scale)",
                title="concentrated" if concentrated else "pure, approximate, truncated",
                xscale="log",
                yscale="log",
                ylim=(0.6 * low, top),
            )
            plots.plain_ticks(axis.xaxis)
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), fontsize=9)
        plots.plain_ticks(axes[0].yaxis)
        axes[0].set_ylabel("excess variance\n(n times the squared error, minus 1)")
        title = f"Private trimmed mean of N(0, 1) in [-50, 1050], n = {rows}, epsilon = {epsilon:g}"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure


def _experiment(name: str) -> Experiment:
    rows, epsilon = SETTINGS[name].rows, SETTINGS[name].epsilon
    return Experiment(
        name,
        "bun-2019",
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
