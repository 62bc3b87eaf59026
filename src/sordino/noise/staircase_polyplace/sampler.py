"""Staircase PolyPlace noise by inversion of its closed-form tail, in balls only.

The density is a list of hyperbolas whose last level repeats for ever (docs/proofs/staircase_polyplace.md), so a draw
is: the level by one logarithm, the piece by comparisons, the point by one exponential. There is no float path yet.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from flint import ctx

from sordino import checks
from sordino.exact.balls import Ball, Undecided, floor, is_less, precision, rational, to_float
from sordino.exact.recipe import Fast, Guard, Recipe

if TYPE_CHECKING:
    from sordino.exact.functions import Functions
    from sordino.exact.uniforms import LazyUniform


class _Piece(NamedTuple):
    """One piece: the unnormalised density is top/(y - pole) up to high, or top where pole is None."""

    high: Ball
    top: Ball
    pole: Ball | None
    tail: Ball


class _Pieces(NamedTuple):
    """All pieces up to the end of the level that repeats, and the masses beyond and of everything."""

    pieces: tuple[_Piece, ...]
    rest: Ball
    mass: Ball
    origin: Ball


@dataclass(frozen=True, slots=True)
class StaircasePolyPlaceRecipe(Recipe):
    """The law of `sordino.noise.staircase_polyplace.StaircasePolyPlace`, with the same parameters.

    Example:
        >>> StaircasePolyPlaceRecipe(4, 0.4, 0.139, 0.139, 0.232).words
        1
    """

    guards: ClassVar[tuple[Guard, ...]] = (Guard.ZERO,)

    epsilon: Fraction
    smoothing: Fraction
    plateau: Fraction
    middle: Fraction
    core: Fraction
    proved: bool = field(default=False, init=False, repr=False, compare=False)  # every draw is made in balls

    def __post_init__(self) -> None:
        for name in ("epsilon", "smoothing", "plateau", "middle", "core"):
            value = checks.positive("staircase-polyplace", **{name: getattr(self, name)})
            object.__setattr__(self, name, value)

    def fast(self, f: Functions, *x: Any) -> Fast:
        """Enclose nothing: an infinite tolerance sends every draw to the balls."""
        (v,) = x
        return Fast(f.absolute(v), float("inf"))

    def ball(self, *u: LazyUniform) -> Ball:
        """|X| is the tail probability; the level, the piece and the point follow in closed form."""
        (v,) = u
        numbers = (self.epsilon, self.smoothing, self.plateau, self.middle, self.core)
        pieces, rest, mass, origin = _lay_out(numbers, ctx.prec)
        wanted = v.magnitude() * mass
        skipped = 0
        if is_less(wanted, rest):
            skipped = floor((rest / wanted).log() / rational(self.epsilon)) + 1
            wanted *= (rational(self.epsilon) * skipped).exp()
        low, high = 0, len(pieces) - 1
        while low < high:  # the first piece with less mass beyond it than wanted
            middle = (low + high) // 2
            low, high = (low, middle) if is_less(pieces[middle].tail, wanted) else (middle + 1, high)
        piece = pieces[low]
        part = (piece.tail - wanted) / piece.top
        y = piece.high + (part if piece.pole is None else (piece.high - piece.pole) * part.expm1())
        if skipped:
            y = (y + origin) * (rational(self.smoothing) * skipped).exp() - origin
        return y * v.sign()


@functools.lru_cache(maxsize=64)
def _lay_out(numbers: tuple[Fraction, ...], bits: int) -> _Pieces:
    """Break points, tops and tails of all pieces at a working precision."""
    with precision(bits + 64):
        epsilon, g, a, b, b1 = (rational(number) for number in numbers)
        origin = 1 / g.expm1()
        share = (1 + a) * b / (1 + b)
        rows: list[tuple[Ball, Ball, Ball, Ball | None]] = [
            (rational(0), a, rational(1), None),
            (a, b, 1 + a, rational(-1)),
            (b, b1, share, rational(0)),
        ]
        end, k, first = b1, 0, 0
        reach = [rational(0)]
        while True:
            k += 1
            reach.append((g * k).expm1() * origin)
            start, end = end, reach[k] + b1 * (g * k).exp()
            flat_end = (-g * k).exp() * (a + reach[k])
            level: list[tuple[Ball, Ball, Ball | None]] = [(flat_end, (g * k).exp(), None)]
            for p in range(k, 0, -1):
                knee = reach[k - p] + (g * (k - 2 * p + 1)).exp() * (a + reach[p])
                level.append((knee, a + reach[p], reach[k - p]))
            level += [(reach[k] + b * (g * (k - 1)).exp(), 1 + a, reach[k - 1]), (end, share, reach[k])]
            first, low = len(rows), start
            for high, top, pole in level:
                if _beyond(high, start):
                    rows.append((low, high, top * (-epsilon * k).exp(), pole))
                    low = high
            if not _beyond(flat_end, start):
                break
        masses = [
            top * (high - low) if pole is None else top * ((high - low) / (low - pole)).log1p()
            for low, high, top, pole in rows
        ]
        rest = sum(masses[first:], rational(0)) / epsilon.expm1()
        pieces: list[_Piece] = []
        tail = rest
        for (_, high, top, pole), mass in zip(reversed(rows), reversed(masses), strict=True):
            pieces.append(_Piece(high, top, pole, tail))
            tail += mass
        return _Pieces(tuple(reversed(pieces)), rest, tail, origin)


def _beyond(point: Ball, start: Ball) -> bool:
    """Whether a break point lies beyond the start of its level; a tie is not a piece at all."""
    try:
        return is_less(start, point)
    except Undecided:
        assert abs(to_float(point - start)) < 1e-12
        return False
