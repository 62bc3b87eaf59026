"""Nothing but the answer comes out: a value that makes engines and objects complain is told nowhere, at no stage.

One row of every table holds the canary, and something in the table fails on that row alone: a cast in a view, a filter
or a lazy column, an object that raises with its value in the message, a number that warns. Whatever is asked, the
canary must not be in stdout, stderr, logs, warnings, exceptions and all that they were raised from, the ledger, or
temporary files.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import logging
import os
import subprocess
import sys
import tempfile
import textwrap
import traceback
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from sordino.cli import main
from sordino.ledger import Ledger
from tests.support.places import ROOT

DIGITS = "7391462853"
CANARY = f"canary{DIGITS}"
ROWS = 40
MEDIAN = sd.Median("x", low=0, high=100, step=1)
PRICE = sd.Pure(1)


class Loud:
    """A value that shouts itself out whatever is done with it."""

    def _shout(self, *_):
        raise ValueError(CANARY)

    __float__ = __int__ = __index__ = __eq__ = __ne__ = __lt__ = __hash__ = __bool__ = _shout
    __str__ = __repr__ = __len__ = __iter__ = _shout


class LoudNumber(float):
    def __float__(self):
        raise ValueError(CANARY)

    __eq__ = __hash__ = __str__ = __repr__ = __float__


class LoudText(str):
    __slots__ = ()

    def __eq__(self, other):
        raise ValueError(CANARY)

    def __hash__(self):
        raise SystemExit(CANARY)

    __str__ = __repr__ = __len__ = __hash__


class LoudColumn:
    """A column that cannot become an array."""

    def __array__(self, *_, **__):
        warnings.warn(CANARY, stacklevel=1)
        raise ValueError(CANARY)


def texts():
    """Numbers as texts, and one that is none."""
    return [str(i) for i in range(ROWS)] + [CANARY]


def objects(loud):
    return np.array([*range(ROWS), loud], dtype=object)


def lists(loud):
    return [*map(float, range(ROWS)), loud]


def wide(_):
    with np.errstate(all="ignore"):
        return np.append(np.arange(float(ROWS)), [0]).astype(np.longdouble) * np.longdouble("1e300") ** 2


def in_memory():
    """Tables in memory, by name: each a function without arguments."""
    found = {
        "array that warns": lambda: {"x": wide(None), "g": np.array(texts())},
        "array of texts": lambda: {"x": np.array(texts()), "g": np.array(texts())},
        "column that raises": lambda: {"x": LoudColumn(), "g": texts()},
    }
    for name, make in {"object": Loud, "number": LoudNumber, "text": lambda: LoudText(CANARY)}.items():
        found[f"array of objects, one loud {name}"] = lambda make=make: {
            "x": objects(make()), "g": objects(make()), "u": objects(make()),
        }  # fmt: skip
        found[f"list, one loud {name}"] = lambda make=make: {"x": lists(make()), "g": lists(make())}
        found[f"pandas, one loud {name}"] = lambda make=make: pandas(make())
    found["polars with an object"] = polars_objects
    found["pyarrow"] = lambda: pa.table({"x": texts(), "g": texts(), "u": texts()})
    return found


def pandas(loud):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(
        {"x": pd.Series(list(objects(loud)), dtype=object), "g": pd.Series(texts(), dtype=object)}
    )


def polars_objects():
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"x": pl.Series("x", list(objects(Loud())), dtype=pl.Object), "g": texts()})


def lazy_frames():
    """Lazy polars and DuckDB, each with an expression that fails on one row."""

    def polars(expression):
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"t": texts(), "g": texts()}).lazy()
        return expression(pl, frame)

    def shout(value):
        if value == CANARY:
            raise ValueError(value)
        return int(value)

    def duckdb(query):
        engine = pytest.importorskip("duckdb")
        connection = engine.connect()
        connection.execute("create table people as select unnest(?) as t", [texts()])
        connection.execute("create view seen as select cast(t as int) as x, t as g, t as u from people")
        connection.execute(
            "create view passed as select 1 as x, t as g from people where cast(t as int) >= 0"
        )
        return connection.sql(query)

    return {
        "polars: a cast in a column": lambda: polars(lambda pl, f: f.with_columns(x=pl.col("t").cast(pl.Int64))),
        "polars: a cast in a filter": lambda: polars(
            lambda pl, f: f.filter(pl.col("t").cast(pl.Int64) >= 0).with_columns(x=pl.lit(1))
        ),
        "polars: a function": lambda: polars(
            lambda pl, f: f.with_columns(x=pl.col("t").map_elements(shout, return_dtype=pl.Int64))
        ),
        "polars: a function on a frame": lambda: polars(
            lambda pl, f: f.map_batches(
                lambda frame: frame.with_columns(x=pl.col("t").cast(pl.Int64)),
                schema={"t": pl.String, "g": pl.String, "x": pl.Int64},
            )
        ),
        "duckdb: a view that casts": lambda: duckdb("select * from seen"),
        "duckdb: a view that filters": lambda: duckdb("select * from passed"),
        "duckdb: an error of its own": lambda: duckdb(
            "select case when t like 'c%' then error(t) else 1 end as x, t as g from people"
        ),
    }  # fmt: skip


def files(folder):
    """Files of every kind; the damaged one fails while it is read."""
    table = pa.table({"x": [*map(float, range(ROWS)), float("nan")], "g": texts(), "t": texts()})
    pq.write_table(table, folder / "fine.parquet")
    pq.write_table(table, folder / "damaged.parquet", compression="none", use_dictionary=False)
    content = bytearray((folder / "damaged.parquet").read_bytes())
    place = content.index(CANARY.encode())
    content[place - 4 : place] = b"\xff\xff\xff\x7f"  # a length beyond the page, beside the canary
    (folder / "damaged.parquet").write_bytes(content)
    lines = "".join(f"{i},{text},{text}\n" for i, text in enumerate(texts()))
    (folder / "fine.csv").write_text("x,g,t\n" + lines)
    (folder / "texts.csv").write_text("x,g\n" + "".join(f"{text},{text}\n" for text in texts()))
    (folder / "quotes.csv").write_text("x,g\n" + "".join(f'"{text},{text}\n' for text in texts()))
    np.savez(folder / "fine.npz", x=np.arange(3.0), g=np.array(texts()[-3:]))
    np.savez(folder / "objects.npz", x=np.array([CANARY], dtype=object))
    return sorted(folder.glob("*.*"))


def chain(error):
    """An exception, all that it was raised from or in, and everything attached to it."""
    seen, todo = {}, [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen[id(one)] = one
        todo += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return seen.values()


class Told:
    """Everything that came out."""

    def __init__(self):
        self.words = []
        self.failures = 0

    def attempt(self, work):
        """Do something; whatever it raises must be ours, and is listened to."""
        try:
            return work()
        except BaseException as error:  # noqa: BLE001  engines raise what is no Exception
            self.failures += 1
            for one in chain(error):
                exits = isinstance(one, SystemExit) and isinstance(one.code, int)  # the program's own
                if not exits and not isinstance(one, sd.SordinoError):
                    self.words.append(f"not ours: {type(one).__name__}")
                self.words += [*traceback.format_exception(one), repr(one.args), repr(vars(one))]
                self.words += map(str, getattr(one, "__notes__", ()))
            return None


def ask(told, data, folder, number=iter(range(10**6))):  # noqa: B008  one counter for all
    """Every stage on one table, which is made anew for each."""
    ledger = folder / f"kept{next(number)}.ledger"
    openings = [
        {"budget": sd.Pure(50), "ledger": ledger},
        {"budget": sd.Pure(50), "neighbors": sd.Neighbors.ADD_REMOVE_ONE},
        {"budget": sd.Pure(50), "unit": sd.Unit("u", max_rows=2)},
        {"budget": sd.Pure(50), "numbers": ("x",)},
    ]
    for options in openings:
        people = told.attempt(lambda: sd.open(data(), **options))
        if people is None:
            continue
        told.attempt(lambda: repr(people))
        filtered = [people]
        for condition in (("x", ">=", 0), "g != nobody", ("g", "in", ("1", "2")), ("t", ">", 5)):
            found = told.attempt(lambda: people.where(condition))
            if found is not None:
                filtered.append(found)
        for some in filtered:
            told.attempt(lambda: some.quote(MEDIAN, PRICE))
            told.attempt(lambda: some.release(MEDIAN, PRICE))
        told.attempt(lambda: people.release([sd.Count("x"), sd.Mean("x", low=0, high=9)], PRICE))
        told.attempt(lambda: people.release(sd.Categories("g", keys=("1", "2")), PRICE))
        told.attempt(lambda: people.release_by("g", ["1", "2"], MEDIAN, PRICE))
        told.attempt(lambda: people.release_by("g", [1, 2], sd.Count("x"), PRICE))
        told.attempt(lambda: people.release_by(["g", "x"], [("1", 1), ("2", 2)], sd.Count("x"), PRICE))
        told.attempt(lambda: people.release(sd.Median(sd.col("x").log() / sd.col("x"), low=0, high=9), PRICE))
        told.attempt(lambda: people.release(sd.Count("(days(g) - days(x))"), PRICE))
        by = [sd.col("g").mapped({"1": "one"}, otherwise="other"), sd.col("x").bins(0, 5, 10)]
        told.attempt(lambda: people.release_by(by, None, sd.Mean("x", low=0, high=9), PRICE))
        people.ledger.close()
    column = data()
    if isinstance(column, dict):
        told.attempt(lambda: sd.median(column["x"], low=0, high=9, price=PRICE))
        told.attempt(lambda: sd.plan(MEDIAN, PRICE, rows=ROWS))


def command_line(told, path, ledger):
    """The same by the program."""
    for words in (
        "release median x --low 0 --high 9",
        "release count x --where x>=0",
        "release median x --low 0 --high 9 --by g --by-keys 1,2",
        "release categories g --keys 1,2",
        "release median log(x) --low 0 --high 9 --by g,x --by-keys 1,2 --by-keys 3,4",
        "release median t --low 0 --high 9",
        "release mean nobody --low 0 --high 9",
    ):
        line = [*words.split(), "--epsilon", "0.1", "--data", str(path), "--ledger", str(ledger), "--yes"]
        told.attempt(lambda: main(line))


@pytest.fixture
def listen(tmp_path, monkeypatch, capfd, caplog):
    """A listener, and the judgement: everything that came out, which must not hold the canary."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(hidden))
    monkeypatch.setenv("TMPDIR", str(hidden))
    told = Told()
    caplog.set_level(logging.DEBUG)

    def judge():
        gc.collect()
        shown = [str(warning.message) for warning in raised if not ours(warning)]
        out, err = capfd.readouterr()
        ledgers = [file.read_bytes().decode("latin-1") for file in tmp_path.glob("*.ledger*")]
        left = [file.read_bytes().decode("latin-1") for file in hidden.rglob("*") if file.is_file()]
        logs = [f"{record.getMessage()} {record.exc_text or ''}" for record in caplog.records]
        return "\n".join([out, err, *ledgers, *left, *logs, *shown, *told.words])

    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        yield told, judge


