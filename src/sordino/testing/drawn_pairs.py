"""Pairs of neighbouring tables that make every branch of a plan matter: heaps that one row tips, and rows far away.

A table of numbers is made of heaps, a filled part of the range and a few rows: at the bounds, on the anchor, at
distances from them that are powers of two of the range. It has no row, a few, about as many as were declared, or any
number. All other tables are heaps of the rows of the statistic's tiny world. A pair can be changed a little
(`PairDrawer.changed`), so that a search can climb.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sordino.privacy import Neighbors
from sordino.reading.traits import Trait
from sordino.testing.drawn_statistics import ends, logarithmic
from sordino.testing.tables import Row, TablePair, columns, neighbours

if TYPE_CHECKING:
    from sordino.testing.drawn_plans import DrawnPlan

LONGEST = 700
"""Rows of a table of any number of rows."""
DECLARED = 20_000
"""Rows of a table of about as many as were declared: a search sees nothing of fewer at a small price."""
WORK = 60
"""Rows of a table whose statistic's work grows faster than a sort's."""
LEVELS = (1, 2, 3, 4, 6, 9, 14, 20)
"""Distances from a place, as powers of two of the range."""
TIPPED = 30
"""Rows by which one of two heaps outweighs the other, at most."""
STEPS = (1, 1, 2, 5, 20, 100)
"""Rows by which a heap is changed."""
WORLDS = 400
"""Pairs of a tiny world from which those of graphs are taken."""


@dataclass(frozen=True, slots=True)
class HeapPair:
    """Two tables by their heaps.

    Attributes:
        heaps: The rows of all others, and how many there are of each.
        gone: Rows that only the first table has.
        come: Rows that only the second one has.
    """

    heaps: tuple[tuple[Row, int], ...]
    gone: tuple[Row, ...]
    come: tuple[Row, ...]

    def tables(self, plan: DrawnPlan) -> TablePair:
        """Both tables; the rows of the one person come last."""
        others = [row for row, many in self.heaps for _ in range(many)]
        one, other = (columns(plan.world, [*others, *rows]) for rows in (self.gone, self.come))
        return TablePair(one, other, plan.contribution)


class PairDrawer:
    """Draws pairs for a plan.

    Args:
        plan: What is asked, and how it is answered.
        random: Where they come from.
    """

    def __init__(self, plan: DrawnPlan, random: np.random.Generator) -> None:
        self.plan, self.random = plan, random
        self.bounds = ends(plan.statistic) if len(plan.world.columns) == 1 else None
        self.several = _bounds_of_several(plan)
        self.menu = [] if self.bounds is None else self._places(*self.bounds)

    def pairs(self, many: int) -> list[HeapPair | TablePair]:
        """So many pairs; of graphs, and of rows that have places of their own, from a tiny world."""
        if self.plan.world.places or self.plan.statistic.neighbors.of_graphs:
            found = list(itertools.islice(neighbours(self.plan.world), WORLDS))
            return [found[int(place)] for place in self.random.permutation(len(found))[:many]]
        return [self.heaps() for _ in range(many)]

    def _places(self, low: float, high: float) -> list[float]:
        """Values at which something changes: bounds, anchor, centres, and powers of two of the range beside them."""
        width = high - low
        said = (getattr(one, "centre", None) for one in (self.plan.mechanism, self.plan.statistic))
        about = {
            low,
            high,
            0.0,
            low + width / 2,
            low + width / 3,
            *(float(one) for one in said if one is not None),
        }
        about = {min(max(place, low), high) for place in about}
        found = set(about)
        for place, level in itertools.product(about, LEVELS):
            far = width * 2.0**-level
            found |= {place + far, place - far, place + far * 1.01}
        return [place for place in sorted(found) if low <= place <= high]

    def row(self) -> Row:
        """One row, at a place at which something changes or anywhere."""
        if self.bounds is not None:
            return (self._number(self.menu, *self.bounds),)
        if self.several is not None:
            return tuple(self._number((low, high, (low + high) / 2), low, high) for low, high in self.several)
        rows = self.plan.world.rows
        return rows[int(self.random.integers(len(rows)))]

    def _number(self, menu: Sequence[float], low: float, high: float) -> float:
        if self.random.random() < 0.2:
            return low + (high - low) * float(self.random.random())
        return menu[int(self.random.integers(len(menu)))]

    def size(self) -> int:
        """Rows of all others: none, few, about as many as were declared, or any number."""
        random, turn = self.random, self.random.random()
        numbers = self.bounds is not None or self.several is not None
        most = DECLARED if numbers and not self.plan.mechanism.reads_once else LONGEST
        if self.plan.statistic.most_rows is not None:
            most = WORK
        if turn < 0.1:
            return int(random.integers(0, 4))
        if turn < 0.6:
            return int(min((self.plan.rows or 100) * math.exp(random.normal(0, 0.15)), most))
        return int(logarithmic(random, 2, min(LONGEST, most)))

    def heaps(self) -> HeapPair:
        """A pair: one heap, two of which one outweighs the other by a little, three, few rows far from all others."""
        random, size, turn = self.random, self.size(), self.random.random()
        few = int(random.integers(0, max(min(size // 3, TIPPED), 1)))
        if turn < 0.12:
            parts = [(self.row(), size)]
        elif turn < 0.5:
            half = size // 2 + int(random.integers(-few, few + 1))
            parts = [(self.row(), half), (self.row(), size - half)]
        elif turn < 0.7:
            parts = [(self.row(), size - few), (self.row(), few)]
        elif turn < 0.82:
            first, second = sorted(int(cut) for cut in random.integers(0, size + 1, 2))
            parts = [(self.row(), first), (self.row(), second - first), (self.row(), size - second)]
        else:
            parts = [*self._filled(size - few), (self.row(), few)]
        heaps = tuple((row, many) for row, many in parts if many > 0)
        gone, come = self._person(heaps)
        return HeapPair(heaps, gone, come)

    def _filled(self, size: int) -> list[tuple[Row, int]]:
        """Rows evenly or by magnitudes over a part of the range."""
        if self.bounds is None:
            return [(self.row(), 1) for _ in range(min(size, TIPPED))]
        low, high = self.bounds
        start, width = self.row()[0], (high - low) * 2.0 ** -float(self.random.integers(0, 12))
        shape = np.linspace(0, 1, size) if self.random.random() < 0.5 else 2.0 ** -np.linspace(0, 12, size)
        return [((float(value),), 1) for value in np.clip(start + width * shape, low, high)]

    def _person(self, heaps: Sequence[tuple[Row, int]]) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The rows of one person in either table: of two heaps, or of their own; come and gone where rows may."""
        random, most = self.random, self.plan.contribution
        one, other = self._one_of(heaps), self._one_of(heaps)
        if len(heaps) > 1 and random.random() < 0.4:  # of one heap on one side, of another on the other
            places = random.permutation(len(heaps))
            one, other = (heaps[int(place)][0] for place in places[:2])
        if self.plan.statistic.neighbors is Neighbors.REPLACE_ONE:
            gone, come = most, most
        else:
            whole = (
                Trait.BLOCKS in self.plan.statistic.traits
            )  # rows of one do not come while those of another go
            gone = 0 if whole or random.random() < 0.6 else int(random.integers(0, most + 1))
            come = most - gone
        pair = (one,) * gone, (other,) * come
        return pair if random.random() < 0.5 else pair[::-1]

    def _one_of(self, heaps: Sequence[tuple[Row, int]]) -> Row:
        if heaps and self.random.random() < 0.5:
            return heaps[int(self.random.integers(len(heaps)))][0]
        return self.row()

    def changed(self, pair: HeapPair) -> HeapPair:
        """The same with one thing changed: how many rows a heap has, where it lies, or who the person is."""
        random, heaps, turn = self.random, list(pair.heaps), self.random.random()
        if turn > 0.9 or not heaps:
            return replace(pair, gone=(self._one_of(heaps),) * len(pair.gone))
        if turn > 0.8:
            return replace(pair, come=(self._one_of(heaps),) * len(pair.come))
        place, other = (int(one) for one in random.integers(len(heaps), size=2))
        step = STEPS[int(random.integers(len(STEPS)))]
        row, many = heaps[place]
        if turn > 0.65:
            heaps[place] = self.row(), many
        elif turn > 0.3 or place == other:
            more = many + step * int(random.choice([-1, 1]))
            heaps[place] = row, max(more, 0)
        else:  # rows go from one heap to another
            step = min(step, many)
            heaps[place], heaps[other] = (row, many - step), (heaps[other][0], heaps[other][1] + step)
        return replace(pair, heaps=tuple(heaps))


def _bounds_of_several(plan: DrawnPlan) -> list[tuple[float, float]] | None:
    """The bounds of each column, where a statistic has several numbers of a row."""
    low, high = (getattr(plan.statistic, name, None) for name in ("low", "high"))
    if not isinstance(low, tuple) or not isinstance(high, tuple) or len(low) != len(plan.world.columns):
        return None
    return list(zip(low, high, strict=True))
