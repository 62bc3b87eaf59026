"""Ledgers on both databases: SQLite in a folder, PostgreSQL in the server of `tests.support.servers`."""

import itertools
import os
import sqlite3

import pytest

from sordino.ledger import Ledger
from sordino.privacy import Neighbors, Pure, Unit
from sordino.session.release import Event

_NUMBERS = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path):
    """An address at which there is no ledger yet, on each database."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger")
    server = request.getfixturevalue("postgres_server")
    return f"{server}&ledger=ledger_{os.getpid()}_{next(_NUMBERS)}"


@pytest.fixture
def ledger(location):
    """A ledger with three epsilons."""
    with Ledger.create(location, Pure(3), reason="tests") as kept:
        yield kept


HALF, ROWS = Pure(0.5), Unit()


def question(price=HALF, *, column="x", neighbors=Neighbors.REPLACE_ONE, unit=ROWS):
    """An event at a price."""
    return Event(
        statistic={"kind": "median", "column": column, "low": 0.0, "high": 1.0},
        mechanism={"kind": "quantile"},
        neighbors=neighbors,
        unit=unit,
        guarantee=price,
    )


@pytest.fixture
def ask():
    """The maker of events."""
    return question


def tamper(path, *statements):
    """Change a ledger behind its back, triggers taken away and put back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA recursive_triggers=0")
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for _, text in triggers:
        connection.execute(text)
    connection.close()


@pytest.fixture
def tampered():
    """Changes a SQLite ledger behind its back."""
    return tamper
