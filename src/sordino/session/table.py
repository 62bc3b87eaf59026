"""`Table`: a release as rows, each with everything that says what its number is. Frames, CSV, Markdown and records."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sordino import labels
from sordino.errors import MissingExtra, ParameterError
from sordino.reading.split import Split
from sordino.session.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sordino.session.release import Event, Release

    _Described = list[tuple[labels.Cell, str, str | None, Mapping[str, Any]]]

BACKENDS = ("pandas", "polars", "pyarrow")
FIXED = (
    "label", "statistic", "column", "parameters", "cell", "cell_low", "cell_high", "value", "low", "high", "level",
    "covers", "simultaneous", "paid",
)  # fmt: skip
"""The columns of every table; the keys of groups stand after ``parameters`` under the name of their column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """One published number.

    Attributes:
        label: What it is called, no two statistics of a release alike.
        statistic: Kind of the statistic.
        column: The column that it is about, or several.
        parameters: What else was asked: ``{"q": 0.25}``.
        group: Public keys by column; empty without groups.
        cell: Name of the cell of a vector.
        cell_low: Lower edge of the cell.
        cell_high: Upper edge of the cell.
        value: The published number, or word; None where the mechanism declined.
        low: Lower end of the interval.
        high: Upper end of the interval.
        level: Its probability.
        covers: Whose number it covers: that of the ``"rows"``, of the ``"clipped rows"``, or of the ``"population"``.
        simultaneous: Whether the probability is that all intervals of the release cover at once.
        paid: Whether a part of the price went into it; otherwise it was free.
    """

    label: str
    statistic: str
    column: str | None
    parameters: Mapping[str, Any]
    group: Mapping[str, Any]
    cell: str | None
    cell_low: float | None
    cell_high: float | None
    value: Any
    low: float | None
    high: float | None
    level: float | None
    covers: str | None
    simultaneous: bool | None
    paid: bool | None

    @property
    def interval(self) -> str:
        """The interval in words, or nothing."""
        if self.low is None or self.high is None:
            return ""
        return f"{labels.shown(self.low)} to {labels.shown(self.high)}"

    @property
    def named(self) -> str:
        """The number and what tells it apart, in a few words: ``north 0 to 18: 1,803``."""
        words = [str(key) for key in (*self.group.values(), self.cell) if key is not None]
        if self.group and not words:
            words = ["total"]
        value = labels.shown(self.value) + (f" ({self.interval})" if self.interval else "")
        return f"{self.label}: {value}" if not words else f"{' '.join(words)}: {value}"

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "label": self.label,
            "statistic": self.statistic,
            "column": self.column,
            "parameters": dict(self.parameters),
            "group": dict(self.group),
            "cell": self.cell,
            "cell_low": self.cell_low,
            "cell_high": self.cell_high,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "covers": self.covers,
            "simultaneous": self.simultaneous,
            "paid": self.paid,
        }


