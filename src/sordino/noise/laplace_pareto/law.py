"""Laplace-Pareto noise: Laplace up to a knee, a Pareto tail beyond; geo-privacy of plateau queries only.

For queries that move only where their smooth bound is constant, the cost is the larger of shift and scale, not
their sum (``docs/proofs/laplace_pareto.md``). Never for other queries: there the loss is nearly twice the price.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import Unsupported
from sordino.noise.alpha_shaped import AlphaShaped
from sordino.noise.calibration import Calibration, too_smooth
from sordino.privacy import Geo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

DEFAULT_SMOOTHING = Fraction(3, 10)  # of epsilon; variance factor 2.41 against 2 for a constant bound


@dataclass(frozen=True, slots=True, repr=False)
class LaplacePareto(AlphaShaped):
    """Density ``e^-|x|`` up to the knee ``1+alpha``, then ``|x|^-(1+alpha)``; finite variance for alpha > 2.

    Example:
        >>> round(LaplacePareto(alpha=5).variance, 4)
        2.0535
    """

    name = "laplace-pareto"
    summary = "Laplace with a Pareto tail; geo-privacy of plateau queries only"

    @classmethod
    def cases(cls) -> Iterator[LaplacePareto]:
        """Yield heavy and nearly Laplace shapes."""
        for alpha in ("1.1", "2", "2.5", "5", "9", "400"):
            yield cls(Fraction(alpha))

    @property
    def _constants(self) -> tuple[float, float, float]:
        """Give alpha, the knee 1 + alpha and e^-knee/alpha; the density at 0 is half of 1/(1 + e^-knee/alpha)."""
        a = float(self.alpha)
        return a, a + 1, float(np.exp(-(a + 1)) / a)

    def _logpdf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        a, knee, extra = self._constants
        outside = -knee - (1 + a) * np.log(np.maximum(x, knee) / knee)
        return -np.log(2) - np.log1p(extra) + np.where(x <= knee, -x, outside)

    def _tail(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        a, knee, extra = self._constants
        with np.errstate(under="ignore"):
            inside = np.exp(-x) + extra
            outside = extra * knee * np.exp(-a * np.log(np.maximum(x, knee) / knee))
        return np.where(x <= knee, inside, outside) / (1 + extra)

    def _tail_inverse(self, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
        a, knee, extra = self._constants
        at_knee = extra * knee / (1 + extra)
        # 1 - T = (1 - e^-x)/(1 + extra) inside; T = extra knee (x/knee)^-a/(1 + extra) outside.
        from_centre = -np.log1p(-np.minimum(centre * (1 + extra), 1 - 1e-17))
        from_tail = -np.log(np.maximum(tail * (1 + extra) - extra, 1e-320))
        inside = np.where(tail < 0.5, from_tail, from_centre)
        outside = (
            knee * np.exp((np.log(at_knee) - np.log(tail)) / a) if at_knee else np.full_like(tail, np.inf)
        )
        return np.where(tail > at_knee, inside, outside)

    def _moment(self, order: float) -> float:
        from scipy.special import gamma, gammainc

        a, knee, extra = self._constants
        if order >= a:
            return float("inf")
        inside = gamma(order + 1) * gammainc(order + 1, knee)
        outside = a * extra * np.exp((order + 1) * np.log(knee)) / (a - order)
        return float((inside + outside) / (1 + extra))

    @classmethod
    def _calibrate_geo(
        cls, price: Geo, smoothing: Fraction | None, method: str | None, alpha: Fraction | None = None
    ) -> Calibration:
        if method != "plateau":
            raise Unsupported(
                cls.name,
                "only plateau queries may use this noise, and the caller must say so",
                got={"method": method},
                why="Where a query moves while its bound changes, the loss is nearly twice the price.",
                hint='method="plateau" for thresholds, ranges and geofences; PolyPlace for anything else',
            )
        rate = price.rate
        smoothing = rate * DEFAULT_SMOOTHING if smoothing is None else smoothing
        if not 0 < smoothing < rate:
            raise too_smooth(
                cls.name,
                smoothing,
                f"{float(rate):g} and greater than 0",
                price,
                f"smoothing={float(rate) * 0.3:g}",
            )
        wanted = rate / smoothing
        if alpha is not None and alpha > wanted:
            raise too_smooth(cls.name, smoothing, "epsilon/alpha", price, f"alpha={float(wanted):g}")
        return Calibration(cls(alpha or wanted), smoothing, 1 / rate, price, "plateau", "laplace_pareto")

    def _price_geo(self, scale: Fraction, smoothing: Fraction, method: str | None, per: Any = 1) -> Geo:
        if method != "plateau":
            raise Unsupported(
                self.name, 'is priced only for plateau queries, method="plateau"', got={"method": method}
            )
        rate = max(1 / scale, self.alpha * smoothing)
        return Geo(rate * Fraction(per), per)
