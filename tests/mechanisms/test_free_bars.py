"""Free bars: exact from the law of the noise, per cell and together, never a change of the answer."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.coverage import Coverage, Population, Sample
from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.additive.geometric import GeometricLaw
from sordino.mechanisms.choose import choose
from sordino.mechanisms.parts.population import share_limits, size_limits
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.session.quote import prepare

AGES = [3, 17, 25, 25, 31, 44, 44, 60, 71, 90]
TABLE = {"age": AGES, "sex": [0, 1] * 5, "region": ["n", "s"] * 5}
ONE = PublicNoise(None, Fraction(1), Fraction(1), aligned=True)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("miss", [0.3, 0.05, 0.001])
def test_a_geometric_bar_is_the_smallest_that_its_law_allows(epsilon, miss):
    noise = PublicNoise(None, 1 / epsilon, Fraction(1), aligned=True)
    law = GeometricLaw(value=7, rate=float(epsilon))
    half = int(noise.half(miss))
    outside = 1 - (law.cdf_point(7 + half) - law.cdf_point(7 - half - 1))
    assert outside <= miss
    if half:
        narrower = 1 - (law.cdf_point(6 + half) - law.cdf_point(7 - half))
        assert narrower > miss


@pytest.mark.parametrize("family", [Laplace(), Gaussian()])
@pytest.mark.parametrize("aligned", [True, False])
def test_rounding_is_part_of_the_law(family, aligned):
    noise = PublicNoise(family, Fraction(2), Fraction(1), aligned=aligned)
    half = float(noise.half(0.05))
    edge = half + (0.5 if aligned else -0.5)
    assert 2 * family.sf(edge / 2) <= 0.05 < 2 * family.sf((edge - 1) / 2)


def test_half_widths_of_the_table():
    def halves(scale):
        noise = PublicNoise(None, Fraction(scale), Fraction(1), aligned=True)
        return [int(noise.half(1 - 0.95 ** (1 / cells))) for cells in (1, 7, 100)]

    assert [halves(1), halves(10), halves(2), halves(20)] == [
        [3, 5, 7],
        [30, 49, 76],
        [6, 10, 15],
        [60, 98, 152],
    ]


def test_bars_are_cut_to_what_can_be_true():
    noise = PublicNoise(None, Fraction(1), Fraction(1), aligned=True, low=Fraction(0), high=Fraction(9))
    assert noise.interval(Fraction(1), 0.05) == (0, 4)
    assert noise.interval(Fraction(8), 0.05) == (5, 9)
    assert noise.interval(Fraction(-10), 0.05) == (0, 0)


def test_without_sensitivity_the_bar_is_the_number():
    assert PublicNoise(Laplace(), Fraction(0), Fraction(1), aligned=True).half(0.05) == 0


QUESTIONS = [
    sd.Count("age"),
    sd.CountAbove("age", threshold=30),
    sd.Histogram("age", edges=(0, 20, 50, 100)),
    sd.Categories("region", keys=("n", "s")),
    sd.Mean("age", low=0, high=120),
    sd.Sum("age", low=0, high=120),
    sd.TrimmedMean("age", trim=0.1, low=0, high=120),
    sd.Maximum("age", low=0, high=120),
    sd.Variance("age", low=0, high=120),
    sd.Mode("region", keys=("n", "s")),
]


@pytest.mark.parametrize("statistic", QUESTIONS, ids=lambda one: one.name)
@pytest.mark.parametrize("price", [sd.Pure(1), sd.Concentrated(0.5)], ids=repr)
@pytest.mark.parametrize("hints", [{"rows": 10}, {"rows": 1000, "tight": True}], ids=str)
def test_a_bar_never_changes_the_mechanism(statistic, price, hints):
    plain = choose(statistic, price, **hints)
    barred = choose(statistic, price, interval=0.95, **hints)  # none of these is refused
    inner = getattr(barred, "mechanism", barred)
    assert type(inner) is type(plain)
    if inner is barred:
        assert barred == plain


def test_the_answer_is_drawn_from_the_same_words():
    for statistic in QUESTIONS[:4]:
        parts = [
            prepare(
                statistic,
                sd.Pure(1),
                neighbors=sd.Neighbors.REPLACE_ONE,
                unit=sd.Unit(),
                rows=10,
                interval=asked,
            ).parts[0]
            for asked in (None, 0.95)
        ]
        assert parts[0].mechanism == parts[1].mechanism
        assert parts[0].bar is None
        assert parts[1].bar is not None


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("neighbors", "price"),
    [
        (sd.Neighbors.REPLACE_ONE, sd.Concentrated(0.01)),
        (sd.Neighbors.ADD_REMOVE_ONE, sd.Pure(0.1)),
    ],
    ids=str,
)
def test_coverage_of_cells_and_of_all_cells(neighbors, price):
    """Intervals a fifth narrower fail."""
    statistic = sd.Histogram("age", edges=(0, 20, 50, 100), neighbors=neighbors)
    question = prepare(
        statistic,
        price,
        neighbors=neighbors,
        unit=sd.Unit(),
        rows=10,
        interval=Sample(0.9, simultaneous=True),
    )
    (part,) = question.parts
    from sordino.data.memory import Memory

    table, bits = Memory(TABLE), SeededBits(5)
    truth = np.array([2, 5, 3])
    together, narrow, draws = 0, 0, 500
    for _ in range(draws):
        answer = part.mechanism.answer(
            part.statistic, lambda request: table.summary(request)[0], part.grid, bits=bits
        )
        half = float(answer.noise.of_counts().half(part.bar.each.miss))
        errors = np.abs(np.array(answer.value, float) - truth)
        together += bool((errors <= half).all())
        narrow += bool((errors <= 0.8 * half).all())
        bar = part.bar.around(answer)
        assert all(low >= 0 for low in bar.low)
    error = 3 * math.sqrt(0.09 / draws)
    assert together / draws >= 0.9 - error
    assert narrow / draws < 0.9 - error


def test_one_statistic_without_a_bar_does_not_refuse_the_batch():
    people = sd.open(TABLE, budget=sd.Pure(10))
    release = people.release([sd.Count("age"), sd.Mode("region", keys=("n", "s"))], sd.Pure(1), interval=0.95)
    assert release.interval[0].low <= release.value[0] <= release.interval[0].high
    assert release.interval[1] is None
    assert any("mode has no error bar" in said for said in release.assumptions)
    with pytest.raises(sd.Unsupported, match="no such error bar"):
        people.release(sd.Mode("region", keys=("n", "s")), sd.Pure(1), interval=0.95)
    assert people.remaining == sd.Pure(9)


def test_groups_have_bars_and_simultaneous_ones_are_wider():
    people = sd.open(TABLE, budget=sd.Pure(10))
    question = ("region", ["n", "s"], sd.Histogram("age", edges=(0, 50, 100)), sd.Pure(1))
    each = people.release_by(*question, interval=Sample(0.9))
    every = people.release_by(*question, interval=Sample(0.9, simultaneous=True))
    width = [max(bar.high[1] - bar.low[1] for bar in one.interval) for one in (each, every)]
    assert len(each.interval) == 2
    assert each.interval[0].paid is False
    assert width[1] > 0
    assert every.interval[0].simultaneous
    assert sd.Release.from_json(every.to_json()) == every
    halves = [answer.high[0] - answer.low[0] for answer in (each.interval[0], every.interval[0])]
    assert all(half >= 0 for half in halves)


# The population -------------------------------------------------------------------------------------------


def shares(released, noise, rows, miss):
    return share_limits(Fraction(released), noise, rows=rows, unit=Fraction(1), origin=Fraction(0), miss=miss)


@pytest.mark.few(2)
@pytest.mark.parametrize(("rows", "share"), [(12, 0.3), (40, 0.02), (40, 0.5)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3)])
def test_shares_are_covered_as_enumerated(rows, share, scale):
    """Every count and every noisy count, by their exact chances: at least the level, and a fifth narrower is not."""
    from scipy.stats import binom

    noise, miss = PublicNoise(None, scale, Fraction(1), aligned=True), 0.1
    reach = int(30 * float(scale)) + 1
    rate = 1 / float(scale)
    covered = narrow = 0.0
    limits = {c: shares(c, noise, rows, miss) for c in range(-reach, rows + reach + 1)}
    for count in range(rows + 1):
        weight = binom.pmf(count, rows, share)
        for away in range(-reach, reach + 1):
            chance = weight * math.tanh(rate / 2) * math.exp(-rate * abs(away))
            found = limits.get(count + away)
            if found is None:
                continue
            middle, half = (found.low + found.high) / 2, (found.high - found.low) / 2
            covered += chance * (found.low <= share <= found.high)
            narrow += chance * (abs(share - middle) <= 0.8 * half)
    assert covered >= 0.9 - 1e-9
    if share > 0.4:  # few rows, or counts that are nearly always 0, leave limits no choice
        assert narrow < 0.9


def test_hardly_any_noise_gives_the_interval_of_clopper_and_pearson():
    from scipy.stats import beta

    quiet = PublicNoise(None, Fraction(1, 60), Fraction(1), aligned=True)
    found = shares(30, quiet, 100, 0.05)
    assert found.low == pytest.approx(beta.ppf(0.025, 30, 71), abs=1e-6)
    assert found.high == pytest.approx(beta.ppf(0.975, 31, 70), abs=1e-6)
    assert found.high - found.low == pytest.approx(found.plain, abs=1e-6)


def test_noise_makes_it_wider_and_ends_stay_shares():
    widths = [
        shares(30, PublicNoise(None, Fraction(s), Fraction(1), aligned=True), 100, 0.05) for s in (1, 10, 50)
    ]
    assert widths[0].high - widths[0].low < widths[1].high - widths[1].low < widths[2].high - widths[2].low
    assert all(0 <= one.low <= one.high <= 1 for one in widths)
    beyond = shares(130, ONE, 100, 0.05)
    assert beyond.high == 1
    assert beyond.low > 0.9
    assert shares(-30, ONE, 100, 0.05).low == 0


@pytest.mark.few(1)
@pytest.mark.parametrize("size", [0, 3, 60])
def test_a_count_under_a_sampling_design_is_covered(size):
    from scipy.stats import binom

    inclusion, miss, scale = 0.2, 0.1, Fraction(2)
    noise = PublicNoise(None, scale, Fraction(1), aligned=True)
    covered = 0.0
    for released in range(-40, 100):
        found = size_limits(Fraction(released), noise, inclusion=inclusion, miss=miss)
        assert found.low <= found.high
        counts = np.arange(size + 1)
        rate = 1 / float(scale)
        chance = np.sum(
            binom.pmf(counts, size, inclusion) * math.tanh(rate / 2) * np.exp(-rate * abs(released - counts))
        )
        covered += chance * (found.low <= size <= found.high)
    assert covered >= 0.9 - 1e-6


def test_a_population_needs_a_public_number_of_rows_or_a_design():
    added = sd.open(TABLE, budget=sd.Pure(10), neighbors="add-remove-one")
    with pytest.raises(sd.Unsupported, match="number of rows is private"):
        added.release(sd.Count("age"), sd.Pure(1), interval=Population(0.9))
    found = added.release(sd.Count("age"), sd.Pure(1), interval=Population(0.9, inclusion=0.5))
    assert found.interval.covers == "population"
    assert found.interval.inclusion == 0.5
    assert "with a probability of 0.5" in " ".join(found.explain().split())
    assert sd.Release.from_json(found.to_json()) == found
    fixed = sd.open(TABLE, budget=sd.Pure(10))
    counted = fixed.release(sd.Count("age"), sd.Pure(1), interval=Population(0.9))
    assert "share there times the number of rows" in " ".join(counted.explain().split())
    share = fixed.release(
        sd.Mean("sex", low=0, high=1, step=1), sd.Pure(1), interval=Population(0.9), tight=True
    )
    assert 0 <= share.interval.low < share.interval.high <= 1
    assert share.interval.added >= 0
    with pytest.raises(sd.Unsupported, match="ask for the mean and multiply"):
        fixed.release(sd.Sum("age", low=0, high=120), sd.Pure(1), interval=Population(0.9), tight=True)


def test_what_is_asked_is_checked():
    assert Coverage.of(0.9) == Sample(0.9)
    assert Coverage.of(None) is None
    for wrong in ("0.9", True, 95, 0, [0.9]):
        with pytest.raises(sd.ParameterError):
            Coverage.of(wrong)
    with pytest.raises(sd.ParameterError, match="inclusion"):
        Population(0.9, inclusion=2)
    assert Sample(0.9, simultaneous=True).each_of(3).level == pytest.approx(0.9 ** (1 / 3))
    assert Lattice.dyadic(0).step == 1


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove-one"])
@pytest.mark.parametrize(
    ("statistic", "reason"),
    [
        (sd.Sum("x", low=0, high=10), "ask for the mean and multiply"),
        (sd.Variance("x", low=0, high=10), "fourth moments"),
        (sd.StandardDeviation("x", low=0, high=10), "fourth moments"),
        (sd.SecondMoment("x", low=0, high=10, centre=0), "fourth moments"),
        (sd.Quantiles("x", qs=(0.25, 0.75), low=0, high=10), "covers the rows alone"),
    ],
    ids=lambda one: one.name if hasattr(one, "name") else "",
)
def test_what_covers_the_rows_alone_says_why_before_anything_is_spent(statistic, reason, neighbors):
    people = sd.open({"x": [1.0, 2.0, 3.0] * 100}, budget=sd.Pure(9), neighbors=neighbors)
    with pytest.raises(sd.Unsupported, match=reason) as refused:
        people.release(statistic, sd.Pure(1), interval=sd.Population(0.9))
    assert "sd.Sample(0.95) is for the rows" in str(refused.value)
    assert people.remaining == sd.Pure(9)
