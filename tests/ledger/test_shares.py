"""Shares of a budget, declared datasets and approvals: refused in the debit itself, and found by verification."""

import sqlite3
import threading
from dataclasses import replace

import pytest

import sordino as sd
from sordino.errors import Frozen, LedgerError, LimitExceeded, NotApproved, ParameterError
from sordino.ledger import Ledger, verify_export
from sordino.ledger.chain import COLUMNS, ChainRow, amount, canonical, written
from sordino.ledger.declared import Declared
from sordino.ledger.entry import Stamp
from sordino.session.release import Event


def event(epsilon=0.5, data="households", kind="median"):
    return Event(
        statistic={"kind": kind, "column": "income"}, mechanism={"kind": "quantile"}, unit=sd.Unit(),
        neighbors=sd.Neighbors.REPLACE_ONE, guarantee=sd.Pure(epsilon), data={"name": data},
    )  # fmt: skip


@pytest.fixture
def ledger(location):
    with Ledger.create(location, sd.Pure(10), reason="tests") as ledger:
        yield ledger


def test_a_share_counts_what_was_spent_before_it_and_refuses_beyond(ledger):
    ledger.spend(event(1), stamp=Stamp("ana"))
    ledger.limit(sd.Pure(2), who_asks="ana", reason="a fair part")
    ledger.spend(event(0.75), stamp=Stamp("ana"))
    with pytest.raises(LimitExceeded, match="not enough left"):
        ledger.spend(event(0.5), stamp=Stamp("ana"))
    ledger.spend(event(0.5), stamp=Stamp("ben"))
    ((share, spent),) = ledger.shares
    assert (share.ceiling, spent) == (sd.Pure(2), sd.Pure(1.75))
    assert ledger.spent == sd.Pure(2.25)
    assert ledger.verify().holds
    assert verify_export(ledger.export()) == []


def test_shares_of_people_datasets_and_both_hold_together(ledger):
    ledger.limit(sd.Pure(3), who_asks="ana", reason="person")
    ledger.limit(sd.Pure(2), data="households", reason="dataset")
    ledger.limit(sd.Pure(1), who_asks="ana", data="households", reason="both")
    ledger.spend(event(1), stamp=Stamp("ana"))
    with pytest.raises(LimitExceeded):
        ledger.spend(event(0.1), stamp=Stamp("ana"))
    ledger.spend(event(2, data="schools"), stamp=Stamp("ana"))
    with pytest.raises(LimitExceeded):
        ledger.spend(event(0.1, data="schools"), stamp=Stamp("ana"))
    ledger.spend(event(1), stamp=Stamp("ben"))
    with pytest.raises(LimitExceeded):
        ledger.spend(event(0.1), stamp=Stamp("ben"))
    assert ledger.verify().holds


def test_a_share_is_lowered_no_further_than_what_was_spent(ledger):
    ledger.spend(event(1), stamp=Stamp("ana"))
    with pytest.raises(ParameterError, match="not below"):
        ledger.limit(sd.Pure(0.5), who_asks="ana", reason="too late")
    with pytest.raises(ParameterError, match="terms of the budget"):
        ledger.limit(sd.Concentrated(3), who_asks="ana", reason="another kind")


def test_a_person_or_a_dataset_is_frozen_and_thawed(ledger):
    ledger.limit(None, data="households", frozen=True, reason="schema under review", user="olga")
    with pytest.raises(Frozen, match="olga"):
        ledger.spend(event(), stamp=Stamp("ana"))
    ledger.spend(event(data="schools"), stamp=Stamp("ana"))
    ledger.limit(None, data="households", reason="reviewed")
    ledger.spend(event(), stamp=Stamp("ana"))
    assert ledger.verify().holds


def test_a_stored_answer_comes_back_under_a_freeze(ledger):
    ledger.spend(event(), "t", stamp=Stamp("ana"))
    ledger.limit(None, who_asks="ana", frozen=True, reason="left")
    assert ledger.spend(event(), "t", stamp=Stamp("ana")).number == 1


def test_declared_datasets_hold_their_rules(ledger):
    rules = Declared(
        "households", statistics=("median",), cost_max=sd.Pure(1), approved=True, approved_above=sd.Pure(0.5)
    )
    ledger.declare(rules, reason="agreed")
    ledger.spend(event(0.5), stamp=Stamp("ana"))
    with pytest.raises(NotApproved):
        ledger.spend(event(0.6), stamp=Stamp("ana"))
    with pytest.raises(LedgerError, match="nobody approves"):
        ledger.spend(event(0.6), stamp=Stamp("ana", approved_by="ana"))
    entry = ledger.spend(event(0.6), stamp=Stamp("ana", approved_by="olga"))
    assert entry.who["approved_by"] == "olga"
    with pytest.raises(ParameterError, match="at most"):
        ledger.spend(event(2), stamp=Stamp("ana", approved_by="olga"))
    with pytest.raises(ParameterError, match="may not be asked"):
        ledger.spend(event(0.1, kind="mean"), stamp=Stamp("ana"))
    with pytest.raises(LedgerError, match="not declared"):
        ledger.spend(event(0.1, data="others"), stamp=Stamp("ana"))
    assert ledger.releases == 2
    assert ledger.verify().holds
    assert Declared.from_dict(rules.to_dict()) == rules


