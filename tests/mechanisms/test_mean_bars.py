"""Bars of means and sums: exact worst misses over all columns of tiny worlds, coverage over releases, honest words."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.coverage import Population, Sample
from sordino.lattice import Lattice
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.blurred import Blur, blurred_quantile, flat_topped_quantile, paired_quantile
from sordino.mechanisms.clip.clipped_bar import ClippedBar, JointReach
from sordino.mechanisms.clip.cut_tails import CutTails, Rarity
from sordino.mechanisms.clip.family import Family
from sordino.mechanisms.clip.flat_top import top_weight
from sordino.mechanisms.clip.plain_or_cut_plan import plan_cut
from sordino.mechanisms.clip.whole_or_interval import Chosen
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from sordino.privacy import Pure
from tests.support.mean_bar_releases import covered
from tests.support.mean_bar_worlds import exact_miss, hostile_columns
from tests.support.plain_or_cut_worlds import columns, small_plan

REPLACE, ADD = sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE


# The law -------------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize(("anchor", "anchored"), [(0, False), (32, False), (16, True)])
@pytest.mark.parametrize("slope", [4, 8])
def test_the_worst_miss_over_all_columns_of_a_tiny_world(anchor, anchored, slope):
    plan = small_plan(
        Fraction(slope), levels=(6, 8), tilt=1.733, margin=13.0, distant=16.0, epsilon=2.5 * slope
    )
    family = Family(plan, top=64, anchor=anchor, anchored=anchored)
    rows = columns((anchor, anchor + 2, anchor + 4, anchor + 7, 63), (4, 7))
    assert max(exact_miss(family, one, 0.05) for one in rows) <= 0.05
    assert max(exact_miss(family, one, 0.05, narrower=0.8) for one in rows) > 0.05


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [60, 300])
@pytest.mark.parametrize("anchor", [0, 2**29])
def test_hostile_columns_miss_rarely_and_a_fifth_narrower_is_rejected(rows, anchor):
    family = Family(plan_cut(rows=rows, price=Pure(1), cells=2**30), top=2**30, anchor=anchor)
    some = list(hostile_columns(2**30, np.random.default_rng(rows), rows, 60))
    for miss in (0.05, 0.2):
        assert max(exact_miss(family, one, miss) for one in some) <= miss
    one = np.full(rows, 2**29)  # a heap: the whole range, whose bar is tight but for a quarter of the miss
    assert exact_miss(family, one, 0.05, narrower=0.8) > 0.05


@pytest.mark.few(1)
@pytest.mark.parametrize("top", [40, 120])
@pytest.mark.parametrize("place", [0, 2])
def test_intervals_that_share_their_codes_have_the_wider_bar_of_both(top, place):
    """On coarse lattices a favoured interval and another one are the same codes: nobody can tell which was drawn."""
    anchor = top // place if place else 0
    family = Family(plan_cut(rows=1000, price=Pure(1), cells=top), top=top, anchor=anchor)
    shared = 0
    for level in family.plan.levels:
        first, last = family.places(level)
        favoured, found = set(family.favoured(level).tolist()), {}
        for start in range(first, last + 1):
            found.setdefault(family.interval(level, start), set()).add(start in favoured)
        for (low, high), priors in found.items():
            drawn = Chosen(level, low, high, Fraction(0))
            reach = JointReach.of(family, drawn, Fraction(1000), Lattice())
            tails = CutTails.of(family, 0.05)
            needed = max((tails.favoured if one else tails.others)[level] for one in priors)
            assert set(reach.priors) == priors
            assert 1000 * needed <= reach.half(0.05) <= 1000 * needed + 2
            shared += len(priors) == 2
    assert shared


@pytest.mark.parametrize("rows", [201, 2001])
@pytest.mark.parametrize("miss", [1e-2, 1e-3, 1e-4, 1e-7])
def test_bars_that_miss_more_rarely_than_what_is_left_out_keep_their_level_too(rows, miss):
    """What hardly anybody draws had no part left of so rare a miss: the release failed after it was paid for."""
    family = Family(plan_cut(rows=rows, price=Pure(1), cells=2**30), top=2**30, anchor=0)
    tails, usual = CutTails.of(family, miss), CutTails.of(family, 0.05)
    for level in family.plan.levels:
        assert usual.favoured[level] <= tails.favoured[level] < 100
        assert usual.others[level] <= tails.others[level] < 100
    for column in hostile_columns(2**30, np.random.default_rng(2), rows, 6):
        assert exact_miss(family, column, miss) <= miss


@pytest.mark.parametrize("people", [1, 2])
@pytest.mark.parametrize("level", [0.999, 0.9999, 0.9999999])
def test_a_release_has_a_bar_of_any_level(people, level):
    values = np.random.default_rng(1).normal(3, 1, 8000)
    table = {"x": values, "person": np.arange(8000) // people}
    unit = sd.Unit("person", max_rows=people)
    rows = sd.open(table, budget=sd.Pure(1), unit=unit)
    bar = rows.release(sd.Mean("x", low=-137.5, high=137.5), sd.Pure(0.5), interval=level, rows=8000).interval
    assert -137.5 <= bar.low < 3 < bar.high <= 137.5


def test_a_bar_without_the_charge_of_intervals_is_rejected():
    """Three scales, as for plain noise, would miss far too often: the flat top is private."""
    family = Family(plan_cut(rows=1001, price=Pure(1), cells=2**30), top=2**30, anchor=0)
    filled = np.linspace(0, 0.9 * 2**22, 953)
    column = np.sort(np.concatenate([filled, np.full(48, 2**30 - 5)])).astype(np.int64)
    plain = -math.log(0.05) / CutTails.of(family, 0.05).favoured[16]
    assert exact_miss(family, column, 0.05) <= 0.05
    assert exact_miss(family, column, 0.05, narrower=plain) > 0.3


@pytest.mark.parametrize("noise", [Laplace(), Gaussian()])
def test_sampling_and_noise_are_convolved(noise):
    random = np.random.default_rng(3)
    normal = random.normal(size=400_000)
    drawn = random.laplace(size=400_000) if noise.name == "laplace" else random.normal(size=400_000)
    for scale in (0.01, 0.9, 1.1, 30.0):
        found = blurred_quantile(noise, scale, Blur(1.0, 0.0), 0.05)
        missed = np.mean(np.abs(normal + scale * drawn) > found)
        assert missed == pytest.approx(0.05, abs=0.002)
        assert np.mean(np.abs(normal + scale * drawn) > 0.8 * found) > 0.06


def test_flat_tops_are_weighed_by_how_rare_they_are():
    rarity, miss = Rarity(10.0, 0.001), 0.035
    for scale in (0.05, 0.5, 3.0):
        width = flat_topped_quantile(rarity, scale, Blur(1.0, 0.0), miss)
        random = np.random.default_rng(7)
        normal = random.normal(size=200_000)
        worst = 0.0
        for flat in (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0):
            top = random.random(200_000) < flat / (1 + flat)
            edge = np.where(
                top, flat * random.uniform(0, 1, 200_000), flat + random.exponential(size=200_000)
            )
            off = np.abs(normal + scale * edge * random.choice([-1, 1], 200_000)) > width
            likely = min(1.0, 10.0 * (1 + flat) * math.exp(-flat))
            worst = max(worst, likely * max(off.mean() - miss, 0))
        assert worst <= 0.001 + 0.002  # the simulation's error


@pytest.mark.parametrize("deviation", [0.0, 2.0])
@pytest.mark.parametrize("counted", [0.1, 1.0])
def test_flat_tops_of_pairs_are_weighed_by_how_rare_they_are(counted, deviation):
    """A tenth wider than needed at most, and never too narrow: the law is simulated for every flat top."""
    rarity, miss, random = Rarity(10.0, 0.004), 0.035, np.random.default_rng(7)
    width, worst, narrow = paired_quantile(rarity, 1.0, counted, deviation, miss), 0.0, 0.0
    for flat in (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0):
        terms = random.choice(
            [1, 2, 3], 200_000, p=np.array([flat**2, 2 * flat, 2]) / (flat**2 + 2 * flat + 2)
        )
        sides = flat + random.gamma(terms)
        own, count = random.uniform(-1, 1, (2, 200_000)) * sides
        off = np.abs(own - counted * count + deviation * random.normal(size=200_000))
        likely = min(1.0, 10.0 * (1 + flat + flat**2 / 2) * math.exp(-flat))
        worst = max(worst, likely * max(np.mean(off > width) - miss, 0))
        narrow = max(narrow, likely * max(np.mean(off > 0.9 * width) - miss, 0))
    assert worst <= 0.004 + 0.001  # the simulation's error
    assert narrow > 0.006


@pytest.mark.parametrize("numbers", [1, 2])
def test_flat_tops_of_the_shortest_intervals_are_weighed_too(numbers):
    """Squares in bounds ten million times too wide lead by 83 nats: so much may rows beyond charge them."""
    plan = plan_cut(rows=100_000, price=Pure(1), cells=2**31, squares=True, counted=numbers - 1)
    family, random, miss = Family(plan, 2**31, 0), np.random.default_rng(7), 0.015
    rarity = Rarity.of(family, plan.finest, favoured=True, slack=0.035)
    if numbers == 2:
        width = paired_quantile(rarity, 1.0, 0.5, 0.0, miss)
    else:
        width = flat_topped_quantile(rarity, 1.0, Blur(0.0, 0.5), miss)
    for flat in (60.0, 70.0, 80.0, 85.0):
        chances = np.array([flat**2, 2 * flat, 2.0] if numbers == 2 else [flat, 1.0])
        radius = flat + random.gamma(random.choice(numbers + 1, 100_000, p=chances / chances.sum()) + 1)
        if numbers == 2:
            off = radius * np.abs(random.uniform(-1, 1, 100_000) - 0.5 * random.uniform(-1, 1, 100_000))
        else:
            off = np.abs(radius * random.uniform(-1, 1, 100_000) + 0.5 * random.laplace(size=100_000))
        likely = min(1.0, rarity.weight * top_weight(flat, numbers) * math.exp(-flat))
        assert likely * (np.mean(off > width) - miss) <= rarity.allowed + 0.003  # the simulation's error


@pytest.mark.parametrize(
    ("deviation", "scale"), [(1.0, 0.3), (0.2, 2.0), (1.0, 0.0), (0.0, 1.0), (2.0, 0.001)]
)
def test_a_blur_is_a_sum_of_a_normal_and_a_laplace_number(deviation, scale):
    random = np.random.default_rng(2)
    drawn = deviation * random.normal(size=400_000) + scale * random.laplace(size=400_000)
    blur = Blur(deviation, scale)
    for place in (0.0, 0.4, 1.0, -1.5, 3.0):
        assert float(blur.sf(np.array(place))) == pytest.approx(np.mean(drawn > place), abs=0.003)


# A noisy sum over a noisy count ----------------------------------------------------------------------------


def quotient(noisy, count, counting):
    value = min(max(10 + noisy / max(count, 1), Fraction(0)), Fraction(20))
    return ClippedBar(
        cut=(Fraction(0), Fraction(20)), bounds=(Fraction(0), Fraction(99)), value=value, noisy=noisy,
        reach=PublicNoise(Laplace(), Fraction(5), Fraction(1, 1024)), origin=Fraction(10), count=count,
        counting=counting, ends=(Fraction(0), Fraction(20)), beyond=4, step=Fraction(1, 1024),
    )  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize(("mean", "rows"), [(2.0, 60), (10.0, 60), (19.5, 400)])
def test_a_quotient_is_covered_as_often_as_promised_and_no_more(mean, rows):
    """Fieller's set has the level of its law, wherever the mean lies; a narrower one fails."""
    random = np.random.default_rng(6)
    counting = PublicNoise(Laplace(), Fraction(3), Fraction(1), aligned=True)
    hits, narrow, draws = 0, 0, 1500
    for _ in range(draws):
        about = Fraction((mean - 10) * rows + 5 * random.laplace()).limit_denominator(2**20)
        count = Fraction(round(rows + 3 * random.laplace()))
        bar = quotient(about, count, counting)
        low, high = map(float, bar.interval(0.2))
        hits += low <= mean <= high
        half = 0.8 * (high - low) / 2
        narrow += abs(mean - (low + high) / 2) <= half
    error = math.sqrt(0.16 / draws)
    assert 0.8 - 3 * error <= hits / draws <= 0.8 + 6 * error
    assert narrow / draws < 0.8


