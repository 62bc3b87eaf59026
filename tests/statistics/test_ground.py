"""Profile, Reach, Reading and RowLattice: what they promise apart from any statistic."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ParameterError, Unsupported
from sordino.lattice import Lattice, RowLattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach, Reading
from sordino.reading.requests import Rank, Window
from sordino.statistics import REGISTER, Statistic, kinds
from sordino.statistics.median import Median
from sordino.statistics.theil_sen import TheilSen


def test_a_profile_answers_between_and_beyond_its_distances():
    """Unlisted distances take the next bound, later ones the ceiling."""
    profile = Profile((0, 2, 5), (1, 4, 9), 50)
    assert [profile.at(k) for k in range(8)] == [1, 4, 4, 9, 9, 9, 50, 50]


@pytest.mark.parametrize("smoothing", [0.01, 0.3, 2.0])
def test_a_smooth_bound_is_the_maximum_over_all_distances(smoothing):
    """Sparse profiles jump right after a listed distance."""
    profile = Profile((0, 2, 5), (1, 4, 9), 50)
    brute = max(math.exp(-smoothing * k) * float(profile.at(k)) for k in range(2000))
    assert profile.smooth(smoothing) == pytest.approx(brute, rel=1e-15)


@pytest.mark.parametrize(
    ("distance", "bound", "ceiling"),
    [((1,), (1,), 2), ((0, 0), (1, 1), 2), ((0, 1), (2, 1), 2), ((0,), (3,), 2), ((0,), (), 1)],
)  # fmt: skip
def test_an_impossible_profile_is_refused(distance, bound, ceiling):
    """Distances from 0, bounds that grow and stay below the ceiling."""
    with pytest.raises(ParameterError):
        Profile(distance, bound, ceiling)


@pytest.mark.parametrize(
    ("distance", "low", "high"),
    [((0, 1), (0, 1), (2, 3)), ((0, 1), (0, 0), (2, 1)), ((0,), (2,), (1,)), ((2,), (0,), (1,))],
)  # fmt: skip
def test_an_impossible_reach_is_refused(distance, low, high):
    """Intervals are nested."""
    with pytest.raises(ParameterError):
        Reach(distance, low, high)


def test_a_reach_ends_in_its_range_or_grows_by_its_tail():
    """What lies beyond the last distance is part of the promise."""
    ranged = Reach.dense([3, 2], [3, 5], bottom=0, top=9)
    assert ranged.at(2) == ranged.at(100) == (0, 9)
    tailed = Reach((0, 1), (3, 2), (3, 4), 2)
    assert tailed.at(4) == (-4, 10)
    assert tailed.by(2).at(1) == tailed.at(2)
    assert tailed.by(2).at(5) == tailed.at(10)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9), st.integers(1, 4))
def test_persons_with_several_rows(steps, rows):
    """The distance of l persons is that of all their rows, and their local sensitivity the sum of the steps."""
    bounds = [sum(steps[: i + 1]) for i in range(len(steps))]
    profile = Profile.dense(bounds, 1000)
    grouped = profile.by(rows)
    for k in range(6):
        assert grouped.at(k) >= sum(profile.at(k * rows + i) for i in range(rows))
    reach = Reach.dense([500 - b for b in [0, *bounds]], [500 + b for b in [0, *bounds]], bottom=0, top=1000)
    for l in range(6):
        assert reach.by(rows).at(l) == reach.at(l * rows)


def test_radii_around_a_value():
    """The radius of distance l is the bound at l - 1."""
    reach = Reach.from_profile(10, Profile((0, 1), (1, 3), 5), bottom=0, top=20)
    assert [reach.at(l) for l in range(4)] == [(10, 10), (9, 11), (6, 14), (0, 20)]
    tailed = Reach.from_profile(10, Profile((0, 1), (1, 3), 5))
    assert tailed.at(3) == (1, 19)


def test_a_reading_keeps_what_a_mechanism_opens():
    """And nothing else comes out of it."""
    opened = Opened(Fraction(1, 3), Lattice(Fraction(2), Fraction(3)), Profile.constant(1), None, rows=4)
    reading = Reading(opened)
    assert reading.open() is opened
    assert opened.units.real(opened.value) == 3
    assert not hasattr(reading, "value")
    assert not hasattr(reading, "__dict__")
    assert "1/3" not in repr(opened)
    assert reading.by(2).open().profile.at(0) == 2


@pytest.mark.parametrize(
    ("low", "high", "bits", "step", "top"),
    [
        (0, 8, 3, Fraction(1), 8),
        (0, 8, 31, Fraction(1, 2**28), 2**31),
        (-50, 1050, 31, Fraction(1, 2**20), 1100 * 2**20),
        (0, 0.1, 4, Fraction(1, 2**7), 13),
        (0, 1e6, 0, Fraction(2**20), 1),
    ],
)
def test_the_step_follows_from_the_bounds(low, high, bits, step, top):
    """A power of two that divides the range into at most 2^bits steps."""
    grid = RowLattice(low, high, bits=bits)
    assert (grid.step, grid.last) == (step, top)
    assert grid.code(high) == grid.code(math.inf) == top
    assert grid.code(low) == grid.code(-math.inf) == 0


@pytest.mark.parametrize(("low", "high", "missing"), [(0, 5, 0), (-3, 5, 0), (2, 5, 2), (-9, -4, -4)])
def test_missing_counts_as_zero_or_as_the_bound_nearer_to_it(low, high, missing):
    """A public choice, fixed by the bounds."""
    assert RowLattice(low, high).missing == missing


@pytest.mark.parametrize(
    "wrong",
    [
        {"low": 1, "high": 1}, {"low": 2, "high": 1}, {"low": math.nan, "high": 1}, {"low": 0, "high": math.inf},
        {"low": 0, "high": 1, "bits": 51}, {"low": 0, "high": 1, "step": 0}, {"low": 0, "high": 1, "step": 2},
        {"low": 0, "high": 1, "step": 1e-17}, {"low": -1.7e308, "high": 1.7e308},
        {"low": 0, "high": 1, "missing": "low"},
    ],
)  # fmt: skip
def test_bounds_that_make_no_lattice_are_refused(wrong):
    """Before any data are seen."""
    with pytest.raises(ParameterError):
        RowLattice(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"high": 10**400}, {"low": -(10**400)}, {"high": 1e400}, {"high": Decimal("1e400")}, {"step": 10**400},
        {"step": 1e400}, {"step": Fraction(1, 10**400)}, {"step": Decimal("1e-400")}, {"missing": 10**400},
        {"bits": 10**400},
    ],
    ids=lambda wrong: "-".join(f"{k}-{type(v).__name__}" for k, v in wrong.items()),
)  # fmt: skip
def test_bounds_and_steps_beyond_all_floats_are_parameter_errors(wrong):
    with pytest.raises(ParameterError):
        Median("x", **{"low": 0, "high": 1, **wrong})


@given(st.integers(1, 200), st.fractions(0, 1, max_denominator=40))
def test_ranks_are_exact(rows, q):
    """ceil, floor and interpolation by integers alone."""
    from sordino.statistics.quantile import rank_of

    assert rank_of(q, "lower").of(rows) == math.ceil(q * rows)
    assert rank_of(q, "upper").of(rows) == math.floor(q * rows) + 1
    assert rank_of(q, "interpolated").of(rows) == math.floor(q * (rows - 1)) + 1


def test_windows_stay_inside():
    """A rank beyond the rows is cut to them first, so a window is never lost."""
    assert Window(Rank(0, 1, offset=100), 2).ranks(10) == (8, 10)
    assert Window(Rank(0, 1, offset=-5), 2).ranks(10) == (1, 3)
    assert Window(Rank(1, 2), 2).ranks(0) == (1, 0)


def test_names_are_unique_and_relations_checked():
    """Two statistics of one name, or neighbours without a theorem, are refused."""
    assert set(REGISTER.known) == set(kinds())
    with pytest.raises(ParameterError, match=r"median.*taken"):
        type("Other", (Statistic,), {"name": "median", "__slots__": ()})
    with pytest.raises(Unsupported):
        Median("x", low=0, high=1, neighbors=Neighbors.EDGE)
    with pytest.raises(Unsupported):
        TheilSen(
            "x", "y", x_low=0, x_high=1, y_low=0, y_high=1, low=-1, high=1, neighbors=Neighbors.ADD_REMOVE_ONE
        )
    with pytest.raises(ParameterError):
        Statistic.from_dict({"kind": "no-such-statistic"})


@pytest.mark.parametrize("name", sorted(kinds()))
def test_names_follow_the_house(name):
    """Lower case with hyphens, class in words, file singular or plural of the same."""
    kind = kinds()[name]
    words = "".join(word.capitalize() for word in name.split("-"))
    assert kind.__name__ == words
    assert kind.__module__.rsplit(".", 1)[1] == name.replace("-", "_")
    assert kind.__doc__
    assert "Example" in kind.__doc__
