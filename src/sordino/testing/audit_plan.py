"""How a statistic is audited: on which two tables, and by how many runs, so that 20 % less noise would be refuted.

The laws of the replay say it, of the mechanism with too little noise: those of its first choice where that spends
nearly all of the price, else those of all choices along the likeliest outcomes, as if each were made alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.choose import choose, output_grid
from sordino.mechanisms.parts.cases import widened
from sordino.testing.runs import Side
from sordino.testing.tables import TablePair, hostile
from sordino.testing.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sordino.mechanisms import Mechanism
    from sordino.privacy import Guarantee
    from sordino.statistics import Case
    from sordino.testing.steps import Parts

    Floats = NDArray[np.float64]

CHOOSING = 3  # one run in so many chooses the event, the others count it
RUNS = (
    4000,
    16000,
    64000,
    256000,
)  # the first of these that would refute too little noise is taken by default
FEW = (1, 3, 9)  # rows of the tables that are tried beside as many as are declared
ROOM = 1.04  # of epsilon: the expected bound lies so far above it, so that chance seldom hides the breach
LESS = 0.8  # the noise of the mechanism that an audit of this size must refute
CHOICES = 16  # of one release that are put together
CELLS = 400  # of their losses that are told apart


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """How a statistic is audited.

    Attributes:
        statistic: In its tiny world, or over a wide range.
        mechanism: What a release would take.
        loud: The same with noise that is 20 % too small.
        pair: The tables on which the loud one would be refuted with the fewest runs.
        runs: So many; the fewest where no laws say how many.
    """

    statistic: Any
    mechanism: Mechanism
    loud: Mechanism
    pair: TablePair
    runs: int


@dataclass(frozen=True, slots=True)
class AuditReach:
    """What answers tell two tables apart: masses of cells, by falling loss.

    Attributes:
        here: On the table; empty where only losses are known.
        there: On the neighbour.
        span: How far the losses lie apart.
    """

    here: Floats
    there: Floats
    span: float

    def reach(self, runs: int, delta: float, confidence: float) -> float:
        """The bound of epsilon at the expected counts of the best event."""
        best = 0.0
        here, there = (np.cumsum(law) for law in (self.here, self.there))
        for many, few in ((here, there), (1 - there, 1 - here)):
            for k in np.unique(np.linspace(0, len(here) - 1, 40).astype(int)) if len(here) else ():
                counts = round(runs * min(max(many[k], 0), 1)), round(runs * min(max(few[k], 0), 1))
                best = max(best, proved(*counts, runs, delta, confidence))
        return best


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
    epsilon, delta = (float(one) for one in price.guessing)  # type: ignore[union-attr]
    wide = widened(case)
    plans: list[AuditPlan] = []
    for world in [case] if wide is None else [case, wide]:
        honest, loud = (
            choose(world.statistic, one, rows=rows, **(hints or {}))
            for one in (price, price.scaled(1 / Fraction(str(LESS))))
        )
        start = AuditPlan(world.statistic, honest, loud, TablePair({}, {}), RUNS[0] if runs is None else runs)
        for few in dict.fromkeys((rows, *FEW)):
            plans += [replace(start, pair=pair) for pair in hostile(world, few)]

    def best(laws: Sequence[AuditReach], size: int) -> tuple[float, AuditPlan]:
        """The pair with the largest bound; where none has one, that with the largest losses."""
        counted = size - size // CHOOSING
        found = [(law.reach(counted, delta, confidence), law.span) for law in laws]
        place = max(range(len(plans)), key=found.__getitem__)
        return found[place][0], plans[place]

    for choices in (1, CHOICES):
        laws = [_reach_of(plan, choices) for plan in plans]
        for size in RUNS:
            reach, plan = best(laws, size)
            if reach > ROOM * epsilon:
                return replace(plan, runs=size) if runs is None else best(laws, runs)[1]
    return best(laws, RUNS[-1] if runs is None else runs)[1]


def _reach_of(plan: AuditPlan, choices: int) -> AuditReach:
    """The law of so many choices of the mechanism with too little noise, each as if it were made alone."""
    found: list[Parts] = []
    path: tuple[Any, ...] = ()
    with Side(plan.pair.table) as here, Side(plan.pair.neighbour) as there:
        tree = Tree(plan.loud, plan.statistic, (here, there), output_grid(plan.statistic))
        while len(found) < choices and (parts := tree.node(path).parts) is not None:
            found.append(parts)
            likely = -np.abs(parts.loss) if parts.here is None or parts.there is None else parts.here
            path = (*path, parts.outcomes[int(np.argmax(likely))])
    one, other = np.ones(1), np.ones(1)
    for parts in found:
        if parts.here is None or parts.there is None:
            continue
        one, other = _fewer(
            *(
                np.outer(before, np.exp(law)).ravel()
                for before, law in ((one, parts.here), (other, parts.there))
            )
        )
    span = sum(float(parts.loss.max() - parts.loss.min()) for parts in found)
    return AuditReach(one, other, span) if len(one) > 1 else AuditReach(one[:0], other[:0], span)


def _fewer(here: Floats, there: Floats) -> tuple[Floats, Floats]:
    """Cells by falling loss; those with about the same are put together where there are many."""
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.nan_to_num(np.log(here) - np.log(there))
    order = np.argsort(-loss)
    here, there = here[order], there[order]
    if len(order) <= CELLS:
        return here, there
    after = np.cumsum(here + there)
    firsts = np.unique(np.searchsorted(after, np.linspace(0, after[-1], CELLS), side="right"))
    firsts = np.unique([0, *firsts[firsts < len(order)]])
    return np.add.reduceat(here, firsts), np.add.reduceat(there, firsts)


def proved(many: int, few: int, runs: int, delta: float, confidence: float) -> float:
    """The epsilon that counts of one event prove: ``log((p - delta) / q)`` with a Clopper-Pearson bound of each.

    Example:
        >>> round(proved(700, 300, 1000, 0.0, 0.95), 2)
        0.71
    """
    from scipy.stats import beta

    doubt = (1 - confidence) / 2  # half of it for either
    least = float(beta.ppf(doubt, many, runs - many + 1)) if many else 0.0
    most = float(beta.ppf(1 - doubt, few + 1, runs - few)) if few < runs else 1.0
    return math.log((least - delta) / most) if least > delta else -math.inf
