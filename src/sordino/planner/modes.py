"""The three modes of a mean, sum, variance, deviation or second moment in a plan: which one a description suits.

`tight=True` trusts the bounds, the default trusts them unless rows fill a much shorter interval, `loose=True` does not
trust them. What is at stake is said too: a description may be wrong.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError
from sordino.mechanisms.choose import CUT, choose
from sordino.mechanisms.tuned_means import ForLoose
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sordino.planner.report import Plan

MODES: tuple[tuple[str, dict[str, bool]], ...] = (
    ("tight=True", {"tight": True}),
    ("the default", {}),
    ("loose=True", {"loose": True}),
)
NEAR = 1.1  # modes whose errors differ by less suit alike, and then the default is meant
LOOSE_WORST = 70
"""So many times plain noise a loose mean errs where the bounds fit and rows lie far from a heap, at most by half of the
range, and by that where rows are too few to be counted away from the heap (docs/explanation/which_mechanism.md).
"""
SAFE = ((300, 1.2), (0, 1.3))
"""Times plain noise that the default errs within bounds that fit, from so many rows times the strength on."""
SAFE_PRIVATE = ((300, 1.2), (0, 1.6))


def modes(plan: Plan, short: Callable[[float], str]) -> list[str]:
    """Sentences about the three modes; none for other statistics, and where rows are too few for them to differ.

    Args:
        plan: What was planned.
        short: How numbers are written.
    """
    if not CUT & plan.statistic.traits or not plan.counts_rows:
        return []
    errors = {}
    for mode, said in MODES:
        rms = _error(plan, said)
        if rms is not None:
            errors[mode] = rms
    if len(errors) < len(MODES) or len(set(errors.values())) == 1:
        return []
    default, best = errors["the default"], min(errors, key=lambda mode: errors[mode])
    listed = ", ".join(f"{mode} {short(rms)}" for mode, rms in errors.items())
    suits = f"It suits {best}, the default errs {default / errors[best]:.2g} times as much."
    if best == "the default":
        suits = "It suits the default."
    elif default <= NEAR * errors[best]:
        suits = "The default is within a tenth of the best: it suits the default."
    told = f"three modes, rms on this description: {listed}. {suits}"
    plain = errors["tight=True"]
    trusting, worst, safe = (
        "gains nothing where the column fills little of the range",
        "many times more",
        "is safe there",
    )
    if {Trait.MEAN, Trait.TOTAL} & plan.statistic.traits:
        trusting = f"errs by {short(plain)} however little of the range the column fills"
        worst = f"by {_loose_worst(plan, plain, short)}"
        safe = f"stays within {_safe(plan, default / plain):.3g} times {short(plain)}"
    stake = (
        f"At stake if it is wrong: tight=True {trusting}; "
        f"loose=True can err {worst} where the bounds fit after all, on zeros, heaps and top codes; the default "
        f"{safe} unless a few rows lie far outside a short interval that holds all others (`rows_beyond` in an answer "
        "bounds how many)"
    )
    return [f"{told} {stake}"]


def _loose_worst(plan: Plan, plain: float, short: Callable[[float], str]) -> str:
    """How far a loose mean or sum may err within bounds that fit: half of the range, or less where rows are many."""
    assert plan.rows is not None
    half = (float(plan.statistic.high) - float(plan.statistic.low)) / 2  # type: ignore[attr-defined]
    if Trait.TOTAL in plan.statistic.traits:
        half *= plan.rows
    guarded = plan.rows * plan.price.strength >= ForLoose.GUARDED
    if guarded and LOOSE_WORST * plain < half:
        return f"{LOOSE_WORST} times that ({short(LOOSE_WORST * plain)})"
    return f"half of what is possible ({short(half)})"


def _safe(plan: Plan, seen: float) -> float:
    """So many times plain noise the default errs at most within bounds that fit; never less than was just seen."""
    assert plan.rows is not None
    strength = plan.rows * plan.price.strength
    steps = SAFE_PRIVATE if plan.neighbors is Neighbors.ADD_REMOVE_ONE else SAFE
    factor = next(factor for least, factor in steps if strength >= least)
    return max(factor, math.ceil(100 * seen) / 100)


def _error(plan: Plan, said: Mapping[str, Any]) -> float | None:
    """The rms of what a release takes when a mode is asked for, for the neighbours of the plan."""
    from sordino.planner.planning import plan as plan_alone

    asked = dataclasses.replace(plan.statistic, neighbors=plan.neighbors)  # type: ignore[type-var]
    try:
        taken = choose(asked, plan.price, rows=plan.rows, **said)
    except SordinoError:
        return None
    known = next((option.rms for option in plan.options if option.mechanism == taken), None)
    if known is not None:
        return known
    # A mode may take a mechanism that is in no other plan, such as smooth noise with another smoothing.
    told: dict[str, Any] = dict(said)
    alone = plan_alone(
        asked,
        plan.price,
        rows=plan.rows,
        assume=plan.assumed,
        tables=plan.default.tables,
        seed=plan.seed,
        only_default=True,
        **told,
    )
    return alone.default.rms