def ours(warning):
    """What these tests leave open themselves."""
    return issubclass(warning.category, pytest.PytestWarning)


def silent(text):
    assert DIGITS not in text
    assert "not ours" not in text


@pytest.mark.few(5)
@pytest.mark.parametrize("name", in_memory())
def test_tables_in_memory(name, listen, tmp_path):
    told, judge = listen
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        ask(told, in_memory()[name], tmp_path)
    assert not [one for one in raised if not ours(one)]  # a warning for one value tells it from others
    silent(judge())


@pytest.mark.few(3)
@pytest.mark.parametrize("name", lazy_frames())
def test_lazy_frames(name, listen, tmp_path):
    told, judge = listen
    ask(told, lazy_frames()[name], tmp_path)
    assert told.failures > 3
    silent(judge())


@pytest.mark.thorough
def test_files(listen, tmp_path):
    told, judge = listen
    folder = tmp_path / "data"
    folder.mkdir()
    ledger = tmp_path / "people.ledger"
    Ledger.create(ledger, sd.Pure(100), reason="canary").close()
    for path in files(folder):
        ask(told, lambda path=path: str(path), tmp_path)
        command_line(told, path, ledger)
    silent(judge())


VIEWS = {
    "a view that casts": "select t::int as x, t as g, t as u from {table}",
    "a view that filters": "select 1 as x, t as g, t as u from {table} where t::int >= 0",
    "a function of its own": "select shout(t) as x, t as g, t as u from {table}",
}
SHOUT = """create or replace function shout(t text) returns int language plpgsql as $$
begin
  if t like 'c%' then raise notice 'notice %', t; raise exception 'value %', t; end if;
  return t::int;
end $$"""


