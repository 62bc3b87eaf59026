"""Audits from outside: many runs of a release on two tables, and a lower bound of epsilon that they prove.

The black box beside the white one of replay.py: it looks at answers alone, so it audits anything that can be called,
ours or others'. Everything that is published counts, by-products too. An event is chosen on a third of the runs and
counted on the others, with Clopper-Pearson bounds. It can refute a promise, never prove one: the answer is "refuted" or
"not refuted".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.mechanisms import Mechanism as Base
from sordino.mechanisms.choose import output_grid
from sordino.testing.audit_plan import CHOOSING, LESS, RUNS, planned, proved
from sordino.testing.events import published
from sordino.testing.runs import Side

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.mechanisms import Answer, Mechanism
    from sordino.privacy import Guarantee
    from sordino.statistics import Case

Table = Mapping[str, Sequence[Any]]
SURE = 0.99999  # confidence with which events are compared: the best of hundreds must not be the luckiest
LEAST = 100  # runs
HOPE = 0.9  # of epsilon: where fewer is in sight, no more runs are made
TOGETHER = 1000  # runs that are drawn at once
SEVERAL = 8  # numbers of an answer that are looked at


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
        mechanism: What was audited, where it is known.
    """

    epsilon: float
    delta: float
    lower: float
    confidence: float
    runs: int
    power: float
    event: str
    weak: str = "Laplace noise that is 20 % too small"
    mechanism: str = ""

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
        seen = (
            f"{verdict}: epsilon is at least {self.lower:.3f} (promised {self.epsilon:g}, delta {self.delta:g}; "
            f"{100 * self.confidence:g}% confidence, {self.runs} runs on each table; event: {self.event})."
        )
        if self.refuted:  # what else they would have refuted is no question any more
            return seen
        reach = "would" if self.strong else "would NOT"
        return f"{seen}\nSo many runs {reach} refute {self.weak} (bound {self.power:.3f})."

    def to_dict(self) -> dict[str, Any]:
        """Give a record; its power says nothing where the promise is refuted, and is None there."""
        power = {"noise": self.weak, "bound": self.power, "would_refute": self.strong}
        return {
            "refuted": self.refuted, "lower": self.lower, "epsilon": self.epsilon, "delta": self.delta,
            "confidence": self.confidence, "runs": self.runs, "event": self.event,
            "mechanism": self.mechanism or None, "power": None if self.refuted else power,
        }  # fmt: skip


def checked(
    *, epsilon: Any, delta: Any = 0.0, runs: Any = None, confidence: Any = 0.95, rows: Any = 80
) -> tuple[float, float]:
    """Refuse what no audit can be made of, and give the promise in floats.

    Example:
        >>> checked(epsilon=1, confidence=95)
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: audit: confidence must be between 0 and 1, both excluded, got confidence=95.
            It is a probability: 0.95 stands for 95 %.
            Hint: confidence=0.95
    """
    promised = checks.positive(
        "audit", epsilon=epsilon, hint="epsilon=1", why="A bound is held against the promise."
    )
    beside = checks.exact("audit", delta=delta, hint="delta=1e-6")
    if not 0 <= beside < 1:
        raise ParameterError(
            "audit", "delta must be at least 0 and below 1", got={"delta": delta},
            why="It is the probability with which the promise may fail.", hint="delta=1e-6",
        )  # fmt: skip
    if runs is not None:
        checks.whole(
            "audit", at_least=LEAST, runs=runs, hint="runs=4000", why="A third of them chooses the event."
        )
    checks.whole("audit", at_least=1, rows=rows, hint="rows=80")
    checks.between(
        "audit", 0, 1, confidence=confidence, hint="confidence=0.95",
        why="It is a probability: 0.95 stands for 95 %.",
    )  # fmt: skip
    return float(promised), float(beside)


