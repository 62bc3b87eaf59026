"""The search for a plan that does not keep its promise: drawn plans, replayed on hostile pairs of tables.

``python -m sordino.testing.plan_search --seconds 600 --seed 7 mean-interval`` runs it for anyone. What it holds a plan
to: no path of outcomes costs more than the price, no choice more than its part; nothing fails after the debit; nothing
takes long. The pairs of a plan that tell its two tables apart best are changed a little for a few turns.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sordino import catalogue, checks
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.testing.drawn_pairs import HeapPair, PairDrawer
from sordino.testing.drawn_plans import PlanDrawer
from sordino.testing.replay import replay
from sordino.testing.runs import Side

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sordino.testing.drawn_plans import DrawnPlan
    from sordino.testing.replay import Replay
    from sordino.testing.tables import TablePair

PAIRS = 6
"""Pairs of a plan, beside those to which the best of them is changed."""
TURNS = 3
"""So often the best pair of a plan is changed."""
LONG = 2.0
"""CPU seconds of a replay; a plan that takes longer is left after it."""
ENDLESS = 10.0
"""CPU seconds of one release that are too long."""
SHOWN = 5
"""Findings of one mechanism that are kept."""


@dataclass(slots=True)
class Searched:
    """What was seen of one mechanism.

    Attributes:
        name: Of the mechanism.
        plans: How many were drawn that it answers.
        pairs: How many pairs of tables they were replayed on.
        refused: How many questions a session refused.
        left: Plans that were left, because their replay takes long.
        worst: The largest part of a price that was used.
        seconds: CPU time.
        found: Breaches, and what failed or took long, in words with all that it takes to see them again.
    """

    name: str
    plans: int = 0
    pairs: int = 0
    refused: int = 0
    left: int = 0
    worst: float = 0.0
    seconds: float = 0.0
    found: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """For a table."""
        counts = f"{self.plans:6} plans {self.pairs:7} pairs {self.refused:6} refused {self.left:4} left"
        return (
            f"{self.name:22}{counts}  worst {self.worst:.6f} {self.seconds:7.1f} s  {len(self.found)} found"
        )


def search(
    name: str,
    *,
    seed: int = 0,
    plans: int | None = None,
    seconds: float | None = None,
    pairs: int = PAIRS,
    turns: int = TURNS,
) -> Searched:
    """Draw plans of a mechanism and replay them.

    Args:
        name: Of the mechanism.
        seed: The same seed draws the same plans and pairs.
        plans: So many plans.
        seconds: Or as many as so much CPU time allows.
        pairs: Pairs of each.
        turns: So often the best of them is changed.

    Example:
        >>> seen = search("selection", plans=3, pairs=2)
        >>> seen.plans, seen.pairs > 3, seen.worst <= 1 + 1e-6, seen.found
        (3, True, True, [])
    """
    drawer, seen = PlanDrawer(name, np.random.default_rng([seed, *name.encode()])), Searched(name)
    start = time.process_time()
    for plan in drawer.plans():
        # The pairs of a plan do not depend on how many were looked at of those before it.
        searched_plan(plan, np.random.default_rng([seed, seen.plans]), seen, pairs, turns)
        seen.seconds = time.process_time() - start
        if seen.plans == plans or (seconds is not None and seen.seconds > seconds):
            break
    seen.refused = drawer.refused
    seen.found = [*drawer.problems, *seen.found][:SHOWN]
    return seen


def searched_plan(
    plan: DrawnPlan, random: np.random.Generator, seen: Searched, pairs: int = PAIRS, turns: int = TURNS
) -> None:
    """Replay one plan: on drawn pairs, then on changes of the one that tells most."""
    seen.plans += 1
    drawer, best, most = PairDrawer(plan, random), None, -1.0
    for place, pair in enumerate(drawer.pairs(pairs)):
        if not place:
            _released(plan, _tables(plan, pair), seen)
        told = _told(plan, pair, seen)
        if told is None:
            return
        if told > most and isinstance(pair, HeapPair):
            best, most = pair, told
    for _ in range(turns if best is not None else 0):
        assert best is not None
        other = drawer.changed(best)
        told = _told(plan, other, seen)
        if told is None:
            return
        if told >= most:
            best, most = other, told


def _tables(plan: DrawnPlan, pair: HeapPair | TablePair) -> TablePair:
    return pair.tables(plan) if isinstance(pair, HeapPair) else pair


def _told(plan: DrawnPlan, pair: HeapPair | TablePair, seen: Searched) -> float | None:
    """How well the paths of a pair tell its tables apart, all together; None where no more should be replayed."""
    start, tables = time.process_time(), _tables(plan, pair)
    try:
        found: Replay = replay(
            plan.mechanism, plan.statistic, tables.table, tables.neighbour,
            contribution=plan.contribution, grid=plan.grid, walks=1,
        )  # fmt: skip
    except Exception as problem:  # noqa: BLE001 - whatever fails here fails after the debit
        seen.found.append(f"{type(problem).__name__} after the debit: {problem}: {plan.label}: {pair}")
        return None
    seen.pairs += 1
    seen.worst = max(seen.worst, found.worst)
    if found.problems:
        seen.found.append(f"{found.problems[0]}: {plan.label}: {pair}")
        return None
    if time.process_time() - start > LONG:
        seen.left += 1
        return None
    return sum(found.used)


def _released(plan: DrawnPlan, tables: TablePair, seen: Searched) -> None:
    """One real release with its error bar, which must not fail or take long."""
    start = time.process_time()
    try:
        with Side(tables.table) as side:
            answer = plan.mechanism.answer(
                plan.statistic,
                side.ask,
                plan.grid,
                contribution=plan.contribution,
                bits=SeededBits(seen.plans),
            )
        if plan.bar is not None:
            plan.bar.around(answer)
    except Exception as problem:  # noqa: BLE001 - as above
        seen.found.append(f"{type(problem).__name__} in a release: {problem}: {plan.label}: {tables}")
    spent = time.process_time() - start
    if spent > ENDLESS:
        seen.found.append(f"was drawn for {spent:.1f} s: {plan.label}: {tables}")


def searches(names: Iterable[str], *, seed: int, seconds: float) -> list[Searched]:
    """Search several mechanisms for so many CPU seconds together, and print a line for each as soon as it is done."""
    wanted, found = list(names), []
    for name in wanted:
        seen = search(name, seed=seed, seconds=seconds / len(wanted))
        sys.stdout.write(seen.line + "\n" + "".join(f"    {one}\n" for one in seen.found))
        sys.stdout.flush()
        found.append(seen)
    return found


def main() -> int:
    """Search for a while; exit code 4 where something was found, 2 where no such mechanism is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these mechanisms")
    parser.add_argument("--seconds", type=float, default=600, help="CPU time for all of them together")
    parser.add_argument("--seed", type=int, default=0, help="other plans and pairs for another seed")
    wanted = parser.parse_args()
    try:
        checks.whole("plan search", seed=wanted.seed, hint="--seed 7")
        for name in wanted.names:
            catalogue.mechanism(name)
    except ParameterError as refused:
        sys.stderr.write(f"{refused}\n")
        return 2
    found = searches(wanted.names or catalogue.mechanisms(), seed=wanted.seed, seconds=wanted.seconds)
    return 4 if any(one.found for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