def test_what_a_quotient_can_be_at_most():
    counting = PublicNoise(Laplace(), Fraction(4), Fraction(1), aligned=True)
    bar = quotient(Fraction(90), Fraction(30), counting)
    assert bar.hidden == (0.0, pytest.approx(4 * 79 / float(bar.rows_between(0.05)[0])))
    for count in (-3, 0, 1):  # hardly any rows: nothing but the interval itself is known
        assert quotient(Fraction(90), Fraction(count), counting).interval(0.05) == (0, 20)


# Over releases -------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", [sd.Mean, sd.Sum])
@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
@pytest.mark.parametrize("hints", [{}, {"tight": True}, {"loose": True}], ids=str)
def test_a_few_releases_cover(kind, neighbors, hints):
    data = np.random.default_rng(1).lognormal(10, 0.8, 400)
    statistic = kind("x", low=0, high=5e6, neighbors=neighbors)
    for price in (sd.Pure(1), sd.Concentrated(0.5)):
        found, _ = covered(statistic, data, price, Sample(0.8), 40, seed=2, hints=hints)
        assert found >= 0.8 - 3 * math.sqrt(0.16 / 40)


@pytest.mark.few(2)
@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", [sd.Variance, sd.StandardDeviation, sd.SecondMoment])
@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
@pytest.mark.parametrize("hints", [{}, {"tight": True}, {"loose": True}], ids=str)
def test_a_few_releases_of_squares_cover(kind, neighbors, hints):
    data = np.random.default_rng(1).lognormal(10, 0.8, 1500)
    more = {"centre": 10_000} if kind is sd.SecondMoment else {}
    statistic = kind("x", low=0, high=5e6, neighbors=neighbors, **more)
    for price in (sd.Pure(1), sd.Concentrated(0.5)):
        if (
            choose(statistic, price, rows=1500, **hints).name == "plain-or-cut-squares"
        ):  # others have bars of their own
            found, _ = covered(statistic, data, price, Sample(0.8), 40, seed=2, hints=hints)
            assert found >= 0.8 - 3 * math.sqrt(0.16 / 40)


