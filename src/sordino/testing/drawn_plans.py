"""Plans at random: what a session may be asked, far from the cases of the catalogue, and how it would answer.

The cases of the catalogue hold prices, rows and hints fixed, and a promise may fail beside them. `PlanDrawer` draws all
of these: a statistic, a relation, a price of any kind and amount, a declared number of rows, hints, rows per person, a
filter or a split. How it is answered is decided by the code of a session; what that refuses is refused before anything
is spent. Rows times a price are often drawn beside the constants at which plans change (`constants`).
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sordino.coverage import Population, Sample
from sordino.errors import SordinoError
from sordino.hints import Hints
from sordino.mechanisms import kinds, tuned, tuned_means, tuned_tables
from sordino.mechanisms.choose import FOR_BARS
from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Neighbors,
    Pure,
    TruncatedConcentrated,
    Unit,
)
from sordino.reading.requests import Condition
from sordino.reading.split import Split
from sordino.session.quote import prepare
from sordino.testing.drawn_statistics import EXTREME, StatisticDrawer, ends, logarithmic, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from sordino.lattice import Lattice
    from sordino.mechanisms import Mechanism
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.privacy import Guarantee
    from sordino.session.bars import Bar
    from sordino.statistics import Case, Statistic

TRIES = 200
"""Questions that are drawn for one plan of a mechanism before it is given up."""
AMOUNTS = (0.01, 60.0)
"""Epsilons and rhos; now and then one far beyond."""
BEYOND = (1e-3, 1e3)
"""Where those are that lie beyond; a session that is asked for less looks at millions of rows."""
DELTAS = (1e-12, 1e-2)
MOST_ROWS = 10**6
"""Declared rows."""
BESIDE = (0.01, 0.1, 0.5)
"""How far beside a constant rows times a price lie, in their logarithm."""
LONG = 10.0
"""CPU seconds of a preparation that is too long."""


@dataclass(frozen=True, slots=True)
class DrawnPlan:
    """A question that a session would answer, and how.

    Attributes:
        mechanism: What answers.
        world: What is asked, in the form in which a session reads it, and rows of its tables.
        contribution: How many rows one person moves, as the mechanism is told.
        grid: The public lattice of answers.
        rows: The declared number of rows.
        said: The rest of what was said, for a report.
        bar: How the error bar of an answer is made, where one was asked for.
    """

    mechanism: Mechanism
    world: Case
    contribution: int
    grid: Lattice
    rows: int | None
    said: str
    bar: Bar | None = None

    @property
    def statistic(self) -> Statistic:
        """What is asked."""
        return self.world.statistic

    @property
    def label(self) -> str:
        """All of it, so that it can be built again by hand."""
        return f"{self.mechanism!r} of {self.statistic!r}, {self.contribution} rows per person; {self.said}"


@lru_cache(maxsize=1)
def constants() -> tuple[float, ...]:
    """Every tuned number that may be a threshold of rows times a price: there the plans of the mechanisms change.

    Example:
        >>> {100.0, 250.0, 350.0, 2500.0} <= set(constants())
        True
    """
    found = set()
    for module in (tuned, tuned_means, tuned_tables):
        for group in vars(module).values():
            for value in vars(group).values() if isinstance(group, type) else ():
                for one in value if isinstance(value, tuple) else (value,):
                    if isinstance(one, int | float | Fraction) and 5 <= one <= 5000:
                        found.add(float(one))
    return tuple(sorted(found))


class PlanDrawer:
    """Draws plans of a mechanism.

    Args:
        name: Of the mechanism.
        random: Where they come from.

    Attributes:
        refused: How many questions were refused before anything was spent.
        problems: Questions at which a session broke down where it should have refused, or which it prepared too long.
    """

    def __init__(self, name: str, random: np.random.Generator) -> None:
        self.name, self.random = name, random
        self.refused = 0
        self.problems: list[str] = []

    def plans(self) -> Iterator[DrawnPlan]:
        """Plans by which this mechanism answers, for ever; none where too many questions in a row lead elsewhere."""
        while True:
            found = next(filter(None, (self._drawn() for _ in range(TRIES))), None)
            if found is None:
                return
            yield found

    def _drawn(self) -> DrawnPlan | None:
        known, said, start = _known(self.name), "", time.process_time()
        case = known[int(self.random.integers(len(known)))]
        try:
            world = StatisticDrawer(self.random).varied(case.world)
            own = type(case.mechanism.guarantee)
            price = self._of_kind(own) if self.random.random() < 0.5 else self._price()
            people = self._people(world)
            rows = self._rows(price, people)
            hints = self._hints(world.statistic)
            said = f"{world.statistic!r}, {price!r}, rows={rows}, {people} rows per person, {hints}"
            plan = self._asked(case, world, price, people, rows, hints)
        except SordinoError:
            self.refused += 1
            return None
        except Exception as problem:  # noqa: BLE001 - whatever cannot be answered is refused with a hint
            self.problems.append(f"{type(problem).__name__} before the debit: {problem}: {said}")
            return None
        spent = time.process_time() - start
        if spent > LONG:
            self.problems.append(f"was prepared for {spent:.1f} s: {said}")
        return plan if plan.mechanism.name == self.name else None

    def _asked(
        self,
        case: MechanismCase,
        world: Case,
        price: Guarantee,
        people: int,
        rows: int | None,
        hints: dict[str, Any],
    ) -> DrawnPlan:
        """What a session would answer: by its default, or by a mechanism that was given."""
        given = None
        if self.name not in FOR_BARS and (not case.default or self.random.random() < 0.2):
            given = self._given(case, world.statistic, price, rows, hints["hints"])
        asked: dict[str, Any] = self._relation(world.statistic)
        asked["unit"] = Unit("person", people) if people > 1 else Unit()
        if given is None:
            asked |= hints
        price = price if given is None else given.guarantee
        question = prepare(world.statistic, price, rows=rows, mechanism=given, **asked)
        part = question.parts[0]
        read = dataclasses.replace(world, statistic=part.statistic)
        said = f"rows={rows}, {price!r}, {', '.join(f'{name}={one!r}' for name, one in asked.items())}"
        return DrawnPlan(part.mechanism, read, part.contribution, part.grid, rows, said, part.bar)

    def _given(
        self, case: MechanismCase, statistic: Any, price: Guarantee, rows: int | None, hints: dict[str, Any]
    ) -> Mechanism | None:
        """A mechanism built by hand: one that a plan shows, or that of the case at a price of the same kind."""
        kind, own = type(case.mechanism), case.mechanism.guarantee
        asked = Hints(rows=rows, **hints)
        shown = [*kind.offers(statistic, price, asked), *kind.alternatives(statistic, price, asked)]
        shown = [one for one in shown if type(one) is kind]
        if shown:
            return shown[int(self.random.integers(len(shown)))]
        names = _fields(kind)
        if "price" not in names or type(case.mechanism.price) is not type(own):
            return None
        changed: dict[str, Any] = {"price": price if type(price) is type(own) else self._of_kind(type(own))}
        if "rows" in names and rows is not None:
            changed["rows"] = rows
        if "lattice" in names:
            changed["lattice"] = statistic.grid.answers
        return dataclasses.replace(case.mechanism, **changed)  # type: ignore[type-var]

    def _relation(self, statistic: Statistic) -> dict[str, Any]:
        """Under whose neighbours it is asked: as it is read, or replace-one with a filter, or by groups."""
        found: dict[str, Any] = {"neighbors": statistic.neighbors}
        if statistic.neighbors.of_graphs or Neighbors.ADD_REMOVE_ONE not in statistic.relations:
            return found
        turn = self.random.random()
        if turn < 0.12:
            found |= {"neighbors": Neighbors.REPLACE_ONE, "where": (Condition("w", "<", 5),)}
        elif turn < 0.2:
            found["by"] = Split.of("g", ("a", "b", "c"))
        return found

    def _people(self, world: Case) -> int:
        """Rows of one person."""
        alone = world.statistic.neighbors.of_graphs or bool(world.places)
        return 1 if alone else int(self.random.choice([1, 1, 1, 2, 3, 5]))

    def _of_kind(self, kind: type[Guarantee]) -> Guarantee:
        """A price of one kind."""
        return next(price for price in iter(self._price, None) if type(price) is kind)

    def _price(self) -> Guarantee:
        random = self.random
        least, most = BEYOND if random.random() < EXTREME else AMOUNTS
        amount = Fraction(str(written(logarithmic(random, least, most))))
        delta = Fraction(str(written(logarithmic(random, *DELTAS))))
        turn = random.random()
        if turn < 0.4:
            return Pure(amount)
        if turn < 0.6:
            return Approx(amount, delta)
        if turn < 0.8:
            return Concentrated(amount)
        if turn < 0.88:
            return TruncatedConcentrated(amount, Fraction(str(written(logarithmic(random, 1.1, 1000)))))
        return ApproxConcentrated(amount, delta) if turn < 0.91 else BoundedRange(amount)

    def _rows(self, price: Guarantee, people: int) -> int | None:
        """Declared rows: of any number, or such that rows times the price lie beside a constant."""
        random, turn = self.random, self.random.random()
        if turn < 0.05:
            return None
        if turn < 0.25:
            return int(logarithmic(random, 1, MOST_ROWS))
        away = random.normal(0, BESIDE[int(random.integers(len(BESIDE)))])
        moved = (1, people, 2 * people)[int(random.integers(3))]
        constant = constants()[int(random.integers(len(constants())))]
        return int(min(max(constant * math.exp(away) * moved / max(price.nats, 1e-6), 1), MOST_ROWS))

    def _hints(self, statistic: Statistic) -> dict[str, Any]:
        """What a caller may add: nothing, one thing, or several by chance; and a bar."""
        random = self.random
        low, high = ends(statistic) or (0.0, 1.0)
        width = high - low
        place = (-0.5, 0.0, 0.01, 0.5, 1.0, random.random())[int(random.integers(6))]
        known: dict[str, Any] = {
            "tight": True, "loose": True, "symmetric": True, "centre": written(low + width * place),
            "spread": width * written(logarithmic(random, 1e-7, 2)),
            "occupied": written(min(logarithmic(random, 1e-4, 1.5), 1.0)),
            "smoothing": Fraction(str(written(logarithmic(random, 1e-3, 3)))),
        }  # fmt: skip
        names, turn = list(known), random.random()
        own = [name for name in names if name in _fields(kinds()[self.name])] or names
        modes = [name for name in ("tight", "loose") if name in own] or own  # each has a plan of its own
        if turn < 0.5:
            among = modes if turn < 0.3 else own
            chosen = [among[int(random.integers(len(among)))]]
        else:
            chosen = [name for name in names if turn < 0.75 and random.random() < 0.3]
        if {"tight", "loose"} <= set(chosen):  # a session refuses both
            chosen.remove(("tight", "loose")[int(random.integers(2))])
        said: dict[str, Any] = {"hints": {name: known[name] for name in chosen}}
        if self.name in FOR_BARS or random.random() < 0.15:
            level = (0.5, 0.9, 0.99, 0.9999)[int(random.integers(4))]
            said["interval"] = (Sample, Population)[int(random.integers(2))](level)
        return said


def _fields(kind: Any) -> set[str]:
    """The public parameters of a mechanism: a hint of the same name steers it."""
    return {field.name for field in dataclasses.fields(kind)}


@lru_cache(maxsize=64)
def _known(name: str) -> Sequence[MechanismCase]:
    """Where the drawing begins: of a mechanism's cases one of each statistic, relation and kind of price."""
    found: dict[Any, MechanismCase] = {}
    for case in kinds()[name].cases():
        statistic, price = case.world.statistic, case.mechanism.guarantee
        found.setdefault(
            (statistic.name, statistic.neighbors, statistic.traits, price.kind, case.default), case
        )
    return tuple(found.values())
