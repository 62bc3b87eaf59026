"""Propose-test-release (Dwork and Lei 2009): for comparison; approximate privacy, and it may decline.

Proposes a public bound on the sensitivity, tests privately that the data are far from any dataset that breaks it, and
only then adds noise of that bound. Proof: docs/proofs/mechanism_propose_test_release.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.parts.draws import Draws
from sordino.noise.laplace import Laplace
from sordino.privacy import Approx, Pure
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.reading.profile import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeTestRelease(Mechanism):
    """Noise of a proposed bound, released only if a private test says that the bound holds all around.

    Args:
        price: Approx; delta is spent on the test alone.
        bound: The proposed local sensitivity, a public length in the units of the statistic.
        test_share: Share of epsilon for the test.

    Example:
        >>> ProposeTestRelease(price=Approx(1, 1e-6), bound=10).threshold
        26.24...
    """

    price: Approx
    bound: Fraction | float
    test_share: Fraction = Fraction(1, 2)

    name: ClassVar[str] = "propose-test-release"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.NUMBER,)
    needs: ClassVar[tuple[str, ...]] = ("profile",)
    proof: ClassVar[str] = "mechanism_propose_test_release"

    @classmethod
    def cases(cls) -> Iterator[MechanismCase]:
        """Every number of the catalogue, at a proposed bound that some tables keep and others do not."""
        from sordino.mechanisms.parts.cases import MechanismCase, worlds

        for world in worlds():
            for bound in (Fraction(1, 2), Fraction(20)):
                mechanism = cls(price=Approx(1, Fraction(1, 100)), bound=bound)
                if mechanism.refusal(world.statistic) is None:
                    yield MechanismCase(mechanism, world)

    def __post_init__(self) -> None:
        checks.between(self.name, 0, 1, delta=self.price.delta, hint="Approx(1, 1e-6)")
        checks.positive(self.name, epsilon=self.price.epsilon)
        object.__setattr__(self, "bound", checks.positive(self.name, bound=self.bound))
        share = checks.between(self.name, 0, 1, test_share=self.test_share)
        object.__setattr__(self, "test_share", share)

    @property
    def threshold(self) -> float:
        """Noisy distance above which the bound is believed: ``ln(1/(2 delta)) / epsilon_1``, rounded up."""
        exact = math.log(1 / (2 * self.price.delta)) / float(self.price.epsilon * self.test_share)
        return math.nextafter(exact * (1 + 2**-40), math.inf)

    @property
    def depth(self) -> int:
        """Far enough that a passing test is not cut off: twice the threshold."""
        return math.ceil(2 * max(self.threshold, 1.0))

    def distance(self, reading: Reading) -> int:
        """Changed rows until the local sensitivity could exceed the bound; sensitivity 1, private."""
        opened = reading.open()
        for k in range(self.depth + 1):
            if opened.profile.at(k) * opened.units.step > self.bound:
                return k
        return self.depth + 1

    def release_probability(self, reading: Reading) -> float:
        """Chance that the test passes on known data."""
        excess = (self.threshold - self.distance(reading)) * float(self.price.epsilon * self.test_share)
        return float(Laplace().sf(excess))

    def law(self, reading: Reading) -> AdditiveLaw:
        """The law of the answer given that there is one; see `release_probability`."""
        opened = reading.open()
        scale = Fraction(self.bound) / (self.price.epsilon * (1 - self.test_share))
        return AdditiveLaw(Laplace(), value=float(opened.units.real(opened.value)), scale=float(scale))

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:
        """Test, then release or decline; declining is an answer too and costs the same."""
        from sordino.lattice import Lattice

        opened, draws = reading.open(), Draws.of(bits)
        # The noisy distance is compared on a lattice of 2^-20 rows; the threshold is rounded up to it.
        fine = Lattice.dyadic(-20)
        believed = draws.exceeds(
            Fraction(self.distance(reading)),
            Fraction(self.threshold) + fine.step,
            price=Pure(self.price.epsilon * self.test_share),
            grid=fine,
        )
        if not believed:
            return Answer(None, {"declined": True})
        value, _ = draws.noisy(
            opened.units.real(opened.value),
            sensitivity=Fraction(self.bound),
            price=Pure(self.price.epsilon * (1 - self.test_share)),
            grid=grid,
        )
        return Answer(value, {"declined": False})
