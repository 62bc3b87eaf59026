"""Quantiles of many groups in one go: the draws of `quantile.PrivateQuantile`, on arrays.

The same two steps and the same laws, group by group independent; what is public (plan, weights by level, measures) is
worked out once. The amount of work depends on public numbers: groups, levels, lattice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sordino.exact.bits import Bits
from sordino.mechanisms import Answer
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.rings import CELLS, Rings
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
    from sordino.reading.requests import Summary
    from sordino.statistics.quantile import Quantile

    Codes = NDArray[np.int64]


def draw_groups(
    mechanism: PrivateQuantile,
    statistic: Quantile,
    summaries: Sequence[Summary],
    *,
    contribution: int = 1,
    bits: Bits | None = None,
) -> list[Answer]:
    """One answer per summary.

    Args:
        mechanism: What answers, matched to the relation in which the statistic is read.
        statistic: An order statistic.
        summaries: What the source said of each group, all to the mechanism's request; private.
        contribution: How many rows one person may have.
        bits: A source of random words; fresh ones by default.
    """
    draws = Draws.of(Bits() if bits is None else bits)
    size = max(1, CELLS // (mechanism.depth * contribution + 2))
    answers: list[Answer] = []
    for start in range(0, len(summaries), size):
        some = summaries[start : start + size]
        answers += _answers(mechanism, statistic, some, contribution, draws)
    return answers


def _answers(
    mechanism: PrivateQuantile,
    statistic: Quantile,
    summaries: Sequence[Summary],
    contribution: int,
    draws: Draws,
) -> list[Answer]:
    plan, lattice = mechanism.plan, mechanism.lattice
    reaches = statistic.reaches(summaries)
    assert reaches is not None
    reaches = reaches.by(contribution)
    rings = Rings.between(reaches.low, reaches.high, plan.threshold)
    slope, rest = mechanism.release_slope(plan), mechanism.price.share(1 - plan.magnitude_share)
    private = draws.private
    if plan.flip:
        points = draws.flip_lattice(rings, slope, price=rest)
        return [Answer(one, {}, private) for one in lattice.reals(points)]
    if plan.magnitude_share == 0:
        points = draws.lattice(rings, plan.measure, slope, price=rest)
        return [Answer(one, {}, private) for one in lattice.reals(points)]
    below = np.array([summary.below for summary in summaries], np.int64)
    classes = _classes(mechanism, reaches.rows, below, contribution, draws)
    drawn = np.zeros(len(rings), np.int64)
    for place in np.unique(classes).tolist():
        chosen = np.flatnonzero(classes == place)
        measure = mechanism.measure_after(plan, mechanism.classes[place])
        part = Rings(rings.low[chosen], rings.high[chosen])
        drawn[chosen] = draws.lattice(part, measure, slope, price=rest)
    magnitudes = [lattice.step * 2**j for j in mechanism.classes]
    return [
        Answer(one, {"magnitude": magnitudes[place]}, private)
        for one, place in zip(lattice.reals(drawn.tolist()), classes.tolist(), strict=True)
    ]


def _classes(
    mechanism: PrivateQuantile, rows: Codes, below: Codes, contribution: int, draws: Draws
) -> NDArray[np.intp]:
    """Release the class of magnitude of every group, as a place among the mechanism's classes."""
    levels = class_levels(mechanism, rows, below, contribution)
    part = mechanism.price.share(mechanism.plan.magnitude_share)
    slope: Fraction = part.slope
    if not mechanism.price.pointwise:
        exponents = [[slope * level for level in one] for one in levels.tolist()]
        return np.array([draws.choice(one, price=part) for one in exponents])
    return np.array(draws.flips(levels, slope, price=part))


def class_levels(mechanism: PrivateQuantile, rows: Codes, below: Codes, contribution: int) -> Codes:
    """How many persons must change so that each class holds the middle row, per group; sensitivity 1.

    Args:
        mechanism: Its public classes and cuts.
        rows: The number of rows of each group; private unless the relation fixes it.
        below: For each group and cut, the number of rows below.
        contribution: How many rows one person may move.
    """
    anchor, last = mechanism.plan.anchor, mechanism.lattice.last
    column = {cut: place for place, cut in enumerate(mechanism.cuts)}
    none = np.zeros_like(rows)

    def count(code: int) -> Codes:
        return none if code <= 0 else rows if code > last else below[:, column[code]]

    inside = [count(anchor + 2**j) - count(anchor - 2**j + 1) for j in mechanism.classes]
    inside[-1] = rows
    after = np.stack(inside, axis=1)
    before = np.concatenate([none[:, None], after[:, :-1]], axis=1)
    if mechanism.neighbors is Neighbors.REPLACE_ONE:
        rank = ((rows + 1) // 2)[:, None]
        raw = np.maximum(np.maximum(before - rank + 1, rank - after), 0)
    else:  # the number of rows is private: twice the distance from half of them
        total = rows[:, None]
        raw = np.maximum(np.maximum(2 * before - total, total - 2 * after), 0)
    found: Codes = -(-raw // contribution)
    return found
