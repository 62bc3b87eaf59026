"""Turning a price into the numbers a score-based mechanism is built from, always rounded to the safe side.

Data-free. A mechanism with score sensitivity 1 and slope s has bounded range 2 s (Durfee & Rogers 2019), which
implies the pure, concentrated and approximate prices; proof page docs/proofs/mechanism_nested.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from sordino import checks
from sordino.errors import Unsupported, spell
from sordino.privacy import Approx, BoundedRange, Concentrated, Guarantee, Pure

DIGITS = 60  # binary digits of a bounded range found by bisection; the loss is 2^-60 of the budget


@lru_cache(maxsize=1024)
def bounded_range(price: Guarantee) -> Fraction:
    """The largest bounded range that a price pays for.

    Example:
        >>> bounded_range(Pure(1))
        Fraction(1, 1)
        >>> float(bounded_range(Concentrated(0.125)))  # a little above sqrt(8 rho): the tight conversion
        1.0069...
    """
    if isinstance(price, Pure | BoundedRange):
        return price.epsilon
    if not isinstance(price, Concentrated | Approx):
        raise Unsupported(
            "mechanism",
            f"has no price in {type(price).__name__}",
            why="Its theorem gives a bounded range, which implies Pure, Concentrated and Approx.",
            hint="Pure(epsilon) or Concentrated(rho)",
        )
    low, high = Fraction(0), Fraction(1)
    while BoundedRange(high).within(price) and high < 2**20:
        low, high = high, 2 * high
    for _ in range(DIGITS):
        middle = (low + high) / 2
        if BoundedRange(middle).within(price):
            low = middle
        else:
            high = middle
    if low == 0:
        raise Unsupported("mechanism", "the price is too small", got={"price": price}, hint="a larger price")
    return low


def slope_of(price: Guarantee) -> Fraction:
    """Nats per unit of a score with sensitivity 1."""
    return bounded_range(price) / 2


def nats(price: Guarantee) -> float:
    """The price as a plain strength, for data-free rules: epsilon, or sqrt(2 rho) for concentrated prices."""
    if isinstance(price, Concentrated):
        return float(2 * price.rho) ** 0.5
    return float(bounded_range(price))


def share(price: Guarantee, part: checks.Number) -> Guarantee:
    """A part of a price, of the same kind; parts that sum to 1 compose to the price.

    A bounded range has no parts but itself: ranges of adaptive questions do not add up (docs/proofs/guarantees.md).

    Example:
        >>> share(Pure(1), 0.25) + share(Pure(1), 0.75) == Pure(1)
        True
    """
    fraction = checks.between("share", 0, 1, closed=True, part=part)
    if fraction == 1:
        return price
    if isinstance(price, Pure):
        return Pure(price.epsilon * fraction)
    if isinstance(price, BoundedRange):
        raise Unsupported(
            "price",
            "a bounded range pays for a single draw",
            got={"price": price},
            why="Ranges of questions that follow one another do not add up; pure prices do.",
            hint=f"sd.Pure({spell(price.epsilon)})",
        )
    if isinstance(price, Concentrated):
        return Concentrated(price.rho * fraction)
    if isinstance(price, Approx):
        return Approx(price.epsilon * fraction, price.delta * fraction)
    raise Unsupported("mechanism", f"cannot split a price of kind {type(price).__name__}")
