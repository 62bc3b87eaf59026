"""Two laws on the line held against each other without cells: Renyi divergences and hockey sticks by quadrature.

Gauss-Legendre sums between points at which both densities are smooth, each so short that the integrand changes by two
nats at most: the sums are exact to about ten digits. Tests hold them against closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NATS = 2.0  # by which an integrand may change within one segment
FAR = 60.0  # nats below the largest value: what lies deeper is left out
HALVINGS = 40
CROSSING = 80  # halvings that find where a loss is exactly epsilon


@dataclass(frozen=True, slots=True, eq=False)
class Densities:
    """Two laws on the line.

    Attributes:
        here: Log density of the first.
        there: Log density of the second.
        places: Increasing; every point at which one of them has a kink or a jump, from far tail to far tail.
    """

    here: Callable[[Any], Any]
    there: Callable[[Any], Any]
    places: Floats

    def flipped(self) -> Densities:
        """The second held against the first."""
        return _flipped(self)

    def _logs(self, places: Floats) -> tuple[Floats, Floats]:
        with np.errstate(all="ignore"):
            return np.asarray(self.here(places)), np.asarray(self.there(places))

    def renyi(self, orders: Sequence[float]) -> Floats:
        """``ln(integral p^a q^(1-a)) / (a - 1)`` for every order a.

        Example:
            >>> normal = lambda at: lambda y: -((y - at) ** 2) / 2 - math.log(2 * math.pi) / 2
            >>> pair = Densities(normal(0.0), normal(1.0), np.linspace(-80, 80, 81))
            >>> [round(float(one), 9) for one in pair.renyi((2.0, 64.0))]
            [1.0, 32.0]
        """
        return np.array([max(0.0, _power(self, order) / (order - 1)) for order in orders])

    def stick(self, epsilon: float) -> float:
        """Mass of the first beyond ``e^epsilon`` times that of the second."""
        return _stick(self, epsilon)


@dataclass(frozen=True, slots=True, eq=False)
class LogLinear:
    """Two laws on segments of the line on which both log densities are linear: everything in closed form.

    Attributes:
        here: Log densities of the first at the left and at the right end of each segment.
        there: The same of the second.
        lengths: Of the segments.
    """

    here: tuple[Floats, Floats]
    there: tuple[Floats, Floats]
    lengths: Floats

    def flipped(self) -> LogLinear:
        """The second held against the first."""
        return LogLinear(self.there, self.here, self.lengths)

    def renyi(self, orders: Sequence[float]) -> Floats:
        """Renyi divergences of these orders.

        Example:
            >>> one = np.log([0.5, 0.5]), np.log([0.5, 0.5])  # two segments of length one
            >>> other = np.log([0.25, 0.75]), np.log([0.25, 0.75])
            >>> pair = LogLinear(one, other, np.ones(2))
            >>> round(float(pair.renyi((2.0,))[0]), 9) == round(math.log(0.25 / 0.25 + 0.25 / 0.75), 9)
            True
        """
        found = []
        for order in orders:
            left, right = (order * self.here[k] + (1 - order) * self.there[k] for k in (0, 1))
            total = float(np.logaddexp.reduce(log_masses(left, right, self.lengths)))
            found.append(max(0.0, total / (order - 1)))
        return np.array(found)

    def stick(self, epsilon: float) -> float:
        """Mass of the first beyond ``e^epsilon`` times that of the second: segments are cut where it begins."""
        above = [self.here[k] - self.there[k] - epsilon for k in (0, 1)]
        turns = above[0] * above[1] < 0
        with np.errstate(all="ignore"):
            cut = np.where(
                turns, above[0] / (above[0] - above[1]), np.where(above[0] + above[1] > 0, 1.0, 0.0)
            )
        rising = turns & (above[1] > 0)  # the right part lies beyond
        first, last = np.where(rising, cut, 0.0), np.where(rising, 1.0, cut)
        lengths = self.lengths * (last - first)
        kept = lengths > 0
        masses = []
        for left, right in (self.here, self.there):
            ends = [(left + (right - left) * place)[kept] for place in (first, last)]
            masses.append(log_masses(ends[0], ends[1], lengths[kept]))
        return float(np.maximum(np.exp(masses[0]) - np.exp(masses[1] + epsilon), 0.0).sum())


def log_masses(left: Floats, right: Floats, lengths: Floats) -> Floats:
    """Log integrals of densities whose logarithms are linear between the ends of segments."""
    drop = np.abs(left - right)
    with np.errstate(all="ignore"):
        share = np.where(drop > 1e-9, -np.expm1(-drop) / np.where(drop > 0, drop, 1.0), 1 - drop / 2)
        return np.asarray(np.maximum(left, right) + np.log(share) + np.log(lengths))


@lru_cache(maxsize=4096)
def _flipped(pair: Densities) -> Densities:
    return Densities(pair.there, pair.here, pair.places)


@lru_cache(maxsize=65536)
def _stick(pair: Densities, epsilon: float) -> float:
    """Mass of the first law beyond ``e^epsilon`` times that of the second."""

    def above(places: Floats) -> Floats:
        p, q = pair._logs(places)
        with np.errstate(all="ignore"):
            return p - q - epsilon

    gap = above(pair.places)
    turns = np.flatnonzero(np.isfinite(gap[:-1]) & np.isfinite(gap[1:]) & (gap[:-1] * gap[1:] < 0))
    low, high = pair.places[turns].copy(), pair.places[turns + 1].copy()
    for _ in range(CROSSING if len(turns) else 0):
        middle = (low + high) / 2
        left = np.sign(above(middle)) == np.sign(gap[turns])
        low, high = np.where(left, middle, low), np.where(left, high, middle)
    edges = np.unique(np.concatenate([pair.places, low]))

    def beyond(places: Floats) -> Floats:
        p, q = pair._logs(places)
        with np.errstate(all="ignore"):
            excess = -np.expm1(epsilon + q - p)
            return np.where(excess > 0, p + np.log(np.maximum(excess, 1e-300)), -math.inf)

    total = log_integral(beyond, edges)
    return math.exp(total) if total > -700 else 0.0


@lru_cache(maxsize=65536)
def _power(pair: Densities, order: float) -> float:
    """Log of the integral of ``p^order q^(1 - order)``."""

    def exponent(places: Floats) -> Floats:
        p, q = pair._logs(places)
        with np.errstate(all="ignore"):
            raw = order * p + (1 - order) * q
        return np.where(np.isneginf(p), -math.inf, raw)

    return log_integral(exponent, pair.places)


def log_integral(exponent: Callable[[Floats], Floats], places: Floats) -> float:
    """Log of the integral of ``exp(exponent)`` between the first and the last place."""
    left, right = places[:-1], places[1:]
    lefts: list[Floats] = []
    rights: list[Floats] = []
    sums: list[float] = []
    for _ in range(HALVINGS):
        # The ends of a segment belong to it alone: values just inside, so that jumps at a place do not matter.
        inner = (right - left) * 1e-9
        both = np.concatenate([left + inner, right - inner, (left + right) / 2])
        first, last, middle = np.split(exponent(both), 3)
        highest = np.maximum(np.maximum(first, last), middle)
        top = max(float(np.max(highest, initial=-math.inf)), *(sums or [-math.inf]))
        if top == math.inf:
            return math.inf
        if top == -math.inf:
            break
        kept = highest > top - FAR
        with np.errstate(invalid="ignore"):
            swing = np.maximum(np.abs(first - middle), np.abs(middle - last))
        short = ~(swing > NATS / 2) | np.isneginf(highest)
        done = kept & short
        if done.any():
            lefts.append(left[done])
            rights.append(right[done])
            sums.append(float(np.max(highest[done])))
        more = kept & ~short & (right - left > 1e-14 * np.abs(left + right))
        if not more.any():
            break
        centre = (left[more] + right[more]) / 2
        left, right = np.concatenate([left[more], centre]), np.concatenate([centre, right[more]])
    if not lefts:
        return -math.inf
    left, right = np.concatenate(lefts), np.concatenate(rights)
    half = (right - left) / 2
    values = exponent(((left + right) / 2)[:, None] + half[:, None] * NODES)
    with np.errstate(divide="ignore"):
        terms = values + np.log(half)[:, None] + np.log(WEIGHTS)
    largest = float(np.max(terms))
    if not math.isfinite(largest):
        return largest
    return largest + math.log(float(np.exp(terms - largest).sum()))


@lru_cache(maxsize=4096)
def shifted(noise: Any, other: Any, scale: float, shift: float) -> Densities:
    """Noise of unit scale at zero, and another of a scale at a shift; remembered, with all kinks of both."""
    from sordino.testing.noise_points import far_points

    own, its = far_points(noise), far_points(other)
    # Light tails: orders far above one look as far beyond the data as the order times the shift.
    reach = 70 * (abs(shift) + abs(math.log(scale)) + 1)
    out = np.geomspace(1e-3, max(reach, 1.0), 60)
    places = np.unique(np.concatenate([own, shift + scale * its, out, -out, shift + out, shift - out]))
    lost = math.log(scale)

    def there(places: Floats) -> Any:
        return np.asarray(other.logpdf((places - shift) / scale)) - lost

    return Densities(noise.logpdf, there, places)
