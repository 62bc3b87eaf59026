"""What is promised covers what is run: every statistic with every mechanism, relation and norm of the catalogue.

Either the mechanism refuses before anything is spent, or its law keeps its price on every pair of neighbours.
"""

import contextlib
import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino import catalogue
from sordino.data.memory import Memory
from sordino.errors import ParameterError, Unsupported
from sordino.lattice import FiniteLattice, Lattice
from sordino.mechanisms import Mechanism
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.radial import RadialLaplace
from sordino.mechanisms.clip.symmetric_mean import SymmetricMean
from sordino.mechanisms.extreme.extreme import Extreme
from sordino.mechanisms.nested.inverse_sensitivity import InverseSensitivity
from sordino.mechanisms.parts.measure import Measure
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.privacy import Neighbors, Pure, Unit
from sordino.reading.traits import Trait
from sordino.session.quote import prepare
from sordino.statistics import Case
from tests.support.promise_pairs import PLAIN, SMOOTH, built, cases, exceeded, small, tables

CASES = list(cases())
MECHANISMS = catalogue.mechanisms()


def label(case):
    statistic = case.statistic
    return f"{statistic.name}-{statistic.neighbors.value}-{statistic.norm:g}-{len(statistic.traits)}"


@pytest.mark.few(12)
@pytest.mark.parametrize("case", CASES, ids=label)
def test_every_mechanism_refuses_or_keeps_its_promise(case):
    statistic, covered = case.statistic, 0
    world = small(case)
    for kind in MECHANISMS.values():
        for mechanism in built(kind, statistic):
            asked = {"neighbors": statistic.neighbors, "unit": Unit(), "rows": 3, "mechanism": mechanism}
            if mechanism.refusal(statistic) is not None:
                with pytest.raises(Unsupported, match="not covered by the theorem"):
                    prepare(statistic, mechanism.guarantee, **asked)
                continue
            covered += 1
            prepare(statistic, mechanism.guarantee, **asked)
            logs = tables(mechanism, world)
            if logs is not None:
                assert exceeded(mechanism, world, logs) <= 1e-9, (mechanism, statistic)
    assert covered  # every statistic has at least one mechanism


def test_every_mechanism_covers_something():
    covering = {
        name
        for name, kind in MECHANISMS.items()
        for case in CASES
        for mechanism in built(kind, case.statistic)
        if mechanism.refusal(case.statistic) is None
    }
    assert covering == set(MECHANISMS) - {"blocks"}  # it answers functions, which have no tiny worlds of rows


# The cases that were seen -------------------------------------------------------------------------------------------


def violation(mechanism, case, rows=3):
    """By how much a refused mechanism would have exceeded its promise."""
    assert mechanism.refusal(case.statistic) is not None
    world = small(case, rows)
    return exceeded(mechanism, world, tables(mechanism, world))


def test_an_extreme_does_not_answer_a_median():
    statistic = sd.Median("x", low=0, high=7, step=1, neighbors=Neighbors.ADD_REMOVE_ONE)
    case = Case(statistic, tuple((x,) for x in (0, 1, 4, 7)))
    mechanism = Extreme(price=Pure(1), lattice=FiniteLattice(Fraction(0), Fraction(1), 7), upper=True, rows=3)
    assert violation(mechanism, case) > 0.5
    session = sd.open({"x": [1.0, 2.0, 3.0]}, budget=Pure(3), neighbors=Neighbors.ADD_REMOVE_ONE)
    with pytest.raises(Unsupported, match="not covered"):
        session.release(statistic, Pure(1), mechanism=mechanism)
    assert session.remaining == Pure(3)


@pytest.mark.parametrize(("norm", "order"), [(1, math.inf), (2, math.inf), (1, 2)])
def test_balls_of_another_norm_do_not_answer(norm, order):
    """In ten dimensions the sum norm is ten times the largest coordinate, and the Euclidean one root ten times."""
    names = tuple(f"c{k}" for k in range(10))
    parts = [sd.Median(name, low=0, high=5, step=1) for name in names]
    case = Case(sd.Vector(tuple(parts), order=order), ((0,) * 10, (5,) * 10), (2,), columns=names)
    assert violation(RadialLaplace(price=Pure(1), norm=norm, dimension=10), case, 2) > 0.5
    right = RadialLaplace(price=Pure(1), norm=order, dimension=10)
    assert right.refusal(case.statistic) is None
    world = small(case, 2)
    assert exceeded(right, world, tables(right, world)) <= 1e-9


def test_a_composite_promises_what_its_parts_promise():
    expensive = Additive(calibration=catalogue.noise_family("laplace").calibrate(Pure(50), smoothing=0))
    mean = sd.Mean("x", low=0, high=10)
    mechanism = SymmetricMean(trimmed=1, rows=10, inner=expensive)
    assert mechanism.guarantee == Pure(50)
    session = sd.open({"x": list(range(10))}, budget=Pure(3))
    with pytest.raises(ParameterError, match="costs more than the price"):
        session.release(mean, Pure(1), mechanism=mechanism)
    assert session.remaining == Pure(3)


