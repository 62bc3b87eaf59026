"""What the concentrated families share: calibration by certificate or by scores, and inverting a tail.

The certificate itself is made in ``sordino.certification``; the papers' closed bounds are ``method="analytic"``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import Unsupported
from sordino.noise.calibration import Calibration, short, too_smooth
from sordino.privacy import Concentrated, Pure
from sordino.privacy.conversion import ball, evaluate, lower, pure_to_concentrated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.noise import Noise


#: Beyond it a certificate takes a second and a search a minute.
MOST_RHO = Fraction(10)


def default_smoothing(rho: Fraction) -> Fraction:
    """Take a fifth of sqrt(2 rho): concentrated noise pays little for smoothing up to there."""
    return Fraction(f"{0.2 * float(np.sqrt(2 * float(rho))):.3g}")


def calibrate_certified(
    family: type[Noise],
    price: Concentrated,
    smoothing: Fraction | None,
    shape_name: str,
    shape: Fraction | None,
) -> Calibration:
    """Calibrate by the certified price: the upper end of a proved bracket is at most rho.

    More than `MOST_RHO` is certified like `MOST_RHO`, which is within it: the noise is negligible by then.
    """
    from sordino.certification import calibrate, shape_class

    least = shape_class(family.name).least_price
    if price.rho < least:
        raise Unsupported(
            family.name,
            f"certified prices are found for rho from {float(least):g} on",
            got={"price": price},
            why="Below a certificate would take minutes; Gaussian noise with a global bound has no such limit.",
            hint="sd.Gaussian.calibrate(price, smoothing=0)",
        )
    if shape is not None:
        _check_shape(family.name, shape_name, shape)
    rho = min(price.rho, MOST_RHO)
    if smoothing is None:
        smoothing = default_smoothing(rho)
    reach = family.reach * float(np.sqrt(2 * float(rho)))
    try:
        found = calibrate(family.name, rho, smoothing, shape) if float(smoothing) < reach else None
    except (
        ArithmeticError
    ):  # moments of the worst pair are beyond the doubles: it costs far more than the price
        found = None
    if found is None:
        raise too_smooth(
            family.name,
            smoothing,
            f"about {reach:.3g}"
            if smoothing >= reach
            else f"what this {'price' if shape is None else shape_name} allows",
            price,
            f"smoothing={float(default_smoothing(rho)):g}",
        )
    chosen, shift, certificate = found
    noise = family(**{shape_name: chosen})
    return Calibration(noise, smoothing, 1 / shift, price, "certified", "certification", certificate)


def price_certified(noise: Noise, scale: Fraction, smoothing: Fraction) -> Concentrated:
    """Price by certificate: the upper end of the proved bracket."""
    from sordino.certification import certify

    ((name, shape),) = noise.shape.items()
    _check_shape(noise.name, name, shape)
    # A larger smoothing or shift only enlarges the set of pairs, so rounding both up is safe.
    above = [float(np.nextafter(float(value), np.inf)) for value in (smoothing, 1 / scale)]
    certificate = certify(noise.name, float(shape), smoothing=above[0] if smoothing else 0.0, shift=above[1])
    return Concentrated(Fraction(certificate.rho_hi))


def _check_shape(family: str, name: str, shape: Fraction) -> None:
    """Refuse shapes whose certificates would take minutes or need moments beyond the doubles."""
    from sordino.certification import shape_class

    low, high = shape_class(family).certified_range
    if not low <= float(shape) <= high:
        raise Unsupported(
            family,
            f"certified prices are found for {name} from {low:g} to {high:g}",
            got={name: shape},
            why="Beyond, the moments of a certificate are no doubles, or it would take minutes.",
            hint=f"leave {name} out: the best one is found",
        )


def calibrate_by_pure(
    family: type[Any], price: Concentrated, smoothing: Fraction | None, **shape: Any
) -> Calibration:
    """Calibrate to the largest pure epsilon whose tight conversion is within rho."""
    low, high = 0.0, float(price.rho) + 10 * float(np.sqrt(float(price.rho)))
    while pure_to_concentrated(Fraction(high)) < price.rho:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if pure_to_concentrated(Fraction(middle)) <= price.rho else (low, middle)
    if smoothing is None:
        smoothing = default_smoothing(price.rho)
    inner = family._calibrate_pure(Pure(Fraction(low)), smoothing, None, **shape)
    return Calibration(inner.noise, inner.smoothing, inner.scale, price, "analytic", inner.proof)


def calibrate_by_scores(
    family: type[Any], price: Concentrated, smoothing: Fraction | None, sigma: Fraction | None
) -> Calibration:
    """Calibrate by Bun and Steinke's triangle inequality: sqrt(2 rho) = dilation root + sup score * shift."""
    if smoothing is None:
        smoothing = default_smoothing(price.rho)

    def shift(shape: Fraction) -> Any:
        law = family(shape)
        return ((2 * ball(price.rho)).sqrt() - law._dilation_root(smoothing)) / law.location_score_bound()

    if sigma is None:
        from scipy.optimize import minimize_scalar

        def cost(log_sigma: float) -> float:
            law = family(Fraction(float(np.exp(log_sigma))))
            room = float(shift(law.sigma))
            return 0.5 * float(np.log(law.variance)) - float(np.log(room)) if room > 0 else 1e300 - log_sigma

        grid = np.linspace(np.log(1e-3), np.log(3.0), 60)
        costs = [cost(point) for point in grid]
        best = int(np.argmin(costs))
        bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
        found = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-9})
        sigma = short(float(np.exp(found.x)), 9)
    eta = evaluate(lambda: shift(sigma))
    if not eta > 0:
        raise too_smooth(
            family.name,
            smoothing,
            "what this price allows",
            price,
            "method='certified' of arsinh-normal or student-t",
        )
    room = lower(eta)
    if not room:
        raise Unsupported(
            family.name,
            "this sigma needs noise beyond all numbers",
            got={"sigma": sigma, "price": price},
            why="The slope of the log density grows like exp(3 sigma^2 / 2).",
            hint="leave sigma out: the best one is found",
        )
    return Calibration(family(sigma), smoothing, 1 / room, price, "analytic", "log_normal")


