"""Books on both databases: SQLite in a folder, PostgreSQL in the server of `tests.support.servers`."""

import itertools
import os

import pytest

from sordino.ledger import Ledger
from sordino.privacy import Neighbors, Pure, Unit
from sordino.session.release import Event

_NUMBERS = itertools.count()


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path):
    """An address at which there is no book yet, on each database."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger")
    server = request.getfixturevalue("postgres_server")
    return f"{server}&ledger=book_{os.getpid()}_{next(_NUMBERS)}"


@pytest.fixture
def book(location):
    """A book with three epsilons."""
    with Ledger.create(location, Pure(3), reason="tests") as ledger:
        yield ledger


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
