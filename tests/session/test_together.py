"""Several people's questions in one turn: each is paid and answered, or refused on its own; nothing is paid twice."""

import json

import pytest

import sordino as sd
from sordino.errors import LimitExceeded, TokenUsed, Unanswered
from sordino.ledger import Ledger
from sordino.ledger.entry import Debit, Stamp
from sordino.session import Session

MEDIAN = sd.Median("age", low=0, high=100)


@pytest.fixture
def people(tmp_path):
    with Ledger.create(tmp_path / "people.ledger", sd.Pure(2), reason="a test") as ledger:
        ledger.limit(sd.Pure(0.5), who_asks="ben", reason="a part")
        yield sd.open({"age": list(range(90))}, ledger=ledger, data_name="people")


def job(people, name, epsilon, token=None, statistic=MEDIAN):
    question = people.question(statistic, sd.Pure(epsilon))
    return people, question, Debit(question.event, token or f"{name}-{epsilon}", f"for {name}", Stamp(name))


def test_each_is_paid_or_refused_on_its_own(people):
    jobs = [job(people, "ana", 1), job(people, "ben", 0.75), job(people, "cid", 5), job(people, "ben", 0.5)]
    first, share, over, second = Session.release_each(jobs)
    assert isinstance(share, LimitExceeded)
    assert type(over) is sd.BudgetExceeded
    assert (first.guarantee, second.guarantee) == (sd.Pure(1), sd.Pure(0.5))
    ledger = people.ledger
    assert (ledger.spent, ledger.releases, ledger.verify().holds) == (sd.Pure(1.5), 2, True)
    assert [(entry.who["user"], entry.who["purpose"]) for entry in ledger.entries()] == [
        ("ana", "for ana"),
        ("ben", "for ben"),
    ]
    assert [entry.release for entry in ledger.entries()] == [
        json.loads(made.to_json()) for made in (first, second)
    ]


def test_the_same_token_twice_in_a_turn_and_again_later_is_one_debit_and_one_answer(people):
    first, again = Session.release_each([job(people, "ana", 0.5)] * 2)
    assert first == again
    (later,) = Session.release_each([job(people, "ana", 0.5)])
    assert later == first
    other = Session.release_each([job(people, "ana", 0.25, token="ana-0.5")])
    assert isinstance(other[0], TokenUsed)
    assert people.ledger.spent == sd.Pure(0.5)


def test_one_that_cannot_be_drawn_is_paid_and_the_others_are_answered(people, monkeypatch):
    whole = Session._answers

    def broken(self, question):
        if question.event.guarantee == sd.Pure(0.75):
            raise RuntimeError("a value")
        return whole(self, question)

    monkeypatch.setattr(Session, "_answers", broken)
    jobs = [job(people, "ana", 0.75), job(people, "cid", 0.5)]
    missing, answer = Session.release_each(jobs)
    assert isinstance(missing, Unanswered)
    assert "value" not in str(missing)
    assert people.ledger.spent == sd.Pure(1.25)
    monkeypatch.undo()
    found, same = Session.release_each(jobs)
    assert (found.guarantee, same) == (sd.Pure(0.75), answer)
    assert people.ledger.spent == sd.Pure(1.25)
    assert people.ledger.verify().holds


def test_a_turn_that_ends_before_its_answers_are_kept_is_finished_later(people, monkeypatch):
    jobs = [job(people, "ana", 0.5), job(people, "cid", 0.25)]

    def gone(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "record_each", gone)
        with pytest.raises(KeyboardInterrupt):
            Session.release_each(jobs)
    assert people.ledger.spent == sd.Pure(0.75)
    assert [entry.release for entry in people.ledger.entries()] == [None, None]
    assert len(Session.release_each(jobs)) == 2
    assert (people.ledger.spent, people.ledger.releases) == (sd.Pure(0.75), 2)
