"""Quantiles of many groups at once: each has its own exact law, whatever the groups hold."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.lattice import FiniteLattice, Lattice
from sordino.mechanisms.parts.measure import Measure, decimals, mixture, shells
from sordino.mechanisms.quantile import private_quantile as module
from sordino.mechanisms.quantile.plan import QuantilePlan
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile, class_levels
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.reading.profile import Reading
from sordino.statistics.median import Median
from sordino.statistics.quantile import Quantile

F = Fraction
LAST = 20
LATTICE = FiniteLattice(F(0), F(1), LAST)
WIDE = mixture([(F(1, 2), Measure.uniform(LAST)), (F(1, 2), decimals(low=F(0), step=F(1), last=LAST))])
GROUPS = [
    (),
    (7.0,),
    (3.0, 3.0, 3.0, 3.0, 3.0),
    (3.0, 5.0, 8.0, 9.0, 12.0, 12.0, 15.0),
    tuple(float(i) for i in range(21)),
    (0.0, 20.0, 0.0, 20.0),
]
MEDIAN = Median("x", low=0, high=LAST, step=1)
DRAWS = 1500


def asking(rows):
    """What one group answers; a question that was asked before is not read again."""
    source = Memory({"x": np.array(rows)})
    known = {}

    def ask(request):
        if id(request) not in known:
            known[id(request)] = (request, source.summary(request)[0])
        return known[id(request)][1]

    return ask


def p_value(law, points):
    """Chi-square p-value of answers against a law on the lattice, thin points pooled."""
    chances = np.array([math.exp(law.logpdf(float(point))) for point in range(LAST + 1)])
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    counts, wanted = np.bincount(points, minlength=LAST + 1), chances * len(points)
    thick = wanted >= 5
    observed, expected = (
        np.append(counts[thick], counts[~thick].sum()),
        np.append(wanted[thick], wanted[~thick].sum()),
    )
    keep = expected > 1e-9
    assert observed[~keep].sum() == 0
    if keep.sum() < 2:
        return 1.0
    return stats.chisquare(
        observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum()
    ).pvalue


def law_of(mechanism, statistic, rows):
    """The exact law of one group, by the path of a single reading."""
    request = replace(statistic.request(depth=mechanism.depth), cuts=mechanism.cuts)
    summary = asking(rows)(request)
    return mechanism.law(Reading(replace(statistic.read(summary).open(), below=summary.below)))


def planned(magnitude=Fraction(), *, flip=False):
    """A plan of our own, so that the tests do not depend on the planner's rules."""
    return QuantilePlan(WIDE if not flip else Measure.uniform(LAST), magnitude, F(1, 16), 0, flip=flip)


@pytest.mark.few(4)
@pytest.mark.statistical
@pytest.mark.parametrize("relation", [Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE])
@pytest.mark.parametrize(
    ("price", "plan"),
    [
        (Pure(1), planned()),
        (Pure(1), planned(flip=True)),
        (Pure(2), planned(F(1, 4))),
        (Concentrated(1), planned(F(1, 4))),
        (Pure(30), planned()),
        (Pure(F(1, 1000)), planned()),
    ],
    ids=["plain", "flip", "magnitude", "magnitude concentrated", "dear", "cheap"],
)
def test_every_group_has_its_own_exact_law(monkeypatch, price, plan, relation):
    monkeypatch.setattr(module, "plan_quantile", lambda *_, **__: plan)
    statistic = replace(MEDIAN, neighbors=relation)
    mechanism = PrivateQuantile(price=price, lattice=LATTICE, rows=7, neighbors=relation)
    asks = [ask for rows in GROUPS for ask in [asking(rows)] * DRAWS]
    if isinstance(price, Concentrated):  # drawn one by one: fewer
        asks = [ask for i, ask in enumerate(asks) if i % DRAWS < 300]
    answers = mechanism.answers(statistic, asks, Lattice.dyadic(0), bits=SeededBits(31))
    assert not any(answer.private for answer in answers)
    each = len(asks) // len(GROUPS)
    for group, rows in enumerate(GROUPS):
        points = [int(answer.value) for answer in answers[group * each : (group + 1) * each]]
        assert p_value(law_of(mechanism, statistic, rows), points) > 1e-4, rows
    if price == Pure(1):  # the same points do not fit a price that is 30 % off
        wrong = law_of(replace(mechanism, price=Pure(1.4)), statistic, GROUPS[4])
        assert p_value(wrong, [int(a.value) for a in answers[4 * each : 5 * each]]) < 1e-3


