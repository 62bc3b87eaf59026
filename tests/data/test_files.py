"""CSV and Parquet files: structure that is damaged, headers, globs, files that change, memory that stays bounded."""

from __future__ import annotations

import gzip
import subprocess
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.data import open_source, passes, records, text_file
from sordino.errors import DataError, Unsupported
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Bundle, Cells, Columns, Condition, Links, Rank, Request, Window

GRID = RowLattice(0, 10, step=1, missing="drop")
ASKED = Request("x", GRID)


@pytest.mark.parametrize(
    ("content", "rows", "total"),
    [
        (b"x,y\n1,a\n2,b\n", 2, 3),
        (b"x,y\r\n1,a\r\n2,b\r\n", 2, 3),
        (b"x,y\r\n1,a\n2,b\r\n3,c", 3, 6),
        (b"\xef\xbb\xbfx,y\n1,a\n2,b\n", 2, 3),
        (b'"x","y"\n1,"a\nb"\n2,"b"",,"\n', 3, 3),
        (b"x,y\n1\n2,b\n", 2, 3),
        (b"x,y\n1,a,more\n2,b\n", 2, 3),
        (b"x,y\n1,a\n\n2,b\n", 3, 3),
        (b'x,y\n1,a"b\n2,b\n', 2, 3),
        (b"x,y\n\xff\xfe,a\n2,b\n3,c\n", 3, 5),
        (b"x,y\n1,\x00\n2,b\n", 2, 3),
        (b"x,y\n1," + b"a" * 3_000_000 + b"\n2,b\n", 2, 3),
        (b"x,y\n#1,a\n2,b\n", 2, 2),
        (b" x , y\n 1 , a\n2,b\n", 2, 3),
        (b"x,y\n", 0, 0),
        (b"x,y", 0, 0),
        (b"x,\n1,2\n", 1, 1),
        (b"y,x\n" + b"".join(b"%d,2\n" % i for i in range(30_000)) + b"late,bad\nlater,3\n", 30_002, 60_003),
    ],
)
def test_what_is_in_a_csv_file_never_raises(content, rows, total, tmp_path):
    """Bad fields are missing, and every record is a row."""
    for name, opener in (("t.csv", open), ("t.csv.gz", gzip.open)):
        with opener(tmp_path / name, "wb") as file:
            file.write(content)
        source = open_source(tmp_path / name)
        (summary,) = source.summary(ASKED)
        assert (source.rows, summary.total) == (rows, total)


@pytest.mark.parametrize(
    "content", [b"", b"\n1,2\n", b"x,x\n1,2\n", b"x,X\n1,2\n", b"\xff\xfe,x\n1,2\n", b"north,45\nsouth,50\n"]
)
def test_a_header_must_name_every_column_once(content, tmp_path):
    """Before anything else is read."""
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match="name its columns"):
        open_source(tmp_path / "t.csv")


def test_a_header_that_is_somebodys_record_is_not_shown(tmp_path):
    """A file of texts without a header cannot be told from one with a header; nothing of its first line is echoed."""
    path = tmp_path / "t.csv"
    path.write_text("anna,berlin\nbert,paris\n")
    people = sd.open(path, budget=sd.Pure(1))
    problems = []
    for ask in (
        lambda: people.release(sd.Median("income", low=0, high=1), sd.Pure(1)),
        lambda: people.where(("income", ">", 1)),
        lambda: people.release_by("region", ["a"], sd.Count("income"), sd.Pure(1)),
        lambda: sd.open(path, unit=sd.Unit("person"), budget=sd.Pure(1), rows=2).release(
            sd.Count("x"), sd.Pure(1)
        ),
    ):
        with pytest.raises(DataError, match="must exist") as problem:
            ask()
        problems.append(str(problem.value))
    shown = " ".join([*problems, repr(people), repr(open_source(path))])
    assert "anna" not in shown
    assert "berlin" not in shown
    assert f"cat {path} | head -n 1" in shown


