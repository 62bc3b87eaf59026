"""A session survives its surroundings: threads, forks, lost servers, texts that nobody can be asked for."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.data import open_source
from sordino.data.lazy import Lazy
from sordino.errors import DataError, LedgerError, ParameterError
from sordino.ledger import Ledger
from sordino.reading.requests import Cells, Condition
from tests.support.places import ROOT

ROWS = 4000
TABLE = {
    "x": [float(i % 100) for i in range(ROWS)],
    "g": ["north" if i % 4 else "south" for i in range(ROWS)],
}
COUNT, PRICE = sd.Count("x"), sd.Pure(100)
_NUMBERS = itertools.count()


def csv_file(folder):
    path = folder / "t.csv"
    path.write_text("x,g\n" + "".join(f"{x},{g}\n" for x, g in zip(*TABLE.values(), strict=True)))
    return path


def parquet(folder):
    pq.write_table(pa.table(TABLE), folder / "t.parquet")
    return folder / "t.parquet"


def relation(folder):
    connection = duckdb.connect()
    connection.register("t", pa.table(TABLE))
    return connection.sql("select * from t")


SOURCES = {
    "mapping": lambda folder: TABLE,
    "polars": lambda folder: pl.DataFrame(TABLE),
    "CSV": csv_file,
    "Parquet": parquet,
    "DuckDB": relation,
    "lazy polars": lambda folder: pl.LazyFrame(TABLE),
}


@pytest.fixture(scope="module")
def postgres(postgres_server):
    """The address of a table in a server, and its name."""
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("ibis")
    name = f"surroundings_{next(_NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"create table {name} (x float8, g text)")
        with connection.cursor().copy(f"copy {name} from stdin") as copy:
            for row in zip(*TABLE.values(), strict=True):
                copy.write_row(row)
    return f"{postgres_server}&table={name}"


def ask(people, how):
    """One of several questions; how many rows it should have found, and how many it did."""
    if how % 3 == 0:
        return round(people.release(COUNT, PRICE).value) == ROWS
    if how % 3 == 1:
        groups = people.release_by("g", ["north", "south"], COUNT, PRICE).groups
        return [round(value) for value in groups.values()] == [ROWS * 3 // 4, ROWS // 4]
    north = people.where(("g", "==", "north"), ("x", ">=", 50))
    answer = north.release([sd.Count("x"), sd.Median("x", low=0, high=100)], PRICE)
    return round(answer.value[0]) == sum(
        g == "north" and x >= 50 for x, g in zip(*TABLE.values(), strict=True)
    )


def in_threads(sessions, threads=8, each=3):
    """Ask from many threads at once; all must be answered, and rightly."""
    together = threading.Barrier(threads)

    def work(number):
        together.wait()
        return [ask(sessions[number % len(sessions)], number + place) for place in range(each)]

    with ThreadPoolExecutor(threads) as pool:
        answers = list(pool.map(work, range(threads)))
    assert answers == [[True] * each] * threads
    history = sessions[0].ledger.history
    assert len(history) == threads * each
    assert all(entry.release is not None for entry in history)


@pytest.mark.few(2)
@pytest.mark.parametrize("source", SOURCES)
def test_threads_share_a_session(source, tmp_path):
    """Eight of them, and every release that was paid for is answered."""
    in_threads(
        [sd.open(SOURCES[source](tmp_path), neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))]
    )


@pytest.mark.thorough
def test_threads_share_a_session_on_a_server(postgres):
    """One connection, one transaction at a time."""
    in_threads([sd.open(postgres, neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))])


def test_two_sessions_on_one_connection_of_the_callers(tmp_path):
    """Which engine they share cannot be seen from outside; both are read by one thread at a time."""
    connection = duckdb.connect()
    connection.register("t", pa.table(TABLE))
    ledger = Ledger.create(tmp_path / "ledger", sd.Pure(10**6), reason="threads")
    relations = [connection.sql("select * from t"), connection.sql("select x, g from t")]
    in_threads([sd.open(one, ledger=ledger, neighbors=sd.Neighbors.ADD_REMOVE_ONE) for one in relations])


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_threads_share_a_ledger(database, tmp_path, request):
    """On both databases: nothing is lost, nothing is paid twice, and the chain holds."""
    address = tmp_path / "people.ledger"
    if database == "postgres":
        address = f"{request.getfixturevalue('postgres_server')}&ledger=threads_{next(_NUMBERS)}"
    people = sd.open(
        csv_file(tmp_path), ledger=address, neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(8 * 3 * 100)
    )
    in_threads([people])
    assert people.ledger.spent == sd.Pure(8 * 3 * 100)
    assert people.ledger.verify().holds
    with pytest.raises(sd.BudgetExceeded):
        people.release(COUNT, PRICE)
    people.ledger.close()


FORK = """
import os, signal, sys, threading
from pathlib import Path
import sordino as sd
from sordino.errors import DataError
from tests.data.test_surroundings import COUNT, PRICE, ROWS, SOURCES
kind, folder, ledger = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
data = SOURCES[kind](folder) if kind in SOURCES else kind
people = sd.open(data, ledger=ledger, neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6), reason="forks")
assert round(people.release(COUNT, PRICE).value) == ROWS  # engines start their threads when they are first used
inside, done = threading.Event(), threading.Event()

