"""Who asked and about which data; ceilings lowered, ledgers frozen, unfrozen and closed, on both databases."""

import csv
import io
import json
import multiprocessing
import time
from dataclasses import replace

import pytest

from sordino.errors import BudgetExceeded, LedgerError, ParameterError
from sordino.lattice import Lattice
from sordino.ledger import Ledger, verify_export
from sordino.ledger.entry import login, visible
from sordino.privacy import Approx, Pure
from sordino.session.release import Release

FORK = multiprocessing.get_context("fork")


def answer(event, entry, value=41.5):
    return Release(value=value, event=event, grid=Lattice.dyadic(-1), at=entry.at, version="0", ledger_id=entry.number,
                   token=entry.token)  # fmt: skip


def test_each_entry_says_who_asked_and_what_for(ledger, location, ask):
    with Ledger(location, user="alice") as hers:
        named = hers.spend(ask(Pure(0.1)), purpose="annual report")
    mine = ledger.spend(ask(Pure(0.1)))
    assert (named.who["user"], named.who["purpose"]) == ("alice", "annual report")
    assert mine.who["user"] == login()
    assert {"host", "program", "version"} <= set(mine.who)
    assert "purpose" not in mine.who
    assert [entry.who for entry in ledger.history] == [named.who, mine.who]
    assert ledger.opening["who"]["user"] == login()
    assert ledger.verify().holds


def test_who_asked_is_no_part_of_the_question(ledger, location, ask):
    first = ledger.spend(ask(), "t")
    with Ledger(location, user="bob") as other:
        again = other.spend(ask(), "t", purpose="again")
    assert again == first
    assert ledger.spent == Pure(0.5)


@pytest.mark.parametrize("other", [
    {"name": "others.csv", "schema": "1"}, {"name": "people.csv", "schema": "2"},
    {"name": "people.csv", "schema": "1", "address": "b"}, None,
])  # fmt: skip
def test_a_token_for_other_data_is_refused_before_the_debit(ledger, ask, other):
    event = replace(ask(), data={"name": "people.csv", "schema": "1", "address": "a"})
    ledger.record(entry := ledger.spend(event, "t"), answer(event, entry))
    assert ledger.spend(event, "t").release is not None
    with pytest.raises(LedgerError, match="other data") as refusal:
        ledger.spend(replace(event, data=other), "t")
    assert "41.5" not in str(refusal.value)
    assert ledger.spent == Pure(0.5)
    assert len(ledger.history) == 1


def test_a_ceiling_is_lowered_with_a_reason_and_not_below_what_is_spent(ledger, ask):
    ledger.spend(ask(Pure(1)))
    for wrong in (Pure(0.5), Pure(3), Pure(4), Approx(2, 1e-6), Pure(0)):
        with pytest.raises(ParameterError):
            ledger.lower_to(wrong, reason="less")
    with pytest.raises(ParameterError, match="reason"):
        ledger.lower_to(Pure(2), reason=" ")
    ledger.lower_to(Pure(1.5), reason="the board said so")
    assert ledger.remaining == Pure(0.5)
    with pytest.raises(BudgetExceeded):
        ledger.spend(ask(Pure(1)))
    ledger.raise_to(Pure(2), reason="and again")
    ledger.spend(ask(Pure(1)))
    assert [change.kind for change in ledger.changes] == ["open", "lower", "raise"]
    assert ledger.verify().holds
    assert verify_export(json.loads(json.dumps(ledger.export()))) == []


def test_a_frozen_ledger_pays_nothing_and_still_gives_stored_answers(ledger, ask):
    event = ask()
    ledger.record(entry := ledger.spend(event, "done"), answer(event, entry))
    flying = ledger.spend(event, "flying")
    ledger.freeze(reason="the file looks wrong")
    assert ledger.state == "frozen"
    for token in (None, "new", "flying"):
        with pytest.raises(LedgerError, match="frozen: the file looks wrong"):
            ledger.spend(event, token)
    assert ledger.spend(event, "done").release["value"] == 41.5
    with pytest.raises(LedgerError, match="cannot be frozen"):
        ledger.freeze(reason="twice")
    # What was debited before may still be kept.
    assert ledger.record(flying, answer(event, flying, 7.0))["value"] == 7.0
    ledger.lower_to(Pure(2), reason="while frozen")
    assert ledger.state == "frozen"
    ledger.unfreeze(reason="it was right")
    with pytest.raises(LedgerError, match="cannot be unfrozen"):
        ledger.unfreeze(reason="twice")
    ledger.spend(event, "new")
    assert ledger.spent == Pure(1.5)
    assert ledger.verify().holds


def test_a_closed_ledger_stays_closed(ledger, location, ask):
    ledger.record(entry := ledger.spend(ask(), "done"), answer(ask(), entry))
    ledger.seal(reason="the study is over")
    with Ledger(location) as again:
        assert again.state == "closed"
        with pytest.raises(LedgerError, match="closed: the study is over"):
            again.spend(ask())
        for change in (again.freeze, again.unfreeze, again.seal):
            with pytest.raises(LedgerError, match="stays closed"):
                change(reason="no")
        with pytest.raises(LedgerError, match="stays closed"):
            again.raise_to(Pure(9), reason="no")
        assert again.spend(ask(), "done").release["value"] == 41.5
        assert again.verify().holds


def spend_on(location, event, results):
    done = 0
    with Ledger(location) as ledger:
        try:
            while True:
                ledger.spend(event)
                done += 1
        except LedgerError:
            results.put(done)


