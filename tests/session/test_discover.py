"""Groups by keys that are found in the data: one entry, both prices, sorted keys, and nothing about the others."""

import json
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.errors import ParameterError, SordinoError, Unsupported
from sordino.reading.split import Split
from tests.support.schemas import valid

CANARY = "zzcanaryzz"
PRICE = sd.Approx(2, Fraction(1, 10**6))


def people(**options):
    """Three towns with many people, one with one person alone."""
    towns = ["Ulm"] * 300 + ["Linz"] * 200 + ["Bern"] * 100 + [CANARY]
    order = np.random.default_rng(options.pop("order", 0)).permutation(len(towns))
    table = {
        "town": [towns[place] for place in order],
        "sex": [("f", "m")[place % 2] for place in order],
        "age": np.array([30.0 + place % 20 for place in order]),
    }
    return sd.open(table, budget=options.pop("budget", sd.Approx(100, Fraction(1, 1000))), **options)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove-one"])
@pytest.mark.parametrize(
    "asked",
    [
        sd.Count("age"),
        sd.Mean("age", low=0, high=100),
        [sd.Median("age", low=0, high=100), sd.Count("age")],
        sd.Histogram("age", edges=(0, 40, 100)),
        sd.Quantiles("age", qs=(0.25, 0.75), low=0, high=100),
        sd.Means(("age",), low=0, high=100),
    ],
)
def test_every_statistic_has_groups_that_are_found(neighbors, asked):
    session = people(neighbors=neighbors)
    answer = session.release_by("town", sd.discover(), asked, PRICE)
    assert list(answer.groups) == ["Bern", "Linz", "Ulm"]
    assert answer.guarantee == PRICE
    assert session.remaining == sd.Approx(98, Fraction(999, 10**6))
    valid(answer.to_dict())
    again = sd.Release.from_json(answer.to_json())
    assert again == answer
    assert "found" in answer.explain()
    assert "came with the question" not in answer.explain()
    assert len(session.history) == 1


def test_counts_are_the_draw_that_finds_keys():
    answer = people(neighbors="add-remove-one").release_by(
        "town", sd.discover(), sd.Count("age"), PRICE, interval=0.95
    )
    assert {key: round(value, -2) for key, value in answer.groups.items()} == {
        "Bern": 100,
        "Linz": 200,
        "Ulm": 300,
    }
    assert answer.event.mechanism["kind"] == "discovery"
    assert [row.low <= row.value <= row.high for row in answer.table] == [True] * 3
    shared = people(neighbors="add-remove-one").release_by(
        "town", sd.discover(share=0.5), sd.Count("age"), PRICE
    )
    assert shared.event.mechanism["kind"] == "geometric"


def test_several_columns_are_found_as_combinations():
    answer = people().release_by(["town", "sex"], sd.discover(), sd.Count("age"), PRICE)
    assert ("Ulm", "f") in answer.groups
    assert list(answer.groups) == sorted(answer.groups)
    assert set(answer.to_frame("pandas").columns) >= {"town", "sex"}
    assert Split.from_record(answer.event.by).discover == sd.discover()


def test_nothing_about_hidden_keys_leaves(capsys):
    """Not in the answer, the ledger, an explanation or an error; and the order of rows changes nothing."""
    session = people()
    answer = session.release_by("town", sd.discover(), sd.Mean("age", low=0, high=100), PRICE)
    with pytest.raises(SordinoError) as problem:
        session.release_by("town", sd.discover(), sd.Mean("age", low=0, high=100), sd.Pure(1))
    told = [
        answer.to_json(),
        answer.explain(),
        str(answer),
        repr(session),
        str(problem.value),
        repr(session.history),
    ]
    told += list(capsys.readouterr())
    assert not [text for text in told if CANARY in text]
    others = [people(order=seed).release_by("town", sd.discover(), sd.Count("age"), PRICE) for seed in (1, 2)]
    assert {tuple(one.groups) for one in others} == {("Bern", "Linz", "Ulm")}


@pytest.mark.parametrize(
    "price", [sd.Pure(1), sd.BoundedRange(1), [PRICE, PRICE], sd.Approx(1, Fraction(1, 10))]
)
def test_prices_that_cannot_show_a_key_are_refused_before_the_debit(price):
    session = people()
    with pytest.raises(SordinoError):
        session.release_by("town", sd.discover(), [sd.Count("age"), sd.Mean("age", low=0, high=100)], price)
    assert session.remaining == sd.Approx(100, Fraction(1, 1000))


@pytest.mark.parametrize("column", ["nowhere", "age"])
def test_columns_that_hold_no_keys_are_refused_before_the_debit(column):
    session = people()
    with pytest.raises(SordinoError):
        session.release_by(column, sd.discover(), sd.Count("age"), PRICE)
    assert session.remaining == sd.Approx(100, Fraction(1, 1000))


def test_options_are_checked():
    for wrong in ({"share": 0}, {"share": 1.5}, {"max_keys": 0}, {"max_keys": 10**6}, {"passes": 3}):
        with pytest.raises(ParameterError):
            sd.discover(**wrong)
    with pytest.raises(Unsupported, match="simultaneous"):
        people().release_by(
            "town", sd.discover(), sd.Count("age"), PRICE, interval=sd.Sample(0.95, simultaneous=True)
        )


