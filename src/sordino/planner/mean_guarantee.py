"""What error of a private mean is guaranteed beforehand, from assumptions about the distribution alone.

Bun and Steinke 2019, section 6: the trimmed mean with noise scaled to its smooth bound. From a price, the rows, a range
for the mean and for the standard deviation follow the rows to trim, the smoothing, the bounds for the data and a
mean squared error that no such distribution exceeds; and back, the rows that an error needs. Where the printed
constants are wrong the corrected ones are used (docs/proofs/mean_guarantee.md): sqrt(8 m^2 + 4 m) for sqrt(8 m), the
moment bound for the maximum that can be proved, Lemma 49 as it is meant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sordino.checks import exact, positive, whole
from sordino.errors import ParameterError, Unsupported
from sordino.mechanisms.additive.smoothing import noise_at

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.statistics.trimmed_mean import TrimmedMean

_SHARES = tuple(Fraction(k, 100) for k in (1, 2, 4, 6, 9, 13, 18, 24, 32, 42))
"""Smoothings that are tried, as shares of the price's epsilon."""
_MOST_ROWS = 10**12


@dataclass(frozen=True, slots=True)
class MeanGuarantee:
    """A trimmed mean with noise, and the squared error that it does not exceed.

    Attributes:
        rows: How many rows.
        trimmed: Rows trimmed on each side, m.
        smoothing: The smoothing parameter, t.
        low: Rows (or the answer) are clipped to at least this.
        high: And to at most this.
        sampling_part: The part of the bound that trimming and chance in the rows cause.
        noise_part: The part that the noise causes.
        without_privacy: sigma^2 / n, the squared error of the plain mean.
        symmetric: Whether the distribution is taken to be symmetric and subgaussian (Theorem 46), or any (Theorem 51).
        price: The price.
    """

    rows: int
    trimmed: int
    smoothing: Fraction
    low: float
    high: float
    sampling_part: float
    noise_part: float
    without_privacy: float
    symmetric: bool
    price: Guarantee

    @property
    def squared_error(self) -> float:
        """The bound on E[(answer - mean)^2]."""
        return self.sampling_part + self.noise_part

    @property
    def error(self) -> float:
        """Its root: the guaranteed root mean squared error."""
        return math.sqrt(self.squared_error)

    def statistic(self, column: str) -> TrimmedMean:
        """Return the statistic to ask for; symmetric case only, where the rows are clipped.

        Example:
            >>> from sordino import Pure
            >>> guaranteed_mean(Pure(1), rows=5000, low=0, high=100, sigma=10).statistic("x").name
            'trimmed-mean'
        """
        from sordino.statistics.trimmed_mean import TrimmedMean

        if not self.symmetric:
            raise Unsupported(
                "mean guarantee",
                "clips the answer, not the rows, for any distribution",
                hint='OutputTrimmedMean("x", trim=..., low=..., high=..., answer_low=..., answer_high=...)',
            )
        return TrimmedMean(column, trim=Fraction(self.trimmed, self.rows), low=self.low, high=self.high)

    def __str__(self) -> str:
        what = "symmetric subgaussian" if self.symmetric else "any"
        ratio = self.squared_error / self.without_privacy
        return (
            f"root mean squared error at most {self.error:.4g} for {what} data, {self.rows:,} rows: trim "
            f"{self.trimmed:,} on each side, smoothing {float(self.smoothing):.3g}, clip "
            f"{'the rows' if self.symmetric else 'the answer'} to [{self.low:.6g}, {self.high:.6g}]; "
            f"{ratio:.3g} times the squared error without privacy"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "mean-guarantee",
            "price": self.price.to_dict(),
            "rows": self.rows,
            "trimmed": self.trimmed,
            "smoothing": str(self.smoothing),
            "low": self.low,
            "high": self.high,
            "rms_error": self.error,
            "squared_error": self.squared_error,
            "squared_error_without_privacy": self.without_privacy,
            "symmetric": self.symmetric,
        }


def largest_square(rows: int) -> float:
    """Bound E[max X_i^2] / sigma^2 of so many sigma-subgaussian variables: min over u < 1/2 of (ln n - ln(1-2u)/2) / u.

    From e^(u max) <= sum e^(u X^2) and E e^(u X^2) <= 1 / sqrt(1 - 2 u sigma^2). Lemma 45 prints 2 ln(2n), which this
    argument does not give.

    Example:
        >>> [round(largest_square(n), 2) for n in (1, 100, 10_000)]
        [1.0, 12.76, 22.54]
    """
    log_rows = math.log(rows)
    best = math.inf
    for k in range(1, 400):
        u = 0.5 * (1.0 - 0.97**k)
        best = min(best, (log_rows - 0.5 * math.log1p(-2.0 * u)) / u)
    return best if rows > 1 else 1.0


@lru_cache(maxsize=64)
def _noises(price: Guarantee) -> tuple[tuple[Fraction, float], ...]:
    """Return smoothings with the variance of the noise per squared unit of the smooth bound, at this price."""
    result = []
    for share in _SHARES:
        smoothing = (share * _epsilon(price)).limit_denominator(10_000)
        if smoothing <= 0:
            continue
        try:
            result.append((smoothing, noise_at(price, smoothing).std ** 2))
        except Unsupported:
            continue
    if not result:
        raise Unsupported("mean guarantee", f"has no noise for {price}", hint="Pure(1) or Concentrated(0.5)")
    return tuple(pair for pair in result if math.isfinite(pair[1]))


def _epsilon(price: Guarantee) -> Fraction:
    """Return the epsilon of a pure price, or of the pure price with the same rho = epsilon^2 / 2."""
    if hasattr(price, "epsilon"):
        return Fraction(price.epsilon)
    return Fraction(math.sqrt(2.0 * float(price.rho))).limit_denominator(10_000)  # type: ignore[attr-defined]


