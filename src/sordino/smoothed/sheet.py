"""A CSV file as a sheet of named columns, and what each cell is: a count, a mark for a hidden count, a share, a word.

Whatever cannot be read without guessing is refused here by its name: another separator, another encoding, decimal
commas, points between thousands. Only the standard library's csv module is used.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sordino.errors import DataError

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}
MARKS = frozenset(
    {
        "", "*", "**", "-", "--", "–", "—", ".", "..", "...", "n/a", "na", "nan", "null", "none", "s", "x", "supp",
        "suppressed", "hidden", "withheld", "redacted", "missing", "unknown", "#n/a", "nil", "(s)", "(x)",
    }
)  # fmt: skip
_COUNT = re.compile(r"\+?\d+|\d{1,3}(,\d{3})+|\d+\.0+")
_BELOW = re.compile(r"(?:<|&lt;|under |below |less than )\s*(\d+)", re.IGNORECASE)
_UP_TO = re.compile(r"(?:<=|≤|up to |at most )\s*(\d+)", re.IGNORECASE)
_RANGE = re.compile(r"(\d+)\s*(?:-|–|to)\s*(\d+)", re.IGNORECASE)
_POINTS = re.compile(r"\d{1,3}(\.\d{3})+")
_COMMA = re.compile(r"\d+,\d+")
_PERCENT = re.compile(r"[+-]?\d+([.,]\d+)?\s*%")


class Kind(Enum):
    """What a cell of a table of counts can be."""

    COUNT = "a whole number"
    HIDDEN = "empty or hidden"
    SHARE = "a share or a percentage"
    NEGATIVE = "a negative number"
    DECIMAL_COMMA = "a number with a decimal comma"
    POINTS = "a number with points between thousands"
    WORD = "a word"


def kind(text: str) -> Kind:
    """Say what a cell is.

    Example:
        >>> [kind(cell).name for cell in ("1,234", "*", "<5", "44.7%", "0.447", "12,5", "1.234.567", "north")]
        ['COUNT', 'HIDDEN', 'HIDDEN', 'SHARE', 'SHARE', 'DECIMAL_COMMA', 'POINTS', 'WORD']
    """
    plain = text.strip()
    if _COUNT.fullmatch(plain):
        return Kind.COUNT
    if plain.lower() in MARKS or hidden_range(plain) is not None:
        return Kind.HIDDEN
    if _PERCENT.fullmatch(plain):
        return Kind.SHARE
    if plain.count(".") > 1 and _POINTS.fullmatch(plain):
        return Kind.POINTS
    if _COMMA.fullmatch(plain):
        return Kind.DECIMAL_COMMA
    try:
        value = float(plain)
    except ValueError:
        return Kind.WORD
    return Kind.NEGATIVE if value < 0 else Kind.SHARE


def hidden_range(text: str) -> tuple[int, int] | None:
    """Return the least and the largest count that a mark such as "<5" or "1-4" stands for; None when it says none.

    Example:
        >>> hidden_range("<5"), hidden_range("1-4"), hidden_range("*")
        ((0, 4), (1, 4), None)
    """
    plain = text.strip()
    if found := _BELOW.fullmatch(plain):
        return 0, max(0, int(found[1]) - 1)
    if found := _UP_TO.fullmatch(plain):
        return 0, int(found[1])
    if found := _RANGE.fullmatch(plain):
        return int(found[1]), int(found[2])
    return None


def count(text: str) -> int:
    """Read a cell that is a count."""
    return int(float(text)) if "." in text else int(text.replace(",", ""))


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a CSV file with a header.

    Attributes:
        name: The file's name, for messages.
        columns: The header, in order.
        rows: One mapping per line, blanks stripped.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]

    def column(self, name: str, *, option: str) -> str:
        """Return a column's name as the file writes it, ignoring case, or refuse with what there is."""
        for column in self.columns:
            if column.lower() == name.strip().lower():
                return column
        raise DataError(
            "tallies",
            f"there is no column for the {option.replace('-', ' ')}",
            got={"column": name, "columns": ", ".join(self.columns)},
            why="The header names the columns.",
            hint=f'--{option} "{self.columns[0]}"  with one of the columns above',
        )

    def values(self, column: str) -> list[str]:
        """Return the cells of one column."""
        return [row[column] for row in self.rows]


def read_sheet(path: str | Path, *, separator: str | None = None) -> Sheet:
    """Read a CSV file with a header, or say what is in the way.

    Args:
        path: The file.
        separator: What stands between columns; a comma when not given, and another one is then refused by name.
    """
    source = Path(path)
    if not source.is_file():
        raise DataError(
            "tallies",
            "the file does not exist",
            got={"path": str(path)},
            why="Nothing can be read from it.",
            hint="check the spelling, or give the full path",
        )
    try:
        text = source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(
            "tallies",
            "the file is not UTF-8",
            got={"path": source.name},
            why="Letters with accents would be read wrongly.",
            hint=f"iconv -f ISO-8859-1 -t UTF-8 {source.name} > utf8.csv",
        ) from None
    first = text.split("\n", 1)[0]
    if separator is None:
        for sign, words in SEPARATORS.items():
            if sign in first and first.count(sign) > first.count(","):
                raise DataError(
                    "tallies",
                    f"the columns are separated by {words}, not by commas",
                    got={"header": first.strip()},
                    why="With another separator, commas inside numbers may mean decimals; say that it is meant.",
                    hint=f"--separator '{sign if sign != chr(9) else 'tab'}'",
                )
    sign = {"tab": "\t", None: ","}.get(separator, separator or ",")
    reader = csv.reader(io.StringIO(text), delimiter=sign)
    lines = [[cell.strip() for cell in line] for line in reader if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        raise DataError(
            "tallies",
            "the file has no rows",
            got={"path": source.name},
            why="A header line and at least one line of counts are needed.",
            hint="precinct,A,B\\n01,600,400",
        )
    header = lines[0]
    _header(source.name, header, lines[1])
    for number, line in enumerate(lines[1:], start=2):
        if len(line) > len(header) and any(line[len(header) :]):
            raise DataError(
                "tallies",
                "a line has more cells than the header",
                got={"line": number, "cells": len(line), "columns": len(header)},
                why="A comma inside a name or a number needs quotation marks around the cell.",
                hint='"1,234"',
            )
    rows = tuple(dict(zip(header, line + [""] * len(header), strict=False)) for line in lines[1:])
    return Sheet(source.name, tuple(name for name in header if name), rows)


def _header(file: str, header: list[str], second: list[str]) -> None:
    """Refuse a header without names or with one name twice."""
    named = [name for name in header if name]
    twice = [name for name in named if named.count(name) > 1]
    if twice:
        raise DataError(
            "tallies",
            "two columns have the same name",
            got={"column": twice[0]},
            why="Only one of them could be read.",
            hint="rename one of them in the file",
        )
    if not named or (
        kind(named[0]) is Kind.COUNT and all(kind(cell) is Kind.COUNT for cell in (*named, *second))
    ):
        raise DataError(
            "tallies",
            "the first line must name the columns",
            got={"path": file},
            why="Without names nobody can say which column counts what.",
            hint="precinct,A,B\\n01,600,400",
        )
