"""The exact law of the quantile mechanism on known data: for laws and audits, never for a release."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sordino.mechanisms import matched
from sordino.mechanisms.nested.inverse_sensitivity import lattice_law
from sordino.mechanisms.nested.nested import intervals_of
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw
from sordino.mechanisms.selection.permute_and_flip import FlipLaw, probabilities
from sordino.reading.profile import Reading

if TYPE_CHECKING:
    from sordino.mechanisms import Asking
    from sordino.mechanisms.quantile.plan import QuantilePlan
    from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
    from sordino.reading.profile import Opened


def quantile_law(mechanism: PrivateQuantile, opened: Opened, contribution: int) -> LatticeLaw | MixtureLaw:
    """The law of the answer; a mixture over magnitudes when they come first."""
    plan = mechanism.plan
    if plan.magnitude_share == 0:
        return _after(mechanism, opened, plan, None)
    chances = _magnitudes(mechanism, mechanism.levels(opened, contribution), plan)
    laws = (_after(mechanism, opened, plan, magnitude) for magnitude in mechanism.classes)
    return MixtureLaw(list(zip(chances, laws, strict=True)))


def _magnitudes(mechanism: PrivateQuantile, levels: list[int], plan: QuantilePlan) -> list[float]:
    """The chances of the classes of magnitude."""
    slope = mechanism.price.share(plan.magnitude_share).slope
    if mechanism.price.pointwise:
        return probabilities(levels, slope)
    weights = [math.exp(-float(slope) * (level - min(levels))) for level in levels]
    return [weight / math.fsum(weights) for weight in weights]


def _after(
    mechanism: PrivateQuantile, opened: Opened, plan: QuantilePlan, magnitude: int | None
) -> LatticeLaw:
    """The law of the second step, once a magnitude has been released."""
    measure, slope = mechanism.measure_after(plan, magnitude), mechanism.release_slope(plan)
    family = intervals_of(opened).held(mechanism.depth + 1)
    law = lattice_law(family, opened, plan.threshold, slope, measure)
    if plan.flip:
        return FlipLaw(law.cells, law.slope, last=mechanism.lattice.last, low=law.low, step=law.step)
    return law


def reading_for(
    mechanism: PrivateQuantile, statistic: Any, ask: Asking, contribution: int
) -> tuple[PrivateQuantile, Reading]:
    """The mechanism in the relation of the statistic, and the reading from which its law follows."""
    if mechanism.shift is not None:
        statistic = replace(statistic, shift=mechanism.shift)
    own = matched(mechanism, statistic)
    summary = ask(replace(statistic.request(depth=own.depth * contribution), cuts=own.cuts))
    reading = statistic.read(summary).by(contribution)
    return own, Reading(replace(reading.open(), below=summary.below)) if own.cuts else reading
