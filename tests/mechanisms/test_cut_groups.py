"""Plain-or-cut for many groups at once: the weights of every interval to the integer, and the law of every outcome."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.clip import family_groups, whole_or_interval_groups
from sordino.mechanisms.clip.family import Ends, Family, exact_chances
from sordino.mechanisms.clip.family_groups import ManyWeighed
from sordino.mechanisms.clip.plain_or_cut_plan import plan_cut
from sordino.mechanisms.clip.whole_or_interval import Chosen, Valued
from sordino.mechanisms.clip.whole_or_interval_groups import draw_outcomes
from sordino.privacy import Concentrated, Pure

TOP = 2**20


def columns(seed=3):
    """Wide and narrow ones, heaps, far ones, small ones and an empty one."""
    rng = np.random.default_rng(seed)
    drawn = [
        rng.lognormal(8, 1, 900),
        rng.lognormal(4, 0.5, 700),
        rng.normal(600_000, 300, 800),
        np.full(500, 77),
        np.where(rng.random(600) < 0.9, 0, rng.exponential(3000, 600)),
        rng.uniform(0, TOP, 900),
        rng.normal(900_000, 3, 1200),
        rng.lognormal(5, 1, 40),
        rng.lognormal(5, 1, 22),
        np.zeros(0),
    ]
    return [np.sort(np.clip(one, 0, TOP).astype(np.int64)) for one in drawn]


def ends_of(codes, reach):
    return Ends.of(codes[: reach + 1], codes[max(len(codes) - reach - 1, 0) :], len(codes))


FAMILIES = {
    "pure": Family(plan_cut(rows=800, price=Pure(1), cells=TOP), TOP, 0),
    "inner anchor": Family(plan_cut(rows=800, price=Pure(1), cells=TOP), TOP, 600_000),
    "centre": Family(plan_cut(rows=800, price=Pure(1), cells=TOP), TOP, 0, centre=600_100),
    "anchored": Family(plan_cut(rows=800, price=Pure(1), cells=TOP), TOP, 5000, anchored=True),
    "loose": Family(plan_cut(rows=800, price=Pure(1), cells=TOP, loose=True), TOP, 0),
    "squares": Family(plan_cut(rows=900, price=Pure(2), cells=TOP, squares=True), TOP, 0),
    "concentrated": Family(plan_cut(rows=800, price=Concentrated(0.3), cells=TOP), TOP, 0),
    "private rows": Family(plan_cut(rows=800, price=Pure(1), cells=TOP, counted=True), TOP, 0),
    "three sums": Family(plan_cut(rows=900, price=Pure(2), cells=TOP, squares=True, counted=2), TOP, 0),
    "squares about a mean": Family(
        plan_cut(rows=900, price=Pure(2), cells=TOP, squares=True, counted=2, whole_counted=1), TOP, 0
    ),
    "several rows": Family(plan_cut(rows=800, price=Pure(4), cells=TOP, contribution=3), TOP, 0),
}


def by_exponent(weighed):
    """Exact: what all intervals of one exponent weigh together."""
    found = Counter()
    for exponent, count in zip(weighed.exponents, weighed.counts, strict=True):
        found[exponent] += count
    return {exponent: count for exponent, count in found.items() if count}


def disagreements(family):
    """Groups whose weights are not those of `Family.weigh`."""
    ends = [ends_of(codes, family.reach) for codes in columns()]
    many = ManyWeighed(family, ends)
    found = []
    for group, one in enumerate(ends):
        slow, quick = family.weigh(one), many.one(group)
        names = {
            (level, int(place)): charge
            for level, places, charge in zip(slow.level, slow.places, slow.charges, strict=True)
            if places is not None
            for place in places
        }
        named = {
            (level, int(places[0])): charge
            for level, places, charge in zip(quick.level, quick.places, quick.charges, strict=True)
            if places is not None
        }
        same = by_exponent(slow) == by_exponent(quick) and all(
            names.get(at, charge) == charge for at, charge in named.items()
        )
        floats = many.floats(group)
        exact = [
            float(Fraction(count, quick.one)) * np.exp(float(Fraction(-exponent, quick.unit)))
            for count, exponent in zip(quick.counts, quick.exponents, strict=True)
        ]
        close = np.allclose(floats, exact, rtol=1e-12, atol=0)
        total = abs(many.totals[group] - sum(exact)) <= 1e-12 * sum(exact)
        if not (same and close and total):
            found.append(group)
    return found


@pytest.mark.parametrize("name", FAMILIES)
def test_weights_are_those_of_one_group_to_the_integer(name):
    assert FAMILIES[name].plan.searches
    assert disagreements(FAMILIES[name]) == []


def test_a_planted_error_is_noticed(monkeypatch):
    """Parts of an interval that leave the last one out; a level that is passed over too soon."""
    monkeypatch.setattr(family_groups, "PARTS", 5)
    assert disagreements(FAMILIES["pure"])
    monkeypatch.undo()
    monkeypatch.setattr(
        family_groups.ManyEnds,
        "shortest",
        lambda self, group, enough: np.full(len(group), TOP + 1),
    )
    assert disagreements(FAMILIES["pure"])


def outcome_counts(family, one, runs, joint, *, seed):
    """How often the whole range, and each interval, is drawn for copies of one group beside others."""
    bits = SeededBits(seed)
    whole = Valued(
        (Fraction(5),) * family.plan.whole_numbers, Fraction(1), Fraction(1, 2), Lattice.dyadic(-4)
    )
    found = draw_outcomes(family, [one] * runs, [whole] * runs if joint else None, bits=bits)
    counts = Counter()
    for outcome in found:
        counts[(outcome.level, outcome.low, outcome.high) if isinstance(outcome, Chosen) else "whole"] += 1
    return counts


def chi_square(family, one, *, joint, runs=1500, seed=5):
    """Observed against exact chances of the whole range and of every likely interval, in standard deviations."""
    weighed = family.weigh(one)
    exponent = family.plan.flatness(Fraction(1, 2))
    chance, _, cells = exact_chances(weighed, numbers=joint * family.plan.whole_numbers, exponent=exponent)
    chances = Counter({"whole": chance})
    for cell, (level, places) in enumerate(zip(weighed.level, weighed.places, strict=True)):
        for place in places if places is not None else ():
            chances[(level, *family.interval(level, int(place)))] += cells[cell] / len(places)
    counts = outcome_counts(family, one, runs, joint, seed=seed)
    likely = {name: share for name, share in chances.items() if share * runs >= 8}
    rest = 1 - sum(likely.values())
    observed = [counts[name] for name in likely] + [runs - sum(counts[name] for name in likely)]
    expected = [share * runs for share in likely.values()] + [max(rest * runs, 1e-9)]
    kept = [(o, e) for o, e in zip(observed, expected, strict=True) if e >= 5]
    value = sum((o - e) ** 2 / e for o, e in kept)
    return (value - len(kept)) / max(np.sqrt(2 * len(kept)), 1)


def balanced(family, wanted):
    """A column on which all intervals together weigh about so much: most rows in a ninth of the range."""
    rng = np.random.default_rng(1)
    found = []
    for beyond in range(60):
        codes = np.sort(np.concatenate([rng.integers(0, TOP // 9, 700), rng.integers(TOP // 2, TOP, beyond)]))
        one = ends_of(codes, family.reach)
        found.append((abs(np.log(ManyWeighed(family, [one]).totals[0] / wanted)), beyond, one))
    gap, _, one = min(found, key=lambda each: each[:2])
    assert gap < 1.5
    return one


@pytest.mark.few(2)
@pytest.mark.parametrize("weight", [0.1, 1.0, 20.0])
@pytest.mark.parametrize(
    "name", ["pure", "concentrated", "private rows", "three sums", "squares about a mean"]
)
def test_outcomes_have_their_law(name, weight):
    family = FAMILIES[name]
    assert chi_square(family, balanced(family, weight), joint=family.plan.joint) < 5


@pytest.mark.few(1)
@pytest.mark.parametrize("group", [2, 8])
def test_outcomes_of_few_and_of_far_rows_have_their_law(group):
    one = ends_of(columns()[group], FAMILIES["centre"].reach)
    assert chi_square(FAMILIES["centre"], one, joint=True) < 5


@pytest.mark.few(3)
@pytest.mark.parametrize("name", FAMILIES)
def test_few_rows_weigh_no_more_than_their_bound(name):
    """On spread and on equal rows, near and far."""
    family = FAMILIES[name]
    for rows in (0, 1, 5, 22, 40):
        bound = whole_or_interval_groups.heaviest(family, np.array([rows]))[0]
        for codes in (
            np.arange(rows) * 3,
            np.arange(rows) * 900,
            np.full(rows, 99),
            np.sort(np.arange(rows) % 7),
        ):
            many = ManyWeighed(family, [ends_of(codes.astype(np.int64), family.reach)])
            assert many.totals[0] <= bound * (1 + 1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_another_law_is_noticed(monkeypatch, weight):
    """Whole ranges that meet twice the weight."""
    family = FAMILIES["pure"]
    one, original = balanced(family, weight), ManyWeighed.totals.func
    monkeypatch.setattr(ManyWeighed, "totals", property(lambda self: 2 * original(self)))
    assert chi_square(family, one, joint=True) > 5


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["pure", "concentrated"])
def test_what_floats_leave_open_is_decided_in_balls(monkeypatch, name):
    """With a slack so wide that floats decide nothing the law stays."""
    monkeypatch.setattr(whole_or_interval_groups, "SLACK", 10.0)
    family = FAMILIES[name]
    assert chi_square(family, balanced(family, 1.0), joint=family.plan.joint, runs=150) < 5


def test_values_of_more_steps_than_a_word_counts_are_not_cut():
    grid = Lattice.dyadic(-60)
    wholes = [Valued((Fraction(place * 1000),), Fraction(1), Fraction(1000), grid) for place in (-7, 7)]
    found = whole_or_interval_groups._plain_values(wholes, SeededBits(1))
    assert [round(one / 1000) for (one,) in found] == [-7, 7]
