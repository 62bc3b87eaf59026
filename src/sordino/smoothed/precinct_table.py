"""A table of counts by precinct, with how it was read: which columns, which key, which cells were hidden.

A cell is the least and the largest count that it may be. What the file says exactly has one value; a hidden count is
refused unless somebody declares how to read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sordino.errors import DataError
from sordino.smoothed.header_words import ALL_TOGETHER

Cell = tuple[int, int]
"""The least and the largest count that a cell may be."""
PLUS = " + "
"""Stands between precincts that are added up."""
OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class PrecinctTable(Mapping[str, dict[str, int]]):
    """Counts by precinct and category; as a mapping it gives the least that every cell may be.

    Attributes:
        cells: For every precinct, its cells by category.
        form: "wide" or "long".
        key: The columns that together name a precinct.
        contest: Which contest, when the file names any.
        left_out: Columns and lines that are not votes, with the reason.
        notes: Anything else a reader must know.
        hidden: How many cells of the file were hidden, and how they were read.
    """

    cells: dict[str, dict[str, Cell]] = field(repr=False)
    form: str = "wide"
    key: tuple[str, ...] = ()
    contest: str = ""
    left_out: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    hidden: str = ""

    def __getitem__(self, name: str) -> dict[str, int]:
        return {category: low for category, (low, _) in self.cells[name].items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __eq__(self, other: object) -> bool:
        return dict(self) == dict(other) if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories, in the order of the file."""
        return tuple(dict.fromkeys(name for row in self.cells.values() for name in row))

    @property
    def uncertain(self) -> bool:
        """Whether some cell may be more than one count."""
        return any(low != high for row in self.cells.values() for low, high in row.values())

    def lines(self) -> list[tuple[str, str]]:
        """Say how the file was read, to be shown before any verdict."""
        result = [
            (
                "read as",
                f"{self.form} form: {len(self.cells):,} precincts, {len(self.categories)} categories",
            ),
            ("a precinct is", " + ".join(self.key) if self.key else "a row"),
            ("categories", ", ".join(self.categories)),
        ]
        if self.contest:
            result.append(("contest", self.contest))
        grouped: dict[str, list[str]] = {}
        for name, reason in self.left_out:
            grouped.setdefault(reason, []).append(name)
        for reason, names in grouped.items():
            result.append(("left out", f"{', '.join(names)} ({reason})"))
        if self.hidden:
            result.append(("hidden cells", self.hidden))
        result.extend(("note", note) for note in self.notes)
        return result


def checked(table: PrecinctTable) -> PrecinctTable:
    """Refuse rows that hold totals, percentages, and a table with fewer than two categories."""
    if len(table.categories) < 2:
        raise DataError(
            "tallies",
            "a table needs at least two categories",
            got={"categories": ", ".join(table.categories)},
            why="With one category everybody's record is known beforehand.",
            hint="--category A --category B",
        )
    for name in table.cells:
        parts = [part.strip().lower() for part in name.split(" / ")]
        if "" in parts or any(part in ALL_TOGETHER for part in parts):
            raise _totals(name, "its name says that it adds up others")
    whole = _sum_of_others(table, list(table.cells))
    if whole is not None:
        raise _totals(whole, "its counts are the sums of all the other rows")
    groups: dict[str, list[str]] = {}
    for name in table.cells:
        groups.setdefault(name.split(" / ")[0], []).append(name)
    if 1 < len(groups) < len(table.cells):
        for members in groups.values():
            part = _sum_of_others(table, members)
            if part is not None:
                raise _totals(part, "its counts are the sums of the other rows of its group")
    return table


def _totals(name: str, reason: str) -> DataError:
    """Name a row of totals."""
    return DataError(
        "tallies",
        "a row holds totals, not a precinct",
        got={"row": name or "(no name)"},
        why=f"Counted as a precinct it would double every ballot: {reason}.",
        hint=f'--without "{name.rsplit(" / ", maxsplit=1)[-1]}"',
    )


def _sum_of_others(table: PrecinctTable, names: Sequence[str]) -> str | None:
    """Return the row that is the sum of the other ones in every category, when there are at least three."""
    if len(names) < 3:
        return None
    categories = table.categories
    rows = {name: [table.cells[name].get(category, (0, 0))[0] for category in categories] for name in names}
    sums = [sum(column) for column in zip(*rows.values(), strict=True)]
    for name, row in rows.items():
        if any(row) and all(2 * value == total for value, total in zip(row, sums, strict=True)):
            return name
    return None


def arranged(
    table: PrecinctTable,
    *,
    categories: Sequence[str],
    other: Sequence[str],
    without: Sequence[str],
    pool: Sequence[str],
) -> PrecinctTable:
    """Leave out rows, keep or merge categories, add precincts up, as asked."""
    names = table.categories
    missing = [name for name in (*categories, *other) if name not in names]
    if missing:
        raise DataError(
            "tallies",
            "there is no such category",
            got={"category": missing[0], "categories": ", ".join(names)},
            why="The table can only keep or merge what is in the file.",
            hint=f'--category "{names[0] if names else "A"}"  with one of the names above',
        )
    cells = dict(table.cells)
    notes, left_out = list(table.notes), list(table.left_out)
    for name in without:
        chosen = _rows_called(cells, name, "without")
        left_out.append(
            (f"{name} ({len(chosen)} row{'s' if len(chosen) > 1 else ''})", "asked for by --without")
        )
        cells = {label: row for label, row in cells.items() if label not in chosen}
    kept = [name for name in (categories or names) if name not in set(other)]
    unnamed = [name for name in names if name not in kept and name not in set(other)]
    left_out.extend((name, "not asked for") for name in unnamed)
    result: dict[str, dict[str, Cell]] = {}
    absent = 0
    for label, row in cells.items():
        absent += sum(name not in row for name in names)
        fresh = {name: row.get(name, (0, 0)) for name in kept}
        if other:
            fresh[OTHER] = _added(
                [row.get(name, (0, 0)) for name in (*other, *([OTHER] if OTHER in kept else []))]
            )
        result[label] = fresh
    if absent:
        notes.append(f"{absent:,} combinations of precinct and category are not in the file and count as 0")
    if other:
        notes.append(f"{OTHER} = {' + '.join(other)}")
    for group in pool:
        chosen = list(
            dict.fromkeys(
                label for name in group.split(PLUS) for label in _rows_called(result, name.strip(), "pool")
            )
        )
        added = {name: _added([result[label][name] for label in chosen]) for name in result[chosen[0]]}
        result = {label: row for label, row in result.items() if label not in chosen} | {
            PLUS.join(chosen): added
        }
    return replace(table, cells=result, notes=tuple(notes), left_out=tuple(left_out))


def _rows_called(cells: Mapping[str, object], name: str, option: str) -> list[str]:
    """Return the rows with this name, whole or as one part of it."""
    chosen = [label for label in cells if label == name or name in label.split(" / ")]
    if not chosen:
        raise DataError(
            "tallies",
            "there is no such row",
            got={option: name, "first rows": ", ".join(list(cells)[:5])},
            why="Rows are named by the key of the file.",
            hint=f'--{option} "{next(iter(cells), "")}"',
        )
    return chosen


def _added(parts: Sequence[Cell]) -> Cell:
    """Add cells up."""
    return sum(low for low, _ in parts), sum(high for _, high in parts)
