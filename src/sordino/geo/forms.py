"""Queries by any function: of a number, of the distance to a centre, or of a linear form; and the logistic one.

The function is released as its certified interpolant (`interpolant.py`), so nothing need be known about it.
Liang and Yi 2024, Lemmas 4.5 and 4.8, reduce the last two to the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.geo.interpolant import KNOTS, Interpolant
from sordino.geo.query import Query
from sordino.geo.region import _floats, distance
from sordino.geo.sigmoid import Sigmoid

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.geo.query import Floats


@dataclass(frozen=True, slots=True, repr=False)
class FunctionOnLine(Query):
    """Any function of a number, on an interval; constant beyond it.

    Args:
        low: Lower end of the interval.
        high: Upper end.
        heights: Values of the function at even knots from low to high; `FunctionOnLine.of` samples them.

    Example:
        >>> query = FunctionOnLine.of(np.tanh, low=-4.0, high=4.0)
        >>> float(query.value([1.0])[0].round(5)), round(query.lipschitz, 3)
        (0.76159, 1.0)
    """

    name = "function-on-line"
    low: float
    high: float
    heights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "heights", _floats(self.name, "heights", self.heights, least=2))
        curve = self.curve
        object.__setattr__(self, "low", curve.low)
        object.__setattr__(self, "high", curve.high)

    @classmethod
    def of(
        cls, function: Callable[[Any], Any], *, low: float, high: float, knots: int = KNOTS
    ) -> FunctionOnLine:
        """Sample a function at even knots."""
        curve = Interpolant.of(function, low, high, knots=knots)
        return cls(low, high, tuple(curve.heights.tolist()))

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    @property
    def curve(self) -> Interpolant:
        """The certified interpolant."""
        return _interpolant(self.low, self.high, self.heights)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The middle of the interval."""
        return (0.5 * (self.low + self.high),)

    def coordinate(self, points: Floats) -> Floats:
        """The number itself."""
        return points

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """None: the lattice point is exact."""
        return 0.0


@dataclass(frozen=True, slots=True, repr=False)
class FunctionOfDistance(Query):
    """Any function of the distance to a centre, up to a radius; constant beyond it.

    Args:
        centre: From where distances are counted.
        radius: Up to where the function is given; beyond it has its last value.
        heights: Its values at even distances from 0 to the radius, joined by straight lines.

    Example:
        >>> query = FunctionOfDistance.of(lambda r: 1 / (1 + r), centre=(0.0, 0.0), radius=10.0)
        >>> query.value([[3.0, 4.0]]).round(4)
        array([0.1667])
    """

    name = "function-of-distance"
    centre: tuple[float, ...]
    radius: float
    heights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", _floats(self.name, "centre", self.centre))
        object.__setattr__(self, "radius", float(checks.positive(self.name, radius=self.radius)))
        object.__setattr__(self, "heights", _floats(self.name, "heights", self.heights, least=2))
        assert self.curve is not None

    @classmethod
    def of(
        cls, function: Callable[[Any], Any], *, centre: Any, radius: float, knots: int = KNOTS
    ) -> FunctionOfDistance:
        """Sample a function at even knots from zero to the radius."""
        curve = Interpolant.of(function, 0.0, radius, knots=knots)
        return cls(centre, radius, tuple(curve.heights.tolist()))

    @property
    def dimension(self) -> int:
        """As many as the centre has."""
        return len(self.centre)

    @property
    def curve(self) -> Interpolant:
        """The certified interpolant."""
        return _interpolant(0.0, self.radius, self.heights)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The centre."""
        return self.centre

    def coordinate(self, points: Floats) -> Floats:
        """The distance."""
        return distance(points, self.centre)

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """Differences, squares and a root, relative to the distance."""
        return 2.0**-50 * far


@dataclass(frozen=True, slots=True, repr=False)
class FunctionOfLinearForm(Query):
    """Any function of a linear form <weights, x>, on an interval of its values; constant beyond it.

    Args:
        weights: The coefficients, not all zero.
        low: Smallest value of the form that is told apart.
        high: Largest value.
        heights: Values of the function at even knots.

    Example:
        >>> query = FunctionOfLinearForm.of(np.tanh, weights=(3.0, 4.0), low=-5.0, high=5.0)
        >>> float(query.value([[0.1, 0.1]])[0].round(4)), round(query.lipschitz, 2)
        (0.6044, 5.0)
    """

    name = "function-of-linear-form"
    weights: tuple[float, ...]
    low: float
    high: float
    heights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _weights(self.name, self.weights))
        object.__setattr__(self, "low", float(checks.exact(self.name, low=self.low)))
        object.__setattr__(self, "high", float(checks.exact(self.name, high=self.high)))
        object.__setattr__(self, "heights", _floats(self.name, "heights", self.heights, least=2))
        assert self.curve is not None

    @classmethod
    def of(
        cls, function: Callable[[Any], Any], *, weights: Any, low: float, high: float, knots: int = KNOTS
    ) -> FunctionOfLinearForm:
        """Sample a function of the form at even knots."""
        curve = Interpolant.of(function, low, high, knots=knots)
        return cls(weights, low, high, tuple(curve.heights.tolist()))

    @property
    def dimension(self) -> int:
        """One weight per coordinate."""
        return len(self.weights)

    @property
    def curve(self) -> Interpolant:
        """The certified interpolant, over the form divided by the length of its weights (Lemma 4.8)."""
        length = _length(self.weights)
        return _interpolant(self.low / length, self.high / length, self.heights)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The point nearest to the origin where the form has its middle value."""
        return _foot(self.weights, 0.5 * (self.low + self.high))

    def coordinate(self, points: Floats) -> Floats:
        """The form divided by the length of its weights, measured from the anchor."""
        middle = 0.5 * (self.low + self.high) / _length(self.weights)
        return _along(points, self.weights, self.anchor) + middle

    def coordinate_error(self, far: float, limit: float) -> float:
        """A scalar product of points within the limit; the direction is a unit vector up to rounding."""
        return 2.0**-50 * self.dimension * (limit + far)


