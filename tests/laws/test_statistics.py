"""Laws of every statistic in the catalogue, by enumerating all datasets and neighbours of tiny worlds."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import pickle

import numpy as np
import pytest

from sordino import catalogue
from sordino.data.memory import Memory
from sordino.errors import ParameterError, Unsupported
from sordino.privacy import Neighbors
from sordino.reading.profile import Profile, Reach, Reading
from sordino.reading.requests import Source
from sordino.statistics import Numeric, Statistic, detours, ordered, shared_neighbours, triangles
from sordino.testing.statistic_laws import violations
from sordino.testing.worlds import World

KINDS = {
    name: kind for name, kind in catalogue.statistics().items() if name != "function"
}  # it has no envelopes
NAMES = sorted(KINDS)
NOTHING = (float("nan"),)


def cases():
    """One parameter per case of every statistic in the catalogue."""
    for name in NAMES:
        for number, case in enumerate(KINDS[name].cases()):
            relation = case.statistic.neighbors.value
            yield pytest.param(case, id=f"{name}-{relation}-{number}")


@pytest.mark.few(25)
@pytest.mark.parametrize("case", list(cases()))
def test_every_law_holds_in_a_world_that_is_enumerated(case):
    """Full depth: equality where claimed; depth 1: the cut to the range keeps every law."""
    largest = max(*case.sizes, len(case.rows) if case.statistic.neighbors.of_graphs else 0)
    for depth in (largest + 2, 1, 0):
        assert list(violations(case, depth))[:5] == []


def dropping():
    """The first replace-one case of every statistic of a numeric column, with rows that are dropped."""
    for name in NAMES:
        for case in KINDS[name].cases():
            statistic = case.statistic
            if isinstance(statistic, Numeric) and statistic.neighbors is Neighbors.REPLACE_ONE:
                statistic = dataclasses.replace(statistic, missing="drop")
                yield pytest.param(
                    dataclasses.replace(case, statistic=statistic, rows=(*case.rows, NOTHING)), id=name
                )
                break


@pytest.mark.few(5)
@pytest.mark.parametrize("case", list(dropping()))
def test_dropping_rows_makes_their_number_private(case):
    """A replaced row may then come or go: every law holds between datasets of different numbers of numbers."""
    for depth in (2 * max(case.sizes) + 2, 1):
        assert list(violations(case, depth))[:5] == []


@pytest.mark.parametrize("case", list(dropping()))
def test_dropped_rows_are_not_read_under_replace_one(case):
    """The one place that doubles is the session's; reading without it would promise too much."""
    statistic = case.statistic
    summary = Memory({name: np.array([1.0, np.nan]) for name in case.columns}).summary(
        statistic.request(depth=1)
    )
    with pytest.raises(Unsupported, match="add/remove form"):
        statistic.read(*summary)


@pytest.mark.parametrize("name", NAMES)
def test_every_relation_has_cases(name):
    """A relation that a class supports is put through the laws."""
    kind = KINDS[name]
    assert {case.statistic.neighbors for case in kind.cases()} == set(kind.relations)


@pytest.mark.parametrize("name", NAMES)
def test_a_statistic_is_a_frozen_description_that_survives_its_dictionary(name):
    """Equal by value, immutable, and rebuilt from plain types."""
    for case in itertools.islice(KINDS[name].cases(), 3):
        statistic = case.statistic
        assert Statistic.from_dict(json.loads(json.dumps(statistic.to_dict(), allow_nan=False))) == statistic
        assert dataclasses.is_dataclass(statistic)
        field = dataclasses.fields(statistic)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(statistic, field, "other")


@pytest.mark.parametrize("name", NAMES)
def test_a_reading_is_sealed(name):
    """It neither prints nor compares nor leaves the process."""
    case = next(iter(KINDS[name].cases()))
    world = World(case)
    reading = world.read(len(world.datasets) - 1, 2)
    assert isinstance(reading, Reading)
    assert repr(reading) == str(reading) == f"{reading}" == "<sealed reading>"
    for leak in (
        pickle.dumps, copy.copy, copy.deepcopy, float, int, bool, hash, list, vars, dataclasses.asdict,
        lambda r: r == r, lambda r: r < r,
    ):  # fmt: skip
        with pytest.raises(TypeError):
            leak(reading)


def test_a_source_speaks_the_protocol():
    """The memory source is one."""
    assert isinstance(Memory({"x": [1.0]}), Source)


# --- the laws themselves must notice errors -------------------------------------------------------


def planted(**changes):
    """A copy of a statistic's class with some methods replaced, under no name."""

    def build(kind):
        return type("Planted", (kind,), {"__slots__": (), "name": "", **changes})

    return build


