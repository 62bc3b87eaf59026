"""Which precincts are too small to publish?

A table by precinct is published after some ballots of the whole were lost or held back at random. A voter's precinct
is public, the vote is not. For every precinct the exact delta, at once; what would help is another question
(:mod:`sordino.smoothed.advice`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.checks import between, non_negative
from sordino.errors import DataError
from sordino.smoothed.counts import published_of, whole_count
from sordino.smoothed.histogram import log_pairs, moves
from sordino.smoothed.leak import power
from sordino.smoothed.precinct_table import Cell, PrecinctTable
from sordino.smoothed.tally import log_worst_case
from sordino.smoothed.uncertain import log_deltas_uncertain

if TYPE_CHECKING:
    from sordino.smoothed.advice import Advice

Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Precinct:
    """One precinct of a table.

    Attributes:
        name: Its name.
        ballots: Its ballots; at least so many when counts are hidden.
        smallest: The votes of its smallest category; at least so many.
        log_delta: ln delta of the worst change of one vote in it.
        safe: Whether that is at most the delta asked for.
        hidden: Whether one of its counts is hidden, so that the worst of what it may be decides.
    """

    name: str
    ballots: int
    smallest: int
    log_delta: float
    safe: bool
    hidden: bool = False


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
        whole: ln delta of the table summed over precincts, for comparison; not a number when counts are hidden.
        counts: The counts of every precinct, for :meth:`advice`.
        how: How the file was read, shown before the verdict.
    """

    precincts: tuple[Precinct, ...]
    categories: tuple[str, ...]
    records: int
    published: int
    epsilon: float
    delta: float
    log_worst: float
    whole: float
    counts: tuple[Row, ...] = field(repr=False, default=())
    how: tuple[tuple[str, str], ...] = ()

    @property
    def unsafe(self) -> tuple[Precinct, ...]:
        """The precincts whose delta is above the one asked for, worst first."""
        return tuple(sorted((p for p in self.precincts if not p.safe), key=lambda p: -p.log_delta))

    @property
    def certain(self) -> bool:
        """Whether every count is known."""
        return not any(p.hidden for p in self.precincts)

    def advice(self, progress: Any = None) -> Advice:
        """Say what would make every precinct safe: what to merge, to pool, to hold back; see :mod:`~.advice`."""
        from sordino.smoothed.advice import advise

        return advise(self, progress=progress)

    def __repr__(self) -> str:
        return (
            f"<{len(self.precincts)} precincts, {self.records:,} ballots, {len(self.unsafe)} above the limit at "
            f"({self.epsilon:g}, {self.delta:.3g}); worst case {power(self.log_worst)}>"
        )

    def rows(self) -> list[tuple[str, int, int, str, str]]:
        """Return name, ballots, smallest category, delta and verdict of every precinct, worst first."""
        return [
            (
                p.name,
                p.ballots,
                p.smallest,
                power(p.log_delta),
                ("ok" if p.safe else "ABOVE THE LIMIT") + (" (hidden counts)" if p.hidden else ""),
            )
            for p in sorted(self.precincts, key=lambda p: (-p.log_delta, p.ballots))
        ]

    def lines(self) -> list[tuple[str, str]]:
        """Return the figures for printing."""
        held = self.records - self.published
        bad = len(self.unsafe)
        largest = max((p.ballots for p in self.unsafe), default=0)
        answer = "every precinct may be published"
        if bad:
            count = f"{bad} of {len(self.precincts)} precincts {'is' if bad == 1 else 'are'} above the limit"
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
        ]
        if self.certain:
            whole = f"delta({self.epsilon:g}) = {power(self.whole)} if only the totals are published"
            result.append(("whole table", whole))
        else:
            hidden = sum(p.hidden for p in self.precincts)
            have = "precincts have" if hidden > 1 else "precinct has"
            words = f"{hidden} {have} hidden counts; ballots are the fewest possible"
            result.append(("hidden", words))
        result.append(("asked for", f"delta({self.epsilon:g}) at most {self.delta:.3g} in every precinct"))
        result.append(("answer", answer))
        empty = sum(1 for p in self.unsafe if p.smallest <= 1)
        if empty:
            have = "precincts have" if empty > 1 else "precinct has"
            words = f"{empty} {have} a category with one vote or none, which no amount of holding back protects well"
            result.append(("because", words))
        return result

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
        listed = [*self.how, *self.lines()]
        width = max(len(name) for name, _ in listed)
        return "\n".join([*(f"{name.ljust(width)}  {value}" for name, value in listed), self.reading])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "precinct-report",
            "read_as": [list(pair) for pair in self.how],
            "records": self.records,
            "published": self.published,
            "categories": list(self.categories),
            "epsilon": self.epsilon,
            "delta": self.delta,
            "worst_case_delta": math.exp(self.log_worst),
            "whole_table_log_delta": self.whole if self.certain else None,
            "too_small": len(self.unsafe),
            "reading": self.reading,
            "precincts": [
                {
                    "name": p.name,
                    "ballots": p.ballots,
                    "smallest_category": p.smallest,
                    "delta": math.exp(p.log_delta),
                    "log_delta": p.log_delta,
                    "safe": p.safe,
                    "hidden_counts": p.hidden,
                }
                for p in self.precincts
            ],
        }


