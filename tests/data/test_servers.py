"""The law on engines that run elsewhere: PostgreSQL, in a server that the tests start, and Spark in local mode."""

from __future__ import annotations

import math
import secrets

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.data import grouped, open_source, passes
from sordino.data.lazy import Lazy
from sordino.errors import DataError, Unsupported
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.formula import Formula
from sordino.reading.requests import Cells, Columns, Condition, Rank, Request, Window
from sordino.testing.source_reading import asked, defined, fine, shown
from tests.support import derived_columns
from tests.support.data_columns import COLUMNS, arrow

NUMBERS = [name for name in COLUMNS if not name.startswith("text")]
TYPES = {
    pa.float64(): "float8",
    pa.float32(): "float4",
    pa.int64(): "int8",
    pa.int8(): "int2",
    pa.bool_(): "boolean",
    pa.decimal128(18, 3): "numeric(18, 3)",
    pa.decimal128(38, 18): "numeric(38, 18)",
    pa.decimal128(38, 0): "numeric(38, 0)",
    pa.uint64(): "numeric(20, 0)",
    pa.string(): "text",
}
GRIDS = (RowLattice(0, 10, missing="drop"), RowLattice(0, 10, step=1, missing=2))
PEOPLE = {
    "x": [None if i % 11 == 0 else i * 37 % 101 / 10 for i in range(200)],
    "g": [[None, "a", "b", "c é"][i * 7 % 4] for i in range(200)],
    "k": [i * 13 % 5 for i in range(200)],
    "u": [None if i % 29 == 0 else i * 5 % 31 for i in range(200)],
    "row": list(range(200)),
}


def same(other):
    """Units, conditions, groups and counts as the memory kernel has them."""
    requests = tuple(
        Request("x", grid, (Window(Rank(1, 2), 5),), squares=True, cuts=(3, 10**6)) for grid in GRIDS
    )
    table = pa.table(PEOPLE)
    for unit, row in ((None, None), (Unit("u", 3), "row")):
        one, two = open_source(table, unit=unit, row=row), open_source(other, unit=unit, row=row)
        two.check(*requests, Cells("g", ("a",)))
        for condition in ((), (Condition("x", ">", 1), Condition("g", "in", ("a", "b")))):
            left, right = one.where(*condition), two.where(*condition)
            assert list(map(shown, left.summary(*requests))) == list(map(shown, right.summary(*requests)))
            for by, keys in (
                ("g", ("b", "nobody")),
                ("k", (3, 9)),
                (("g", "k"), (("b", 3), ("a", 9), ("c é", 0))),
            ):
                groups = zip(
                    left.summaries(by, keys, *requests), right.summaries(by, keys, *requests), strict=True
                )
                for a, b in groups:
                    assert list(map(shown, a)) == list(map(shown, b))
                if isinstance(by, str):
                    assert left.counts(by, keys) == right.counts(by, keys)
    assert two.rows == 200


def refused(other, monkeypatch=None):
    """By the schema, before anything is spent."""
    source = open_source(other, numbers=("g",))
    with pytest.raises(Unsupported, match="whole columns"):
        source.check(Columns(("x",), (GRIDS[0],)))
    with pytest.raises(DataError, match="identifies rows"):
        open_source(other, unit=Unit("u")).check(Request("x", GRIDS[0]))
    with pytest.raises(DataError, match="hold numbers"):
        source.check(Request("g", GRIDS[0]))
    with pytest.raises(DataError, match="text is not read"):
        source.check(Cells("g", (1, 2)))
    with pytest.raises(DataError, match="text is not read"):
        source.where(Condition("g", ">", 1))


@pytest.fixture(scope="module")
def postgres(postgres_server):
    """A writer: the address of a new table with these columns."""
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("ibis")
    with psycopg.connect(postgres_server, autocommit=True) as connection:

        def write(columns):
            name = f"table_{secrets.token_hex(6)}"  # one server, and several modules that write
            connection.execute(
                f"create table {name} ({', '.join(f'{k} {t}' for k, (t, _) in columns.items())})"
            )
            with connection.cursor().copy(f"copy {name} from stdin") as copy:
                for row in zip(*(values for _, values in columns.values()), strict=True):
                    copy.write_row(row)
            return f"{postgres_server}&table={name}"

        yield write


