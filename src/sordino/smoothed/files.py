"""Reading tallies from CSV files: by precinct in wide or long form, one row of counts, or a column to be counted.

Wide: one row per precinct, one column per candidate. Long (as OpenElections publishes): one row per precinct and
candidate, with columns for both and for the votes. Only the standard library's csv module is used.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from sordino.errors import DataError
from sordino.smoothed.counts import whole_count

if TYPE_CHECKING:
    from collections.abc import Sequence

UNIT_NAMES = ("precinct", "unit", "ward", "district", "county", "station", "area")
VOTES = "votes"
CANDIDATE = "candidate"
NOT_VOTES = ("over votes", "under votes", "overvotes", "undervotes", "over vote", "under vote")


def rows_of(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file with a header, or refuse."""
    source = Path(path)
    if not source.is_file():
        raise DataError(
            "tallies", "the file does not exist", got={"path": str(path)}, why="Nothing can be read from it."
        )
    with source.open(newline="", encoding="utf-8-sig") as stream:
        rows = [
            {
                (key or "").strip(): (value or "").strip()
                for key, value in row.items()
                if not isinstance(value, list)
            }
            for row in csv.DictReader(stream)
        ]
    if not rows:
        raise DataError(
            "tallies",
            "the file has no rows",
            got={"path": source.name},
            why="A header line and at least one line of counts are needed.",
            hint="precinct,A,B\\n01,600,400",
        )
    return rows


def _column(rows: list[dict[str, str]], name: str, role: str) -> str:
    """Return the column's name as written in the file, ignoring case."""
    for column in rows[0]:
        if column.lower() == name.lower():
            return column
    raise DataError(
        "tallies",
        f"there is no column for the {role}",
        got={"column": name, "columns": ", ".join(rows[0])},
        why="The header names the columns.",
        hint=f"--{role} NAME  with one of the columns above",
    )


def unit_column(rows: list[dict[str, str]], unit: str | None = None) -> str:
    """Return the column that names the precincts: the one asked for, or the first with a usual name."""
    if unit is not None:
        return _column(rows, unit, "unit")
    for name in UNIT_NAMES:
        for column in rows[0]:
            if column.lower() == name:
                return column
    return next(iter(rows[0]))


def read_precincts(
    path: str | Path,
    *,
    unit: str | None = None,
    categories: Sequence[str] = (),
    other: Sequence[str] = (),
    office: str | None = None,
    drop: Sequence[str] = NOT_VOTES,
) -> dict[str, dict[str, int]]:
    """Read tallies by precinct.

    Args:
        path: A CSV file with a header.
        unit: The column that names the precincts; by default one called precinct, unit, ward, ...
        categories: The categories to keep, in this order; by default all whole-number columns (wide) or all
            candidates (long), and then columns called total, registered or ballots are left out.
        other: Categories to merge into one called "other".
        office: In the long form, which contest.
        drop: Lines of the long form that are not votes.

    Returns:
        For every precinct, its counts by category; a category that a precinct lacks counts as 0.
    """
    rows = rows_of(path)
    lowered = {column.lower() for column in rows[0]}
    if VOTES in lowered and CANDIDATE in lowered:
        table = _long(rows, unit, office, {name.lower() for name in drop})
    else:
        table = _wide(rows, unit, categories, other)
    names = list(dict.fromkeys(name for counts in table.values() for name in counts))
    missing = [name for name in (*categories, *other) if name not in names]
    if missing:
        raise DataError(
            "tallies",
            "there is no such category",
            got={"category": missing[0], "categories": ", ".join(names)},
            why="The table can only keep or merge what is in the file.",
            hint="use one of the names above",
        )
    merged = set(other)
    kept = [name for name in (categories or names) if name not in merged]
    result: dict[str, dict[str, int]] = {}
    for label, counts in table.items():
        row = {name: counts.get(name, 0) for name in kept}
        if merged:
            row["other"] = row.get("other", 0) + sum(counts.get(name, 0) for name in merged)
        result[label] = row
    if len(next(iter(result.values()))) < 2:
        raise DataError(
            "tallies",
            "a table needs at least two categories",
            got={"categories": ", ".join(kept)},
            why="With one category everybody's record is known beforehand.",
            hint="--category A --category B",
        )
    return result


def _long(
    rows: list[dict[str, str]], unit: str | None, office: str | None, drop: set[str]
) -> dict[str, dict[str, int]]:
    """Collect one row per precinct and candidate."""
    label = unit_column(rows, unit)
    votes, candidate = _column(rows, VOTES, "votes"), _column(rows, CANDIDATE, "candidate")
    office_column = next((column for column in rows[0] if column.lower() == "office"), None)
    if office_column is not None:
        offices = list(dict.fromkeys(row[office_column] for row in rows if row[candidate]))
        if office is None and len(offices) > 1:
            raise DataError(
                "tallies",
                "the file holds several contests",
                got={"offices": ", ".join(offices)},
                why="A voter has one record in each; analyse one contest at a time.",
                hint=f'--office "{offices[0]}"',
            )
        wanted = office if office is not None else offices[0]
        if wanted not in offices:
            raise DataError(
                "tallies",
                "there is no such contest in the file",
                got={"office": wanted, "offices": ", ".join(offices)},
                why="The column office names the contests.",
                hint=f'--office "{offices[0]}"',
            )
        rows = [row for row in rows if row[office_column] == wanted]
    table: dict[str, dict[str, int]] = {}
    for row in rows:
        if not row[candidate] or row[candidate].lower() in drop:
            continue
        counts = table.setdefault(row[label], {})
        number = whole_count(f"{row[label]}, {row[candidate]}", row[votes], "tallies", "votes,...\\n342")
        counts[row[candidate]] = counts.get(row[candidate], 0) + number
    return table


def _wide(
    rows: list[dict[str, str]], unit: str | None, categories: Sequence[str], other: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Collect one row per precinct with a column per category."""
    label = unit_column(rows, unit)
    if categories:
        columns = [_column(rows, name, "category") for name in (*categories, *other)]
    else:
        left_out = ("total", "registered", "ballots", "turnout", "share", "two_party", "pct", "percent")
        columns = [
            column
            for column in rows[0]
            if column and column != label and not any(word in column.lower() for word in left_out)
        ]
        if not all(_looks_numeric(row[column]) for row in rows for column in columns):
            columns = [column for column in columns if all(_looks_numeric(row[column]) for row in rows)]
    if len({row[label] for row in rows}) != len(rows):
        raise DataError(
            "tallies",
            "a precinct occurs more than once",
            got={"unit": label},
            why="In the wide form each precinct has one row.",
            hint="--unit NAME  with the column that names the precincts",
        )
    return {
        row[label]: {
            column: whole_count(
                f"{row[label]}, {column}", row[column], "tallies", "precinct,A,B\\n01,600,400"
            )
            for column in columns
        }
        for row in rows
    }


def _looks_numeric(text: str) -> bool:
    """Say whether a cell is some number, possibly a bad one: bad counts are refused later, by name."""
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True


def count_column(path: str | Path, column: str) -> dict[str, int]:
    """Count the values of one column of a table with one row per record.

    Returns:
        The categories with their counts, largest first; empty cells are a category of their own.
    """
    rows = rows_of(path)
    name = _column(rows, column, "column")
    counted = Counter(row[name] or "(empty)" for row in rows)
    return dict(counted.most_common())
