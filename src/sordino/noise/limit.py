"""How far a calibration is from the best noise that is known to be possible.

``lower_bound`` is a theorem and weak; the tables of the best noise found by linear and convex programming are
estimates and close. Both are in ``sordino.certification.limits``; ``docs/proofs/limits.md``.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from sordino.errors import Unsupported
from sordino.privacy import Approx, Concentrated, Geo, Guarantee, Pure

if TYPE_CHECKING:
    from sordino.noise.calibration import Calibration


def lower_bound(price: Guarantee, *, smoothing: Any) -> float:
    """Give a standard deviation below which no noise scaled to smooth sensitivity keeps the promise.

    Propositions 35 and 36 of Bun and Steinke 2019 with l = 0, in units of the smooth bound. A pure promise is converted
    to a concentrated one first. The bound is weak: the best noise found stands well above it.

    Example:
        >>> round(lower_bound(Concentrated(0.5), smoothing=0.1), 3)
        0.763
    """
    from sordino.certification.limits import variance_lower_bound

    if isinstance(price, Approx | Geo):
        raise Unsupported(
            "lower bound",
            f"is proved for concentrated and pure promises, not for {type(price).__name__}",
            got={"price": price},
            hint="Concentrated(0.5)",
        )
    rho = price.to(Concentrated).rho
    return sqrt(variance_lower_bound(float(rho), float(smoothing)))


def comparison(calibration: Calibration) -> dict[str, float]:
    """Set a calibration beside the best known: words and standard deviations per unit of the bound."""
    from sordino.certification.limits import best_known_std

    price, smoothing = calibration.guarantee, calibration.smoothing
    found: dict[str, float] = {}
    if isinstance(price, Pure):
        found["Laplace with a global bound"] = sqrt(2) / float(price.epsilon)
    elif isinstance(price, Concentrated):
        found["Gaussian with a global bound"] = 1 / sqrt(2 * float(price.rho))
    else:
        return found
    if smoothing > 0:
        best = best_known_std(price, float(smoothing))
        if best is not None:
            found["best noise known to be possible"] = best
            found["ours is larger by a factor of"] = calibration.std / best
        found["proved lower bound (weak)"] = lower_bound(price, smoothing=smoothing)
    return found
