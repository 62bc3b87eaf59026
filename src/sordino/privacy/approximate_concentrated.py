"""`ApproxConcentrated`: a concentrated promise that may fail with a probability of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import Unsupported, spell
from sordino.privacy.concentrated import Concentrated
from sordino.privacy.guarantee import Guarantee
from sordino.privacy.kinds import Approx

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True, repr=False)
class ApproxConcentrated(Guarantee):
    """Concentrated differential privacy outside events of probability delta (Bun and Steinke 2016, Definition 8.1).

    What the discovery of keys costs when the rest is counted in rho. Both numbers add up.

    Args:
        rho: As for `Concentrated`, outside those events.
        delta: Their probability; below 1.

    Example:
        >>> ApproxConcentrated(0.1, 1e-7) + Concentrated(0.4)
        ApproxConcentrated(rho=0.5, delta=1e-07)
        >>> ApproxConcentrated(0.1, 1e-7).to(Approx, delta=1e-6)
        Approx(epsilon=2.1518, delta=1e-06)
    """

    kind = "approximate-concentrated"
    main = "rho"
    added = ("rho", "delta")
    gaussian = True
    rho: Fraction
    delta: Fraction

    if TYPE_CHECKING:  # any number is taken and made exact

        def __init__(self, rho: checks.Number, delta: checks.Number) -> None: ...

    def __post_init__(self) -> None:
        Guarantee.__post_init__(self)
        checks.between(self.kind, 0, 1, closed=True, delta=self.delta)

    def for_group(self, size: int) -> ApproxConcentrated:
        """One person, or several where nothing can fail: no theorem adds up failures along a chain of neighbours."""
        if checks.whole("group", at_least=1, size=size) == 1:
            return self
        if self.delta == 0:
            return ApproxConcentrated(Concentrated(self.rho).for_group(size).rho, 0)
        raise Unsupported(
            repr(self), "promises nothing for a group", got={"size": size},
            why="The events on which it may fail differ from neighbour to neighbour.",
            hint=".to(sd.Approx, delta=1e-6), which does",
        )  # fmt: skip

    def _per_row(self, rows: int) -> ApproxConcentrated:
        return ApproxConcentrated(self.rho / rows**2, 0)

    @property
    def certain(self) -> Concentrated:
        """What it pays for that never fails."""
        return Concentrated(self.rho)

    @property
    def nats(self) -> float:
        """``sqrt(2 rho)``."""
        return self.certain.nats

    @property
    def strength(self) -> float:
        """``sqrt(2 rho)``."""
        return self.certain.strength

    @property
    def noise_targets(self) -> tuple[Guarantee, ...]:
        """Noise that needs no delta."""
        return (self.certain,)

    @property
    def guessing(self) -> tuple[Fraction, Fraction] | None:
        """As the approximate promise with a millionth more than its own delta."""
        return self.to(Approx, delta=min(Fraction(1), self.delta + Fraction(1, 10**6))).guessing

    def _plus(self, other: ApproxConcentrated) -> ApproxConcentrated:
        return ApproxConcentrated(self.rho + other.rho, min(Fraction(1), self.delta + other.delta))

    def _to_concentrated(self) -> Concentrated:
        if self.delta > 0:
            raise Unsupported(
                repr(self), "with delta > 0 cannot be converted to Concentrated",
                why="A delta allows events of unbounded privacy loss.",
                hint="a budget with a delta: sd.ApproxConcentrated(1, 1e-6) or sd.Approx(3, 1e-6)",
            )  # fmt: skip
        return self.certain

    def _to_approx(self, delta: Any) -> Approx:
        wanted = checks.between("approx", 0, 1, closed=True, delta=delta)
        if wanted <= self.delta:
            raise Unsupported(
                repr(self), "needs a larger delta to become Approx", got={"delta": wanted},
                hint=f"delta={spell(2 * self.delta)}",
            )  # fmt: skip
        return Approx(self.certain.to(Approx, delta=wanted - self.delta).epsilon, wanted)

    @property
    def words(self) -> str:
        """Say the promise in a sentence."""
        return f"{self.certain.words}, but for events of total probability {spell(self.delta)}"


def composed(parts: Sequence[Guarantee]) -> ApproxConcentrated:
    """Add up promises of which some have a rho and a delta."""
    total = ApproxConcentrated(0, 0)
    for part in parts:
        if not isinstance(part, ApproxConcentrated):
            part = ApproxConcentrated(part.to(Concentrated).rho, 0)  # noqa: PLW2901
        total = total._plus(part)
    return total
