"""Ledgers of the first format, made before a ledger knew its state: read as they are, brought up to date by writing."""

import json
import os
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import sordino as sd
from sordino.errors import LedgerError
from sordino.ledger import Ledger, verify_export
from sordino.ledger.chain import COLUMNS
from sordino.ledger.migrations import MIGRATIONS
from sordino.privacy import Pure

OLD = Path(__file__).with_name("first_format.sqlite")
PEOPLE = {"x": np.linspace(0, 1, 50)}
MEDIAN = sd.Median("x", low=0, high=1, step=0.01)


@pytest.fixture
def old(tmp_path):
    """A copy of a ledger of the first format: two answers, one unfinished release, one raise."""
    path = tmp_path / "old.ledger"
    shutil.copy(OLD, path)
    return path


@pytest.fixture(params=["sqlite", "postgres"])
def old_location(request, old):
    """The same rows in each database, in the tables of the first version."""
    return (
        str(old)
        if request.param == "sqlite"
        else in_postgres(old, request.getfixturevalue("postgres_server"))
    )


def in_postgres(old, server):
    """Put the rows of a ledger of the first format into a schema of their own."""
    import psycopg

    schema = f"old_{os.getpid()}_{abs(hash(str(old))) % 10**8}"
    rows = (
        sqlite3.connect(old)
        .execute(f"SELECT {', '.join(COLUMNS[:-1])} FROM entries ORDER BY number")
        .fetchall()
    )

    class Runs:
        dialect = "postgres"

        def run(self, statement):
            connection.execute(statement)

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path TO {schema}")
        MIGRATIONS[0](Runs())
        connection.execute("UPDATE version SET version = 1")
        marks = ", ".join("%s" for _ in COLUMNS[:-1])
        for row in rows:
            connection.execute(f"INSERT INTO entries VALUES ({marks})", row)
        connection.execute("INSERT INTO head VALUES (1, %s, %s)", (rows[-1][0], rows[-1][9]))
    return f"{server}&ledger={schema}"


def test_reading_changes_nothing(old):
    before = old.read_bytes()
    with Ledger(old) as ledger:
        assert ledger.verify().holds
        assert (ledger.spent, ledger.budget, ledger.state) == (Pure(0.85), Pure(4), "open")
        assert [entry.token for entry in ledger.history] == ["table-1", "table-2", "unfinished"]
        assert [change.reason for change in ledger.changes] == ["2026 tables", "board decision of 3 March"]
        assert ledger.history[0].who == {}
        assert verify_export(json.loads(json.dumps(ledger.export()))) == []
    assert old.read_bytes() == before


def test_old_ledgers_go_on_where_they_were(old_location):
    with Ledger(old_location) as ledger:
        stored = ledger.paid("table-1").release
        people = sd.open(PEOPLE, ledger=ledger)
        again = people.release(MEDIAN, Pure(0.5), token="table-1")
        assert (again.value, again.at, again.ledger_id) == (
            stored["value"],
            stored["at"],
            stored["ledger_id"],
        )
        assert ledger.spent == Pure(0.85)
        people.release(MEDIAN, Pure(0.1), token="unfinished")  # paid before it knew its data
        assert ledger.spent == Pure(0.85)
        people.release(MEDIAN, Pure(0.15), token="new", purpose="after the change")
        assert ledger.spent == Pure(1)
        ledger.freeze(reason="as never before")
        with pytest.raises(LedgerError, match="frozen"):
            people.release(MEDIAN, Pure(0.1))
        assert ledger.verify().holds
        assert ledger.history[-1].who["purpose"] == "after the change"
    with Ledger(old_location) as again:
        assert again.state == "frozen"
        assert again.verify().holds
        assert verify_export(json.loads(json.dumps(again.export()))) == []


def test_the_old_log_is_left_for_good(old):
    with Ledger(old) as ledger:
        ledger.spend(sd.open(PEOPLE, ledger=ledger).quote(MEDIAN, Pure(0.1)))
    names = {path.name for path in old.parent.iterdir()}
    assert names == {"old.ledger", "old.ledger-journal"}
    assert old.read_bytes()[18:20] == b"\x01\x01"  # rollback journal, in the header of the file
    connection = sqlite3.connect(old)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    connection.close()


def test_rows_in_an_old_log_come_along(old, tmp_path):
    """Spends that are still in the log beside the file are not left behind."""
    writer = sqlite3.connect(old, isolation_level=None)
    writer.execute("PRAGMA wal_autocheckpoint=0")
    with Ledger(old) as source, source._store.read() as page:
        last = page.tail(1)[0]
    from sordino.ledger.chain import digest

    parts = (last.number + 1, last.paid, "raise", "late", '{"from":{"epsilon":"4","kind":"pure"},"reason":"late"}',
             last.spent, '{"epsilon":"5","kind":"pure"}', last.at, last.hash)  # fmt: skip
    seal = digest(*parts)
    writer.execute(f"INSERT INTO entries VALUES ({', '.join('?' * 10)})", (*parts, seal))
    writer.execute("UPDATE head SET number = ?, hash = ?", (parts[0], seal))
    copy = tmp_path / "copy.ledger"
    for end in ("", "-wal"):
        shutil.copy(f"{old}{end}", f"{copy}{end}")
    writer.close()
    with Ledger(copy) as ledger:
        assert ledger.budget == Pure(5)
        ledger.raise_to(Pure(6), reason="later")
        assert len(ledger.changes) == 4
        assert ledger.verify().holds
    assert not Path(f"{copy}-wal").exists()


def test_an_old_program_that_has_the_ledger_open_is_waited_for_and_named(old, monkeypatch):
    monkeypatch.setattr("sordino.ledger.sqlite.PATIENCE", 0.3)
    holder = sqlite3.connect(old)
    holder.execute("BEGIN")
    holder.execute("SELECT * FROM head").fetchone()
    with Ledger(old) as ledger:
        with pytest.raises(LedgerError, match="old format") as refusal:
            ledger.freeze(reason="now")
        assert "end the programs" in str(refusal.value)
        holder.close()
        ledger.freeze(reason="now")
        assert ledger.state == "frozen"


def test_on_postgres_only_the_owner_brings_a_ledger_up_to_date(postgres_server, old):
    import psycopg

    location = in_postgres(old, postgres_server)
    schema, role = location.rpartition("=")[2], f"reader_{os.getpid()}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
        connection.execute(f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema} TO {role}")
    with Ledger(location.replace("tester@", f"{role}@")) as ledger:
        assert ledger.verify().holds
        with pytest.raises(LedgerError, match="only its owner"):
            ledger.freeze(reason="now")
        assert ledger.spent == Pure(0.85)
