"""From nested intervals of reachable values to scores: the one theorem behind every mechanism of this folder.

If ``I_0 <= I_1 <= ...`` with ``I_l(x)`` inside ``I_{l+1}(x')`` for neighbours, then the score that is 0 on ``I_0`` and
``l - 1 + h(t)`` on ``I_l`` outside ``I_{l-1}`` (t from 0 at the inner end to 1 at the outer) has sensitivity 1 for
every monotone h from [0,1] to [0,1]. Proof: docs/proofs/mechanism_nested.md. Here: intervals to cells and pieces.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino import checks
from sordino.mechanisms.parts.law import Piece, ScoreCell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int64]

Exact = Fraction | int


def _plain(value: Exact) -> Exact:
    """Whole numbers as ints: their arithmetic is ten times faster."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


@dataclass(frozen=True, slots=True)
class Intervals:
    """Nested intervals inside a public range; beyond the last one comes the range itself, one level up.

    Cutting to the range end keeps the nesting (the score becomes ``min(d, K+1)``).

    Attributes:
        low: Lower ends, non-increasing.
        high: Upper ends, non-decreasing.
        first: Lower end of the range.
        last: Upper end of the range.
    """

    low: tuple[Exact, ...]
    high: tuple[Exact, ...]
    first: Exact
    last: Exact

    @classmethod
    def of(cls, low: Sequence[Exact], high: Sequence[Exact], *, first: Exact, last: Exact) -> Intervals:
        """Clip the ends to the range and close the family with the range itself.

        Levels above the first one that fills the range are dropped: nothing is left for them.
        """
        first, last = _plain(first), _plain(last)
        lows, highs = [], []
        for below, above in zip(map(_plain, low), map(_plain, high), strict=True):
            lows.append(min(max(below, first), last))
            highs.append(max(min(above, last), first))
            if lows[-1] == first and highs[-1] == last:
                break
        else:
            lows.append(first)
            highs.append(last)
        return cls(tuple(lows), tuple(highs), first, last)

    def shifted(self, by: int) -> Intervals:
        """The family around the lower end at distance ``by``, made of lower ends alone.

        ``[low(by + l), low(by - l)]``, and up to the end of the range for l above ``by``. For neighbours
        ``low_x'(j + 1) <= low_x(j) <= low_x'(j - 1)``, so the one at l lies inside the other at l + 1.

        Example:
            >>> Intervals.of([5, 3, 2], [5, 9, 20], first=0, last=20).shifted(1)
            Intervals(low=(3, 2, 0), high=(3, 5, 20), first=0, last=20)
        """
        ends = [*self.low, *([self.first] * (by + 1))]
        count = len(ends) - by
        high = [ends[by - level] if level <= by else self.last for level in range(count)]
        return Intervals.of(ends[by:], high, first=self.first, last=self.last)

    def held(self, levels: int) -> Intervals:
        """The family with a tied answer as many levels ahead of the others as rows keep it the answer.

        Args:
            levels: At most so many in all, a public number.

        Example:
            >>> Intervals.of([5, 5, 5, 3], [5, 5, 9, 20], first=0, last=20).held(9)
            Intervals(low=(5, 5, 5, 5, 3, 0), high=(5, 5, 5, 9, 20, 20), first=0, last=20)
        """
        alone = zip(self.low, self.high, strict=True)
        margin = sum(1 for _ in itertools.takewhile(lambda ends: ends[0] == ends[1], alone)) - 1
        if margin < 1 or len(self.low) < 2:
            return self
        low, high = (((side[0],) * margin + side)[: levels + 1] for side in (self.low, self.high))
        return Intervals((*low[:-1], self.first), (*high[:-1], self.last), self.first, self.last)

    def widened(self, radius: Exact) -> Intervals:
        """Widen every interval, the range included: ``max`` of a score over a window keeps its sensitivity."""
        return Intervals(
            tuple(end - radius for end in self.low),
            tuple(end + radius for end in self.high),
            self.first - radius,
            self.last + radius,
        )

    def clipped(self, *, first: Exact, last: Exact) -> Intervals:
        """Cut to a public range again (after widening)."""
        return Intervals.of(self.low, self.high, first=first, last=last)


