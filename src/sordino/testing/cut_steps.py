"""The choices of plain-or-cut on known data: the whole range with its value, or an interval; and a flat-topped value.

Worked out from the exact weights in logarithms, apart from the code that draws (clip/whole_or_interval.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.mechanisms.clip.plain_or_cut_plan import WHOLE_PART
from sordino.mechanisms.clip.whole_or_interval import Chosen, flatness
from sordino.testing.noise_steps import NoiseStep
from sordino.testing.steps import Parts, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sordino.mechanisms.clip.family import Family, Weighed
    from sordino.mechanisms.clip.whole_or_interval import Valued
    from sordino.privacy import Guarantee

    Floats = NDArray[np.float64]

WHOLE, INTERVAL = "whole", "interval"


@dataclass(frozen=True, slots=True)
class FlatTop:
    """Noise that is flat for so many nats and exponential beyond, in nats: density ``~ exp(-max(|u|, flat))``.

    Example:
        >>> round(float(FlatTop(1.0).sf(1.0)), 6), round(float(FlatTop(0.0).sf(2.0)), 6) == round(math.exp(-2) / 2, 6)
        (0.25, True)
    """

    flat: float
    shape: ClassVar[dict[str, Any]] = {}

    def logpdf(self, u: Any) -> Any:
        """Log density."""
        return self.flat - np.maximum(np.abs(u), self.flat) - math.log(2 * (1 + self.flat))

    def sf(self, u: Any) -> Any:
        """Probability of more."""
        size = np.abs(np.asarray(u, float))
        room = 2 * (1 + self.flat)
        tail = np.where(
            size > self.flat,
            np.exp(-np.maximum(size - self.flat, 0.0)) / room,
            0.5 - np.minimum(size, self.flat) / room,
        )
        return np.where(np.asarray(u) >= 0, tail, 1 - tail)

    def cdf(self, u: Any) -> Any:
        """Probability of less."""
        return self.sf(-np.asarray(u, float))

    def isf(self, q: Any) -> Any:
        """The upper quantiles of chances of at most one half."""
        q, room = np.asarray(q, float), 2 * (1 + self.flat)
        with np.errstate(divide="ignore"):
            return np.where(q * room < 1, self.flat - np.log(q * room), (0.5 - q) * room)

    def breaks(self) -> Floats:
        """Where the top ends."""
        return np.array([self.flat]) if self.flat else np.array([1.0])


def flat_topped(part: Valued, flat: Fraction | float, price: Any) -> FlatToppedStep:
    """A value with such noise as a step."""
    return FlatToppedStep(
        price=price, noise=FlatTop(float(flat)), location=part.value, scale=part.sensitivity / part.rate,  # type: ignore[arg-type]
        grid=part.grid,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FlatToppedStep(NoiseStep):
    """A private value with noise whose top is flat for so many nats; these are private too."""

    kind: ClassVar[str] = "flat-topped noise"

    @property
    def question(self) -> Any:
        """The grid and the public scale."""
        return self.grid, self.scale


@dataclass(frozen=True, kw_only=True)
class WholeOrIntervalStep(Step):
    """The whole range with its value, or an interval of a family, by private weights."""

    kind: ClassVar[str] = "whole range or interval"
    price: Mapping[str, Guarantee]
    family: Family
    weighed: Weighed
    whole: Valued | None

    @property
    def question(self) -> Any:
        """All intervals, and how the value of the whole range gets its noise."""
        if self.whole is None:
            return (self.family,)
        return self.family, self.whole.sensitivity, self.whole.rate, self.whole.grid

    def branch(self, outcome: Any) -> Any:
        """By which of the two it is."""
        return outcome[0]

    def chances(self) -> tuple[float, float, Floats]:
        """Log probability of the whole range, how flat its noise is, that of every interval per unit of its prior."""
        weighed, plan = self.weighed, self.family.plan
        if not weighed.counts:
            return 0.0, 0.0, np.array([])
        logs = np.array([math.log(count) - math.log(weighed.one) for count in weighed.counts])
        logs -= np.array(weighed.exponents, float) / weighed.unit
        total = float(np.logaddexp.reduce(logs))
        others = {level: self._others(level) for level in set(weighed.level)}
        priors = [
            others[level] if places is None else self.prior(level, places)
            for level, places in zip(weighed.level, weighed.places, strict=True)
        ]
        single = logs - np.array([math.log(prior) for prior in priors])
        part = float(WHOLE_PART)
        lost = total + math.log((1 - part) / part)  # -h of the proof
        if self.whole is None or lost <= 0:
            both = float(np.logaddexp(0.0, total))
            return -both, 0.0, single - both
        flat = float(flatness(self.whole.rate, plan.slope * plan.contribution)) * lost
        kept = math.log(1 - part) + math.log1p(flat) - flat
        return kept, flat, single - total + math.log(-math.expm1(kept))

    def prior(self, level: int, places: Any) -> int:
        """The sum of the priors of some intervals."""
        return int(self.family.priors(level, np.asarray(list(places), dtype=np.int64)).sum())

    def _others(self, level: int) -> int:
        return self.family.all_priors(level) - self.prior(level, self.cells[level][0])

    @cached_property
    def cells(self) -> dict[int, tuple[dict[int, int], int | None]]:
        """Per level the cell of every interval that is in one by name, and the cell of all others."""
        found: dict[int, tuple[dict[int, int], int | None]] = {}
        for cell, (level, places) in enumerate(zip(self.weighed.level, self.weighed.places, strict=True)):
            named, others = found.get(level, ({}, None))
            if places is None:
                found[level] = named, cell
            else:
                named.update((int(place), cell) for place in places)
                found[level] = named, others
        return found

    def cell(self, level: int, place: int) -> int:
        """The cell of one interval."""
        named, others = self.cells[level]
        found = named.get(place, others)
        assert found is not None
        return found

    def chosen(self, level: int, place: int) -> Chosen:
        """One interval as the mechanism is told it; its charge is this table's own."""
        weighed = self.weighed
        charge = Fraction(weighed.charges[self.cell(level, place)], weighed.unit)
        return Chosen(level, *self.family.interval(level, place), charge)

    def parts(self, other: WholeOrIntervalStep) -> Parts:
        """Values of the whole range cell by cell; intervals that are in one cell on either table together."""
        own, flat, mine = self.chances()
        its, flat_there, theirs = other.chances()
        outcomes: list[Any] = []
        here, there, loss = [], [], []
        if self.whole is None or other.whole is None:
            outcomes, here, there, loss = [(WHOLE, 0)], [own], [its], [own - its]
        else:
            values = flat_topped(self.whole, flat, self.price[WHOLE]).parts(
                flat_topped(other.whole, flat_there, self.price[WHOLE])
            )
            outcomes = [(WHOLE, values.outcomes[place]) for place in range(len(values.loss))]
            if values.here is None or values.there is None:  # no noise where nothing can move the value
                here, there = [own, -math.inf], [its, -math.inf]
            else:
                here, there = (values.here + own).tolist(), (values.there + its).tolist()
            loss = (values.loss + own - its).tolist()
        left, right = self.cells, other.cells
        for level, (named, rest) in left.items():
            named_there, rest_there = right[level]
            groups: dict[tuple[int | None, int | None], list[int]] = {}
            both = set(named) | set(named_there)
            for place in both:
                key = named.get(place, rest), named_there.get(place, rest_there)
                groups.setdefault(key, []).append(place)
            first, last = self.family.places(level)
            others = 0 if self.family.anchored else self.family.all_priors(level) - self.prior(level, both)
            found = next((place for place in range(first, last + 1) if place not in both), None)
            if others > 0 and found is not None:
                groups.setdefault((rest, rest_there), []).append(found)
            for (cell, cell_there), places in groups.items():
                assert cell is not None
                assert cell_there is not None
                size = self.prior(level, set(places) & both)
                if (cell, cell_there) == (rest, rest_there):
                    size += max(others, 0)
                outcomes.append((INTERVAL, level, places[-1]))
                here.append(mine[cell] + math.log(size))
                there.append(theirs[cell_there] + math.log(size))
                loss.append(mine[cell] - theirs[cell_there])
        return Parts(outcomes, np.array(here), np.array(there), np.array(loss))
