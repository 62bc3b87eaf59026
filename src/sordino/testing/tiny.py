"""Every pair of neighbours of a tiny world, replayed from one run of a mechanism per table and path.

A tiny world has far fewer tables than pairs: the choices of a table are worked out once for all of its pairs. Where a
mechanism does not see the order of rows, neither do we. That is not taken for granted: every table is first replayed
against itself with its rows in other orders, which must cost nothing on any path, and no word may be drawn for single
rows; otherwise tables in different orders are different ones. Tables that make one choice, with one law and the same
answers on all paths, count as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sordino.mechanisms.choose import output_grid
from sordino.reading.traits import Trait
from sordino.testing.replay import Replay, people_of, replayed
from sordino.testing.runs import Side
from sordino.testing.tables import columns, datasets, neighbours
from sordino.testing.tree import Tree
from sordino.testing.whole import followed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sordino.mechanisms.parts.cases import MechanismCase

    Columns = Mapping[str, Sequence[Any]]

NOTHING = 1e-12
"""A loss that is a rounding error."""


class TinyWorld:
    """All tables of a case, and what was ever seen of them.

    Args:
        case: The mechanism and its world.
        contribution: How many rows one person may move.

    Example:
        >>> from sordino.mechanisms.selection.selection import Selection
        >>> case = next(iter(Selection.cases()))
        >>> total = Replay()
        >>> with_all = TinyWorld(case, 1)
        >>> for seen in with_all.replays():
        ...     total.merge(seen)
        >>> with_all.shared, total.problems, round(total.worst, 6) <= 1
        (True, [], True)

    Attributes:
        pairs: How many pairs of neighbours there were so far.
        shared: Whether the order of rows changes nothing.
    """

    def __init__(self, case: MechanismCase, contribution: int) -> None:
        self.case, self.contribution = case, contribution
        self.grid = output_grid(case.world.statistic)
        self.pairs = 0
        self._sides: dict[Any, Side] = {}
        self._firsts: dict[Any, list[Side]] = {}
        self._as: dict[int, Side] = {}
        self._deep = False  # whether a second choice was ever seen
        self.shared = False
        self.shared = self._unordered()

    def replays(self) -> Iterator[Replay]:
        """One for every pair of neighbours that is not like an earlier one."""
        done: set[frozenset[int]] = set()
        statistic = self.case.world.statistic
        for pair in neighbours(self.case.world, self.contribution):
            self.pairs += 1
            tables = pair.table, pair.neighbour
            whose = people_of(statistic, *tables, self.contribution)
            here, there = (self._alike(self._side(table, whose)) for table in tables)
            both = frozenset((id(here), id(there)))
            if here is not there and both not in done:
                done.add(both)
                yield replayed(self._tree(here, there), complete=True)

    def _tree(self, here: Side, there: Side) -> Tree:
        case = self.case
        return Tree(case.mechanism, case.world.statistic, (here, there), self.grid, self.contribution)

    def _side(self, table: Columns, whose: tuple[int, int] = (0, 0)) -> Side:
        """The one side of a table; whatever the order of its rows, where that changes nothing."""
        rows = list(zip(*table.values(), strict=True))
        if self.shared:
            rows.sort(key=repr)
        key = *rows, *(whose if whose[0] else ())
        if key not in self._sides:
            self._sides[key] = Side(columns(self.case.world, rows), None, *whose, pausing=False)
        return self._sides[key]

    def _alike(self, side: Side) -> Side:
        """The first of the tables that nothing tells from this one: one choice with the same law, the same answers."""
        if id(side) in self._as:
            return self._as[id(side)]
        found, first = side, self._tree(side, side).node(())
        if first.step is not None and first.parts is not None and not self._deep:
            own, outcomes = self._tree(side, side), first.parts.outcomes
            self._deep = any(own.node((outcomes[place],)).step is not None for place in followed(first.parts))
            candidates = [] if self._deep else self._firsts.setdefault(first.step.key, [])
            for other in candidates:
                both = self._tree(other, side)
                seen = replayed(both, complete=True)
                if both.depth == 1 and not seen.problems and seen.worst <= NOTHING:
                    found = other
                    break
            else:
                candidates.append(side)
        self._as[id(side)] = found
        return found

    def _unordered(self) -> bool:
        """Whether the order of rows changes nothing, table by table."""
        world = self.case.world
        if world.places or Trait.BLOCKS in world.statistic.traits:  # every place or person has its own row
            return False
        for rows in datasets(world):
            if len(set(rows)) < 2:
                continue
            table = columns(world, rows)
            others = [rows[::-1], rows[1:] + rows[:1]]
            own = Side(table, pausing=False)
            for other in others:
                side = Side(columns(world, other), pausing=False)
                seen = replayed(self._tree(own, side), walks=1)
                if seen.problems or seen.worst > NOTHING or own.ordered or side.ordered:
                    return False
        return True