@pytest.mark.thorough
def test_squares_about_a_released_mean_are_not_those_about_the_mean():
    """A bar that takes the released mean for the mean of the rows misses too often where it is far off."""
    values = {
        "cut": (Fraction(0), Fraction(8)),
        "bounds": (Fraction(0), Fraction(8)),
        "step": Fraction(1, 2**20),
    }
    reach = PublicNoise(Laplace(), Fraction(1, 100), Fraction(1, 2**20))
    random = np.random.default_rng(5)
    hits, blind = 0, 0
    for _ in range(1000):
        moved = random.laplace() * 2
        noisy = Fraction(4 + moved**2 + random.laplace() / 100).limit_denominator(2**20)
        value = max(noisy - 8, Fraction(0))
        with_mean = ClippedBar(
            value=value, noisy=noisy, reach=reach, about=PublicNoise(Laplace(), Fraction(2), Fraction(1, 2**20)),
            ends=(Fraction(0), Fraction(16)), averages="squares", **values,
        )  # fmt: skip
        low, high = with_mean.interval(0.1)
        hits += low <= 4 <= high
        off = reach.half(0.1)
        blind += noisy - off <= 4 <= noisy + off
    assert hits >= 900 - 3 * math.sqrt(90)
    assert blind < 500


@pytest.mark.parametrize("neighbors", [REPLACE, ADD])
def test_bars_of_plain_noise_are_not_too_wide(neighbors):
    """Within bounds that fit nothing is searched: the bar is that of the noise, and a narrower one fails."""
    data = np.random.default_rng(1).random(500)
    mean = sd.Mean("x", low=0, high=1, neighbors=neighbors)
    found, width = covered(
        mean, data, sd.Pure(1), Sample(0.8), 400, seed=2, hints={"tight": True}, narrower=0.7
    )
    assert found < 0.8
    assert width < (1.1 if neighbors is REPLACE else 2.0) * 2 * math.log(5) / 500