@checks.explained("sd.audit", call="sd.audit(release, table, neighbour, epsilon=1)")
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
    epsilon, delta = checked(epsilon=epsilon, delta=delta, runs=runs, confidence=confidence)
    if not callable(release):
        raise ParameterError(
            "audit", "needs something that can be called with a table", got={"release": release},
            why="It is run many times, and only its answers are looked at.",
            hint="release=lambda table: sd.median(table['x'], epsilon=1, bounds=(0, 100))",
        )  # fmt: skip
    here: list[list[float]] = []
    there: list[list[float]] = []
    for run in range(runs):
        for side, given in ((here, table), (there, neighbour)):
            side.append(_numbers(release(given)))
            if len(side[-1]) != len(here[0]):
                raise ParameterError(
                    "audit", "every answer must have as many numbers",
                    got={"numbers": len(side[-1]), "before": len(here[0])},
                    why="The same place of all answers is looked at.", hint="give None where there is no number",
                )  # fmt: skip
        if progress is not None:
            progress(run + 1)
    return _judged(np.array(here), np.array(there), epsilon, delta, confidence, low_bits=low_bits)


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
            if best[2] is None or found > best[0]:
                best = found, words, (one, other, event)
    assert best[2] is not None  # every audit has events
    one, other, event = best[2]
    lower = max(_bound(event(one[half:]), event(other[half:]), delta, confidence), 0.0)
    power = _power(epsilon, runs - half, confidence)
    return Audit(epsilon, delta, lower, confidence, runs, power, best[1])


def _numbers(answer: Any) -> list[float]:
    """An answer as numbers, and nothing as one too."""
    several = answer.ravel().tolist() if isinstance(answer, np.ndarray) else answer
    several = several if isinstance(several, tuple | list) else [several]
    try:
        if several and not any(isinstance(one, str | bytes) for one in several):
            return [math.nan if one is None else float(one) for one in several]
    except (TypeError, ValueError):
        pass
    kinds = ", ".join(dict.fromkeys(type(one).__name__ for one in several)) or "nothing"
    raise ParameterError(
        "audit", "an answer must be a number or several", got={"type": kinds},
        why="Events are sets of numbers.", hint="give the place of the key, keys.index(answer)",
    ) from None  # fmt: skip


def _bound(one: NDArray[np.bool_], other: NDArray[np.bool_], delta: float, confidence: float) -> float:
    """The epsilon that the counts of one event prove."""
    return proved(int(one.sum()), int(other.sum()), len(one), delta, confidence)


def _power(epsilon: float, runs: int, confidence: float) -> float:
    """The bound for Laplace noise of `LESS` times the right scale, at the expected counts of its best half-line."""
    loss = epsilon / LESS
    bounds = (
        proved(round(runs * p), round(runs * p * math.exp(-loss)), runs, 0.0, confidence)
        for p in (0.5, 0.3, 0.1)
    )
    return max(*bounds, 0.0)


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
        raise ParameterError(
            "audit", "needs a promise of epsilon and delta", got={"price": price},
            why="A bound of epsilon is what it shows.", hint="sd.Approx(1, 1e-6)",
        )  # fmt: skip
    epsilon, delta = checked(
        epsilon=guessing[0], delta=guessing[1], runs=runs, confidence=confidence, rows=rows
    )
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
        one, other = _lines(left, right)
        return _judged(one, other, epsilon, delta, confidence)

    # The size is settled by runs of the loud one alone, so the bound of the other keeps its confidence.
    before = 0.0
    for size in [plan.runs] if runs is not None else [size for size in RUNS if size >= plan.runs]:
        loud = audited(plan.loud, size, None)
        # Four times as many runs halve what is missing, about: where that is not enough, more would be in vain.
        if loud.refuted or (before and 2 * loud.lower - before < HOPE * epsilon):
            break
        before = loud.lower
    found = audited(plan.mechanism, size, progress)
    weak = f"{plan.mechanism.name} with noise that is 20 % too small"
    return replace(found, power=loud.lower, weak=weak, mechanism=plan.mechanism.name)


def _lines(
    left: Sequence[Answer], right: Sequence[Answer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Everything that is published: the first numbers of the answers, and those that come with them.

    Where the answer says its keys itself, the numbers of the commonest keys, and none where a key is not published.
    """
    both = [*left, *right]
    beside = sorted({name for answer in both for name in answer.public})
    seen = Counter(key for answer in both for key in answer.public.get("keys", ()))
    keys = [key for key, _ in seen.most_common(SEVERAL)]

    def line(answer: Answer) -> list[float]:
        numbers = _numbers(answer.value) if answer.value != () else []
        if "keys" in answer.public:
            said = dict(zip(answer.public["keys"], numbers, strict=True))
            numbers = [said.get(key, math.nan) for key in keys]
        others = (answer.public.get(name) for name in beside)
        return [
            *numbers[:SEVERAL],
            *(float(one) if isinstance(one, Rational) else math.nan for one in others),
        ]

    return np.array([line(answer) for answer in left]), np.array([line(answer) for answer in right])


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
