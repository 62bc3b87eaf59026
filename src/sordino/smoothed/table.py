"""Can this table include small categories?

For every category: delta of the worst move in or out of it. A category with few records is given away at any epsilon;
the answer names those, and what merging them does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.checks import between, non_negative
from sordino.smoothed.histogram import log_pairs
from sordino.smoothed.leak import Leak, power

if TYPE_CHECKING:
    from sordino.smoothed.tally import Tally


@dataclass(frozen=True, slots=True)
class Category:
    """One category of a table.

    Attributes:
        name: Its name.
        count: Its records.
        log_delta: ln delta of the worst move of one record into or out of it.
        safe: Whether that is at most the delta asked for.
    """

    name: str
    count: int
    log_delta: float
    safe: bool


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """Which categories a published table may show.

    Attributes:
        categories: All of them, in the order given.
        leak: The figure of the table as it is.
        merged: The figure after merging the unsafe ones; None when that is not possible or not needed.
        merged_names: The categories that were merged.
        smallest_safe: The least count a category must have to be safe here; None when no count is enough.
        delta: The delta asked for.
    """

    categories: tuple[Category, ...]
    leak: Leak
    merged: Leak | None
    merged_names: tuple[str, ...]
    smallest_safe: int | None
    delta: float

    @property
    def safe(self) -> bool:
        """Whether the table can be published as it is."""
        return all(category.safe for category in self.categories)

    def lines(self) -> list[tuple[str, str]]:
        """Return the figures for printing."""
        result = [
            *self.leak.lines(),
            ("asked for", f"delta at most {self.delta:.3g}"),
            ("answer", "yes, every category may be shown" if self.safe else self._no()),
        ]
        if self.merged is not None:
            listed = ", ".join(self.merged_names)
            result.append(("if merged", f"{listed} as one category: {self.merged.statement}"))
        return result

    def _no(self) -> str:
        bad = [category.name for category in self.categories if not category.safe]
        listed = ", ".join(bad[:6]) + (f" and {len(bad) - 6} more" if len(bad) > 6 else "")
        if self.smallest_safe is None:
            return f"no: {listed}; too little is held back for any category to be safe"
        return f"no: {listed}; a category needs at least {self.smallest_safe:,} records here"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "table-answer",
            "safe": self.safe,
            "delta": self.delta,
            "smallest_safe_count": self.smallest_safe,
            "categories": [
                {
                    "name": c.name,
                    "count": c.count,
                    "delta": math.exp(c.log_delta),
                    "log_delta": c.log_delta,
                    "safe": c.safe,
                }
                for c in self.categories
            ],
            "leak": self.leak.to_dict(),
            "merged": None
            if self.merged is None
            else {"names": list(self.merged_names), **self.merged.to_dict()},
        }

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Return one row per category: name, records, delta, verdict."""
        return [
            (
                c.name,
                c.count,
                power(c.log_delta) if c.log_delta > -math.inf else "-",
                "ok" if c.safe else "ABOVE THE LIMIT",
            )
            for c in self.categories
        ]


def table(tally: Tally, *, epsilon: float, delta: float | None = None) -> TableAnswer:
    """Say whether a table may show all its categories, and which are too small.

    A category is blamed when its own records would be given away: the least count that is safe beside the largest
    category is computed, and categories below it are the small ones.

    Args:
        tally: The table.
        epsilon: The privacy parameter.
        delta: The largest acceptable delta; one over the records when not given.

    Example:
        >>> from sordino import smoothed
        >>> vote = smoothed.sampling(records={"A": 60_000, "B": 39_950, "write-in": 50}, published=0.98)
        >>> answer = table(vote, epsilon=1.0)
        >>> answer.safe, [c.name for c in answer.categories if not c.safe]
        (False, ['write-in'])
    """
    price = float(non_negative("table", epsilon=epsilon))
    target = 1.0 / tally.records if delta is None else float(between("table", 0, 1, delta=delta))
    limit = math.log(target)
    alone = _own_deltas(tally, price)
    categories = tuple(
        Category(name, count, value, value <= limit)
        for name, count, value in zip(tally.categories, tally.counts, alone, strict=True)
    )
    leak = tally.delta(epsilon=price)
    merged, names = _merge(tally, categories, price)
    return TableAnswer(categories, leak, merged, names, _smallest(tally, price, limit), target)


def _own_deltas(tally: Tally, epsilon: float) -> list[float]:
    """Return, for each category, ln delta of a record moving between it and a category at least as large.

    The table's delta is the largest of these: every move joins two categories and is counted at the smaller one, so
    the largest category has none of its own (minus infinity).
    """
    counts = tally.counts
    order = sorted(range(len(counts)), key=lambda i: counts[i])
    result = [-math.inf] * len(counts)
    for place, i in enumerate(order):
        partners = [counts[j] for j in order[place + 1 :]]
        if not partners:
            break
        small = counts[i]
        pairs = {
            pair
            for other in set(partners)
            for pair in ((small, other), (other + 1, small - 1), (other, small), (small + 1, other - 1))
            if pair[0] >= 1 and pair[1] >= 0
        }
        lose, gain = (np.asarray(side) for side in zip(*sorted(pairs), strict=True))
        logs = log_pairs(tally.records, tally.published, lose, gain, epsilon, replacement=tally.replacement)
        result[i] = float(logs.max())
    return result


def _smallest(tally: Tally, epsilon: float, limit: float) -> int | None:
    """Return the least count that is safe beside the largest category of a table of this size."""
    n = tally.records

    def safe(count: int) -> bool:
        pair = replace(tally, categories=("small", "rest"), counts=(count, n - count))
        return max(_own_deltas(pair, epsilon)) <= limit

    low, high = 0, n // 2
    if high < 1 or not safe(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if safe(middle) else (middle, high)
    return high


def _merge(
    tally: Tally, categories: tuple[Category, ...], epsilon: float
) -> tuple[Leak | None, tuple[str, ...]]:
    """Merge the categories that are too small into one, when at least two others or one merged remain a table."""
    small = [index for index, category in enumerate(categories) if not category.safe]
    rest = [index for index in range(len(categories)) if index not in small]
    if len(small) < 2 or not rest:
        return None, ()
    names = (*(tally.categories[i] for i in rest), "other")
    counts = (*(tally.counts[i] for i in rest), sum(tally.counts[i] for i in small))
    merged = replace(tally, categories=names, counts=counts)
    return merged.delta(epsilon=epsilon), tuple(tally.categories[i] for i in small)
