"""What a certificate needs to know of a noise family: tails, log density, score, and two bounds.

Each family implements `Shape` in ``certificate.py`` of its folder in `sordino.noise`, beside its law and its sampler.
All laws are symmetric, nonincreasing in |x|, with log f(e^u) concave in u (so x*score(x) is nondecreasing);
the lemmas of docs/proofs/certification.md ask for nothing else.
"""

from __future__ import annotations

import abc
import importlib
import importlib.util
import math
import pkgutil
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.errors import ParameterError

FloatArray = NDArray[np.float64]

#: |s| / |t| pairs compare Z with e^t Z + s; the loss is log p - log q.
LOG_TWO = float(np.log(2.0))

_SHAPES: dict[str, type[CertifiedShape]] = {}


@dataclass(frozen=True, slots=True)
class CertifiedShape(abc.ABC):
    """A unit-scale symmetric law, seen by the certificate.

    Attributes:
        parameter: The one shape parameter (degrees of freedom, alpha or sigma).
        family: Catalogue name of the noise family.
        bounded: Whether every loss is bounded.
        above: The parameter must be larger than this.
        certified_range: Parameters whose certificates end within seconds and whose moments are doubles.
        least_price: Prices below it take minutes, or none is certified: the brackets are wider than the price.
        search_range: Shapes among which a calibration looks, from barely finite variance to nearly Gaussian or Laplace.
        search_aim: Part of the price that a search aims at; the rest is room for the looseness of a certificate.
        search_precision: How finely a search resolves the logarithm of the parameter.
    """

    parameter: float

    family: ClassVar[str]
    bounded: ClassVar[bool]
    above: ClassVar[float] = 0
    certified_range: ClassVar[tuple[float, float]] = (0.0, math.inf)
    least_price: ClassVar[Fraction] = Fraction(1, 10**6)
    search_range: ClassVar[tuple[float, float]]
    search_aim: ClassVar[float] = 1.0
    search_precision: ClassVar[float] = 0.02

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super(CertifiedShape, cls).__init_subclass__(**kwargs)
        if "family" in cls.__dict__:
            _SHAPES[cls.family] = cls

    @classmethod
    def search_limits(cls, rho: float, smoothing: float) -> tuple[float, float]:
        """The part of `search_range` in which the price can be kept."""
        del rho, smoothing
        return cls.search_range

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


class PowerTail(CertifiedShape):
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


class LogNormalTail(CertifiedShape):
    """A law whose tail is like that of a log-normal: a contraction has an unbounded loss, of Gaussian kind."""

    __slots__ = ()
    bounded = False

    @classmethod
    def search_limits(cls, rho: float, smoothing: float) -> tuple[float, float]:
        """Below, a contraction alone costs more at large orders (Lemma 5); wide laws have huge deviations."""
        low, high = cls.search_range
        low = max(low, 1.0005 * smoothing / math.sqrt(2 * rho))
        return low, max(high, 2 * low)

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


def shape_class(family: str) -> type[CertifiedShape]:
    """Find a family's shape by its catalogue name; its folder is imported when it is first asked for.

    Example:
        >>> shape_class("student-t").__name__
        'StudentTShape'
    """
    if family not in _SHAPES:
        home = f"sordino.noise.{family.replace('-', '_')}"
        try:
            importlib.import_module(f"{home}.certificate")
        except ModuleNotFoundError as error:
            if error.name not in {home, f"{home}.certificate"}:
                raise
    if family not in _SHAPES:
        raise ParameterError(
            "certify",
            "the noise family has no certificate of a concentrated price",
            got={"family": family},
            hint=", ".join(certified_families()),
        )
    return _SHAPES[family]


def certified_families() -> tuple[str, ...]:
    """Name the families that have a certificate, plug-ins included.

    Example:
        >>> certified_families()
        ('arsinh-normal', 'polyplace', 'student-t', 'uniform-log-normal')
    """
    home = importlib.import_module("sordino.noise")
    for folder in pkgutil.iter_modules(home.__path__, "sordino.noise."):
        name = f"{folder.name}.certificate"
        if folder.ispkg and importlib.util.find_spec(name) is not None:
            importlib.import_module(name)
    return tuple(sorted(_SHAPES))
