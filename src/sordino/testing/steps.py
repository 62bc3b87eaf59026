"""The law of one random choice on known data, held against that of a neighbour; here choices among finitely many.

A step is made by `ForcedDraws` from the very arguments with which a mechanism would have drawn. Two steps of one kind
are compared on parts of their outcomes on which the loss is constant. Noise is in noise_steps.py, the paths that are
walked in replay.py.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sordino.mechanisms.parts.measure import Measure
    from sordino.privacy import Guarantee
    from sordino.testing.densities import Densities, LogLinear

    Floats = NDArray[np.float64]

NEVER = -math.inf


@dataclass(frozen=True, slots=True)
class Parts:
    """Two laws over one partition of the outcomes.

    Attributes:
        outcomes: One outcome of each part, as the mechanism is told it.
        here: Log probability of each part on the table; None where only losses are known.
        there: The same on the neighbour.
        loss: Log ratio of the two laws at each outcome.
        exact: Both laws as densities, where they have some: divergences are taken of them, not of the parts.
        known: Divergences that were worked out before.
    """

    outcomes: Sequence[Any]
    here: Floats | None
    there: Floats | None
    loss: Floats
    exact: Densities | LogLinear | None = None
    known: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def flipped(self) -> Parts:
        """The neighbour held against the table."""
        if "flipped" not in self.known:
            exact: Any = None if self.exact is None else self.exact.flipped()
            self.known["flipped"] = Parts(self.outcomes, self.there, self.here, -self.loss, exact)
        found: Parts = self.known["flipped"]
        return found


@dataclass(frozen=True, kw_only=True)
class Step:
    """One random choice: its law and its part of the price.

    Attributes:
        price: The part of the price that the mechanism gave to it; by outcome for tests with two prices.
    """

    kind: ClassVar[str] = ""
    price: Guarantee | Mapping[Any, Guarantee]

    @property
    def question(self) -> Any:
        """What must be the same on both tables: everything about the choice that is public."""
        return ()

    @property
    def key(self) -> Any:
        """All numbers of the law: steps that have the same are one law."""
        return type(self), *(_hashable(getattr(self, one.name)) for one in fields(self))

    def parts(self, other: Any) -> Parts:
        """Hold this law, of the table, against that of the neighbour."""
        raise NotImplementedError

    def branches(self, outcomes: Sequence[Any]) -> list[Any]:
        """Which of several prices each outcome has."""
        return list(outcomes)

    def paid(self, branch: Any) -> Guarantee:
        """The part of the price that an outcome of a branch was given."""
        return self.price[branch] if isinstance(self.price, Mapping) else self.price


def _hashable(value: Any) -> Any:
    """A value as it is, or its parts where it has some; what cannot be compared is known by its identity."""
    if isinstance(value, np.ndarray):
        return value.shape, tuple(value.ravel().tolist())
    if isinstance(value, Mapping):
        return tuple((key, _hashable(one)) for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_hashable(one) for one in value)
    if is_dataclass(value):
        return type(value), *(_hashable(getattr(value, one.name)) for one in fields(value))
    return value if getattr(type(value), "__eq__", None) is not object.__eq__ else id(value)


def _logs(masses: Sequence[int]) -> Floats:
    return np.array([math.log(mass) if mass > 0 else NEVER for mass in masses])


def _normed(weights: Floats) -> Floats:
    top = weights.max()
    return np.asarray(weights - (top + math.log(float(np.exp(weights - top).sum()))))


def difference(here: Floats, there: Floats) -> Floats:
    """Log ratios; nothing where neither law has the outcome."""
    with np.errstate(invalid="ignore"):
        gap = here - there
    gap[np.isneginf(here) & np.isneginf(there)] = 0.0
    return np.asarray(gap)


@dataclass(frozen=True, kw_only=True)
class ChoiceStep(Step):
    """One of a list, by weights or by permute-and-flip."""

    kind: ClassVar[str] = "choice"
    exponents: tuple[Fraction, ...]
    flips: bool = False

    @property
    def question(self) -> Any:
        """The list."""
        return len(self.exponents), self.flips

    def logs(self) -> Floats:
        """Log probabilities."""
        best = min(self.exponents)
        above = [float(exponent - best) for exponent in self.exponents]
        if not self.flips:
            return _normed(-np.array(above))
        from sordino.mechanisms.selection.permute_and_flip import level_logs

        logs: Any = level_logs(Counter(above), 1)
        return np.array([logs[level] for level in above])

    def parts(self, other: ChoiceStep) -> Parts:
        """Every place of the list."""
        here, there = self.logs(), other.logs()
        return Parts(range(len(here)), here, there, difference(here, there))


@dataclass(frozen=True, kw_only=True)
class RunsStep(Step):
    """A lattice point: runs of points with one exponent each, over a public measure."""

    kind: ClassVar[str] = "lattice"
    starts: NDArray[Any]  # first point of every run, increasing; after the last one comes `after`
    after: int
    exponents: Floats
    measure: Measure

    @property
    def question(self) -> Any:
        """The lattice and its measure."""
        return int(self.starts[0]), self.after, self.measure

    def _at(self, points: NDArray[Any]) -> Floats:
        return self.exponents[np.searchsorted(self.starts, points, side="right") - 1]

    def parts(self, other: RunsStep) -> Parts:
        """Runs of points on which both exponents are constant."""
        edges = np.unique(np.concatenate([self.starts, other.starts]))
        below = [self.measure.below(int(edge)) for edge in (*edges, self.after)]
        masses = np.diff(np.array(below, dtype=object))
        kept = masses > 0
        edges, masses = edges[kept], masses[kept]
        logs = _logs(masses.tolist())
        here, there = (_normed(logs - law._at(edges)) for law in (self, other))
        outcomes = [_holder(self.measure, int(edge)) for edge in edges]
        return Parts(outcomes, here, there, difference(here, there))


def _holder(measure: Measure, first: int) -> int:
    """The first point from `first` on that the measure can hold."""
    return measure.table.holder(measure.below(first))


@dataclass(frozen=True, kw_only=True)
class FlipRunsStep(RunsStep):
    """A lattice point by permute-and-flip over all points; exponents are levels times the slope."""

    kind: ClassVar[str] = "flipped lattice"

    def _at(self, points: NDArray[Any]) -> Floats:
        from sordino.mechanisms.selection.permute_and_flip import level_logs

        counts: Counter[float] = Counter()
        for exponent, size in zip(
            self.exponents.tolist(), np.diff([*self.starts.tolist(), self.after]).tolist(), strict=True
        ):
            counts[exponent] += size
        logs: Any = level_logs(counts, 1)
        found = super()._at(points)
        return np.array([-logs[exponent] for exponent in found.tolist()])
