"""Error bars of a release, put together from what is published: nothing in here sees data.

A bar is free where the noise has a public law (`Answer.noise`), and was paid for where the mechanism releases its ends.
Which of both it is, and what it covers, is fixed before anything is spent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Coverage, Population
from sordino.mechanisms.parts.population import PopulationInterval, share_limits, size_limits
from sordino.privacy import Neighbors
from sordino.session.release import Interval

if TYPE_CHECKING:
    from sordino.mechanisms import Answer, Mechanism
    from sordino.mechanisms.parts.public_noise import PublicNoise
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True)
class Bar:
    """How the bar of one part is made once its answer is drawn; public.

    Attributes:
        statistic: What is asked, in the form in which it is read.
        asked: What the bar is to cover.
        each: The same with the level of every single bar.
        rows: The number of rows where it is public.
    """

    statistic: Statistic
    asked: Coverage
    each: Coverage
    rows: int | None

    def refusal(self, mechanism: Mechanism, answer: Answer) -> str | None:
        """Why there is no such bar, in a sentence, as a rehearsed answer shows; None where there is one."""
        if "level" in answer.public:
            same = mechanism.bar_covers == self.asked.target or self.statistic.name == "function"
            return None if same else f"The bar of this mechanism covers the {mechanism.bar_covers}."
        if (
            "probability" in answer.public
        ):  # one interval per output of a function stands among the by-products
            return None
        if answer.noise is None:
            return mechanism.no_bar
        if not isinstance(self.asked, Population):
            return None
        return self._no_population()

    def _no_population(self) -> str | None:
        """Why public noise does not lead to an interval for the population."""
        assert isinstance(self.asked, Population)
        if self.asked.inclusion is not None:
            if self.statistic.tallies:
                return None
            return "A probability of inclusion is about counts of rows."
        if not self.statistic.tallies and _two_points(self.statistic) is None:
            return (
                "Of the population only counts, shares (a mean whose step is the whole range) and quantiles have an "
                "interval whose coverage was measured."
            )
        if self.statistic.neighbors is not Neighbors.REPLACE_ONE or self.rows is None:
            return (
                "The number of rows is private here, and the share of a population rests on it; "
                "Population(level, inclusion=...) covers the count under a stated sampling design."
            )
        return None

    def around(self, answer: Answer) -> Interval | None:
        """The bar of an answer that was drawn; None where a mechanism without public noise declined to give one."""
        public = answer.public
        if "level" in public:
            ends = _floats(public["low"]), _floats(public["high"])
            bar = self._interval(*ends, paid=True, added=public.get("added"))
            if self.statistic.name == "function":  # it has no other
                bar = replace(bar, covers="population")
            return replace(bar, simultaneous=True) if public.get("simultaneous") else bar
        if answer.noise is None or answer.value is None:
            return None
        noise = answer.noise.of_counts() if self.statistic.is_count else answer.noise
        values = answer.value if isinstance(answer.value, tuple) else (answer.value,)
        added = None
        if isinstance(self.asked, Population):
            found = [self._limits(value, noise) for value in values]
            both = [(one.low, one.high) for one in found]
            added = max(_added(one) for one in found)
        else:
            around = [noise.interval(value, self.each.miss) for value in values]
            both = [(float(low), float(high)) for low, high in around]
        lows, highs = (tuple(end[side] for end in both) for side in (0, 1))
        if not isinstance(answer.value, tuple):
            return self._interval(lows[0], highs[0], paid=False, added=added)
        return self._interval(lows, highs, paid=False, added=added)

    def _limits(self, value: Fraction, noise: PublicNoise) -> PopulationInterval:
        asked = self.asked
        assert isinstance(asked, Population)
        if asked.inclusion is not None:
            return size_limits(value, noise, inclusion=asked.inclusion, miss=self.each.miss)
        assert self.rows is not None
        unit, origin = _two_points(self.statistic) or (Fraction(self.rows), Fraction(0))
        unit /= self.rows
        found = share_limits(value, noise, rows=self.rows, unit=unit, origin=origin, miss=self.each.miss)
        size, start = float(unit * self.rows), float(origin)
        return PopulationInterval(start + size * found.low, start + size * found.high, size * found.plain)

    def _interval(self, low: Any, high: Any, *, paid: bool, added: float | None = None) -> Interval:
        return Interval(
            low,
            high,
            self.asked.level,
            covers=self.asked.target,
            simultaneous=self.asked.simultaneous,
            paid=paid,
            added=added,
        )


def _two_points(statistic: Any) -> tuple[Fraction, Fraction] | None:
    """Width and origin of the range of a mean whose rows can only be at its two ends."""
    if statistic.name != "mean" or statistic.grid.last != 1:
        return None
    units = statistic.grid.endless
    return Fraction(units.step), Fraction(units.origin)


def _added(limits: PopulationInterval) -> float:
    """By which share privacy makes the interval wider."""
    return 0.0 if limits.plain <= 0 else max((limits.high - limits.low) / limits.plain - 1, 0.0)


def _floats(ends: Any) -> Any:
    return tuple(map(float, ends)) if isinstance(ends, tuple | list) else float(ends)