def hold():
    with people._source.snapshot():  # a thread that is not there after the fork
        inside.set()
        done.wait()

if sys.argv[4] == "held":
    threading.Thread(target=hold).start()
    inside.wait()
home = getattr(people._source, "_home", None)
far_end = lambda: home._backend.con.info.backend_pid if hasattr(home, "_backend") else None
connected = far_end()
child = os.fork()
if child == 0:
    signal.alarm(60)
    if sys.argv[4] == "idle":
        sys.exit(1)
    before, met = people.ledger.spent, 0
    try:
        for question in (lambda: people.release(COUNT, PRICE).value,
                         lambda: people.release_by("g", ["north"], COUNT, PRICE).groups["north"] + ROWS // 4):
            if round(question()) != ROWS:
                met = 3
    except DataError as problem:
        met = 1 if "another process" in str(problem) and people.ledger.spent == before else 2
    except BaseException as problem:
        print(repr(problem), file=sys.stderr, flush=True)
        met = 4
    if kind in SOURCES:
        os._exit(met)
    sys.exit(met)  # what is left to do at the end must not touch the parent's connection
done.set()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()
print(round(people.release(COUNT, PRICE).value) == ROWS and far_end() == connected, len(people.ledger.history))
"""

ANSWERED, REFUSED = 0, 1


def forked(kind, folder, held="free"):
    """What a child that was forked after the first release met, and whether its parent goes on."""
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(kind), str(folder), str(folder / "ledger"), held],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.stdout, done.stderr
    met, goes_on, paid = done.stdout.split()
    assert goes_on == "True"
    assert int(paid) == (4 if int(met) == ANSWERED else 2), done.stderr
    return int(met)


@pytest.mark.few(2)
@pytest.mark.parametrize("source", SOURCES)
def test_a_child_is_answered_or_refused_before_it_has_paid(source, tmp_path):
    """What lives in memory goes along; engines with threads of their own do not."""
    here = {"mapping", "CSV"}
    assert forked(source, tmp_path) == (ANSWERED if source in here else REFUSED)


@pytest.mark.thorough
@pytest.mark.parametrize("held", ["free", "held"])
def test_a_child_has_a_connection_of_its_own(postgres, held, tmp_path):
    """Also when a thread of its parent was reading at the time of the fork."""
    assert forked(postgres, tmp_path, held) == ANSWERED


@pytest.mark.thorough
def test_a_child_that_asks_nothing_leaves_the_connection_of_its_parent_alone(postgres, tmp_path):
    """When it ends, too."""
    assert forked(postgres, tmp_path, "idle") == REFUSED


def terminate(address):
    """End all connections to the server that read a table, as an administrator would."""
    import psycopg

    with psycopg.connect(address.partition("&table")[0], autocommit=True) as connection:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where pid <> pg_backend_pid() and "
            "backend_type = 'client backend'"
        )


def test_a_lost_connection_is_replaced(postgres, tmp_path):
    """Before the debit; sources that were made from each other use the new one."""
    people = sd.open(postgres, neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))
    north = people.where(("g", "==", "north"))
    for _ in range(2):
        terminate(postgres)
        assert round(people.release(COUNT, PRICE).value) == ROWS
        terminate(postgres)
        assert round(north.release(COUNT, PRICE).value) == ROWS * 3 // 4
    assert all(entry.release is not None for entry in people.ledger.history)


def test_a_connection_that_is_lost_while_it_is_read(postgres, monkeypatch):
    """Is paid for and not answered; the same token is answered for nothing."""
    people = sd.open(postgres, neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))
    honest = Lazy.summary

    def interrupted(self, *requests):
        terminate(postgres)
        return honest(self, *requests)

    monkeypatch.setattr(Lazy, "summary", interrupted)
    with pytest.raises(LedgerError, match="could not be drawn"):
        people.release(COUNT, PRICE, token="again")
    monkeypatch.setattr(Lazy, "summary", honest)
    assert round(people.release(COUNT, PRICE, token="again").value) == ROWS
    assert people.ledger.spent == sd.Pure(100)


def test_a_server_that_cannot_be_reached_costs_nothing(postgres, postgres_server, tmp_path):
    """Nor does a table that is gone; when they are back, the same session goes on."""
    import psycopg

    home = postgres_server.partition("host=")[2]
    link = tmp_path / "server"
    link.symlink_to(home)
    people = sd.open(
        postgres.replace(home, str(link)), neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6)
    )
    kept = people.release(COUNT, PRICE, token="kept")
    link.unlink()
    terminate(postgres)
    with pytest.raises(DataError, match="must be there"):
        people.release(COUNT, PRICE)
    assert people.release(COUNT, PRICE, token="kept") == kept  # the ledger has the answer
    link.symlink_to(home)
    assert round(people.release(COUNT, PRICE).value) == ROWS
    table = postgres.rpartition("=")[2]
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        for change, back in (
            ("rename x to y", "rename y to x"),
            ("alter x type text", "alter x type float8 using x::float8"),
        ):
            connection.execute(f"alter table {table} {change}")
            try:
                with pytest.raises(DataError, match="must be there"):
                    people.release(COUNT, PRICE)
            finally:
                connection.execute(f"alter table {table} {back}")
    assert round(people.release(COUNT, PRICE).value) == ROWS
    assert people.ledger.spent == sd.Pure(300)


LOSSES = ["close", "drop table t", "alter table t rename x to y", "alter table t alter x type text"]


@pytest.mark.parametrize("loss", LOSSES)
def test_a_table_of_the_callers_that_is_gone_costs_nothing(loss):
    """The connection was closed, or the table is another."""
    connection = duckdb.connect()
    connection.execute("create table t as select range::double as x from range(100)")
    people = sd.open(connection.table("t"), neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))
    assert round(people.release(COUNT, PRICE).value) == 100
    connection.close() if loss == "close" else connection.execute(loss)
    with pytest.raises(DataError, match="must be there"):
        people.release(COUNT, PRICE)
    assert people.ledger.spent == sd.Pure(100)


def test_files_that_have_changed_cost_nothing(tmp_path):
    """They are compared before the debit as well."""
    path = parquet(tmp_path)
    people = sd.open(path, neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))
    path.unlink()
    with pytest.raises(DataError, match="changed"):
        people.release(COUNT, PRICE)
    assert people.ledger.spent == sd.Pure(0)


@pytest.mark.parametrize("text", ["nor\0th", "\0", "nor\ud800th", "\udfff"])
def test_texts_that_no_server_can_be_asked_for_are_refused(text, postgres, tmp_path):
    """As keys, in conditions and as names, from every source, before anything is spent."""
    for make in (*SOURCES.values(), lambda folder: postgres):
        people = sd.open(make(tmp_path), neighbors=sd.Neighbors.ADD_REMOVE_ONE, budget=sd.Pure(10**6))
        for question in (
            lambda: people.release_by("g", ["north", text], COUNT, PRICE),
            lambda: people.release(sd.Categories("g", keys=["north", text]), PRICE),
            lambda: people.where(("g", "==", text)),
            lambda: people.where(("g", "in", ("north", text))),
            lambda: people.release(sd.Count(text), PRICE),
            lambda: people.release_by(text, ["north"], COUNT, PRICE),
        ):
            with pytest.raises(ParameterError, match="without zero bytes"):
                question()
        assert people.ledger.spent == sd.Pure(0)
        assert people.ledger.history == ()


def test_texts_are_checked_wherever_they_are_given(tmp_path):
    """A column may have such a name; it is not asked for."""
    with pytest.raises(ParameterError, match="zero bytes"):
        Cells("g", ("a\0",))
    with pytest.raises(ParameterError, match="zero bytes"):
        Condition("g", "in", ["a", "\ud800"])
    people = sd.open({"x\0": [1.0]}, budget=sd.Pure(1))
    with pytest.raises(ParameterError, match="zero bytes"):
        people.release(sd.Count("x\0"), sd.Pure(1))
    assert open_source({"x": ["\ud800"]}).counts("x", ("é",)) == (0,)
