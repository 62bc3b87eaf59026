"""All datasets of a tiny world, their distances, and the brute-force envelopes of a statistic on it."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.memory import Memory
from sordino.privacy import Neighbors
from sordino.statistics import Numeric
from sordino.testing.tables import fewest_vertices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.reading.profile import Reading
    from sordino.statistics import Case, Statistic


class World:
    """All datasets of a case, their distances, and the brute-force envelopes of the statistic."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.statistic = case.statistic
        self.relation = case.statistic.neighbors
        self.datasets = list(self._datasets())
        self.values = [self.statistic.define(self.encoded(data)) for data in self.datasets]
        self.largest = max(len(data) for data in self.datasets)

    def _datasets(self) -> Iterator[Any]:
        rows = self.case.rows
        if self.case.places:
            yield from itertools.product(*self.case.places)
        elif self.relation.of_graphs:
            for size in range(len(rows) + 1):
                yield from itertools.combinations(rows, size)
        elif self.relation is Neighbors.ADD_REMOVE_ONE:
            for size in range(max(self.case.sizes) + 1):
                yield from itertools.combinations_with_replacement(rows, size)
        else:
            for size in self.case.sizes:
                yield from itertools.combinations_with_replacement(rows, size)

    def encoded(self, data: Any) -> list[Any]:
        """Rows as the statistic defines itself on: codes for one numeric column, else tuples."""
        if isinstance(self.statistic, Numeric):
            codes: list[Any] = self.statistic.grid.codes(np.array([row[0] for row in data], float)).tolist()
            return codes
        return [row[0] for row in data] if len(self.case.columns) == 1 else list(data)

    def distance(self, one: Any, other: Any) -> int | None:
        """Number of steps between two datasets, or None when no path exists."""
        if self.case.places:
            return sum(a != b for a, b in zip(one, other, strict=True))
        if self.relation is Neighbors.NODE:
            return fewest_vertices(set(one) ^ set(other))
        left, right = Counter(one), Counter(other)
        gone, come = (left - right).total(), (right - left).total()
        if self.relation is Neighbors.REPLACE_ONE:
            return gone if gone == come else None
        return gone + come

    @cache  # noqa: B019
    def near(self, index: int) -> list[tuple[int, int]]:
        """All (dataset, distance) that have a path to this one."""
        here = self.datasets[index]
        pairs = ((j, self.distance(here, data)) for j, data in enumerate(self.datasets))
        return [(j, l) for j, l in pairs if l is not None]

    def gap(self, one: int, other: int) -> Any:
        """How far two values lie apart, in the statistic's norm."""
        a, b = self.values[one], self.values[other]
        if not self.statistic.vector:
            return abs(a - b)
        parts = [abs(x - y) for x, y in zip(a, b, strict=True)]
        if self.statistic.norm == 1:
            return sum(parts)
        return max(parts) if math.isinf(self.statistic.norm) else math.hypot(*map(float, parts))

    def envelope(self, index: int, l: int) -> tuple[Any, Any]:
        """Smallest and largest value within distance l."""
        values = [self.values[j] for j, d in self.near(index) if d <= l]
        return min(values), max(values)

    @cache  # noqa: B019
    def local(self, index: int) -> Any:
        """Local sensitivity of one dataset."""
        return max((self.gap(index, j) for j, d in self.near(index) if d == 1), default=0)

    def local_at(self, index: int, k: int) -> Any:
        """Largest local sensitivity within distance k."""
        return max(self.local(j) for j, d in self.near(index) if d <= k)

    def whole(self, index: int, l: int) -> bool:
        """Whether the world holds every dataset within distance l."""
        return self.relation is not Neighbors.ADD_REMOVE_ONE or len(self.datasets[index]) + l <= self.largest

    def read(self, index: int, depth: int) -> Reading:
        """Read one dataset through the memory source."""
        data = self.datasets[index]
        table = {name: [row[i] for row in data] for i, name in enumerate(self.case.columns)}
        source = Memory(table)
        if drops(
            self.statistic
        ):  # the form in which a session reads it: removals and additions, two per replacement
            form: Any = dataclasses.replace(self.statistic, neighbors=Neighbors.ADD_REMOVE_ONE)  # type: ignore[type-var]
            read: Reading = form.read(*source.summary(form.request(depth=depth))).by(2)
            return read
        return self.statistic.read(*source.summary(self.statistic.request(depth=depth)))


def drops(statistic: Statistic) -> bool:
    """Whether rows are dropped under replace-one."""
    return statistic.neighbors is Neighbors.REPLACE_ONE and getattr(statistic, "missing", None) == "drop"
