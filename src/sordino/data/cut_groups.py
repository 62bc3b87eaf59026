"""`CutGroups`: rows, sums and rows below some cuts of every group, as an engine has counted them in one query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.reading.requests import Request, Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LARGEST = 64
"""Cuts that one query counts; a public number."""


class CutGroups:
    """Codes of many groups, of which cuts alone are asked; private.

    Args:
        rows: The number of rows of each group.
        totals: The sum of its codes.
        below: For each cut, its rows with smaller codes.

    Example:
        >>> from sordino.lattice import RowLattice
        >>> some = CutGroups([3, 0], [14, 0], {6: [2, 0]})
        >>> some.summary(0, Request("x", RowLattice(0, 10, step=1), cuts=(6,))).below
        (2,)
    """

    def __init__(
        self, rows: Sequence[int], totals: Sequence[int], below: dict[int, Sequence[int]] | None = None
    ) -> None:
        self._rows, self._totals, self._below = rows, totals, below or {}

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
        below = tuple(self._below[cut][place] for cut in request.cuts)
        return Summary(request, self._rows[place], self._totals[place], 0, (), below)

    def summaries(self, request: Request) -> Iterator[Summary]:
        """Answer one request about every group in turn."""
        return (self.summary(place, request) for place in range(len(self._rows)))