@dataclass(frozen=True, slots=True, repr=False)
class Logistic(Query):
    """The logistic function of <weights, x> + intercept: a published classifier asked about private points.

    Args:
        weights: The published weights, one per coordinate.
        intercept: The published intercept.

    Example:
        >>> Logistic(weights=(1.0, -2.0), intercept=0.5).value([[1.5, 1.0]])
        array([0.5])
    """

    name = "logistic"
    weights: tuple[float, ...]
    intercept: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _weights(self.name, self.weights))
        object.__setattr__(self, "intercept", float(checks.exact(self.name, intercept=self.intercept)))

    @property
    def dimension(self) -> int:
        """One weight per coordinate."""
        return len(self.weights)

    @property
    def curve(self) -> Sigmoid:
        """A sigmoid whose steepness is the length of the weights."""
        return Sigmoid(_length(self.weights))

    @property
    def anchor(self) -> tuple[float, ...]:
        """The point nearest to the origin where the answer is one half."""
        return _foot(self.weights, -self.intercept)

    def coordinate(self, points: Floats) -> Floats:
        """(<weights, x> + intercept)/length, measured from the anchor."""
        return _along(points, self.weights, self.anchor)

    def coordinate_error(self, far: float, limit: float) -> float:
        """A scalar product of points within the limit."""
        return 2.0**-50 * self.dimension * (limit + far)


def _weights(subject: str, weights: Any) -> tuple[float, ...]:
    listed = _floats(subject, "weights", weights)
    if not any(listed):
        raise ParameterError(subject, "weights must not all be zero", got={"weights": listed})
    return listed


def _length(weights: tuple[float, ...]) -> float:
    return float(np.linalg.norm(weights))


def _foot(weights: tuple[float, ...], level: float) -> tuple[float, ...]:
    """The point nearest to the origin where the form has a level."""
    square = float(np.dot(weights, weights))
    return tuple(level * w / square for w in weights)


def _along(points: Floats, weights: tuple[float, ...], origin: tuple[float, ...]) -> Floats:
    """Distance along the weights, from the origin given."""
    at = points[:, None] if points.ndim == 1 else points
    length = _length(weights)
    total = np.zeros(at.shape[0])
    for axis, w in enumerate(weights):
        total += (at[:, axis] - origin[axis]) * (w / length)
    return total


_CURVES: dict[tuple[float, float, int], tuple[tuple[float, ...], Interpolant]] = {}


def _interpolant(low: float, high: float, heights: tuple[float, ...]) -> Interpolant:
    """Make the curve of a query once; the tuple itself is the key, compared by identity first."""
    key = (low, high, id(heights))
    kept = _CURVES.get(key)
    if kept is None or kept[0] is not heights:
        if len(_CURVES) > 64:
            _CURVES.clear()
        kept = heights, Interpolant(low, high, np.array(heights))
        _CURVES[key] = kept
    return kept[1]
