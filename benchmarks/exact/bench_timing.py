"""Does the time of one release tell the noise? Spearman correlation of |noise| with wall time, fast path."""

import gc
import sys
import time
from fractions import Fraction

import numpy as np
from scipy import stats

from sordino.exact import Bits, Grid, draw
from sordino.exact.balls import precision
from sordino.exact.recipes import (
    ArsinhNormal,
    Gaussian,
    GeneralizedCauchy,
    Laplace,
    LaplaceLogNormal,
    LaplacePareto,
    PolyPlace,
    StudentT,
    UniformLogNormal,
)
from sordino.exact.sampler import settle
from sordino.exact.uniforms import LazyUniform

RELEASES = 20_000
LAWS = [
    Laplace(),
    Gaussian(),
    StudentT(3),
    GeneralizedCauchy(4),
    PolyPlace(10),
    LaplaceLogNormal(Fraction(1, 2)),
    UniformLogNormal(Fraction(3, 2)),
    ArsinhNormal(Fraction(23, 20)),
    LaplacePareto(9),
]


def measured(release):
    """Noise and time of many releases, with the words drawn beforehand left in place."""
    noise, seconds = np.empty(RELEASES), np.empty(RELEASES)
    gc.disable()
    try:
        for i in range(RELEASES):
            start = time.perf_counter_ns()
            k = release()
            seconds[i] = time.perf_counter_ns() - start
            noise[i] = abs(k)
    finally:
        gc.enable()
    # A refill of the word buffer and a switch of the processor are not part of the draw: medians are robust to
    # the second, and the first is independent of the value.
    rho, p = stats.spearmanr(noise, seconds)
    top = noise >= np.quantile(noise, 0.9)
    return rho, p, np.median(seconds[top]) / np.median(seconds[~top]) - 1


def tables():
    source = Bits()
    grid = Grid(-20)
    rows = []
    for recipe in LAWS:
        scale = 1 / recipe.unit
        rho, p, gap = measured(
            lambda recipe=recipe, scale=scale: draw(recipe, location=0, scale=scale, grid=grid, bits=source)
        )
        rows.append((repr(recipe).split("(")[0], float(rho), float(p), f"{gap:+.2%}", 0.05))

    def balls():
        with precision(128):
            return settle(Laplace(), [LazyUniform(source.word(), source)], Fraction(0), Fraction(1), grid)

    rho, p, gap = measured(balls)
    rows.append(("(Laplace in balls alone)", float(rho), float(p), f"{gap:+.2%}", "-"))
    yield (
        f"Correlation of |noise| with the time of one release, {RELEASES:,} releases",
        ("law", "Spearman rho", "p", "top decile", "bound on |rho|"),
        rows,
    )
    missed = [row[0] for row in rows if row[4] != "-" and abs(row[1]) > row[4]]
    if missed:
        sys.exit(f"correlated with time: {', '.join(missed)}")
