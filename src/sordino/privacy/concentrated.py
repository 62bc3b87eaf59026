"""Promises on Renyi divergences: concentrated differential privacy, for all orders or up to one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import ParameterError, Unsupported, spell
from sordino.privacy import conversion
from sordino.privacy.guarantee import Guarantee

if TYPE_CHECKING:
    from sordino.privacy.kinds import Approx


@dataclass(frozen=True, slots=True, repr=False)
class RenyiPromise(Guarantee):
    """What promises for all orders and for some have in common: an amount rho that adds up."""

    main = "rho"
    added = ("rho",)
    gaussian = True
    rho: Fraction

    @property
    def orders(self) -> Fraction | None:
        """The largest order of which something is said; None where it is said of all."""
        return None

    @property
    def nats(self) -> float:
        """``sqrt(2 rho)``."""
        return float(2 * self.rho) ** 0.5

    @property
    def strength(self) -> float:
        """``sqrt(2 rho)``."""
        return self.nats

    def _to_approx(self, delta: Any = None, epsilon: Any = None) -> Approx:
        """Convert, given either the delta or the epsilon wanted."""
        from sordino.privacy.kinds import Approx

        if (delta is None) == (epsilon is None):
            raise ParameterError(
                repr(self),
                "needs either delta or epsilon to become Approx",
                got={"delta": delta, "epsilon": epsilon},
                hint=".to(Approx, delta=1e-6)",
            )
        if delta is not None:
            wanted = checks.non_negative("approx", delta=delta)
            if not 0 < wanted <= 1:
                raise Unsupported(
                    repr(self),
                    "becomes Approx only for delta between 0 and 1, zero excluded",
                    got={"delta": wanted},
                    why="A concentrated self bounds moments of the privacy loss, not the loss itself.",
                    hint=".to(Approx, delta=1e-6)",
                )
            return Approx(conversion.concentrated_to_epsilon(self.rho, wanted, self.orders), wanted)
        at = checks.non_negative("approx", epsilon=epsilon)
        return Approx(at, conversion.concentrated_to_delta(self.rho, at, self.orders))

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        orders = "" if self.orders is None else f" up to {spell(self.orders)}"
        return (
            f"Renyi divergences of every order a{orders} stay below {spell(self.rho)} * a "
            "when one person's data change"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Concentrated(RenyiPromise):
    """Zero-concentrated differential privacy (zCDP): Renyi divergences of every order a are at most rho * a.

    Args:
        rho: The largest divergence per order. It suits many small releases, whose rhos add up.

    Example:
        >>> Concentrated(0.005).times(100)
        Concentrated(rho=0.5)
    """

    kind = "concentrated"

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, rho: checks.Number) -> None: ...

    def for_group(self, size: int) -> Concentrated:
        """Multiply rho by the square of the size."""
        return Concentrated(self.rho * checks.whole("group", at_least=1, size=size) ** 2)

    def _per_row(self, rows: int) -> Concentrated:
        return Concentrated(self.rho / rows**2)

    def confusion(self, people: int) -> float:
        """``exp(-k^2 rho / 2) / 2``."""
        return math.exp(-float(self.for_group(people).rho) / 2) / 2

    @property
    def guessing(self) -> tuple[Fraction, Fraction] | None:
        """As the approximate promise with a delta of one in a million."""
        from sordino.privacy.kinds import Approx

        return self.to(Approx, delta=Fraction(1, 10**6)).guessing

    def _plus(self, other: Concentrated) -> Concentrated:
        return Concentrated(self.rho + other.rho)

    def _to_truncated_concentrated(self, omega: Any) -> TruncatedConcentrated:
        return TruncatedConcentrated(self.rho, omega)

    def _to_approximate_concentrated(self) -> Guarantee:
        return never_failing(self)


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedConcentrated(RenyiPromise):
    """Truncated concentrated differential privacy (tCDP): as `Concentrated`, for orders up to omega only.

    Args:
        rho: The largest divergence per order.
        omega: The largest order for which it holds; above 1.
    """

    kind = "truncated-concentrated"
    omega: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, rho: checks.Number, omega: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        Guarantee.__post_init__(self)
        checks.greater_than(self.kind, 1, omega=self.omega)

    @property
    def orders(self) -> Fraction:
        """Up to omega."""
        return self.omega

    def for_group(self, size: int) -> TruncatedConcentrated:
        """Give (k^2 rho, omega/k): the orders used by the triangle inequality stay below omega."""
        checks.whole("group", at_least=1, size=size)
        if self.omega <= size:
            raise Unsupported(
                repr(self),
                "promises nothing for a group as large as omega",
                got={"size": size},
                hint=f"at most {int(self.omega) - (self.omega == int(self.omega))} people, or a larger omega",
            )
        return TruncatedConcentrated(self.rho * size**2, self.omega / size)

    def _per_row(self, rows: int) -> TruncatedConcentrated:
        return TruncatedConcentrated(self.rho / rows**2, self.omega * rows)

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """Noise that keeps all orders keeps those up to omega."""
        return (Concentrated(self.rho),)

    @property
    def conversion_extra(self) -> dict[str, Fraction]:
        """The omega."""
        return {"omega": self.omega}

    def _plus(self, other: TruncatedConcentrated) -> TruncatedConcentrated:
        return TruncatedConcentrated(self.rho + other.rho, min(self.omega, other.omega))

    def _at_most(self, other: TruncatedConcentrated) -> bool:
        return self.rho <= other.rho and self.omega >= other.omega

    def _to_truncated_concentrated(self, omega: Any) -> TruncatedConcentrated:
        wanted = checks.greater_than(self.kind, 1, omega=omega)
        if wanted > self.omega:
            raise Unsupported(repr(self), "says nothing of larger orders", got={"omega": wanted})
        return TruncatedConcentrated(self.rho, wanted)


def never_failing(promise: Guarantee) -> Guarantee:
    """A promise that implies a concentrated one, as a concentrated one with a delta of nothing."""
    from sordino.privacy.approximate_concentrated import ApproxConcentrated

    return ApproxConcentrated(promise.to(Concentrated).rho, 0)