def newton_inverse(law: Any, tail: NDArray[np.float64], centre: NDArray[np.float64]) -> NDArray[np.float64]:
    """Invert a tail by Newton's method in u = log x, from a table.

    log|Z| has a log-concave density, so log P(|Z| > e^u) and log P(|Z| <= e^u) are concave in u and Newton's steps
    cannot diverge (Prékopa; docs/proofs/certification.md).
    """
    wanted, other, result = np.ravel(tail), np.ravel(centre), np.empty(np.size(tail))
    starts, above, below = _starting_table(law)
    for upper_side in (True, False):
        chosen = np.flatnonzero((wanted < 0.5) == upper_side)
        with np.errstate(divide="ignore"):
            goal = np.log(wanted[chosen] if upper_side else other[chosen])
        table = (-above, starts) if upper_side else (below, starts)
        u = np.interp(-goal if upper_side else goal, *_rising(*table))
        for _ in range(4):
            x = np.exp(u)
            side = np.log(law._tail(x) if upper_side else law._inside(x))
            slope = np.exp(law._logpdf(x) + np.log(2) + u - side)
            step = (side - goal if upper_side else goal - side) / slope
            step = np.where(np.isfinite(step), np.clip(step, -2.0, 2.0), 0.0)
            u += step
            if np.all(np.abs(step) < 1e-8):  # quadratic: the next step would be below an ulp
                break
        result[chosen] = np.exp(u)
    ends = np.where(wanted == 0, np.inf, np.where(other == 0, 0.0, np.nan))
    inner = (wanted > 0) & (other > 0)
    return np.where(inner, result, ends).reshape(np.shape(tail))


@lru_cache(maxsize=64)
def _starting_table(law: Any) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Tabulate both logarithms on a fine grid of u, as starting points."""
    grid = np.linspace(-80.0, 40.0 + 40.0 * float(law.sigma), 4000)
    x = np.exp(grid)
    with np.errstate(divide="ignore"):
        return grid, np.log(np.maximum(law._tail(x), 1e-320)), np.log(np.maximum(law._inside(x), 1e-320))


def _rising(
    values: NDArray[np.float64], starts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep the part of a table that rises, as interpolation needs."""
    keep = np.concatenate(([True], np.diff(np.maximum.accumulate(values)) > 0))
    return values[keep], starts[keep]
