"""How crowded is it here? A Gaussian kernel around one place, or around each of many at once.

With one place the answer is a number; with many, one report carries an answer for each place of a block
(`blocks.py`), and the price is that of the whole report.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError, Unsupported
from sordino.geo.gaussian import GaussianCurve
from sordino.geo.query import Query
from sordino.geo.region import _floats, distance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sordino.geo.curve import Scope
    from sordino.geo.query import Floats


@dataclass(frozen=True, slots=True, repr=False)
class KernelDensity(Query):
    """exp(-|x - t|^2/(2 bandwidth^2)) for one place t, or for each of many.

    Args:
        at: One place (a tuple of coordinates) or a sequence of places.
        bandwidth: Standard deviation of the kernel, in metres.

    Example:
        >>> KernelDensity(at=(0.0, 0.0), bandwidth=500.0).value([[300.0, 400.0]]).round(4)
        array([0.6065])
        >>> KernelDensity.grid(low=(0, 0), high=(9000, 9000), shape=(10, 10), bandwidth=1000).places.shape
        (100, 2)
    """

    name = "kernel-density"
    at: tuple[tuple[float, ...], ...]
    bandwidth: float

    def __post_init__(self) -> None:
        places = np.asarray(self.at, dtype=np.float64)
        if places.ndim == 1:
            places = places[None, :]
        if places.ndim != 2 or places.size == 0 or not np.isfinite(places).all():
            raise ParameterError(
                self.name,
                "at must be a place or a sequence of places with as many coordinates each",
                hint="at=(0.0, 0.0)",
            )
        object.__setattr__(self, "at", tuple(tuple(row) for row in places.tolist()))
        object.__setattr__(self, "bandwidth", float(checks.positive(self.name, bandwidth=self.bandwidth)))

    @classmethod
    def grid(cls, *, low: Any, high: Any, shape: Any, bandwidth: float) -> KernelDensity:
        """Places on an even grid, ends included, the last coordinate running fastest."""
        low, high = _floats(cls.name, "low", low), _floats(cls.name, "high", high)
        counts = [checks.whole(cls.name, at_least=2, shape=count) for count in shape]
        if not len(low) == len(high) == len(counts) or any(a >= b for a, b in zip(low, high, strict=False)):
            raise ParameterError(
                cls.name,
                "high must be greater than low in every coordinate, with one count each",
                got={"low": low, "high": high, "shape": tuple(counts)},
            )
        axes = [np.linspace(a, b, n).tolist() for a, b, n in zip(low, high, counts, strict=True)]
        return cls(tuple(product(*axes)), bandwidth)

    @property
    def places(self) -> Floats:
        """The places as an array of shape (m, dimension)."""
        return np.array(self.at)

    @property
    def dimension(self) -> int:
        """As many as a place has."""
        return len(self.at[0])

    @property
    def curve(self) -> GaussianCurve:
        """The kernel of the distance."""
        return GaussianCurve(self.bandwidth)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The middle of the places."""
        places = self.places
        return tuple((0.5 * (places.min(axis=0) + places.max(axis=0))).tolist())

    @property
    def normaliser(self) -> float:
        """Divide a mean answer by this to get a density, per square metre on a map."""
        return float((2.0 * np.pi) ** (self.dimension / 2) * self.bandwidth**self.dimension)

    def each(self) -> tuple[KernelDensity, ...]:
        """One query per place."""
        return tuple(KernelDensity((place,), self.bandwidth) for place in self.at)

    def coordinate(self, points: Floats) -> Floats:
        """Distance to the one place."""
        if len(self.at) > 1:
            raise Unsupported(
                self.name,
                "a bound belongs to one place",
                got={"places": len(self.at)},
                hint="query.each() gives one query per place",
            )
        return distance(points, self.at[0])

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """Differences, squares and a root, and the square of the quotient: relative to the distance."""
        return 2.0**-49 * far

    def value(self, points: ArrayLike) -> Floats:
        """The answers: shape (n,) for one place, (n, m) for many."""
        at = self.points(points)
        if len(self.at) == 1:
            return self.curve.value(self.coordinate(at))
        return np.stack([self.curve.value(distance(at, place)) for place in self.at], axis=1)

    def bound(
        self, points: ArrayLike, smoothing: float, *, scope: Scope = "local", growth: str = "exponential"
    ) -> Floats:
        """Smooth bounds: shape (n,) for one place, (n, m) for many."""
        at = self.points(points)
        bounds = [
            self.curve.bound(distance(at, place), smoothing, scope=scope, growth=growth) for place in self.at
        ]
        return bounds[0] if len(bounds) == 1 else np.stack(bounds, axis=1)