def test_one_group_and_many_are_asked_the_same_request():
    mechanism = PrivateQuantile(price=Pure(1), lattice=LATTICE, rows=7, flip=False)
    seen = []

    def ask(request):
        seen.append(request)
        return asking(GROUPS[3])(request)

    mechanism.answer(MEDIAN, ask, Lattice.dyadic(0))
    mechanism.answers(MEDIAN, [ask] * 3, Lattice.dyadic(0))
    assert len(seen) == 4
    assert len(set(seen)) == 1


def test_groups_are_answered_in_pieces_without_a_seam(monkeypatch):
    """More groups than are worked on together: every one is answered, in order."""
    from sordino.mechanisms.quantile import private_quantile

    monkeypatch.setattr(private_quantile, "CELLS", 600)
    mechanism = PrivateQuantile(price=Pure(30), lattice=LATTICE, rows=9, flip=False)
    rows = [(float(i % 20),) * 9 for i in range(200)]
    answers = mechanism.answers(MEDIAN, [asking(one) for one in rows], Lattice.dyadic(0))
    assert [int(answer.value) for answer in answers] == [i % 20 for i in range(200)]
    assert all(answer.private for answer in answers)


@pytest.mark.parametrize("relation", [Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE])
def test_class_levels_follow_their_definition(monkeypatch, relation):
    """Rows that must change so that the middle row is in a class; by brute force over small columns."""
    plan = replace(planned(F(1, 4)), anchor=6)
    monkeypatch.setattr(module, "plan_quantile", lambda *_, **__: plan)
    mechanism = PrivateQuantile(price=Pure(1), lattice=LATTICE, rows=4, neighbors=relation)
    columns = list(itertools.combinations_with_replacement((0, 5, 6, 7, 14, 20), 4))
    below = np.array([[sum(code < cut for code in column) for cut in mechanism.cuts] for column in columns])
    for moved in (1, 2):
        found = class_levels(mechanism, np.full(len(columns), 4), below, moved)
        for column, levels in zip(columns, found.tolist(), strict=True):
            sizes = [max(abs(code - 6).bit_length(), mechanism.classes[0]) for code in column]
            for place, size in enumerate(mechanism.classes):
                before, after = sum(s < size for s in sizes), sum(s <= size for s in sizes)
                raw = (
                    max(before - 2 + 1, 2 - after, 0)
                    if relation is Neighbors.REPLACE_ONE
                    else max(2 * before - 4, 4 - 2 * after, 0)
                )
                assert levels[place] == -(-raw // moved)


@pytest.mark.statistical
def test_several_rows_per_person_and_dropped_rows_keep_their_law():
    relation = Neighbors.ADD_REMOVE_ONE
    statistic = Quantile("x", q=F(1, 3), low=0, high=LAST, step=1, missing="drop", neighbors=relation)
    mechanism = PrivateQuantile(price=Pure(2), lattice=LATTICE, rows=12, flip=False, measure=WIDE)
    rows = (2.0, math.nan, 3.0, 9.0, 9.0, 14.0, 19.0, math.nan, 5.0, 5.0, 6.0, 1.0)
    answers = mechanism.answers(
        statistic, [asking(rows)] * 3000, Lattice.dyadic(0), contribution=4, bits=SeededBits(33)
    )
    inner = replace(mechanism, neighbors=Neighbors.ADD_REMOVE_ONE)
    summary = asking(rows)(statistic.request(depth=inner.depth * 4))
    law = inner.law(statistic.read(summary).by(4))
    points = [int(answer.value) for answer in answers]
    assert p_value(law, points) > 1e-4
    assert p_value(inner.law(statistic.read(summary)), points) < 1e-4


def test_shells_of_a_huge_range_find_a_tie():
    last = 2**49
    lattice = FiniteLattice(F(0), F(1, 2**20), last)
    measure = mixture([(F(1, 2), Measure.uniform(last)), (F(1, 2), shells(last=last, centre=0, core=1))])
    statistic = Median("x", low=0, high=2.0**29, step=F(1, 2**20))
    mechanism = PrivateQuantile(price=Pure(2), lattice=lattice, rows=100, measure=measure)
    answers = mechanism.answers(statistic, [asking((1234.5,) * 100)] * 50, Lattice.dyadic(-20))
    assert sum(answer.value == F(2469, 2) for answer in answers) == 50
