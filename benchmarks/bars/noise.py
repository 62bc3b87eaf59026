"""A million exact draws, times numpy's Laplace sampler."""

from fractions import Fraction

import numpy as np

from benchmarks.bars.clock import ratio
from sordino.exact import draw_many
from sordino.lattice import Lattice
from sordino.noise.generalized_cauchy.sampler import GeneralizedCauchyRecipe
from sordino.noise.laplace_log_normal.sampler import LaplaceLogNormalRecipe

DRAWS, GRID = 10**6, Lattice.dyadic(-20)


def lines():
    """Name, ratio, bar."""
    generator = np.random.default_rng(0)
    for name, recipe in (
        ("generalized Cauchy (4, 2)", GeneralizedCauchyRecipe(4)),
        ("generalized Cauchy (2, 2)", GeneralizedCauchyRecipe(2)),
        ("Laplace-log-normal (1/2)", LaplaceLogNormalRecipe(Fraction(1, 2))),
    ):

        def ours(recipe=recipe):
            draw_many(recipe, locations=Fraction(1, 3), scales=1 / recipe.unit, grid=GRID, size=DRAWS)

        found = ratio(ours, lambda: generator.laplace(size=DRAWS), 5)
        yield f"{name}, {DRAWS:,} draws, times numpy's Laplace", found, 2.5
