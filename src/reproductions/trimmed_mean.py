"""Bun and Steinke 2019, Figure 1: the variance of the trimmed mean against the share that is trimmed.

No privacy here: what trimming alone costs or gains. The private figures are in excess_variance.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row, series

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 1001
TRIMMED = (0, 10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)
#: The paper does not print the weights of its mixture; a tenth of the rows with three times the spread is assumed.
WILD_SHARE, WILD_SPREAD = 0.1, 3.0
LAWS = ("Gaussian", "Laplace", "mixture")
CHUNK = 500


def draw(law: str, generator: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Draw samples of a law with mean zero.

    Example:
        >>> draw("mixture", np.random.default_rng(1), (2, 3)).shape
        (2, 3)
    """
    if law == "Laplace":
        return generator.laplace(size=shape)
    values = generator.standard_normal(shape)
    if law == "mixture":
        values *= np.where(generator.random(shape) < WILD_SHARE, WILD_SPREAD, 1.0)
    return values


def trimmed_means(ordered: NDArray[np.float64], trimmed: tuple[int, ...]) -> NDArray[np.float64]:
    """Trimmed means of sorted samples, one column per number of rows trimmed on each side.

    Example:
        >>> trimmed_means(np.array([[1.0, 4.0, 6.0, 100.0]]), (0, 1)).tolist()
        [[27.75, 5.0]]
    """
    sums = np.concatenate([np.zeros((ordered.shape[0], 1)), np.cumsum(ordered, axis=1)], axis=1)
    rows = ordered.shape[1]
    return np.stack([(sums[:, rows - m] - sums[:, m]) / (rows - 2 * m) for m in trimmed], axis=1)


def _parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    samples = 2_000 if scale == "smoke" else 40_000
    return [{"law": law, "rows": ROWS, "samples": samples, "seed": seed} for seed, law in enumerate(LAWS)]


def _compute(part: Part) -> list[Row]:
    generator = np.random.default_rng([4001, part["seed"]])
    squares = np.zeros(len(TRIMMED))
    fourths = np.zeros(len(TRIMMED))
    for _ in range(part["samples"] // CHUNK):
        ordered = np.sort(draw(part["law"], generator, (CHUNK, part["rows"])), axis=1)
        errors = trimmed_means(ordered, TRIMMED) ** 2
        squares += errors.sum(axis=0)
        fourths += (errors**2).sum(axis=0)
    mean = squares / part["samples"]
    spread = np.sqrt((fourths / part["samples"] - mean**2) / part["samples"])
    rows = part["rows"]
    return [
        [part["law"], m, float(rows * value), float(rows * error)]
        for m, value, error in zip(TRIMMED, mean, spread, strict=True)
    ]


def _say(result: Result) -> str:
    words = []
    for law in LAWS:
        cells = result.select(law=law)
        best = min(cells, key=lambda row: row["variance"])
        words.append(
            f"{law}: mean {cells[0]['variance']:.2f}, median {cells[-1]['variance']:.2f}, least "
            f"{best['variance']:.2f} with {best['trimmed']} of {ROWS} trimmed on each side"
        )
    return "n times the variance. " + "; ".join(words) + "."


def _draw(result: Result) -> Any:
    from sordino import plots

    return plots.curves(
        series(result, name="law", x="trimmed", y="variance"),
        xlabel=f"rows trimmed on each side, of {ROWS}",
        ylabel="n times the variance of the trimmed mean",
        title="What trimming alone costs, or gains",
        ylim=(0.8, 2.1),
        level=(1.0, "mean of Gaussian data"),
    )


EXPERIMENTS = (
    Experiment(
        "bun-2019-figure-1",
        "bun-2019",
        "variance of the trimmed mean against the share trimmed, three laws",
        "Trimming costs a little on Gaussian data (up to pi/2 at the median), gains on Laplace data (2 down to 1), "
        "and on a mixture of two Gaussians some trimming is best.",
        ("law", "trimmed", "variance", "standard error"),
        _parts,
        _compute,
        _say,
        _draw,
    ),
)
