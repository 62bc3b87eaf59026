"""Rings are the cells of the laws, their masses keep their error, and draws have the exact law: words enumerated."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sordino.exact.bits import Bits, SeededBits
from sordino.mechanisms.nested.intervals import Intervals, lattice_cells
from sordino.mechanisms.parts.drawing import draw_lattice, flip_rings
from sordino.mechanisms.parts.law import LatticeLaw
from sordino.mechanisms.parts.measure import Measure, decimals, mixture, shells
from sordino.mechanisms.parts.rings import ERROR, SPARE, MassTable, Rings
from sordino.mechanisms.selection.permute_and_flip import FlipLaw

F = Fraction
LAST = 20
MIXED = mixture(
    [
        (F(1, 2), Measure.uniform(LAST)),
        (F(1, 4), shells(last=LAST, centre=4, core=1, tilt=2)),
        (F(1, 4), decimals(low=F(0), step=F(1), last=LAST)),
    ]
)
HOLES = Measure.at({3: 2, 11: 5, 20: 1}, last=LAST)
FAMILIES = [
    Intervals.of([9], [9], first=0, last=LAST),
    Intervals.of([9, 9, 7, 3], [9, 12, 12, 19], first=0, last=LAST),
    Intervals.of([0, 0, 0], [0, 0, 20], first=0, last=LAST),
    Intervals.of([0], [20], first=0, last=LAST),  # everything is right
    Intervals.of([F(9, 2), F(7, 3)], [F(9, 2), F(13, 2)], first=0, last=LAST),  # no lattice point at level 0
    Intervals.of([F(25, 4)] * 5, [F(25, 4)] * 5, first=0, last=LAST),
]
THRESHOLDS = [F(0), F(1, 3), F(1, 2), F(1)]


def levels_of(rings, last, group=0):
    """The level of every lattice point by its ring."""
    ends = list(zip(rings.low[group].tolist(), rings.high[group].tolist(), strict=True))
    return [next(l for l, (low, high) in enumerate(ends) if low <= point < high) for point in range(last + 1)]


def family(steps):
    """A nested family from how far each side moves at every distance."""
    low, high = 10, 10
    lows, highs = [], []
    for down, up in steps:
        low, high = low - down, high + up
        lows.append(low)
        highs.append(high)
    return Intervals.of(lows, highs, first=0, last=LAST)


moves = st.one_of(st.integers(0, 4), st.fractions(0, 3, max_denominator=4))


@given(st.lists(st.tuples(moves, moves), min_size=1, max_size=6), st.sampled_from(THRESHOLDS))
def test_rings_are_the_cells_of_the_laws(steps, threshold):
    intervals = family(steps)
    cells = lattice_cells(intervals, threshold)
    wanted = {point: cell.level for cell in cells for point in range(cell.first, cell.last + 1)}
    assert levels_of(Rings.of(intervals, threshold), LAST) == [wanted[point] for point in range(LAST + 1)]


def test_ends_too_wide_for_products_in_64_bits_stay_exact():
    last = 2**60
    low, high = [3, 1, 0], [5, 2**59 + 1, last]
    rings = Rings.between(np.array([low]), np.array([high]), F(2, 7))
    assert rings.high[0].tolist() == [
        5 + 2 * (2**59 - 4) // 7 + 1,
        2**59 + 2 + 2 * (2**59 - 1) // 7,
        last + 1,
    ]
    assert rings.low[0].tolist() == [3, 1, 0]
    assert Rings.of(Intervals.of([0], [0], first=0, last=2**62), F(1, 2)) is None


runs = st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, 2**200)), min_size=1, max_size=12).filter(
    lambda found: any(mass for _, mass in found)
)


@given(runs, st.data())
def test_float_masses_keep_their_stated_error(found, data):
    firsts = [0, *itertools.accumulate(length for length, _ in found)]
    table = MassTable(firsts[:-1], [mass for _, mass in found], firsts[-1] - 1)
    points = st.integers(0, firsts[-1])
    low, centre, high = sorted(data.draw(st.tuples(points, points, points)))
    centre = min(centre, table.last)
    low = min(low, centre)
    share = table.around(np.array([centre]), np.array([[low]]), np.array([[high]]))[0, 0]
    exact = F(table.below(high) - table.below(low), table.total)
    assert abs(F(float(share)) - exact) <= F(ERROR) * exact + F(SPARE)


def test_a_single_total_in_place_of_a_pair_would_break_the_stated_error():
    """Mutation: the second half of the running totals matters for thin runs between heavy ones."""
    table = MassTable([0, 10, 11, 12, 13, 20], [2**90, 3, 1, 7, 1, 2**90], 30)
    args = np.array([11]), np.array([[10]]), np.array([[13]])
    exact = F(11, table.total)

    def off():
        return abs(F(float(table.around(*args)[0, 0])) - exact)

    assert off() <= F(ERROR) * exact + F(SPARE)
    _, (mass, coarse, fine) = table._tables()
    table._floats = (mass, coarse, np.zeros_like(fine))
    assert off() > F(ERROR) * exact + F(SPARE)


def test_units_of_mass_are_held_by_their_points():
    small = Measure.build(starts=(0, 4), densities=(0, 2), points={1: 3, 9: 1}, last=12).table
    held = [small.holder(unit) for unit in range(small.total)]
    assert held == [1] * 3 + [p for p in range(4, 13) for _ in range(2 + (p == 9))]


class Enumerated(Bits):
    """Prescribed words, and units of a ring that are counted through instead of drawn."""

    def __init__(self, words, unit):
        super().__init__()
        self._words, self._unit, self.bounds = np.array(words, np.int64), unit, []

    def words(self, count):
        assert count == len(self._words)
        return self._words

    def below(self, bound):
        self.bounds.append(bound)
        return min(int(self._unit * bound), bound - 1)

    def below_each(self, bounds):
        return [self.below(bound) for bound in bounds]


WORDS, UNITS = 1024, 160


def enumerated_law(intervals, threshold, measure, slope):
    """The law of `Rings.draw_points`: levels from evenly spaced words, then evenly spaced units of the ring of each."""
    rings = Rings.of(intervals, threshold)
    level = levels_of(rings, LAST)

    def draw(words, unit):
        copies = [np.repeat(side, len(words), axis=0) for side in (rings.low, rings.high)]
        return Rings(*copies).draw_points(measure, slope, bits=Enumerated(words, unit))

    words = [((2 * i + 1) << 53) - 2**63 for i in range(WORDS)]
    found = [level[point] for point in draw(words, F(1, 2))]
    law = np.zeros(LAST + 1)
    for one in set(found):
        first = words[found.index(one)]
        drawn = [draw([first], F(2 * unit + 1, 2 * UNITS))[0] for unit in range(UNITS)]
        law += np.bincount(drawn, minlength=LAST + 1) / UNITS * found.count(one) / WORDS
    return law


@pytest.mark.few(4)
@pytest.mark.parametrize("measure", [Measure.uniform(LAST), MIXED, HOLES], ids=["uniform", "mixed", "holes"])
@pytest.mark.parametrize("slope", [F(1, 1000), F(1, 4), F(2), F(30)], ids=str)
def test_draws_by_rings_have_the_law_of_the_cells(measure, slope):
    for intervals, threshold in itertools.product(FAMILIES, (F(0), F(1, 2))):
        law = LatticeLaw(lattice_cells(intervals, threshold), measure, slope)
        wanted = np.array([law.probability(point) for point in range(LAST + 1)])
        found = enumerated_law(intervals, threshold, measure, slope)
        assert np.abs(found - wanted).max() < 0.008
        assert (found[wanted == 0] == 0).all()


def test_a_wrong_slope_or_measure_is_not_the_law():
    intervals = FAMILIES[1]
    law = LatticeLaw(lattice_cells(intervals, F(1, 2)), MIXED, F(1, 4))
    wanted = np.array([law.probability(point) for point in range(LAST + 1)])
    for measure, slope in ((MIXED, F(1, 3)), (Measure.uniform(LAST), F(1, 4))):
        found = enumerated_law(intervals, F(1, 2), measure, slope)
        assert np.abs(found - wanted).max() > 0.01


@pytest.mark.statistical
def test_rings_and_cells_draw_alike_and_a_fault_is_noticed(monkeypatch):
    intervals, slope = FAMILIES[1], F(1, 3)
    rings, cells = Rings.of(intervals, F(1, 2)), lattice_cells(intervals, F(1, 2))
    many = Rings(np.repeat(rings.low, 6000, axis=0), np.repeat(rings.high, 6000, axis=0))
    bits = SeededBits(21)
    slow = np.bincount(
        [draw_lattice(cells, MIXED, slope, bits=bits) for _ in range(6000)], minlength=LAST + 1
    )

    def alike():
        fast = np.bincount(many.draw_points(MIXED, slope, bits=bits), minlength=LAST + 1)
        thick = slow + fast >= 20
        table = np.array([slow[thick], fast[thick]])
        return stats.chi2_contingency(table).pvalue

    assert alike() > 1e-3
    honest = Rings.gaps

    def halved(self, level):
        """Planted: the left half of a ring is forgotten."""
        _, until, since, after = honest(self, level)
        some = since < after
        return np.stack([until, until, since, after])[:, some]

    monkeypatch.setattr(Rings, "gaps", halved)
    assert alike() < 1e-6


def test_what_floats_cannot_hold_is_drawn_exactly():
    """Masses over more than a thousand octaves: every row is decided in balls."""
    measure = Measure.build(starts=(0, 5), densities=(1, 1 << 1000), points={}, last=9)
    assert not measure.table.fits
    rings = Rings.of(Intervals.of([2], [2], first=0, last=9), F(0))
    assert min(rings.draw_points(measure, F(1), bits=SeededBits(3))) >= 5
    drawn = rings.draw_points(measure, F(1000), bits=SeededBits(3))  # e^-1000 is less than 2^-1000
    assert drawn == [2]


@pytest.mark.statistical
def test_permute_and_flip_by_rings_has_its_law():
    slope = F(1, 2)
    for intervals in (FAMILIES[1], FAMILIES[4]):
        rings = Rings.of(intervals, F(1, 2))
        many = Rings(np.repeat(rings.low, 8000, axis=0), np.repeat(rings.high, 8000, axis=0))
        found = np.bincount(flip_rings(many, slope, bits=SeededBits(22)), minlength=LAST + 1)

        def p_value(slope, intervals=intervals, found=found):
            law = FlipLaw(lattice_cells(intervals, F(1, 2)), slope, last=LAST)
            wanted = np.array([law.probability(point) for point in range(LAST + 1)]) * 8000
            thick = wanted >= 5
            observed = np.append(found[thick], found[~thick].sum())
            expected = np.append(wanted[thick], wanted[~thick].sum())
            keep = expected > 0
            expected = expected[keep] * observed[keep].sum() / expected[keep].sum()
            return stats.chisquare(observed[keep], expected).pvalue

        assert p_value(slope) > 1e-3
        assert p_value(slope * F(4, 3)) < 1e-6


@pytest.mark.parametrize("bits", [31, 50])
def test_fine_lattices_and_far_levels_are_drawn_without_exact_fallbacks(bits, monkeypatch):
    """A tie on one point of 2^50 keeps its relative error: floats decide, as on any other column."""
    last = 2**bits
    measure = mixture(
        [(F(1, 2), Measure.uniform(last)), (F(1, 2), shells(last=last, centre=0, core=2**20, tilt=2))]
    )
    rng = np.random.default_rng(9)
    centre = rng.integers(0, last, size=300)
    grow = np.concatenate([np.zeros(200, np.int64), 2 ** np.arange(bits)])
    low = np.maximum(centre[:, None] - grow, 0)
    high = np.minimum(centre[:, None] + grow, last)
    low[:, -1], high[:, -1] = 0, last
    rings = Rings.between(low, high, F(1, 2))
    monkeypatch.setattr(Rings, "masses", lambda *_: pytest.fail("asked for exact masses"))
    points = rings.draw_points(measure, F(1, 4), bits=SeededBits(4))
    assert all(0 <= point <= last for point in points)
    assert np.mean(np.array(points) == centre) > 0.9
    assert math.isclose(rings.shares(measure)[:, -1].max(), 1, rel_tol=1e-12)
