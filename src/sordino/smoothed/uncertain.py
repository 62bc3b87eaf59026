"""Delta of precincts when some counts of the table are hidden: the worst over everything they may be.

Two facts carry it (docs/proofs/smoothed_many_types.md). For a precinct whose counts are known, delta depends on the
rest of the table only through the ballots n and the number L held back; it grows with n when L stays, and falls when L
grows. So over a range of n, the largest n with the smallest L bounds all of it. And in a precinct where some count may
be 0 or 1, some voter may be the only one, and delta is the worst case.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sordino.smoothed.precinct_table import Cell

_PARTS = 12  # of the range of n: the finer, the closer to the worst of it
_ENUMERATED = 4000


def log_deltas_uncertain(
    rows: Sequence[Sequence[Cell]], counted: Callable[[int], int], epsilon: float
) -> tuple[list[float], float]:
    """Return ln of an upper bound on delta of every precinct, and of the worst case of the table.

    Args:
        rows: For every precinct, the least and the largest count of each category.
        counted: How many ballots are counted when there are so many in all.
        epsilon: The privacy parameter.
    """
    fewest = max(1, sum(low for row in rows for low, _ in row))
    most = max(fewest, sum(high for row in rows for _, high in row))
    edges = sorted({fewest + (most - fewest) * i // _PARTS for i in range(_PARTS + 1)})
    # (ballots, counted) that bound every possible table between two edges: the largest n, the fewest held back
    cases = [(b, b - (a - counted(a))) for a, b in itertools.pairwise(edges)] or [(fewest, counted(fewest))]
    worst = max(math.log(T / n) for n, T in cases)
    result = [-math.inf] * len(rows)
    known = [index for index, row in enumerate(rows) if all(low == high for low, high in row)]
    small: dict[int, list[tuple[int, ...]]] = {}
    for index, row in enumerate(rows):
        if index in known:
            continue
        possible = math.prod(high - low + 1 for low, high in row)
        if any(low <= 1 and high > low for low, high in row) or possible > _ENUMERATED:
            result[index] = worst
        else:
            small[index] = list(itertools.product(*(range(low, high + 1) for low, high in row)))
    owners = known + [index for index, tables in small.items() for _ in tables]
    tables = [tuple(low for low, _ in rows[index]) for index in known]
    tables += [table for listed in small.values() for table in listed]
    if tables:
        from sordino.smoothed.precincts import log_deltas

        for n, T in cases:
            for index, value in zip(owners, log_deltas(tables, n, T, epsilon), strict=True):
                result[index] = max(result[index], value)
    return result, worst
