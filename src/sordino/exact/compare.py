"""Comparing noisy reals by lazy refinement: noisy max, thresholds, permute-and-flip.

Rounding to a lattice first would create ties and change the law; here the ideal real numbers are compared,
with as many bits as the comparison needs. Proof: docs/proofs/exact_choice.md.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sordino.errors import ParameterError
from sordino.exact.balls import Undecided, everything, precision, rational
from sordino.exact.bits import Bits
from sordino.exact.functions import ARRAYS
from sordino.exact.location import ratio_of
from sordino.exact.scale import ExpScale, Scale, exact_scale, ratio, scale_ball
from sordino.exact.tries import accepted, tries
from sordino.exact.uniforms import GUARD, LazyUniform, heads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.exact.balls import Ball
    from sordino.exact.choice import CellWeights
    from sordino.exact.recipe import Recipe


class LazyReal(Protocol):
    """A real number known as well as anybody has asked so far."""

    def ball(self) -> Ball:
        """Enclose it at the current precision."""

    def refine(self, bits: int) -> None:
        """Draw more of its random bits."""


class NoisyReal:
    """The ideal real number location + scale * noise, drawn once and refined on demand.

    Args:
        recipe: The unit-scale law of the noise.
        location: The exact value; a float means its exact dyadic value.
        scale: The exact scale.
        bits: A source of random words; by default a fresh key from the operating system.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.noise.laplace.sampler import LaplaceRecipe
        >>> NoisyReal(LaplaceRecipe(), location=100, scale=1, bits=SeededBits(7)).exceeds(
        ...     NoisyReal(LaplaceRecipe(), location=0, scale=1, bits=SeededBits(8)))
        True
    """

    __slots__ = ("_location", "_recipe", "_scale", "_uniforms")

    def __init__(
        self, recipe: Recipe, *, location: float | Fraction, scale: Scale, bits: Bits | None = None
    ) -> None:
        self._recipe = recipe
        self._location = Fraction(*ratio_of(location))
        self._scale = exact_scale(scale)
        self._uniforms = accepted(recipe, Bits() if bits is None else bits)

    @classmethod
    def of(
        cls, recipe: Recipe, location: Fraction, scale: Fraction | ExpScale, uniforms: list[LazyUniform]
    ) -> NoisyReal:
        """Wrap uniforms that are an accepted try already."""
        made = cls.__new__(cls)
        made._recipe, made._location, made._scale, made._uniforms = recipe, location, scale, uniforms
        return made

    def ball(self) -> Ball:
        """Enclose the number at the current precision."""
        if not self._scale:
            return rational(self._location)
        noise = self._recipe.ball(*self._uniforms) * rational(self._recipe.unit)
        return rational(self._location) + scale_ball(self._scale) * noise

    def refine(self, bits: int) -> None:
        """Draw more bits of every uniform."""
        for u in self._uniforms:
            u.refine(bits)

    def exceeds(self, other: NoisyReal | float | Fraction) -> bool:
        """Decide self > other exactly; equal numbers without noise do not exceed each other."""
        rival = other if isinstance(other, NoisyReal) else _Fixed(Fraction(*ratio_of(other)))
        quiet = isinstance(rival, _Fixed) or not rival._scale
        if not self._scale and quiet:
            return self._location > (rival.value if isinstance(rival, _Fixed) else rival._location)
        return greatest((self, rival)) == 0

    def __repr__(self) -> str:
        return "NoisyReal(sealed)"


class _Fixed:
    """An exact public number among lazy ones."""

    __slots__ = ("value",)

    def __init__(self, value: Fraction) -> None:
        self.value = value

    def ball(self) -> Ball:
        return rational(self.value)

    def refine(self, bits: int) -> None:
        """There is nothing to refine."""


def greatest(numbers: Sequence[LazyReal]) -> int:
    """Return the index of the largest of some lazy reals with continuous laws.

    Args:
        numbers: At least one; two of them are equal with probability zero.

    Returns:
        The index.
    """
    alive = list(range(len(numbers)))
    bits, more = 128, 64
    while True:
        with precision(bits):
            balls = {i: _enclose(numbers[i]) for i in alive}
            alive = [i for i in alive if not any(balls[i] < balls[j] for j in alive)]
        if len(alive) == 1:
            return alive[0]
        for i in alive:
            numbers[i].refine(more)
        bits += more
        more *= 2


def _enclose(number: LazyReal) -> Ball:
    """A ball, or the whole line while a branch is open."""
    try:
        return number.ball()
    except Undecided:
        return everything()


def noisy_argmax(
    recipe: Recipe, *, locations: Any, scale: Scale, denominator: int = 1, bits: Bits | None = None
) -> int:
    """Return the index of the largest location + scale * noise, for the ideal real noise.

    Args:
        recipe: The unit-scale law of the noise.
        locations: Exact values: integers over the common denominator, or fractions.
        scale: One exact scale; with scale zero the first largest location wins.
        denominator: Common denominator of integer locations.
        bits: A source of random words; by default a fresh key from the operating system.

    Returns:
        The index.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.noise.laplace.sampler import LaplaceRecipe
        >>> noisy_argmax(LaplaceRecipe(), locations=[0, 1000, 3], scale=2, bits=SeededBits(3))
        1
    """
    source = Bits() if bits is None else bits
    exact = [Fraction(v) / denominator for v in np.asarray(locations, dtype=object).tolist()]
    if not exact:
        raise ParameterError("noisy argmax", "locations must not be empty")
    amount = exact_scale(scale)
    if not amount:
        return max(range(len(exact)), key=lambda i: exact[i])
    drawn = tries(recipe, source, len(exact))
    steps = ratio(amount, recipe.unit, 0)
    with np.errstate(all="ignore"):
        places = np.array([float(q) for q in exact])
        values = drawn.value * steps + places
        # Inside the tolerance of the recipe: the product and the float scale; on top, location and sum.
        slack = drawn.tolerance * steps + 2.0**-51 * (np.abs(places) + np.abs(values))
        low, high = values - slack, values + slack
        low[~drawn.sure | ~np.isfinite(low)] = -np.inf
        high[~drawn.sure | ~np.isfinite(high)] = np.inf
    rivals = np.flatnonzero(high >= low.max())
    if len(rivals) == 1:
        return int(rivals[0])
    numbers = [NoisyReal.of(recipe, exact[i], amount, drawn.uniforms(i)) for i in rivals.tolist()]
    return int(rivals[greatest(numbers)])


class _LargestExponential:
    """-rate * level + the largest of `count` independent exponentials: -log(1 - U^(1/count))."""

    __slots__ = ("_count", "_shift", "_uniform")

    def __init__(self, shift: Fraction, count: int, uniform: LazyUniform) -> None:
        self._shift = shift
        self._count = count
        self._uniform = uniform

    def ball(self) -> Ball:
        u = self._uniform.magnitude()
        return rational(self._shift) - (-((u.log() / self._count).expm1())).log()

    def refine(self, bits: int) -> None:
        self._uniform.refine(bits)


def _as_float(count: int) -> float:
    """Return the float next to an integer, an infinity if there is none."""
    try:
        return float(count)
    except OverflowError:
        return float("inf")


def permute_and_flip(weights: CellWeights, *, bits: Bits | None = None) -> tuple[int, int]:
    """Permute-and-flip over cells of equal candidates: flip exp(-rate * level) in random order.

    It is drawn as the noisy max with exponential noise, which is the same law (Ding et al. 2021): one
    uniform per cell gives the largest of its `count` exponentials.

    Args:
        weights: Cells of `counts` equal candidates at integer levels; no factors.
        bits: A source of random words; by default a fresh key from the operating system.

    Returns:
        The cell and the candidate's number inside it.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.exact.choice import CellWeights
        >>> permute_and_flip(CellWeights([1, 9], [0, 10**6], rate=Fraction(1)), bits=SeededBits(1))
        (0, 0)
    """
    if weights.factors:
        raise ParameterError("permute-and-flip", "cells must not have factors")
    source = Bits() if bits is None else bits
    some = np.flatnonzero(weights.counts > 0)
    counts, levels = weights.counts[some], weights.levels[some]
    (winner,) = flip_rows(
        counts, levels, weights.exponents()[some], rate=weights.rate, starts=[0], bits=source
    )
    return int(some[winner]), source.below(int(counts[winner]))


def flip_rows(
    counts: Any, levels: Any, shifts: Any, *, rate: Fraction, starts: Sequence[int], bits: Bits
) -> list[int]:
    """Permute-and-flip in many rows at once: the winning cell of each.

    Args:
        counts: Positive integers, the cells of all rows one after another.
        levels: The level of each cell.
        shifts: ``-rate * levels`` as floats to a relative 2^-52.
        rate: The exact price of one level.
        starts: Where each row begins; no row is empty.
        bits: A source of random words: one word per cell.

    Returns:
        The place of the winner of each row, counted over all cells.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> levels = np.array([0, 900, 900, 0])
        >>> flip_rows(np.ones(4, np.int64), levels, -1.0 * levels, rate=Fraction(1), starts=[0, 2], bits=SeededBits(1))
        [0, 3]
    """
    words = bits.words(len(levels))
    u = np.abs(heads(words))
    unsafe = (u < GUARD) | (u > 1.0 - GUARD)
    with np.errstate(all="ignore"):
        share = ARRAYS.log(u)
        share /= np.array([_as_float(c) for c in counts.tolist()]) if counts.dtype == object else counts
        unsafe |= share > -1e-280  # a count beyond floats is left to the balls
        height = -ARRAYS.log(-ARRAYS.expm1(share))
        values = height + shifts
        # 1 - U^(1/n) is known to a relative 2^-33.8, because outside the guard |log U| is (proof page).
        slack = 2.0**-33 + 2.0**-45 * (np.abs(height) + np.abs(shifts))
        low, high = values - slack, values + slack
        low[unsafe] = -np.inf
        high[unsafe] = np.inf
    best = np.repeat(np.maximum.reduceat(low, starts), np.diff([*starts, len(low)]))
    rivals = np.flatnonzero(high >= best)
    edges = np.searchsorted(rivals, [*starts, len(low)]).tolist()
    winners = []
    for begin, end in itertools.pairwise(edges):
        if end - begin == 1:
            winners.append(int(rivals[begin]))
            continue
        cells = rivals[begin:end].tolist()
        numbers = [
            _LargestExponential(-rate * int(levels[i]), int(counts[i]), LazyUniform(int(words[i]), bits))
            for i in cells
        ]
        winners.append(cells[greatest(numbers)])
    return winners
