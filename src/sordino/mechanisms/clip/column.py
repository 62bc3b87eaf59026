"""One private column as adaptive mechanisms see it: counts below codes, ranks, clipped sums, nothing else.

Everything is in codes of the statistic's public grid. A column asks its source for what it needs, so the mechanisms
that decide their next question from released answers work on any source; `SortedColumn` serves the laws.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sordino.lattice import Lattice
from sordino.mechanisms.clip.family import Ends
from sordino.reading.requests import FIRST, LAST, Rank, Request, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sordino.lattice import RowLattice
    from sordino.reading.requests import Ask, Summary


_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, repr=False)
class Clipped:
    """Exact sums of clipped rows in real units; private.

    Attributes:
        rows: Number of rows.
        total: Sum.
        squares: Sum of squares, when asked.
        low: Lower clipping bound.
        high: Upper clipping bound.
    """

    rows: int
    total: Fraction
    squares: Fraction
    low: Fraction
    high: Fraction

    @classmethod
    def of(
        cls,
        rows: int,
        total: int,
        squares: int | None,
        units: Lattice,
        top: int,
        high: Fraction | None = None,
    ) -> Clipped:
        """Move sums of codes to real units; squares where they were asked for. The upper bound may be known."""
        origin, step = units.origin, units.step
        whole = step * total + origin * rows if origin else units.real(total)
        high = units.real(top) if high is None else high
        if squares is None:
            return cls(rows, whole, _ZERO, origin, high)
        second = step * step * squares + 2 * origin * step * total + origin * origin * rows
        return cls(rows, whole, second, origin, high)

    def about(self, point: Fraction) -> Fraction:
        """The sum of squared distances to a point."""
        return self.squares - 2 * point * self.total + point * point * self.rows


class ClippableColumn(Protocol):
    """The questions an adaptive mechanism may ask; every answer is private."""

    grid: RowLattice

    def below(self, cuts: Sequence[int]) -> tuple[list[int], int]:
        """For each code the number of rows with a smaller code, and the number of rows."""
        ...

    def window(self, at: Rank, reach: int) -> tuple[list[int], int, int]:
        """The codes at ranks ``r - reach .. r + reach`` (0 before the first, top after the last), r, and the rows."""
        ...

    def clipped(self, low: int, high: int, *, squares: bool = False) -> Clipped:
        """Sums of the rows clipped between two codes, in real units."""
        ...

    def ends(self, reach: int, *, squares: bool = False) -> tuple[Ends, Clipped]:
        """The lowest and the highest rows, ``reach`` of each and one more, and the sums of all rows."""
        ...


class AskedAlike:
    """What is the same of the columns of many groups: requests for ends, lattice and upper bound; public.

    Args:
        grid: The lattice of their rows.
    """

    def __init__(self, grid: RowLattice) -> None:
        self.requests: dict[tuple[int, bool], Request] = {}
        self.units, self.last = grid.endless, grid.last
        self.high = self.units.real(grid.last)


class AskedColumn:
    """A column behind a source.

    Args:
        name: What it is called.
        grid: The public lattice of its rows.
        ask: Answers requests.
        alike: What groups of one column share.
    """

    def __init__(
        self,
        name: str,
        grid: RowLattice,
        ask: Callable[[Ask], Summary],
        alike: AskedAlike | None = None,
    ) -> None:
        self.name, self.grid, self._ask = name, grid, ask
        self.known: dict[Ask, Summary] = {}
        self._alike = alike or AskedAlike(grid)

    def below(self, cuts: Sequence[int]) -> tuple[list[int], int]:
        """Ask for counts at cuts inside the grid; the others are known."""
        wanted = sorted({cut for cut in cuts if 0 < cut <= self.grid.last})
        summary = self._ask(Request(self.name, self.grid, cuts=tuple(wanted)))
        found = dict(zip(wanted, summary.below, strict=True))
        return [
            0 if cut <= 0 else summary.rows if cut > self.grid.last else found[cut] for cut in cuts
        ], summary.rows

    def window(self, at: Rank, reach: int) -> tuple[list[int], int, int]:
        """Ask for one rank window."""
        summary = self._ask(Request(self.name, self.grid, windows=(Window(at, reach),), depth=reach))
        rank = at.of(summary.rows)
        codes = summary.runs[0].ranks(rank - reach, rank + reach)
        return [int(code) for code in codes], rank, summary.rows

    def within(self, low: int, high: int, *, squares: bool = False) -> Request:
        """What `clipped` asks for; its answer may be put into `known` beforehand."""
        return Request(self.name, self.grid, squares=squares, within=(low, high))

    def clipped(self, low: int, high: int, *, squares: bool = False) -> Clipped:
        """Ask for the sums of codes cut to two: whatever was read of the column on its grid answers it too."""
        request = self.within(low, high, squares=squares)
        summary = self.known.get(request) or self._ask(request)
        # Exactly: floats of neighbouring codes may be a little less than a step apart, or equal far from zero.
        units = Lattice(self.grid.endless.real(low), self.grid.endless.step)
        second = summary.squares if squares else None
        return Clipped.of(summary.rows, summary.total, second, units, high - low)

    def ends(self, reach: int, *, squares: bool = False) -> tuple[Ends, Clipped]:
        """Ask for two rank windows."""
        alike = self._alike
        if (reach, squares) not in alike.requests:
            windows = Window(FIRST, reach), Window(LAST, reach)
            request = Request(self.name, self.grid, windows=windows, depth=reach, squares=squares)
            alike.requests[reach, squares] = request
        summary = self._ask(alike.requests[reach, squares])
        found = Ends.of(summary.runs[0].codes, summary.runs[1].codes, summary.rows)
        second = summary.squares if squares else None
        return found, Clipped.of(summary.rows, summary.total, second, alike.units, alike.last, alike.high)


class SortedColumn:
    """A column whose codes are known: for laws, audits and simulations on public or generated data."""

    def __init__(self, codes: Sequence[int] | NDArray[np.int64], grid: RowLattice) -> None:
        self.grid = grid
        self.codes = np.sort(np.asarray(codes, dtype=np.int64))

    @classmethod
    def whole(cls, name: str, grid: RowLattice, ask: Callable[[Ask], Summary]) -> SortedColumn:
        """All codes of a public column, read once."""
        rows = ask(Request(name, grid, windows=(Window(FIRST, 0),))).rows
        run = ask(Request(name, grid, windows=(Window(FIRST, rows),), depth=rows)).runs[0]
        return cls(run.ranks(1, rows), grid)

    @cached_property
    def _sums(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sums of the lowest codes and of their squares, exactly: as Python's integers where 64 bits might not do."""
        narrow = self.grid.last**2 * max(len(self.codes), 1) < 1 << 63
        codes = self.codes if narrow else self.codes.astype(object)
        start = np.zeros(1, dtype=codes.dtype)
        return tuple(np.concatenate([start, np.cumsum(part)]) for part in (codes, codes * codes))  # type: ignore[return-value]

    def below(self, cuts: Sequence[int]) -> tuple[list[int], int]:
        """Count by binary search."""
        return [int(place) for place in np.searchsorted(self.codes, list(cuts), side="left")], len(self.codes)

    def window(self, at: Rank, reach: int) -> tuple[list[int], int, int]:
        """Slice the sorted codes."""
        rows = len(self.codes)
        rank = at.of(rows)
        codes = [
            0 if place < 1 else self.grid.last if place > rows else int(self.codes[place - 1])
            for place in range(rank - reach, rank + reach + 1)
        ]
        return codes, rank, rows

    def clipped(self, low: int, high: int, *, squares: bool = False) -> Clipped:
        """From sums of the rows between the two codes, and the number above."""
        rows, width = len(self.codes), high - low
        first, last = (int(place) for place in np.searchsorted(self.codes, [low, high]))
        once, twice = (int(sums[last]) - int(sums[first]) for sums in self._sums)
        inside, above = last - first, rows - last
        total = once - low * inside + width * above
        second = twice - 2 * low * once + low * low * inside + width * width * above if squares else None
        units = Lattice(self.grid.endless.real(low), self.grid.endless.step)
        return Clipped.of(rows, total, second, units, width)

    def ends(self, reach: int, *, squares: bool = False) -> tuple[Ends, Clipped]:
        """Slice the sorted codes at both ends."""
        first, last = self.codes[: reach + 1], self.codes[max(len(self.codes) - reach - 1, 0) :]
        return Ends.of(first, last, len(self.codes)), self.clipped(0, self.grid.last, squares=squares)
