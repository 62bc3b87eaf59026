"""Error bars of a release, put together from what is published: nothing in here sees data.

A bar is free where the noise has a public law (`Answer.noise`), and was paid for where the mechanism releases its ends.
Which of both it is, and what it covers, is fixed before anything is spent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Coverage, Population
from sordino.mechanisms.clip.clipped_bar import ClippedBar
from sordino.mechanisms.clip.mean_interval import LEAST_ROWS
from sordino.mechanisms.clip.population_bar import PopulationBar
from sordino.mechanisms.parts.population import PopulationInterval, share_limits, size_limits
from sordino.privacy import Neighbors
from sordino.session.release import Interval

if TYPE_CHECKING:
    from sordino.mechanisms import Answer, Mechanism
    from sordino.mechanisms.parts.public_noise import PublicNoise
    from sordino.statistics import Statistic


SAMPLE_ONLY = {
    "sum": (
        "A sum of the population is its mean times its size, which no sample tells: ask for the mean and multiply."
    ),
    "variance": "How far a variance is from that of the population rests on fourth moments, and none are released.",
    "standard-deviation": (
        "How far a deviation is from that of the population rests on fourth moments, and none are released."
    ),
    "second-moment": (
        "How far a second moment is from that of the population rests on fourth moments, and none are released."
    ),
    "quantiles": (
        "One band for several quantiles covers the rows alone; a single quantile has an interval for the population "
        "where the number of rows is public."
    ),
}
"""Why statistics that have a bar for the rows have none for the population, by name."""


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
            known = SAMPLE_ONLY.get(self.statistic.name) if isinstance(self.asked, Population) else None
            return known or mechanism.no_bar
        if not isinstance(self.asked, Population):
            return "It was made for the population." if isinstance(answer.noise, PopulationBar) else None
        if isinstance(answer.noise, PopulationBar):
            return (
                None
                if self.asked.inclusion is None
                else "A probability of inclusion is about counts of rows."
            )
        return self._no_population()

    def _no_population(self) -> str | None:
        """Why public noise does not lead to an interval for the population."""
        assert isinstance(self.asked, Population)
        if self.asked.inclusion is not None:
            if self.statistic.tallies:
                return None
            return "A probability of inclusion is about counts of rows."
        if not self.statistic.tallies and _two_points(self.statistic) is None:
            few = (
                f"; a mean needs {LEAST_ROWS} rows for it, declared with rows= where their number is private"
            )
            known = SAMPLE_ONLY.get(self.statistic.name)
            return known or (
                "Of the population only counts, shares, quantiles and means have an interval whose coverage was "
                f"measured{few if self.statistic.name == 'mean' else ''}."
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
            bar = self._interval(*ends, paid=not public.get("free", False), added=public.get("added"))
            if self.statistic.name == "function":  # it has no other
                bar = replace(bar, covers="population")
            return replace(bar, simultaneous=True) if public.get("simultaneous") else bar
        if answer.noise is None or answer.value is None:
            return None
        if isinstance(answer.noise, ClippedBar | PopulationBar):
            assert isinstance(answer.value, Fraction)
            return self._clipped(answer.value, answer.noise)
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

    def _clipped(self, value: Fraction, noise: ClippedBar | PopulationBar) -> Interval:
        """The bar of a mean or sum that was cut to a published interval, and what lies beyond."""
        if isinstance(noise, PopulationBar):
            found = noise.limits(self.each.miss)
            added = _added(found) if found.plain > 0 else None
            bar, sample = self._interval(found.low, found.high, paid=True, added=added), noise.sample
            bar = replace(bar, approximate=True)
        elif isinstance(self.asked, Population):  # a share: its noise is public
            assert noise.plain is not None
            exact = self._limits(value, noise.plain)
            return self._interval(exact.low, exact.high, paid=False, added=_added(exact))
        else:
            low, high = noise.interval(self.each.miss)
            bar, sample = self._interval(float(low), float(high), paid=False), noise
        if sample.whole:
            return bar
        cut = float(sample.cut[0]), float(sample.cut[1])
        return replace(bar, cut=cut, beyond=sample.beyond, hidden=sample.hidden)

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
            inclusion=getattr(self.asked, "inclusion", None),
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
