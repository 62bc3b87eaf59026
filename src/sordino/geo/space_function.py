"""A user's own function of a point, with one or several outputs, and the one on a finite set.

The pointwise Lipschitz constant is taken over neighbours, and the smooth bound is the maximum over all points of that
constant times e^(-smoothing times the distance). Outputs are measured in the sum norm. Functions on boxes are in
`function_on_box.py`. Proof: docs/proofs/geo_functions.md.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import DataError, ParameterError
from sordino.geo.curve import EXP_ERROR, Slack, exponential

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sordino.geo.lattice import PointLattice
    from sordino.geo.metric import FiniteMetric

    Floats = NDArray[np.float64]

FLOOR = 2.0**-12
"""The bound never falls below this share of the largest one: a maximum of smooth bounds is smooth."""

ROUND_UP = 1 + 2.0**-44
"""Pays for the roundings of a Lipschitz constant."""


@dataclass(frozen=True, eq=False)
class SpaceFunction(ABC):
    """A function of a point whose smooth bound is a maximum over finitely many places; public."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many numbers it gives."""

    @property
    @abstractmethod
    def extremes(self) -> tuple[Floats, Floats]:
        """Smallest and largest value of each output."""

    @property
    @abstractmethod
    def lipschitz(self) -> float:
        """The largest pointwise Lipschitz constant, rounded up."""

    @abstractmethod
    def points(self, points: Any) -> Any:
        """Take points as an array, one row each, or raise (the shape is public)."""

    @abstractmethod
    def lattice(self, rate: Fraction) -> PointLattice | None:
        """The public lattice to which points are moved first; None where they are few anyway."""

    @abstractmethod
    def value_and_bound(self, at: Any, smoothing: float) -> tuple[Floats, Floats]:
        """Values of shape (n, outputs), and the smooth bound at each point: private if the points are."""

    @abstractmethod
    def slack(self, smoothing: float) -> Slack:
        """How far floats may stray, as lengths: see `sordino.geo.curve.Slack`."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """What names the function on the wire."""

    def value(self, points: Any) -> Floats:
        """The values, without noise: private if the points are."""
        found = self.value_and_bound(self.points(points), 1.0)[0]
        return found[:, 0] if self.outputs == 1 else found

    def bound(self, points: Any, smoothing: float) -> Floats:
        """The smooth bound on the pointwise Lipschitz constant: private if the points are."""
        return self.value_and_bound(
            self.points(points), float(checks.positive(self.name, smoothing=smoothing))
        )[1]

    @property
    def id(self) -> str:
        """Sixteen hexadecimal digits that name the function."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False, repr=False)
class FunctionOnSet(SpaceFunction):
    """Any function on a finite set with a distance of its own.

    Args:
        metric: The set and its distance.
        heights: The value at each point of the set: a number, or a row of numbers.

    Example:
        >>> from sordino.geo import FiniteMetric
        >>> votes = FiniteMetric.hamming(["00", "01", "10", "11"])
        >>> ones = FunctionOnSet.of(lambda word: word.count("1"), votes)
        >>> ones.value(["01", "11"]).tolist(), round(ones.lipschitz, 9)
        ([1.0, 2.0], 1.0)
    """

    name = "function-on-set"
    metric: FiniteMetric
    heights: Floats = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "heights", finite_heights(self.name, self.heights, len(self.metric)))

    @classmethod
    def of(
        cls, function: Callable[[Any], Any] | Mapping[Hashable, Any], metric: FiniteMetric
    ) -> FunctionOnSet:
        """Take the values of a function, or of a mapping, at all points."""
        ask = function.__getitem__ if isinstance(function, Mapping) else function
        return cls(metric, np.array([ask(point) for point in metric.points], dtype=np.float64))

    def __repr__(self) -> str:
        return f"FunctionOnSet({len(self.metric)} points, outputs={self.outputs})"

    @property
    def outputs(self) -> int:
        """Numbers per point."""
        return int(self.heights.shape[1])

    @property
    def extremes(self) -> tuple[Floats, Floats]:
        """Over all points."""
        return self.heights.min(axis=0), self.heights.max(axis=0)

    @cached_property
    def slopes(self) -> Floats:
        """The steepest way from each point to a neighbour with no third point between them."""
        found = np.zeros(len(self.metric))
        first, second = self.metric.edges.T
        moved = np.abs(self.heights[first] - self.heights[second]).sum(axis=1)
        steep = moved / self.metric.distances[first, second] * ROUND_UP
        np.maximum.at(found, first, steep)
        np.maximum.at(found, second, steep)
        return found

    @property
    def lipschitz(self) -> float:
        """The steepest of all."""
        return float(self.slopes.max())

    def points(self, points: Any) -> NDArray[np.intp]:
        """Places in the set."""
        if isinstance(points, str) or not hasattr(points, "__iter__"):
            raise DataError(self.name, "points must be a list of points of the set")
        return self.metric.index(points)

    def lattice(self, rate: Fraction) -> None:
        """None: the points are few."""
        del rate

    def value_and_bound(self, at: NDArray[np.intp], smoothing: float) -> tuple[Floats, Floats]:
        """Looked up."""
        bounds = (self.slopes[None, :] * exponential(-smoothing * self.metric.distances)).max(axis=1)
        return self.heights[at], np.maximum(bounds, FLOOR * self.lipschitz)[at]

    def slack(self, smoothing: float) -> Slack:
        """Values are exact; a bound has the error of one exponential and its argument."""
        far = float(self.metric.distances.max())
        return Slack(0.0, 2.0**-50 * far + 2 * EXP_ERROR / smoothing)

    def to_dict(self) -> dict[str, Any]:
        """Digest of the set and of the values."""
        return {
            "kind": self.name,
            "metric": self.metric.digest,
            "values": hashlib.sha256(self.heights.tobytes()).hexdigest(),
        }


def finite_heights(subject: str, heights: Any, count: int) -> Floats:
    """Rows of finite numbers, not all alike, that nobody can change."""
    found = np.array(heights, dtype=np.float64)
    found = found[:, None] if found.ndim == 1 else found
    if found.ndim != 2 or found.shape[0] != count or not found.size or not np.isfinite(found).all():
        raise ParameterError(
            subject, "the function must give the same number of finite numbers everywhere",
            got={"shape": found.shape}, why="What is released passes through these values.",
        )  # fmt: skip
    if (np.ptp(found, axis=0) == 0).all():
        raise ParameterError(subject, "the function must not be constant", why="A constant needs no report.")
    found.setflags(write=False)
    return found
