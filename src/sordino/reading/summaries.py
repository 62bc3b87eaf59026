"""`Summaries`: what a source answers to one request about many groups, as columns and group by group.

A mechanism that draws for all groups at once takes the columns: no object is made for each group. Whoever reads one
group after the other takes its summary, which is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from sordino.reading.requests import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sordino.reading.requests import Ask, Summary

    Numbers = NDArray[np.int64]

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Stretches:
    """One rank window of many groups: where its codes lie in one array; private.

    Attributes:
        first: The rank of the first code of each group.
        start: Its place among the codes.
        length: How many codes the group has.
    """

    first: Numbers
    start: Numbers
    length: Numbers


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GroupColumns:
    """What is counted of many groups, and the codes of their windows; private.

    Attributes:
        rows: The number of rows of each group.
        below: For each group and cut of the request, the number of rows with a smaller code.
        codes: The codes of all windows, at least one number.
        windows: Where those of each window lie.
    """

    rows: Numbers
    below: Numbers
    codes: Numbers
    windows: tuple[Stretches, ...]

    @classmethod
    def of(cls, summaries: Sequence[Summary]) -> GroupColumns:
        """From single summaries that answer one request."""
        rows = np.array([one.rows for one in summaries], np.int64)
        below = np.array([one.below for one in summaries], np.int64).reshape(len(summaries), -1)
        codes, windows, filled = [], [], 0
        for runs in zip(*(one.runs for one in summaries), strict=True):
            length = np.array([len(run.codes) for run in runs], np.int64)
            first = np.array([run.first for run in runs], np.int64)
            windows.append(Stretches(first, filled + np.cumsum(length) - length, length))
            codes += [run.codes for run in runs]
            filled += int(length.sum())
        return cls(rows, below, np.concatenate([*codes, np.zeros(1, np.int64)]), tuple(windows))

    def some(self, places: slice) -> GroupColumns:
        """The same of neighbouring groups."""
        windows = (
            Stretches(one.first[places], one.start[places], one.length[places]) for one in self.windows
        )
        return GroupColumns(self.rows[places], self.below[places], self.codes, tuple(windows))


class Held(Protocol):
    """Groups of which a source can tell one after the other; it may have `columns` too, of a request for numbers."""

    def summary(self, place: int, request: Any) -> Summary:
        """Answer one request about one group."""


class Summaries(Sequence["Summary"]):
    """The answers about neighbouring groups; private.

    Args:
        held: Answers about one group.
        request: What was asked.
        places: The groups.
        columns: What is known of them as columns.

    Example:
        >>> from sordino.lattice import RowLattice
        >>> from sordino.reading.requests import Request, Summary
        >>> asked = Request("x", RowLattice.point())
        >>> some = Summaries.of([Summary(asked, rows) for rows in (3, 0, 8)])
        >>> some.columns.rows.tolist(), some[1].rows, some[1:].columns.rows.tolist()
        ([3, 0, 8], 0, [0, 8])
    """

    def __init__(self, held: Held, request: Ask, places: range, columns: GroupColumns | None = None) -> None:
        self._held, self.request, self._places = held, request, places
        if columns is not None:
            self.columns = columns

    @classmethod
    def of(cls, summaries: Sequence[Summary]) -> Summaries:
        """Single summaries that answer one request, of which there is at least one."""
        if isinstance(summaries, Summaries):
            return summaries
        return cls(_Listed(summaries), summaries[0].request, range(len(summaries)))

    @cached_property
    def columns(self) -> GroupColumns:
        """All of them at once."""
        told = getattr(self._held, "columns", None)
        if told is None or not isinstance(self.request, Request):
            return GroupColumns.of(list(self))
        found: GroupColumns = told(self.request, self._places)
        return found

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Summary: ...
    @overload
    def __getitem__(self, place: slice) -> Summaries: ...
    def __getitem__(self, place: int | slice) -> Summary | Summaries:
        if isinstance(place, int):
            return self._held.summary(self._places[place], self.request)
        known = self.__dict__.get("columns")
        return Summaries(
            self._held, self.request, self._places[place], None if known is None else known.some(place)
        )

    def __iter__(self) -> Iterator[Summary]:
        together = getattr(self._held, "together", None)
        if together is not None and isinstance(self.request, Request):
            return iter(together(self.request, self._places))
        return (self._held.summary(place, self.request) for place in self._places)


class _Listed:
    """Summaries that are there already; private."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        self._summaries = summaries

    def summary(self, place: int, request: Any) -> Summary:
        """The summary of a group."""
        del request
        return self._summaries[place]


def everyone(asks: Sequence[Callable[[Ask], Summary]], request: Ask) -> Sequence[Summary]:
    """The answers to one request about all groups, asked together where that can be done."""
    together = getattr(asks, "everyone", None)
    found: Sequence[Summary] = [ask(request) for ask in asks] if together is None else together(request)
    return found
