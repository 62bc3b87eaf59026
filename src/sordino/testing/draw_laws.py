"""Real draws held against the laws with which the replay reckons: the last link between a proof and what is published.

One real release is watched; each kind of choice that it makes is then made a thousand times with the same numbers, and
its outcomes are compared with the law of the step as a distribution function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import SordinoError
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import output_grid
from sordino.mechanisms.clip.whole_or_interval import Chosen, draw_outcome
from sordino.mechanisms.parts.draws import Draws, ForcedBits
from sordino.testing import cut_steps, flat_steps, joint_steps, noise_steps
from sordino.testing.forced import ForcedDraws, Pending
from sordino.testing.runs import Side
from sordino.testing.survey import asked, chosen
from sordino.testing.tables import filled, hostile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from sordino.mechanisms import Mechanism
    from sordino.statistics import Case
    from sordino.testing.steps import Step

    Floats = NDArray[np.float64]

TRIES = 1000
"""Draws of each choice."""
MANY = 20_000
"""Draws of noise, which takes microseconds: a fifth less of it than is paid for is told apart."""
QUICK = {"noise", "geometric"}
"""The methods of `Draws` that draw it."""
LIMIT = 2.4
"""Largest gap of the distribution functions times the root of the draws: passed once in fifty thousand by chance."""
CASES, LONG, SHORT = 12, 300, 7
"""Cases of a mechanism of which a release is watched, and the rows of their tables: of wide ranges, and of others."""
KINDS = 4
"""Kinds of choices of one mechanism that are looked at."""
CHOICES = tuple(
    name for name in vars(ForcedDraws) if name in vars(Draws) and not name.startswith("_") and name not in
    {"bits", "private", "words", "dither", "noisy_each", "geometrics", "wholes_or_intervals"}
)  # fmt: skip
"""The methods of `Draws` that choose at random and cost something; those for many groups are in joint_draws.py."""


@dataclass(frozen=True, slots=True)
class Made:
    """One choice of a real release: the method of `Draws` and its arguments."""

    method: str
    given: tuple[Any, ...]
    named: dict[str, Any]

    def step(self) -> Step:
        """The choice as the replay sees it."""
        try:
            getattr(ForcedDraws(()), self.method)(*self.given, **self.named)
        except Pending as pending:
            return pending.step
        raise AssertionError(f"{self.method} chose nothing")

    def draw(self, tries: int, seed: int) -> list[Any]:
        """The choice made many times."""
        draws = Draws(SeededBits(seed))
        if self.method == "whole_or_interval":  # what `Draws` does, weighing the intervals once
            family, ends, whole = self.given
            weighed = family.weigh(ends)
            return [draw_outcome(family, weighed, whole, bits=draws.bits) for _ in range(tries)]  # type: ignore[arg-type]
        return [getattr(draws, self.method)(*self.given, **self.named) for _ in range(tries)]


class Watched(Draws):
    """Real draws from seeded words that write down what they were asked.

    Args:
        seed: Of the words.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(SeededBits(seed))
        self.made: list[Made] = []

    def __getattribute__(self, name: str) -> Any:
        if name not in CHOICES:
            return super().__getattribute__(name)
        real = Draws(self.bits)

        def choose(*given: Any, **named: Any) -> Any:
            self.made.append(Made(name, given, named))
            return getattr(real, name)(*given, **named)

        return choose


def watched(kind: type[Mechanism], seed: int = 0) -> Iterator[tuple[str, Made]]:
    """The kinds of choices that real releases of a mechanism make, one of each, with what was asked."""
    seen: set[str] = set()
    cases = sorted(
        chosen(kind), key=lambda case: not any(filled(case.world, LONG))
    )  # where there is a search
    for case in cases[:CASES]:
        statistic = case.world.statistic
        table = _mixed(case.world)
        draws, side = Watched(seed), Side(table)
        try:
            case.mechanism.answer(statistic, side.ask, output_grid(statistic), bits=ForcedBits(draws))
        except SordinoError:
            if asked(case, 1):
                raise
        for made in draws.made:
            if made.method not in seen and len(seen) < KINDS:
                seen.add(made.method)
                yield case.label, made


def _mixed(world: Case) -> Mapping[str, Sequence[Any]]:
    """A table that fills a part of a wide range, or the one with the most different rows: where chance decides."""
    wide = next(filled(world, LONG), None)
    if wide is not None:
        return wide.table
    tables = [pair.table for pair in hostile(world, SHORT)]
    return max(tables, key=lambda table: len(set(zip(*table.values(), strict=True))))


def deviation(made: Made, tries: int = TRIES, seed: int = 1) -> float:
    """How far real draws are from their law: the largest gap times the root of their number.

    Example:
        >>> from sordino.privacy import Pure
        >>> honest = Made("geometric", (5,), {"scale": Fraction(1), "price": Pure(1)})
        >>> deviation(honest) < LIMIT
        True
    """
    step: Any = made.step()
    drawn = made.draw(tries, seed)
    if isinstance(step, flat_steps.PairStep):
        return from_uniform(np.array([step.rank(one) for one in drawn])) * math.sqrt(tries)
    if isinstance(step, joint_steps.CentredStep | noise_steps.RadialStep | joint_steps.CubeStep):
        return from_uniform(
            np.array([_rank(step, one, place) for place, one in enumerate(drawn)])
        ) * math.sqrt(tries)
    whole = isinstance(step, cut_steps.WholeOrIntervalStep)
    outcomes, logs, values = _levels(step, drawn) if whole else _numbers(made, step, drawn)
    cells = isinstance(step, noise_steps.NoiseStep | noise_steps.LineStep)
    if logs is None:  # nothing random: no noise where nothing can move the value
        return 0.0 if len(set(values)) == 1 else math.inf
    return gap(outcomes, logs, values, cells=cells) * math.sqrt(tries)


