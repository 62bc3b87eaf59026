"""The store survives what happens to machines; columns are judged like records; a million lines take seconds."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import DataError
from sordino.geo import Collector, Points, Reference, Threshold, report, stored_reports
from sordino.geo.collector import REASONS, collect
from sordino.geo.head import VERSION, identity, mechanism_from
from sordino.geo.reading import read
from sordino.geo.seen import SeenReports
from sordino.geo.wire import to_records, write
from sordino.privacy import Geo
from tests.support.geo_vectors import vectors

MADE = Points(Reference.around(longitude=4.9, latitude=52.4, radius=20_000), Geo(1, per=200))


def records(count=5, **changes):
    reports = MADE.report(metres=np.zeros((count, 2)))
    return [{**r, **changes} for r in to_records(reports, devices=[f"d{i}" for i in range(count)])]


def lines(tmp_path, listed, head=True, name="reports.jsonl"):
    path = tmp_path / name
    rows = [json.dumps({"sordino": MADE.head()})] * head + [
        r if isinstance(r, str) else json.dumps(r) for r in listed
    ]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "sordino.geo.report"}, "malformed"),
        ({"version": 1}, "other-version"),
        ({"version": 3}, "other-version"),
        ({"version": None}, "malformed"),
        ({"mechanism": "0" * 32}, "foreign"),
        ({"device": ""}, "malformed"),
        ({"device": "x" * 201}, "malformed"),
        ({"device": None}, "malformed"),
        ({"round": -1}, "malformed"),
        ({"round": None}, "malformed"),
        ({"at": [1]}, "malformed"),
        ({"at": [1, 2, 3]}, "malformed"),
        ({"at": [1, None]}, "malformed"),
        ({"at": None}, "malformed"),
        ({"at": [1.5, 2]}, "malformed"),
        ({"at": [MADE.high[0] + 64 * 65536 + 1, 0]}, "out-of-range"),
        ({"at": [0, MADE.low[1] - 64 * 65536 - 1]}, "out-of-range"),
        ({"at": [10**30, 0]}, "out-of-range"),
        ({"extra": 1}, "malformed"),
    ],
)
def test_columns_are_judged_like_records(tmp_path, changes, reason):
    """The same verdict from a list of records, from JSON lines in columns and from Parquet."""
    listed = [*records(3), {**records(4)[3], **changes}]
    one = Collector(MADE).receive(listed)
    assert one.rejected == {reason: 1}
    assert one.examples == {reason: 3}
    accepted, rejected = collect(Collector(MADE), read(lines(tmp_path, listed))[1])
    assert rejected == {reason: 1}
    assert sum(map(len, accepted)) == 3
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    if "extra" in changes:
        return  # a table has the same columns in all rows
    try:
        table = pa.Table.from_pylist(listed)
    except (pa.ArrowException, OverflowError):
        return
    parquet.write_table(table, tmp_path / "r.parquet")
    _, rejected = collect(Collector(MADE), read(tmp_path / "r.parquet")[1])
    assert sum(rejected.values()) >= 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
odd_records = st.lists(
    json_values | st.fixed_dictionaries(dict.fromkeys(records(1)[0], json_values)), max_size=5
)


@given(odd_records)
def test_nothing_in_a_file_can_crash_the_collector(tmp_path_factory, listed):
    path = lines(tmp_path_factory.mktemp("odd"), [*listed, *records(2)])
    accepted, rejected = collect(Collector(MADE), read(path)[1])
    assert sum(map(len, accepted)) == 2
    assert sum(rejected.values()) == len(listed)


@given(st.binary(max_size=60))
def test_no_bytes_can_crash_the_reader(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("bytes") / "r.jsonl"
    path.write_bytes(noise + b"\n" + json.dumps(records(1)[0]).encode() + b"\n")
    head, batches = read(path)
    accepted, _ = collect(Collector(MADE), batches)
    assert sum(map(len, accepted)) == 1
    assert head is None


def test_duplicates_replays_and_quarantine(tmp_path):
    good = records(4)
    path = lines(tmp_path, [*good, good[0], "nonsense", {**good[1], "version": 1}])
    aside = []
    told = []
    collector = Collector(MADE, store=tmp_path / "s.sqlite")
    accepted, rejected = collect(
        collector,
        read(path)[1],
        progress=lambda done, total: told.append(done / total),
        quarantine=lambda line, reason, text: aside.append((line, reason, text)),
    )
    assert sum(map(len, accepted)) == 4
    assert rejected == {"duplicated": 1, "malformed": 1, "other-version": 1}
    assert [(line, reason) for line, reason, _ in aside] == [
        (6, "duplicated"), (7, "malformed"), (8, "other-version")
    ]  # fmt: skip
    assert aside[1][2] == b"nonsense"
    assert told[-1] == 1.0
    again = Collector(MADE, store=tmp_path / "s.sqlite")  # a restart forgets nothing
    _, rejected = collect(again, read(path)[1])
    assert rejected == {"replayed": 5, "malformed": 1, "other-version": 1}
    assert Collector(MADE).receive([*good, good[0]]).rejected == {"duplicated": 1}
    assert again.receive([{**r, "round": 1} for r in good]).rejected == {}
    (stored,) = stored_reports(tmp_path / "s.sqlite")
    assert len(stored) == 8
    np.testing.assert_array_equal(stored.at[:4], [r["at"] for r in good])
    assert stored.rounds.tolist() == [0] * 4 + [1] * 4
    assert len(stored.of_round(1)) == 4
    assert set(REASONS) >= {"other-version"}


def test_a_store_holds_several_mechanisms_and_names_no_device(tmp_path):
    other = report([120.0, 90.0], Threshold(at=100, width=20), Geo(1, per=50))
    path = tmp_path / "s.sqlite"
    Collector(MADE, store=path).receive(records(3, device="canary-device"))
    Collector(other.mechanism, store=path).receive(list(to_records(other)))
    found = {part.mechanism.id: len(part) for part in stored_reports(path)}
    assert found == {MADE.id: 1, other.mechanism.id: 2}
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"canary" not in path.read_bytes()


@pytest.mark.thorough
def test_a_killed_collector_loses_nothing(tmp_path):
    """Killed again and again in the middle of a file; afterwards every report is there exactly once."""
    count = 6000
    path = tmp_path / "r.jsonl"
    reports = MADE.report(metres=np.zeros((count, 2)))
    write(path, MADE, [reports], devices=[f"d{i}" for i in range(count)])
    program = textwrap.dedent(f"""
        from sordino.geo import reading, Collector
        from sordino.geo.collector import collect
        from sordino.geo.head import mechanism_from
        reading._BLOCK = 20_000
        head, batches = reading.read({str(path)!r})
        collector = Collector(mechanism_from(head), store={str(tmp_path / "s.sqlite")!r})
        print("ready", flush=True)
        for batch in batches:
            collector.receive_batch(batch)
    """)
    for wait in (0.01, 0.05, 0.1):
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
        child.stdout.readline()
        time.sleep(wait)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    (stored,) = stored_reports(tmp_path / "s.sqlite")
    assert len(stored) == count
    assert {tuple(row) for row in stored.at.tolist()} == {tuple(row) for row in reports.at.tolist()}


def test_another_file_is_no_store(tmp_path):
    (tmp_path / "text").write_text(
        "not a database, but long enough to be looked at as one by SQLite itself" * 20
    )
    with pytest.raises(DataError, match="not a store"):
        SeenReports(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE people (name TEXT)")
    other.close()
    with pytest.raises(DataError, match="not a store"):
        SeenReports(tmp_path / "other.sqlite")


def test_files_of_another_version_are_refused_by_name(tmp_path):
    old = {"sordino": {"format": "sordino.geo.report", "version": 1, "id": "0" * 16, "mechanism": {}}}
    path = tmp_path / "old.jsonl"
    path.write_text(json.dumps(old) + "\n")
    head, _ = read(path)
    with pytest.raises(DataError, match="version 1, this library reads version 2"):
        mechanism_from(head)
    with pytest.raises(DataError, match="names no version"):
        mechanism_from({"format": "sordino.geo.point"})
    assert VERSION == 2


@pytest.mark.parametrize("vector", vectors("refuse"))
def test_heads_are_refused_like_clients_refuse_them(vector):
    if vector["out"]["refused"]:
        with pytest.raises((DataError, ValueError)):
            mechanism_from(vector["in"])
    else:
        assert mechanism_from(vector["in"]).id == vector["in"]["id"]


@pytest.mark.parametrize("vector", vectors("head"))
def test_names_of_heads(vector):
    assert identity(vector["in"]) == vector["out"]["id"]


@pytest.mark.few(1)
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_hundred_thousand_reports_take_a_second(tmp_path, ending):
    """The bar is ten CPU seconds for a million; a slower machine has room here."""
    pytest.importorskip("pyarrow")
    count = 100_000
    path = tmp_path / f"r.{ending}"
    write(path, MADE, [MADE.report(metres=np.zeros((count, 2)))], devices=[f"d{i}" for i in range(count)])
    begin = time.process_time()
    head, batches = read(path)
    accepted, rejected = collect(Collector(mechanism_from(head), store=tmp_path / "s.sqlite"), batches)
    assert time.process_time() - begin < 3.0
    assert sum(map(len, accepted)) == count
    assert not rejected
