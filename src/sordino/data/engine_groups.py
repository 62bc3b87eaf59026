"""Groups of a table in an engine: all of them, and all that mechanisms ask again, in a number of scans that is public.

`NearGroups` fetches keys and codes from an engine in this process once, and answers everything about them from memory.
`FarGroups` sends questions to an engine elsewhere, those of many groups at once: no row leaves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sordino.data.cut_groups import CutGroups
from sordino.data.schema import by_column
from sordino.reading.requests import Bundle, Cells, Request, Summary
from sordino.reading.summaries import Summaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sordino.data.counted_groups import CountedGroups
    from sordino.data.memory_groups import MemoryGroups
    from sordino.data.sorted_groups import SortedGroups
    from sordino.lattice import RowLattice
    from sordino.reading.requests import Ask
    from sordino.reading.split import Split

    Coded = tuple[str, RowLattice]
    Groups: TypeAlias = SortedGroups | CountedGroups | CutGroups

DIFFERENT = 64
"""Different questions that one query puts to all its groups, though each group has its own; a public number."""


class NearGroups:
    """A conversation about groups whose rows are fetched once; private.

    Args:
        groups: The number of groups.
        scan: Fetches and sorts the codes of some columns on their grids, in one scan where units allow it; of a column
            of which cuts alone are asked it is told them, and may count instead.
        fetch: Fetches the columns of requests that are about more than codes.
        check: Refuses what the schema cannot answer.
    """

    def __init__(
        self,
        groups: int,
        *,
        scan: Callable[[Mapping[Coded, tuple[int, ...] | None]], Iterable[Groups]],
        fetch: Callable[[tuple[Ask, ...]], MemoryGroups],
        check: Callable[[tuple[Ask, ...]], None],
    ) -> None:
        self._groups, self._scan, self._fetch, self._check = groups, scan, fetch, check
        self._sorted: dict[Coded, Groups] = {}
        self._last: tuple[Request, Groups] | None = None
        self._others: dict[Ask, MemoryGroups] = {}

    def everyone(self, *requests: Ask) -> list[Summaries]:
        """Answer some requests for all groups."""
        self._read(requests)
        return [
            self._sorted[request.column, request.grid].summaries(request)
            if isinstance(request, Request)
            else Summaries(self, request, range(self._groups))
            for request in requests
        ]

    def first(self, *requests: Ask) -> Iterator[tuple[Summary, ...]]:
        """Answer some requests for every group in turn."""
        return zip(*self.everyone(*requests), strict=True)

    def __call__(self, place: int, request: Ask) -> Summary:
        """Answer one more request about one group."""
        self._check((request,))
        self._read((request,))
        return self.summary(place, request)

    def _read(self, requests: tuple[Ask, ...]) -> None:
        """Fetch what no earlier question has fetched."""
        plain = by_column(tuple(request for request in requests if isinstance(request, Request)))
        new = {asked: CutGroups.cuts(some) for asked, some in plain.items() if not self._known(asked, some)}
        if new:
            self._sorted |= zip(new, self._scan(new), strict=True)
            self._last = None
        others = tuple(one for one in requests if not isinstance(one, Request) and one not in self._others)
        if others:
            self._others |= dict.fromkeys(others, self._fetch(others))

    def _known(self, asked: Coded, some: Sequence[Request]) -> bool:
        """Whether what was fetched of a column answers some requests."""
        found = self._sorted.get(asked)
        return found is not None and (not isinstance(found, CutGroups) or found.knows(some))

    def summary(self, place: int, request: Ask) -> Summary:
        """One request, which was checked and read, about one group."""
        if isinstance(request, Request):
            if self._last is None or self._last[0] is not request:  # the same question of group after group
                self._last = request, self._sorted[request.column, request.grid]
            return self._last[1].summary(place, request)
        return self._others[request](place, request)


class FarGroups:
    """A conversation about groups of an engine elsewhere; private.

    Args:
        split: The groups.
        ask: Answers requests about a column of numbers for some groups at once.
        count: Answers a request about categories for some groups at once.
        alone: Answers any request about one group.
        check: Refuses what the schema cannot answer.
        each: Answers one request for sums of each of some groups at once, where the engine can.
    """

    def __init__(
        self,
        split: Split,
        *,
        ask: Callable[[Split, tuple[Request, ...]], Iterable[tuple[Summary, ...]]],
        count: Callable[[Split, Cells], Iterable[Summary]],
        alone: Callable[[Split, Ask], Summary],
        check: Callable[[tuple[Ask, ...]], None],
        each: Callable[[Split, tuple[Request, ...]], list[Summary]] | None = None,
    ) -> None:
        self._split, self._ask, self._count, self._alone, self._check = split, ask, count, alone, check
        self._each = each

    def first(self, *requests: Ask) -> Iterator[tuple[Summary, ...]]:
        """Answer some requests for every group in turn."""
        return iter(self._answers(self._split, requests))

    def __call__(self, place: int, request: Ask) -> Summary:
        """Answer one more request about one group."""
        return self.many([(place, request)])[0]

    def many(self, asked: Sequence[tuple[int, Ask]]) -> list[Summary]:
        """Answer one request of each of some groups, as few queries as their different requests allow."""
        self._check(tuple(request for _, request in asked))
        sums = [request for _, request in asked if isinstance(request, Request) and _sums_alone(request)]
        places = [place for place, _ in asked]
        alone = len(sums) == len(set(places)) == len(asked) and len(by_column(tuple(sums))) == 1
        if self._each is not None and alone:
            return self._each(self._split.some(places), tuple(sums))
        found: list[Summary] = []
        for some in _alike(asked):
            requests = tuple(dict.fromkeys(request for _, request in some))
            groups = self._split.some([place for place, _ in some])
            answers = self._answers(groups, requests)
            found += [
                answer[requests.index(request)] for answer, (_, request) in zip(answers, some, strict=True)
            ]
        return found

    def _answers(self, split: Split, requests: tuple[Ask, ...]) -> list[tuple[Summary, ...]]:
        plain = tuple(
            part
            for request in requests
            for part in (request.parts if isinstance(request, Bundle) else (request,))
        )
        found: dict[Ask, list[Summary]] = {}
        numbers = tuple(dict.fromkeys(part for part in plain if isinstance(part, Request)))
        if numbers:
            found |= zip(numbers, map(list, zip(*self._ask(split, numbers), strict=True)), strict=True)
        for part in dict.fromkeys(plain):
            if isinstance(part, Cells):
                found[part] = list(self._count(split, part))
            elif not isinstance(part, Request):
                found[part] = [self._alone(one, part) for one in split.chunks(1)]
        for request in requests:
            if isinstance(request, Bundle):
                rows = [one.rows for one in self._count(split, Cells("", ()))]
                inner = zip(*(found[part] for part in request.parts), strict=True)
                found[request] = [
                    Summary(request, many, parts=each) for many, each in zip(rows, inner, strict=True)
                ]
        return list(zip(*(found[request] for request in requests), strict=True))


def _sums_alone(request: Request) -> bool:
    return not request.windows and not request.cuts


def _alike(asked: Sequence[tuple[int, Ask]]) -> Iterator[list[tuple[int, Ask]]]:
    """The questions in stretches of few different ones."""
    some: list[tuple[int, Ask]] = []
    different: set[Ask] = set()
    for place, request in asked:
        if request not in different and len(different) == DIFFERENT:
            yield some
            some, different = [], set()
        some.append((place, request))
        different.add(request)
    if some:
        yield some