@pytest.mark.few(9)
@pytest.mark.parametrize("column", NUMBERS)
def test_postgres_reads_alike(column, postgres):
    """To the bit, though it raises on overflow and underflow."""
    dtype, values, grid = COLUMNS[column]
    source = open_source(postgres({"x": (TYPES[dtype], values)}))
    for one in (asked(grid), asked(fine(grid))):
        assert shown(source.summary(one)[0]) == defined(values, one)
    assert source.rows == len(values)


def test_postgres_decimals_that_no_double_holds_are_missing(postgres):
    """An unbounded numeric may be NaN, infinite, or have thousands of digits; none of them may raise."""
    values = ["NaN", "Infinity", "-Infinity", "1e400", "1e-400", "5", "7.25", None]
    source = open_source(postgres({"x": ("numeric", values)}))
    (summary,) = source.summary(Request("x", RowLattice(0, 10, step=0.25, missing="drop")))
    assert (summary.rows, summary.total) == (2, 20 + 29)


@pytest.mark.thorough
def test_postgres_bounds_filters_and_groups_alike(postgres):
    """And refuses what would raise after the debit."""
    types = {"x": "float8", "g": "text", "k": "int4", "u": "int8", "row": "int8"}
    address = postgres({name: (types[name], values) for name, values in PEOPLE.items()})
    same(address)
    refused(address)


@pytest.mark.parametrize("by", [None, "k"])
def test_one_release_reads_one_state_of_a_postgres_table(by, postgres, postgres_server, monkeypatch):
    """A writer between any two queries changes nothing; the next release sees what was written."""
    import psycopg

    address = postgres(
        {"x": ("float8", [i / 10 for i in range(100)]), "k": ("int4", [i % 2 for i in range(100)])}
    )
    asked = Request("x", RowLattice(0, 10), (Window(Rank(1, 2), 3),), squares=True, cuts=(5,))
    table = address.rpartition("=")[2]
    source, honest, queries = open_source(address), passes.collected, []

    def read():
        groups = [source.summary(asked)] if by is None else source.summaries(by, (0, 1), asked)
        return [shown(group[0]) for group in groups]

    def interrupted(frame):
        answer = honest(frame)
        with psycopg.connect(postgres_server, autocommit=True) as writer:
            writer.execute(f"insert into {table} select 9.99, i % 2 from generate_series(1, 40) i")
        queries.append(frame)
        return answer

    before = read()
    monkeypatch.setattr(passes, "collected", interrupted)
    monkeypatch.setattr(grouped, "collected", interrupted)
    with source.snapshot():
        assert read() == before
        assert read() == before
    assert len(queries) >= 4
    monkeypatch.setattr(passes, "collected", honest)
    monkeypatch.setattr(grouped, "collected", honest)
    assert read() != before