def test_a_damaged_archive_is_refused(tmp_path):
    """Cut off in the middle, or not gzipped at all."""
    whole = gzip.compress(b"x\n" + b"".join(b"%d\n" % (i * i) for i in range(10**4)))
    for content in (whole[: len(whole) // 2], b"x\n1\n", whole[:400] + b"\0" * 40 + whole[440:]):
        (tmp_path / "t.csv.gz").write_bytes(content)
        with pytest.raises(DataError, match="readable"):
            open_source(tmp_path / "t.csv.gz")


def test_a_wide_file_opens_in_linear_time(tmp_path):
    """Eight times the columns take far less than sixty-four times the time."""
    import time

    def opening(width):
        path = tmp_path / f"{width}.csv"
        path.write_text(",".join(f"c{place}" for place in range(width)) + "\n" + "1," * (width - 1) + "1\n")
        costs = []
        for _ in range(3):
            start = time.process_time()
            source = open_source(path)
            source.check(Request(f"c{width - 1}", GRID))
            costs.append(time.process_time() - start)
        return min(costs)

    assert opening(64_000) < 25 * opening(8_000)
    assert opening(8_000) < 1


BARE = """
import sys
for name in ("duckdb", "pyarrow", "polars", "pandas", "ibis"):
    sys.modules[name] = None
import sordino as sd
people = sd.open(sys.argv[1], unit=sd.Unit("person", max_rows=2), budget=sd.Pure(10**6), rows=50)
print(round(people.release(sd.Sum("x", low=0, high=10), sd.Pure(10**5)).value))
groups = people.release_by("region", ["north", "south"], sd.Count("x"), sd.Pure(10**5)).groups
print(*(round(value) for value in groups.values()))
"""


def test_a_csv_file_needs_no_extra(tmp_path):
    """Neither an engine nor Arrow nor a library of frames."""
    path = tmp_path / "t.csv.gz"
    records = [f"{i // 2},{i % 5},{['north', 'south'][i % 2]}" for i in range(100)]
    path.write_bytes(gzip.compress("\n".join(["person,x,region", *records]).encode()))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BARE, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["200", "50", "50"], done.stderr


def test_an_empty_name_becomes_a_number_and_units_keep_the_order_of_the_file(tmp_path):
    """As in files that pandas writes."""
    lines = [f"{i},p{i % 7},{i % 10}" for i in range(500)]
    (tmp_path / "t.csv").write_text("\n".join([",u,x", *lines]))
    source = open_source(tmp_path / "t.csv", unit=Unit("u", 3))
    index = np.arange(500)
    reference = open_source({"u": index % 7, "x": index % 10}, unit=Unit("u", 3))
    assert source.summary(ASKED)[0].total == reference.summary(ASKED)[0].total
    named = open_source(tmp_path / "t.csv", unit=Unit("u", 3), row="x")
    with pytest.raises(DataError, match="row identifier"):
        named.check(ASKED)
    source.check(Request("column0", GRID))


def test_no_bar_is_drawn_into_the_output_of_long_commands(tmp_path, capfd):
    """The engine draws one when a query takes two seconds; results are read from stdout by other programs."""
    pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / "t.parquet")
    relation = open_source(tmp_path / "t.parquet")._frame.to_native()
    (shown,) = relation.select("current_setting('enable_progress_bar')").limit(1).fetchall()
    assert shown == (False,)


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    """A message that says what to type."""
    with pytest.raises(DataError, match="must exist"):
        open_source(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match=r"\*\.parquet"):
        open_source(tmp_path)
    (tmp_path / "t.xlsx").write_bytes(b"x")
    with pytest.raises(DataError, match="CSV or Parquet"):
        open_source(tmp_path / "t.xlsx")
    (tmp_path / "t.parquet").write_bytes(b"not parquet")
    with pytest.raises(DataError, match="readable"):
        open_source(tmp_path / "t.parquet")
    (tmp_path / "a.csv").write_text("x\n1\n")
    (tmp_path / "b.csv").write_text("y\n1\n")
    with pytest.raises(DataError, match="same header"):
        open_source(str(tmp_path / "*.csv"))
    strange = tmp_path / "it's [1].csv"
    strange.write_text("x\n1\n")
    assert open_source(strange).summary(ASKED)[0].total == 1


def test_a_parquet_column_of_text_or_dates_is_refused_by_its_type(tmp_path):
    """A Parquet file declares its types; text is a number only when it is said to be."""
    import datetime as dt

    table = pa.table({"x": ["5", "a"], "day": [dt.date(2020, 1, 1)] * 2, "list": [[1], [2]]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(DataError, match="numbers="):
        open_source(tmp_path / "t.parquet").check(ASKED)
    assert open_source(tmp_path / "t.parquet", numbers=("x",)).summary(ASKED)[0].total == 5
    for name in ("day", "list"):
        with pytest.raises(DataError):
            open_source(tmp_path / "t.parquet", numbers=(name,)).check(Request(name, GRID))


def test_a_file_that_changes_is_noticed(tmp_path):
    """Before the next reading, and after the one in which it happened."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1]}), path)
    source = open_source(path)
    pq.write_table(pa.table({"x": [1, 2]}), path)
    with pytest.raises(DataError, match="changed while"):
        source.summary(ASKED)
    with pytest.raises(DataError, match="changed while"):
        list(source.summaries("x", (1,), ASKED))


def test_a_csv_file_that_changes_is_noticed(tmp_path, monkeypatch):
    """After it was opened, before anything is spent; and while it is read, for the first time or again."""
    path = tmp_path / "t.csv"
    path.write_text("x\n1\n")
    people = sd.open(path, budget=sd.Pure(2))
    assert people._source.summary(ASKED)[0].total == 1
    path.write_text("x\n1\n2\n")
    with pytest.raises(DataError, match="changed while"):
        people.release(sd.Count("x"), sd.Pure(1))
    assert people.remaining == sd.Pure(2)
    honest = records.records

    def interrupted(*args, **options):
        yield from honest(*args, **options)
        path.write_text(path.read_text() + "3\n")

    source = open_source(path)
    monkeypatch.setattr(text_file, "records", interrupted)
    with pytest.raises(DataError, match="changed while"):
        source.summary(ASKED)
    monkeypatch.undo()
    monkeypatch.setattr(records, "records", interrupted)
    with pytest.raises(DataError, match="changed while"):
        open_source(path)


@pytest.mark.parametrize("asked", [{"windows": (Window(Rank(1, 2), 2),)}, {"cuts": (5,)}])
def test_a_table_that_changes_between_the_passes_is_noticed(asked, monkeypatch):
    """The second pass must fit the first; the message tells no value."""
    connection = duckdb.connect()
    connection.execute("create table t as select range / 100.0 as x from range(1000)")
    source = open_source(connection.table("t"))
    request = Request("x", RowLattice(0, 10), **asked)
    assert source.summary(request)[0].rows == 1000
    honest, calls = passes.collected, []

    def interrupted(frame):
        answer = honest(frame)
        if not calls:
            connection.execute("insert into t values (5.0015)")
        calls.append(1)
        return answer

    monkeypatch.setattr(passes, "collected", interrupted)
    with pytest.raises(DataError, match="changed while") as error:
        source.summary(request)
    assert "5.00" not in str(error.value)


def test_engines_refuse_by_the_schema():
    """Units without a row identifier, and squares beyond 64 bits."""
    relation = duckdb.connect().sql("select 1.0 as x, 2 as u")
    with pytest.raises(DataError, match="identifies rows"):
        open_source(relation, unit=Unit("u")).check(ASKED)
    with pytest.raises(Unsupported, match="squares"):
        open_source(relation).check(Request("x", RowLattice(0, 1, bits=40), squares=True))
    with pytest.raises(DataError, match="must exist"):
        open_source(relation).check(Request("y", GRID))


def test_whole_columns_and_links_are_gathered_from_a_file(tmp_path):
    """What needs all rows at once gets them from an engine in this process."""
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,2\nx,2\n1,0\n")
    links, both = Links("a", "b", 3), Columns(("a", "b"), (GRID, GRID))
    (summary,) = open_source(tmp_path / "t.csv").summary(Bundle((links, both)))
    assert summary.parts[0].links.tolist() == [[0, 1], [1, 2]]
    assert sorted(summary.parts[1].codes.T.tolist()) == [[0, 1], [1, 0], [1, 2]]


SCRIPT = """
import resource, sys
from sordino.data import open_source
from sordino.reading.requests import Rank, Request, Window
from sordino.lattice import RowLattice
import duckdb, pyarrow
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
(summary,) = open_source(sys.argv[1]).summary(Request("x", RowLattice(-5, 5), (Window(Rank(1, 2), 100),)))
print(summary.rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.thorough
def test_memory_does_not_grow_with_the_file(tmp_path):
    """A file of 160 MB of doubles, read in far less."""
    rows, groups = 1_000_000, 20
    rng = np.random.default_rng(2)
    with pq.ParquetWriter(tmp_path / "t.parquet", pa.schema([("x", pa.float64())])) as writer:
        block = rng.normal(size=rows)
        for _ in range(groups):
            writer.write_table(pa.table({"x": block}), row_group_size=122_880)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "t.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    counted, megabytes = map(int, done.stdout.split())
    assert counted == rows * groups
    assert megabytes < 120


LIMITED = """
import resource, sys
limit = int(sys.argv[2])
import duckdb, pyarrow, pyarrow.csv, narwhals
import sordino as sd
from sordino.data import open_source
from sordino.reading.requests import Rank, Request, Window
from sordino.lattice import RowLattice
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))  # anonymous memory: what a process allocates
try:
    bytearray(limit)
    sys.exit("the limit does not hold")
except MemoryError:
    pass
(summary,) = open_source(sys.argv[1]).summary(Request("x", RowLattice(-5, 5), (Window(Rank(1, 2), 100),), squares=True))
people = sd.open(sys.argv[1], budget=sd.Pure(1))
answer = people.release(sd.Median("x", low=-5, high=5), sd.Pure(1))
print(summary.rows, abs(answer.value) < 0.01)
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_file_larger_than_the_memory_that_is_allowed(tmp_path):
    """The limit is enforced by the system; the file has more bytes of numbers than it allows."""
    rows, groups, limit = 1_000_000, 100, 700 << 20
    block = pa.table({"x": np.random.default_rng(2).normal(size=rows)})
    path = tmp_path / "t.parquet"
    options = {"compression": "none", "use_dictionary": False}
    with pq.ParquetWriter(path, block.schema, **options) as writer:
        for _ in range(groups):
            writer.write_table(block, row_group_size=122_880)
    assert path.stat().st_size > limit
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(limit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.split() == [str(rows * groups), "True"]


def test_a_duration_in_a_parquet_file_is_refused(tmp_path):
    """It is stored as a whole number, and an engine does not see the note of what it is."""
    path = tmp_path / "times.parquet"
    pq.write_table(pa.table({"d": pa.array([1, 2], pa.duration("s")), "x": [1, 2]}), path)
    source = open_source(str(path))
    with pytest.raises(DataError, match="durations"):
        source.check(Request("d", RowLattice(0, 9)))
    with pytest.raises(DataError, match="durations"):
        source.where(Condition("x", ">", 1)).check(Cells("d", (1,)))
    with pytest.raises(DataError, match="durations"):
        source.where(Condition("d", ">", 1))
    source.check(Request("x", RowLattice(0, 9)))


@pytest.mark.parametrize("later", [["1", "zz"], [1.5, 2.0], None])
def test_parquet_files_that_differ_are_refused_by_their_schemas(later, tmp_path):
    """An engine would cast value by value, and fail on the first that does not fit."""
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet")
    other = {"y": [1, 2]} if later is None else {"x": later}
    pq.write_table(pa.table(other), tmp_path / "b.parquet")
    with pytest.raises(DataError, match="same columns"):
        open_source(str(tmp_path / "*.parquet"))


def test_parquet_files_may_pack_their_texts_differently(tmp_path):
    texts = pa.array(["a", "b", "a"])
    for name, column in (
        ("a", texts),
        ("b", texts.dictionary_encode()),
        ("c", texts.cast(pa.large_string())),
    ):
        pq.write_table(pa.table({"x": column}), tmp_path / f"{name}.parquet")
    assert open_source(str(tmp_path / "*.parquet")).counts("x", ("a", "b")) == (6, 3)
