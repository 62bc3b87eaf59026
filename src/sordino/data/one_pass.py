"""One pass over a column in memory: sums, squares, cuts and the rows at both ends, without a column of codes.

Most questions ask for no rank in the middle. Their blocks are coded, added up and forgotten while they are in the
cache, in floats that hold every sum of a block exactly. What else is asked goes to `sordino.data.kernel`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.kernel import BLOCK, RAISED_BITS, coded, summarise_together
from sordino.lattice import RAISED, RowLattice
from sordino.reading.requests import Request, Run, Summary, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Codes = NDArray[np.int64]
    Floats = NDArray[np.float64]

HALF = 2.0**16
"""Codes of 32 bits in halves: products of halves of a block add up to less than 2^53."""

FEW = 7
"""So many cuts are compared block by block; more are counted from codes."""

SHARE = 16
"""Ends that hold at most one row in so many are gathered; longer ones are found by selection."""

LONG = 1 << 24
"""Streams are taken for so long: ends of up to 2^20 rows are gathered."""

SAMPLE = 1 << 14
"""Rows from which the place of the ends is foreseen."""

DOT = 1 << 13
"""Numbers per dot product: longer ones are handed to threads, which wait for each other."""


def summarise_column(
    values: NDArray[Any], grid: RowLattice, requests: tuple[Request, ...]
) -> dict[Request, Summary]:
    """Answer requests for one column on one grid, in one pass where they ask for nothing in the middle.

    Example:
        >>> request = Request("x", RowLattice(0, 4, step=1))
        >>> summarise_column(np.array([1.0, 4.0, 2.0]), request.grid, (request,))[request].total
        7
    """
    plan = _Pass.of(len(values), grid, requests)
    if plan is None:
        return summarise_together(coded(values, grid), requests)
    if grid.last == 1 and plan.counts and not grid.drops and not grid.code(math.nan):
        return plan.counted(values, first_above(grid))
    if plan.aim(values):
        for block in blocks(values, grid):
            plan.see(block)
        if found := plan.answers():
            return found
    return summarise_together(coded(values, grid), requests)


def blocks(values: NDArray[Any], grid: RowLattice) -> Iterator[Floats]:
    """The codes of a column as floats, block by block; a block lasts until the next one."""
    room = np.empty(min(BLOCK, len(values)))
    for start in range(0, len(values), BLOCK):
        block = values[start : start + BLOCK]
        if block.dtype != np.float64:
            block = block.astype(np.float64)
        codes = grid.raised(block, out=room[: len(block)])
        codes -= RAISED
        # A maximum is no number as soon as one row is none, and takes less time than a sum.
        yield grid.codes(block).astype(np.float64) if np.isnan(np.maximum.reduce(codes)) else codes


@lru_cache(maxsize=64)
def first_above(grid: RowLattice) -> float:
    """The least number whose code is 1 on a grid of two codes: codes rise with the numbers.

    Example:
        >>> first_above(RowLattice(0, 4, step=4))
        2.0000000000000004
    """
    low, high = float(grid.low), float(grid.high)
    while (middle := low + (high - low) / 2) not in (low, high):
        low, high = (low, middle) if grid.code(middle) else (middle, high)
    return high


class _Ends:
    """The smallest or the largest codes: those beyond a bar that a sample suggests are kept; private."""

    __slots__ = ("_bar", "_beyond", "_equal", "_kept", "_lowest", "_tied", "count")

    def __init__(self, count: int, rows: int, sample: Floats, *, lowest: bool) -> None:
        self.count, self._lowest = count, lowest
        self._beyond: Callable[..., Any] = np.less if lowest else np.greater
        expected = count * len(sample) / rows
        place = min(int(expected + 5 * math.sqrt(expected) + 5), len(sample) - 1)
        bar, beside = (place, place - 1) if lowest else (len(sample) - 1 - place, len(sample) - place)
        beside = min(max(beside, 0), len(sample) - 1)
        sample.partition((bar, beside))
        self._bar = float(sample[bar])
        self._tied = self._bar == float(sample[beside])
        self._kept: list[Floats] = []
        self._equal = 0

    def see(self, block: Floats) -> None:
        """Keep what may be among them."""
        self._kept.append(block[self._beyond(block, self._bar)])
        if self._tied:  # heaps are counted and not kept
            self._equal += int(np.count_nonzero(block == self._bar))

    def found(self) -> Codes | None:
        """As many as asked for, in order; None when the sample has misled."""
        kept = np.concatenate(self._kept)
        kept.sort()
        filled = np.full(min(self._equal, max(self.count - len(kept), 0)), self._bar)
        if len(kept) + len(filled) < self.count:
            return None
        parts = (kept, filled) if self._lowest else (filled, kept)
        codes = np.concatenate(parts).astype(np.int64)
        return codes[: self.count] if self._lowest else codes[len(codes) - self.count :]


class _Pool:
    """The smallest or the largest codes of a stream: what is within a bar that rises with what was seen; private."""

    __slots__ = ("_bar", "_beyond", "_count", "_held", "_lowest", "_parts")

    def __init__(self, count: int, *, lowest: bool) -> None:
        self._count, self._lowest = count, lowest
        self._beyond: Callable[..., Any] = np.less if lowest else np.greater
        self._bar: float | None = None
        self._parts: list[Floats] = []
        self._held = 0

    def see(self, block: Floats) -> None:
        """Keep what may be among them."""
        few = block.copy() if self._bar is None else block[self._beyond(block, self._bar)]
        self._parts.append(few)
        self._held += len(few)
        if self._held > 4 * self._count:
            pool = np.concatenate(self._parts)
            place = self._count - 1 if self._lowest else len(pool) - self._count
            pool.partition(place)
            self._bar = float(pool[place])
            self._parts = [(pool[: place + 1] if self._lowest else pool[place:]).copy()]
            self._held = self._count

    def found(self) -> Codes:
        """As many as asked for, or all there are, in order."""
        pool = np.sort(np.concatenate([np.zeros(0), *self._parts])).astype(np.int64)
        return pool[: self._count] if self._lowest else pool[max(len(pool) - self._count, 0) :]


def end_pass(grid: RowLattice, requests: tuple[Request, ...]) -> _Pass | None:
    """A pass over a stream, whose rows are not known, or None where something in the middle is asked for."""
    plan = _Pass.of(LONG, grid, requests)
    if plan is not None:
        plan.pool()
    return plan


class _Pass:
    """What one pass adds up; private."""

    def __init__(self, grid: RowLattice, requests: tuple[Request, ...]) -> None:
        self.grid, self.requests = grid, requests
        windows = [window for request in requests for window in request.windows]
        self._windows = tuple(dict.fromkeys(windows))
        self._ends: dict[bool, _Ends | _Pool] = {}
        self._below = dict.fromkeys((cut for request in requests for cut in request.cuts), 0)
        self._within = {request.within: [0, 0] for request in requests}
        self._within.setdefault(None, [0, 0])
        self._squares = {request.within for request in requests if request.squares}
        self._rows = 0

    @classmethod
    def of(cls, rows: int, grid: RowLattice, requests: tuple[Request, ...]) -> _Pass | None:
        """A pass for these requests, or None where codes are needed."""
        fits = (
            rows > BLOCK
            and grid.last < (2**32 if any(request.squares for request in requests) else 2**46)
            and all(0 < at_end(window, rows) <= rows // SHARE for one in requests for window in one.windows)
            and len({cut for request in requests for cut in request.cuts}) <= FEW
        )
        return cls(grid, requests) if fits else None

    @property
    def counts(self) -> bool:
        """Whether nothing but the rows and their sum is asked for."""
        return not (self._windows or self._below or self._squares) and set(self._within) == {None}

    def counted(self, values: NDArray[Any], bound: float) -> dict[Request, Summary]:
        """The answers on a grid of two codes: how many numbers reach the bound of the upper one."""
        whole = self._within[None]
        for start in range(0, len(values), BLOCK):
            block = values[start : start + BLOCK]
            whole[0] += int(np.count_nonzero(block.astype(np.float64, copy=False) >= bound))
        self._rows = len(values)
        return self.answers()

    def aim(self, values: NDArray[Any]) -> bool:
        """Find from some rows, evenly spread, where the ends will lie; False without any."""
        if not self._windows:
            return True
        some = values[:: max(len(values) // SAMPLE, 1)].astype(np.float64)
        sample = self.grid.codes(some).astype(np.float64)
        for lowest in (True, False):
            counts = [at_end(one, len(values)) for one in self._windows if (one.at.num == 0) == lowest]
            if counts and len(sample):
                self._ends[lowest] = _Ends(max(counts), len(values), sample, lowest=lowest)
        return len(sample) > 0

    def pool(self) -> None:
        """Gather the ends without knowing where they will lie."""
        for lowest in (True, False):
            counts = [at_end(one, LONG) for one in self._windows if (one.at.num == 0) == lowest]
            if counts:
                self._ends[lowest] = _Pool(max(counts), lowest=lowest)

    def see(self, block: Floats) -> None:
        """Add one block of codes."""
        self._rows += len(block)
        for ends in self._ends.values():
            ends.see(block)
        for cut in self._below:
            self._below[cut] += int(np.count_nonzero(block < cut))
        for within, sums in self._within.items():
            part = block if within is None else np.clip(block, float(within[0]), float(within[1])) - within[0]
            sums[0] += total(part, self.grid.last)
            if within in self._squares:
                sums[1] += squares(part)

    def answers(self) -> dict[Request, Summary]:
        """Hand out what was added up; nothing when an end was missed."""
        found: dict[bool, Codes] = {}
        for lowest, ends in self._ends.items():
            codes = ends.found()
            if codes is None:
                return {}
            found[lowest] = codes
        return {
            request: Summary(
                request,
                self._rows,
                *self._sums(request),
                tuple(self._run(window, found[window.at.num == 0]) for window in request.windows),
                tuple(self._below[cut] for cut in request.cuts),
            )
            for request in self.requests
        }

    def _sums(self, request: Request) -> tuple[int, int]:
        total, second = self._within[request.within]
        return total, second if request.squares else 0

    def _run(self, window: Window, found: Codes) -> Run:
        first, last = window.ranks(self._rows)
        if window.at.num == 0:
            before, codes = found[: first - 1], found[first - 1 : last]
            below = int(before.sum())
        else:
            ahead = len(found) - self._rows  # of the code of rank r, r + ahead are found
            codes = found[first - 1 + ahead : last + ahead]
            below = self._within[None][0] - int(found[first - 1 + ahead :].sum())
        return Run(first, codes, below, self._rows, self.grid.last)


def at_end(window: Window, rows: int) -> int:
    """How many rows at an end of the column a window reaches into; 0 when it lies in the middle.

    Example:
        >>> from sordino.reading.requests import LAST, Rank
        >>> at_end(Window(LAST, 2), 100), at_end(Window(Rank(1, 2), 2), 100)
        (3, 0)
    """
    first, last = window.ranks(rows)
    if window.at.den != 1 or window.at.num > 1:
        return 0
    return last if window.at.num == 0 else rows - first + 1


def total(codes: Floats, top: int) -> int:
    """The exact sum of at most 2^16 codes below 2^46: in floats as long as these hold it."""
    if top < 2**37:
        return int(np.add.reduce(codes))
    raised = codes + RAISED  # its low bits are the code: whole numbers without a conversion, modulo 2^64
    return (int(raised.view(np.int64).sum()) - len(codes) * RAISED_BITS) % 2**64


def squares(codes: Floats) -> int:
    """The exact sum of squares of at most 2^16 codes below 2^32, from products of their halves.

    Example:
        >>> squares(np.array([3.0, 2.0**32 - 1])) == 9 + (2**32 - 1) ** 2
        True
    """
    high = codes * (1 / HALF)
    np.floor(high, out=high)
    low = codes - high * HALF
    pairs = ((high, high, HALF * HALF), (high, low, 2 * HALF), (low, low, 1))
    return sum(int(weight) * _dot(left, right) for left, right, weight in pairs)


def _dot(left: Floats, right: Floats) -> int:
    return sum(
        int(np.dot(left[start : start + DOT], right[start : start + DOT]))
        for start in range(0, len(left), DOT)
    )
