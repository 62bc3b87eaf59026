"""A way forward for a table that gives votes away: what to merge, what to pool, how much to hold back.

Each proposal is checked by the same exact figures before it is made. Asked for on request, because it takes seconds
where the verdict takes none. It looks at the counts, so it is for the desk of those who hold them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.smoothed.chernoff import log_pair_ceiling
from sordino.smoothed.histogram import moves
from sordino.smoothed.precinct_table import PLUS
from sordino.smoothed.precincts import Row, log_deltas

if TYPE_CHECKING:
    from sordino.smoothed.precincts import PrecinctReport

Progress = Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Advice:
    """What would make every precinct safe.

    Attributes:
        other: Categories to merge into one; empty when merging does not help.
        pools: Groups of precincts to add up, after merging; empty when none need to be, or when it does not help.
        remaining: Precincts that are still too small after both; 0 means that the table may then be published.
        share: The share of ballots that would have to be held back instead; None when half of them is not enough.
        too_small: How many precincts were too small before.
    """

    other: tuple[str, ...]
    pools: tuple[tuple[str, ...], ...]
    remaining: int
    share: float | None
    too_small: int

    def options(self) -> str:
        """Return the options of ``sordino smoothed precincts`` that ask about the merged table.

        Example:
            >>> Advice(("Write-ins", "Farrow"), (("06", "13"),), 0, None, 2).options()
            '--other "Write-ins" --other "Farrow" --pool "06 + 13"'
        """
        parts = [f'--other "{name}"' for name in self.other]
        return " ".join(parts + [f'--pool "{PLUS.join(names)}"' for names in self.pools])

    def lines(self) -> list[tuple[str, str]]:
        """Return the proposals for printing."""
        if self.too_small == 0:
            return []
        result: list[tuple[str, str]] = []
        if self.other:
            result.append(("merge categories", ", ".join(self.other)))
        for names in self.pools[:8]:
            more = f" and {len(names) - 12} more" if len(names) > 12 else ""
            result.append(("pool precincts", PLUS.join(names[:12]) + more))
        if len(self.pools) > 8:
            result.append(
                ("pool precincts", f"... {len(self.pools) - 8} further groups, all in the line to paste")
            )
        if self.other or self.pools:
            after = "every precinct and every group may be published"
            result.append(("after that", f"{self.remaining} remain too small" if self.remaining else after))
        else:
            result.append(("merging", "no merging of categories and precincts makes this table safe"))
        if self.share is not None:
            result.append(("or hold back", f"{self.share:.1%} of all ballots at random, and merge nothing"))
        else:
            result.append(
                ("holding back", "even half of all ballots at random would not be enough for this table")
            )
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "merge_categories": list(self.other),
            "pool_precincts": [list(names) for names in self.pools],
            "remaining_too_small": self.remaining,
            "share_to_hold_back": self.share,
        }


def advise(report: PrecinctReport, *, progress: Progress | None = None) -> Advice:
    """Look for the least merging of categories and precincts, and the least share to hold back.

    Args:
        report: The verdict; one with hidden counts gets no advice, the counts must be known first.
        progress: Called with the number of steps done, of about forty.

    Example:
        >>> from sordino.smoothed.precincts import precincts
        >>> report = precincts({"north": [900, 800], "mill": [60, 30]}, epsilon=1.0, held_back=0.2, delta=1e-3)
        >>> found = report.advice()
        >>> found.pools, found.remaining, found.share
        ((('mill', 'north'),), 0, 0.34358)
    """
    step = progress or (lambda _: None)
    bad = len(report.unsafe)
    if bad == 0:
        return Advice((), (), 0, 0.0, 0)
    if not report.certain:
        return Advice((), (), bad, None, bad)
    n, T, limit = report.records, report.published, math.log(report.delta)

    def unsafe(tables: Sequence[Row]) -> list[int]:
        step(1)
        return _above(tables, n, T, report.epsilon, limit)

    other, groups, remaining = _kept_most(report, unsafe)
    names = tuple(tuple(report.precincts[index].name for index in group) for group in groups)
    share = _enough(report, limit, step)
    return Advice(tuple(other), names, remaining, share, bad)


def _above(tables: Sequence[Row], n: int, T: int, epsilon: float, limit: float) -> list[int]:
    """Return which precincts have a delta above the limit; those whose bound is below it are not summed up."""
    result = []
    doubtful = []
    for index, row in enumerate(tables):
        lose, gain = moves(row)
        if lose.size and log_pair_ceiling(n, n - T, lose, gain, epsilon).max() > limit:
            doubtful.append(index)
    if doubtful:
        logs = log_deltas([tables[index] for index in doubtful], n, T, epsilon)
        result = [index for index, value in zip(doubtful, logs, strict=True) if value > limit]
    return result


def _kept_most(
    report: PrecinctReport, unsafe: Callable[[Sequence[Row]], list[int]]
) -> tuple[list[str], list[list[int]], int]:
    """Merge some of the smallest categories and pool what is then too small, so that most cells of the table remain."""
    totals = [sum(column) for column in zip(*report.counts, strict=True)]
    order = sorted(range(len(totals)), key=lambda index: totals[index])
    ballots = [p.ballots for p in report.precincts]
    best: tuple[int, int, list[int], list[list[int]]] = (-len(report.unsafe), 0, [], [])
    for many in (0, *range(2, len(order))):
        chosen = order[:many]
        kept = [index for index in range(len(order)) if index not in chosen]
        merged = ((*(row[i] for i in kept), sum(row[i] for i in chosen)) for row in report.counts)
        tables = list(merged) if many else list(report.counts)
        groups, remaining = _pooled(tables, ballots, unsafe)
        rows = len(tables) - sum(len(group) - 1 for group in groups)
        found = (-remaining, rows * len(tables[0]), chosen, groups)
        best = max(best, found, key=lambda one: one[:2]) if -remaining > best[0] or remaining == 0 else best
    return [report.categories[index] for index in sorted(best[2])], best[3], -best[0]


def _pooled(
    tables: list[Row], ballots: Sequence[int], unsafe: Callable[[Sequence[Row]], list[int]]
) -> tuple[list[list[int]], int]:
    """Add precincts that are too small up, the smallest first, into groups that are safe.

    What is left over at the end joins the last group, or the smallest safe precincts.
    """
    bad = sorted(unsafe(tables), key=lambda index: ballots[index])
    if not bad or len(tables) < 2:
        return [], len(bad)

    def safe(group: list[int]) -> bool:
        row = tuple(sum(tables[index][i] for index in group) for i in range(len(tables[0])))
        return not unsafe([row])

    groups: list[list[int]] = []
    group: list[int] = []
    enough = 0  # ballots of the last group that was not: no smaller one is tried
    for index in bad:
        group.append(index)
        if len(group) > 1 and sum(ballots[i] for i in group) > 1.02 * enough:
            if safe(group):
                groups.append(group)
                group = []
            else:
                enough = sum(ballots[i] for i in group)
    rest = sorted((i for i in range(len(tables)) if i not in set(bad)), key=lambda i: ballots[i])
    while group:
        if len(group) > 1 and safe(group):
            groups.append(group)
            break
        if groups:
            group = groups.pop() + group
        elif rest:
            group, rest = group + rest[: max(1, len(group) // 2)], rest[max(1, len(group) // 2) :]
        else:
            return [], len(bad)
    return groups, 0


def _enough(report: PrecinctReport, limit: float, step: Progress) -> float | None:
    """Return the least share (to a thousandth of itself) that makes every precinct safe, by bisection.

    The most exposed precincts decide; the others are looked at once in the end, and join when they must.
    """
    tables, n, epsilon = list(report.counts), report.records, report.epsilon
    order = sorted(range(len(tables)), key=lambda index: -report.precincts[index].log_delta)
    watched = [tables[index] for index in order[:1]]

    def safe(held: int) -> bool:
        step(1)
        return not _above(watched, n, n - held, epsilon, limit)

    low, high = report.records - report.published, n // 2
    while True:
        if not safe(high) and not safe(high := n // 2):
            return None
        while high - low > max(1, high // 1000):
            middle = (low + high) // 2
            low, high = (low, middle) if safe(middle) else (middle, high)
        missed = _above(tables, n, n - high, epsilon, limit)
        if not missed:
            return math.ceil(high / n * 1e5) / 1e5  # a share that, rounded down to ballots, is still enough
        logs = log_deltas([tables[index] for index in missed], n, n - high, epsilon)
        watched = [tables[missed[max(range(len(missed)), key=logs.__getitem__)]]]
        low = high
