"""The laws of a statistic: envelopes by enumeration, a sealed reading, a default that keeps its price.

Every dataset and every neighbour of the tiny worlds of `Statistic.cases` is enumerated.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import math
import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError
from sordino.mechanisms.choose import choose
from sordino.mechanisms.parts.cases import PRICES
from sordino.statistics import Statistic
from sordino.testing.replay import replay
from sordino.testing.tables import hostile
from sordino.testing.worlds import World, drops

if TYPE_CHECKING:
    from sordino.statistics import Case


def violations(case: Case, depth: int) -> Iterator[str]:
    """Every law that a case breaks, in words; empty for a right statistic."""
    world = World(case)
    statistic = case.statistic
    exact = () if drops(statistic) else statistic.exact
    far = world.largest + 1
    opened = [world.read(i, depth).open() for i in range(len(world.datasets))]
    for i, here in enumerate(opened):
        data = world.datasets[i]
        if here.value != world.values[i]:
            yield f"value of {data}: {here.value}, defined {world.values[i]}"
        if here.bottom is not None and not here.bottom <= here.value <= here.top:
            yield f"value of {data} outside its range"
        for k in range(far):
            brute = world.local_at(i, k)
            bound = here.profile.at(k)
            if bound < brute - (1e-9 if isinstance(brute, float) else 0):
                yield f"profile of {data} at {k}: {bound} < {brute}"
            tight = "profile" in exact and k <= depth and world.whole(i, k + 1) and data
            if tight and bound != brute:
                yield f"profile of {data} at {k}: {bound} is not {brute}"
        if here.reach is None:
            continue
        if not here.reach.low[0] <= here.value <= here.reach.high[0]:
            yield f"reach of {data} misses its value"
        for l in range(far):
            least, most = world.envelope(i, l)
            low, high = here.reach.at(l)
            if low > least or high < most:
                yield f"reach of {data} at {l}: [{low}, {high}] misses [{least}, {most}]"
            full = l <= depth and world.whole(i, l) and data
            if full and "low" in exact and low != least:
                yield f"reach of {data} at {l}: low {low} is not {least}"
            if full and "high" in exact and high != most:
                yield f"reach of {data} at {l}: high {high} is not {most}"
    for i, here in enumerate(opened):
        for j, d in world.near(i):
            if d != 1:
                continue
            there = opened[j]
            pair = f"{world.datasets[i]} and {world.datasets[j]}"
            for k in range(far + 1):
                if here.profile.at(k) > there.profile.at(k + 1):
                    yield f"profiles of {pair} at {k}: {here.profile.at(k)} > {there.profile.at(k + 1)}"
                if here.reach is not None and there.reach is not None:
                    (low, high), (lower, higher) = here.reach.at(k), there.reach.at(k + 1)
                    if low < lower or high > higher:
                        yield f"reaches of {pair} at {k}: [{low}, {high}] not in [{lower}, {higher}]"
            for smoothing in (0.05, 0.7):
                one, other = here.profile.smooth(smoothing), there.profile.smooth(smoothing)
                if one > other * math.exp(smoothing) * (1 + 1e-12):
                    yield f"smooth bounds of {pair}: {one} and {other} at {smoothing}"


def envelopes(kind: type[Statistic]) -> Iterator[str]:
    """Value, profile and reach against brute force, at full depth and cut short."""
    for case in kind.cases():
        edge = case.statistic.neighbors.of_graphs
        largest = max(*case.sizes, len(case.rows) if edge else 0)
        for depth in (largest + 2, 1, 0):
            yield from itertools.islice(violations(case, depth), 3)


def relations(kind: type[Statistic]) -> Iterator[str]:
    """Every relation that is declared has a case."""
    tried = {case.statistic.neighbors for case in kind.cases()}
    for relation in set(kind.relations) ^ tried:
        yield f"{relation.value}: declared and tried do not agree"


def description(kind: type[Statistic]) -> Iterator[str]:
    """It survives its dictionary and cannot be changed."""
    for case in itertools.islice(kind.cases(), 3):
        statistic = case.statistic
        written = json.dumps(statistic.to_dict(), allow_nan=False)
        if kind.name and Statistic.from_dict(json.loads(written)) != statistic:
            yield f"{statistic} is another one after its dictionary"
        try:
            setattr(statistic, dataclasses.fields(statistic)[0].name, "other")  # type: ignore[arg-type]
            yield f"{statistic} can be changed"
        except dataclasses.FrozenInstanceError:
            pass


def sealed(kind: type[Statistic]) -> Iterator[str]:
    """A reading neither prints nor compares nor leaves the process."""
    world = World(next(iter(kind.cases())))
    reading: Any = world.read(len(world.datasets) - 1, 2)
    if repr(reading) != "<sealed reading>":
        yield "a reading prints"
    for leak in (pickle.dumps, copy.copy, copy.deepcopy, float, int, bool, hash, list, vars):
        try:
            leak(reading)
            yield f"a reading gives way to {leak.__name__}"
        except TypeError:
            pass


def defaults(kind: type[Statistic]) -> Iterator[str]:
    """What a release takes by default keeps its price on hostile pairs."""
    for case in itertools.islice(kind.cases(), 2):
        if drops(case.statistic):
            continue
        for price, (turn, rows) in itertools.product(PRICES[:3], enumerate((None, 80))):
            try:
                mechanism = choose(case.statistic, price, rows=rows)
            except SordinoError:
                continue
            for pair in list(hostile(case, 12, 1))[turn::4]:
                seen = replay(mechanism, case.statistic, pair.table, pair.neighbour, walks=1)
                yield from (f"{mechanism.name} at {price}: {problem}" for problem in seen.problems)


LAWS = {
    "envelopes of every dataset": envelopes,
    "every relation has cases": relations,
    "a frozen description": description,
    "a sealed reading": sealed,
    "defaults keep their price (replay)": defaults,
}