def test_a_freeze_is_before_a_spend_or_after_it(location, ask):
    """Four processes spend while the ledger is frozen: no row of a spend stands after the row of the freeze."""
    with Ledger.create(location, Pure(1000), reason="race") as ledger:
        results = FORK.Queue()
        workers = [FORK.Process(target=spend_on, args=(location, ask(Pure(0.01)), results)) for _ in range(4)]
        for worker in workers:
            worker.start()
        while not ledger.releases:
            time.sleep(0.01)
        ledger.freeze(reason="now")
        rows = ledger.export()["rows"]
        paid = [results.get(timeout=60) for _ in workers]
        for worker in workers:
            worker.join()
        after = ledger.export()["rows"]
    assert rows == after
    assert after[-1]["kind"] == "freeze"
    assert sum(paid) == len(after) - 2


def test_a_record_has_the_time_of_its_debit(ledger, ask, monkeypatch):
    moments = iter(["2026-03-01T10:00:00+00:00", "2026-03-01T10:07:31+00:00"])
    monkeypatch.setattr("sordino.ledger.ledger.now", lambda: next(moments))
    event = ask()
    entry = ledger.spend(event, "t")
    ledger.record(entry, answer(event, entry))
    paid, kept = ledger.export()["rows"][1:]
    assert paid["at"] == kept["at"] == "2026-03-01T10:00:00+00:00"
    assert ledger.verify().holds


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\0b", "\ud800", 7])
def test_names_are_short_texts(ledger, location, ask, name):
    with pytest.raises(ParameterError, match="user"):
        Ledger(location, user=name)
    with pytest.raises(ParameterError, match="purpose"):
        ledger.spend(ask(), purpose=name)
    assert ledger.spent == Pure(0)


def test_reasons_have_a_length_limit(ledger):
    ledger.raise_to(Pure(4), reason="x" * 1000)
    for wrong in ("x" * 1001, "a\0b", "\udfff"):
        with pytest.raises(ParameterError, match="1 to 1000"):
            ledger.raise_to(Pure(5), reason=wrong)


def test_control_characters_are_shown_escaped():
    assert visible("two\nlines\x1b[31m\u202e\x7f\x9b") == "two\\nlines\\x1b[31m\\u202e\\x7f\\x9b"
    assert visible("Grüße, 東京 🙂") == "Grüße, 東京 🙂"


def test_an_export_streams_and_has_a_table_for_people(ledger, location, ask):
    event = replace(ask(), data={"name": "=people.csv\x1b", "schema": "1"})
    with Ledger(location, user="alice") as hers:
        hers.record(entry := hers.spend(event, "t", purpose="report, annual"), answer(event, entry))
    ledger.raise_to(Pure(4), reason="more\nroom")
    whole = io.StringIO()
    ledger.export_to(whole)
    assert json.loads(whole.getvalue()) == json.loads(json.dumps(ledger.export()))
    assert verify_export(json.loads(whole.getvalue())) == []
    table = io.StringIO()
    ledger.export_to(table, table=True)
    rows = list(csv.DictReader(io.StringIO(table.getvalue())))
    assert [row["kind"] for row in rows] == ["open", "spend", "record", "raise"]
    spent, kept, raised = rows[1:]
    assert (spent["user"], spent["purpose"], spent["release"]) == ("alice", "report, annual", "1")
    assert spent["data"] == "'=people.csv\\x1b"
    assert (spent["asked"], spent["cost"]) == ("median x", "Pure(epsilon=0.5)")
    assert kept["answer"] == "41.5"
    assert (raised["reason"], raised["ceiling"]) == ("more\\nroom", "Pure(epsilon=4)")
    assert len(table.getvalue().splitlines()) == 5


@pytest.mark.parametrize("address", [
    "postgresql://me:hunter2@host/db", "Postgresql://me:hunter2@host/db", "POSTGRES://me:hunter2@host/db",
    "postgresql:/me:hunter2@host/db", "postgresql:me:hunter2@host", "mysql://me:hunter2@host/db",
    "postgresql://me:hun/hunter2@host/db", "postgresql://me:hun?hunter2@host/db", "postgresql://me:hun#hunter2@host/db",
    "postgresql://me:x@hunter2@host/db", "postgresql://me:hunter2@host:port/db", "postgresql://me:hunter2@[::1/db",
    "postgresql://me@/db?password=hunter2", "postgresql://me:%zzhunter2@localhost:1/db",
    "postgresql://me:hunter2@localhost:1/db?ledger=Bad-Name", " postgresql://me:hunter2@localhost:1/db",
    "postgresql://me:hunter2@localhost:1/db?connect_timeout=hunter2", "postgresql://me@localhost:1/db?sslpassword=hunter2",
])  # fmt: skip
def test_no_address_with_a_password_is_ever_printed(address, capsys, tmp_path, monkeypatch):
    from sordino.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    if "@host/" in address and address.startswith(
        ("postgresql://me:hunter2@host/", "P", "postgresql://me@/")
    ):
        address = address.replace("@host/", "@localhost:1/").replace("@/db?", "@localhost:1/db?")
    told = ""
    try:
        ledger = Ledger(address)
        told += repr(ledger) + ledger.name
        ledger.remaining  # noqa: B018
    except (LedgerError, ParameterError) as error:
        seen = error
        while seen is not None:
            told += str(seen) + repr(seen.args)
            seen = seen.__cause__ or seen.__context__
    for words in (
        ["ledger", "show", address],
        ["ledger", "create", address, "--epsilon", "1", "--reason", "x"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 2
    said = capsys.readouterr()
    assert told
    assert "hunter2" not in told + said.out + said.err
    assert list(tmp_path.iterdir()) == []


def test_the_address_that_is_shown_can_be_pasted():
    from sordino.ledger.address import read_address

    shown = read_address("postgresql://me:pw@/db?host=/tmp/pg&port=5433&password=pw&ledger=people").name
    assert shown == "postgresql://me@/db?host=/tmp/pg&port=5433&ledger=people"
    assert read_address(shown).name == shown
