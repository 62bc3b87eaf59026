"""Plans that lean away from a weak side: when they apply, what they promise, what they gain."""

import math
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.tuning.moved import Cell
from sordino.data.memory import Memory
from sordino.lattice import FiniteLattice
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.auto_clip_plan import plan_auto_clip
from sordino.mechanisms.parts.error_law import ErrorLaw
from sordino.mechanisms.parts.loss import loss_range
from sordino.mechanisms.quantile.anchored import Anchored
from sordino.mechanisms.quantile.leaning import leaning
from sordino.mechanisms.quantile.plan import plan_quantile
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.privacy import Neighbors, Pure
from sordino.statistics.quantile import Quantile
from sordino.statistics.variance import Variance
from tests.support.mechanism_worlds import SMALL, replace_world

WIDE = FiniteLattice(Fraction(0), Fraction(1, 2**12), 2**32)


def law_of(statistic, rows, price, **options):
    mechanism = choose(statistic, price, rows=len(rows), **options)
    if isinstance(mechanism, Anchored):
        source = Memory({"x": rows})

        def ask(request):
            return source.summary(request)[0]

        return mechanism.known_law(statistic, ask)
    depth = mechanism.depth
    (summary,) = Memory({"x": rows}).summary(statistic.request(depth=depth))
    return mechanism.law(statistic.read(summary))


@pytest.mark.parametrize(("below", "above"), [(Fraction(0), Fraction(-3)), (Fraction(1), Fraction(-5, 2))])
def test_a_leaning_quantile_keeps_its_price(below, above):
    """Any public measure does; this one varies a thousandfold over eight points."""
    measure = leaning(last=7, anchor=2, core=1, below=below, above=above)
    lattice = FiniteLattice(Fraction(0), Fraction(1), 7)
    mechanism = PrivateQuantile(price=Pure(1), lattice=lattice, rows=4, measure=measure)
    statistic = Quantile("x", q=0.9, low=0, high=7, step=1)
    sets, near = replace_world(SMALL, 4)

    def law(rows):
        (summary,) = Memory({"x": np.asarray(rows, dtype=float)}).summary(statistic.request(depth=9))
        return mechanism.law(statistic.read(summary))

    laws = {rows: law(rows) for rows in sets}
    ranges = [loss_range(laws[one], laws[other]) for one in sets for other in near[one]]
    assert max(high - low for low, high in ranges) <= 1 + 1e-9
    assert max(max(high, -low) for low, high in ranges) > 0.5


def test_the_lean_falls_beyond_a_weak_side_that_the_rows_can_pay_for():
    far = plan_quantile(WIDE, epsilon=Fraction(1), rows=1001, rank=991)
    assert far.magnitude_share == 0
    octave = [far.measure.mass(2**i, 2 ** (i + 1) - 1) for i in (20, 21)]
    assert octave[1] / octave[0] == pytest.approx(1 / 8, rel=1e-3)
    middle = plan_quantile(WIDE, epsilon=Fraction(1), rows=1001, rank=501)
    octave = [middle.measure.mass(2**i, 2 ** (i + 1) - 1) for i in (24, 25)]
    assert octave[1] > octave[0]  # nothing is weak: half uniform
    few = plan_quantile(WIDE, epsilon=Fraction(1, 10), rows=701, rank=631)
    assert few.magnitude_share > 0  # seventy rows times epsilon cannot pay
    low = plan_quantile(WIDE, epsilon=Fraction(1, 10), rows=1001, rank=101)
    octave = [low.measure.mass(2**i, 2 ** (i + 1) - 1) for i in (28, 29)]
    assert octave[1] / octave[0] == pytest.approx(2, rel=0.05)  # nearly uniform: no pull to the anchor


@pytest.mark.parametrize("seed", [1, 2])
def test_far_quantiles_of_loose_columns_stay_near(seed):
    random = np.random.default_rng([seed, 31])
    rows = random.lognormal(3, 0.5, 1001)
    statistic = Quantile("x", q=0.99, low=0, high=100_000)
    truth = Fraction(float(np.sort(rows)[990]))
    assert math.sqrt(law_of(statistic, rows, Pure(1)).mean_squared_error(truth)) < 30  # 74 with a magnitude
    zeros = np.where(random.random(1001) < 0.92, 0, random.lognormal(8, 1, 1001))
    statistic = Quantile("x", q=0.99, low=0, high=1e6)
    truth = Fraction(float(np.sort(zeros)[990]))
    assert (
        math.sqrt(law_of(statistic, zeros, Pure(1)).mean_squared_error(truth)) < 6000
    )  # 2e5 with a magnitude


