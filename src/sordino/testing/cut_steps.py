"""The choices of plain-or-cut on known data: the whole range with its value, or an interval; and a flat-topped value.

Worked out from the exact weights in logarithms, apart from the code that draws (clip/whole_or_interval.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.mechanisms.clip.flat_top import beyond, top_weight
from sordino.mechanisms.clip.whole_or_interval import Chosen
from sordino.testing.noise_steps import LazyPoints, NoiseStep
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


def flat_topped(part: Valued, flat: Fraction | float, price: Any) -> FlatToppedStep | PairStep:
    """A value with such noise as a step, or several."""
    if len(part.values) > 1:
        return PairStep(price=price, part=part, flat=float(flat))
    return FlatToppedStep(
        price=price, noise=FlatTop(float(flat)), location=part.values[0], scale=part.scale,  # type: ignore[arg-type]
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
class PairStep(Step):
    """Two private values or three, with noise of density ``~ exp(-max(|u| + |v| + ..., flat))`` in scales.

    Losses are exact at the middles of cells about both pairs of values; chances of cells are those of their middles.
    """

    kind: ClassVar[str] = "a pair with noise"
    part: Valued
    flat: float = 0.0

    @property
    def question(self) -> Any:
        """The grid and the public scale."""
        return self.part.grid, self.part.scale

    def logs(self, away: Floats) -> Floats:
        """Log densities at so many scales from the values, one row for each of them."""
        numbers = len(self.part.values)
        far = np.maximum(np.abs(away).sum(axis=0), self.flat)
        return np.asarray(self.flat - far - math.log(2**numbers * top_weight(self.flat, numbers)))

    def rank(self, drawn: Sequence[Fraction]) -> float:
        """Where the distance of drawn values lies within its law, from 0 to 1."""
        pairs = zip(drawn, self.part.values, strict=True)
        distance = sum(abs(float((one - value) / self.part.scale)) for one, value in pairs)
        return 1.0 - float(beyond(self.flat, distance, len(self.part.values)))

    def parts(self, other: PairStep) -> Parts:
        """A grid of cells about both pairs; one of them holds each value, and those at the rim what is beyond."""
        scale = self.part.scale
        shifts = [float((b - a) / scale) for a, b in zip(self.part.values, other.part.values, strict=True)]
        steps = np.array([0.25, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0])
        more = [0.5, 1.0], [1, 4, 48]  # of a flat top: parts of it, and scales beyond
        if len(shifts) > 2:
            steps, more = np.array([0.75, 3.0, 12.0, 48.0]), ([1.0], [4])
        tops = {self.flat, other.flat} - {0.0}
        steps = np.unique(
            np.concatenate(
                [steps, *([top * part for part in more[0]] + [top + far for far in more[1]] for top in tops)]
            )
        )
        axes = []
        for shift in shifts:
            edges = np.unique(np.concatenate([-steps, steps, shift - steps, shift + steps]))
            middles = (edges[1:] + edges[:-1]) / 2
            axes.append((np.concatenate([middles, [0.0, shift]]), np.append(np.diff(edges), [1e-9, 1e-9])))
        away = np.stack(
            [grid.ravel() for grid in np.meshgrid(*(places for places, _ in axes), indexing="ij")]
        )
        widths = np.meshgrid(*(np.log(size) for _, size in axes), indexing="ij")
        sizes = np.sum([size.ravel() for size in widths], axis=0)
        here, there = self.logs(away), other.logs(away - np.array(shifts)[:, None])
        points = [
            [
                math.floor((value + scale * Fraction(one)) / self.part.grid.step + Fraction(1, 2))
                for one in axis.tolist()
            ]
            for value, (axis, _) in zip(self.part.values, axes, strict=True)
        ]
        masses = [law + sizes - np.logaddexp.reduce(law + sizes) for law in (here, there)]
        return Parts(list(itertools.product(*points)), masses[0], masses[1], here - there)


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

    def branches(self, outcomes: Any) -> list[Any]:
        """Which of the two each outcome is."""
        return outcomes.branches if isinstance(outcomes, _Outcomes) else [one[0] for one in outcomes]

    def chances(self) -> tuple[float, float, Floats]:
        """Log probability of the whole range, how flat its noise is, that of every interval per unit of its prior."""
        weighed, plan = self.weighed, self.family.plan
        if not weighed.counts:
            return 0.0, 0.0, np.array([])
        logs = np.array([math.log(count) - math.log(weighed.one) for count in weighed.counts])
        logs -= np.array(weighed.exponents, float) / weighed.unit
        total = float(np.logaddexp.reduce(logs))
        priors = self.cell_priors
        single = logs - np.log(priors)
        part = float(plan.share.part)
        lost = total + math.log((1 - part) / part)  # -h of the proof
        if self.whole is None or lost <= 0:
            both = float(np.logaddexp(0.0, total))
            return -both, 0.0, single - both
        flat = float(plan.flatness(self.whole.rate)) * lost
        kept = math.log(1 - part) + math.log(top_weight(flat, len(self.whole.values))) - flat
        return kept, flat, single - total + math.log(-math.expm1(kept))

    @cached_property
    def cell_priors(self) -> Floats:
        """The sum of the priors of every cell."""
        found = np.empty(len(self.weighed.counts))
        for level, (places, cells, rest) in self.cells.items():
            priors = self.family.priors(level, places)
            own, sizes = np.unique(cells, return_inverse=True)
            found[own] = np.bincount(sizes, priors.astype(float), minlength=len(own))
            if rest is not None:
                found[rest] = float(self.family.all_priors(level) - int(priors.sum()))
        return found

    @cached_property
    def cells(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.int64], int | None]]:
        """Per level the intervals that are in a cell by name, in order, their cells, and the cell of all others."""
        parts: dict[int, list[tuple[Any, int]]] = {}
        for cell, level in enumerate(self.weighed.level):
            parts.setdefault(level, []).append((self.weighed.places[cell], cell))
        found = {}
        for level, named in parts.items():
            some = [(places, cell) for places, cell in named if places is not None]
            places = np.concatenate([np.zeros(0, np.int64), *(places for places, _ in some)])
            cells = np.repeat(
                np.array([cell for _, cell in some], np.int64), [len(places) for places, _ in some]
            )
            order = np.argsort(places)
            rest = next((cell for one, cell in named if one is None), None)
            found[level] = places[order].astype(np.int64), cells[order], rest
        return found

    def cells_of(self, level: int, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """The cells of intervals; -1 where there is none."""
        places, cells, rest = self.cells[level]
        found = np.full(len(wanted), -1 if rest is None else rest)
        if len(places):
            at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
            found = np.where(places[at] == wanted, cells[at], found)
        return found

    def cell(self, level: int, place: int) -> int:
        """The cell of one interval."""
        found = int(self.cells_of(level, np.array([place]))[0])
        assert found >= 0
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
        values: Any = (0,)
        here, there, loss = ([np.array([one])] for one in (own, its, own - its))
        if self.whole is not None and other.whole is not None:
            found = flat_topped(self.whole, flat, self.price[WHOLE]).parts(
                flat_topped(other.whole, flat_there, self.price[WHOLE])  # type: ignore[arg-type]
            )
            values, loss = found.outcomes, [found.loss + own - its]
            if found.here is None or found.there is None:  # no noise where nothing can move the value
                here, there = [np.array([own, -math.inf])], [np.array([its, -math.inf])]
            else:
                here, there = [found.here + own], [found.there + its]
        intervals: list[tuple[int, int]] = []
        for level in self.cells:
            places, cells, cells_there, sizes = self._groups(other, level)
            intervals += [(level, place) for place in places.tolist()]
            here.append(mine[cells] + np.log(sizes))
            there.append(theirs[cells_there] + np.log(sizes))
            loss.append(mine[cells] - theirs[cells_there])
        outcomes = _Outcomes(values, intervals)
        return Parts(outcomes, np.concatenate(here), np.concatenate(there), np.concatenate(loss))

    def _groups(self, other: WholeOrIntervalStep, level: int) -> tuple[Any, Any, Any, Floats]:
        """Intervals of a level by their cells on both tables: one of each group, the two cells, its prior."""
        both = np.union1d(self.cells[level][0], other.cells[level][0])
        priors = self.family.priors(level, both)
        others = 0 if self.family.anchored else self.family.all_priors(level) - int(priors.sum())
        first, last = self.family.places(level)
        named = set(both.tolist())
        free = next((place for place in range(first, last + 1) if place not in named), None)
        if others > 0 and free is not None:
            both, priors = np.append(both, free), np.append(priors, others)
        cells, cells_there = self.cells_of(level, both), other.cells_of(level, both)
        assert (cells >= 0).all()
        assert (cells_there >= 0).all()
        width = len(other.weighed.counts) + 1
        _, one, group = np.unique(cells * width + cells_there, return_index=True, return_inverse=True)
        sizes = np.asarray(np.bincount(group, priors.astype(float), minlength=len(one)), float)
        return both[one], cells[one], cells_there[one], sizes


class _Outcomes(Sequence[Any]):
    """Values of the whole range, worked out when they are asked for, and then intervals."""

    def __init__(self, values: Sequence[Any], intervals: Sequence[tuple[int, int]]) -> None:
        self._values, self._intervals = values, intervals
        self.line = len(values)
        self.branches: list[Any] = [WHOLE] * len(values) + [INTERVAL] * len(intervals)

    def __len__(self) -> int:
        return len(self._values) + len(self._intervals)

    def __getitem__(self, index: Any) -> Any:
        count = len(self._values)
        if index < count:
            return (WHOLE, self._values[index])
        return (INTERVAL, *self._intervals[index - count])

    def near(self, index: int) -> Any:
        """The same with a round value."""
        if isinstance(self._values, LazyPoints) and index < len(self._values):
            return (WHOLE, self._values.near(index))
        return self[index]
