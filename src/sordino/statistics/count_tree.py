"""A public hierarchy, and least squares over noisy counts of its nodes, in one pass up and one pass down.

Nodes may have any number of children. Per level an array, the children of a node side by side; further axes in front
are simulations. Public arithmetic: no data. Proofs: docs/proofs/mechanism_levels.md.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Wholes = NDArray[np.int64]

STEPS = 300
"""Steps towards the counts without a negative one; small trees are at their solution to 12 digits by then."""


@dataclass(frozen=True)
class CountTree:
    """How many children every node has, level by level.

    Attributes:
        tops: Nodes of the first level.
        children: For each level but the last, the number of children of every node; each has at least one.

    Example:
        >>> tree = CountTree(1, ((2,), (1, 3)))
        >>> tree.sizes
        (1, 2, 4)
        >>> [one.round(3).tolist() for one in tree.variances((1.0, 1.0, 1.0))]
        [[0.556], [0.389, 0.5], [0.389, 0.722, 0.722, 0.722]]
    """

    tops: int
    children: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Nodes per level."""
        return (self.tops, *map(sum, self.children))

    @cached_property
    def _starts(self) -> list[Wholes]:
        return [np.concatenate([[0], np.cumsum(many)[:-1]]).astype(np.int64) for many in self.children]

    @cached_property
    def _parents(self) -> list[Wholes]:
        return [np.repeat(np.arange(len(many)), many) for many in self.children]

    def sums(self, level: int, below: Floats) -> Floats:
        """The sums of what the children of every node of a level have."""
        return np.asarray(np.add.reduceat(below, self._starts[level], axis=-1))

    def totals(self, leaves: NDArray[np.int64] | Floats) -> list[NDArray[np.int64] | Floats]:
        """The counts of all levels from those of the leaves.

        Example:
            >>> [one.tolist() for one in CountTree(1, ((2,), (1, 3))).totals(np.array([5, 1, 2, 3]))]
            [[11], [5, 6], [5, 1, 2, 3]]
        """
        found: list[Any] = [leaves]
        for level in reversed(range(len(self.children))):
            found.insert(0, self.sums(level, found[0]))
        return found

    # Least squares -------------------------------------------------------------------------------------

    def _upwards(self, noise: Sequence[float]) -> list[Floats]:
        """For every node the variance of what it and all below it say of its count."""
        found = [np.full(self.sizes[-1], float(noise[-1]))]
        for level in reversed(range(len(self.children))):
            own, below = noise[level], self.sums(level, found[0])
            found.insert(0, 1 / (1 / own + 1 / below))  # a level that is not drawn has infinite variance
        return found

    def variances(self, noise: Sequence[float]) -> list[Floats]:
        """The variance of every count after least squares, from that of the noise on each level.

        ``Var x = v - v^2/V + (v/V)^2 Var(parent)``, with v from below and V the sum of v over a node and its siblings.
        """
        up = self._upwards(noise)
        found = [up[0]]
        for level, parents in enumerate(self._parents):
            own = up[level + 1]
            part = own / self.sums(level, own)[parents]
            found.append(own * (1 - part) + part**2 * found[-1][parents])
        return found

    def estimates(self, noisy: Sequence[Floats | None], noise: Sequence[float]) -> list[Floats]:
        """The least-squares counts of all nodes; None for a level that was not drawn. They add up."""
        up = self._upwards(noise)
        assert noisy[-1] is not None
        found = [noisy[-1]]
        for level in reversed(range(len(self.children))):
            own, below = noisy[level], self.sums(level, found[0])
            if own is not None:
                trust = up[level] / noise[level]  # the part of its own noisy count
                below = below + trust * (own - below)
            found.insert(0, below)
        for level, parents in enumerate(self._parents):
            v = up[level + 1]
            part = v / self.sums(level, v)[parents]
            missing = found[level] - self.sums(level, found[level + 1])
            found[level + 1] = found[level + 1] + part * missing[..., parents]
        return found

    def nonnegative(self, noisy: Sequence[Floats | None], noise: Sequence[float]) -> Floats:
        """The leaves without negative counts that fit the noisy counts best, by least squares.

        The alternating direction method of multipliers: its quadratic step is least squares over the same tree, in
        which every leaf is seen once more.

        Example:
            >>> noisy = [np.array([1.0]), np.array([2.0, -1.0])]
            >>> CountTree(1, ((2,),)).nonnegative(noisy, (1.0, 1.0)).round(4).tolist()
            [1.5, 0.0]
        """
        unbiased = self.estimates(noisy, noise)[-1]
        if unbiased.min() >= 0:
            return unbiased
        seen, own = noisy[-1], 1 / noise[-1]
        assert seen is not None
        both = [*noise[:-1], 1 / (2 * own)]
        z, dual = np.maximum(unbiased, 0.0), np.zeros(self.sizes[-1])
        for _ in range(STEPS):
            x = self.estimates([*noisy[:-1], (seen + z - dual) / 2], both)[-1]
            z = np.maximum(x + dual, 0.0)
            dual = dual + x - z
        return z

    # Whole numbers, and nodes that are alike -----------------------------------------------------------

    def whole(self, counts: Sequence[Floats]) -> Wholes:
        """Whole leaves near these counts, by largest remainders inside each parent, from the top.

        Where no count is negative, none becomes so.

        Example:
            >>> CountTree(1, ((3,),)).whole([np.array([4.4]), np.array([1.4, 1.5, 1.5])]).tolist()
            [1, 2, 1]
        """
        found = np.rint(counts[0]).astype(np.int64)
        for level, starts in enumerate(self._starts):
            below = counts[level + 1]
            aims = np.empty(self.sizes[level + 1], np.int64)
            many = self.children[level]
            for node, (start, size) in enumerate(zip(starts.tolist(), many, strict=True)):
                aims[start : start + size] = _apportioned(below[start : start + size], int(found[node]))
            found = aims
        return found

    @cached_property
    def alike(self) -> list[Wholes]:
        """For every level the class of each node: nodes of one class have the same place among the same shapes."""
        shapes: list[list[int]] = [[0] * self.sizes[-1]]
        for many in reversed(self.children):
            below, known = iter(shapes[0]), dict[tuple[int, ...], int]()
            own = [tuple(sorted(itertools.islice(below, size))) for size in many]
            shapes.insert(0, [known.setdefault(shape, len(known)) for shape in own])
        # What is drawn below one top node says nothing of another.
        found = [np.array(shapes[0], np.int64)]
        for level, parents in enumerate(self._parents):
            pairs = np.stack([found[-1][parents], np.array(shapes[level + 1], np.int64)])
            found.append(np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1))
        return found


def _apportioned(parts: Floats, total: int) -> Wholes:
    """Whole numbers of a given sum near real ones: their floors, and one more where most was cut off."""
    gap = total - float(parts.sum())
    positive = bool((parts >= 0).all()) and total >= 0 and float(parts.sum()) > 0
    aims = parts * (total / float(parts.sum())) if positive else parts + gap / len(parts)
    floors = np.floor(aims).astype(np.int64)
    more = total - int(floors.sum())
    order = np.argsort(floors - aims, kind="stable")  # the largest remainders first, the earlier of two alike
    each, rest = divmod(more, len(parts))  # rounding of doubles aside, less than one each
    floors += each
    floors[order[:rest]] += 1
    return floors
