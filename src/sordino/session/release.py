"""`Event`, what was asked, and `Release`, what may be said: plain records for the ledger, for JSON and for people.

A release holds no scale, no standard error, no sample size and no seed. The words are in `sordino.explain`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import __version__
from sordino.errors import ParameterError
from sordino.privacy import Guarantee, Neighbors, Unit
from sordino.privacy.neighbors import relations_by_name
from sordino.reading.split import Split
from sordino.session.plain import lattice, plain, rich
from sordino.session.views import Views

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.ledger import Entry
    from sordino.mechanisms import Answer
    from sordino.session.quote import Question
    from sordino.session.table import AnswerTable

    Value = float | int | str | None

FORMAT = "sordino-release"
VERSION = 3
"""Version 1 stated the grid of noise for every answer, whatever lattice it was drawn on, and none for by-products;
version 2 had no table of labelled answers, and neighbours as Python writes them inside ``event.mechanism``."""

LABELLED = 100
"""Up to so many numbers, or groups, stand in a ledger with their labels; a public number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What was asked, in words that a machine keeps: the ledger prices it and a later theorem may price it again.

    Attributes:
        statistic: Description of the statistic, or of several (``kind: batch``).
        mechanism: Description of the mechanism, data-free.
        neighbors: Which datasets the promise compares.
        unit: Whom it protects.
        guarantee: The promise for one person, and its price.
        where: Public conditions on the rows.
        by: Public keys of a split (`sordino.reading.split.Split.record`): ``{"column": ..., "keys": [...]}``.
        contribution: How many rows one person's change can move in the sense of the statistic's own neighbours.
        data: Which data were asked: a public name and a fingerprint of the schema (`sordino.session.provenance`).
    """

    statistic: Mapping[str, Any]
    mechanism: Mapping[str, Any]
    neighbors: Neighbors
    unit: Unit
    guarantee: Guarantee
    where: tuple[Mapping[str, Any], ...] = ()
    by: Mapping[str, Any] | None = None
    contribution: int = 1
    data: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """A plain record; `from_dict` reads it back."""
        described = {
            "statistic": plain(self.statistic),
            "mechanism": plain(self.mechanism),
            "neighbors": self.neighbors.value,
            "unit": self.unit.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "where": plain(self.where),
            "by": plain(self.by),
            "rows_moved": self.contribution,
        }
        return described if self.data is None else {**described, "data": plain(self.data)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Event:
        """Read what `to_dict` wrote."""
        return cls(
            statistic=record["statistic"],
            mechanism=relations_by_name(record["mechanism"]),
            neighbors=Neighbors(record["neighbors"]),
            unit=Unit(**record["unit"]),
            guarantee=Guarantee.from_dict(record["guarantee"]),
            where=tuple(record["where"]),
            by=record["by"],
            contribution=record["rows_moved"],
            data=record.get("data"),
        )


@dataclass(frozen=True, slots=True)
class Interval:
    """An error bar.

    Attributes:
        low: Lower end; one per number for a vector.
        high: Upper end, likewise.
        level: Probability that it covers: each number by itself, or all of the release at once.
        covers: ``"sample"``, the statistic of the rows without noise, or ``"population"``, that of the population.
        simultaneous: Whether the level holds for all bars of the release at once.
        paid: Whether a part of the price went into it; otherwise it follows from public numbers.
        added: For the population: by which share privacy makes it wider than the interval without noise.
        cut: Where values were cut to a published interval that is shorter than the bounds: it covers the number of the
            values so cut.
        beyond: Fewer rows lie beyond that interval in at least 95 of 100 such releases; None where nothing is known.
        hidden: By how much those rows can pull the number within the declared bounds below and above.
        approximate: Whether the level rests on the central limit theorem, and is near what is said, not at least that.
        inclusion: For a count of the population: the stated probability with which each member is in the data.
    """

    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    level: float
    covers: str = "sample"
    simultaneous: bool = False
    paid: bool = True
    added: float | None = None
    cut: tuple[float, float] | None = None
    beyond: int | None = None
    hidden: tuple[float, float] | None = None
    approximate: bool = False
    inclusion: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Interval:
        """Read what `to_dict` wrote; older records have the ends and the level alone."""
        pairs = {name: rich(record[name]) for name in ("low", "high", "cut", "hidden") if name in record}
        return cls(**{**record, **pairs})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Release(Views):
    """What may be said. A single number compares, rounds and formats as that number.

    Attributes:
        value: The released number; a tuple for a vector, a batch or groups; None where the mechanism declines.
        event: What was asked.
        grid: The public lattice on which the answer was drawn, or one per statistic; None where it is not a number.
        assumptions: What the promise rests on, in words.
        at: When it was paid.
        version: The version of this library that drew it.
        ledger_id: Its number in the ledger.
        token: Asking again with it returns this release and costs nothing.
        interval: The error bar, or one per part, when one was asked for.
        public: Other by-products that the price has paid for (clipping bounds, a released magnitude).
        lattices: The public lattices of by-products and of the ends of error bars, by name: ``low`` and ``high``, or
            ``interval_low`` and ``interval_high`` where the others are clipping bounds.

    Example:
        >>> from fractions import Fraction
        >>> from sordino.privacy import Pure
        >>> from sordino.lattice import Lattice
        >>> event = Event(statistic={"kind": "median", "column": "income"}, mechanism={"kind": "quantile"},
        ...               neighbors=Neighbors.REPLACE_ONE, unit=Unit(), guarantee=Pure(0.5))
        >>> release = Release(value=41870.0, event=event, grid=Lattice(Fraction(0), Fraction(1, 8192)),
        ...                   at="2026-01-01T00:00:00+00:00", version="0.1.0")
        >>> release
        <Release median income = 41,870, Pure(epsilon=0.5)>
        >>> Release.from_dict(release.to_dict()) == release
        True
        >>> f"{release:,.0f}", release > 40_000
        ('41,870', True)
    """

    value: Value | tuple[Any, ...]
    event: Event
    grid: Lattice | tuple[Lattice | None, ...] | None
    at: str
    version: str
    assumptions: tuple[str, ...] = ()
    ledger_id: int | None = None
    token: str | None = None
    interval: Interval | tuple[Interval | None, ...] | None = None
    public: Mapping[str, Any] = field(default_factory=dict)
    lattices: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Question, entry: Entry, answers: list[Sequence[Answer]]) -> Release:
        """Put the published numbers together: the answers of every part, each for every group."""
        values: list[Any] = []
        bars: list[Interval | None] = []
        public: dict[str, Any] = {}
        names: list[str] = [""] if question.event.by is None else []
        groups = zip(*answers, strict=True)
        plain_numbers = getattr(
            answers[0], "floats", None
        )  # of answers that are points of a lattice and no more
        if plain_numbers is not None and question.single and question.parts[0].bar is None:
            values, groups = plain_numbers(), zip()
        for place, group in enumerate(groups):
            shown = []
            for index, (answer, part) in enumerate(zip(group, question.parts, strict=True)):
                value, others = _published(answer)
                shown.append(value)
                bars.append(None if part.bar is None else part.bar.around(answer))
                if others:
                    if not names:
                        names = list(map(_named, Split.from_record(question.event.by).keys))  # type: ignore[arg-type]
                    name = "/".join(
                        part for part in (names[place], "" if question.single else str(index)) if part
                    )
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
        return cls(
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

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one person."""
        return self.event.guarantee

    @property
    def table(self) -> AnswerTable:
        """The release as rows: statistic, column, parameters, group, cell and its edges, value, interval."""
        from sordino.session.table import AnswerTable

        return AnswerTable.of(self)

    def to_dict(self) -> dict[str, Any]:
        """A plain record after the schema ``release.schema.json``."""
        return {**self._described(), "table": self.table.plain()}

    def kept(self) -> dict[str, Any]:
        """What a ledger keeps: `to_dict`, without the labels of many numbers, which whoever reads it makes again."""
        return self._described() if len(self._numbers) > LABELLED else self.to_dict()

    @property
    def _numbers(self) -> tuple[Any, ...]:
        return self.value if isinstance(self.value, tuple) else (self.value,)

    def _described(self) -> dict[str, Any]:
        bars: Any = self.interval
        if isinstance(bars, tuple):
            bars = [None if bar is None else bar.to_dict() for bar in bars]
        elif bars is not None:
            bars = bars.to_dict()
        return {
            "format": FORMAT,
            "version": VERSION,
            "value": plain(self.value),
            "interval": bars,
            "guarantee": self.guarantee.to_dict(),
            "event": self.event.to_dict(),
            "grid": plain(self.grid),
            "lattices": plain(self.lattices),
            "assumptions": list(self.assumptions),
            "public": plain(self.public),
            "ledger_id": self.ledger_id,
            "token": self.token,
            "at": self.at,
            "sordino": self.version,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Release:
        """Read what `to_dict` wrote, of this version or an older one."""
        if record.get("format") != FORMAT:
            raise ParameterError(
                "release", "the document is not a release", hint="sordino release ... --json writes one"
            )
        if record["version"] > VERSION:
            raise ParameterError(
                "release",
                "was written by a later version",
                got={"version": record["version"]},
                hint="pip install --upgrade sordino",
            )
        bars = record["interval"]
        if isinstance(bars, list):
            bars = tuple(None if bar is None else Interval.from_dict(bar) for bar in bars)
        elif bars is not None:
            bars = Interval.from_dict(bars)
        return cls(
            value=rich(record["value"]),
            event=Event.from_dict(record["event"]),
            grid=lattice(record["grid"]),
            lattices={name: lattice(each) for name, each in record.get("lattices", {}).items()},
            assumptions=tuple(record["assumptions"]),
            public=record["public"],
            ledger_id=record["ledger_id"],
            token=record["token"],
            at=record["at"],
            version=record["sordino"],
            interval=bars,
        )

    def to_json(self) -> str:
        """The release as a JSON document."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a JSON document."""
        try:
            record = json.loads(text)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ParameterError(
                "release", "the document is not a release", hint="sordino release ... --json writes one"
            )
        return cls.from_dict(record)


_NOTHING: dict[str, Any] = {}


def _published(answer: Answer) -> tuple[Any, dict[str, Any]]:
    """The value and paid by-products other than a bar, as floats."""
    if not answer.public:
        return _float(answer.value), _NOTHING
    ends = ("low", "high", "level", "added", "simultaneous", "free") if "level" in answer.public else ()
    rest = {name: _float(value) for name, value in answer.public.items() if name not in ends}
    value = rest.pop("key") if "key" in rest else _float(answer.value)
    return value, rest


def _float(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(_float(item) for item in value)
    if not isinstance(value, Fraction):
        return value
    try:
        return value.numerator / value.denominator  # what float(value) does, in less time
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _named(key: Any) -> str:
    """A group in words: its key, or its keys."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
