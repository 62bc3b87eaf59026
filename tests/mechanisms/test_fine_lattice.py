"""The default lattice: bounds that are far too wide are not noticed, and heaps of equal rows are still found."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import BITS, FINE_BITS, FiniteLattice, Lattice
from sordino.mechanisms.choose import choose
from sordino.mechanisms.parts import measure as measures
from sordino.mechanisms.parts.measure import Measure, decimals, in_whole_numbers, mixture
from sordino.mechanisms.quantile.leaning import leaning
from sordino.mechanisms.quantile.plan import plan_quantile
from sordino.mechanisms.quantile.recursive_quantiles import RecursiveQuantiles
from sordino.mechanisms.tuned import ForQuantile
from sordino.privacy import Pure
from sordino.reading.profile import Reading
from sordino.statistics.histogram import Histogram
from sordino.statistics.interquantile_range import InterquantileRange
from sordino.statistics.maximum import Maximum
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.minimum import Minimum
from sordino.statistics.quantile import Quantile
from sordino.statistics.quantiles import Quantiles
from sordino.statistics.variance import Variance

WIDE = {"low": 0, "high": 1e6}
PARETO = 1 + np.random.default_rng(44).pareto(2.5, 10_001)


def error(statistic, rows, **hints):
    """Root mean square distance from the very row that was asked for, by the exact law."""
    mechanism = choose(statistic, Pure(1), rows=len(rows), **hints)
    request = replace(statistic.request(depth=mechanism.depth), cuts=mechanism.cuts)
    (summary,) = Memory({"x": rows}).summary(request)
    reading = Reading(replace(statistic.read(summary).open(), below=summary.below))
    row = np.sort(rows)[statistic.weights(len(rows)).pieces[0][0] - 1]
    return math.sqrt(mechanism.law(reading).mean_squared_error(Fraction(float(row))))


def test_what_is_compared_is_fine_and_what_is_summed_is_not():
    for one in (
        Median("x", **WIDE),
        Minimum("x", **WIDE),
        Maximum("x", **WIDE),
        Quantile("x", q=0.1, **WIDE),
    ):
        assert one.bits == FINE_BITS
        assert 2 ** (FINE_BITS - 1) <= one.grid.last <= 2**FINE_BITS
    assert Quantiles("x", qs=(0.5,), **WIDE).parts[0].grid == Median("x", **WIDE).grid
    spread = InterquantileRange("x", lower=0.25, upper=0.75, **WIDE)
    for one in (Mean("x", **WIDE), Variance("x", **WIDE), spread, spread.ends[0]):
        assert one.bits == BITS
    assert Median("x", bits=20, **WIDE).grid.last <= 2**20
    assert Median("x", step=1, **WIDE).grid.last == 10**6


@pytest.mark.parametrize("hints", [{}, {"centre": 4.0, "spread": 4.5}, {"tight": True}])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_nobody_notices_the_lattice_behind_loose_bounds(q, hints):
    """Bounds a hundred thousand times too wide; six more bits change nothing, 31 bits round more than the noise."""
    default = error(Quantile("x", q=q, **WIDE), PARETO, **hints)
    assert default == pytest.approx(error(Quantile("x", q=q, bits=50, **WIDE), PARETO, **hints), rel=0.01)
    if q == 0.1:
        assert error(Quantile("x", q=q, bits=BITS, **WIDE), PARETO, **hints) > 1.5 * default


@pytest.mark.parametrize("hints", [{}, {"tight": True}])
def test_heaps_are_found_as_on_a_coarse_lattice(hints, monkeypatch):
    """A heap is one point of 2^44: without some mass on round numbers it would be missed ninety times as often."""
    heap = np.full(1001, 40.0)
    coarse = error(Quantile("x", q=0.1, low=0, high=100, bits=BITS), heap, **hints)
    assert error(Quantile("x", q=0.1, low=0, high=100), heap, **hints) < 1.5 * coarse
    plan_quantile.cache_clear()
    monkeypatch.setattr(ForQuantile, "ROUND", Fraction(0))
    assert error(Quantile("x", q=0.1, low=0, high=100), heap, **hints) > 20 * coarse
    plan_quantile.cache_clear()


def test_that_mass_does_not_draw_answers_to_round_numbers(monkeypatch):
    """A median next to a round number errs little more, even of a column fifty times narrower; more mass would show."""
    rows = np.sort(np.random.default_rng(3).normal(0, 1, 10_001))
    rows += 50 - (rows[5000] + rows[5012]) / 2
    statistic = Median("x", low=-50, high=1050)
    given = error(statistic, rows)
    plan_quantile.cache_clear()
    monkeypatch.setattr(ForQuantile, "ROUND", Fraction(0))
    free = error(statistic, rows)
    plan_quantile.cache_clear()
    monkeypatch.setattr(ForQuantile, "ROUND", Fraction(1, 2))
    drawn = error(statistic, rows)
    plan_quantile.cache_clear()
    assert given < 1.15 * free
    assert drawn > 1.3 * free


@pytest.mark.parametrize("value", [0, 40, 65_000, Fraction(5, 100)])
def test_round_numbers_keep_their_share_on_finer_lattices(value):
    shares = []
    for bits in (38, 44, 50):
        lattice = FiniteLattice(Fraction(0), Fraction(2**20, 2**bits), 2**bits)
        found = decimals(low=lattice.origin, step=lattice.step, last=lattice.last)
        shares.append(found.mass(lattice.index(value), lattice.index(value)) / found.total)
    assert shares[0] > 1e-4
    assert shares == pytest.approx([shares[0]] * 3, rel=1e-12)


@given(st.lists(st.fractions(min_value=Fraction(1, 10**30), max_value=10**9), min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_sizes_become_whole_numbers_in_their_ratios(sizes):
    found = in_whole_numbers(sizes)
    assert all(type(one) is int and one > 0 for one in found)
    for size, whole in zip(sizes, found, strict=True):
        assert abs(Fraction(whole * sum(sizes), size * sum(found)) - 1) <= Fraction(1, 2**46)
    short = [Fraction(size).limit_denominator(100) or Fraction(1) for size in sizes]
    exact = in_whole_numbers(short)
    assert [Fraction(one, exact[0]) for one in exact] == [one / short[0] for one in short]


def test_units_of_mass_stay_short(monkeypatch):
    """A draw reads as many random bits as the mass has; forty shells of odd lengths need not multiply."""
    shape = {"anchor": 0, "core": 2**24 - 3, "below": Fraction(0), "above": Fraction(-3)}
    last = 2**FINE_BITS - 977
    assert leaning(last=last, **shape).total.bit_length() < 256
    parts = [(Fraction(1, 3), leaning(last=last, **shape)), (Fraction(2, 3), Measure.uniform(last))]
    assert mixture(parts).total.bit_length() < 384
    leaning.cache_clear()
    monkeypatch.setattr(measures, "_LONGEST", 10**6)
    assert leaning(last=last, **shape).total.bit_length() > 512
    leaning.cache_clear()


@pytest.mark.parametrize("bits", [FINE_BITS, 47, 50])
def test_quantiles_at_once_do_not_overflow(bits):
    """Sixteen bits inside a cell of 2^50 would not fit into 64."""
    rows = np.random.default_rng(2).normal(50, 10, 4001)
    qs = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
    statistic = Quantiles("x", qs=qs, low=0, high=100, bits=bits)
    mechanism = choose(statistic, Pure(4), rows=len(rows))
    assert isinstance(mechanism, RecursiveQuantiles)
    assert mechanism.fine < 2**62
    source = Memory({"x": rows})
    answer = mechanism.answer(
        statistic, lambda ask: source.summary(ask)[0], Lattice.dyadic(0), bits=SeededBits(5)
    )
    assert np.array(answer.value, float) == pytest.approx(np.quantile(rows, [0.25, 0.5, 0.75]), abs=0.5)


def test_cells_of_a_histogram_have_sharp_edges():
    below = 2.0 - 1e-6  # on 2^31 points of the range it would be counted above the edge
    statistic = Histogram("x", edges=(0.0, 2.0, 1e6))
    (summary,) = Memory({"x": [below, below, 2.0]}).summary(statistic.request())
    assert statistic.read(summary).open().counts == (2, 1) == statistic.define([below, below, 2.0])
