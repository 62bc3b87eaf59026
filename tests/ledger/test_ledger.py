"""The contract of the ledger, the same on both databases."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import BudgetExceeded, LedgerError, ParameterError, Unsupported
from sordino.lattice import Lattice
from sordino.ledger import Ledger, verify_export
from sordino.ledger.account import counted, largest_rho, left
from sordino.privacy import (
    Approx,
    BoundedRange,
    Concentrated,
    Geo,
    Neighbors,
    Pure,
    TruncatedConcentrated,
    Unit,
)
from sordino.session.release import Release


def answer(event, entry, value=41.5):
    return Release(
        value=value,
        event=event,
        grid=Lattice.dyadic(-1),
        at=entry.at,
        version="0.0.0",
        ledger_id=entry.number,
        token=entry.token,
    )


def test_ten_tenths_are_exactly_one(ledger, ask):
    for _ in range(10):
        ledger.spend(ask(Pure(0.1)))
    assert ledger.spent == Pure(1)
    assert ledger.remaining == Pure(2)
    assert ledger.verify().holds


def test_a_refused_spend_changes_nothing(ledger, ask):
    ledger.spend(ask(Pure(2.6)))
    with pytest.raises(BudgetExceeded) as refusal:
        ledger.spend(ask(Pure(Fraction("0.4000000000000000000001"))))
    assert refusal.value.got["left"] == Pure(Fraction("0.4"))
    assert "Nothing was read" in str(refusal.value)
    assert len(ledger.history) == 1
    ledger.spend(ask(Pure(0.4)))
    assert ledger.remaining == Pure(0)


def test_the_same_token_and_question_pays_once_and_gives_the_first_answer(ledger, ask):
    event = ask()
    first = ledger.spend(event, "table-1")
    assert first.release is None
    unfinished = ledger.spend(event, "table-1")
    assert unfinished == first
    ledger.record(first, answer(event, first, 41.5))
    kept = ledger.record(unfinished, answer(event, unfinished, 99.0))
    assert kept["value"] == 41.5
    again = ledger.spend(event, "table-1")
    assert again.release["value"] == 41.5
    assert ledger.spent == Pure(0.5)
    assert ledger.verify().holds


def test_the_same_token_for_another_question_is_refused(ledger, ask):
    ledger.spend(ask(column="x"), "table-1")
    for other in (ask(column="y"), ask(Pure(0.25))):
        with pytest.raises(LedgerError, match="another question"):
            ledger.spend(other, "table-1")
    assert ledger.spent == Pure(0.5)


def test_an_answer_that_was_not_paid_for_is_not_kept(ledger, ask):
    event = ask()
    entry = ledger.spend(event)
    from dataclasses import replace

    for wrong in (replace(entry, token="other"), replace(entry, number=entry.number + 1)):
        with pytest.raises(LedgerError, match="not paid"):
            ledger.record(wrong, answer(event, entry))


def test_the_ledger_is_there_for_the_next_process(location, ask):
    with Ledger.create(location, Pure(1), reason="first") as ledger:
        ledger.spend(ask(), "t")
    with Ledger(location) as again:
        assert again.remaining == Pure(0.5)
        assert again.opening["reason"] == "first"
        assert Ledger.exists(location)


def test_a_second_ledger_in_the_same_place_is_refused(ledger, location):
    with pytest.raises(LedgerError, match="there is a ledger already"):
        Ledger.create(location, Pure(100), reason="a fresh start")
    assert ledger.budget == Pure(3)


def test_a_ledger_that_is_not_there_is_named(location):
    assert not Ledger.exists(location)
    with pytest.raises(LedgerError, match="ledger create"):
        Ledger(location).remaining  # noqa: B018


def test_a_ceiling_is_raised_with_a_reason_and_never_lowered(ledger, ask):
    ledger.spend(ask(Pure(3)))
    with pytest.raises(BudgetExceeded):
        ledger.spend(ask(Pure(1)))
    for wrong in (Pure(2), Pure(3), Approx(5, 1e-6)):
        with pytest.raises(ParameterError, match="only be raised"):
            ledger.raise_to(wrong, reason="because")
    with pytest.raises(ParameterError, match="reason"):
        ledger.raise_to(Pure(4), reason="  ")
    ledger.raise_to(Pure(4), reason="the committee agreed")
    ledger.spend(ask(Pure(1)))
    assert ledger.remaining == Pure(0)
    assert ledger.verify().holds
    assert "the committee agreed" in json.dumps(ledger.export())


def test_several_questions_are_paid_together_or_not_at_all(ledger, ask):
    with pytest.raises(BudgetExceeded):
        ledger.spend_all([(ask(Pure(2)), None), (ask(Pure(2)), None)])
    assert ledger.spent == Pure(0)
    assert len(ledger.spend_all([(ask(Pure(1)), "a"), (ask(Pure(2)), "b")])) == 2
    assert ledger.remaining == Pure(0)


def test_an_export_can_be_checked_without_the_database(ledger, ask):
    event = ask()
    ledger.record(entry := ledger.spend(event, "t"), answer(event, entry))
    ledger.raise_to(Pure(4), reason="more")
    document = json.loads(json.dumps(ledger.export()))
    assert verify_export(document) == []
    document["rows"][1]["body"]["cost"]["epsilon"] = "1/10"
    assert verify_export(document) == ["row 2 was changed: its hash does not fit"]
    del document["rows"][1]
    assert "row 2 is missing" in verify_export(document)[0]


def test_a_ledger_put_back_to_an_older_state_is_noticed_with_a_noted_hash(ledger, ask):
    ledger.spend(ask())
    report = ledger.verify()
    assert ledger.verify(known=(report.rows, report.head)).holds
    assert not ledger.verify(known=(report.rows + 1, report.head)).holds


@pytest.mark.parametrize("token", ["", "  ", "x" * 201, 7])
def test_tokens_are_short_texts(ledger, ask, token):
    with pytest.raises(ParameterError, match="token"):
        ledger.spend(ask(), token)


@pytest.mark.parametrize(
    ("budget", "price", "cost"),
    [
        (Pure(3), BoundedRange(0.5), Pure(0.5)),
        (Pure(3), Approx(0.5, 0), Pure(0.5)),
        (Concentrated(1), Concentrated(0.1), Concentrated(0.1)),
        (Concentrated(1), Pure(1), Concentrated(Fraction("0.46211715726"))),
        (Approx(3, 1e-6), Pure(0.5), Approx(0.5, 0)),
        (Approx(3, 1e-6), Approx(0.5, 1e-7), Approx(0.5, 1e-7)),
        (TruncatedConcentrated(1, 10), TruncatedConcentrated(0.1, 20), TruncatedConcentrated(0.1, 10)),
        (Geo(3, 200), Geo(0.5, 100), Geo(1, 200)),
    ],
)  # fmt: skip
def test_prices_are_counted_in_the_terms_of_the_budget(location, ask, budget, price, cost):
    with Ledger.create(location, budget, reason="terms") as ledger:
        entry = ledger.spend(ask(price))
        for name in ("epsilon", "delta", "rho"):
            if hasattr(cost, name):
                assert getattr(entry.cost, name) >= getattr(cost, name)
                assert float(getattr(entry.cost, name)) == pytest.approx(float(getattr(cost, name)), rel=1e-9)
        assert ledger.verify().holds
        assert (ledger.spent + ledger.remaining) == budget


@pytest.mark.parametrize(
    ("budget", "price"),
    [
        (Pure(3), Concentrated(0.01)),
        (Pure(3), Approx(0.1, 1e-9)),
        (Concentrated(1), Approx(0.1, 1e-9)),
        (Approx(3, 1e-6), Concentrated(0.01)),
        (Pure(3), Geo(1, 200)),
        (TruncatedConcentrated(1, 10), TruncatedConcentrated(0.1, 5)),
    ],
)
def test_prices_that_no_theorem_converts_are_refused_with_a_hint(location, ask, budget, price):
    with Ledger.create(location, budget, reason="terms") as ledger:
        with pytest.raises(Unsupported, match="Hint"):
            ledger.spend(ask(price))
        assert ledger.history == ()


def test_an_approximate_budget_can_count_rho(location, ask):
    with Ledger.create(location, Approx(3, 1e-6), reason="rho", counting="concentrated") as ledger:
        assert isinstance(ledger.budget, Concentrated)
        assert ledger.budget.within(Approx(3, 1e-6))
        assert not Concentrated(ledger.budget.rho * Fraction(10001, 10000)).within(Approx(3, 1e-6))
        for _ in range(20):
            ledger.spend(ask(Pure(0.1)))  # by sums this would be two of three epsilons
        assert ledger.spent.to(Approx, delta=1e-6).epsilon < Fraction(3)


def test_add_remove_prices_count_twice_in_a_replace_one_ledger(ledger, ask):
    entry = ledger.spend(ask(Pure(0.5), neighbors=Neighbors.ADD_REMOVE_ONE))
    assert entry.cost == Pure(1)
    assert ledger.verify().holds


def test_other_neighbours_and_other_units_are_refused(location, ask):
    unit = Unit("person", max_rows=2)
    with Ledger.create(
        location, Pure(3), reason="persons", neighbors=Neighbors.ADD_REMOVE_ONE, unit=unit
    ) as ledger:
        with pytest.raises(Unsupported, match="other neighbours"):
            ledger.spend(ask(unit=unit))
        with pytest.raises(LedgerError, match="protects others"):
            ledger.spend(ask(neighbors=Neighbors.ADD_REMOVE_ONE))
        ledger.spend(ask(neighbors=Neighbors.ADD_REMOVE_ONE, unit=unit))
        assert (ledger.unit, ledger.neighbors) == (unit, Neighbors.ADD_REMOVE_ONE)


@pytest.mark.parametrize("budget", [Pure(0), Concentrated(0), 3, None])
def test_a_budget_must_be_a_positive_guarantee(budget):
    with pytest.raises(ParameterError):
        Ledger.create(None, budget, reason="tests")


amounts = st.fractions(min_value=Fraction(1, 10**6), max_value=2, max_denominator=10**9)


@given(st.lists(amounts, min_size=1, max_size=20))
def test_spent_is_never_below_the_true_sum_and_what_is_left_never_above(prices):
    spent = counted(Pure(prices[0]), Pure(100))
    for price in prices[1:]:
        spent += counted(Pure(price), Pure(100))
    assert spent.epsilon >= sum(prices)
    assert spent.epsilon - sum(prices) <= len(prices) * Fraction(1, 10**24)
    assert left(Pure(100), spent).epsilon <= 100 - sum(prices)


@pytest.mark.parametrize("denominator", [3, 7, 9, 11, 13, 60, 64])
def test_small_fractions_add_up_exactly(denominator):
    part = counted(Pure(Fraction(1, denominator)), Pure(1))
    assert part.times(denominator) == Pure(1)


@given(st.floats(0.01, 20), st.integers(2, 12))
def test_the_largest_rho_is_within_its_promise(epsilon, digits):
    target = Approx(epsilon, 10.0**-digits)
    assert largest_rho(target).within(target)