def caught(kind, build) -> bool:
    """Whether any case of the class breaks a law once the error is planted."""
    broken = build(kind)
    for case in kind.cases():
        fields = {f.name: getattr(case.statistic, f.name) for f in dataclasses.fields(case.statistic)}
        wrong = dataclasses.replace(case, statistic=broken(**fields))
        try:
            found = next(violations(wrong, max(case.sizes) + 2), None)
        except ParameterError:  # an impossible profile or reach is refused by its type
            return True
        if found:
            return True
    return False


def _edit(change):
    """Plant a change of what `open` returns."""

    def build(kind):
        honest = kind.open

        def dishonest(self, summary):
            return change(honest(self, summary))

        return planted(open=dishonest)(kind)

    return build


def _profile(change):
    return _edit(lambda o: dataclasses.replace(o, profile=change(o.profile)))


def _reach(change):
    return _edit(lambda o: o if o.reach is None else dataclasses.replace(o, reach=change(o.reach)))


def _early(profile: Profile) -> Profile:
    """Off by one: the bound of the distance before."""
    if len(profile.bound) < 2:
        return Profile((0,), (0,), 0)
    return Profile(profile.distance, (0, *profile.bound[:-1]), profile.ceiling)


def _late(reach: Reach) -> Reach:
    """Off by one: every interval one distance too late."""
    return Reach(
        (0, *(d + 1 for d in reach.distance)),
        (reach.low[0], *reach.low),
        (reach.high[0], *reach.high),
        reach.tail,
    )


def _endless(reach: Reach) -> Reach:
    """The missing end case: the last interval is forgotten."""
    if len(reach.distance) < 2:
        return Reach((0,), (0,), (0,))
    return Reach(reach.distance[:-1], reach.low[:-1], reach.high[:-1])


ERRORS = {"profile": _profile(_early), "late": _reach(_late), "end": _reach(_endless)}


@pytest.mark.few(25)
@pytest.mark.parametrize(
    ("name", "error"),
    [(name, error) for name in NAMES for error in ERRORS if error == "profile" or not KINDS[name].vector],
)
def test_a_planted_error_is_caught(name, error):
    """An error in a profile or in a reach breaks a law of every statistic that has one."""
    assert caught(KINDS[name], ERRORS[error])


def _without_last_split(runs, first, last, depth):
    """Prop. 40 with t = 0..k instead of 0..k+1: one end of the splits is missing."""
    up = ordered.codes_between(runs, last, last + depth + 1)
    down = ordered.codes_between(runs, first - depth - 1, first)[::-1]
    return np.array([np.max(up[k + 1 : 0 : -1] - down[: k + 1]) for k in range(depth + 1)], np.int64)


def _shifted(runs, first, last, honest=ordered.codes_between):
    """Every rank one too low."""
    return honest(runs, first - 1, last - 1)


def _without_bounds(self, ranks, honest=ordered.Sorted.prefix):
    """Rows beyond the last count as nothing instead of the upper bound."""
    return honest(self, np.minimum(ranks, self.rows))


def _gains_at_once(pairs, depth, most):
    """Every missing link costs one step instead of two halves."""
    common, single = pairs.T if len(pairs) else (np.zeros(1, int), np.zeros(1, int))
    return [int(min(most, np.max(common + np.minimum(s, single)))) for s in range(depth + 1)]


def _no_strangers(apart, graph, degrees):
    """Pairs without a common neighbour are forgotten."""


def _one_way_less(self, edge, height, ways, honest=detours.Detours._flow):
    """One way too few around an edge."""
    return honest(self, edge, height, max(ways - 1, 1))


@pytest.mark.parametrize(
    ("owner", "attribute", "wrong", "names"),
    [
        (
            ordered,
            "block_profile",
            _without_last_split,
            ["median", "quantile", "trimmed-mean", "mean", "maximum"],
        ),
        (ordered, "codes_between", _shifted, ["median", "trimmed-mean", "maximum"]),
        (
            ordered.Sorted,
            "prefix",
            _without_bounds,
            ["median", "quantile", "trimmed-mean", "mean", "winsorized-mean"],
        ),
        (triangles, "_gains", _gains_at_once, ["triangles"]),
        (shared_neighbours, "_strangers", _no_strangers, ["triangles"]),
        (detours.Detours, "_flow", _one_way_less, ["minimum-spanning-tree"]),
    ],
)
def test_an_error_in_the_mathematics_is_caught(monkeypatch, owner, attribute, wrong, names):
    """Off by one in a rank, a missing end case, a forgotten pair: some law of each statistic notices."""
    monkeypatch.setattr(owner, attribute, wrong)
    for name in names:
        assert caught(KINDS[name], lambda kind: kind), name
