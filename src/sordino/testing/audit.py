"""Audits from outside: many runs of a release on two tables, and a lower bound of epsilon that they prove.

The black box beside the white one of replay.py: it looks at answers alone, so it audits anything that can be called,
ours or others'. An event is chosen on one half of the runs and counted on the other, with Clopper-Pearson bounds. It
can refute a promise, never prove one: the answer is "refuted" or "not refuted".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.mechanisms.choose import choose, output_grid
from sordino.testing.tables import TablePair, hostile
from sordino.testing.tree import first_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.privacy import Guarantee
    from sordino.statistics import Case

Table = Mapping[str, Sequence[Any]]
ATOMS = 200  # different answers at most that are put together one by one
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
    runs: int = 4000,
    confidence: float = 0.95,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """Run a release on two neighbouring tables and bound its epsilon from below.

    Args:
        release: Takes a table and gives a number; anything that can be called.
        table: Columns by name.
        neighbour: The same with one person's rows changed.
        epsilon: What is promised.
        delta: What is promised beside it.
        runs: Runs on each table; one half chooses the event, the other is counted.
        confidence: Of the bound.
        progress: Told after every pair of runs how many are done.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> def noisy(table): return len(table["x"]) + rng.laplace(scale=0.8)
        >>> audit(noisy, {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=4000).refuted
        True
        >>> def enough(table): return len(table["x"]) + rng.laplace(scale=1)
        >>> audit(enough, {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=4000).refuted
        False
    """
    if runs < 100 or not 0 < confidence < 1:
        raise ParameterError("audit", "needs at least 100 runs and a confidence below 1", got={"runs": runs})
    here, there = np.empty(runs), np.empty(runs)
    for run in range(runs):
        here[run], there[run] = _number(release(table)), _number(release(neighbour))
        if progress is not None:
            progress(run + 1)
    half = runs // 2
    best: tuple[float, str, Any] = (-math.inf, "", None)
    for one, other in ((here, there), (there, here)):
        for words, event in _events(one[:half], other[:half]):
            found = _bound(event(one[:half]), event(other[:half]), delta, confidence)
            if found > best[0]:
                best = found, words, (one, other, event)
    assert best[2] is not None
    one, other, event = best[2]
    lower = max(_bound(event(one[half:]), event(other[half:]), delta, confidence), 0.0)
    return Audit(
        float(epsilon), float(delta), lower, confidence, runs, _power(epsilon, half, confidence), best[1]
    )


def _number(answer: Any) -> float:
    """An answer as one number: the first of several, and nothing as one too."""
    if answer is None:
        return math.nan
    return float(answer[0] if isinstance(answer, tuple | list) else answer)


def _events(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> list[tuple[str, Callable[[NDArray[np.float64]], NDArray[np.bool_]]]]:
    """Half-lines at quantiles, the most frequent answers, and no answer at all."""
    both = np.concatenate([one, other])
    both = both[~np.isnan(both)]
    found: list[tuple[str, Callable[[NDArray[np.float64]], NDArray[np.bool_]]]] = [("no answer", np.isnan)]
    if not len(both):
        return found
    for cut in np.unique(np.quantile(both, np.linspace(0.01, 0.99, 60))):
        found += [
            (f"at most {cut:.6g}", partial(np.greater_equal, cut)),
            (f"at least {cut:.6g}", partial(np.less_equal, cut)),
        ]
    values, counts = np.unique(both, return_counts=True)
    if len(values) <= ATOMS:  # answers by how much likelier they are on one table, the likeliest together
        many, few = (np.array([np.sum(side == value) for value in values]) for side in (one, other))
        ranked = values[np.argsort(-(many + 1.0) / (few + 1.0))]
        found += [
            (f"one of {size} answers", partial(_among, ranked[:size])) for size in range(1, len(ranked))
        ]
    frequent = values[np.argsort(-counts)][:20]
    return [*found, *((f"exactly {value:.6g}", partial(np.equal, value)) for value in frequent)]


def _among(wanted: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isin(answers, wanted)


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


def worst_pair(case: Case, mechanism: Any, rows: int = 20, runs: int = 4000) -> TablePair:
    """Of the hostile pairs of a world, the one on which so many runs would prove most, by the laws of the replay."""
    found = list(hostile(case, rows))
    return max(found, key=lambda pair: _provable(mechanism, case.statistic, pair, runs // 2))


def _provable(mechanism: Any, statistic: Any, pair: TablePair, runs: int) -> float:
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
            best = max(best, _proved(*counts, runs, 0.0, 0.95))
    return best


def audit_default(
    case: Case,
    price: Guarantee,
    *,
    rows: int = 20,
    runs: int = 4000,
    confidence: float = 0.95,
    progress: Callable[[int], None] | None = None,
    bits: Bits | None = None,
) -> Audit:
    """Audit what a release would take for a statistic, on the pair that tells most; and the same with too little noise.

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
    mechanism = choose(case.statistic, price, rows=rows)
    pair, grid = worst_pair(case, mechanism, rows, runs), output_grid(case.statistic)
    promised = {"epsilon": float(guessing[0]), "delta": float(guessing[1])}

    def audited(one: Any, told: Callable[[int], None] | None) -> Audit:
        def release(table: Table) -> Any:
            source = Memory({name: np.asarray(column) for name, column in table.items()})
            return one.answer(
                case.statistic, lambda request: source.summary(request)[0], grid, bits=bits
            ).value

        return audit(
            release, pair.table, pair.neighbour, runs=runs, confidence=confidence, progress=told, **promised
        )

    found = audited(mechanism, progress)
    loud = audited(choose(case.statistic, price.scaled(1 / Fraction(str(LESS))), rows=rows), None)
    return replace(found, power=loud.lower, weak=f"{mechanism.name} with noise that is 20 % too small")
