"""`RadialError`: how far one coordinate of a vector is off when the whole answer has a radius and a direction.

The radius has an exact law (mechanisms/radial_law.py), the direction is that of the ball of the norm; both are
independent, so the law of a coordinate is one integral. Single numbers live in `error_law`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sordino.mechanisms.additive.radial_law import RadialLaw

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
PLACES = 256  # radii between which the law of the radius is interpolated
LOST = 1e-10  # probability beyond the largest of them
COARSE = 20  # a grid of more than a twentieth of the error is summed point by point
POINTS = 20_000


class RadialError:
    """The law of the error of a coordinate, all coordinates being alike.

    Args:
        law: The law of the radius.
        norm: The norm of the ball: 1, 2 or inf.
        step: The grid to which every coordinate is rounded; the true values are points of it, or it is fine.

    Example:
        >>> from sordino.mechanisms.additive.radial_law import RadialLaw
        >>> one = RadialLaw([], tail=1.0, dimension=1, slope=1.0)
        >>> law = RadialError(one, norm=2, step=2.0**-30)
        >>> round(law.within(math.log(2)), 3), round(law.mean_square, 3)
        (0.5, 2.0)
    """

    def __init__(self, law: RadialLaw, *, norm: float, step: float) -> None:
        self.law, self.step = law, step
        self._parts = shares(norm, law.dimension)
        self._second = float(np.sum(WEIGHTS / 2 * self._parts**2))
        far = math.sqrt(law.mean_squared_radius())
        most = far
        while 1 - law.cdf(most) > LOST:
            most *= 2
        self._radii = np.concatenate([[0.0], np.geomspace(far * 1e-5, most, PLACES)])
        self._chances = np.array([law.cdf(float(radius)) for radius in self._radii])
        self.coarse = step > far / COARSE

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        rounded = (math.floor(distance / self.step * (1 + 1e-12)) + 0.5) * self.step
        return float(self._within(np.array([rounded]))[0])

    def _within(self, distances: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The same before rounding: ``E F(distance / part)`` over the parts of the radius."""
        found = np.interp(distances[:, None] / self._parts, self._radii, self._chances)
        return np.asarray(found @ (WEIGHTS / 2))

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        if self.coarse and self._radii[-1] <= POINTS * self.step:
            # A rounded error of k steps or more has P(|error| > (k - 1/2) step); k^2 is the sum of 2j - 1 up to k.
            steps = np.arange(1, math.ceil(self._radii[-1] / self.step) + 2)
            beyond = 1 - self._within((steps - 0.5) * self.step)
            return float(np.sum((2 * steps - 1) * beyond) * self.step**2)
        return self._second * self.law.mean_squared_radius() + self.step**2 / 12


def shares(norm: float, dimension: int) -> np.ndarray[Any, Any]:
    """The share of the radius that one coordinate takes, at the nodes of its quantile function.

    Directions have the cone measure: exponentials, normals or a cube's face, divided by their norm.

    Example:
        >>> [round(float(np.sum(WEIGHTS / 2 * shares(norm, 3) ** 2)), 3) for norm in (1, 2, math.inf)]
        [0.167, 0.333, 0.556]
    """
    level = (NODES + 1) / 2
    if dimension == 1:
        return np.ones_like(level)
    if norm == math.inf:  # one coordinate in d is the face itself, the others are uniform below it
        return np.minimum(level * dimension / (dimension - 1), 1.0)
    if norm == 1:
        return np.asarray(1 - (1 - level) ** (1 / (dimension - 1)))
    from scipy.special import betaincinv

    return np.asarray(np.sqrt(betaincinv(0.5, (dimension - 1) / 2, level)))