def test_an_interval_for_the_population_says_what_privacy_adds():
    random = np.random.default_rng(1)
    people = sd.open({"x": random.lognormal(10, 0.5, 4000)}, budget=sd.Pure(50))
    mean = sd.Mean("x", low=0, high=1_000_000)
    release = people.release(mean, sd.Pure(1), interval=Population(0.95))
    bar = release.interval
    assert (bar.covers, bar.paid) == ("population", True)
    assert bar.low < release.value < bar.high
    assert bar.added > 0
    told = release.explain()
    assert "central limit" in told.replace("\n", " ")
    kept = sd.Release.from_json(release.to_json())
    assert kept.interval == bar
    with pytest.raises(sd.Unsupported, match="100 rows"):
        sd.open({"x": [1.0] * 30}, budget=sd.Pure(9)).release(mean, sd.Pure(1), interval=Population(0.95))


def test_words_say_what_is_cut_and_what_that_can_hide():
    random = np.random.default_rng(1)
    people = sd.open({"x": random.lognormal(10, 0.5, 4000)}, budget=sd.Pure(50))
    release = people.release(sd.Mean("x", low=0, high=10_000_000), sd.Pure(1), interval=0.95)
    bar = release.interval
    assert bar.cut is not None
    assert bar.hidden == (pytest.approx(0), pytest.approx(bar.beyond * (1e7 - bar.cut[1]) / 4000))
    told = " ".join(release.explain().split())
    assert f"fewer than {bar.beyond} rows lie beyond" in told
    assert "cost nothing" in told
    plain = people.release(sd.Mean("x", low=0, high=10_000_000), sd.Pure(1), interval=0.95, tight=True)
    assert plain.interval.cut is None