class AnswerTable:
    """A release as rows.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"age": [31, 45, 28, 60]}, budget=sd.Pure(3))
        >>> table = people.release(sd.Histogram("age", edges=(0, 18, 65)), sd.Pure(1)).table
        >>> [(row.label, row.cell) for row in table]
        [('histogram age', '0 to 18'), ('histogram age', '18 to 65')]
    """

    def __init__(self, rows: tuple[AnswerRow, ...], keys: tuple[str, ...] = ()) -> None:
        self.rows = rows
        self.keys = keys

    @classmethod
    def of(cls, release: Release) -> AnswerTable:
        """Label every number of a release."""
        event = release.event
        keys = () if event.by is None else Split.from_record(event.by).columns
        if _axes(event):
            keys = _axes(event)
        return cls(tuple(_rows(release)), keys)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table column by column; a key whose name is taken is called ``group ...``."""
        named: dict[str, list[Any]] = {}
        for field in FIXED:
            values: list[Any] = [getattr(row, field) for row in self.rows]
            named[field] = (
                [labels.spelled(each) or None for each in values] if field == "parameters" else values
            )
            if field == "parameters":
                for key in self.keys:
                    title = f"group {key}" if key in FIXED else key
                    named[title] = [row.group[key] for row in self.rows]
        if not all(isinstance(value, int | float | None) for value in named["value"]):
            named["value"] = [None if value is None else str(value) for value in named["value"]]
        return named

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a frame of pandas, polars or pyarrow: the first of them that is installed unless named."""
        import narwhals as nw

        installed = [name for name in BACKENDS if find_spec(name) is not None]
        chosen: Any = backend or (installed[0] if installed else "pandas")
        if chosen not in BACKENDS:
            raise ParameterError(
                "to_frame", "backend must be pandas, polars or pyarrow", got={"backend": backend},
                hint='answer.to_frame(backend="pandas")',
            )  # fmt: skip
        if chosen not in installed:
            raise MissingExtra(
                "to_frame", f"{chosen} is not installed", hint=f"pip install {chosen}, or answer.to_csv()"
            )
        numbers = ("cell_low", "cell_high", "value", "low", "high", "level")
        schema = {}
        for name, values in self.columns.items():
            known = [value for value in values if value is not None]
            kind: Any = nw.Float64() if name in numbers else nw.String()
            if name in ("simultaneous", "paid"):
                kind = nw.Boolean()
            if known and name not in FIXED and all(isinstance(value, int) for value in known):
                kind = nw.Int64()
            if name == "value" and any(isinstance(value, str) for value in known):
                kind = nw.String()
            schema[name] = kind
        return nw.from_dict(self.columns, schema=schema, backend=chosen).to_native()

    def to_csv(self) -> str:
        """The table as CSV, every digit kept; what is not there is empty."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        columns = self.columns
        writer.writerow(columns)
        writer.writerows(
            zip(*([_cell(value) for value in values] for values in columns.values()), strict=True)
        )
        return written.getvalue()

    def to_dicts(self) -> list[dict[str, Any]]:
        """One plain record per row."""
        return [row.to_dict() for row in self.rows]

    def plain(self) -> list[dict[str, Any]]:
        """The same with JSON's types alone; parameters, which most rows share, are written once."""
        written: dict[int, Any] = {}
        records = []
        for row in self.rows:
            record = row.to_dict()
            shared = id(row.parameters)
            if shared not in written:
                written[shared] = plain(row.parameters)
            record["parameters"] = written[shared]
            for name in ("value", "low", "high"):
                number = record[name]
                if number is not None and not (type(number) is float and math.isfinite(number)):
                    record[name] = plain(number)
            for name in ("cell_low", "cell_high", "level"):
                if record[name] is not None:
                    record[name] = plain(record[name])
            record["group"] = {
                name: key if type(key) is str else plain(key) for name, key in row.group.items()
            }
            records.append(record)
        return records

    def __iter__(self) -> Iterator[AnswerRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<Table of {len(self.rows)} answers>"


def _axes(event: Event) -> tuple[str, ...]:
    """The axes of a table that was asked for by itself: its cells are told apart by their keys, as groups are."""
    alone = event.by is None and "margins" in event.statistic
    return tuple(event.statistic["columns"]) if alone else ()


def _cells(release: Release) -> Iterator[AnswerRow]:
    """The cells of a table and its margins; a key that is not there is summed over."""
    event, bar = release.event, release.interval
    (name,) = labels.statistics(event)
    given, axes = labels.parameters(event.statistic), _axes(event)
    for place, (keys, value) in enumerate(
        zip(labels.table_cells(event.statistic), release.value, strict=True)  # type: ignore[arg-type]
    ):
        yield AnswerRow(
            label=name,
            statistic=str(event.statistic["kind"]),
            column=labels.column(event.statistic),
            parameters=given,
            group=dict(zip(axes, keys, strict=True)),
            cell=None,
            cell_low=None,
            cell_high=None,
            value=value,
            **_bar(bar, place),
        )


def _rows(release: Release) -> Iterator[AnswerRow]:
    event = release.event
    if _axes(event):
        yield from _cells(release)
        return
    statistics, names = labels.parts(event.statistic), labels.statistics(event)
    batch = event.statistic.get("kind") == "batch"
    values: Any = release.value if event.by is not None else (release.value,)
    bars = release.interval if isinstance(release.interval, tuple) else (release.interval,)
    split = None if event.by is None else Split.from_record(event.by)
    described: dict[int, _Described] = {}
    for place, answers in enumerate(values):
        group = {} if split is None else dict(zip(split.columns, split.combinations[place], strict=True))
        each = answers if batch else (answers,)
        for index, (statistic, name, value) in enumerate(zip(statistics, names, each, strict=True)):
            at = place * len(statistics) + index
            bar = bars[at] if at < len(bars) else None
            shown = _found(release, index, batch=batch)
            yield from _numbers(statistic, name, value, bar, group, shown, described)


def _found(release: Release, index: int, *, batch: bool) -> list[Any]:
    """The keys or cells that a statistic has shown, which no question could name."""
    public = release.public.get(str(index), {}) if batch else release.public
    return list(public.get("keys", ())) if hasattr(public, "get") else []


def _numbers(
    statistic: Mapping[str, Any],
    name: str,
    value: Any,
    bar: Any,
    group: Mapping[str, Any],
    keys: list[Any],
    described: dict[int, _Described],
) -> Iterator[AnswerRow]:
    """One row for a number, one per cell for a vector; what is alike in all groups is described once."""
    several = isinstance(value, tuple | list)
    known = described.get(id(statistic))
    if known is None or (several and len(known) != len(value)):
        cells = labels.cells(statistic, len(value)) if several else [labels.Cell("")]
        known = described[id(statistic)] = [(cell, *_words(cell.statistic or statistic)) for cell in cells]
    if keys and several and len(keys) == len(value):
        words = _words(statistic)
        known = [(labels.Cell(labels.key(one)), *words) for one in keys]
    pairs = zip(known, value if several else (value,), strict=True)
    for place, ((cell, kind, column, parameters), number) in enumerate(pairs):
        yield AnswerRow(
            label=name,
            statistic=kind,
            column=column,
            parameters=parameters,
            group=group,
            cell=cell.name if several else None,
            cell_low=cell.low,
            cell_high=cell.high,
            value=number,
            **_bar(bar, place),
        )


def _words(asked: Mapping[str, Any]) -> tuple[str, str | None, Mapping[str, Any]]:
    """The kind, the column and the parameters of a statistic."""
    return str(asked.get("kind", "statistic")), labels.column(asked), labels.parameters(asked)


def _bar(bar: Any, place: int) -> dict[str, Any]:
    """What a row says of its interval."""
    if bar is None:
        return dict.fromkeys(("low", "high", "level", "covers", "simultaneous", "paid"))
    covers = "population" if bar.covers == "population" else "rows" if bar.cut is None else "clipped rows"
    ends = {"low": _end(bar.low, place), "high": _end(bar.high, place)}
    return {**ends, "level": bar.level, "covers": covers, "simultaneous": bar.simultaneous, "paid": bar.paid}


def _end(end: Any, place: int) -> float:
    """One end of an interval: of the number, or of one number of a vector."""
    return float(end[place] if isinstance(end, tuple | list) else end)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)
