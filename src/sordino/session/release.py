"""`Event`, what was asked, and `Release`, what may be said: plain records for the ledger, for JSON and for people.

A release holds no scale, no standard error, no sample size and no seed. The words are in `sordino.explain`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError
from sordino.privacy import Guarantee, Neighbors, Unit
from sordino.privacy.unit import relations_by_name
from sordino.reading.split import Split
from sordino.session.comparing import Comparing
from sordino.session.record import lattice, plain, rich

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.session.table import AnswerTable

    Value = float | int | str | None

FORMAT = "sordino-release"
VERSION = 3
"""Version 1 stated the grid of noise for every answer, whatever lattice it was drawn on, and none for by-products;
version 2 had no table of labelled answers, and neighbours as Python writes them inside ``event.mechanism``."""


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

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Interval:
        """Read what `to_dict` wrote; older records have the ends and the level alone."""
        pairs = {name: rich(record[name]) for name in ("low", "high", "cut", "hidden") if name in record}
        return cls(**{**record, **pairs})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release(Comparing):
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

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one person."""
        return self.event.guarantee

    @property
    def groups(self) -> dict[Any, Any]:
        """Answers by public key, or by combination of keys, for a release by groups."""
        if self.event.by is None or not isinstance(self.value, tuple):
            raise ParameterError("release", "has no groups", hint="release_by(column, keys, ...) makes them")
        return dict(zip(Split.from_record(self.event.by).keys, self.value, strict=True))

    def margin(self, *columns: str) -> dict[Any, Any]:
        """One margin of a table: its counts by key, or by combination of keys; the total without columns.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"region": ["n", "s", "n"], "sex": ["f", "f", "m"]}, budget=sd.Pure(3))
            >>> asked = sd.Crosstab(("region", "sex"), levels={"region": ["n", "s"], "sex": ["f", "m"]})
            >>> answer = people.release(asked, sd.Pure(1))
            >>> sum(answer.margin("region").values()) == answer.margin()
            True
        """
        wanted = set(columns)
        axes = tuple(self.event.statistic.get("columns", ())) if "margins" in self.event.statistic else ()
        asked = [set(one) for one in self.event.statistic.get("margins", ())]
        if wanted not in asked:
            raise ParameterError(
                "release", "has no such margin", got={"columns": columns},
                hint='sd.Crosstab(("region", "sex"), levels={...}, margins=[("region",), ...])',
            )  # fmt: skip
        found = {}
        for row in self.table:
            keys = tuple(row.group[name] for name in axes)
            if {name for name, key in zip(axes, keys, strict=True) if key is not None} == wanted:
                found[tuple(key for key in keys if key is not None)] = row.value
        if not columns:
            return found[()]
        return {keys[0] if len(keys) == 1 else keys: value for keys, value in found.items()}

    def difference(self, first: Any, second: Any) -> Interval:
        """How much larger the answer of one group is than that of another: an interval from both error bars."""
        from sordino.session.difference import difference

        return difference(self, first, second)

    @property
    def outputs(self) -> dict[str, Any]:
        """Answers by name, for a function with several outputs."""
        names = self.event.statistic.get("outputs")
        if not names or not isinstance(self.value, tuple) or len(self.value) != len(names):
            raise ParameterError(
                "release", "has no named outputs", hint='sd.Function(f, ..., outputs=("intercept", "slope"))'
            )
        return dict(zip(names, self.value, strict=True))

    @property
    def table(self) -> AnswerTable:
        """The release as rows: statistic, column, parameters, group, cell and its edges, value, interval."""
        from sordino.session.table import AnswerTable

        return AnswerTable.of(self)

    @property
    def by_key(self) -> dict[Any, Any]:
        """The answers by name: by group, then by statistic, then by cell.

        Example:
            >>> import sordino as sd
            >>> people = sd.open({"age": [31, 45, 28, 60]}, budget=sd.Pure(3))
            >>> answer = people.release([sd.Count("age"), sd.Histogram("age", edges=(0, 40, 80))], sd.Pure(1))
            >>> list(answer.by_key), list(answer.by_key["histogram age"])
            (['count age', 'histogram age'], ['0 to 40', '40 to 80'])
        """
        found: dict[Any, Any] = {}
        for row in self.table:
            level = found
            for key in row.group.values():
                level = level.setdefault(key, {})
            if row.cell is None:
                level[row.label] = row.value
            else:
                level.setdefault(row.label, {})[row.cell] = row.value
        return found

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a frame.

        Args:
            backend: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; the first that is installed unless named.
        """
        return self.table.to_frame(backend)

    def to_csv(self) -> str:
        """The table as CSV, every digit kept."""
        return self.table.to_csv()

    def to_markdown(self) -> str:
        """The tables that people read, in Markdown."""
        from sordino.session.blocks import markdown

        return markdown(self)

    def plot(self) -> Any:
        """A picture: histograms, quantiles, groups as dots, with the intervals that were paid for."""
        from sordino.session.figures import picture

        return picture(self)

    def to_dict(self) -> dict[str, Any]:
        """A plain record after the schema ``release.schema.json``."""
        bars: Any = self.interval
        if isinstance(bars, tuple):
            bars = [None if bar is None else bar.to_dict() for bar in bars]
        elif bars is not None:
            bars = bars.to_dict()
        return {
            "format": FORMAT,
            "version": VERSION,
            "value": plain(self.value),
            "table": self.table.plain(),
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

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of a release."""
        from importlib.resources import files

        schema: dict[str, Any] = json.loads(
            files("sordino").joinpath("release.schema.json").read_text(encoding="utf-8")
        )
        return schema

    def explain(self, width: int = 92) -> str:
        """Say what was published and promised, for a reader who is not a specialist.

        Args:
            width: How wide a line may be.
        """
        from sordino.explain import explanation

        return explanation(self, width)

    def text(self, width: int | None = None) -> str:
        """The answers as tables of text, nothing left out.

        Args:
            width: How wide a line may be.
        """
        from sordino.session.blocks import text

        return text(self, width)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        from sordino.explain import asked
        from sordino.labels import shown

        several = len(self.table) > 1
        value = ", ".join(row.named for row in self.table) if several else shown(self.value)
        return f"<Release {asked(self.event)} = {value}, {self.guarantee!r}>"

    def _repr_html_(self) -> str:
        from sordino.session.page import page

        return page(self)
