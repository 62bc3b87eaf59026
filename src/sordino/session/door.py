"""`Session`: data, mechanism and ledger meet only here. `release` is the one door: it spends, draws and returns.

Everything that can be refused is refused before the debit (`sordino.session.quote`); after it nothing that depends on a
value may come out but the answer.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.checks import explained
from sordino.errors import DataError, SordinoError, Unanswered
from sordino.reading.condition import Condition
from sordino.reading.requests import Cells, Source
from sordino.reading.room import inside, unreadable
from sordino.reading.split import Key, Split
from sordino.session.asking import converse
from sordino.session.groups import answers_by_group
from sordino.session.provenance import provenance
from sordino.session.quote import Question, prepare
from sordino.session.release import Release

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sordino.coverage import Coverage
    from sordino.ledger import Entry, Ledger
    from sordino.ledger.entry import Debit, Stamp
    from sordino.mechanisms import Answer, Mechanism
    from sordino.privacy import Guarantee, Neighbors, Unit
    from sordino.reading.formula import Formula
    from sordino.session.quote import Part
    from sordino.statistics import Statistic


class Session:
    """Data and the ledger that is debited for them.

    Args:
        source: Where summaries come from.
        ledger: The ledger.
        unit: Whom to protect; the ledger's own unit unless its ``max_rows`` is to differ.
        neighbors: Which datasets the promise compares; the ledger's own by default.
        rows: The number of rows: public under replace-one, else a rough public guess.
        conditions: Public conditions that rows must fulfil; `where` adds more.
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
            title: The title of the report; by default what the ledger is for.
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
        column: str | Formula | Sequence[str | Formula],
        keys: Split | Iterable[Key] | Iterable[tuple[Key, ...]] | Mapping[str, Iterable[Key]] | None,
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        *,
        interval: Coverage | float | None = None,
        token: str | None = None,
        purpose: str | None = None,
        mechanism: Mechanism | None = None,
        scale: str = "own",
        **hints: Any,
    ) -> Release:
        """Release a statistic for every group of a column, or of combinations of several, with public keys.

        The price is for one person and all groups together: groups have different rows, so they do not add up. Under
        replace-one a person can leave one group and enter another; the price per row is then half of it.

        Args:
            column: The column to split by, or several.
            keys: The groups, known before the data are seen; rows with other keys are left out. Of several columns a
                list of combinations, or a mapping from each column to its keys, which stands for all combinations.
                ``sd.discover()`` finds them in the data, under a price with a delta.
                Derived columns of bins and mappings have keys of their own: None takes them.
            statistic: What is asked of every group.
            price: What it may cost one person in all.
            interval: As for `release`: one error bar per group.
            token: As for `release`.
            purpose: As for `release`.
            mechanism: As for `release`.
            scale: ``"shared"`` cuts values of all groups to one interval, for means and sums of many small groups.
            hints: As for `release`.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"region": ["n", "n", "s"], "sex": ["f", "m", "f"], "age": [31, 45, 28]},
            ...                  budget=sd.Pure(3))
            >>> answer = people.release_by(["region", "sex"], {"region": ["n", "s"], "sex": ["f", "m"]},
            ...                            sd.Count("age"), sd.Pure(1))
            >>> list(answer.groups)
            [('n', 'f'), ('n', 'm'), ('s', 'f'), ('s', 'm')]
        """
        question = self.question(
            statistic,
            price,
            by=Split.of(column, keys),
            interval=interval,
            mechanism=mechanism,
            scale=scale,
            **hints,
        )
        return self._door(question, token, purpose)

    def question(
        self,
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        *,
        interval: Coverage | float | None = None,
        mechanism: Mechanism | None = None,
        by: Split | tuple[Any, Any] | None = None,
        scale: str = "own",
        **hints: Any,
    ) -> Question:
        """The question of a release with its mechanisms and assumptions: looks at the schema alone, spends nothing."""
        split = by if by is None or isinstance(by, Split) else Split.of(*by)
        question = prepare(
            statistic,
            price,
            neighbors=self.neighbors,
            unit=self.unit,
            rows=self._rows,
            where=self._conditions,
            by=split,
            interval=interval,
            mechanism=mechanism,
            scale=scale,
            hints=hints,
        )
        question = replace(
            question,
            event=replace(question.event, data=self._data),
            assumptions=question.assumptions + self._source.assumptions,
        )
        self._source.check(*question.requests)
        if question.discovery is not None:
            self._source.check(question.discovery.first)
        if question.shared is not None:
            self._source.check(question.shared.finding.first)
        if split is not None:
            self._source.check(
                *(Cells(name, level) for name, level in zip(split.columns, split.levels, strict=True))
            )
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
        stamp: Stamp | None = None,
    ) -> list[Release]:
        """Debit all questions in one transaction or none, then read, draw and record one by one.

        Stopped at any instant and asked again with the same tokens it pays nothing twice: what has an answer keeps it.

        Args:
            jobs: Sessions on one ledger, each with its `question` and a token.
            purpose: What it is for; it stays in the ledger.
            progress: Is called with the questions answered and all of them.
            stamp: Who asks and who approved it, where that is not the user of the ledger's own client.
        """
        ledger = jobs[0][0].ledger
        for session, _, token in jobs:
            paid = None if token is None else ledger.paid(token)
            if paid is None or paid.release is None:  # a stored answer needs no source
                session._source.ready()
        events = [(question.event, token) for _, question, token in jobs]
        entries = ledger.spend_all(events, purpose=purpose, stamp=stamp)
        found = []
        for (session, question, _), entry in zip(jobs, entries, strict=True):
            kept = entry.release
            if kept is None:
                # Nothing of what was drawn is held while it is written down: a million groups fill memory.
                kept = ledger.record(entry, session._released(question, entry))
            found.append(Release.from_dict(kept))
            if progress is not None:
                progress(len(found), len(jobs))
        return found

    def _released(self, question: Question, entry: Entry) -> Release:
        """Read, draw and put together."""
        asked, drawn = self._closed_room(question, entry)
        return Release.of(asked, entry, drawn)

    @staticmethod
    def release_each(jobs: Sequence[tuple[Session, Question, Debit]]) -> list[Release | SordinoError]:
        """The questions of several people in one turn: one transaction debits, one keeps the answers.

        Each is answered, or has its refusal in its place; none waits for the disk on its own. Stopped at any instant
        and asked again with the same tokens it pays nothing twice.

        Args:
            jobs: Sessions on one ledger, each with its `question` and how it is to stand in the ledger.
        """
        ledger = jobs[0][0].ledger
        for session, _, _ in jobs:
            session._source.ready()
        outcomes: list[Any] = list(ledger.spend_each([debit for _, _, debit in jobs]))
        drawn: dict[int, tuple[Entry, Release]] = {}
        for place, (session, question, _) in enumerate(jobs):
            entry = outcomes[place]
            if isinstance(entry, SordinoError):
                continue
            if entry.release is not None:
                outcomes[place] = Release.from_dict(entry.release)
                continue
            try:
                drawn[place] = (entry, session._released(question, entry))
            except SordinoError as problem:
                outcomes[place] = problem
        if drawn:
            for place, kept in zip(drawn, ledger.record_each(list(drawn.values())), strict=True):
                outcomes[place] = Release.from_dict(kept)
        return outcomes

    def _closed_room(self, question: Question, entry: Entry) -> tuple[Question, list[Sequence[Answer]]]:
        """Read and draw. Whatever goes wrong in here may depend on values, so nothing of it is told.

        The question comes back with the keys that were found, where they were to be found.
        """

        def work() -> tuple[Question, list[Sequence[Answer]]]:
            with self._source.snapshot():
                if question.discovery is not None:
                    return self._discovered(question, question.discovery)
                if question.shared is not None:
                    found = question.shared.within(question, self._found(question.shared.finding))
                    return found, self._answers(found)
                return question, self._answers(question)

        def unanswered() -> SordinoError:
            return Unanswered(
                "release", "the answer could not be drawn", got={"token": entry.token},
                why="It was paid for and nothing was published; the cause may depend on the data and is not shown.",
                hint="ask again with the same token: it costs nothing",
            )  # fmt: skip

        # A source may say after the debit, of the schema alone, that the data changed while they were read.
        return inside(work, otherwise=unanswered, passing=(DataError,))

    def _discovered(self, question: Question, finding: Part) -> tuple[Question, list[Sequence[Answer]]]:
        """Find keys, then answer for each: what was found is public from here on."""
        answer = self._found(finding)
        assert question.event.by is not None
        split = Split.from_record(question.event.by).found(answer.public["keys"])
        asked = replace(question, event=replace(question.event, by={**question.event.by, **split.record}))
        if question.counted:
            from sordino.session.discovered import by_key

            return asked, by_key(answer)
        return asked, self._answers(asked) if len(split) else [() for _ in asked.parts]

    def _found(self, finding: Part) -> Answer:
        """What is asked of all rows before groups are."""
        return finding.mechanism.answer(
            finding.statistic, lambda request: self._source.summary(request)[0], finding.grid,
            contribution=finding.contribution,
        )  # fmt: skip

    def _answers(self, question: Question) -> list[Sequence[Answer]]:
        """The answers of every part, each for every group (one group without a split)."""
        source = self._source
        if question.event.by is None:
            read = [(one,) for one in source.summary(*question.requests)]
            return converse(question.parts, read, lambda _, request: source.summary(request)[0])
        return answers_by_group(source, Split.from_record(question.event.by), question.parts)

    def __repr__(self) -> str:
        return f"<Session on {self.ledger!r}, {self.neighbors.value}>"
