"""What the mechanisms on reachable intervals share: the intervals of a reading, the slope, how far to look.

One theorem (nested.py) gives all of them bounded range, hence a pure, concentrated or approximate price. The
mechanisms themselves are piecewise_laplace.py and inverse_sensitivity.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.mechanisms import Mechanism, lacking
from sordino.mechanisms.nested.intervals import Intervals
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Opened
    from sordino.statistics import Statistic

NATS = 70  # mass beyond this many nats is given up: the last interval is then the whole range


def intervals_of(opened: Opened, *, radii: bool = False) -> Intervals:
    """The nested intervals of a reading inside its public range, in steps of its units.

    Args:
        opened: The opened reading.
        radii: Use sums of local sensitivities around the value instead of the exact envelopes.
    """
    from sordino.reading.profile import Reach

    bottom, top = opened.bottom, opened.top
    reach = opened.reach
    if (bottom is None or top is None) and reach is not None and reach.tail is None:
        bottom, top = reach.low[-1], reach.high[-1]  # beyond the last distance an interval is the whole range
    if reach is None or radii:
        reach = Reach.from_profile(opened.value, opened.profile, bottom=bottom, top=top)
    if bottom is None or top is None:
        raise Unsupported(
            "nested intervals",
            "need a public range",
            why="Beyond the last interval the answer is spread over the rest of the range.",
            hint="a statistic with bounds, or Additive noise",
        )
    count = reach.distance[-1] + 1
    if count == len(reach.distance):  # each distance has its own
        return Intervals.of(reach.low, reach.high, first=bottom, last=top)
    ends = [reach.at(distance) for distance in range(count)]
    return Intervals.of([low for low, _ in ends], [high for _, high in ends], first=bottom, last=top)


STAIRCASE = (
    3  # bounded range above which the staircase beats the linear interpolation by more than a few per cent
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nested(Mechanism):
    """What the mechanisms of this file share.

    Args:
        price: Pure, Concentrated, Approx or BoundedRange.
        radius: Half width of a flat top around the answer, a public length in the units of the data: answers within it
            count as right (the rho-smooth variant with the private flat top).
        radii: Build the intervals from local sensitivities instead of exact envelopes.
        look: A public cap on how many changed rows a reading looks ahead (beyond all rows there is nothing to see).
        shift: Answer for the least value that so many changed rows can reach, a public number: the shifted inverse
            (Fang, Dong and Yi 2022) with linear pieces. Only the lower ends of the intervals are used, so a statistic
            that one row can raise without end keeps a small error, biased downwards. Its proof: mechanism_nested.
    """

    price: Guarantee
    radius: Fraction = Fraction(0)
    radii: bool = False
    look: int | None = None
    shift: int = 0

    asks: ClassVar[tuple[Trait, ...]] = (Trait.NUMBER, Trait.RANGE)
    needs: ClassVar[tuple[str, ...]] = ("reach",)
    proof: ClassVar[str] = "mechanism_nested"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Exact envelopes; without them radii from local sensitivities, at prices whose smooth noise is larger."""
        if {"low", "high"} & set(statistic.exact) or "profile" not in statistic.exact:
            if cls.preferred(price):
                yield cls(price=price, look=hints.look)
        elif price.gaussian:
            yield cls(price=price, radii=True)

    @classmethod
    def preferred(cls, price: Guarantee) -> bool:
        """Whether this form of the density is the better one at the price."""
        del price
        return True

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:  # noqa: ARG003
        """Whatever the price."""
        yield cls(price=price, look=hints.look)

    def __post_init__(self) -> None:
        self.price.slope  # noqa: B018 - refuses prices that no theorem covers
        object.__setattr__(self, "radius", checks.non_negative(self.name, radius=self.radius))
        checks.whole(self.name, shift=self.shift)

    def refusal(self, statistic: Statistic) -> str | None:
        """Numbers in a public range, with reachable intervals or a local sensitivity to build them from."""
        reason = Mechanism.refusal(self, statistic)
        return reason if reason or self.radii else lacking(statistic, Trait.REACH)

    @property
    def slope(self) -> Fraction:
        """Nats per level of the score."""
        return self.price.slope

    @property
    def depth(self) -> int:
        """Levels up to which the mass matters."""
        enough = math.ceil(NATS / self.slope) + self.shift
        return enough if self.look is None else min(enough, self.look)

    def _intervals(self, opened: Opened) -> Intervals:
        family = intervals_of(opened, radii=self.radii)
        if self.shift:
            family = family.shifted(self.shift)
        if self.radius:
            widened = family.widened(self.radius / opened.units.step)
            family = widened.clipped(first=family.first, last=family.last)
        return family
