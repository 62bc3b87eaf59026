"""`Session`: data, mechanism and ledger meet only here. `release` is the one door: it spends, draws and returns.

Everything that can be refused is refused before the debit (`sordino.session.quote`); after it nothing that depends on a
value may come out but the answer.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino import __version__, checks
from sordino.calling import explained
from sordino.errors import DataError, ParameterError, SordinoError, Unanswered
from sordino.reading.condition import Condition
from sordino.reading.requests import Cells, Source
from sordino.reading.room import inside, unreadable
from sordino.session.groups import converse, follow_up, groups_together
from sordino.session.provenance import provenance
from sordino.session.quote import Question, prepare
from sordino.session.record import real
from sordino.session.release import Interval, Release

if TYPE_CHECKING:
    from sordino.coverage import Coverage
    from sordino.ledger import Entry, Ledger
    from sordino.mechanisms import Answer, Mechanism
    from sordino.privacy import Guarantee, Neighbors, Unit
    from sordino.statistics import Statistic

Key = str | int


class Session:
    """Data and the ledger that is debited for them.

    Args:
        source: Where summaries come from.
        ledger: The ledger.
        unit: Whom to protect; the ledger's own unit unless its ``max_rows`` is to differ.
        neighbors: Which datasets the promise compares; the ledger's own by default.
        rows: The number of rows: public under replace-one, else a rough public guess.
        data: Which data these are (`sordino.session.provenance`).
    """

    def __init__(
        self,
        source: Source,
        ledger: Ledger,
        *,
        unit: Unit | None = None,
        neighbors: Neighbors | None = None,
        rows: int | None = None,
        conditions: tuple[Condition, ...] = (),
        data: Mapping[str, str] | None = None,
    ) -> None:
        self._source = source
        self._data = provenance(None, source) if data is None else data
        self.ledger = ledger
        self.unit = unit or ledger.unit
        self.neighbors = neighbors or ledger.neighbors
        self._rows = rows
        self._conditions = conditions

    @property
    def remaining(self) -> Guarantee:
        """What is left of the budget."""
        return self.ledger.remaining

    @property
    def rows(self) -> int | None:
        """The number of rows where it is public, or the rough number that was declared."""
        return self._rows

    @property
    def history(self) -> tuple[Release | Entry, ...]:
        """Every release in order; a paid question without an answer stands as its entry."""
        return tuple(
            entry if entry.release is None else Release.from_dict(entry.release)
            for entry in self.ledger.history
        )

    def where(self, *conditions: Condition | tuple[str, str, Any] | str) -> Session:
        """The same data, only the rows that fulfil public conditions: tuples, or texts as the command line reads them.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"age": [31, 45, 28, 60]}, budget=sd.Pure(3))
            >>> grown = people.where(("age", ">=", 30))
            >>> grown.quote(sd.Count("age"), sd.Pure(1)).contribution
            2
            >>> old = people.where("age >= 65")
        """
        asked = tuple(Condition.of(one) for one in conditions)
        return Session(
            inside(lambda: self._source.where(*asked), otherwise=unreadable),
            self.ledger,
            unit=self.unit,
            neighbors=self.neighbors,
            rows=self._rows,
            conditions=(*self._conditions, *asked),
            data=self._data,
        )

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, releases: str | None = None
    ) -> Path:
        """Write a report of the ledger: one page with answers, pictures, guarantee and account.

        Args:
            path: The page, an ``.html`` file.
            title: What stands on top; what the ledger is for otherwise.
            releases: Which releases are shown: ``"3-9"``; all otherwise.
        """
        from sordino.session.report import report

        target = Path(path)
        target.write_text(report(self.ledger, title=title, releases=releases), encoding="utf-8")
        return target

    @explained("people.quote")
    def quote(
        self,
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        **options: Any,
    ) -> Any:
        """What a release would ask and promise, as an `Event`: looks at the schema alone and spends nothing.

        Args:
            statistic: What is asked.
            price: What it may cost.
            options: As for `release`; ``by=(column, keys)`` for groups.
        """
        return self.question(statistic, price, **options).event

    @explained("people.release")
    def release(
        self,
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        *,
        interval: Coverage | float | None = None,
        token: str | None = None,
        purpose: str | None = None,
        mechanism: Mechanism | None = None,
        **hints: Any,
    ) -> Release:
        """Release a statistic, or several as one priced batch.

        Args:
            statistic: What is asked; a list is answered from one pass and stands as one entry in the ledger.
            price: What it may cost one person in all, or one price per statistic.
            interval: What an error bar is to cover: ``sd.Sample(0.95)`` the statistic of the rows at hand,
                ``sd.Population(0.95)`` that of the population they were drawn from; a bare number means the sample.
                Free where the noise is public, else paid from the same price.
            token: Names the question: asked again with the same token, the stored answer comes back and costs nothing.
            purpose: What it is for, in a few words that stay in the ledger.
            mechanism: Instead of the default one.
            hints: Public options of the choice: ``rows``, ``centre``, ``spread``, ``tight``, ``smoothing``, ...

        Raises:
            BudgetExceeded: The ledger has not enough left; nothing was read.
        """
        question = self.question(statistic, price, interval=interval, mechanism=mechanism, **hints)
        return self._door(question, token, purpose)

    @explained("people.release_by")
    def release_by(
        self,
        column: str,
        keys: Sequence[Key],
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        *,
        interval: Coverage | float | None = None,
        token: str | None = None,
        purpose: str | None = None,
        mechanism: Mechanism | None = None,
        **hints: Any,
    ) -> Release:
        """Release a statistic for every group of a column, with public keys.

        The price is for one person and all groups together: groups have different rows, so they do not add up. Under
        replace-one a person can leave one group and enter another; the price per row is then half of it.

        Args:
            column: The column to split by.
            keys: The groups, known before the data are seen; rows with other keys are left out.
            statistic: What is asked of every group.
            price: What it may cost one person in all.
            interval: As for `release`: one error bar per group.
            token: As for `release`.
            purpose: As for `release`.
            mechanism: As for `release`.
            hints: As for `release`.
        """
        question = self.question(
            statistic, price, by=(column, keys), interval=interval, mechanism=mechanism, **hints
        )
        return self._door(question, token, purpose)

    def question(
        self,
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        *,
        interval: Coverage | float | None = None,
        mechanism: Mechanism | None = None,
        by: tuple[str, Sequence[Key]] | None = None,
        **hints: Any,
    ) -> Question:
        """The question of a release with its mechanisms and assumptions: looks at the schema alone, spends nothing."""
        question = prepare(
            statistic,
            price,
            neighbors=self.neighbors,
            unit=self.unit,
            rows=self._rows,
            where=self._conditions,
            by=None if by is None else (by[0], public_keys(*by)),
            interval=interval,
            mechanism=mechanism,
            hints=hints,
        )
        question = replace(
            question,
            event=replace(question.event, data=self._data),
            assumptions=question.assumptions + self._source.assumptions,
        )
        self._source.check(*question.requests)
        if question.event.by is not None:
            self._source.check(Cells(question.event.by["column"], tuple(question.event.by["keys"])))
        return question

    def _door(self, question: Question, token: str | None, purpose: str | None) -> Release:
        """One question through the door."""
        return Session.release_all([(self, question, token)], purpose=purpose)[0]

    @staticmethod
    def release_all(
        jobs: Sequence[tuple[Session, Question, str | None]],
        *,
        purpose: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[Release]:
        """Debit all questions in one transaction or none, then read, draw and record one by one.

        Stopped at any instant and asked again with the same tokens it pays nothing twice: what has an answer keeps it.

        Args:
            jobs: Sessions on one ledger, each with its `question` and a token.
            purpose: What it is for; it stays in the ledger.
            progress: Is called with the questions answered and all of them.
        """
        ledger = jobs[0][0].ledger
        for session, _, token in jobs:
            paid = None if token is None else ledger.paid(token)
            if paid is None or paid.release is None:  # a stored answer needs no source
                session._source.ready()
        entries = ledger.spend_all([(question.event, token) for _, question, token in jobs], purpose=purpose)
        found = []
        for (session, question, _), entry in zip(jobs, entries, strict=True):
            kept = entry.release
            if kept is None:
                drawn = session._closed_room(question, entry)
                kept = ledger.record(entry, _release(question, entry, drawn))
            found.append(Release.from_dict(kept))
            if progress is not None:
                progress(len(found), len(jobs))
        return found

    def _closed_room(self, question: Question, entry: Entry) -> list[list[Answer]]:
        """Read and draw. Whatever goes wrong in here may depend on values, so nothing of it is told."""

        def work() -> list[list[Answer]]:
            with self._source.snapshot():
                return self._answers(question)

        def unanswered() -> SordinoError:
            return Unanswered(
                "release",
                "the answer could not be drawn",
                got={"token": entry.token},
                why="It was paid for and nothing was published; the cause may depend on the data and is not shown.",
                hint="ask again with the same token: it costs nothing",
            )

        # A source may say after the debit, of the schema alone, that the data changed while they were read.
        return inside(work, otherwise=unanswered, passing=(DataError,))

    def _answers(self, question: Question) -> list[list[Answer]]:
        """The answers of every part, for every group (one group without a split)."""
        source, requests = self._source, question.requests
        if question.event.by is None:
            read = source.summary(*requests)
            return converse(question.parts, [read], [lambda request: source.summary(request)[0]])
        column, keys = question.event.by["column"], tuple(question.event.by["keys"])
        reads = source.summaries(column, keys, *requests)
        groups: list[list[Answer]] = []
        together = groups_together(requests)

        again = follow_up(source, column, keys)
        for start in range(0, len(keys), together):
            some = keys[start : start + together]
            these = list(itertools.islice(reads, len(some)))
            agains = [functools.partial(again, start + place) for place in range(len(some))]
            groups += converse(question.parts, these, agains)
        return groups

    def __repr__(self) -> str:
        return f"<Session on {self.ledger!r}, {self.neighbors.value}>"


def _release(question: Question, entry: Entry, groups: list[list[Answer]]) -> Release:
    """Put the published numbers together."""
    values: list[Any] = []
    bars: list[Interval | None] = []
    public: dict[str, Any] = {}
    for place, answers in enumerate(groups):
        shown = []
        for index, (answer, part) in enumerate(zip(answers, question.parts, strict=True)):
            value, others = _published(answer)
            shown.append(value)
            bars.append(None if part.bar is None else part.bar.around(answer))
            if others:
                key = "" if question.event.by is None else str(question.event.by["keys"][place])
                name = "/".join(part for part in (key, "" if question.single else str(index)) if part)
                public.update({name: others} if name else others)
        values.append(shown[0] if question.single else tuple(shown))
    lone = question.event.by is None
    kept: Any = None
    if any(one is not None for one in bars):
        kept = bars[0] if lone and question.single else tuple(bars)
    grids = tuple(part.lattices.get("value") for part in question.parts)
    rest = [
        {name: lattice for name, lattice in part.lattices.items() if name != "value"}
        for part in question.parts
    ]
    return Release(
        value=values[0] if lone else tuple(values),
        event=question.event,
        grid=grids[0] if question.single else grids,
        lattices=rest[0] if question.single else {str(index): each for index, each in enumerate(rest)},
        assumptions=question.assumptions,
        at=entry.at,
        version=__version__,
        ledger_id=entry.number,
        token=entry.token,
        interval=kept,
        public=public,
    )


def _published(answer: Answer) -> tuple[Any, dict[str, Any]]:
    """The value and paid by-products other than a bar, as floats."""
    ends = ("low", "high", "level", "added", "simultaneous") if "level" in answer.public else ()
    rest = {name: _float(value) for name, value in answer.public.items() if name not in ends}
    value = rest.pop("key") if "key" in rest else _float(answer.value)
    return value, rest


def _float(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(_float(item) for item in value)
    if not isinstance(value, Fraction):
        return value
    number = real(value)
    return float(number["number"]) if isinstance(number, dict) else number


def public_keys(column: str, keys: Sequence[Key]) -> tuple[Key, ...]:
    """Check the keys of a split: texts or whole numbers, each once.

    Example:
        >>> public_keys("region", ["north", "south"])
        ('north', 'south')
    """
    given = (
        () if isinstance(keys, str) else tuple(key.item() if hasattr(key, "item") else key for key in keys)
    )
    fine = all(isinstance(key, str | int) and not isinstance(key, bool) for key in given)
    checks.texts("groups", given)
    if not given or not fine or len(set(given)) != len(given) or len({type(key) for key in given}) > 1:
        raise ParameterError(
            "groups",
            f"keys of {column!r} must be a list of different texts or of different whole numbers",
            why="Keys are public: they must be known before the data are seen, never taken from them.",
            hint='release_by("region", ["north", "south"], ...)',
        )
    for key in given:
        if isinstance(key, str):
            checks.plain_text("groups", hint='release_by("region", ["north", "south"], ...)', key=key)
    return given