def test_a_session_asks_all_its_questions_of_one_state(postgres, postgres_server, monkeypatch):
    """Also what a mechanism asks again, and within the transaction nothing can be written."""
    import psycopg

    address = postgres({"x": ("float8", [i / 10 for i in range(100)])})
    states = []
    session = sd.open(address, budget=sd.Pure(20))
    honest = Lazy.summary

    def observed(self, *requests):
        connection = self._home._backend.con
        states.append(
            connection.execute(
                "select pg_current_snapshot()::text, current_setting('transaction_read_only')"
            ).fetchone()
        )
        with psycopg.connect(postgres_server, autocommit=True) as writer:
            writer.execute("create table if not exists other (x int); insert into other values (1)")
        return honest(self, *requests)

    monkeypatch.setattr(Lazy, "summary", observed)
    session.release([sd.Median("x", low=0, high=10), sd.Mean("x", low=0, high=10)], sd.Pure(20), loose=True)
    assert len(states) > 1  # at this price a hundred rows are enough for a search
    assert len({state for state, _ in states}) == 1
    assert {mode for _, mode in states} == {"on"}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("keys", "reach"),
    [((3, 0, 2), 0), ((3, 0, 2), 4), ((3, 0, 2), 300), (tuple(range(4500)), 4), (tuple(range(0, 300, 3)), 4)],
)
def test_many_keys_are_asked_of_postgres_at_once(keys, reach, postgres, monkeypatch):
    """Two queries for each list of keys, and the same answers as in memory, ties and empty groups included."""
    columns = {"x": [i * 7919 % 23 / 2 for i in range(900)], "k": [math.isqrt(i) for i in range(900)]}
    source = open_source(postgres({"x": ("float8", columns["x"]), "k": ("int4", columns["k"])}))
    ranks = (Rank(1, 2), Rank(9, 10, plus=-7, offset=2), Rank(0, 1, offset=1), Rank(1, 1))
    asked = tuple(
        Request(
            "x",
            grid,
            tuple(Window(rank, reach) for rank in ranks),
            squares=grid.last < 2**32,
            cuts=(0, 7, 10**6),
        )
        for grid in (RowLattice(0, 10, step=1), RowLattice(0, 10), RowLattice(0, 10, bits=48))
    )
    queries, honest = [], grouped.collected
    monkeypatch.setattr(grouped, "collected", lambda frame: queries.append(1) or honest(frame))
    answers = source.summaries("k", keys, *asked)
    for one, two in zip(open_source(columns).summaries("k", keys, *asked), answers, strict=True):
        assert list(map(shown, one)) == list(map(shown, two))
    assert len(queries) == 2 * len(asked) * -(-len(keys) // grouped.FAR)


def derives_alike(other, formulas, groups):
    """Derived columns as the memory kernel has them: summaries, groups, counts, conditions."""
    one, two = open_source(derived_columns.table()), open_source(other)
    for text in formulas:
        asked = derived_columns.asked(text)[::2]
        two.check(*asked)
        assert list(map(shown, one.summary(*asked))) == list(map(shown, two.summary(*asked))), text
    request = derived_columns.asked("(x / y)")[0]
    for text in groups:
        labels = Formula.read(text).labels
        pairs = zip(one.summaries(text, labels, request), two.summaries(text, labels, request), strict=True)
        assert all(shown(left) == shown(right) for (left,), (right,) in pairs), text
        assert one.counts(text, labels) == two.counts(text, labels)
        condition = Condition(text, "!=", labels[0])
        left, right = one.where(condition), two.where(condition)
        assert shown(left.summary(request)[0]) == shown(right.summary(request)[0]), text


@pytest.mark.thorough
def test_postgres_derives_alike(postgres):
    """To the bit, though it raises on division by zero, on overflow and on infinite dates."""
    types = {"x": "float8", "y": "float8", "k": "int4", "s": "text", "d": "date", "e": "text"}
    address = postgres({name: (kind, derived_columns.TABLE[name]) for name, kind in types.items()})
    formulas = ["(x / y)", "(x * y / (x + y) - 3)", "(1 / k)", "log(x / y)", "(days(d) - days(e))"]
    derives_alike(address, formulas, derived_columns.GROUPS[1:4])
    days = open_source(
        postgres({"d": ("date", ["infinity", "-infinity", "1970-01-02", "4000-01-01 BC", None])})
    )
    (summary,) = days.summary(Request("days(d)", RowLattice(0, 10, step=1, missing="drop")))
    assert (summary.rows, summary.total) == (1, 1)
    times = open_source(
        postgres({"d": ("timestamp", ["infinity", "1970-01-02 23:59:59.9", "1969-12-31 00:00"])})
    )
    (summary,) = times.summary(Request("days(d)", RowLattice(-5, 10, step=1, missing="drop")))
    assert (summary.rows, summary.total) == (2, 6 + 4)


def test_a_postgres_table_that_is_not_there(postgres_server):
    """A message without the address, which may hold a password."""
    pytest.importorskip("ibis")
    with pytest.raises(DataError, match="must name a table"):
        open_source(postgres_server)
    with pytest.raises(DataError, match="must be there"):
        open_source(f"{postgres_server}&table=nobody")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_spark_reads_alike(spark_session, tmp_path):
    """To the bit, on every column of numbers."""
    for column in NUMBERS:
        _, values, grid = COLUMNS[column]
        if column == "uint64":
            continue  # Spark has no such type
        pq.write_table(arrow(column), tmp_path / f"{column.replace(',', '')}.parquet")
        frame = spark_session.read.parquet(str(tmp_path / f"{column.replace(',', '')}.parquet"))
        for one in (asked(grid), asked(fine(grid))):
            assert shown(open_source(frame).summary(one)[0]) == defined(values, one), column


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_spark_bounds_filters_and_groups_alike(spark_session, tmp_path):
    """As PostgreSQL does, by the same queries."""
    pq.write_table(pa.table(PEOPLE), tmp_path / "people.parquet")
    frame = spark_session.read.parquet(str(tmp_path / "people.parquet"))
    refused(frame)
    same(frame)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_spark_derives_alike(spark_session, tmp_path):
    """To the bit, by the same expressions."""
    pq.write_table(derived_columns.table(), tmp_path / "derived.parquet")
    frame = spark_session.read.parquet(str(tmp_path / "derived.parquet"))
    derives_alike(frame, derived_columns.FORMULAS, derived_columns.GROUPS)
