"""Options for groups: key columns, and their public keys from the command line or from a file."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.reading.split import Split


def by_options(words: str) -> list[Callable[..., Any]]:
    """The options that together name groups."""
    return [
        click.option("--by", metavar="COLUMN,...", help=f"{words} Needs --by-keys, --by-file or --discover."),
        click.option(
            "--by-keys",
            multiple=True,
            metavar="A,B,...",
            help="The public keys of --by; given once for every column, all combinations are asked.",
        ),
        click.option(
            "--by-file",
            metavar="FILE",
            help="A CSV file of public keys, one group per line, under a header with the columns of --by.",
        ),
        click.option(
            "--discover",
            is_flag=False,
            flag_value=10,
            type=int,
            metavar="[KEYS]",
            help="Find the keys of --by in the data, for a part of the price, which needs a delta; of each person at "
            "most so many keys count, 10 by default.",
        ),
        click.option("--discover-share", metavar="P", help="The part of the price that finds keys."),
    ]


def split(options: dict[str, Any]) -> Split | None:
    """Read the key columns and the public keys of groups; None without any."""
    from sordino.reading.split import Split

    columns, keys, file = options["by"], tuple(options["by_keys"] or ()), options["by_file"]
    found = options.get("discover")
    if columns is None and not keys and file is None and found is None:
        return None
    if columns and found is not None and not keys and file is None:
        from sordino.reading.discover import discover

        named = [name.strip() for name in columns.split(",")]
        sought = discover(share=options.get("discover_share"), max_keys=found)
        return Split.of(named if len(named) > 1 else named[0], sought)
    named = _columns(columns or "")
    own = [bool(_own(name)) for name in named]
    if not columns or (keys and file is not None) or (not keys and file is None and not all(own)):
        raise ParameterError(
            "release", "--by and --by-keys go together", why="Keys are public: they never come from the data.",
            hint="--by region --by-keys north,south",
        )  # fmt: skip
    if file is not None:
        return Split.of(named if len(named) > 1 else named[0], _listed(file, named))
    given = len(named) if len(keys) == len(named) else len(named) - sum(own)
    if len(keys) != given:
        raise ParameterError(
            "release", "--by-keys is given once for every column of --by",
            got={"columns": len(named), "--by-keys": len(keys)},
            hint="--by region,sex --by-keys north,south --by-keys f,m",
        )  # fmt: skip
    keyed = named if given == len(named) else [name for name, has in zip(named, own, strict=True) if not has]
    levels = [_numbers([key.strip() for key in some.split(",")]) for some in keys]
    if len(named) == 1:
        return Split.of(named[0], levels[0] if levels else None)
    return Split.of(named, dict(zip(keyed, levels, strict=True)))


def _columns(text: str) -> list[str]:
    """The columns of ``region,bin(age, 0, 18, 65)``: commas in brackets and quotes separate nothing.

    Example:
        >>> _columns("region,bin(age, 0, 18, 65)")
        ['region', 'bin(age, 0, 18, 65)']
    """
    found, depth, quote = [""], 0, ""
    for sign in text:
        quote = ("" if sign == quote else quote) if quote else sign if depth and sign in "'\"" else ""
        depth += (sign in "([{") - (sign in ")]}") if not quote else 0
        if sign == "," and depth <= 0 and not quote:
            found.append("")
        else:
            found[-1] += sign
    return [name.strip() for name in found]


def _own(name: str) -> tuple[str, ...]:
    """The groups that a derived column names itself."""
    from sordino.reading.formula import Formula, formula_like

    return (Formula.read(name).labels or ()) if formula_like(name) else ()


def _listed(file: str, named: list[str]) -> list[Any]:
    """The groups of a file: combinations of keys, or the keys of one column."""
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as opened:
            header, *rows = [[cell.strip() for cell in row] for row in csv.reader(opened) if row]
    except (OSError, UnicodeDecodeError, ValueError, csv.Error):
        raise ParameterError("release", "the file of keys cannot be read", got={"--by-file": file}) from None
    if header != named or any(len(row) != len(named) for row in rows):
        raise ParameterError(
            "release", "the file of keys has the columns of --by in its header, and as many in every line",
            got={"--by-file": file}, hint=f"{','.join(named)} in its first line",
        )  # fmt: skip
    columns = [_numbers(list(column)) for column in zip(*rows, strict=True)]
    if len(named) == 1:
        return columns[0] if columns else []
    return list(zip(*columns, strict=True))


def _numbers(keys: list[str]) -> list[Any]:
    """Whole numbers where all keys of a column are written as such, else texts: 01 is the name of a precinct.

    Example:
        >>> _numbers(["1", "20", "-3"]), _numbers(["01", "20"])
        ([1, 20, -3], ['01', '20'])
    """
    whole = all(re.fullmatch(r"0|-?[1-9][0-9]*", key) for key in keys)
    return [int(key) for key in keys] if whole else list(keys)
