"""Shared by the exactness tests: recipes to try, hostile words, and the replay of words in both paths."""

from fractions import Fraction

import numpy as np
from flint import arb

from sordino.exact.balls import precision, rational
from sordino.exact.bits import Bits, SeededBits
from sordino.exact.tries import decide
from sordino.exact.uniforms import LazyUniform
from sordino.noise.arsinh_normal.sampler import ArsinhNormalRecipe
from sordino.noise.gaussian.sampler import GaussianRecipe
from sordino.noise.generalized_cauchy.sampler import GeneralizedCauchyRecipe
from sordino.noise.laplace.sampler import LaplaceRecipe
from sordino.noise.laplace_log_normal.sampler import LaplaceLogNormalRecipe
from sordino.noise.laplace_pareto.sampler import LaplaceParetoRecipe
from sordino.noise.polyplace.sampler import PolyPlaceRecipe
from sordino.noise.student_t.sampler import StudentTRecipe
from sordino.noise.uniform_log_normal.sampler import UniformLogNormalRecipe


class Scripted(Bits):
    """A source that serves prescribed words first, then those of a seed: for tests only."""

    private = False

    def __init__(self, words, seed=0):
        super().__init__()
        self._script = [int(w) for w in words]
        self._generator = np.random.default_rng(seed)
        self.served = 0

    def word(self):
        self.served += 1
        if self._script:
            return self._script.pop(0)
        return int(self._generator.integers(-(2**63), 2**63, dtype=np.int64))

    def _few(self, count):
        return [self.word() for _ in range(count)]

    def below_each(self, bounds):
        return [self.below(bound) for bound in bounds]

    def words(self, count):
        self.served += count
        head = self._script[:count]
        del self._script[:count]
        rest = self._generator.integers(-(2**63), 2**63, size=count - len(head), dtype=np.int64)
        return np.concatenate([np.array(head, dtype=np.int64), rest])


def hostile_words(count, seed):
    """Random words, words spread evenly in log|X| down to below the guard, and the edges."""
    rng = np.random.default_rng(seed)
    plain = rng.integers(-(2**63), 2**63, size=count, dtype=np.int64)
    logs = np.exp2(rng.uniform(63 - 22, 63, size=count // 2)).astype(np.int64)
    near_one = 2**63 - 1 - np.exp2(rng.uniform(0, 62, size=count // 4)).astype(np.int64)
    powers = np.array([2**i for i in range(63)] + [2**i - 1 for i in range(64)], dtype=np.int64)
    guards = np.array(
        [2**43 + d for d in range(-3, 4)] + [2**63 - 2**43 + d for d in range(-3, 4)], dtype=np.int64
    )
    quadrants = np.array(
        [2**62 + d for d in (-1, 0, 1)] + [3 * 2**61 + d for d in (-1, 0, 1)], dtype=np.int64
    )
    words = np.concatenate([plain, logs, near_one, powers, guards, quadrants])
    signs = rng.integers(0, 2, size=len(words)).astype(bool)
    words[signs] = ~words[signs]
    rng.shuffle(words)
    return words


def enclosure(recipe, words, bits=192):
    """The ball of W over all completions of the words (no further bits are drawn)."""
    with precision(bits):
        return recipe.ball(*[LazyUniform(int(w), None) for w in words])


F = Fraction
RECIPES = {
    "laplace": LaplaceRecipe(),
    "gaussian": GaussianRecipe(),
    "student-t 3": StudentTRecipe(3),
    "student-t 1/20": StudentTRecipe(F(1, 20)),
    "student-t 10^6": StudentTRecipe(10**6),
    "generalized-cauchy 4, 1": GeneralizedCauchyRecipe(4),
    "generalized-cauchy 2, 1": GeneralizedCauchyRecipe(2),
    "generalized-cauchy 5/2, 3/2": GeneralizedCauchyRecipe(F(5, 2), F(3, 2)),
    "generalized-cauchy 2, 15.5": GeneralizedCauchyRecipe(2, F(31, 2)),
    "generalized-cauchy 27/25, 44/5": GeneralizedCauchyRecipe(F(27, 25), F(44, 5)),
    "generalized-cauchy 2, 21/40": GeneralizedCauchyRecipe(2, F(21, 40)),
    "polyplace 10": PolyPlaceRecipe(10),
    "polyplace 1.5": PolyPlaceRecipe(F(3, 2)),
    "polyplace 1000": PolyPlaceRecipe(1000),
    "polyplace 1+2^-19": PolyPlaceRecipe(1 + F(1, 2**19)),
    "laplace-log-normal 0.5": LaplaceLogNormalRecipe(F(1, 2)),
    "laplace-log-normal 100": LaplaceLogNormalRecipe(100),
    "uniform-log-normal 1.5": UniformLogNormalRecipe(F(3, 2)),
    "arsinh-normal 1.15": ArsinhNormalRecipe(F(23, 20)),
    "arsinh-normal 2^-30": ArsinhNormalRecipe(F(1, 2**30)),
    "arsinh-normal 100": ArsinhNormalRecipe(100),
    "laplace-pareto 9": LaplaceParetoRecipe(9),
    "laplace-pareto 1.5": LaplaceParetoRecipe(F(3, 2)),
    "laplace-pareto 1/40": LaplaceParetoRecipe(F(1, 40)),
    "laplace-pareto 2000": LaplaceParetoRecipe(2000),
}
# One member per family, with the parameters of the published measurements.
FAMILIES = [
    "laplace",
    "gaussian",
    "student-t 3",
    "generalized-cauchy 4, 1",
    "generalized-cauchy 2, 1",
    "polyplace 10",
    "laplace-log-normal 0.5",
    "uniform-log-normal 1.5",
    "arsinh-normal 1.15",
    "laplace-pareto 9",
]


def near_edges(recipe, count, ratio_bits, distance_bits, seed):
    """Locations that put the ideal value 2^-distance_bits of a cell from an edge; words; the right answer."""
    rng = np.random.default_rng(seed)
    cases = []
    while len(cases) < count:
        words = [int(w) for w in rng.integers(-(2**63), 2**63, size=recipe.words, dtype=np.int64)]
        if recipe.rejects and not decide(recipe, [LazyUniform(w, SeededBits(0)) for w in words]):
            continue
        more = [int(w) for w in rng.integers(-(2**63), 2**63, size=7 * recipe.words, dtype=np.int64)]
        uniforms = [LazyUniform(w, Scripted([])) for w in words]
        source = Scripted(more)
        for u in uniforms:
            u._source = source
        # The order in which the sampler reveals bits: 64, then 128, then 256 for each uniform.
        for amount in (64, 128, 256):
            for u in uniforms:
                u.refine(amount)
        with precision(700):
            noise = recipe.ball(*uniforms) * rational(recipe.unit) * (1 << ratio_bits)
            if not noise.rad() < arb(2) ** -(distance_bits + 20):
                continue
            # q = edge -+ distance - noise, as a dyadic number of 300 bits.
            steps = int((noise.mid() * (arb(2) ** 300)).floor().unique_fmpz())
        cell = int(rng.integers(-5, 6))
        up = bool(rng.integers(0, 2))
        offset = Fraction(1, 1 << distance_bits) * (1 if up else -1)
        location = cell + Fraction(1, 2) + offset - Fraction(steps, 1 << 300)
        cases.append((words, more, location, cell + 1 if up else cell))
    return cases
