"""Hidden counts of a published table: refused by name, or read as somebody declares.

``zero`` counts them as nothing; ``unknown`` keeps everything that they may be, and the worst of it decides. A mark such
as "<5" says itself what it may be; otherwise the row's total, a declared limit, or the largest count that the file
shows bounds it from above. A count that may be 0 or 1 already gives its precinct the worst delta there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sordino.checks import one_of, whole
from sordino.errors import DataError
from sordino.smoothed.sheet import Kind, count, hidden_range, kind

if TYPE_CHECKING:
    from sordino.smoothed.precinct_table import Cell

WAYS = ("unknown", "zero")
_REFUSED = {
    Kind.SHARE: (
        "counts must be whole numbers, not shares or percentages",
        "What a table gives away depends on how many ballots it counts.",
    ),
    Kind.NEGATIVE: ("counts must not be negative", "A tally counts records."),
    Kind.DECIMAL_COMMA: (
        "a number has a decimal comma",
        "12,5 is not a count; a comma between thousands is followed by three digits.",
    ),
    Kind.POINTS: (
        "a number has points between thousands",
        "1.234.567 may be a count, but 1.234 would be read as a decimal.",
    ),
    Kind.WORD: ("counts must be whole numbers", "A tally counts records."),
}


def settle(
    raw: Mapping[str, Mapping[str, str]],
    *,
    suppressed: str | None,
    at_most: int | None = None,
    totals: Mapping[str, int] | None = None,
) -> tuple[dict[str, dict[str, Cell]], str]:
    """Turn texts into cells, by the declared reading of hidden ones.

    Args:
        raw: For every precinct, the texts by category.
        suppressed: "unknown", "zero", or None to refuse.
        at_most: The largest count that a hidden one can be.
        totals: Ballots of a precinct, where the file gives them.

    Returns:
        The cells, and in words how hidden ones were read.

    Example:
        >>> settle({"mill": {"A": "60", "B": "<5"}}, suppressed="unknown")[0]
        {'mill': {'A': (60, 60), 'B': (0, 4)}}
    """
    if suppressed is not None:
        one_of("tallies", WAYS, suppressed=suppressed)
    if at_most is not None:
        whole("tallies", at_least=0, hidden_at_most=at_most)
    result: dict[str, dict[str, Cell]] = {}
    waiting: list[tuple[str, str]] = []
    found = 0
    for precinct, row in raw.items():
        fresh: dict[str, Cell] = {}
        for category, text in row.items():
            what = kind(text)
            if what is Kind.COUNT:
                value = count(text)
                fresh[category] = (value, value)
                continue
            if what is not Kind.HIDDEN:
                rule, why = _REFUSED[what]
                got = {"precinct": precinct, "category": category, "cell": text}
                raise DataError("tallies", rule, got=got, why=why, hint="precinct,A,B\\n01,600,400")
            if suppressed is None:
                raise DataError(
                    "tallies",
                    "a count is empty or hidden",
                    got={"precinct": precinct, "category": category, "cell": text},
                    why="A table without it would look safer than it is. Say how to read such cells.",
                    hint="--suppressed unknown  (the worst case over what it may be), or --suppressed zero",
                )
            found += 1
            stated = hidden_range(text)
            if suppressed == "zero":
                fresh[category] = (0, 0)
            elif stated is not None:
                fresh[category] = stated
            else:
                fresh[category] = (0, 0)
                waiting.append((precinct, category))
        result[precinct] = fresh
    if not found:
        return result, ""
    if suppressed == "zero":
        return result, f"{found} cells are empty or hidden and count as 0"
    largest = max((high for row in result.values() for _, high in row.values()), default=0)
    bound = largest if at_most is None else at_most
    for precinct, category in waiting:
        room = bound
        if totals is not None and precinct in totals:
            known = sum(low for low, _ in result[precinct].values())
            room = min(room, max(0, totals[precinct] - known)) if at_most is None else room
        result[precinct][category] = (0, room)
    words = f"{found} cells are empty or hidden; the worst of what they may be decides"
    if waiting:
        source = (
            "as declared"
            if at_most is not None
            else "the largest count in the file, or less by the row's total"
        )
        words += f" (nothing to {bound:,}: {source})"
    return result, words