def log_deltas(tables: list[Row], n: int, T: int, epsilon: float) -> list[float]:
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
        table: For every precinct, counts by category, the same categories everywhere; or what
            :func:`sordino.smoothed.files.read_precincts` gives, hidden counts included.
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
    cells = table.cells if isinstance(table, PrecinctTable) else _certain(table)
    categories = _same_categories(cells)
    rows = [tuple(row[category] for category in categories) for row in cells.values()]
    low = [tuple(least for least, _ in row) for row in rows]
    if not any(most for row in rows for _, most in row):
        raise DataError("precincts", "the table has no ballots", why="There is nothing to publish.")
    n = max(1, sum(map(sum, low)))

    def counted(size: int) -> int:
        return published_of(size, published=published, held_back=held_back, subject="precincts")

    T = counted(n)
    target = 1.0 / n if delta is None else float(between("precincts", 0, 1, delta=delta))
    hidden = [any(least != most for least, most in row) for row in rows]
    whole = math.nan
    if any(hidden):
        logs, worst = log_deltas_uncertain(rows, counted, price)
    else:
        logs, worst = log_deltas(low, n, T, price), log_worst_case(n, T)
        whole = log_deltas([tuple(int(sum(column)) for column in zip(*low, strict=True))], n, T, price)[0]
    limit = math.log(target)
    listed = tuple(
        Precinct(str(name), sum(values), min(values), value, value <= limit, unknown)
        for name, values, value, unknown in zip(cells, low, logs, hidden, strict=True)
    )
    how = tuple(table.lines()) if isinstance(table, PrecinctTable) else ()
    return PrecinctReport(listed, categories, n, T, price, target, worst, whole, tuple(low), how)


def _certain(table: Mapping[str, Any]) -> dict[str, dict[str, Cell]]:
    """Check counts that are handed in; a precinct without any ballot is allowed, it has nothing to hide."""
    result: dict[str, dict[str, Cell]] = {}
    for name, raw in table.items():
        items = (
            raw.items() if isinstance(raw, Mapping) else ((str(i + 1), value) for i, value in enumerate(raw))
        )
        row: dict[str, Cell] = {}
        for category, value in items:
            number = whole_count(f"{name}, {category}", value, "precincts", "01: 600, 400")
            row[str(category)] = (number, number)
        result[str(name)] = row
    return result


def _same_categories(cells: Mapping[str, Mapping[str, Cell]]) -> tuple[str, ...]:
    """Return the categories, at least two and the same everywhere."""
    if not cells:
        raise DataError("precincts", "the table is empty", why="There is nothing to publish.")
    categories = tuple(next(iter(cells.values())))
    if any(set(row) != set(categories) for row in cells.values()):
        raise DataError(
            "precincts",
            "every precinct must have the same categories",
            got={"categories": len({name for row in cells.values() for name in row})},
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
    return categories