def test_asking_again_with_the_token_returns_the_keys():
    session = people()
    first = session.release_by("town", sd.discover(), sd.Count("age"), PRICE, token="towns")
    assert session.release_by("town", sd.discover(), sd.Count("age"), PRICE, token="towns") == first
    assert session.remaining == sd.Approx(98, Fraction(999, 10**6))


def test_people_with_several_rows():
    """Weighted thresholds, then a release by the keys that were found; a concentrated price with a delta."""
    random = np.random.default_rng(1)
    who = np.repeat(np.arange(800), 5)
    table = {
        "who": who,
        "shop": [f"s{key}" for key in random.integers(0, 6, len(who))],
        "paid": random.uniform(0, 9, 4000),
    }
    table["shop"][7] = CANARY
    session = sd.open(
        table, budget=sd.ApproxConcentrated(9, Fraction(1, 1000)), unit=sd.Unit("who", max_rows=5)
    )
    price = sd.ApproxConcentrated(2, Fraction(1, 10**6))
    answer = session.release_by("shop", sd.discover(max_keys=4), sd.Mean("paid", low=0, high=10), price)
    assert list(answer.groups) == [f"s{key}" for key in range(6)]
    assert answer.guarantee == price
    assert session.release(
        sd.Median("paid", low=0, high=10), sd.Concentrated(1)
    ).guarantee == sd.Concentrated(1)
    assert session.remaining == sd.ApproxConcentrated(6, Fraction(999, 10**6))
    found = session.release(sd.Keys("shop"), price)
    assert found.value == tuple(f"s{key}" for key in range(6))


def test_nothing_found_is_said_so():
    session = sd.open({"x": ["a", "b"], "y": [1.0, 2.0]}, budget=sd.Approx(9, Fraction(1, 1000)))
    answer = session.release_by("x", sd.discover(), sd.Mean("y", low=0, high=9), PRICE)
    assert answer.value == ()
    assert "Nothing is listed" in str(answer)
    assert json.loads(answer.to_json())["table"] == []
    assert "Nothing is listed" in str(session.release(sd.Keys("x"), PRICE))


@pytest.mark.thorough
def test_a_plan_says_what_to_expect_without_data():
    plan = sd.plan(sd.Keys("town"), sd.Approx(1, 1e-6), neighbors="add-remove-one")
    assert plan.lines == (("shown at least half the time, from on", 14),)
    table = sd.Crosstab(("a", "b"), levels=(range(10), range(10)), neighbors="add-remove-one")
    lines = sd.plan(table, sd.Concentrated(Fraction(1, 2))).to_dict()["lines"]
    assert [line["margin"] for line in lines] == ["total", "a", "b", "a, b"]
    assert all(line["ratio"] < 1 for line in lines)
    sparse = sd.plan(
        sd.SparseTable("a", levels=(range(10**6),), false_cells=1, neighbors="add-remove-one"), sd.Pure(1)
    )
    assert sparse.lines[0][2] == 14


def test_a_delta_that_may_well_show_somebody_is_warned_of():
    """With more rows than one over delta."""
    asked = people().question(sd.Keys("town"), sd.Approx(1, Fraction(1, 1000)))
    assert not [line for line in asked.assumptions if "is large" in line]
    many = sd.open({"town": ["Ulm"] * 2000}, budget=sd.Approx(3, Fraction(1, 100)))
    asked = many.question(sd.Keys("town"), sd.Approx(1, Fraction(1, 1000)))
    assert [line for line in asked.assumptions if "is large" in line]


def test_derived_columns_are_keys_like_any_other():
    """Found, crossed with others, in a table with its margins and in a sparse one; own groups need no levels."""
    rng = np.random.default_rng(3)
    table = {
        "age": rng.integers(0, 100, 4000),
        "state": np.array(["CA", "NY", "TX"])[rng.integers(0, 3, 4000)],
    }
    people = sd.open(table, budget=sd.Approx(1e7, 0.01), neighbors="add-remove-one")
    ages = sd.col("age").bins(0, 18, 65, 120)
    states = sd.col("state").mapped({"CA": "west", "NY": "east"}, otherwise="south")
    truth = {
        (age, state): int(((table["age"] >= low) & (table["age"] < high) & (table["state"] == name)).sum())
        for age, low, high in (("0 to 18", 0, 18), ("18 to 65", 18, 65), ("65 to 120", 65, 120))
        for state, name in (("west", "CA"), ("east", "NY"), ("south", "TX"))
    }
    found = people.release_by([ages, states], sd.discover(), sd.Count("age"), sd.Approx(60, 1e-6))
    assert found.groups == truth
    assert list(found.groups) == sorted(truth)
    crosstab = people.release(sd.Crosstab([ages, states], levels={}), sd.Pure(200))
    assert crosstab.margin(ages.text, states.text) == truth
    assert crosstab.margin(states.text)["west"] == sum(
        many for (_, state), many in truth.items() if state == "west"
    )
    sparse = people.release(
        sd.SparseTable([ages, states], levels={states: ["west"]}, false_cells=1), sd.Pure(200)
    )
    assert sorted(sparse.value) == sorted(many for (_, state), many in truth.items() if state == "west")
    left = people.remaining
    for columns in (sd.col("age") / 2, [states, sd.col("age").log()]):
        with pytest.raises(sd.SordinoError, match="column of keys"):
            people.release_by(columns, sd.discover(), sd.Count("age"), sd.Approx(1, 1e-6))
    assert people.remaining == left
