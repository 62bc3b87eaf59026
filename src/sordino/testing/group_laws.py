"""Many groups are answered as each of them alone: what binds a joint draw to the replay of single answers.

A session asks `answers` for the groups of a split, a replay walks `answer`. Here both run with outcomes that follow
from the law of a choice alone, so that a choice with the same numbers has the same outcome wherever it is made. Then
all groups together must have made the choices of the single answers, each as often, at the same prices, and every group
must be told what it is told alone. How choices are drawn together is joint_draws.py.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import SordinoError
from sordino.mechanisms import Mechanism
from sordino.mechanisms.choose import output_grid
from sordino.mechanisms.parts.draws import ForcedBits
from sordino.privacy import Neighbors
from sordino.testing.forced import ForcedDraws
from sordino.testing.runs import Side
from sordino.testing.survey import asked, chosen, people
from sordino.testing.tables import columns, filled, hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.mechanisms import Answer
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.reading.requests import Ask, Summary
    from sordino.statistics import Case
    from sordino.testing.steps import Step

    Table = Mapping[str, Sequence[Any]]

SHORT, LONG = 7, 60
"""Rows of the groups: of some, and of those that fill a part of a wide range."""
CASES = 12
"""Cases of a mechanism that are compared unless all are wanted, most of them defaults."""


class KeyedDraws(ForcedDraws):
    """Outcomes that follow from the law of a choice and nothing else.

    Args:
        outcomes: By what is known of a choice; filled here, and shared by all runs that are compared.
        seed: Of the outcomes.
    """

    def __init__(self, outcomes: dict[Any, Any], seed: int = 0) -> None:
        super().__init__((), seed)
        self._outcomes, self._random = outcomes, np.random.default_rng(seed)
        self.made: Counter[Any] = Counter()

    def _pause(self, step: Step) -> None:
        key = content(step)
        self.made[key] += 1
        if key not in self._outcomes:
            parts = step.parts(step)
            kept = np.arange(len(parts.outcomes))
            if isinstance(step.price, Mapping):  # as often cut as not
                branches = step.branches(parts.outcomes)
                branch = self._random.choice(sorted(set(branches)))
                kept = np.array([place for place, one in enumerate(branches) if one == branch])
            self._outcomes[key] = parts.outcomes[int(self._random.choice(kept))]
        self.path = (*self.path, self._outcomes[key])

    def dither(self, count: int, width: int) -> Any:
        """The same in every run."""
        return np.random.default_rng((self.seed, width)).integers(0, 1 << width, size=count)


def content(value: Any) -> Any:
    """Everything that a value holds, as something that can be compared and looked up.

    Example:
        >>> content({"a": [1, np.array([2, 3])]}) == content({"a": (1, np.array([2, 3]))})
        True
    """
    if isinstance(value, np.ndarray):
        return value.shape, tuple(value.ravel().tolist())
    if isinstance(value, Mapping):
        return frozenset((key, content(one)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return tuple(content(one) for one in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(content(getattr(value, one.name)) for one in dataclasses.fields(value))
    return value


class TogetherAsks(list[Any]):
    """Groups of a source elsewhere: further questions of some of them can be put together."""

    def together(self, asked_for: Sequence[tuple[int, Ask]]) -> list[Summary]:
        """Answer one question of each of some groups."""
        return [self[place](request) for place, request in asked_for]


def joint(kind: type[Mechanism]) -> bool:
    """Whether a mechanism has a way of its own to answer many groups."""
    return kind.answers is not Mechanism.answers


def groups(world: Case, contribution: int = 1) -> list[Table]:
    """A few tables that differ: heaps and mixtures, short and long, some that fill a wide range, and none at all."""
    found: dict[Any, Table] = {}
    for size in (SHORT, LONG):
        for pair in list(hostile(world, size, contribution))[::3]:
            key = content({name: sorted(rows, key=str) for name, rows in pair.neighbour.items()})
            found.setdefault(key, pair.neighbour)
    tables, long = list(found.values()), [pair.neighbour for pair in filled(world, LONG, contribution)]
    few = long + tables[:: max(len(tables) // (4 - len(long)), 1)][: 4 - len(long)]
    if world.statistic.neighbors is Neighbors.ADD_REMOVE_ONE:
        few.insert(2, columns(world, []))
    return few


def compared(case: MechanismCase, contribution: int = 1, seed: int = 0) -> Iterator[str]:
    """In what the answers of a few groups together differ from those of each alone."""
    statistic, mechanism = case.world.statistic, case.mechanism
    grid, tables = output_grid(statistic), groups(case.world, contribution)
    outcomes: dict[Any, Any] = {}
    alone, made = [], Counter[Any]()
    for table in tables:
        draws = KeyedDraws(outcomes, seed)
        given: Any = {"contribution": contribution, "bits": ForcedBits(draws)}
        alone.append(mechanism.answer(statistic, Side(table).ask, grid, **given))
        made += draws.made
    draws, kind = KeyedDraws(outcomes, seed), TogetherAsks if seed % 2 else list
    asks = kind([Side(table).ask for table in tables])
    found = mechanism.answers(statistic, asks, grid, contribution=contribution, bits=ForcedBits(draws))
    wrong = {one[0].kind for one in (*(made - draws.made), *(draws.made - made))}
    if wrong:
        yield f"together other choices are made than alone ({', '.join(sorted(wrong))})"
    if len(found) != len(alone) or any(map(_differ, alone, found)):
        yield "a group is told something else than alone"


def _differ(one: Answer, other: Answer) -> bool:
    if (one.value, content(dict(one.public))) != (other.value, content(dict(other.public))):
        return True
    return one.noise != other.noise  # bars are made of it


def some_cases(kind: type[Mechanism], *, thorough: bool = False) -> list[MechanismCase]:
    """Cases whose tables can be split into groups: mostly defaults, of all kinds of prices; or all."""
    # One table is one graph or one list of places: nothing to split.
    cases = [
        case
        for case in chosen(kind, thorough=thorough)
        if not case.world.places and not case.world.statistic.neighbors.of_graphs
    ]
    if thorough:
        return cases
    defaults, others = ([case for case in cases if case.default is default] for default in (True, False))
    few = defaults[:: max(len(defaults) * 4 // (3 * CASES), 1)]
    return few + others[:: max(len(others) // max(CASES - len(few), 1), 1)][: max(CASES - len(few), 1)]


def grouped_as_alone(kind: type[Mechanism], *, thorough: bool = False) -> Iterator[str]:
    """Groups that are answered together make the choices, at the prices, that each of them makes alone."""
    if not joint(kind):
        return
    for turn, case in enumerate(some_cases(kind, thorough=thorough)):
        for contribution in people(case):
            try:
                problems = list(compared(case, contribution, turn))
            except SordinoError:
                if asked(case, contribution):
                    raise
                continue
            yield from (f"{case.label}, {contribution} rows per person: {one}" for one in problems)