def test_a_changed_schema_is_refused(ledger):
    ledger.declare(Declared("households", schema="abc"), reason="agreed")
    with pytest.raises(LedgerError, match="not those that were declared"):
        ledger.spend(event(), stamp=Stamp("ana"))
    ledger.spend(replace(event(), data={"name": "households", "schema": "abc"}), stamp=Stamp("ana"))


def test_one_person_alone_raises_no_ceiling_of_an_organisation(ledger):
    ledger.raise_to(sd.Pure(11), reason="still mine")
    ledger.declare(Declared("households"), reason="shared now")
    with pytest.raises(LedgerError, match="raised by two"):
        ledger.raise_to(sd.Pure(12), reason="mine", user="olga")
    with pytest.raises(LedgerError, match="raised by two"):
        ledger.raise_to(sd.Pure(12), reason="mine", user="olga", proposed_by="olga")
    ledger.raise_to(sd.Pure(12), reason="ours", user="olga", proposed_by="otto")
    assert ledger.verify().holds


FORGED = {
    "one person alone raised": lambda last: ("raise", {"reason": "x", "who": {"user": "olga"}}, sd.Pure(20)),
    "approves a question of their own": lambda last: (
        "spend",
        {"event": event(0.5).to_dict(), "cost": sd.Pure(0.5).to_dict(), "who": {"user": "ana", "approved_by": "ana"},
         "totals": {}},
        None,
    ),
    "share of ana": lambda last: (
        "spend",
        {"event": event(3).to_dict(), "cost": sd.Pure(3).to_dict(), "who": {"user": "ana"},
         "totals": {canonical({"user": "ana"}): sd.Pure(3).to_dict()}},
        None,
    ),
    "totals of shares": lambda last: (
        "spend",
        {"event": event(1).to_dict(), "cost": sd.Pure(1).to_dict(), "who": {"user": "ana"}},
        None,
    ),
    "states as spent": lambda last: (
        "limit",
        {"subject": {"user": "ana"}, "ceiling": sd.Pure(5).to_dict(), "frozen": False, "spent": sd.Pure(1).to_dict(),
         "reason": "x", "who": {}},
        None,
    ),
    "may not be asked": lambda last: (
        "spend",
        {"event": event(0.1, kind="mean").to_dict(), "cost": sd.Pure(0.1).to_dict(), "who": {"user": "ben"}},
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", FORGED)
def test_a_row_written_by_hand_is_named(tmp_path, said):
    """Whoever can write the file can seal a row; what it does is found all the same."""
    place = tmp_path / "forged.ledger"
    with Ledger.create(place, sd.Pure(10), reason="tests") as ledger:
        ledger.declare(Declared("households", statistics=("median",)), reason="agreed")
        ledger.limit(sd.Pure(2), who_asks="ana", reason="a part")
    with sqlite3.connect(place) as connection:
        rows = connection.execute("SELECT * FROM entries ORDER BY number").fetchall()
        last = ChainRow(*rows[-1])
        kind, body, ceiling = FORGED[said](last)
        spent = last.spent
        if kind == "spend":
            spent = written(amount(spent) + amount(canonical(body["cost"])))
        row = ChainRow.after(
            last,
            kind,
            "forged",
            body,
            spent=spent,
            ceiling=written(ceiling) if ceiling else last.ceiling,
            at=last.at,
        )
        columns = [getattr(row, name) for name in COLUMNS]
        connection.execute(f"INSERT INTO entries VALUES ({', '.join('?' * len(columns))})", columns)
        connection.execute("UPDATE head SET number = ?, hash = ?", (row.number, row.hash))
    with Ledger(place) as ledger:
        report = ledger.verify()
    assert not report.holds
    assert any(said in fault for fault in report.faults), report.faults


def test_racing_people_keep_every_share(location):
    with Ledger.create(location, sd.Pure(4), reason="races") as ledger:
        for name, ceiling in (("a", 1), ("b", 2), ("c", 3)):
            ledger.limit(sd.Pure(ceiling), who_asks=name, reason="a part")
        paid = []

        def ask(name):
            for _ in range(12):
                try:
                    ledger.spend(event(0.25), stamp=Stamp(name))
                    paid.append(name)
                except (LimitExceeded, sd.BudgetExceeded):
                    pass

        threads = [threading.Thread(target=ask, args=(name,)) for name in "abc" * 2]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert len(paid) == 16
        assert paid.count("a") <= 4
        assert paid.count("b") <= 8
        assert ledger.spent == sd.Pure(4)
        assert ledger.verify().holds


def test_a_share_is_given_and_frozen_on_the_command_line(tmp_path, capsys):
    from sordino.cli import main

    place = str(tmp_path / "survey.ledger")
    Ledger.create(place, sd.Pure(10), reason="tests").close()
    main(["ledger", "limit", place, "--who", "ana", "--epsilon", "2", "--reason", "a part"])
    assert "ana's questions" in capsys.readouterr().out
    main(["ledger", "limit", place, "--who", "ana", "--freeze", "--reason", "left"])
    with Ledger(place) as ledger, pytest.raises(Frozen):
        ledger.spend(event(), stamp=Stamp("ana"))
    with pytest.raises(SystemExit) as ended:
        main(["ledger", "limit", place, "--epsilon", "2", "--reason", "whose?"])
    assert ended.value.code == 2
