"""The least error that any mechanism can have at a price: two datasets that the promise cannot tell apart.

Data-free apart from generated readings. Proof page: docs/proofs/plan_limit.md. Limits of noise families live in
`sordino.noise.limit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sordino.errors import SordinoError

if TYPE_CHECKING:
    from sordino.planner.trial import Trial
    from sordino.privacy import Guarantee
    from sordino.session.quote import Part

FAR = 64  # people that are moved at most
ALIKE = 1e-6  # beyond this the two datasets are told apart


@dataclass(frozen=True, slots=True)
class Limit:
    """On the data or on data so many people away, every mechanism errs by at least this (root mean square)."""

    error: float
    people: int


def confusion(price: Guarantee, people: int) -> float | None:
    """Half the chance of confusing two datasets: the least root mean square error per distance of their values.

    Example:
        >>> from sordino.privacy import Concentrated, Pure
        >>> round(confusion(Pure(1), 1), 4), round(confusion(Concentrated(0.5), 1), 4)
        (0.4434, 0.3894)
    """
    try:
        return price.confusion(people)
    except SordinoError:
        return None


def least_error(part: Part, trial: Trial, price: Guarantee) -> Limit | None:
    """The best such bound on one generated table; None where no attained distance is known.

    Only envelopes that a dataset attains count, which the laws of the statistics check by brute force.
    """
    statistic = part.statistic
    sides = set(statistic.exact) & {"low", "high"}
    if statistic.vector or not (sides or "profile" in statistic.exact):
        return None
    depth = FAR * part.contribution
    while depth > part.contribution and (confusion(price, depth // part.contribution) or 0) < ALIKE:
        depth //= 2
    opened = statistic.read(trial.ask(0)(statistic.request(depth=depth))).by(part.contribution).open()
    step = float(opened.units.step)
    best: Limit | None = None
    for people in range(1, depth // part.contribution + 1):
        share = confusion(price, people)
        if share is None:
            break
        moved = 0.0
        if opened.reach is not None and sides and people <= opened.reach.distance[-1]:
            low, high = opened.reach.at(people)
            ends = {"low": opened.value - low, "high": high - opened.value}
            moved = step * max(float(ends[side]) for side in sides)
        elif people == 1 and "profile" in statistic.exact:
            moved = step * float(opened.profile.at(0))
        if best is None or share * moved > best.error:
            best = Limit(share * moved, people)
    return best if best is not None and best.error > 0 else None
