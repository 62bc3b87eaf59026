"""The choice of plain-or-cut, drawn exactly: the whole range together with its value, or an interval.

Given the weights of all intervals (family.py) the whole range keeps a fixed part of its chance and pays with a flat top
of its noise, so that choosing it reveals next to nothing. Proof: docs/proofs/mechanism_plain_or_cut.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.exact import choice
from sordino.exact.balls import Undecided, floor, precision, rational
from sordino.exact.recipe import Fast, Guard, Recipe
from sordino.exact.sampler import draw, settle
from sordino.exact.uniforms import LazyUniform
from sordino.mechanisms.clip.flat_top import term_weights, whole_top_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.exact.balls import Ball
    from sordino.exact.bits import Bits
    from sordino.exact.functions import Functions
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.family import Family, Weighed
    from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan


@dataclass(frozen=True, slots=True, repr=False)
class Valued:
    """What is published with an outcome: one number, or two or three that one person moves together.

    Attributes:
        values: Exact; private.
        sensitivity: How far one person moves them, added up; public.
        rate: Nats per sensitivity of their noise.
        grid: The public lattice of what is published.
    """

    values: tuple[Fraction, ...]
    sensitivity: Fraction
    rate: Fraction
    grid: Lattice

    @property
    def scale(self) -> Fraction:
        """What stands for one nat."""
        return self.sensitivity / self.rate

    def plain(self, bits: Bits) -> tuple[Fraction, ...]:
        """Every value with Laplace noise of its own."""
        from sordino.noise.laplace.sampler import LaplaceRecipe

        return tuple(
            self.grid.step
            * draw(LaplaceRecipe(), location=value, scale=self.scale, grid=self.grid, bits=bits)
            for value in self.values
        )

    def settled(self, noises: Sequence[LazyUniform]) -> tuple[Fraction, ...]:
        """Every value with the Laplace noise that a uniform stands for."""
        from sordino.noise.laplace.sampler import LaplaceRecipe

        return tuple(
            self.grid.step * settle(LaplaceRecipe(), [noise], value, self.scale, self.grid)
            for value, noise in zip(self.values, noises, strict=True)
        )


@dataclass(frozen=True, slots=True, repr=False)
class Chosen:
    """A drawn interval.

    Attributes:
        level: Its level; public once it is published.
        low: First code; public likewise.
        high: Last code; public likewise.
        charge: Nats that its rows charge it, which flatten the top of its value's noise; private.
    """

    level: int
    low: int
    high: int
    charge: Fraction


def cell_weights(weighed: Weighed, *, whole: bool) -> choice.CellWeights:
    """The weights of all cells as a choice takes them, the whole range first where it is among them."""
    counts, levels = list(weighed.counts), list(weighed.exponents)
    if whole:
        counts, levels = [weighed.one, *counts], [0, *levels]
    both = np.array(counts, dtype=object), np.array(levels, dtype=object)
    return choice.CellWeights(*both, Fraction(1, weighed.unit))


def total_ball(weighed: Weighed) -> Ball:
    """Enclose Z, the sum of the weights of all intervals, at the current precision."""
    counts: dict[int, int] = {}
    for exponent, count in zip(weighed.exponents, weighed.counts, strict=True):
        counts[exponent] = counts.get(exponent, 0) + count
    total = rational(0)
    for exponent, count in counts.items():
        total += rational(Fraction(-exponent, weighed.unit)).exp() * count
    return total / weighed.one


def outweighs(weighed: Weighed) -> bool:
    """Whether the intervals together outweigh ``p0 / (1 - p0)`` of the whole range; private.

    A sum of exponentials of rationals with positive factors is rational only if all exponents are 0 (Lindemann and
    Weierstrass), so in all other cases balls decide.
    """
    if not any(weighed.exponents):
        return Fraction(sum(weighed.counts), weighed.one) > weighed.border
    bits = 64
    while True:
        with precision(bits):
            gap = total_ball(weighed) * weighed.border.denominator - weighed.border.numerator
            if gap > 0:
                return True
            if gap < 0:
                return False
        bits *= 2


def survives(weighed: Weighed, noises: Sequence[LazyUniform], other: LazyUniform, exponent: Fraction) -> bool:
    """Decide ``U |X| |X'| ... < (Z (1 - p0) / p0)^-g``, that is ``U < exp(-r (v - |t|))``, refining the uniforms."""
    bits = 128
    while True:
        with precision(bits):
            lost = (total_ball(weighed) * weighed.border.denominator / weighed.border.numerator).log()
            product = other.magnitude()
            for noise in noises:
                product *= noise.magnitude()
            gap = product.log() + lost * rational(exponent)
            if gap < 0:
                return True
            if gap > 0:
                return False
        for one in (*noises, other):
            one.refine(64)
        bits += 64


def draw_cell(weighed: Weighed, *, bits: Bits) -> int:
    """Choose a cell of intervals by their weights."""
    return choice.choose(cell_weights(weighed, whole=False), bits=bits)


def draw_jointly(weighed: Weighed, whole: Valued, plan: CutPlan, *, bits: Bits) -> tuple[Fraction, ...] | int:
    """Draw what the whole range is published with, or the number of a cell of intervals (pure prices).

    Args:
        weighed: The weights of all intervals on the column; private.
        whole: What is published with the whole range.
        plan: What the whole range keeps, and how its noise flattens; public.
        bits: A source of random words.

    Returns:
        Fractions for the values, an integer for a cell.
    """
    if not outweighs(weighed):
        cell = choice.choose(cell_weights(weighed, whole=True), bits=bits)
        return cell - 1 if cell else whole.plain(bits)
    if bits.below(plan.share.part.denominator) >= plan.share.part.numerator:
        noises = [LazyUniform(bits.word(), bits) for _ in whole.values]
        other = LazyUniform(bits.word(), bits)
        if survives(weighed, noises, other, plan.flatness(whole.rate)):
            return whole.settled(noises)
    return draw_cell(weighed, bits=bits)


