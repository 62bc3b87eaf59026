"""A finite set with a distance of any kind: given as a function, Hamming's, the logarithmic, the discrete one.

The promise of `sordino.privacy.Geo` speaks of this distance. It is kept in whole steps, rounded down, and every detour
that is shorter is taken: what is promised for a smaller distance is promised for the larger one too, so nothing need be
believed about the function, not even the triangle inequality. Proof: docs/proofs/geo_functions.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LARGEST = 2048
"""Points of a set: all pairs and their detours are looked at."""

_FINE = 40  # a distance has at most so many binary digits of steps


@dataclass(frozen=True, eq=False)
class FiniteMetric:
    """Some points, and how far each is from each; made by `of`, `hamming`, `logarithmic` or `discrete`. Public.

    Attributes:
        points: The points, each once.
        steps: Distances of all pairs in whole steps, with every shorter detour taken.
        step: The length of a step, a power of two.

    Example:
        >>> words = FiniteMetric.hamming(["00", "01", "11"])
        >>> float(words.distance("00", "11")), words.edges.tolist()
        (2.0, [[0, 1], [1, 2]])
    """

    points: tuple[Hashable, ...]
    steps: Floats = field(repr=False)
    step: float

    @classmethod
    def of(cls, points: Iterable[Hashable], distance: Callable[[Any, Any], float]) -> FiniteMetric:
        """Take a distance as a function of two points.

        Args:
            points: The set, each point once.
            distance: Gives a positive number for two different points. Of the two directions the smaller one counts.

        Example:
            >>> hours = FiniteMetric.of(range(24), lambda a, b: min((a - b) % 24, (b - a) % 24))
            >>> float(hours.distance(23, 2))
            3.0
        """
        listed = _listed(points)
        far = np.zeros((len(listed), len(listed)))
        for i, one in enumerate(listed):
            for j, other in enumerate(listed):
                far[i, j] = 0.0 if i == j else float(distance(one, other))
        return cls._made(listed, far)

    @classmethod
    def hamming(cls, words: Iterable[Sequence[Hashable]]) -> FiniteMetric:
        """Count the places in which two words of one length differ: with it the promise is differential privacy."""
        listed = _listed(words)
        if len({len(word) for word in listed}) != 1:
            raise ParameterError("metric", "words must have one length", hint='["00", "01", "11"]')
        return cls.of(listed, lambda one, other: sum(a != b for a, b in zip(one, other, strict=True)))

    @classmethod
    def logarithmic(cls, numbers: Iterable[float], *, base: float = 2) -> FiniteMetric:
        """Measure ratios: a number `base` times as large is a distance of one away (Liang and Yi 2024, footnote 3).

        Example:
            >>> incomes = FiniteMetric.logarithmic([10_000, 20_000, 80_000])
            >>> round(float(incomes.distance(10_000, 80_000)), 6)
            3.0
        """
        listed = _listed(numbers)
        for number in listed:
            checks.positive("metric", number=number)
        unit = np.log(float(checks.greater_than("metric", 1, base=base)))
        logs = np.log(np.array(listed, dtype=np.float64)) / unit
        # A logarithm's last digits may be wrong: distances are made smaller by more than that.
        far = np.abs(logs[:, None] - logs[None, :]) - 2.0**-48 * (1.0 + np.abs(logs).max())
        np.fill_diagonal(far, 0.0)
        return cls._made(listed, far)

    @classmethod
    def discrete(cls, points: Iterable[Hashable]) -> FiniteMetric:
        """Every two points are one apart: with it the promise is local differential privacy."""
        listed = _listed(points)
        return cls._made(listed, np.ones((len(listed), len(listed))) - np.eye(len(listed)))

    @classmethod
    def _made(cls, points: tuple[Hashable, ...], far: Floats) -> FiniteMetric:
        from scipy.sparse.csgraph import floyd_warshall

        apart = ~np.eye(len(points), dtype=bool)
        if not np.isfinite(far).all() or (far[apart] <= 0).any():
            raise ParameterError(
                "metric", "different points must be a positive, finite distance apart",
                why="Points at no distance would have to report alike.", hint="name such points once",
            )  # fmt: skip
        far = np.minimum(far, far.T)
        exponent = int(np.ceil(np.log2(far.max()))) - _FINE
        # Whole numbers are kept whole.
        while exponent < 0 and (np.rint(far) == far).all():
            exponent = 0
        steps = np.floor(far * 2.0**-exponent)
        if (steps[apart] < 1).any():
            raise ParameterError(
                "metric", "the largest distance is too many times the smallest",
                got={"times": float(far.max() / far[apart].min())}, why="They are kept in 2^40 steps.",
            )  # fmt: skip
        shortest = floyd_warshall(steps, directed=False)  # sums of whole numbers below 2^53: exact
        return cls(points, shortest, 2.0**exponent)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {point: place for place, point in enumerate(self.points)}

    @cached_property
    def edges(self) -> NDArray[np.intp]:
        """Pairs with no third point between them: every distance is a sum of such, so promises about them suffice."""
        direct = np.triu(np.ones((len(self), len(self)), dtype=bool), 1)
        for middle in range(len(self)):
            there = self.steps[:, middle]
            between = there[:, None] + there[None, :] == self.steps
            between[middle, :] = between[:, middle] = False
            direct &= ~between
        return np.argwhere(direct)

    @property
    def least(self) -> float:
        """The smallest distance of two points."""
        return float(self.steps[~np.eye(len(self), dtype=bool)].min()) * self.step

    @cached_property
    def distances(self) -> Floats:
        """Of all pairs; never above the distance that was given."""
        return self.steps * self.step

    def distance(self, one: Hashable, other: Hashable) -> float:
        """Of two points."""
        first, second = self.index([one, other])
        return float(self.distances[first, second])

    def index(self, points: Iterable[Hashable]) -> NDArray[np.intp]:
        """The places of points in the set: private if the points are."""
        try:
            return np.array([self._places[_plain(point)] for point in points], dtype=np.intp)
        except (KeyError, TypeError):
            raise DataError(
                "metric", "every point must be one of the set",
                why="Nothing is promised about others, so a device that holds one sends nothing.",
                hint="round it to a point of the set first",
            ) from None  # fmt: skip

    @property
    def digest(self) -> str:
        """A fingerprint of points and distances."""
        seal = hashlib.sha256(repr((self.points, self.step)).encode())
        seal.update(self.steps.tobytes())
        return seal.hexdigest()


def _plain(point: Any) -> Hashable:
    """A point as it is kept: numpy's numbers as Python's, lists as tuples."""
    if isinstance(point, np.generic):
        return point.item()
    return tuple(point) if isinstance(point, (list, np.ndarray)) else point


def _listed(points: Iterable[Any]) -> tuple[Any, ...]:
    listed = tuple(_plain(point) for point in points)
    if len(set(listed)) != len(listed) or not 2 <= len(listed) <= LARGEST:
        raise ParameterError(
            "metric", f"a set has 2 to {LARGEST} points, each once", got={"points": len(listed)},
            hint='FiniteMetric.hamming(["00", "01", "10", "11"])',
        )  # fmt: skip
    return listed
