"""Reading what people type: amounts, counts by category, shares, and which of them describe the records.

Text in, a :class:`Tally` or an :class:`Electorate` out; the command line and the web page share it.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError
from sordino.smoothed.tally import Tally, sampling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.smoothed.electorate import Electorate


def amount(text: str | None, *, name: str) -> int | float | None:
    """Read 500 as records, and 5% or 0.05 as a share.

    Example:
        >>> amount("300,000", name="held_back"), amount("0.2%", name="held_back"), amount("0.5", name="published")
        (300000, 0.002, 0.5)
    """
    if text is None:
        return None
    plain = text.strip().replace(",", "").replace("_", "")
    try:
        if plain.endswith("%"):
            return float(Decimal(plain[:-1]) / 100)
        return int(plain) if plain.lstrip("-").isdigit() else float(plain)
    except (ValueError, InvalidOperation):
        raise ParameterError(
            "smoothed",
            f"{name} must be a number of records or a share",
            got={name: text},
            why="500 means records; 5% or 0.05 means a share of all.",
            hint=f"--{name.replace('_', '-')} 0.2%",
        ) from None


def counts(parts: Sequence[str]) -> dict[str, Any] | list[Any]:
    """Read counts as yes=5200 no=4800, or as bare numbers.

    Example:
        >>> counts(["yes=5200", "no=4800"])
        {'yes': '5200', 'no': '4800'}
    """
    if not all("=" in part for part in parts):
        return list(parts)
    named: dict[str, Any] = {}
    for part in parts:
        name, _, number = part.rpartition("=")
        if name in named:
            raise ParameterError(
                "smoothed",
                "a category is given twice",
                got={"category": name},
                why="Each has one count.",
                hint="yes=5200 no=4800",
            )
        named[name] = number
    return named


def distribution(text: str) -> float | list[float]:
    """Read 0.55 as two types, 0.5,0.3,0.2 as three.

    Example:
        >>> distribution("0.55"), distribution("0.5,0.3,0.2")
        (0.55, [0.5, 0.3, 0.2])
    """
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            "smoothed",
            "a share must be numbers",
            got={"share": text},
            why="They are chances of the types.",
            hint="--share 0.55  or  --share 0.5,0.3,0.2",
        ) from None
    return parts[0] if len(parts) == 1 else parts


def at_least(candidates: int, least: str) -> list[list[float]]:
    """Return the electorates in which each of so many candidates gets at least a share: the corners of that set.

    Example:
        >>> at_least(3, "10%")
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    share = float(amount(least, name="least") or 0.0)
    if candidates < 2 or not 0.0 < share * candidates <= 1.0:
        raise ParameterError(
            "smoothed",
            "every candidate's least share must be above 0, and together at most 1",
            got={"candidates": candidates, "least": least},
            why="The set holds all electorates in which nobody gets less.",
            hint="--candidates 3 --least 5%",
        )
    rest = round(1.0 - share * (candidates - 1), 12)
    return [[rest if i == j else share for i in range(candidates)] for j in range(candidates)]


def counts_from(path: str, column: str | None = None) -> dict[str, int]:
    """Read one tally from a file: a counted column, or the sum over the precincts of a table."""
    from sordino.smoothed.files import count_column, read_precincts

    if column is not None:
        return count_column(path, column)
    table = read_precincts(path)
    names = list(next(iter(table.values())))
    return {name: sum(row[name] for row in table.values()) for name in names}


def described(
    *,
    parts: Sequence[str] = (),
    path: str | None = None,
    column: str | None = None,
    size: int | None = None,
    shares: Sequence[str] = (),
    candidates: int | None = None,
    least: str | None = None,
    published: str | None = None,
    held_back: str | None = None,
    replacement: bool = False,
) -> Tally | Electorate:
    """Build the tally or the electorate that somebody describes in exactly one of the possible ways.

    Example:
        >>> described(parts=["yes=5200", "no=4800"], held_back="5%")
        <tally of 10,000 records (yes 5,200, no 4,800); 9,500 published>
    """
    foreseen = [distribution(text) for text in shares]
    if candidates is not None:
        foreseen += at_least(candidates, least or "0")
    ways = [bool(parts), path is not None, size is not None or bool(foreseen)]
    if sum(ways) != 1:
        raise ParameterError(
            "smoothed",
            "say in exactly one way what there is",
            why="Counts, a CSV file, or a size with shares.",
            hint="sordino smoothed profile yes=5200 no=4800 --held-back 5% --epsilon 1",
        )
    options: dict[str, Any] = {
        "published": amount(published, name="published"),
        "held_back": amount(held_back, name="held_back"),
        "replacement": replacement,
    }
    if size is not None or foreseen:
        if size is None or not foreseen:
            raise ParameterError(
                "smoothed",
                "an electorate needs both --size and --share (or --candidates)",
                why="How many records, and how they may be distributed.",
                hint="--size 10000 --share 0.55 --share 0.45",
            )
        options |= {"size": size, "electorates": foreseen}
    else:
        options["records"] = counts_from(path, column) if path is not None else counts(parts)
    result: Tally | Electorate = sampling(**options)
    return result


def only_tally(source: Tally | Electorate, subject: str) -> Tally:
    """Return the tally, or say that this question is about one."""
    if not isinstance(source, Tally):
        raise ParameterError(
            subject,
            "this question is about one tally, not about foreseen electorates",
            why="It needs the counts.",
            hint=f"sordino smoothed {subject} A=600 B=400 --held-back 5% --epsilon 1",
        )
    return source