def guaranteed_mean(
    price: Guarantee,
    *,
    rows: int,
    low: float,
    high: float,
    sigma: float,
    smallest_sigma: float | None = None,
    symmetric: bool = True,
) -> MeanGuarantee:
    """Choose trimming, smoothing and bounds for a private mean, and say which error is guaranteed.

    Args:
        price: Pure or Concentrated.
        rows: How many rows there are.
        low: The mean of the distribution is at least this.
        high: And at most this.
        sigma: The largest standard deviation; symmetric data are taken to be subgaussian with it.
        smallest_sigma: The smallest, when only a range is known; the bound is for the largest, and holds for all.
        symmetric: Whether the distribution is symmetric about its mean and subgaussian (Theorem 46); otherwise any
            distribution with that standard deviation is covered (Theorem 51).

    Example:
        >>> from sordino import Pure
        >>> found = guaranteed_mean(Pure(1), rows=2000, low=0, high=1000, sigma=10)
        >>> 0.22 < found.error < 0.5, found.without_privacy
        (True, 0.05)
    """
    n = whole("mean guarantee", at_least=3, rows=rows)
    a, b = float(exact("mean guarantee", low=low)), float(exact("mean guarantee", high=high))
    spread = float(positive("mean guarantee", sigma=sigma))
    if smallest_sigma is not None and not 0.0 < smallest_sigma <= spread:
        raise ParameterError(
            "mean guarantee",
            "smallest_sigma must be above 0 and at most sigma",
            got={"smallest_sigma": smallest_sigma, "sigma": sigma},
            why="They are the ends of the range in which the standard deviation lies.",
            hint="smallest_sigma=1, sigma=10",
        )
    if not a < b:
        raise ParameterError(
            "mean guarantee",
            "high must be greater than low",
            got={"low": low, "high": high},
            why="They are the ends of the range in which the mean lies.",
            hint="low=0, high=1000",
        )
    best: MeanGuarantee | None = None
    for smoothing, variance in _noises(price):
        for trimmed in _trimmings(n):
            parts = (
                _symmetric(n, trimmed, float(smoothing), variance, a, b, spread)
                if symmetric
                else _any(n, trimmed, float(smoothing), variance, a, b, spread)
            )
            found = MeanGuarantee(n, trimmed, smoothing, *parts, spread**2 / n, symmetric, price)
            if best is None or found.squared_error < best.squared_error:
                best = found
    assert best is not None
    return best


def _trimmings(n: int) -> list[int]:
    """Return trimmings from none to nearly half, each about a tenth more than the one before."""
    result, m = [0], 1
    while 2 * m < n:
        result.append(m)
        m = max(m + 1, round(m * 1.1))
    return result


def _symmetric(
    n: int, m: int, t: float, variance: float, low: float, high: float, sigma: float
) -> tuple[float, float, float, float]:
    """Theorem 46 with the rows clipped c sigma outside the range of the mean; c makes clipping cost a per mille."""
    kept = n - 2 * m
    c = math.sqrt(2.0 * math.log(4.0e6 * n * n / kept))
    a, b = low - c * sigma, high + c * sigma
    # E[(clipped trimmed mean - trimmed mean)^2] <= 2 n / (n - 2m) sigma^2 (e^(-c^2/2) + e^(-c^2/2)), Lemma 43
    clipped = math.sqrt(2.0 * n / kept * sigma**2 * 2.0 * math.exp(-c * c / 2.0))
    sampling = (math.sqrt(n) * sigma / kept + clipped) ** 2
    square = (4.0 * sigma**2 * largest_square(n) + math.exp(-2.0 * m * t) * (b - a) ** 2) / kept**2
    return a, b, sampling, square * variance


def _any(
    n: int, m: int, t: float, variance: float, low: float, high: float, sigma: float
) -> tuple[float, float, float, float]:
    """Theorem 51 with the constant that its proof gives, the answer clipped to the range of the mean."""
    kept = n - 2 * m
    sampling = (n + math.sqrt(n * (n - 1.0) * (8.0 * m * m + 4.0 * m))) / kept**2 * sigma**2
    square = 2.0 * n * sigma**2 / kept**2 + math.exp(-2.0 * m * t) * (high - low) ** 2
    return low, high, sampling, square * variance


def rows_for_mean(price: Guarantee, *, error: float, **assumed: Any) -> MeanGuarantee:
    """Return the guarantee with the fewest rows, to about a percent, whose root mean squared error is small enough.

    Args:
        price: Pure or Concentrated.
        error: The root mean squared error that must be guaranteed.
        assumed: low, high, sigma and the rest of :func:`guaranteed_mean`.

    Example:
        >>> from sordino import Pure
        >>> found = rows_for_mean(Pure(1), error=0.5, low=0, high=1000, sigma=10)
        >>> found.error <= 0.5 < guaranteed_mean(Pure(1), rows=found.rows * 9 // 10, low=0, high=1000, sigma=10).error
        True
    """
    target = float(positive("mean guarantee", error=error))
    few, many = 3, 3
    while (found := guaranteed_mean(price, rows=many, **assumed)).error > target:
        few, many = many, many * 2
        if many > _MOST_ROWS:
            raise Unsupported(
                "mean guarantee",
                "no number of rows guarantees this error",
                why="For distributions that are not symmetric trimming leaves a bias.",
                hint="symmetric=True, or a larger error",
            )
    while many - few > max(1, many // 100):
        middle = (few + many) // 2
        one = guaranteed_mean(price, rows=middle, **assumed)
        few, many, found = (few, middle, one) if one.error <= target else (middle, many, found)
    return found
