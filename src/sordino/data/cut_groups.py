"""`CutGroups`: rows, sums and rows below some cuts of every group, as an engine has counted them in one query."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sordino.reading.requests import Request, Summary
from sordino.reading.summaries import GroupColumns, Summaries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

LARGEST = 64
"""Cuts that one query counts; a public number."""

LOW_BITS = 20
"""Sums come in two parts, of the low bits of the codes and of what is above: 64 bits hold those of 2^32 rows."""


class CutGroups:
    """Codes of many groups, of which cuts alone are asked; private.

    Args:
        rows: The number of rows of each group.
        sums: The sum of its codes in two rows: without their low bits, and of the low bits.
        below: For each cut, its rows with smaller codes.

    Example:
        >>> from sordino.lattice import RowLattice
        >>> some = CutGroups(np.array([3, 0]), np.array([[0, 0], [14, 0]]), {6: np.array([2, 0])})
        >>> found = some.summary(0, Request("x", RowLattice(0, 10, step=1), cuts=(6,)))
        >>> found.rows, found.total, found.below
        (3, 14, (2,))
    """

    def __init__(self, rows: Numbers, sums: Numbers, below: Mapping[int, Numbers]) -> None:
        self._rows, self._sums, self._below = rows, sums, below

    @cached_property
    def _totals(self) -> list[int]:
        return [(high << LOW_BITS) + low for high, low in zip(*self._sums.tolist(), strict=True)]

    @staticmethod
    def cuts(requests: Iterable[Request]) -> tuple[int, ...] | None:
        """The cuts that requests ask for; None where they ask for more than one query counts.

        Example:
            >>> from sordino.lattice import RowLattice
            >>> asked = Request("x", RowLattice(0, 10, step=1), cuts=(6, 3))
            >>> CutGroups.cuts([asked]), CutGroups.cuts([Request("x", asked.grid, squares=True)])
            ((6, 3), None)
        """
        found: dict[int, None] = {}
        for request in requests:
            if request.windows or request.squares or request.within is not None:
                return None
            found |= dict.fromkeys(request.cuts)
        return tuple(found) if len(found) <= LARGEST else None

    def knows(self, requests: Iterable[Request]) -> bool:
        """Whether all of this was counted."""
        cuts = CutGroups.cuts(requests)
        return cuts is not None and all(cut in self._below for cut in cuts)

    def summary(self, place: int, request: Request) -> Summary:
        """Answer one request about one group."""
        below = tuple(int(self._below[cut][place]) for cut in request.cuts)
        return Summary(request, int(self._rows[place]), self._totals[place], 0, (), below)

    def summaries(self, request: Request) -> Summaries:
        """Answer one request about every group."""
        return Summaries(self, request, range(len(self._rows)))

    def columns(self, request: Request, places: range) -> GroupColumns:
        """The same as columns, without the sums."""
        some = slice(places.start, places.stop)
        below = [self._below[cut][some] for cut in request.cuts]
        rows = self._rows[some]
        counts = np.stack(below, axis=1) if below else np.zeros((len(rows), 0), np.int64)
        return GroupColumns(rows, counts, np.zeros(1, np.int64), ())
