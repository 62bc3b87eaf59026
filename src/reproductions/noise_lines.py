"""The lines of Bun and Steinke 2019, Figures 2 to 6: variance of every noise per squared unit of smooth sensitivity.

Calibrations of the product wherever there is one. Five lines are formulas of the papers or numbers for comparison
only, and one of them (``PRINTED``) is not private: it is drawn because the paper draws it, and says so in its name.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

from reproductions.numeric_price import least_noise
from sordino.certification.limits import variance_lower_bound
from sordino.errors import Unsupported
from sordino.noise.arsinh_normal import ArsinhNormal
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.noise.laplace_log_normal import LaplaceLogNormal
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.noise.uniform_log_normal import UniformLogNormal
from sordino.privacy import Approx, Concentrated, Pure, TruncatedConcentrated

DELTA, OMEGA = 1e-6, 10
#: Smoothing per epsilon beyond which every noise needs more than at smaller ones, and only the lower bound is asked.
USEFUL = 0.8
LIMIT = "lower bound (Prop. 36)"
PRINTED = "Gaussian as printed: INVALID"
#: Line: what it promises.
PROMISES = {
    "PolyPlace": "pure",
    "PolyPlace, Thm 8": "pure",
    "Student t, exact": "pure",
    "Student t (3), Thm 31": "pure",
    "arsinh-normal, certified": "concentrated",
    "Student t, certified": "concentrated",
    "uniform-log-normal, certified": "concentrated",
    "Laplace-log-normal, numeric": "concentrated",
    "uniform-log-normal, exact score": "concentrated",
    "Laplace-log-normal, Thm 18": "concentrated",
    "arsinh-normal, Thm 25": "concentrated",
    "uniform-log-normal, Thm 22": "concentrated",
    "Laplace, exact": "delta 1e-6",
    "Laplace, Thm 34": "delta 1e-6",
    "Gaussian, exact": "truncated, omega 10",
    PRINTED: "not private",
    LIMIT: "concentrated",
}


@lru_cache(maxsize=4096)
def variances(epsilon: float, smoothing: float) -> dict[str, float]:
    """Variance of every noise per squared unit of smooth sensitivity, infinite where it has none.

    Prices that the paper takes for comparable: pure epsilon, concentrated epsilon^2/2, approximate (epsilon, 1e-6),
    truncated (epsilon^2/2, 10).

    Example:
        >>> found = variances(1.0, 0.1)
        >>> round(found["PolyPlace"] ** 0.5, 4), round(found["Student t (3), Thm 31"] ** 0.5, 4)
        (1.6457, 3.3333)
    """
    g, e = Fraction(f"{smoothing:.6g}"), Fraction(str(epsilon))
    pure, concentrated = Pure(e), Concentrated(e * e / 2)
    limit = variance_lower_bound(e * e / 2, g)
    if smoothing > USEFUL * epsilon:
        return {**dict.fromkeys(PROMISES, math.inf), LIMIT: limit}
    numeric = least_noise(float(e * e / 2), float(g))
    return {
        "PolyPlace": _variance(PolyPlace, pure, g),
        "PolyPlace, Thm 8": _variance(PolyPlace, pure, g, method="published"),
        "Student t, exact": _variance(StudentT, pure, g),
        "Student t (3), Thm 31": _variance(StudentT, pure, g, method="published", df=3),
        "arsinh-normal, certified": _variance(ArsinhNormal, concentrated, g),
        "Student t, certified": _variance(StudentT, concentrated, g),
        "uniform-log-normal, certified": _variance(UniformLogNormal, concentrated, g),
        "Laplace-log-normal, numeric": math.inf if numeric is None else numeric.std**2,
        "uniform-log-normal, exact score": _variance(UniformLogNormal, concentrated, g, method="analytic"),
        "Laplace-log-normal, Thm 18": _variance(LaplaceLogNormal, concentrated, g, method="analytic"),
        "arsinh-normal, Thm 25": _variance(
            ArsinhNormal, concentrated, g, method="analytic", sigma=Fraction("1.154701")
        ),
        "uniform-log-normal, Thm 22": theorem_22(epsilon, smoothing),
        "Laplace, exact": _variance(Laplace, Approx(e, DELTA), g),
        "Laplace, Thm 34": theorem_34(epsilon, smoothing),
        "Gaussian, exact": _variance(Gaussian, TruncatedConcentrated(e * e / 2, OMEGA), g),
        PRINTED: printed_gaussian(epsilon, smoothing),
        LIMIT: limit,
    }


def _variance(family: Any, target: Any, smoothing: Fraction, **options: Any) -> float:
    try:
        return float(family.calibrate(target, smoothing=smoothing, **options).std) ** 2
    except Unsupported:
        return math.inf


def theorem_22(epsilon: float, t: float) -> float:
    """Variance of uniform-log-normal noise by Bun and Steinke 2019, Theorem 22 at its least shape, sigma = sqrt 2.

    epsilon = t/sigma + e^(3 sigma^2/2) sqrt(2/(pi sigma^2)) s, variance e^(2 sigma^2)/(3 s^2).

    Example:
        >>> round(theorem_22(1.0, 0.1) ** 0.5, 1)
        52.0
    """
    shift = (epsilon - t / math.sqrt(2)) / (math.exp(3) * math.sqrt(1 / math.pi))
    return math.exp(4) / (3 * shift**2) if shift > 0 else math.inf


def theorem_34(epsilon: float, t: float) -> float:
    """Variance of Laplace noise by Bun and Steinke 2019, Theorem 34: valid, but it bounds more than delta.

    Example:
        >>> round(theorem_34(1.0, 0.01) ** 0.5, 3)
        1.623
    """
    shift = epsilon + t - math.expm1(t) * math.log(1 / DELTA)
    return 2 / shift**2 if shift > 0 else math.inf


def printed_gaussian(epsilon: float, t: float) -> float:
    """Variance of Gaussian noise by the formula printed in section 3.5 of Bun and Steinke 2019, which is NOT private.

    It takes e^t for a ratio of variances where it is one of standard deviations (docs/proofs/gaussian.md):
    rho = 1/(2 v k) + t^2/(4 k^2), k = 1 - omega (1 - e^(-t)), solved for the variance v.

    Example:
        >>> round(printed_gaussian(1.0, 0.05), 3)  # the exact price needs 19.1
        1.961
    """
    k = 1 - OMEGA * -math.expm1(-t)
    room = epsilon**2 / 2 - t**2 / (4 * k**2) if k > 0 else 0.0
    return 1 / (2 * k * room) if room > 0 else math.inf
