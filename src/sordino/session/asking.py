"""What mechanisms may ask about one group or many: the first request has its answers already.

It was read of all groups in one pass; what a mechanism asks again goes to the source. The closed room of a session.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sordino.mechanisms import Answer
    from sordino.reading.requests import Ask, Summary
    from sordino.session.quote import Part


def converse(
    parts: tuple[Part, ...],
    firsts: Sequence[Sequence[Summary]],
    again: Callable[[int, Ask], Summary],
) -> list[Sequence[Answer]]:
    """Let every mechanism ask, for all groups: its first request has been read with all others in one pass.

    The answers of every part come in the order of the groups.

    Args:
        parts: What is answered.
        firsts: For each part the summaries of all groups.
        again: Answers one more request about one group.
    """
    return [
        part.mechanism.answers(
            part.statistic,
            FirstsAnswered(part.first, summaries, again),
            part.grid,
            contribution=part.contribution,
        )
        for part, summaries in zip(parts, firsts, strict=True)
    ]


class FirstAnswered:
    """What a mechanism may ask about one group: the first request has its answer already."""

    __slots__ = ("_again", "_first", "_same", "_summary")

    def __init__(
        self, first: Ask, summary: Summary, again: Callable[[Ask], Summary], same: list[Ask] | None = None
    ) -> None:
        self._first, self._summary, self._again, self._same = first, summary, again, same or [first]

    def __call__(self, request: Ask) -> Summary:
        """Answer a request."""
        if request is self._same[0]:
            return self._summary
        if request == self._first:
            self._same[0] = request  # group after group is asked with the same object
            return self._summary
        return self._again(request)


class FirstsAnswered(Sequence[FirstAnswered]):
    """What a mechanism may ask about many groups: one after the other, or all of them at once."""

    def __init__(
        self, first: Ask, summaries: Sequence[Summary], again: Callable[[int, Ask], Summary], start: int = 0
    ) -> None:
        self._first, self._summaries, self._again, self._start = first, summaries, again, start
        self._same = [first]

    def __len__(self) -> int:
        return len(self._summaries)

    @overload
    def __getitem__(self, place: int) -> FirstAnswered: ...
    @overload
    def __getitem__(self, place: slice) -> FirstsAnswered: ...
    def __getitem__(self, place: int | slice) -> FirstAnswered | FirstsAnswered:
        if isinstance(place, slice):
            start, _, step = place.indices(len(self))
            assert step == 1
            return FirstsAnswered(self._first, self._summaries[place], self._again, self._start + start)
        return self._one(place, self._summaries[place])

    def __iter__(self) -> Iterator[FirstAnswered]:
        return itertools.starmap(self._one, enumerate(self._summaries))

    def _one(self, place: int, summary: Summary) -> FirstAnswered:
        return FirstAnswered(
            self._first, summary, functools.partial(self._again, self._start + place), self._same
        )

    def everyone(self, request: Ask) -> Sequence[Summary]:
        """The summaries of all of them."""
        if request == self._first:
            return self._summaries
        return [ask(request) for ask in self]
