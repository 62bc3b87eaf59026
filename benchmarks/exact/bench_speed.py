"""Exact draws beside numpy's own Laplace sampler in the same run, and beside OpenDP and PyDP when installed."""

import sys
import time
from fractions import Fraction

import numpy as np

from sordino.exact import (
    Bits,
    CellWeights,
    ExpScale,
    Pieces,
    choose,
    draw,
    draw_many,
    permute_and_flip,
    sampler,
)
from sordino.exact.shapes import Falling
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

DRAWS = 1_000_000
GRID = Lattice.dyadic(-20)
F = Fraction
# recipe, bound on the ratio that the project promises (None: none stated)
FAMILIES = [
    (LaplaceRecipe(), 1.5),
    (GaussianRecipe(), 3),
    (PolyPlaceRecipe(F(3, 2)), 3),
    (PolyPlaceRecipe(10), 3),
    (PolyPlaceRecipe(1000), 3),
    (StudentTRecipe(3), 4),
    (GeneralizedCauchyRecipe(4), 4),
    (GeneralizedCauchyRecipe(2), 4),
    (GeneralizedCauchyRecipe(F(5, 2), F(3, 2)), None),
    (GeneralizedCauchyRecipe(F(27, 25), F(44, 5)), None),
    (LaplaceLogNormalRecipe(F(1, 2)), 5),
    (UniformLogNormalRecipe(F(3, 2)), 5),
    (ArsinhNormalRecipe(F(23, 20)), 5),
    (LaplaceParetoRecipe(9), None),
]


def best(action, repeats=5):
    """The least CPU seconds of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


class Counted:
    """Count calls of the slow path."""

    def __enter__(self):
        self.calls = 0
        self._settle = sampler.settle

        def settle(*arguments):
            self.calls += 1
            return self._settle(*arguments)

        sampler.settle = settle
        return self

    def __exit__(self, *_):
        sampler.settle = self._settle


def vectors(unit):
    for recipe, promise in FAMILIES:
        with Counted() as slow:
            seconds = best(
                lambda recipe=recipe: draw_many(
                    recipe, locations=F(1, 3), scales=1 / recipe.unit, grid=GRID, size=DRAWS
                )
            )
        name = repr(recipe).replace("Fraction(", "(").replace(", 1)", ")")
        yield name, seconds / unit, promise or "-", DRAWS / seconds / 1e6, slow.calls / 5 / DRAWS


def peers(unit):
    """OpenDP and PyDP, if they are installed; their times include what their interfaces demand."""
    try:
        import opendp.prelude as dp
    except ImportError:
        yield "OpenDP", "not installed", "", ""
    else:
        dp.enable_features("contrib", "floating-point")
        n = 20_000
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=n)
        for label, make, metric in (
            ("laplace", dp.m.make_laplace, dp.l1_distance(T=float)),
            ("gaussian", dp.m.make_gaussian, dp.l2_distance(T=float)),
        ):
            for k in (-20, None):
                measure = make(domain, metric, scale=1.0, k=k)
                seconds = best(lambda measure=measure: measure([0.0] * n), 2) / n
                title = f"OpenDP make_{label}, k={'default' if k is None else k}"
                yield title, seconds * DRAWS / unit, seconds * 1e9, f"vector of {n}"
    try:
        from pydp.distributions import GaussianDistribution, LaplaceDistribution
    except ImportError:
        yield "PyDP", "not installed", "", ""
    else:
        n = 20_000
        for label, law in (
            ("laplace", LaplaceDistribution(1.0, 1.0)),
            ("gaussian", GaussianDistribution(1.0)),
        ):
            seconds = best(lambda law=law: [law.sample() for _ in range(n)], 2) / n
            yield f"PyDP (Google C++) {label}", seconds * DRAWS / unit, seconds * 1e9, "per call"


def scalars():
    source = Bits()
    n = 2000
    key = best(lambda: [Bits().word() for _ in range(n)]) / n * 1e6
    yield "a fresh key", key, "-"
    scale = ExpScale(F(10), F(1, 512), 998)
    for recipe, _ in FAMILIES:
        one = best(
            lambda recipe=recipe: [
                draw(recipe, location=F(1, 3), scale=F(1, 7), grid=GRID, bits=source) for _ in range(n)
            ]
        )
        name = repr(recipe).replace("Fraction(", "(").replace(", 1)", ")")
        yield name, one / n * 1e6, 20
    recipe = PolyPlaceRecipe(10)
    grown = best(
        lambda: [draw(recipe, location=F(1, 3), scale=scale, grid=GRID, bits=source) for _ in range(n)]
    )
    yield "PolyPlace, scale on the log-grid", grown / n * 1e6, "-"
    x = np.sort(np.random.default_rng(1).integers(0, 10**6, 201))
    right, left = np.diff(x[100:]), -np.diff(x[:101])[::-1]
    levels = np.concatenate([np.arange(100), np.arange(100)])
    starts = np.concatenate([x[100:-1], x[100:0:-1]])
    kappa = F(1, 2)
    pieces = Pieces(starts, np.concatenate([right, left]), levels, rate=kappa, shapes=(Falling(kappa),))
    many = best(lambda: [pieces.draw(grid=GRID, bits=source) for _ in range(500)])
    yield "piecewise Laplace, 200 intervals", many / 500 * 1e6, "-"
    weights = CellWeights(np.ones(1000, dtype=np.int64), np.arange(1000), kappa)
    yield (
        "exponential mechanism, 1000 cells",
        best(lambda: [choose(weights, bits=source) for _ in range(500)]) / 500 * 1e6,
        "-",
    )
    flips = best(lambda: [permute_and_flip(weights, bits=source) for _ in range(500)])
    yield "permute-and-flip, 1000 cells", flips / 500 * 1e6, "-"


def tables():
    generator = np.random.default_rng(0)
    unit = best(lambda: generator.laplace(size=DRAWS), 7)
    many = list(vectors(unit))
    yield (
        f"Exact draws, {DRAWS:,} at scale/grid = 2^20 (numpy's Generator.laplace: {unit * 1e9 / DRAWS:.1f} ns = 1)",
        ("law", "x numpy", "promised", "M/s", "slow path"),
        many,
    )
    yield "The peers' samplers", ("sampler", "x numpy", "ns", "how"), list(peers(unit))
    one = list(scalars())
    yield "One scalar release", ("law", "microseconds", "promised"), one
    missed = [row[0] for row in many if row[4] > 1e-4 or (row[2] != "-" and row[1] > row[2])]
    missed += [row[0] for row in one if row[2] != "-" and row[1] > row[2]]
    if missed:
        sys.exit(f"missed a promise: {', '.join(missed)}")
