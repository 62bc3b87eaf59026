"""The wide form of a table: one row per precinct, one column per candidate.

Which columns count votes is decided by their cells and their names, by the rules below; every column that is not read
is listed with the reason, so that somebody can look before believing the verdict.

1. The key is what ``--unit`` names, or every column whose name says where or how a ballot was cast.
2. Names that say share, or that number things (id, fips), are not votes; nor are names that say total, registered,
   turnout and the like, unless some count of votes is larger: then they count ballots of their own (invalid ones).
3. Of the others, a column of whole numbers counts votes, hidden cells included; a column of words or shares does not.
4. Anything in between (a word among counts, a decimal comma) is refused with its precinct and column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.errors import DataError
from sordino.smoothed import header_words as known
from sordino.smoothed.sheet import Kind, Sheet, count, kind

if TYPE_CHECKING:
    from collections.abc import Sequence

_JOIN = " / "


def unit_columns(sheet: Sheet, unit: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that name a precinct: those asked for, or those whose names say so."""
    if unit:
        return tuple(sheet.column(name, option="unit") for name in unit)
    found = tuple(name for name in sheet.columns if known.is_unit(name) and not known.is_total(name))
    words = [name for name in found if not known.is_identifier(name)] or list(found)
    if words:
        return tuple(words)
    guesses = [name for name in sheet.columns if known.probably(name) == "unit"] or list(sheet.columns[:1])
    language = any(known.probably(name) is not None for name in sheet.columns)
    votes = [
        name
        for name in sheet.columns
        if name not in guesses
        and not known.is_total(name)
        and all(kind(cell) in (Kind.COUNT, Kind.HIDDEN) for cell in sheet.values(name))
    ]
    chosen = " ".join(f'--category "{name}"' for name in votes[:4])
    raise DataError(
        "tallies",
        "no column is known to name the precincts"
        + (": the header is in another language" if language else ""),
        got={"columns": ", ".join(sheet.columns)},
        why="Reading the wrong column as votes or as names would give a wrong verdict; say which is which.",
        hint=f'--unit "{guesses[0]}" {chosen}'.strip(),
    )


def labels(sheet: Sheet, key: Sequence[str]) -> list[str]:
    """Join the key's cells of every row; columns that are the same in every row are left out of the name."""
    varying = [name for name in key if len(set(sheet.values(name))) > 1] or list(key[-1:])
    return [_JOIN.join(row[name] for name in varying) for row in sheet.rows]


def wide(
    sheet: Sheet, *, unit: Sequence[str], chosen: Sequence[str]
) -> tuple[dict[str, dict[str, str]], tuple[str, ...], list[tuple[str, str]], dict[str, int]]:
    """Read one row per precinct.

    Returns:
        Texts by precinct and category, the key, what was left out and why, and the rows' totals where there are any.
    """
    key = unit_columns(sheet, unit)
    names = labels(sheet, key)
    if len(set(names)) != len(names):
        again = next(name for name in names if names.count(name) > 1)
        more = [
            c for c in sheet.columns if c not in key and all(kind(v) is Kind.WORD for v in sheet.values(c))
        ]
        raise DataError(
            "tallies",
            "a precinct occurs more than once",
            got={"key": " + ".join(key), "precinct": again},
            why="In the wide form each precinct has one row; two with the same name cannot be told apart.",
            hint=" ".join(f'--unit "{name}"' for name in (*key, *(more[:1] or ["NAME"]))),
        )
    if chosen:
        columns = [sheet.column(name, option="category") for name in chosen]
        left_out: list[tuple[str, str]] = []
    else:
        columns, left_out = _vote_columns(sheet, key)
        _totals_column(sheet, columns)
        _percentages(sheet, columns, left_out)
    totals: dict[str, int] = {}
    for column in sheet.columns:
        if "total" in known.words(column) and all(kind(cell) is Kind.COUNT for cell in sheet.values(column)):
            totals = {name: count(row[column]) for name, row in zip(names, sheet.rows, strict=True)}
    raw = {
        name: {column: row[column] for column in columns} for name, row in zip(names, sheet.rows, strict=True)
    }
    return raw, key, left_out, totals


def _vote_columns(sheet: Sheet, key: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Decide for every column but the key whether it counts votes."""
    columns: list[str] = []
    totals: list[str] = []
    left_out: list[tuple[str, str]] = []
    for column in sheet.columns:
        if column in key:
            continue
        cells = sheet.values(column)
        kinds = [kind(cell) for cell in cells]
        present = set(kinds)
        shares = [cell for cell, what in zip(cells, kinds, strict=True) if what is Kind.SHARE]
        if known.is_share(column):
            left_out.append((column, "shares"))
        elif known.is_total(column) and present <= {Kind.COUNT, Kind.HIDDEN}:
            totals.append(column)
        elif known.is_identifier(column):
            left_out.append((column, "identifiers"))
        elif not any(cells):
            left_out.append((column, "empty"))
        elif present <= {Kind.WORD, Kind.HIDDEN} and Kind.WORD in present:
            left_out.append((column, "words"))
        elif all(_is_share(cell) for cell in shares) and 2 * len(shares) > len(cells) - kinds.count(
            Kind.HIDDEN
        ):
            left_out.append((column, "shares"))
        else:
            columns.append(column)  # one odd cell among counts is refused by name when the cells are settled
    for column in totals:
        if all(
            _number(row[column]) >= max(map(_number, (row[name] for name in columns)), default=0)
            for row in sheet.rows
        ):
            left_out.append((column, "totals or numbers of voters"))
        else:
            columns.append(column)
    return columns, left_out


def _number(cell: str) -> float:
    """Return a count for comparing, a hidden one as nothing."""
    return float(count(cell)) if kind(cell) is Kind.COUNT else 0.0


def _is_share(cell: str) -> bool:
    """Say whether a decimal is a share for sure: with a percent sign, or at most 1."""
    return cell.endswith("%") or float(cell) <= 1.0


def _totals_column(sheet: Sheet, columns: list[str]) -> None:
    """Refuse a column that is the sum of the other ones in every row, whatever its name."""
    if len(columns) < 3 or len(sheet.rows) < 2:
        return
    if any(kind(row[column]) is not Kind.COUNT for row in sheet.rows for column in columns):
        return
    for column in columns:
        if all(2 * count(row[column]) == sum(count(row[name]) for name in columns) for row in sheet.rows):
            raise DataError(
                "tallies",
                "a column is the sum of the others",
                got={"column": column},
                why="Counted as a candidate it would double every ballot.",
                hint=" ".join(f'--category "{name}"' for name in columns if name != column),
            )


def _percentages(sheet: Sheet, columns: list[str], left_out: list[tuple[str, str]]) -> None:
    """Refuse a table that holds percentages instead of counts."""
    shares = [name for name, reason in left_out if reason == "shares"]
    if len(columns) < 2 and shares:
        raise DataError(
            "tallies",
            "the columns hold percentages or shares, not counts",
            got={"columns": ", ".join(shares)},
            why="What a table gives away depends on how many ballots it counts.",
            hint="precinct,A,B\\n01,600,400",
        )
    if len(sheet.rows) >= 3 and len(columns) >= 2:
        sums = [
            sum(count(row[name]) for name in columns if kind(row[name]) is Kind.COUNT) for row in sheet.rows
        ]
        if all(99 <= value <= 101 for value in sums):
            raise DataError(
                "tallies",
                "every row adds up to 100: these are percentages, not counts",
                got={"columns": ", ".join(columns)},
                why="What a table gives away depends on how many ballots it counts.",
                hint="if they are counts after all: " + " ".join(f'--category "{name}"' for name in columns),
            )