def held(low: Codes, high: Codes, *, levels: int) -> tuple[Codes, Codes]:
    """The same for the families of many groups, one row each, whose last interval is the whole range.

    How many columns come out depends on how many came in alone.

    Example:
        >>> low, high = held(np.array([[5, 5, 3, 0], [5, 4, 3, 0]]), np.array([[5, 5, 9, 20], [5, 9, 9, 20]]), levels=9)
        >>> low.tolist(), high.tolist()
        ([[5, 5, 5, 3, 0, 0], [5, 4, 3, 0, 0, 0]], [[5, 5, 5, 9, 20, 20], [5, 9, 9, 20, 20, 20]])
    """
    size = low.shape[1]
    margin = np.maximum((low[:, :-1] == high[:, :-1]).sum(axis=1, keepdims=True) - 1, 0)
    width = min(2 * size - 2, levels + 1)
    places = np.clip(np.arange(width) - margin, 0, size - 1)
    places[:, -1] = size - 1
    return np.take_along_axis(low, places, axis=1), np.take_along_axis(high, places, axis=1)


@dataclass(frozen=True, slots=True)
class Interpolation:
    """The monotone h inside one interval: linear (piecewise Laplace), or a step at ``threshold`` (staircase).

    ``threshold = 0`` is the inverse sensitivity itself; ``1/2`` is the staircase used for quantiles.
    """

    threshold: Fraction | None

    @classmethod
    def linear(cls) -> Interpolation:
        """Piecewise Laplace."""
        return cls(None)

    @classmethod
    def step(cls, threshold: checks.Number) -> Interpolation:
        """A staircase."""
        return cls(checks.between("interpolation", 0, 1, closed=True, threshold=threshold))


def lattice_cells(intervals: Intervals, threshold: Fraction) -> list[ScoreCell]:
    """Cells of lattice points by score, for a staircase, in increasing order.

    Example:
        >>> family = Intervals.of([5, 3], [5, 9], first=0, last=12)
        >>> [(cell.first, cell.last, cell.level) for cell in lattice_cells(family, Fraction(1, 2))]
        [(0, 1, 2), (2, 2, 1), (3, 3, 1), (4, 4, 0), (5, 5, 0), (6, 7, 0), (8, 9, 1), (10, 10, 1), (11, 12, 2)]
    """
    above: list[ScoreCell] = []
    below: list[ScoreCell] = []
    num, den = threshold.numerator, threshold.denominator
    core = ScoreCell(math.ceil(intervals.low[0]), math.floor(intervals.high[0]), 0)
    pairs = zip(intervals.high, intervals.high[1:], strict=False)
    for level, (inner, outer) in enumerate(pairs, start=1):
        turn = (inner * den + num * (outer - inner)) // den
        above.append(ScoreCell(math.floor(inner) + 1, turn, level - 1))
        above.append(ScoreCell(turn + 1, math.floor(outer), level))
    pairs = zip(intervals.low, intervals.low[1:], strict=False)
    for level, (inner, outer) in enumerate(pairs, start=1):
        turn = -((num * (inner - outer) - inner * den) // den)
        below.append(ScoreCell(turn, math.ceil(inner) - 1, level - 1))
        below.append(ScoreCell(math.ceil(outer), turn - 1, level))
    ordered = [*reversed(below), core, *above]
    return [cell for cell in ordered if cell.first <= cell.last]


def line_pieces(intervals: Intervals, interpolation: Interpolation) -> list[Piece]:
    """Pieces of the line by score, in increasing order.

    Example:
        >>> family = Intervals.of([5, 3], [5, 9], first=0, last=9)
        >>> [(int(p.left), int(p.right), p.level) for p in line_pieces(family, Interpolation.linear())]
        [(0, 3, 1), (3, 5, 0), (5, 9, 0)]
    """
    pieces: list[Piece] = []
    low, high = Fraction(intervals.low[0]), Fraction(intervals.high[0])
    if low < high:
        pieces.append(Piece(low, high, 0, 0, 0))
    for side, ends in ((1, intervals.high), (-1, intervals.low)):
        for level, (inner, outer) in enumerate(itertools.pairwise(ends), start=1):
            start, end = Fraction(inner), Fraction(outer)
            if start == end:
                continue
            if interpolation.threshold is None:
                pieces.append(Piece(min(start, end), max(start, end), level - 1, 1, side))
                continue
            turn = start + interpolation.threshold * (end - start)
            for left, right, score in ((start, turn, level - 1), (turn, end, level)):
                if left != right:
                    pieces.append(Piece(min(left, right), max(left, right), score, 0, side))
    return sorted(pieces, key=lambda piece: piece.left)
