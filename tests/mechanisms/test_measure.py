"""Base measures: exact masses, draws by index, and the shapes the plans rely on."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.errors import ParameterError
from sordino.mechanisms.parts.measure import Measure, decimals, mixture, shells


def enumerate_mass(measure):
    return [measure.mass(point, point) for point in range(measure.last + 1)]


@st.composite
def measures(draw):
    last = draw(st.integers(0, 40))
    starts = sorted({0, *draw(st.lists(st.integers(0, last), max_size=5))})
    densities = [draw(st.integers(0, 9)) for _ in starts]
    points = draw(st.dictionaries(st.integers(0, last), st.integers(0, 9), max_size=5))
    return Measure.build(starts=starts, densities=densities, points=points, last=last)


@given(measures(), st.data())
@settings(max_examples=150, deadline=None)
def test_intervals_add_up_and_every_unit_has_one_point(measure, data):
    single = enumerate_mass(measure)
    first = data.draw(st.integers(0, measure.last))
    last = data.draw(st.integers(first, measure.last))
    assert measure.mass(first, last) == sum(single[first : last + 1])
    units = [measure.point(first, last, i) for i in range(measure.mass(first, last))]
    assert units == [p for p in range(first, last + 1) for _ in range(single[p])]
    runs = [(a, b, m) for a, b, m in measure.cuts()]
    assert [m for a, b, m in runs for _ in range(a, b + 1)] == single


@given(measures(), measures())
@settings(max_examples=60, deadline=None)
def test_sums_are_pointwise(one, other):
    if one.last != other.last:
        with pytest.raises(ParameterError):
            one + other
        return
    assert enumerate_mass(one + other) == [
        a + b for a, b in zip(enumerate_mass(one), enumerate_mass(other), strict=True)
    ]


@pytest.mark.parametrize("tilt", [0, 1, 2])
@pytest.mark.parametrize("centre", [0, 100, 1000])
def test_full_shells_have_the_mass_of_their_tilt(tilt, centre):
    measure = shells(last=1000, centre=centre, core=4, tilt=tilt)
    core = measure.mass(max(centre - 3, 0), min(centre + 3, 1000))
    full = Fraction(core) * (1 if centre not in (0, 1000) else Fraction(7, 4))
    for i in range(1, 5):
        inner, outer = 4 * 2 ** (i - 1), 4 * 2**i - 1
        if centre + outer <= 1000:
            assert measure.mass(centre + inner, centre + outer) == full / 2 ** (tilt * i)
        if centre - outer >= 0:
            assert measure.mass(centre - outer, centre - inner) == full / 2 ** (tilt * i)


def test_no_point_of_a_shell_measure_is_impossible():
    assert min(enumerate_mass(shells(last=777, centre=123, core=1, tilt=2))) > 0


def test_mixture_weights_are_probabilities():
    parts = [(Fraction(1, 3), Measure.uniform(9)), (Fraction(2, 3), Measure.at({4: 5}, last=9))]
    mixed = mixture(parts)
    assert Fraction(mixed.mass(4, 4), mixed.total) == Fraction(2, 3) + Fraction(1, 30)


def test_round_numbers_are_the_ones_people_write():
    measure = decimals(low=Fraction(-200), step=Fraction(1), last=1200)
    heavy = [point - 200 for point in range(1201) if measure.mass(point, point) >= 10]
    assert {0, 1, 9, 10, 20, 90, 100, 1000, -100, -7} <= set(heavy)
    assert measure.mass(200 + 41, 200 + 41) > 0
    assert measure.mass(200 + 411, 200 + 411) == 0


@pytest.mark.parametrize("points", [(0, 9), (3,), (0, 1, 5, 6), (2, 8)])
def test_gathered_mass_lies_on_the_nearest_point(points):
    measure = Measure.blocks([(0, 3, Fraction(2)), (2, 9, Fraction(5))], last=9)
    wanted = dict.fromkeys(points, 0)
    for point, mass in enumerate(enumerate_mass(measure)):
        wanted[min(points, key=lambda one: (abs(one - point), -one))] += mass
    found = measure.gathered(points)
    assert [found.mass(point, point) for point in points] == list(wanted.values())
    assert found.total == measure.total


def test_bad_measures_are_refused():
    with pytest.raises(ParameterError):
        Measure.build(starts=[1], densities=[1], points={}, last=4)
    with pytest.raises(ParameterError):
        Measure.blocks([(7, 9, Fraction(1))], last=4)
