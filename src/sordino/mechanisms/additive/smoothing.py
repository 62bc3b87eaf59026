"""The public rule for the smoothing parameter, and the default noise for a smooth bound.

Data-free: the rule knows the bounds, a public guess of the spread and how many rows must change before the bounds can
be reached. Its regret against hindsight is about five per cent (docs/explanation/which_mechanism.md).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.errors import Unsupported
from sordino.privacy import Approx, BoundedRange, Concentrated, Guarantee, Pure

if TYPE_CHECKING:
    from sordino.noise.calibration import Calibration

LEAST, MOST = (
    0.05,
    0.45,
)  # of the strength: below, the bounds leak in; above, the tails of the noise take over


def strength_of(price: Guarantee) -> float:
    """Epsilon, or sqrt(2 rho): the two give noise of about the same size."""
    if isinstance(price, Concentrated):
        return float(2 * price.rho) ** 0.5
    if isinstance(price, Pure | Approx):
        return float(price.epsilon)
    if isinstance(price, BoundedRange):
        return float(price.epsilon) / 2
    raise Unsupported(
        "smoothing", f"has no rule for {type(price).__name__}", hint="Pure(epsilon) or Concentrated(rho)"
    )


def public_smoothing(price: Guarantee, *, decades: float, trimmed: float) -> Fraction:
    """``clip(ln(width / spread) / m, 0.05 e, 0.45 e)``: the bounds are m changed rows away and weigh e^(-smoothing m).

    Args:
        price: What the answer may cost.
        decades: Natural logarithm of the public width over a public guess of the spread.
        trimmed: Rows that must change before the bounds are reached.

    Example:
        >>> float(public_smoothing(Pure(1), decades=7, trimmed=58))
        0.1207
    """
    strength = strength_of(price)
    wanted = min(max(decades / max(trimmed, 1), LEAST * strength), MOST * strength)
    return Fraction(f"{wanted:.4g}")


@lru_cache(maxsize=256)
def noise_at(price: Guarantee, smoothing: Fraction) -> Calibration:
    """The best noise known for a smooth bound: PolyPlace for a pure price, arsinh-normal for a concentrated one."""
    from sordino.noise.arsinh_normal import ArsinhNormal
    from sordino.noise.laplace import Laplace
    from sordino.noise.polyplace import PolyPlace

    if isinstance(price, Concentrated):
        return ArsinhNormal.calibrate(price, smoothing=smoothing)
    if isinstance(price, Approx):
        try:
            approximate = Laplace.calibrate(price, smoothing=smoothing)
        except Unsupported:
            return PolyPlace.calibrate(Pure(price.epsilon), smoothing=smoothing)
        pure = PolyPlace.calibrate(Pure(price.epsilon), smoothing=smoothing)
        return min(approximate, pure, key=lambda calibration: calibration.std)
    if isinstance(price, BoundedRange):  # symmetric noise of pure loss e has bounded range 2 e
        return PolyPlace.calibrate(Pure(price.epsilon / 2), smoothing=smoothing)
    return PolyPlace.calibrate(price, smoothing=smoothing)


def smooth_noise(
    price: Guarantee, *, decades: float, trimmed: float, smoothing: Fraction | None = None
) -> Calibration:
    """Calibrate the default noise at the caller's smoothing, or at the one of the public rule."""
    chosen = (
        public_smoothing(price, decades=decades, trimmed=trimmed)
        if smoothing is None
        else Fraction(smoothing)
    )
    return noise_at(price, chosen)
