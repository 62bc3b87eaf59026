"""The reachable intervals of many groups at once, as arrays: what `profile.Reach` is for one reading.

For order statistics, whose reachable values are the codes at public ranks. Private, like every reading; mechanisms
that draw for many groups open it, nothing else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.reading.requests import Rank, Summary

    Codes = NDArray[np.int64]

_NEVER = -(2**62)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Reaches:
    """``low[group, l] .. high[group, l]`` holds the values within distance l; the last column is the whole range.

    Attributes:
        low: Non-increasing along a row.
        high: Non-decreasing along a row.
        rows: The number of rows of each group.
    """

    low: Codes
    high: Codes
    rows: Codes

    @classmethod
    def at(cls, summaries: Sequence[Summary], lowest: Codes, highest: Codes, *, top: int) -> Reaches:
        """The codes at the lowest and the highest rank of every distance, from the first window of each summary.

        Ranks before the first row stand for the code 0, ranks after the last for ``top``. A group without rows holds
        the code 0, and any code one row away.
        """
        runs = [summary.runs[0] for summary in summaries]
        rows = np.array([run.rows for run in runs], np.int64)
        first = np.array([run.first for run in runs], np.int64)[:, None]
        length = np.array([len(run.codes) for run in runs], np.int64)
        start = (np.cumsum(length) - length)[:, None]
        flat = np.concatenate([*(run.codes for run in runs), np.zeros(1, np.int64)])
        empty = rows == 0

        def codes(ranks: Codes) -> Codes:
            places = np.clip(ranks, 1, rows[:, None]) - first
            ends = places[:, [0, -1]]  # ranks are monotone along a row
            if ((ends < 0) | (ends >= length[:, None]))[~empty].any():
                raise IndexError("rank outside the requested window")
            found: Codes = flat[places + start]
            found[ranks < 1] = 0
            found[ranks > rows[:, None]] = top
            return found

        low, high = codes(lowest), codes(highest)
        low[:, -1], high[:, -1] = 0, top
        low[empty], high[empty], high[empty, 0] = 0, top, 0
        return cls(low, high, rows)

    def by(self, rows: int) -> Reaches:
        """The intervals for persons with up to ``rows`` rows each."""
        if rows == 1:
            return self
        last = self.low.shape[1] - 1
        places = np.minimum(np.arange(-(-last // rows) + 1) * rows, last)
        return Reaches(self.low[:, places], self.high[:, places], self.rows)


def reachable_ranks(rank: Rank, rows: Codes, depth: int) -> tuple[Codes, Codes]:
    """Lowest and highest rank that the answer can take after 0..depth rows came or went, for every number of rows.

    With d rows more in the end, l steps leave ``(l - |d|) / 2`` pairs of an addition and a removal, each of which
    moves the rank by one; so the best d needs one running maximum (docs/proofs/statistics_ordered.md).

    Example:
        >>> from sordino.reading.requests import LAST
        >>> [ranks.tolist() for ranks in reachable_ranks(LAST, np.array([5]), 2)]
        [[[5, 4, 3]], [[5, 6, 7]]]
    """
    steps = np.arange(depth + 1)
    low = np.full((len(rows), depth + 1), _NEVER)
    high = low.copy()
    for change in (steps, -steps):
        size = rows[:, None] + change
        some = size > 0
        ranks = ranks_among(rank, np.maximum(size, 1))
        added, gone = np.maximum(change, 0), np.maximum(-change, 0)
        np.maximum(high, np.where(some, 2 * (gone + ranks) - steps, _NEVER), out=high)
        np.maximum(low, np.where(some, 2 * (added - ranks) - steps, _NEVER), out=low)
    highest = (steps + np.maximum.accumulate(high, axis=1)) // 2
    lowest = -((steps + np.maximum.accumulate(low, axis=1)) // 2)
    return lowest, highest


def ranks_among(rank: Rank, sizes: Codes) -> Codes:
    """The rank among so many rows (at least one), cut to the rows that there are; exact for any fraction."""
    largest = int(sizes.max(initial=1))
    if largest * max(abs(rank.num), 1) + abs(rank.plus) + abs(rank.offset) >= 2**62:
        exact = [min(max(rank.of(size), 1), size) for size in sizes.ravel().tolist()]
        return np.array(exact, np.int64).reshape(sizes.shape)
    found: Codes = np.minimum(np.maximum(rank.of(sizes), 1), sizes)  # type: ignore[arg-type]
    return found