@pytest.mark.few(1)
@pytest.mark.parametrize("name", VIEWS)
def test_postgres(name, listen, tmp_path, postgres_server):
    told, judge = listen
    address = postgres_view(postgres_server, VIEWS[name])
    ledger = tmp_path / "people.ledger"
    Ledger.create(ledger, sd.Pure(100), reason="canary").close()
    ask(told, lambda: address, tmp_path)
    command_line(told, address, ledger)
    assert told.failures > 3
    silent(judge())


def postgres_view(server, query, number=iter(range(1000))):  # noqa: B008  one counter for all
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("ibis")
    name = f"canary_{os.getpid()}_{next(number)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create table {name} (t text)")
        connection.cursor().executemany(f"insert into {name} values (%s)", [(text,) for text in texts()])
        connection.execute(SHOUT)
        connection.execute(f"create view {name}_seen as {query.format(table=name)}")
    return f"{server}&table={name}_seen"


PLANTED = {
    "memory": lambda server, folder: in_memory()["column that raises"],
    "polars": lambda server, folder: lazy_frames()["polars: a cast in a filter"],
    "duckdb": lambda server, folder: lazy_frames()["duckdb: a view that filters"],
    "postgres": lambda server, folder: functools.partial(
        str, postgres_view(server, VIEWS["a view that filters"])
    ),
    "files": lambda server, folder: lambda: str(files(folder)[0]),
}  # fmt: skip


