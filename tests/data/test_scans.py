"""How often a table is read for all groups and all follow-up questions: bytes of a Parquet file, scans of a server."""

import time
from pathlib import Path

import numpy as np
import pytest

import sordino as sd

ROWS, GROUPS = 30_000, 20
ASKED = [
    sd.Mean("x", low=0, high=1e6), sd.Variance("x", low=0, high=1e6), sd.Median("x", low=0, high=1e6),
    sd.Quantiles("x", qs=(0.1, 0.5, 0.9), low=0, high=1e6), sd.Histogram("x", edges=(0, 5, 10, 1e6)),
    sd.Maximum("x", low=0, high=1e6), sd.Count("x"),
]  # fmt: skip


def some(quick, names):
    """All of these statistics, but only some in every run."""
    return [
        pytest.param(one, id=one.name, marks=[] if one.name in quick else [pytest.mark.slow])
        for one in ASKED
        if one.name in names
    ]


def table(rows):
    random = np.random.default_rng(5)
    return {"x": random.lognormal(1, 1, rows), "g": random.integers(0, GROUPS, rows)}


def bytes_read():
    """What this process has read from files so far, from the cache of the system or not."""
    words = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(words["rchar"])


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path_factory.mktemp("scans") / "t.parquet"
    parquet.write_table(pa.table(table(ROWS)), path, compression="none", use_dictionary=False)
    return path


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="only Linux counts what a process reads")
@pytest.mark.parametrize("statistic", some(("mean",), [one.name for one in ASKED]))
def test_a_parquet_file_is_read_once_for_all_groups(statistic, parquet):
    people = sd.open(str(parquet), budget=sd.Pure(1e6), neighbors="add-remove-one", rows=ROWS)
    people.release_by("g", range(2), statistic, sd.Pure(20))  # what is imported is read as well, once
    before = bytes_read()
    people.release_by("g", range(GROUPS), statistic, sd.Pure(20))
    assert (bytes_read() - before) / parquet.stat().st_size < 1.2


@pytest.fixture(scope="module")
def postgres(postgres_server):
    """A table of a server, and how often it was scanned."""
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("ibis")
    columns = table(3000)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("create table scanned (x float8, g int8)")
        with connection.cursor().copy("copy scanned from stdin") as copy:
            for row in zip(*(columns[name].tolist() for name in ("x", "g")), strict=True):
                copy.write_row(row)

        def scans():
            connection.execute("select pg_stat_clear_snapshot()")
            return connection.execute(
                "select seq_scan from pg_stat_user_tables where relname = 'scanned'"
            ).fetchone()[0]

        yield f"{postgres_server}&table=scanned", scans


SCANS = {"mean": 3, "variance": 3, "median": 2, "histogram": 1, "maximum": 3, "count": 1}
"""One where nothing depends on what was found; two for ranks; three where what is asked next depends on an answer."""


@pytest.mark.parametrize("statistic", some((), SCANS))
def test_a_server_scans_as_often_for_many_groups_as_for_few(statistic, postgres):
    address, scans = postgres
    for groups in (3, GROUPS):
        before = scans()
        people = sd.open(address, budget=sd.Pure(1e6), neighbors="add-remove-one", rows=3000)
        people.release_by("g", range(groups), statistic, sd.Pure(20))
        people._source._home.close()  # a server counts what a connection did when it ends
        until = time.monotonic() + 5
        while scans() - before < SCANS[statistic.name] and time.monotonic() < until:
            time.sleep(0.01)
        assert scans() - before == SCANS[statistic.name]