@pytest.mark.parametrize("inner", [PLAIN, SMOOTH], ids=["global", "smooth"])
def test_a_calibration_made_by_hand_is_not_believed(inner):
    mean = sd.Mean("x", low=0, high=10)
    assert inner.refusal(mean) is None
    for wrong in (
        {"scale": inner.calibration.scale * Fraction(99, 100)},
        {"guarantee": Pure(Fraction(9, 10))},
        {"smoothing": inner.calibration.smoothing + Fraction(1, 10)},
    ):
        forged = Additive(calibration=dataclasses.replace(inner.calibration, **wrong))
        assert "calibration" in forged.refusal(mean)
        assert "calibration" in SymmetricMean(trimmed=1, rows=9, inner=forged).refusal(mean)


def test_a_mechanism_for_other_bounds_or_another_measure_is_refused():
    median = sd.Median("x", low=0, high=7, step=1)
    right, wrong = FiniteLattice(Fraction(0), Fraction(1), 7), FiniteLattice(Fraction(0), Fraction(1), 6)
    assert PrivateQuantile(price=Pure(1), lattice=right).refusal(median) is None
    assert "lattice" in PrivateQuantile(price=Pure(1), lattice=wrong).refusal(median)
    for last, fits in ((7, True), (6, False)):
        measure = Measure.uniform(last)
        for mechanism in (
            PrivateQuantile(price=Pure(1), lattice=right, measure=measure),
            InverseSensitivity(price=Pure(1), measure=measure),
        ):
            assert (mechanism.refusal(median) is None) is fits
    assert InverseSensitivity(price=Pure(1), measure=Measure.uniform(0)).refusal(
        sd.Sum("x", low=0, high=7, step=1)
    )


def test_a_mechanism_that_declares_nothing_answers_nothing():
    class Silent(Mechanism):
        guarantee = Pure(1)

        def draw(self, reading, grid, *, bits=None):
            raise AssertionError("nothing may be drawn")

        def law(self, reading):
            raise AssertionError("there is none")

    session = sd.open({"x": [1.0]}, budget=Pure(3))
    with pytest.raises(Unsupported, match="does not say which statistics"):
        session.release(sd.Count("x"), Pure(1), mechanism=Silent())
    for nonsense in ("polyplace", 7, Silent):
        with pytest.raises(ParameterError, match="mechanism is a mechanism"):
            session.release(sd.Count("x"), Pure(1), mechanism=nonsense)
    assert session.remaining == Pure(3)


def test_a_relation_that_a_mechanism_does_not_declare_is_refused():
    class Personal(Additive):
        relations = (Neighbors.REPLACE_ONE,)

    mechanism = Personal(calibration=PLAIN.calibration)
    assert mechanism.refusal(sd.Count("x")) is None
    assert "add-remove-one" in mechanism.refusal(sd.Count("x", neighbors=Neighbors.ADD_REMOVE_ONE))


# Traits are true -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=label)
def test_statistics_are_what_they_say(case):
    world, statistic, traits = small(case), case.statistic, case.statistic.traits
    ranges = {}
    for index, data in enumerate(world.datasets):
        opened = world.read(index, 4).open()
        assert isinstance(opened.value, tuple) == bool(
            traits & {Trait.VECTOR, Trait.KEY, Trait.CELLS, Trait.MARGINS, Trait.LEVELS}
        )
        assert (Trait.REACH in traits) == (opened.reach is not None)
        if Trait.RANGE in traits:
            ends = (opened.bottom, opened.top)
            if None in ends:
                assert opened.reach.tail is None
                ends = opened.reach.low[-1], opened.reach.high[-1]
            rows = len(data) if statistic.neighbors is Neighbors.REPLACE_ONE else None
            assert ranges.setdefault(rows, ends) == ends  # a function of public numbers
        if Trait.COLUMN in traits:
            assert (opened.bottom, opened.top) == (0, statistic.grid.last)
        if Trait.WHOLE in traits:
            assert opened.units == Lattice()
            assert Fraction(opened.value).denominator == Fraction(opened.profile.ceiling).denominator == 1
        if data and traits & {Trait.ROW, Trait.LARGEST, Trait.SMALLEST}:
            codes = world.encoded(data)
            assert opened.value in codes
            assert Trait.LARGEST not in traits or opened.value == max(codes)
            assert Trait.SMALLEST not in traits or opened.value == min(codes)
    if statistic.euclidean is not None:
        worst = max(
            math.dist(world.values[one], world.values[other])
            for one in range(len(world.datasets))
            for other, distance in world.near(one)
            if distance == 1
        )
        assert worst <= statistic.euclidean


