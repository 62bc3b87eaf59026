"""How mechanisms ask about one group or many: first requests were read in one pass, others are asked when due.

The closed room of a session in small: nothing here spends, publishes or keeps a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sordino.reading.requests import Bundle, Request

if TYPE_CHECKING:
    from sordino.mechanisms import Answer
    from sordino.reading.requests import Ask, Source, Summary
    from sordino.session.quote import Part

    Key = str | int

CODES = 1 << 21
"""Codes of all windows that are read before they are answered: so many groups at a time fit into memory."""


def converse(
    parts: tuple[Part, ...], reads: list[tuple[Summary, ...]], agains: Sequence[Callable[[Ask], Summary]]
) -> list[list[Answer]]:
    """Let every mechanism ask, for all groups: its first request has been read with all others in one pass."""
    answers = []
    for place, part in enumerate(parts):
        asks = [_Asked(part.first, read[place], again) for read, again in zip(reads, agains, strict=True)]
        answers.append(
            part.mechanism.answers(part.statistic, asks, part.grid, contribution=part.contribution)
        )
    return [list(group) for group in zip(*answers, strict=True)]


def follow_up(source: Source, column: str, keys: tuple[Key, ...]) -> Callable[[int, Ask], Summary]:
    """Further questions of single groups; a source that can split its rows once for all of them does so when asked."""
    found: list[Callable[[int, Ask], Summary]] = []

    def again(place: int, request: Ask) -> Summary:
        if not hasattr(source, "conversation"):
            return next(iter(source.summaries(column, (keys[place],), request)))[0]
        if not found:
            found.append(source.conversation(column, keys))
        return found[0](place, request)

    return again


def groups_together(requests: Sequence[Ask]) -> int:
    """How many groups are read before they are answered; public.

    Example:
        >>> from sordino.reading.requests import Rank, Request, Window
        >>> from sordino.reading.row_lattice import RowLattice
        >>> groups_together([Request("x", RowLattice(0, 1), (Window(Rank(1, 2), 1000),))])
        1015
    """
    return max(1, CODES // sum(_width(request) for request in requests))


def _width(request: Ask) -> int:
    """How many codes the windows of a request hold at most; public."""
    if isinstance(request, Bundle):
        return sum(_width(part) for part in request.parts)
    windows = request.windows if isinstance(request, Request) else ()
    return 64 + sum(2 * window.reach + 1 for window in windows)


class _Asked:
    """What a mechanism may ask about one group: the first request has its answer already."""

    __slots__ = ("_again", "_first", "_summary")

    def __init__(self, first: Ask, summary: Summary, again: Callable[[Ask], Summary]) -> None:
        self._first, self._summary, self._again = first, summary, again

    def __call__(self, request: Ask) -> Summary:
        return self._summary if request == self._first else self._again(request)