@dataclass(frozen=True, slots=True)
class Uniform(Recipe):
    """The uniform law on [-1, 1): the flat top of a noise."""

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO,)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """The head itself; its unread bits are below 2^-62, and the product with a scale and a sum cost 2^-49."""
        del f
        return Fast(x[0], 2.0**-48)

    def ball(self, *u: LazyUniform) -> Ball:
        """The number itself."""
        return u[0].signed()


def draw_flat_topped(part: Valued, flat: Fraction, *, bits: Bits) -> tuple[Fraction, ...]:
    """Values with noise of density ``~ exp(-max(rate |t|, flat))`` in sensitivities t, exactly rounded.

    The flat top of one value holds ``flat / (1 + flat)`` of the mass; beyond it the noise is exponential on either
    side. For several, ``|t|`` is the sum of their distances.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.lattice import Lattice
        >>> part = Valued((Fraction(7),), Fraction(0), Fraction(1), Lattice.dyadic(0))
        >>> draw_flat_topped(part, Fraction(3), bits=SeededBits(1))
        (Fraction(7, 1),)
    """
    from sordino.noise.laplace.sampler import LaplaceRecipe

    if len(part.values) > 1:
        return _draw_flat_topped_ball(part, flat, bits=bits)
    (value,) = part.values
    top = flat / (1 + flat)
    uniform = LazyUniform(bits.word(), bits)
    if bits.below(top.denominator) < top.numerator:
        point = settle(Uniform(), [uniform], value, part.scale * flat, part.grid)
    else:
        edge = value + uniform.sign() * flat * part.scale
        point = settle(LaplaceRecipe(), [uniform], edge, part.scale, part.grid)
    return (part.grid.step * point,)


def _draw_flat_topped_ball(part: Valued, flat: Fraction, *, bits: Bits) -> tuple[Fraction, ...]:
    """Several values: an even point of the ball ``|t| <= R``, with R of density ``~ R^d exp(-R)`` beyond the flat top.

    ``exp(-max(m, x))`` is the integral of ``exp(-R)`` over ``R > max(m, x)``, and the ball in d dimensions has the
    volume ``(2 R)^d / d!``. Beyond x, ``R = x + e`` has ``(x + e)^d exp(-e)``: a sum of one to d + 1 exponential
    numbers, with chances as the terms of that power. Parts of the sum of d + 1 further ones are distances of an even
    point.
    """
    many = len(part.values)
    place = bits.below(whole_top_weight(flat.numerator, flat.denominator, many))
    terms = 1
    for weight in term_weights(flat.numerator, flat.denominator, many):
        if place < weight:
            break
        place, terms = place - weight, terms + 1
    uniforms = [LazyUniform(bits.word(), bits) for _ in range(many + 1 + terms)]
    working, half = 128, Fraction(1, 2)
    while True:
        with precision(working):
            nats = [-uniform.magnitude().log() for uniform in uniforms]
            radius = sum(nats[many + 1 :], rational(flat))
            unit = radius * rational(part.scale / part.grid.step) / sum(nats[: many + 1], rational(0))
            try:
                return tuple(
                    part.grid.step * floor(unit * own * one.sign() + rational(value / part.grid.step + half))
                    for value, own, one in zip(part.values, nats[:many], uniforms[:many], strict=True)
                )
            except Undecided:
                pass
        for uniform in uniforms:
            uniform.refine(64)
        working += 64


def draw_outcome(
    family: Family, weighed: Weighed, whole: Valued | None, *, bits: Bits
) -> tuple[Fraction, ...] | Chosen | None:
    """Draw the whole range or an interval of the family.

    Args:
        family: All intervals; public.
        weighed: Their weights on the column; private.
        whole: What is published with the whole range in a joint draw (pure prices); None draws the interval alone, by
            the exponential mechanism (concentrated prices).
        bits: A source of random words.

    Returns:
        The values of the whole range, None for the whole range without values, or an interval.
    """
    if whole is not None:
        outcome = draw_jointly(weighed, whole, family.plan, bits=bits)
        if isinstance(outcome, tuple):
            return outcome
        cell = outcome
    else:
        cell = choice.choose(cell_weights(weighed, whole=True), bits=bits) - 1
        if cell < 0:
            return None
    level, low, high = draw_interval(family, weighed, cell, bits=bits)
    return Chosen(level, low, high, Fraction(weighed.charges[cell], weighed.unit))


def draw_interval(family: Family, weighed: Weighed, cell: int, *, bits: Bits) -> tuple[int, int, int]:
    """The level and the first and last code of an interval of a chosen cell."""
    level, places = weighed.level[cell], weighed.places[cell]
    if places is not None:
        return level, *family.interval(level, int(places[bits.below(len(places))]))
    return level, *family.interval(level, draw_place(family, level, weighed.taken(level), bits=bits))


def draw_place(family: Family, level: int, taken: set[int], *, bits: Bits) -> int:
    """The start of one of the intervals of a level that are not taken, by the priors of those that are not favoured."""
    rings = family.rings(level)
    everything = sum((high - low + 1) * prior for low, high, prior in rings)
    while True:
        mass = bits.below(everything)
        for low, high, prior in rings:
            size = (high - low + 1) * prior
            if mass < size:
                break
            mass -= size
        place = low + mass // prior
        if place not in taken:
            return place
