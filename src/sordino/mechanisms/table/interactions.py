"""Interaction parts of a table: what every margin is made of, what one person moves of each, and the best noise.

The part of a set T of axes is the margin over T with its mean along every axis of T taken out. Margins are sums of
parts, parts are orthogonal, and noise on parts makes margins that add up. All of it is public arithmetic: no data.
Proofs: docs/proofs/mechanism_margins.md.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Axes = tuple[int, ...]
"""A set of axes, ascending; the empty one is the total."""

UPDATES = 400
"""Steps of the multiplicative updates that weigh kinds of replacement; the best noise is settled long before."""


def subsets(axes: Iterable[int]) -> list[Axes]:
    """All subsets, the smaller first.

    Example:
        >>> subsets((0, 1))
        [(), (0,), (1,), (0, 1)]
    """
    given = tuple(axes)
    return [part for size in range(len(given) + 1) for part in itertools.combinations(given, size)]


@dataclass(frozen=True)
class Design:
    """A table and the margins that are asked of it.

    Attributes:
        sizes: Levels per axis.
        margins: The sets of axes asked for, each with the weight of its mean squared error.

    Example:
        >>> design = Design((3, 2), (((), 1.0), ((0,), 1.0)))
        >>> design.parts, design.norm((0,))
        (((), (0,)), Fraction(2, 3))
    """

    sizes: tuple[int, ...]
    margins: tuple[tuple[Axes, float], ...]

    @cached_property
    def parts(self) -> tuple[Axes, ...]:
        """Every part of an asked margin; an axis of one level has none of its own."""
        found = {part for margin, _ in self.margins for part in subsets(margin)}
        kept = [part for part in found if all(self.sizes[axis] > 1 for axis in part)]
        return tuple(sorted(kept, key=lambda part: (len(part), part)))

    def norm(self, part: Axes) -> Fraction:
        """The squared length by which one added row moves a part: ``prod (1 - 1/n)``."""
        return math.prod(
            (Fraction(self.sizes[axis] - 1, self.sizes[axis]) for axis in part), start=Fraction(1)
        )

    def moved(self, part: Axes, differ: Axes) -> Fraction:
        """The squared length by which a row that is replaced in some axes moves a part.

        Example:
            >>> Design((2, 3), (((0, 1), 1.0),)).moved((0,), (0,)), Design((2, 3), (((0, 1), 1.0),)).moved((0,), (1,))
            (Fraction(2, 1), Fraction(0, 1))
        """
        overlap = math.prod(
            (
                Fraction(-1, self.sizes[axis])
                if axis in differ
                else Fraction(self.sizes[axis] - 1, self.sizes[axis])
                for axis in part
            ),
            start=Fraction(1),
        )
        return 2 * (self.norm(part) - overlap)

    def cost(self, part: Axes) -> float:
        """What a unit of a part's variance adds to the weighted mean squared error."""
        total = 0.0
        for margin, weight in self.margins:
            if set(part) <= set(margin):
                total += weight * self._share(margin, part)
        return total

    def _share(self, margin: Axes, part: Axes) -> float:
        """What a unit of a part's variance adds to each cell of a margin."""
        rest = math.prod(self.sizes[axis] ** -2.0 for axis in margin if axis not in part)
        return float(self.norm(part)) * rest

    def variance(self, margin: Axes, variances: Mapping[Axes, float]) -> float:
        """The variance of every cell of a margin, given that of the noise on parts."""
        return sum(
            self._share(margin, part) * one for part, one in variances.items() if set(part) <= set(margin)
        )

    @property
    def cells(self) -> int:
        """Cells of the whole table."""
        return math.prod(self.sizes)

    def replacements(self) -> list[Axes]:
        """In which axes a replaced row can differ."""
        return [axes for axes in subsets(k for k, size in enumerate(self.sizes) if size > 1) if axes]

    # The best Gaussian noise ---------------------------------------------------------------------------

    def added(self, rho: Fraction) -> dict[Axes, Fraction]:
        """Variances of the parts with the least weighted error where rows come and go; they cost rho at most."""
        parts = {part: float(self.norm(part)) for part in self.parts}
        wanted = {part: math.sqrt(norm / self.cost(part)) for part, norm in parts.items()}
        return self._scaled(
            wanted, lambda noise: sum((self.norm(p) / noise[p] for p in noise), Fraction(0)), rho
        )

    def replaced(self, rho: Fraction, *, closed: bool) -> dict[Axes, Fraction]:
        """The same where a row is replaced; a row may also leave the table, unless it is closed.

        The worst kinds of replacement are weighed against each other: the concave dual problem is solved by
        multiplicative updates, and whatever they find is scaled to the price exactly.
        """
        kinds: list[Axes | None] = [*self.replacements(), *(() if closed else (None,))]
        parts = [part for part in self.parts if part or not closed]
        if not parts:
            return {}
        moved = np.array([[float(self._moved(part, kind)) for part in parts] for kind in kinds])
        costs = np.array([self.cost(part) for part in parts])
        weights = np.full(len(kinds), 1 / len(kinds))
        for _ in range(UPDATES):
            at = np.maximum(weights @ moved, 1e-300)
            gradient = moved @ np.sqrt(costs / at)
            weights = weights * gradient
            weights /= weights.sum()
        at = np.maximum(weights @ moved, 1e-300)
        wanted = {part: float(math.sqrt(a / c)) for part, a, c in zip(parts, at, costs, strict=True)}

        def loss(noise: Mapping[Axes, Fraction]) -> Fraction:
            return max(sum((self._moved(p, kind) / noise[p] for p in noise), Fraction(0)) for kind in kinds)

        return self._scaled(wanted, loss, rho)

    def _moved(self, part: Axes, kind: Axes | None) -> Fraction:
        return self.norm(part) if kind is None else self.moved(part, kind)

    def _scaled(self, wanted: Mapping[Axes, float], loss: object, rho: Fraction) -> dict[Axes, Fraction]:
        """Variances in these proportions that cost rho, rounded up; the exact loss is ``loss / 2``."""
        assert callable(loss)
        shape = {part: Fraction(f"{max(one, 1e-12):.12g}") for part, one in wanted.items()}
        factor = loss(shape) / (2 * rho)
        return {part: one * factor for part, one in shape.items()}


def centred(table: Floats, axes: Axes | None = None) -> Floats:
    """Take out the mean along axes of an array, all of them by default."""
    for axis in range(table.ndim) if axes is None else axes:
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def spread(part: Floats, axes: Axes, sizes: Sequence[int]) -> Floats:
    """A part over all cells of a table, evenly along the axes that it does not have."""
    shape = [size if axis in axes else 1 for axis, size in enumerate(sizes)]
    rest = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
    return part.reshape(shape) / rest


def whole_table(parts: Mapping[Axes, Floats], sizes: Sequence[int]) -> Floats:
    """The table whose parts these are; parts that are not given are nothing."""
    table = np.zeros(tuple(sizes))
    for axes, part in parts.items():
        table = table + spread(part, axes, sizes)
    return table


def part_of(table: NDArray[np.float64], axes: Axes) -> Floats:
    """One part of a table."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return centred(table.sum(axis=others) if others else table)
