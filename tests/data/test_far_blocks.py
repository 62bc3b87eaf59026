"""Blocks that an engine elsewhere cuts: everybody in one block, the same answers as here, one person one block."""

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.data import open_source
from sordino.errors import Unsupported
from sordino.exact.bits import SeededBits
from sordino.mechanisms.blocks.dealing import block_values
from sordino.reading.requests import Blocks
from tests.data.test_servers import postgres  # noqa: F401  a fixture
from tests.support.servers import postgres_server  # noqa: F401

PEOPLE = {
    "x": [None if i % 11 == 0 else float(i * 37 % 101) for i in range(240)],
    "w": [[None, "a", "b%", "c é"][i * 7 % 4] for i in range(240)],
    "who": [None if i % 29 == 0 else i * 5 % 31 for i in range(240)],
    "row": list(range(240)),
}
TYPES = {"x": "float8", "w": "text", "who": "int8", "row": "int8"}
KEY = b"k" * 32


def total(block):
    return float(np.nansum(block["x"]))


def count(block):
    return float(len(block["x"]))


def moved(address_or_frame, unit, key=KEY, blocks=7):
    """Block values of a sum, by the block's number."""
    source = open_source(address_or_frame, unit=unit, row="row")
    table = source.summary(Blocks(("x", "w")))[0].table
    function = sd.Function(total, columns=["x", "w"], low=-1e6, high=1e6, frame="numpy", isolation="none")
    from sordino.running.evaluate import Task

    found = table.values(
        function.pickled, Task("numpy"), function.limits, blocks=blocks, key=key, fixed=False
    )
    return dict(found)


def without(person):
    kept = [place for place in range(240) if PEOPLE["who"][place] != person]
    return {name: [values[place] for place in kept] for name, values in PEOPLE.items()}


def laws(make):
    """Everybody is in one block; one person less changes one value; another key deals otherwise."""
    unit = sd.Unit("who", max_rows=3)
    whole = moved(make(PEOPLE), unit)
    named = [
        x for x, who in zip(PEOPLE["x"], PEOPLE["who"], strict=True) if who is not None and x is not None
    ]
    assert sum(whole.values(), start=np.zeros(1))[0] == pytest.approx(sum(named))
    for person in (3, 17):
        fewer = moved(make(without(person)), unit)
        differing = [place for place in range(7) if whole.get(place) != fewer.get(place)]
        assert len(differing) == 1
        gone = sum(
            x for x, who in zip(PEOPLE["x"], PEOPLE["who"], strict=True) if who == person and x is not None
        )
        assert whole[differing[0]][0] - fewer.get(differing[0], (0.0,))[0] == pytest.approx(gone)
    assert moved(make(PEOPLE), unit) == whole
    assert moved(make(PEOPLE), unit, key=b"another key of 32 bytes, or so..") != whole


def release(data, **options):
    people = sd.open(data, budget=sd.Pure(20), **options)
    function = sd.Function(count, columns=["x"], low=0, high=1000, frame="numpy", blocks=12, block_rows=1)
    return people.release(function, sd.Pure(10), rows=240)


@pytest.mark.thorough
def test_postgres_cuts_blocks(postgres):  # noqa: F811
    def make(table):
        return postgres({name: (TYPES[name], values) for name, values in table.items()})

    laws(make)
    assert 15 < float(release(make(PEOPLE))) < 25  # in processes of their own


@pytest.mark.parametrize("fixed", [True, False])
def test_postgres_deals_rows_without_a_name_by_random_numbers(postgres, fixed):  # noqa: F811
    source = open_source(postgres({"x": ("float8", PEOPLE["x"]), "w": ("text", PEOPLE["w"])}))
    sizes = []
    for _ in range(2):
        table = source.summary(Blocks(("x",)))[0].table
        function = sd.Function(
            count, columns=["x"], low=0, high=240, frame="numpy", isolation="none", fixed=fixed
        )
        values = block_values(function, table, 7, 0, SeededBits(1))[0]
        assert values.sum() == 240
        sizes.append(values.tolist())
    if fixed:
        assert set(sizes[0]) == {34.0, 35.0}
    else:
        assert len(set(sizes[0])) > 2
        assert sizes[0] != sizes[1]  # the server's own numbers, fresh each time


