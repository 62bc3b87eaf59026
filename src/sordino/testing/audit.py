"""Audits from outside: many runs of a release on two tables, and a lower bound of epsilon that they prove.

The black box beside the white one of replay.py: it looks at answers alone, so it audits anything that can be called,
ours or others'. Everything that is published counts, by-products too. An event is chosen on a third of the runs and
counted on the others, with Clopper-Pearson bounds. It can refute a promise, never prove one: the answer is "refuted" or
"not refuted".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.mechanisms import Mechanism as Base
from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.parts.cases import widened
from sordino.testing.events import published
from sordino.testing.runs import Side
from sordino.testing.tables import TablePair, hostile
from sordino.testing.tree import first_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.mechanisms import Answer, Mechanism
    from sordino.privacy import Guarantee
    from sordino.statistics import Case

Table = Mapping[str, Sequence[Any]]
CHOOSING = 3  # one run in so many chooses the event, the others count it
SURE = 0.99999  # confidence with which events are compared: the best of hundreds must not be the luckiest
TOGETHER = 1000  # runs that are drawn at once
RUNS = (
    4000,
    16000,
    64000,
    256000,
)  # the first of these that would refute too little noise is taken by default
SEVERAL = 8  # numbers of an answer that are looked at
FEW = (1, 3, 9)  # rows of the tables that are tried beside as many as are declared
ROOM = 1.04  # of epsilon: the expected bound lies so far above it, so that chance seldom hides the breach
LESS = 0.8  # the noise of the mechanism that an audit of this size must refute


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit saw.

    Attributes:
        epsilon: What was promised.
        delta: What was promised beside it.
        lower: Epsilon is at least this, with the stated confidence.
        confidence: Probability that `lower` is a true bound.
        runs: Runs on each of the two tables.
        power: The bound that the same number of runs shows for a mechanism with noise 20 % too small: measured where
            the mechanism is known, else about, for Laplace noise.
        event: The answers that tell the tables apart, in words.
        weak: What the power is about.
    """

    epsilon: float
    delta: float
    lower: float
    confidence: float
    runs: int
    power: float
    event: str
    weak: str = "Laplace noise that is 20 % too small"

    @property
    def refuted(self) -> bool:
        """Whether the promise is broken, with the stated confidence."""
        return self.lower > self.epsilon

    @property
    def strong(self) -> bool:
        """Whether so many runs would refute noise that is 20 % too small."""
        return self.power > self.epsilon

    def __str__(self) -> str:
        verdict = "REFUTED" if self.refuted else "not refuted"
        reach = "would" if self.strong else "would NOT"
        return (
            f"{verdict}: epsilon is at least {self.lower:.3f} (promised {self.epsilon:g}, delta {self.delta:g}; "
            f"{self.confidence:.0%} confidence, {self.runs} runs on each table; event: {self.event}).\n"
            f"So many runs {reach} refute {self.weak} (bound {self.power:.3f})."
        )