def gap(outcomes: Sequence[float], logs: Floats, drawn: Sequence[float], *, cells: bool) -> float:
    """The largest gap of two distribution functions; a part is named by its first outcome, a cell by one inside."""
    order = np.argsort(np.asarray(outcomes, float), kind="stable")
    values, below = np.asarray(outcomes, float)[order], np.cumsum(np.exp(logs[order]))
    before = np.concatenate([[0.0], below[:-1]])
    found = np.sort(np.asarray(drawn, float))
    less, most = (np.searchsorted(found, values, side=side) / len(found) for side in ("left", "right"))
    if not cells:
        return float(np.max(np.abs(less - before)[1:], initial=0.0))
    return float(np.max(np.maximum(less - below, before - most), initial=0.0))


def from_uniform(ranks: Floats) -> float:
    """The largest gap between numbers from 0 to 1 and a uniform law."""
    if not len(ranks):
        return 0.0
    ranks, size = np.sort(ranks), len(ranks)
    steps = np.arange(size + 1) / size
    return float(max(np.max(steps[1:] - ranks), np.max(ranks - steps[:-1])))


def _numbers(made: Made, step: Any, drawn: Sequence[Any]) -> tuple[Sequence[float], Any, list[float]]:
    """A choice as a number: of many at once, the first."""
    if isinstance(step, joint_steps.KeysStep):
        key = min(step.amounts, key=str)
        parts = step.parts(replace(step, amounts={**step.amounts, key: 0}))
        shown = [dict(outcome).get(key) for outcome in parts.outcomes]
        drawn = [dict(one).get(key) for one in drawn]
        numbers, values = (
            [-math.inf if one is None else float(one) for one in some] for some in (shown, drawn)
        )
        return numbers, parts.here, values
    if isinstance(step, joint_steps.CellsStep):
        other = step.cells.copy()
        other.reshape(-1)[0] += 1
        parts = step.parts(replace(step, cells=other))
        firsts = [float(np.asarray(one).reshape(-1)[0]) for one in drawn]
        return [float(one[0]) for one in parts.outcomes], parts.here, firsts
    parts, scale = step.parts(step), Fraction(1)
    if made.method == "flat_topped":
        scale = step.grid.step
    firsts = [one[0] if isinstance(one, list | tuple) else one for one in drawn]
    return (
        [float(one) for one in parts.outcomes],
        parts.here,
        [float(Fraction(one) / scale) for one in firsts],
    )


def _levels(step: Any, drawn: Sequence[Any]) -> tuple[Sequence[float], Any, list[float]]:
    """The whole range, or the level of an interval."""
    parts = step.parts(step)
    levels = [-1.0 if branch == cut_steps.WHOLE else 0.0 for branch in step.branches(parts.outcomes)]
    levels = [
        float(parts.outcomes[place][1]) if level == 0.0 else level for place, level in enumerate(levels)
    ]
    own = np.unique(levels)
    logs = np.array([np.logaddexp.reduce(parts.here[np.array(levels) == one]) for one in own])
    return (
        own.tolist(),
        logs,
        [float(one.level) if isinstance(one, Chosen) else -1.0 for one in drawn],
    )


def _rank(step: Any, drawn: Any, place: int) -> float:
    """Where one draw of many numbers lies, from 0 to 1: by its radius, or along one line."""
    from scipy.special import gammainc, ndtr

    if isinstance(step, joint_steps.CentredStep):
        # Rounded to a whole number: anywhere in its cell, by the same golden steps for every run.
        away = float(np.asarray(drawn).reshape(-1)[0]) - step.factor * float(step.margin.reshape(-1)[0])
        low, high = (float(ndtr((away + side) / (step.factor * float(step.sigma)))) for side in (-0.5, 0.5))
        return low + (high - low) * (place * 0.6180339887498949 % 1.0)
    size = float(step.grid.step)
    if isinstance(step, joint_steps.CubeStep):
        pairs = zip(drawn, step.cube.centre, step.cube.scales, strict=True)
        radius = max(
            abs(point * size - float(centre)) / float(scale) for point, centre, scale in pairs if scale
        )
        return float(gammainc(sum(bool(scale) for scale in step.cube.scales), radius))
    from sordino.mechanisms.additive.radial_law import RadialLaw

    shells = step.shells
    gaps = np.array(
        [point * size - float(centre) for point, centre in zip(drawn, shells.centre, strict=True)]
    )
    law = RadialLaw(list(shells.radii), tail=shells.tail, dimension=len(gaps), slope=shells.slope)
    return law.cdf(float(np.linalg.norm(gaps, shells.norm)))


def drawn_as_reckoned(kind: type[Mechanism]) -> Iterator[str]:
    """Real draws have the probabilities with which the replay reckons."""
    for label, made in watched(kind):
        found = deviation(made, MANY if made.method in QUICK else TRIES)
        if found > LIMIT:
            yield f"{label}: {made.method} is drawn from another law than it is paid for ({found:.1f})"