def test_filters_and_groups_are_cut_too(postgres):  # noqa: F811
    address = postgres({name: (TYPES[name], values) for name, values in PEOPLE.items()})
    source = open_source(address, unit=sd.Unit("who", max_rows=3), row="row")
    here = open_source(pa.table(PEOPLE), unit=sd.Unit("who", max_rows=3), row="row")
    condition = sd.Condition("x", ">", 50)
    for request in (Blocks(("x", "w")), Blocks(("x", "w"), whole=False)):
        far = source.where(condition).summary(request)[0].table
        near = here.where(condition).summary(request)[0].table
        with source.snapshot():
            blocks = list(far.blocks(5, KEY, fixed=False))
        rows = [
            pair
            for _, block in blocks
            for pair in zip(block.columns["x"].tolist(), block.columns["w"], strict=True)
        ]
        texts = near.columns["w"].texts.tolist()
        assert sorted(rows, key=repr) == sorted(
            zip(near.columns["x"].numbers.tolist(), texts, strict=True), key=repr
        )


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_spark_runs_blocks_on_its_executors(spark_session):
    def make(table):
        columns = list(zip(*table.values(), strict=True))
        return spark_session.createDataFrame(columns, "x double, w string, who long, row long")

    laws(make)
    frame = make(PEOPLE)
    assert 10 < float(release(frame, row="row")) < 30
    people = sd.open(frame, budget=sd.Pure(3))
    function = sd.Function(total, columns=["x"], low=0, high=1000, frame="numpy", blocks=12, block_rows=1)
    with pytest.raises(Unsupported, match="identifies rows"):
        people.release(function, sd.Pure(1), rows=240)
    assert people.remaining == sd.Pure(3)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_hostile_function_on_executors_changes_its_own_block_only(spark_session, capfd):
    frame = spark_session.createDataFrame([(float(i), i) for i in range(80)], "x double, row long")
    source = open_source(frame, row="row")

    def hostile(block):
        if 5.0 in block["x"]:
            raise ValueError(block["x"])
        return float(block["x"].sum())

    values = []
    for f in (hostile, total):
        function = sd.Function(f, columns=["x"], low=-1, high=1e6, frame="numpy", otherwise=-1)
        table = source.summary(Blocks(("x",)))[0].table
        values.append(block_values(function, table, 8, 0, SeededBits(3))[0])
    assert (values[0] != values[1]).sum() == 1
    assert values[0].min() == -1
    assert "5.0" not in "".join(capfd.readouterr())


@pytest.fixture
def parquet(tmp_path, monkeypatch):
    """Writes a table to a Parquet file, every one of which counts as large."""
    pytest.importorskip("duckdb")
    from pyarrow.parquet import write_table

    monkeypatch.setattr("sordino.data.far_blocks.LARGE", 0)
    monkeypatch.setattr("sordino.data.engine_blocks._FETCHED", 2048)
    written = iter(range(100))

    def write(table):
        path = tmp_path / f"people{next(written)}.parquet"
        write_table(pa.table(table), path)
        return path

    return write


def test_duckdb_cuts_blocks_of_large_files(parquet):
    laws(parquet)
    assert 15 < float(release(parquet(PEOPLE))) < 25


@pytest.mark.parametrize("fixed", [True, False])
def test_duckdb_deals_rows_without_a_name(parquet, fixed):
    many = {"x": [float(i % 17) for i in range(9000)], "w": ["a"] * 9000}
    table = open_source(parquet(many)).summary(Blocks(("x",)))[0].table
    function = sd.Function(
        count, columns=["x"], low=0, high=9000, frame="numpy", isolation="none", fixed=fixed
    )
    first, second = (block_values(function, table, 7, 0, SeededBits(seed))[0] for seed in (1, 2))
    assert first.sum() == second.sum() == 9000
    if fixed:
        assert set(first.tolist()) == {1285.0, 1286.0}
    else:
        assert len(set(first.tolist())) > 2
        assert np.abs(first - 9000 / 7).max() < 5 * np.sqrt(9000 / 7)
        assert first.tolist() != second.tolist()


def test_duckdb_hands_over_the_rows_that_are_read_here(parquet, monkeypatch):
    path = parquet(PEOPLE)
    options = {"unit": sd.Unit("who", max_rows=3), "row": "row"}
    condition = sd.Condition("x", ">", 50)
    far = open_source(path, **options).where(condition).summary(Blocks(("x", "w")))[0].table
    monkeypatch.setattr("sordino.data.far_blocks.LARGE", 1 << 25)
    near = open_source(path, **options).where(condition).summary(Blocks(("x", "w")))[0].table
    rows = [
        pair
        for _, block in far.blocks(5, KEY, fixed=False)
        for pair in zip(block.columns["x"].tolist(), block.columns["w"], strict=True)
    ]
    here = zip(near.columns["x"].numbers.tolist(), near.columns["w"].texts.tolist(), strict=True)
    assert sorted(rows, key=repr) == sorted(here, key=repr)


def test_a_file_that_changes_while_blocks_are_cut_is_noticed(parquet):
    path = parquet(PEOPLE)
    table = open_source(path).summary(Blocks(("x",)))[0].table
    parquet(PEOPLE).rename(path)
    function = sd.Function(count, columns=["x"], low=0, high=240, frame="numpy", isolation="none")
    with pytest.raises(sd.SordinoError, match="changed"):
        block_values(function, table, 7, 0, SeededBits(1))
