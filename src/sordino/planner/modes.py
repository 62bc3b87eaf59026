"""The three modes of a mean, sum, variance, deviation or second moment in a plan: which one a description suits.

`tight=True` trusts the bounds, the default trusts them unless rows fill a much shorter interval, `loose=True` does not
trust them. What is at stake is said too: a description may be wrong.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError
from sordino.mechanisms.choose import choose
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sordino.planner.report import Plan

MODAL = {Trait.MEAN, Trait.TOTAL, Trait.VARIANCE, Trait.DEVIATION, Trait.MOMENT}
MODES: tuple[tuple[str, dict[str, bool]], ...] = (
    ("tight=True", {"tight": True}),
    ("the default", {}),
    ("loose=True", {"loose": True}),
)
NEAR = 1.1  # modes whose errors differ by less suit alike, and then the default is meant
LOOSE_WORST = 70
"""So many times plain noise a loose mean errs where the bounds fit and rows lie far from a heap: 71 on half of 201 at
the bound (docs/explanation/which_mechanism.md).
"""


def modes(plan: Plan, short: Callable[[float], str]) -> list[str]:
    """Sentences about the three modes; none for other statistics, and where rows are too few for them to differ.

    Args:
        plan: What was planned.
        short: How numbers are written.
    """
    if not MODAL & set(plan.statistic.traits) or not plan.counts_rows:
        return []
    errors = {}
    for mode, said in MODES:
        rms = _error(plan, said)
        if rms is not None:
            errors[mode] = rms
    if len(errors) < len(MODES) or len(set(errors.values())) == 1:
        return []
    default, best = errors["the default"], min(errors, key=lambda mode: errors[mode])
    suits = "the default" if default <= NEAR * errors[best] else best
    listed = ", ".join(f"{mode} {short(rms)}" for mode, rms in errors.items())
    costs = (
        "" if suits == "the default" else f", the default errs {default / errors[suits]:.2g} times as much"
    )
    told = f"three modes, rms on this description: {listed}. It suits {suits}{costs}."
    plain = errors["tight=True"]
    worst, safe = "many times more", "is safe there"
    if {Trait.MEAN, Trait.TOTAL} & set(plan.statistic.traits):
        worst, safe = (
            f"up to {LOOSE_WORST} times more ({short(LOOSE_WORST * plain)})",
            f"stays within 1.2 times {short(plain)}",
        )
    stake = (
        f"At stake if it is wrong: tight=True errs by {short(plain)} however little of the range the column fills; "
        f"loose=True can err {worst} where the bounds fit after all, on zeros, heaps and top codes; the default "
        f"{safe} unless a few rows lie far outside a short interval that holds all others (`rows_beyond` in an answer "
        "bounds how many)"
    )
    return [f"{told} {stake}"]


def _error(plan: Plan, said: Mapping[str, Any]) -> float | None:
    """The rms of the option that a release takes when a mode is asked for, for the neighbours of the plan."""
    asked = dataclasses.replace(plan.statistic, neighbors=plan.neighbors)  # type: ignore[type-var]
    try:
        label = choose(asked, plan.price, rows=plan.rows, **said).label
    except SordinoError:
        return None
    return next(
        (option.rms for option in plan.options if option.name.removesuffix(", no hints") == label), None
    )
