"""The public rule for the smoothing parameter, and the default noise for a smooth bound.

Data-free: the rule knows the bounds, a public guess of the spread and how many rows must change before the bounds can
be reached. Its regret against hindsight is about five per cent (docs/explanation/which_mechanism.md).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from sordino.errors import Unsupported
from sordino.privacy import Approx, Concentrated, Guarantee, Pure

if TYPE_CHECKING:
    from sordino.noise import Noise
    from sordino.noise.calibration import Calibration

LEAST, MOST = (
    0.05,
    0.45,
)  # of the strength: below, the bounds leak in; above, the tails of the noise take over


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
    strength = price.strength
    wanted = min(max(decades / max(trimmed, 1), LEAST * strength), MOST * strength)
    return Fraction(f"{wanted:.4g}")


@lru_cache(maxsize=256)
def noise_at(price: Guarantee, smoothing: Fraction) -> Calibration:
    """The best noise known for a smooth bound: PolyPlace for a pure price, arsinh-normal for a concentrated one."""
    from sordino.noise.arsinh_normal import ArsinhNormal
    from sordino.noise.laplace import Laplace
    from sordino.noise.polyplace import PolyPlace

    families: dict[type[Guarantee], type[Noise]] = {
        Pure: PolyPlace,
        Approx: Laplace,
        Concentrated: ArsinhNormal,
    }
    found, refusal = (
        [],
        Unsupported("smoothing", f"has no noise for {type(price).__name__}", hint="Pure(epsilon)"),
    )
    for target in price.noise_targets:
        try:
            found.append(families[type(target)].calibrate(target, smoothing=smoothing))
        except Unsupported as problem:
            refusal = problem
    if not found:
        raise refusal
    return min(found, key=lambda calibration: calibration.std)


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
