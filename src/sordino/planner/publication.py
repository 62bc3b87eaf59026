"""`proposed_shares`: how to share the price of a whole publication among its statistics, before data are touched.

Each statistic is tried as the publication asks for it (unit, filter, groups, interval) at several parts of the price,
on generated columns that suit the bounds. Shares make the largest ratio of privacy error to sampling error as small as
possible, as `plan_budget` does for single releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.errors import SordinoError
from sordino.planner.assumed import assumed
from sordino.planner.expected import expected
from sordino.planner.split import CLOSE, TRIED, balanced_shares, usual_value
from sordino.planner.trial import Trial

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.session.quote import Question
    from sordino.statistics import Statistic

TABLES, DRAWS, SAMPLES = 2, 16, 12


@dataclass(frozen=True, slots=True)
class Proposed:
    """One statistic of a publication with the share that suits it.

    Attributes:
        share: Its proposed part of the whole price.
        rms: The error to expect then.
        sampling: How much the statistic varies between samples of this size without any privacy; one per cent of what
            does not vary.
    """

    share: Fraction
    rms: float
    sampling: float


def proposed_shares(
    asked: Sequence[tuple[Statistic, Callable[[Guarantee], Question]]],
    price: Guarantee,
    rows: int | None,
    *,
    progress: Callable[[int], None] | None = None,
) -> list[Proposed | None]:
    """Propose a share of the price for each statistic; None for those of which no error can be foreseen.

    Args:
        asked: Each statistic, and how its question is put at a price.
        price: What all may cost together.
        rows: How many rows the data have, roughly.
        progress: Is called after each statistic.

    Example:
        >>> from sordino.privacy import Neighbors, Pure, Unit
        >>> from sordino.session.quote import prepare
        >>> from sordino.statistics.count import Count
        >>> def asking(price):
        ...     return prepare(Count("age"), price, neighbors=Neighbors.REPLACE_ONE, unit=Unit())
        >>> [float(one.share) for one in proposed_shares([(Count("age"), asking)] * 2, Pure(1), 1000)]
        [0.5, 0.5]
    """
    curves: list[list[tuple[float, float]]] = []
    sampling: list[float] = []
    places: list[int] = []
    for place, (_, ask) in enumerate(asked):
        points, measure = _tried(ask, price, rows)
        if len(points) > 1:
            places.append(place)
            curves.append(points)
            sampling.append(measure)
        if progress is not None:
            progress(1)
    found: list[Proposed | None] = [None] * len(asked)
    for place, share, measure in zip(
        places, balanced_shares(curves, sampling) if curves else [], sampling, strict=True
    ):
        try:
            (option,) = expected(asked[place][1](price.share(share)), rows, tables=TABLES, draws=DRAWS)
        except SordinoError:
            continue
        if option is not None:
            found[place] = Proposed(share, option.rms, measure)
    return found


def _tried(
    ask: Callable[[Guarantee], Question], price: Guarantee, rows: int | None
) -> tuple[list[tuple[float, float]], float]:
    """Errors at several shares, and what they are compared with in one group."""
    points, measure = [], 0.0
    for part in TRIED:
        try:
            question = ask(price.share(Fraction(part).limit_denominator(1000)))
            (option,) = expected(question, rows, tables=TABLES, draws=DRAWS)
        except SordinoError:
            continue
        if option is None or not 0 < option.rms < math.inf:
            continue
        points.append((part, option.rms))
        if len(points) == 1:
            each = (
                rows
                if question.event.by is None or rows is None
                else max(1, rows // len(question.event.by["keys"]))
            )
            measure = _measure(question.parts[0].statistic, each)
    return points, measure


def _measure(statistic: Statistic, rows: int | None) -> float:
    """The sampling error, or one per cent of a statistic that does not vary between samples, such as a count."""
    trial = Trial(statistic, assumed(None, statistic), rows=rows, seed=0)
    varies = float(trial.sampling_error(SAMPLES))
    return varies or CLOSE * usual_value(trial)
