"""Does the time of one release tell the noise? Spearman correlation of |noise| with wall time, fast path."""

import gc
import sys
import time
from fractions import Fraction

import numpy as np
from scipy import stats

from sordino.exact import Bits, draw
from sordino.exact.balls import precision
from sordino.exact.sampler import settle
from sordino.exact.uniforms import LazyUniform
from sordino.lattice import Lattice
from sordino.noise.arsinh_normal.sampler import ArsinhNormalRecipe
from sordino.noise.gaussian.sampler import GaussianRecipe
from sordino.noise.generalized_cauchy.sampler import GeneralizedCauchyRecipe
from sordino.noise.laplace.sampler import LaplaceRecipe
from sordino.noise.laplace_log_normal.sampler import LaplaceLogNormalRecipe
from sordino.noise.laplace_pareto.sampler import LaplaceParetoRecipe
from sordino.noise.polyplace.sampler import PolyPlaceRecipe
from sordino.noise.student_t.sampler import StudentTRecipe
from sordino.noise.uniform_log_normal.sampler import UniformLogNormalRecipe

RELEASES = 20_000
LAWS = [
    LaplaceRecipe(),
    GaussianRecipe(),
    StudentTRecipe(3),
    GeneralizedCauchyRecipe(4),
    PolyPlaceRecipe(10),
    LaplaceLogNormalRecipe(Fraction(1, 2)),
    UniformLogNormalRecipe(Fraction(3, 2)),
    ArsinhNormalRecipe(Fraction(23, 20)),
    LaplaceParetoRecipe(9),
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
    grid = Lattice.dyadic(-20)
    rows = []
    for recipe in LAWS:
        scale = 1 / recipe.unit
        rho, p, gap = measured(
            lambda recipe=recipe, scale=scale: draw(recipe, location=0, scale=scale, grid=grid, bits=source)
        )
        rows.append((repr(recipe).split("(")[0], float(rho), float(p), f"{gap:+.2%}", 0.05))

    def balls():
        with precision(128):
            return settle(
                LaplaceRecipe(), [LazyUniform(source.word(), source)], Fraction(0), Fraction(1), grid
            )

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
