"""What a certificate needs to know of a noise family: tails, log density, score, and two bounds.

One file per family implements `Shape`; moments, quantiles and sampling live in `sordino.noise`.
All laws are symmetric, nonincreasing in |x|, with log f(e^u) concave in u (so x*score(x) is nondecreasing);
the lemmas of docs/proofs/certification.md ask for nothing else.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: |s| / |t| pairs compare Z with e^t Z + s; the loss is log p - log q.
LOG_TWO = float(np.log(2.0))


@dataclass(frozen=True, slots=True)
class Shape(abc.ABC):
    """A unit-scale symmetric law, seen by the certificate.

    Attributes:
        parameter: The one shape parameter (degrees of freedom, alpha or sigma).
    """

    parameter: float

    family: ClassVar[str]
    bounded: ClassVar[bool]

    @abc.abstractmethod
    def tail(self, x: FloatArray) -> FloatArray:
        """P(|Z| > x) for x >= 0, within the relative error `tail_error`."""

    @property
    @abc.abstractmethod
    def tail_error(self) -> float:
        """An upper bound of the relative rounding error of `tail`."""

    @abc.abstractmethod
    def log_density(self, x: FloatArray) -> FloatArray:
        """Log f at |x|, x >= 0."""

    @abc.abstractmethod
    def score(self, x: FloatArray) -> FloatArray:
        """-f'/f at x >= 0 (the right limit at 0)."""

    @abc.abstractmethod
    def knots(self) -> tuple[float, ...]:
        """Points x > 0 between which the score is monotone."""

    @abc.abstractmethod
    def kappa(self, shift: float) -> float:
        """An upper bound of the semi-convexity constant of Lemma 3."""

    @abc.abstractmethod
    def std(self) -> float:
        """Standard deviation, infinite where it does not exist."""

    def turning_points(self, t: float, s: float) -> tuple[float, ...] | None:
        """Points that contain every zero of the loss' derivative, where these are known in closed form."""
        del t, s
        return None

    def core(self) -> float:
        """Width of the middle of the law: half of the inverse of the peak."""
        return float(0.5 * np.exp(-self.log_density(np.zeros(1))[0]))


class PowerTail(Shape):
    """A law whose density falls like x^-power: every loss is bounded."""

    __slots__ = ()
    bounded = True

    @property
    @abc.abstractmethod
    def power(self) -> float:
        """Limit of x*score(x)."""

    @abc.abstractmethod
    def deficit(self, x: float) -> float:
        """log(lim y^power f(y)) - log(x^power f(x)), which is nonnegative and nonincreasing."""

    def outer_loss(self, edge: float, t: float, s: float, side: int) -> tuple[float, float]:
        """Enclose the loss on x >= edge (side 1) or x <= -edge (side -1); z(edge) lies beyond the last knot.

        As x*score(x) rises to r, log f falls by at most r*v when |x| grows by e^v; as f falls, by at least 0.
        |z| = |x| e^(-t) |1 - s/x|. So the loss lies within r*log|1 - s/x| of -(r-1)t on one side; on the other
        side f(x) = c x^-r e^-deficit(x) does it, or the largest score beyond the edge.
        """
        r = self.power
        limit = -(r - 1) * t
        turn = r * float(np.log1p(-side * s / edge))
        z = float(np.exp(-t)) * (edge - side * s)
        low, high = limit + min(turn, 0.0), limit + max(turn, 0.0)
        nearest = float(self.score(np.array([min(edge, z)]))[0])
        if t > 0:  # |z| <= |x| + s on the left, |z| <= |x| on the right
            high = min(high + self.deficit(z), t + (s * nearest if side < 0 else 0.0))
        elif t < 0:  # |z| >= |x| on the left, |z| >= |x| - s e^-t on the right
            low = max(low - self.deficit(edge), t - (s * float(np.exp(-t)) * nearest if side > 0 else 0.0))
        return low, high


class LogNormalTail(Shape):
    """A law whose tail is like that of a log-normal: a contraction has an unbounded loss, of Gaussian kind."""

    __slots__ = ()
    bounded = False

    @abc.abstractmethod
    def score_supremum(self) -> float:
        """An upper bound of the score."""

    @abc.abstractmethod
    def far(self, order: float, smoothing: float, shift: float) -> float:
        """An upper bound of D_b/b for every b >= order, over all admissible pairs."""

    @abc.abstractmethod
    def outer_far(self, edge: float, smoothing: float, shift: float) -> tuple[float, float, float]:
        """Nonnegative A, B, C with outer_log_moment/(b(b-1)) <= A + B/b + C/(b(b-1)) for every contraction."""

    @abc.abstractmethod
    def outer_log_moment(self, orders: FloatArray, edge: float, t: float, s: float) -> FloatArray:
        """Upper bounds of log of the integral of p^a q^(1-a) over |x| > edge."""

    def _outer_dilation(self, orders: FloatArray, edge: float, t: float, s: float) -> FloatArray:
        """The case t >= 0: the loss beyond the edge is at most t + s*score(edge), as the score falls there."""
        at = np.array([edge])
        high = t + s * float(self.score(at)[0])
        mass = float(self.tail(at)[0]) * (1 + self.tail_error)
        with np.errstate(divide="ignore"):
            return np.asarray((orders - 1) * high + np.log(mass))

    def _far(self, order: float, smoothing: float, shift: float, constant: float) -> float:
        """Lemma 5: a contraction costs at most that of a Gaussian shift tau/sigma, plus the shift's loss."""
        supremum = self.score_supremum()
        contraction = smoothing**2 / (2 * self.parameter**2)
        backward = contraction + constant / (order * (order - 1)) + supremum * shift / order
        # t + C e^-t is convex in t, so the larger of its two ends bounds every dilation
        forward = max(supremum * shift, smoothing + supremum * shift * float(np.exp(-smoothing))) / order
        return max(backward, forward)