@pytest.mark.parametrize("family", PLANTED)
def test_the_law_notices_an_open_door(family, listen, tmp_path, monkeypatch, postgres_server):
    """With the closed room open at one place, every family of sources lets the canary out."""
    told, judge = listen
    if family == "files":  # engines do not show the bytes of a damaged file; a bug of ours might
        from sordino.data.lazy import Lazy

        monkeypatch.setattr(Lazy, "rows", property(lambda _: int(CANARY)))
    monkeypatch.setattr("sordino.session.opening.inside", lambda work, **_: work())
    folder = tmp_path / "data"
    folder.mkdir()
    data = PLANTED[family](postgres_server, folder)
    told.attempt(lambda: sd.open(data(), budget=sd.Pure(1)))
    with pytest.raises(AssertionError):
        silent(judge())


def test_the_law_notices_what_hangs_on_an_error(listen, monkeypatch):
    """Not only its words: ``from None`` hides a cause from the traceback and keeps it."""
    told, judge = listen

    def work():
        try:
            float(CANARY)
        except ValueError:
            raise sd.DataError("open", "the data could not be read") from None

    told.attempt(work)
    with pytest.raises(AssertionError):
        silent(judge())


SCRIPT = """
    import logging, sys, traceback, warnings
    logging.basicConfig(level=logging.DEBUG)
    from tests.data import test_canary as canary
    from pathlib import Path
    told = canary.Told()
    for tables in (canary.in_memory(), canary.lazy_frames()):
        for name in {names!r}:
            if name in tables:
                canary.ask(told, tables[name], Path({folder!r}))
    print("\\n".join(told.words))
    print("heard", told.failures)
"""


@pytest.mark.thorough
def test_a_process_in_development_mode(tmp_path):
    """All warnings shown, all logging on, the streams as an operating system sees them: engines write there, too."""
    names = [
        "array of objects, one loud number", "array that warns", "polars: a function", "polars: a cast in a filter",
        "duckdb: a view that casts",
    ]  # fmt: skip
    script = textwrap.dedent(SCRIPT).format(names=names, folder=str(tmp_path))
    environment = {**os.environ, "PYTHONDEVMODE": "1", "PYTHONWARNINGS": "always"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:].replace(DIGITS, "...")
    assert "heard" in done.stdout
    silent(done.stdout + done.stderr)


SPARK = """
    import logging, sys
    logging.basicConfig(level=logging.DEBUG)
    from pathlib import Path
    import pyarrow, pyarrow.parquet
    import sordino, sordino.session.opening
    from tests.data import test_canary as canary
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[1]").config("spark.sql.shuffle.partitions", "2")
    spark = spark.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    spark = spark.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    table = str(Path({folder!r}) / "people.parquet")
    pyarrow.parquet.write_table(pyarrow.table(dict(t=canary.texts())), table)
    spark.read.parquet(table).createOrReplaceTempView("people")
    told = canary.Told()
    if {planted!r}:
        sordino.session.opening.inside = lambda work, **_: work()
    for query in (
        "select 1 as x, t as g, t as u from people where cast(t as int) >= 0",
        "select cast(t as int) as x, t as g, t as u from people",
    ):
        for neighbors in sordino.Neighbors.REPLACE_ONE, sordino.Neighbors.ADD_REMOVE_ONE:
            frame = spark.sql(query)
            people = told.attempt(lambda: sordino.open(frame, budget=sordino.Pure(9), neighbors=neighbors))
            if people is not None:
                told.attempt(lambda: people.release(canary.MEDIAN, canary.PRICE))
                told.attempt(lambda: people.where("x >= 0").release(sordino.Count("x"), canary.PRICE))
    spark.stop()
    print("\\n".join(told.words))
    print("heard", told.failures)
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("planted", [False, True])
def test_spark(planted, tmp_path):
    """Its driver, its bridge and its own loggers print values; with the room open the law notices."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'sordino[spark]'")
    script = textwrap.dedent(SPARK).format(folder=str(tmp_path), planted=planted)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:].replace(DIGITS, "...")
    assert int(done.stdout.split()[-1]) > 3
    with pytest.raises(AssertionError) if planted else contextlib.nullcontext():
        silent(done.stdout + done.stderr)
