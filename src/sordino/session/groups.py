"""How mechanisms ask about one group or many: first requests were read in one pass, others are asked when due.

The closed room of a session in small: nothing here spends, publishes or keeps a value.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Protocol

from sordino.mechanisms.parts.lattice_answers import LatticeAnswers
from sordino.reading.requests import Bundle, Request
from sordino.session.asking import FirstAnswered, converse
from sordino.session.rounds import in_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sordino.mechanisms import Answer
    from sordino.reading.requests import Ask, Source, Summary
    from sordino.reading.split import Split
    from sordino.session.quote import Part

CODES = 1 << 21
"""Codes of all windows that are read before they are answered: so many groups at a time fit into memory."""

FAR_CODES = 1 << 24
"""The same of a source elsewhere, where every further question is a scan: half a gigabyte that is sent at most."""

TALKS = 1 << 10
"""Groups whose questions are put together to a source elsewhere: each has a thread meanwhile."""


class Conversation(Protocol):
    """Some groups of a source: what is asked of all of them, and of each again."""

    def everyone(self, *requests: Ask) -> Sequence[Sequence[Summary]]:
        """Answer some requests for all groups."""

    def __call__(self, place: int, request: Ask) -> Summary:
        """Answer one more request about one group."""


class _Plain:
    """The conversation of a source that has none of its own."""

    def __init__(self, source: Source, split: Split) -> None:
        self._source, self._split = source, split

    def everyone(self, *requests: Ask) -> list[Sequence[Summary]]:
        reads = self._source.summaries(self._split.by, self._split.keys, *requests)
        return [list(summaries) for summaries in zip(*reads, strict=True)]

    def __call__(self, place: int, request: Ask) -> Summary:
        one = self._split.some([place])
        return next(iter(self._source.summaries(one.by, one.keys, request)))[0]


def answers_by_group(source: Source, split: Split, parts: tuple[Part, ...]) -> list[Sequence[Answer]]:
    """The answers of every part, each for every group of a split.

    A source says how many groups it reads at a time; what mechanisms ask again about them is answered from what was
    read, or put together where rows do not leave the source.
    """
    requests = tuple(part.first for part in parts)
    size = groups_together(requests)
    found: list[list[Sequence[Answer]]] = []
    talks = hasattr(source, "conversation")
    for some in split.chunks(getattr(source, "together", len(split) if talks else size)):
        talk: Any = source.conversation(some.by, some.keys) if talks else _Plain(source, some)  # type: ignore[attr-defined]
        if hasattr(talk, "many"):
            for few in some.chunks(groups_together(requests, FAR_CODES)):
                talk = source.conversation(few.by, few.keys)  # type: ignore[attr-defined]
                found.append(_in_step(parts, list(talk.first(*requests)), talk.many))
            continue
        reads = talk.everyone(*requests)
        for start in range(0, len(some), size):
            these = [read[start : start + size] for read in reads]
            found.append(converse(parts, these, functools.partial(_later, talk, start)))
    return [LatticeAnswers.joined(each) for each in zip(*found, strict=True)]


def _later(talk: Conversation, start: int, place: int, request: Ask) -> Summary:
    return talk(start + place, request)


def _in_step(
    parts: tuple[Part, ...], reads: list[tuple[Summary, ...]], many: Callable[..., list[Summary]]
) -> list[Sequence[Answer]]:
    """The same where questions are put together: mechanisms that ask again talk in step, group beside group."""
    answers: list[Sequence[Answer]] = []
    for place, part in enumerate(parts):
        firsts = [read[place] for read in reads]
        mechanism = part.mechanism
        if not mechanism.asks_again:
            asks = _Together(
                (
                    FirstAnswered(part.first, first, functools.partial(_one, many, at))
                    for at, first in enumerate(firsts)
                ),
                many,
            )
            answers.append(mechanism.answers(part.statistic, asks, part.grid, contribution=part.contribution))
            continue
        found: list[Answer] = []
        for begin in range(0, len(firsts), TALKS):
            works = [functools.partial(_work, part, first) for first in firsts[begin : begin + TALKS]]
            found += in_step(works, functools.partial(_shifted, many, begin))
        answers.append(found)
    return answers


def _one(many: Callable[..., list[Summary]], place: int, request: Ask) -> Summary:
    return many([(place, request)])[0]


def _shifted(many: Callable[..., list[Summary]], first: int, asked: list[tuple[int, Ask]]) -> list[Summary]:
    return many([(first + place, request) for place, request in asked])


def _work(part: Part, first: Summary, ask: Callable[[Ask], Summary]) -> Answer:
    """One mechanism's whole conversation about one group."""
    asked = FirstAnswered(part.first, first, ask)
    return part.mechanism.answer(part.statistic, asked, part.grid, contribution=part.contribution)


def groups_together(requests: Sequence[Ask], codes: int | None = None) -> int:
    """How many groups are read before they are answered, with so many codes of their windows; public.

    Example:
        >>> from sordino.reading.requests import Rank, Request, Window
        >>> from sordino.lattice import RowLattice
        >>> groups_together([Request("x", RowLattice(0, 1), (Window(Rank(1, 2), 1000),))])
        1015
    """
    return max(1, (codes or CODES) // sum(_width(request) for request in requests))


def _width(request: Ask) -> int:
    """How many codes the windows of a request hold at most; public."""
    if isinstance(request, Bundle):
        return sum(_width(part) for part in request.parts)
    windows = request.windows if isinstance(request, Request) else ()
    return 64 + sum(2 * window.reach + 1 for window in windows)


class _Together(list[FirstAnswered]):
    """The same of many groups of a source elsewhere, whose further questions can be put together."""

    def __init__(
        self, asks: Iterable[FirstAnswered], many: Callable[[list[tuple[int, Ask]]], list[Summary]]
    ) -> None:
        super().__init__(asks)
        self._many = many

    def together(self, asked: Sequence[tuple[int, Ask]]) -> list[Summary]:
        """Answer one more question of each of some groups, by their places."""
        return self._many(list(asked)) if asked else []