@pytest.mark.few(3)
@pytest.mark.parametrize("count", [201, 1001])
@pytest.mark.parametrize("strength", [1, 0.3])
@pytest.mark.parametrize("centre", [0, 5])
def test_zero_inside_the_range_does_not_draw_far_quantiles(count, strength, centre):
    """Fitting bounds with zero between them once sent the 98 % quantile to zero."""
    rows = centre + np.random.default_rng(87).normal(size=count)
    for q in (0.02, 0.1, 0.9, 0.98):
        statistic = Quantile("x", q=q, low=-9, high=9)
        errors = []
        for options in ({}, {"tight": True}):
            law = law_of(statistic, rows, Pure(strength), **options)
            errors.append(math.sqrt(law.mean_squared_error(float(np.sort(rows)[math.ceil(q * count) - 1]))))
        assert errors[0] < 1.2 * errors[1]


def test_a_reading_looks_as_far_as_the_measure_leans():
    lattice = FiniteLattice(Fraction(-4), Fraction(1, 2**20), 2**23)
    mechanism = PrivateQuantile(price=Pure(1), lattice=lattice, rows=1001, rank=981)
    assert mechanism.plan.nats > 30
    assert float(mechanism.release_slope(mechanism.plan)) * mechanism.depth > 69 + mechanism.plan.nats


@pytest.mark.parametrize("relation", list(Neighbors)[:2], ids=lambda relation: relation.value)
def test_a_variance_within_tight_bounds_has_less_noise_than_its_range(relation):
    rows = np.random.default_rng(9).uniform(size=1001)
    statistic = Variance("x", low=0, high=1, neighbors=relation)
    for epsilon in (0.1, 1):
        error = Cell("uniform", statistic, Pure(epsilon), rows, (("tight", True),)).error()
        plain = math.sqrt(2) / (1001 * epsilon)
        assert error < 0.4 * plain


def test_a_mean_with_few_rows_keeps_most_of_its_price_for_the_noise():
    plan = plan_auto_clip(rows=201, price=Pure(0.1), low=0, high=1)
    assert not plan.trusted
    assert plan.noise_share == 1  # no scale can be found: plain noise for the declared bounds
    assert plan.floor == plan.reach
    middling = plan_auto_clip(rows=1001, price=Pure(0.1), low=0, high=1)
    assert middling.trusted
    assert middling.noise_share >= Fraction(59, 100)
    hinted = plan_auto_clip(rows=201, price=Pure(0.1), low=0, high=1000, centre=1, spread=1)
    assert hinted.floor < 10


ZEROS = [(0.45, 0.9, 1001, 0.1), (0.45, 0.99, 1001, 0.1), (0.45, 0.9, 201, 0.5), (0.75, 0.99, 201, 1)]


@pytest.mark.parametrize(("zeros", "q", "rows", "epsilon"), ZEROS)
def test_a_column_of_zeros_does_not_answer_zero(zeros, q, rows, epsilon):
    """Rows on the anchor pay for no lean: were they counted on, the error would be the quantile itself."""
    random = np.random.default_rng(11)
    column = np.minimum(np.where(random.random(rows) < zeros, 0.0, random.lognormal(0, 1, rows)), 14.0)
    truth = float(np.quantile(column, q, method="inverted_cdf"))
    law = law_of(Quantile("x", q=q, low=0, high=14), column, Pure(epsilon))
    assert ErrorLaw(law, truth=Fraction(truth), step=None).mean_square < (0.6 * truth) ** 2


@pytest.mark.parametrize("width", [1, 10, 1000])
def test_a_low_quantile_is_not_drawn_to_zero(width):
    """Beside the exponential mechanism over gaps, whose measure is uniform."""
    from benchmarks.peers.laws import gaps

    column = np.random.default_rng(77).lognormal(0, 0.5, 1001)
    truth = float(np.quantile(column, 0.1, method="inverted_cdf"))
    law = law_of(Quantile("x", q=0.1, low=0, high=8 * width), column, Pure(0.1))
    found = math.sqrt(ErrorLaw(law, truth=Fraction(truth), step=None).mean_square)
    assert found < 1.2 * gaps(column, 0, 8 * width, 0.1, 0.05).rmse(truth)
