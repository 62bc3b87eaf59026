"""The population variance of a column between public bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.lattice import Lattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Exact, Opened, Profile, Reach
from sordino.reading.requests import FIRST, LAST, Bundle, Columns, Request, Window
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, NESTED, Case, Numeric
from sordino.statistics.mean import Mean
from sordino.statistics.moments import MomentSpread, variance_of
from sordino.statistics.ordered import Sorted, add_remove_reach

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance(Numeric):
    """The mean squared distance to the mean (divided by n); 0 for an empty column.

    Args:
        envelope: ``"moments"`` needs sums and a few rows at the ends, and any source can answer it;
            ``"exact"`` gives the exact reach from all rows, which only a source in memory can answer.

    Example:
        >>> Variance("income", low=0, high=500_000).define([1, 3])
        Fraction(1, 1)
    """

    name: ClassVar[str] = "variance"
    suits: ClassVar[tuple[str, ...]] = ("plain-or-cut-squares", "additive", *NESTED)
    root: ClassVar[bool] = False

    envelope: str = "moments"

    def shows(self) -> tuple[Trait, ...]:
        """The variance of the column."""
        return Trait.REACH, Trait.RANGE, Trait.VARIANCE

    def check(self) -> None:
        """Squares are summed, so the lattice is not too fine."""
        Numeric.check(self)
        checks.one_of(self.name, ("moments", "exact"), envelope=self.envelope)
        checks.between(self.name, 1, 2**32, closed=True, cells=self.grid.last, hint="bits of at most 32")

    @property
    def exact(self) -> tuple[str, ...]:
        """The upper envelope from all rows is exact; the lower one is reached off the lattice."""
        return ("high",) if self.envelope == "exact" else ()

    @property
    def units(self) -> Lattice:
        """Squared steps."""
        return Lattice(Fraction(0), self.grid.step**2)

    def request(self, *, depth: int = DEPTH) -> Request | Bundle:
        """Sums, squares and the rows at the ends; all rows for the exact envelope."""
        windows = (Window(FIRST, depth + 4), Window(LAST, depth + 4))
        moments = Request(self.column, self.grid, windows, squares=True, depth=depth)
        if self.envelope == "moments":
            return moments
        return Bundle((moments, Columns((self.column,), (self.grid,))), depth=depth)

    def define(self, rows: Sequence[int]) -> Exact:
        """Average the squared distances to the mean."""
        if not rows:
            return 0
        mean = Fraction(sum(rows), len(rows))
        return sum(((row - mean) ** 2 for row in rows), Fraction(0)) / len(rows)

    def open(self, summary: Summary) -> Opened:
        """Radii from the moments, or envelopes from all rows."""
        moments = summary if self.envelope == "moments" else summary.parts[0]
        n, depth, top = moments.rows, summary.request.depth, self.grid.last
        value = variance_of(n, moments.total, moments.squares)
        widest = Fraction(top * top, 4)
        profile = Profile.dense(self._bounds(moments, depth), widest)
        if self.envelope == "moments":
            reach = Reach.from_profile(value, profile, bottom=0, top=widest)
        else:
            codes = summary.parts[1].codes
            assert codes is not None
            reach = self._envelopes(MomentSpread(codes[0], top), depth, widest)
            profile = profile.meet(Profile.from_reach(reach, widest))
        return Opened(value, self.units, profile, reach, n, bottom=0, top=widest)

    def _bounds(self, moments: Summary, depth: int) -> list[Exact]:
        """Local sensitivity from how far the mean of the other rows can lie from the ends.

        A row u among others with mean m adds ``(n-1)/n^2 (u - m)^2``; m is extreme when the k rows that moved
        sit at one end. With rows that come and go, a step changes the variance by at most
        ``max(top - m, m)^2 / n`` with n the larger number of rows.
        """
        n, top = moments.rows, self.grid.last
        bounds: list[Exact] = []
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            mean = Mean("x", low=self.low, high=self.high, step=self.grid.step, neighbors=self.neighbors)
            reach = add_remove_reach(mean, moments, depth + 1, top)
            for k in range(depth + 1):
                if n - k <= 1:
                    break
                low, high = reach.at(k + 1)
                bounds.append(max(top - low, high) ** 2 / Fraction(n - k))
            return [*bounds, Fraction(top * top, 4)]
        if n <= 1:
            return [0] * (depth + 1)
        ordered = Sorted(moments, top, room=2 * depth + 8)
        moved = np.arange(depth + 1)
        least = ordered.prefix(n - 1 - moved)
        most = ordered.prefix(n + moved) - ordered.prefix(moved + 1)
        for low, high in zip(least, most, strict=True):
            farthest = max((n - 1) * top - int(low), min(int(high), (n - 1) * top))
            bounds.append(Fraction(farthest**2, (n - 1) * n * n))
        return bounds

    def _envelopes(self, spread: MomentSpread, depth: int, widest: Fraction) -> Reach:
        """Move the best block of rows to the ends, or to the mean of the others."""
        n = spread.rows
        lows: list[Exact] = []
        highs: list[Exact] = []
        for l in range(depth + 1):
            if self.neighbors is Neighbors.REPLACE_ONE:
                moves = [(min(l, n), min(l, n))]
            else:
                moves = [(gone, l - gone) for gone in range(min(l, n) + 1)]
            sizes = [(gone, added, n + added - gone) for gone, added in moves]
            filled = [(gone, added, size) for gone, added, size in sizes if size > 0]
            empty: list[Exact] = [0] if len(filled) < len(sizes) else []
            highs.append(max([*(spread.widest(*move) for move in filled), *empty]))
            lows.append(min([*(spread.narrowest(n - gone, size) for gone, _, size in filled), *empty]))
            if l:
                highs[-1], lows[-1] = max(highs[-2:]), min(lows[-2:])
            if lows[-1] == 0 and highs[-1] == widest:
                break
        return Reach.dense(lows, highs, bottom=0, top=widest)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction | None:
        """Where the bounds fit or rows are too few to search.

        Moving k rows moves the mean by k/n of the range, and it lies at least half the range from the farther end, so
        the local sensitivity grows by at most ``(1 + 2k/n)^2 <= exp(4k/n)``: a smoothing of 4/n does not feel the
        bounds.
        Where rows come and go the whole table is n rows from nothing: its bound, n times as large, must count little.
        """
        if not hints.rows:
            return None
        replace_one = self.neighbors is Neighbors.REPLACE_ONE
        wanted = 4.0 if replace_one else math.log(hints.rows) + 2
        ratio = min(max(wanted / (hints.rows * price.strength), 0.05), 0.2 if replace_one else 0.3)
        return hints.smoothing or Fraction(f"{ratio * price.strength:.4g}")

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Both envelopes, both relations."""
        rows = tuple((x,) for x in (0, 1, 2, 4))
        for relation in cls.relations:
            for envelope in ("moments", "exact"):
                yield Case(
                    cls("x", low=0, high=4, step=1, envelope=envelope, neighbors=relation), rows, (1, 2, 3, 4)
                )
