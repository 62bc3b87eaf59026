"""Which precincts are too small to publish?

A table by precinct is published after some ballots of the whole were lost or held back at random. A voter's precinct
is public, the vote is not. For every precinct the exact delta; together, how many are protected and what would help.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sordino.checks import between, non_negative
from sordino.errors import DataError
from sordino.smoothed.counts import published_of, whole_count
from sordino.smoothed.histogram import log_pairs, moves
from sordino.smoothed.leak import power
from sordino.smoothed.tally import log_worst_case


@dataclass(frozen=True, slots=True)
class Precinct:
    """One precinct of a table.

    Attributes:
        name: Its name.
        ballots: Its ballots.
        smallest: The votes of its smallest category.
        log_delta: ln delta of the worst change of one vote in it.
        safe: Whether that is at most the delta asked for.
    """

    name: str
    ballots: int
    smallest: int
    log_delta: float
    safe: bool


@dataclass(frozen=True, slots=True)
class PrecinctReport:
    """Every precinct of a table, worst first in :meth:`rows`.

    Attributes:
        precincts: In the order of the file.
        categories: The published categories.
        records: Ballots in the whole table.
        published: How many of them were counted.
        epsilon: The privacy parameter.
        delta: The delta asked for.
        log_worst: ln of the worst case, ordinary differential privacy.
        whole: ln delta of the table summed over precincts, for comparison.
        enough_share: The share of ballots that would have to be held back so that every precinct is safe; None when
            half of them is not enough.
    """

    precincts: tuple[Precinct, ...]
    categories: tuple[str, ...]
    records: int
    published: int
    epsilon: float
    delta: float
    log_worst: float
    whole: float
    enough_share: float | None

    @property
    def unsafe(self) -> tuple[Precinct, ...]:
        """The precincts whose delta is above the one asked for, worst first."""
        return tuple(sorted((p for p in self.precincts if not p.safe), key=lambda p: -p.log_delta))

    def __repr__(self) -> str:
        return (
            f"<{len(self.precincts)} precincts, {self.records:,} ballots, {len(self.unsafe)} too small at "
            f"({self.epsilon:g}, {self.delta:.3g}); worst case {power(self.log_worst)}>"
        )

    def rows(self) -> list[tuple[str, int, int, str, str]]:
        """Return name, ballots, smallest category, delta and verdict of every precinct, worst first."""
        return [
            (p.name, p.ballots, p.smallest, power(p.log_delta), "ok" if p.safe else "TOO SMALL")
            for p in sorted(self.precincts, key=lambda p: (-p.log_delta, p.ballots))
        ]

    def lines(self) -> list[tuple[str, str]]:
        """Return the figures for printing."""
        held = self.records - self.published
        bad = len(self.unsafe)
        largest = max((p.ballots for p in self.unsafe), default=0)
        answer = "every precinct may be published"
        if bad:
            count = f"{bad} of {len(self.precincts)} precincts {'is' if bad == 1 else 'are'} too small"
            answer = f"{count} (the largest of them has {largest:,} ballots)"
        result = [
            (
                "published",
                f"{self.published:,} of {self.records:,} ballots; {held:,} lost or held back at random",
            ),
            ("categories", ", ".join(self.categories)),
            (
                "worst case",
                f"delta = {power(self.log_worst)} at every epsilon (ordinary differential privacy)",
            ),
            (
                "whole table",
                f"delta({self.epsilon:g}) = {power(self.whole)} if only the totals are published",
            ),
            ("asked for", f"delta({self.epsilon:g}) at most {self.delta:.3g} in every precinct"),
            ("answer", answer),
        ]
        if bad:
            result.append(("what would help", self._help()))
        return result

    def _help(self) -> str:
        empty = sum(1 for p in self.unsafe if p.smallest == 0)
        parts = ["merge precincts or small categories before publishing"]
        if empty:
            parts.append(
                f"{empty} precinct{'s have' if empty > 1 else ' has'} a category without any vote, which no amount of "
                "holding back protects well"
            )
        if self.enough_share is not None:
            parts.append(f"holding back {self.enough_share:.1%} of all ballots at random would be enough")
        else:
            parts.append("holding back even half of all ballots at random would not be enough for this table")
        return "; ".join(parts)

    @property
    def reading(self) -> str:
        """Say in two sentences how to read it and what it does not promise."""
        factor = f"{math.exp(min(self.epsilon, 700.0)):.3g}"
        return (
            f"In a precinct marked ok, changing one vote raises the probability of any set of published tables by at "
            f"most a factor of {factor} plus {self.delta:.2g}, and that is all that somebody who knows every other "
            f"vote there can use; in the others a vote can be given away, outright where a category has one vote. This "
            f"relies on the missing ballots being missing at random and on nobody knowing which, it protects one vote "
            f"at a time, and it promises nothing about a second count published in reaction to the first."
        )

    def explain(self) -> str:
        """Return the answer in words."""
        width = max(len(name) for name, _ in self.lines())
        return "\n".join([*(f"{name.ljust(width)}  {value}" for name, value in self.lines()), self.reading])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "precinct-report",
            "records": self.records,
            "published": self.published,
            "categories": list(self.categories),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "worst_case_delta": math.exp(self.log_worst),
            "whole_table_log_delta": self.whole,
            "too_small": len(self.unsafe),
            "share_to_hold_back": self.enough_share,
            "reading": self.reading,
            "precincts": [
                {
                    "name": p.name,
                    "ballots": p.ballots,
                    "smallest_category": p.smallest,
                    "delta": math.exp(p.log_delta),
                    "log_delta": p.log_delta,
                    "safe": p.safe,
                }
                for p in self.precincts
            ],
        }


def _log_deltas(tables: list[tuple[int, ...]], n: int, T: int, epsilon: float) -> list[float]:
    """Return ln delta of every precinct; pairs of counts that occur in several are computed once."""
    lists = [moves(counts) for counts in tables]
    owner = np.repeat(np.arange(len(tables)), [lose.size for lose, _ in lists])
    lose = np.concatenate([lose for lose, _ in lists])
    gain = np.concatenate([gain for _, gain in lists])
    logs = log_pairs(n, T, lose, gain, epsilon)
    best = np.full(len(tables), -np.inf)
    np.maximum.at(best, owner, logs)
    return [float(value) for value in best]


def precincts(
    table: Mapping[str, Any],
    *,
    epsilon: float,
    published: Any = None,
    held_back: Any = None,
    delta: float | None = None,
) -> PrecinctReport:
    """Analyse a table of counts by precinct.

    Args:
        table: For every precinct, counts by category, the same categories everywhere.
        epsilon: The privacy parameter.
        published: How many of all ballots are counted: a whole number, or a share.
        held_back: The other way to say it.
        delta: The largest acceptable delta; one over all ballots when not given.

    Example:
        >>> report = precincts({"north": [5_100, 4_900], "mill": [60, 3]}, epsilon=1.0, held_back=0.05, delta=1e-4)
        >>> [(p.name, p.safe) for p in report.precincts]
        [('north', True), ('mill', False)]
    """
    price = float(non_negative("precincts", epsilon=epsilon))
    if not table:
        raise DataError("precincts", "the table is empty", why="There is nothing to publish.")
    counts = {str(name): _checked(str(name), raw) for name, raw in table.items()}
    categories = tuple(next(iter(counts.values())))
    if any(set(row) != set(categories) for row in counts.values()):
        raise DataError(
            "precincts",
            "every precinct must have the same categories",
            got={"categories": len({name for row in counts.values() for name in row})},
            why="The published table has the same columns for all.",
            hint="write 0 for a category without votes",
        )
    if len(categories) < 2:
        raise DataError(
            "precincts",
            "a table needs at least two categories",
            got={"categories": len(categories)},
            why="With one category everybody's record is known beforehand.",
            hint='precincts({"north": {"yes": 510, "no": 490}}, ...)',
        )
    real = [tuple(row[category] for category in categories) for row in counts.values()]
    if not any(map(any, real)):
        raise DataError("precincts", "the table has no ballots", why="There is nothing to publish.")
    n = sum(sum(values) for values in real)
    T = published_of(n, published=published, held_back=held_back, subject="precincts")
    target = 1.0 / n if delta is None else float(between("precincts", 0, 1, delta=delta))
    limit = math.log(target)
    logs = _log_deltas(real, n, T, price)
    listed = tuple(
        Precinct(str(name), sum(values), min(values), value, value <= limit)
        for name, values, value in zip(counts, real, logs, strict=True)
    )
    totals = tuple(int(sum(column)) for column in zip(*real, strict=True))
    whole = _log_deltas([totals], n, T, price)[0]
    enough = None if all(p.safe for p in listed) else _enough(real, n, price, limit, logs)
    return PrecinctReport(
        listed, tuple(str(c) for c in categories), n, T, price, target, log_worst_case(n, T), whole, enough
    )


def _checked(name: str, raw: Any) -> dict[str, int]:
    """Check one precinct; one without any ballot is allowed, it has nothing to hide."""
    items = raw.items() if isinstance(raw, Mapping) else ((str(i + 1), value) for i, value in enumerate(raw))
    return {
        str(category): whole_count(f"{name}, {category}", value, "precincts", "01: 600, 400")
        for category, value in items
    }


def _enough(
    tables: list[tuple[int, ...]], n: int, epsilon: float, limit: float, logs: list[float]
) -> float | None:
    """Return the least share (to a thousandth of itself) that makes every precinct safe, by bisection.

    The most exposed precincts decide; the others are looked at once in the end, and join when they must.
    """
    order = sorted(range(len(tables)), key=lambda index: -logs[index])
    watched = [tables[index] for index in order[:12]]

    def safe(held: int) -> bool:
        return max(_log_deltas(watched, n, n - held, epsilon)) <= limit

    low, high = 0, n // 2
    while True:
        if not safe(high) and not safe(high := n // 2):
            return None
        while high - low > max(1, high // 1000):
            middle = (low + high) // 2
            low, high = (low, middle) if safe(middle) else (middle, high)
        everyone = _log_deltas(tables, n, n - high, epsilon)
        missed = [table for table, value in zip(tables, everyone, strict=True) if value > limit]
        if not missed:
            return math.ceil(high / n * 1e5) / 1e5  # a share that, rounded down to ballots, is still enough
        watched += missed
        low = high
