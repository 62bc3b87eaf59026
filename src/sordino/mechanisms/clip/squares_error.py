"""Errors of a variance, deviation or second moment with private searches: exact given what was released before.

The mean, the radius and a noisy number of rows are simulated; given them the answer is a rising function of one value
with additive noise. The mechanism is mechanisms/variance_clip.py; means and sums: `clipped_error`.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.clip.interval import count_part
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.mechanisms.clip.variance_clip import VarianceClip
    from sordino.noise import Noise

PLACES = 800  # sizes of the error between which its law is integrated


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SquaresError:
    """The law of ``g(value + scale noise) - truth``.

    Here ``g`` cuts to ``0..largest``, then takes ``max(v - known, v / 2)``, then perhaps the root.

    Example:
        >>> from sordino.noise.laplace import Laplace
        >>> law = SquaresError(noise=Laplace(), value=50.0, scale=1.0, largest=100.0, known=0.0, root=False, truth=50.0)
        >>> round(law.within(math.log(2)), 4), round(law.mean_square, 2)
        (0.5, 2.0)
    """

    noise: Noise
    value: float
    scale: float
    largest: float
    known: float
    root: bool
    truth: float

    def _at_most(self, answers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Probability of an answer that is not larger; the noise has no atoms, the ends of the range have."""
        below = np.maximum(answers, 0.0)
        squares = below**2 if self.root else below
        noisy = np.minimum(2 * squares, squares + self.known)  # undoes max(v - known, v / 2)
        chances = np.asarray(self.noise.cdf((noisy - self.value) / self.scale))
        return np.where(answers < 0, 0.0, np.where(noisy >= self.largest, 1.0, chances))

    @property
    def _bias(self) -> float:
        """How far the answer is off without noise."""
        noisy = min(max(self.value, 0.0), self.largest)
        square = max(noisy - self.known, noisy / 2)
        return abs((math.sqrt(square) if self.root else square) - self.truth)

    def _within(self, distances: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if self.scale == 0:
            return np.where(distances >= self._bias * (1 - 1e-12), 1.0, 0.0)
        lower = self.truth - distances
        # An answer of exactly 0 is not below a bound of 0.
        under = np.where(lower > 0, self._at_most(np.nextafter(lower, -np.inf)), 0.0)
        return self._at_most(self.truth + distances) - under

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        return float(self._within(np.array([distance]))[0])

    @property
    def mean_square(self) -> float:
        """Expected squared error: ``int 2 t P(error > t) dt``."""
        top = max(self.largest - self.known, self.largest / 2)
        most = max(self.truth, (math.sqrt(top) if self.root else top) - self.truth) * (1 + 1e-9)
        if self.scale == 0 or most <= 0:
            return self._bias**2
        sizes = np.concatenate([[0.0], np.geomspace(most * 1e-6, most, PLACES)])
        return float(np.trapezoid(1 - self._within(sizes), sizes**2))


def squares_error(
    mechanism: VarianceClip,
    column: ClippableColumn,
    grid: Lattice,
    truth: Fraction,
    *,
    contribution: int,
    bits: Bits,
) -> SquaresError:
    """Release what the searches release, and give the law of the error of the answer that would follow.

    The arguments are those of `clipped_error`.
    """
    found = mechanism.find_squares(column, grid, contribution=contribution, bits=bits)
    rows, largest = found.kept.rows, found.largest
    count, origin, price = Fraction(max(rows, 1)), Fraction(0), found.rest
    if mechanism.neighbors is Neighbors.ADD_REMOVE_ONE:
        counted = count_part(mechanism.rows, found.rest)
        drawn, _ = Draws.of(bits).noisy(
            Fraction(rows), sensitivity=Fraction(contribution), price=found.rest.share(counted)
        )
        count, origin, price = max(drawn, Fraction(1)), found.origin, found.rest.share(1 - counted)
    noise, middle = noise_for(price), found.middle
    return SquaresError(
        noise=noise.noise,
        value=float(origin + (found.total - origin * rows) / count),
        scale=float((largest - origin) * contribution / count * noise.scale),
        largest=float(largest),
        known=0.0 if middle.found is None else float(mechanism.noise_of_mean(middle, count, contribution)),
        root=mechanism.root,
        truth=float(truth),
    )