def audit(
    release: Callable[[Table], Any],
    table: Table,
    neighbour: Table,
    *,
    epsilon: float,
    delta: float = 0.0,
    runs: int = 8000,
    confidence: float = 0.95,
    low_bits: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """Run a release on two neighbouring tables and bound its epsilon from below.

    Args:
        release: Takes a table and gives a number, or several, always as many; anything that can be called.
        table: Columns by name.
        neighbour: The same with one person's rows changed.
        epsilon: What is promised.
        delta: What is promised beside it.
        runs: Runs on each table; a third of them chooses the event, the others are counted.
        confidence: Of the bound.
        low_bits: Whether the last bits of the answers are looked at too, which tell floating-point noise apart from
            noise on a lattice; without them only the size of the answers is.
        progress: Told after every pair of runs how many are done.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> def noisy(table): return len(table["x"]) + rng.laplace(scale=0.8)
        >>> audit(noisy, {"x": [1]}, {"x": [1, 2]}, epsilon=1).refuted
        True
        >>> def enough(table): return len(table["x"]) + rng.laplace(scale=1)
        >>> audit(enough, {"x": [1]}, {"x": [1, 2]}, epsilon=1, low_bits=False).refuted
        False
        >>> audit(enough, {"x": [1]}, {"x": [1, 2]}, epsilon=1).event  # doubles near 2 are coarser than those near 1
        'no multiple of 2^-52'
    """
    if runs < 100 or not 0 < confidence < 1:
        raise ParameterError("audit", "needs at least 100 runs and a confidence below 1", got={"runs": runs})
    here, there = [], []
    for run in range(runs):
        here.append(_numbers(release(table)))
        there.append(_numbers(release(neighbour)))
        if progress is not None:
            progress(run + 1)
    return _judged(
        np.array(here), np.array(there), float(epsilon), float(delta), confidence, low_bits=low_bits
    )


def _judged(
    here: NDArray[np.float64],
    there: NDArray[np.float64],
    epsilon: float,
    delta: float,
    confidence: float,
    *,
    low_bits: bool = True,
) -> Audit:
    """Choose an event on the first part of the answers and count it on the rest."""
    runs = len(here)
    half = runs // CHOOSING
    best: tuple[float, str, Any] = (-math.inf, "", None)
    for one, other in ((here, there), (there, here)):
        for words, event in published(one[:half], other[:half], low_bits=low_bits):
            found = _bound(event(one[:half]), event(other[:half]), delta, SURE)
            if found > best[0]:
                best = found, words, (one, other, event)
    assert best[2] is not None
    one, other, event = best[2]
    lower = max(_bound(event(one[half:]), event(other[half:]), delta, confidence), 0.0)
    power = _power(epsilon, runs - half, confidence)
    return Audit(epsilon, delta, lower, confidence, runs, power, best[1])


def _numbers(answer: Any) -> list[float]:
    """An answer as numbers, and nothing as one too."""
    several = answer if isinstance(answer, tuple | list) else [answer]
    return [math.nan if one is None else float(one) for one in several]


def _bound(one: NDArray[np.bool_], other: NDArray[np.bool_], delta: float, confidence: float) -> float:
    """The epsilon that the counts of one event prove."""
    return _proved(int(one.sum()), int(other.sum()), len(one), delta, confidence)


def _proved(many: int, few: int, runs: int, delta: float, confidence: float) -> float:
    """``log((p - delta) / q)`` with a Clopper-Pearson bound of each, half of the doubt for either."""
    from scipy.stats import beta

    doubt = (1 - confidence) / 2
    least = float(beta.ppf(doubt, many, runs - many + 1)) if many else 0.0
    most = float(beta.ppf(1 - doubt, few + 1, runs - few)) if few < runs else 1.0
    return math.log((least - delta) / most) if least > delta else -math.inf


def _power(epsilon: float, runs: int, confidence: float) -> float:
    """The bound for Laplace noise of `LESS` times the right scale, at the expected counts of its best half-line."""
    loss = epsilon / LESS
    return max(
        _proved(round(runs * p), round(runs * p * math.exp(-loss)), runs, 0.0, confidence)
        for p in (0.5, 0.3, 0.1)
    )


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """How a statistic is audited.

    Attributes:
        statistic: In its tiny world, or over a wide range.
        mechanism: What a release would take.
        loud: The same with noise that is 20 % too small.
        pair: The tables on which the loud one would be refuted with the fewest runs.
        runs: So many.
    """

    statistic: Any
    mechanism: Mechanism
    loud: Mechanism
    pair: TablePair
    runs: int


def planned(
    case: Case,
    price: Guarantee,
    *,
    rows: int,
    runs: int | None,
    confidence: float,
    hints: Mapping[str, Any] | None = None,
) -> AuditPlan:
    """The pair of tables that tells most by the laws of the replay, and runs that refute 20 % less noise on it."""
    epsilon = float(price.guessing[0])  # type: ignore[index]
    delta = float(price.guessing[1])  # type: ignore[index]
    sizes = RUNS if runs is None else (runs,)
    wide = widened(case)
    worlds = [case] if wide is None else [case, wide]
    for size in sizes:
        counted = size - size // CHOOSING
        plans = []
        for world in worlds:
            statistic = world.statistic
            honest, loud = (
                choose(statistic, one, rows=rows, **(hints or {}))
                for one in (price, price.scaled(1 / Fraction(str(LESS))))
            )
            for pair in (pair for few in dict.fromkeys((rows, *FEW)) for pair in hostile(world, few)):
                reach = _provable(loud, statistic, pair, counted, delta, confidence)
                plans.append((reach, AuditPlan(statistic, honest, loud, pair, size)))
        reach, plan = max(plans, key=lambda one: one[0])
        if reach > ROOM * epsilon:
            break
    return plan


def _provable(
    mechanism: Any, statistic: Any, pair: TablePair, runs: int, delta: float, confidence: float
) -> float:
    """The bound at the expected counts of the best event of the first choice."""
    parts = first_parts(mechanism, statistic, pair.table, pair.neighbour)
    if parts is None or parts.here is None or parts.there is None:
        return 0.0
    order = np.argsort(-parts.loss)
    here, there = (np.cumsum(np.exp(law[order])) for law in (parts.here, parts.there))
    best = 0.0
    for many, few in ((here, there), (1 - there, 1 - here)):
        for k in np.unique(np.linspace(0, len(order) - 1, 40).astype(int)):
            counts = round(runs * min(max(many[k], 0), 1)), round(runs * min(max(few[k], 0), 1))
            best = max(best, _proved(*counts, runs, delta, confidence))
    return best


def audit_default(
    case: Case,
    price: Guarantee,
    *,
    rows: int = 80,
    runs: int | None = None,
    confidence: float = 0.95,
    hints: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
    bits: Bits | None = None,
) -> Audit:
    """Audit what a release would take for a statistic, on the pair that tells most; and the same with too little noise.

    Args:
        case: The statistic in a tiny world.
        price: What is promised.
        rows: How many rows are declared.
        runs: Runs on each of the two tables; by default so many that the same mechanism with too little noise is
            refuted, a quarter of a million at most.
        confidence: Of the bound.
        hints: What the caller says of the column, as in a release: `loose`, `tight`, `centre`, ...
        progress: Told how many runs of how many are done.
        bits: A source of random words.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.count import Count
        >>> found = audit_default(next(iter(Count.cases())), Pure(1), runs=2000, bits=SeededBits(1))
        >>> found.refuted, found.strong
        (False, True)
    """
    guessing = price.guessing
    if guessing is None:
        raise ParameterError("audit", "needs a promise of epsilon and delta", got={"price": price})
    plan = planned(case, price, rows=rows, runs=runs, confidence=confidence, hints=hints)

    def audited(mechanism: Mechanism, size: int, told: Callable[[int, int], None] | None) -> Audit:
        pair, statistic = plan.pair, plan.statistic
        here, there = (_answers(mechanism, statistic, table, bits) for table in (pair.table, pair.neighbour))
        left: list[Answer] = []
        right: list[Answer] = []
        for first in range(0, size, TOGETHER):
            after = min(first + TOGETHER, size)
            left += here(after - first)
            right += there(after - first)
            if told is not None:
                told(after, size)
        beside = sorted({name for answer in (*left, *right) for name in answer.public})
        one, other = (np.array([_line(answer, beside) for answer in side]) for side in (left, right))
        return _judged(one, other, float(guessing[0]), float(guessing[1]), confidence)

    # The size is settled by runs of the loud one alone, so the bound of the other keeps its confidence.
    for size in [plan.runs] if runs is not None else [size for size in RUNS if size >= plan.runs]:
        loud = audited(plan.loud, size, None)
        if loud.refuted:
            break
    found = audited(plan.mechanism, size, progress)
    weak = f"{plan.mechanism.name} with noise that is 20 % too small"
    return replace(found, power=loud.lower, weak=weak)


def _line(answer: Answer, beside: Sequence[str]) -> list[float]:
    """Everything that is published: the first numbers of the answer, and those that come with it."""
    others = (answer.public.get(name) for name in beside)
    numbers = (float(one) if isinstance(one, Rational) else math.nan for one in others)
    return [*_numbers(answer.value)[:SEVERAL], *numbers]


def _answers(
    mechanism: Mechanism, statistic: Any, table: Table, bits: Bits | None
) -> Callable[[int], list[Answer]]:
    """Many answers about one table: drawn together or from one reading, where the mechanism can."""
    side, grid = Side(table), output_grid(statistic)
    if type(mechanism).answers is not Base.answers:
        return lambda count: list(mechanism.answers(statistic, [side.ask] * count, grid, bits=bits))
    if mechanism.reads_once:
        reading = mechanism.reading(statistic, side.ask, 1)
        return lambda count: [mechanism.draw(reading, grid, bits=bits) for _ in range(count)]
    return lambda count: [mechanism.answer(statistic, side.ask, grid, bits=bits) for _ in range(count)]
