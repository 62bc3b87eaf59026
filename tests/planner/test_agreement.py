"""The planner's promise: predicted errors agree with real answers on fresh data; a planted error is noticed.

Every registered statistic is tried, under every relation it knows. A new statistic is built from the names of its
fields; one that cannot be built, or has no plan, fails here. Regimes of the default mechanism: test_regimes.py.
"""

import dataclasses

import pytest

import sordino as sd
from sordino.catalogue import statistics
from sordino.planner.subject import Subject
from tests.support.planner_releases import Precision, check

ROWS = 160
FEWER = {"theil-sen": 36, "vector": 32, "winsorized-mean": 48, "interquantile-range": 80, "quantiles": 80}
"""Statistics of all pairs of rows, or whose answers are drawn from as many pieces as there are rows."""
FEWEST = {**FEWER, "winsorized-mean": 28, "interquantile-range": 48, "quantiles": 48}
TOPOLOGY = tuple((a, b) for b in range(9) for a in range(b) if (a * b + b) % 3 < 2 or b == a + 1)
FIELDS = {
    "column": "x", "low": 0.0, "high": 500_000.0, "q": 0.75, "trim": 0.1, "qs": (0.25, 0.75), "threshold": 60_000.0,
    "edges": (0, 30_000, 60_000, 120_000, 500_000), "keys": ("a", "b", "c"), "vertices": 18, "topology": TOPOLOGY,
    "lower": 0.25, "upper": 0.75, "centre": 60_000.0, "radii": (20_000, 80_000), "answer_low": 20_000.0,
    "answer_high": 150_000.0, "x": "x", "y": "y", "x_low": 0.0, "x_high": 10.0, "y_low": 0.0, "y_high": 100.0,
    "parts": (sd.Mean("x", low=0, high=100), sd.Median("y", low=0, high=100)), "order": 2,
}  # fmt: skip
OWN = {
    "theil-sen": {"low": -40.0, "high": 40.0},
    "minimum-spanning-tree": {"vertices": 9, "high": 9.0},
}
PRICES = {"mode": sd.Pure(0.03), "maximum": sd.Pure(0.25)}
"""A mode of three keys is found almost always at a price of one, and an error of zero cannot be 30 % off."""
QUICK = {**PRICES, "vector": sd.Pure(4)}  # the number of shells of a vector falls with the price
WITHOUT = {"function", "keys", "crosstab", "hierarchy", "sparse-table", "means"}
"""No generated column stands for them: a function is the caller's own, and tables are asked of keys."""
CASES = [
    (name, relation)
    for name, kind in statistics().items()
    if name not in WITHOUT
    for relation in kind.relations
]
TURNS = [
    pytest.param(name, relation, marks=[] if place % len(kind.relations) == turn else [pytest.mark.slow])
    for place, (name, kind) in enumerate(sorted(statistics().items()))
    if name not in WITHOUT
    for turn, relation in enumerate(kind.relations)
]
"""Every statistic under one of its relations, which take turns; the others in the slow run."""


def example(name):
    """A statistic by the names of its required fields."""
    kind = statistics()[name]
    required = [
        field.name
        for field in dataclasses.fields(kind)
        if field.init
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    given = {**FIELDS, **OWN.get(name, {})}
    unknown = [field for field in required if field not in given]
    assert not unknown, f"{name} has required fields {unknown}: give them a value in FIELDS"
    return kind(**{field: given[field] for field in required})


def rows_of(statistic, fewer):
    if Subject.of(statistic).kind in ("graph", "weights"):
        return None
    return fewer.get(statistic.name, ROWS)


@pytest.mark.few(3)
@pytest.mark.statistical
@pytest.mark.parametrize(("name", "relation"), TURNS, ids=lambda v: getattr(v, "value", v))
def test_every_statistic_has_a_plan_that_its_answers_keep(name, relation):
    statistic = example(name)
    check(statistic, QUICK.get(name, sd.Pure(1)), relation, rows=rows_of(statistic, FEWEST))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "relation"), CASES, ids=lambda v: getattr(v, "value", v))
@pytest.mark.parametrize("price", [sd.Pure(1), sd.Concentrated(0.125)], ids=repr)
def test_every_plan_is_kept_at_both_kinds_of_price(name, relation, price):
    statistic = example(name)
    if name in PRICES:
        price = PRICES[name] if isinstance(price, sd.Pure) else sd.Concentrated(PRICES[name].epsilon ** 2 / 8)
    precision = Precision(plan=0.014, answers=0.019, more=7)
    check(statistic, price, relation, rows=rows_of(statistic, FEWER), precision=precision, seed=5, fresh=True)