# The lattice of every published number -------------------------------------------------------------------------------

AWKWARD = [
    {"low": 0.05, "high": 80.05, "step": Fraction(1, 100)},
    {"low": -0.1, "high": 1e6 + 0.3, "step": None},
]


def questions(case):
    """A statistic as it is in its tiny world, and on lattices whose points are no short binary fractions."""
    statistic = case.statistic
    columns = {name: [row[i] for row in case.rows] * 3 for i, name in enumerate(case.columns)}
    if case.places:
        chosen = [place[-1] for place in case.places]
        columns = {name: [row[i] for row in chosen] for i, name in enumerate(case.columns)}
    elif statistic.neighbors.of_graphs:
        columns = {name: [row[i] for row in case.rows] for i, name in enumerate(case.columns)}
    yield statistic, columns
    names = {field.name for field in dataclasses.fields(statistic)}
    if {"low", "high", "step", "column"} <= names:
        values = np.random.default_rng(8).lognormal(3, 0.7, 120).tolist()
        for change in AWKWARD:
            more = {"centre": change["low"]} if "centre" in names else {}
            yield dataclasses.replace(statistic, **change, **more), {"x": values}


def check(release):
    """Every number of a release lies on the lattice that the release states for it."""
    single = release.value if isinstance(release.value, tuple) else (release.value,)
    for number in single:
        assert number is None or isinstance(number, str) or release.grid.holds(number), release
    numbers = dict(release.public)
    if release.interval is not None:
        both = "interval_" if "interval_low" in release.lattices else ""
        numbers.update({both + "low": release.interval.low, both + "high": release.interval.high})
    for name, given in numbers.items():
        if name == "keys":  # words that were found
            continue
        for number in given if isinstance(given, tuple) else (given,):
            if not isinstance(number, bool | str):
                assert release.lattices[name].holds(number), (name, number, release)
    assert sd.Release.from_json(release.to_json()) == release


@pytest.mark.few(12)
@pytest.mark.parametrize("case", CASES, ids=label)
def test_every_published_number_is_on_the_stated_lattice(case):
    for statistic, columns in questions(case):
        session = sd.open(
            columns, budget=sd.Approx(10**4, 0.9), neighbors=statistic.neighbors, rows=_rows(statistic)
        )
        hints = {"smoothing": Fraction(1, 5)} if "trim" in dir(statistic) else {}
        price = sd.Approx(4, Fraction(1, 1000)) if Trait.KEYS in statistic.traits else Pure(4)
        check(session.release(statistic, price, **hints))
        with contextlib.suppress(Unsupported):
            check(session.release(statistic, price, interval=0.9, **hints))
        if getattr(statistic, "step", None) == 1:
            continue  # a lattice of whole numbers tells nothing apart
        for kind in MECHANISMS.values():
            for mechanism in built(kind, statistic):
                if mechanism.refusal(statistic) is None:
                    check(session.release(statistic, mechanism.guarantee, mechanism=mechanism))


def _rows(statistic):
    return 120 if statistic.neighbors is Neighbors.ADD_REMOVE_ONE else None


def test_a_batch_states_one_lattice_per_statistic_and_groups_the_same_for_all():
    session = sd.open({"x": [1.0, 2.0, 3.0] * 50, "g": ["a", "b", "c"] * 50}, budget=Pure(100))
    asked = [sd.Median("x", low=0.05, high=9.05, step=0.01), sd.Count("x"), sd.Mode("g", keys=("a", "b"))]
    batch = session.release(asked, Pure(3))
    assert batch.grid == (Lattice(Fraction(0.05), Fraction(1, 100)), Lattice(), None)
    assert batch.grid[0].holds(batch.value[0])
    assert sd.Release.from_json(batch.to_json()) == batch
    groups = session.release_by("g", ["a", "b"], asked[0], Pure(3))
    assert all(groups.grid.holds(number) for number in groups.value)


def test_releases_of_the_first_version_are_read():
    session = sd.open({"x": [1.0]}, budget=Pure(3))
    record = session.release(sd.Count("x"), Pure(1)).to_dict()
    del record["lattices"]
    record.update(version=1, grid={"exponent": -3})
    assert sd.Release.from_dict(record).grid == Lattice(Fraction(0), Fraction(1, 8))


def test_memory_is_not_asked_by_a_refused_mechanism(monkeypatch):
    """A refusal comes before any look at the data."""
    session = sd.open({"x": [1.0, 2.0]}, budget=Pure(3))
    monkeypatch.setattr(Memory, "summary", lambda *_: pytest.fail("the data were read"))
    with pytest.raises(Unsupported, match="not covered"):
        session.release(sd.Mean("x", low=0, high=5), Pure(1), mechanism=RadialLaplace(price=Pure(1)))