def test_groups_have_bars_each_and_together():
    random = np.random.default_rng(4)
    table = {"x": random.normal(40, 5, 3000), "g": ["a", "b", "c"] * 1000}
    people = sd.open(table, budget=sd.Pure(50))
    mean = sd.Mean("x", low=0, high=100)
    each = people.release_by("g", ["a", "b", "c"], mean, sd.Pure(1), interval=0.95).interval
    both = people.release_by(
        "g", ["a", "b", "c"], mean, sd.Pure(1), interval=Sample(0.95, simultaneous=True)
    ).interval
    assert len(each) == len(both) == 3
    assert np.mean([one.high - one.low for one in both]) > np.mean([one.high - one.low for one in each])
    gap = people.release_by("g", ["a", "b", "c"], mean, sd.Pure(1), interval=Population(0.95), tight=True)
    assert gap.difference("a", "b").low < 0 < gap.difference("a", "b").high
    assert all(one.approximate and one.cut is None for one in gap.interval)
    assert "approximate: it rests on the central limit theorem" in " ".join(gap.explain().split())
    assert "about 90.25 % interval for the population" in str(gap.difference("a", "b"))


def test_means_that_were_cut_differently_have_no_difference():
    random = np.random.default_rng(4)
    table = {"x": np.append(random.random(3000), 500 * random.random(3000)), "g": ["a"] * 3000 + ["b"] * 3000}
    people = sd.open(table, budget=sd.Pure(50))
    release = people.release_by("g", ["a", "b"], sd.Mean("x", low=0, high=1e6), sd.Pure(4), interval=0.95)
    assert release.interval[0].cut != release.interval[1].cut
    with pytest.raises(sd.ParameterError, match="cut alike"):
        release.difference("a", "b")


def test_groups_are_explained_in_one_paragraph_and_a_histogram_is_labelled_above_its_bars():
    random = np.random.default_rng(4)
    table = {"x": random.lognormal(10, 0.4, 4000), "g": ["a", "b"] * 2000}
    people = sd.open(table, budget=sd.Pure(50))
    release = people.release_by("g", ["a", "b"], sd.Mean("x", low=0, high=1e8), sd.Pure(2), interval=0.95)
    told = " ".join(release.explain().split())
    assert told.count("a value outside is set to the nearer end") == 1
    assert f"fewer than {max(bar.beyond for bar in release.interval)} rows lie beyond" in told
    counted = people.release(sd.Histogram("x", edges=(0, 2e4, 4e4, 9e4)), sd.Pure(0.1), interval=0.95)
    (axes,) = counted.plot().axes
    for label, high in zip(axes.texts, counted.interval.high, strict=True):
        assert label.xy[1] >= high
