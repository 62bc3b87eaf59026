"""The collector takes nothing on trust; budgets hold; projections are true; extras are named when missing."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import BudgetExceeded, DataError, LedgerError, MissingExtra, ParameterError
from sordino.geo import (
    Collector,
    DeviceBudget,
    Disc,
    KernelDensity,
    Query,
    QueryMechanism,
    Threshold,
    estimate,
    report,
)
from sordino.geo.collector import collect
from sordino.geo.files import length, query_from, read_names, read_points
from sordino.geo.reading import read
from sordino.geo.wire import VERSION, mechanism_from, to_records, write
from sordino.privacy import Geo
from tests.support.geo_worlds import QUERIES

PRICE = Geo(1, per=50)
QUERY = Threshold(at=100.0, width=20.0)
MADE = QueryMechanism.choose(QUERY, PRICE)


def batch(count=3, **changes):
    points = np.linspace(50.0, 150.0, count)
    names = [f"d{i}" for i in range(count)]
    return [{**record, **changes} for record in to_records(report(points, QUERY, PRICE), devices=names)]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "other"}, "malformed"),
        ({"version": VERSION + 1}, "other-version"),
        ({"version": 1}, "other-version"),
        ({"version": "1"}, "malformed"),
        ({"version": True}, "malformed"),
        ({"mechanism": "0" * 16}, "foreign"),
        ({"mechanism": None}, "malformed"),
        ({"grid": MADE.grid.exponent - 1}, "foreign"),
        ({"device": ""}, "malformed"),
        ({"device": 7}, "malformed"),
        ({"device": "x" * 1000}, "malformed"),
        ({"round": -1}, "malformed"),
        ({"round": 1.5}, "malformed"),
        ({"block": 0}, "malformed"),
        ({"answers": []}, "malformed"),
        ({"answers": [1, 2]}, "malformed"),
        ({"answers": [0.5]}, "malformed"),
        ({"answers": ["1"]}, "malformed"),
        ({"answers": [float("nan")]}, "malformed"),
        ({"answers": {"a": 1}}, "malformed"),
        ({"answers": [MADE.limit + 1]}, "out-of-range"),
        ({"answers": [-(10**40)]}, "out-of-range"),
        ({"extra": 1}, "malformed"),
    ],
)
def test_bad_reports_are_rejected_with_a_reason(changes, reason):
    good, bad = batch(), batch(1, **changes)
    received = Collector(MADE).receive(bad + good[1:])
    assert received.rejected == {reason: 1}
    assert received.examples == {reason: 0}
    assert len(received.reports) == 2


def test_duplicates_and_replays_are_told_apart():
    collector = Collector(MADE)
    records = batch(3)
    assert collector.receive(records + records[:2]).rejected == {"duplicated": 2}
    assert collector.receive(records).rejected == {"replayed": 3}
    assert collector.receive(batch(3, round=1)).rejected == {}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(json_values | st.fixed_dictionaries(dict.fromkeys(batch(1)[0], json_values)), max_size=6))
def test_nothing_in_a_batch_can_crash_the_collector(records):
    received = Collector(MADE).receive(records)
    assert len(received.reports) + sum(received.rejected.values()) == len(records)


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
@pytest.mark.parametrize("many", [False, True])
def test_files_carry_reports_unchanged(tmp_path, ending, many):
    query = KernelDensity.grid(low=(0, 0), high=(4, 4), shape=(5, 5), bandwidth=1.0) if many else QUERY
    points = np.random.default_rng(0).normal(2.0, 1.0, (50, 2)) if many else np.linspace(0.0, 200.0, 50)
    sent = report(points, query, Geo(1, per=2) if many else PRICE)
    path = tmp_path / f"reports.{ending}"
    assert write(path, sent.mechanism, [sent]) == 50
    head, records = read(path)
    made = mechanism_from(head)
    assert made.id == sent.mechanism.id
    (got,), rejected = collect(Collector(made), records)
    assert not rejected
    np.testing.assert_array_equal(got.codes, sent.codes)
    if many:
        np.testing.assert_array_equal(got.block, sent.block)
    both = estimate(got, query), estimate(sent, query)
    np.testing.assert_array_equal(both[0].value, both[1].value)


def test_reports_carry_nothing_but_the_answer():
    """A canary in the points appears nowhere in what is sent."""
    text = "".join(json.dumps(record) for record in to_records(report([123456.789], QUERY, PRICE)))
    assert "123456" not in text


def test_damaged_files_are_named(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read(tmp_path / "none.jsonl")
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"not parquet")
    with pytest.raises(DataError, match="not Parquet"):
        read(broken)
    lines = tmp_path / "lines.jsonl"
    lines.write_text("nonsense\n\n[1, 2]\n")
    head, records = read(lines)
    assert head is None
    assert collect(Collector(MADE), records)[1] == {"malformed": 3}
    with pytest.raises(DataError, match="no mechanism"):
        mechanism_from({"mechanism": {"query": 3}})
    with pytest.raises(DataError, match="no mechanism"):
        mechanism_from({"format": "sordino.geo.report", "version": 2, "mechanism": {"query": 3}})


# Budgets ------------------------------------------------------------------------------------------------


def test_a_budget_holds_over_queries_and_time(tmp_path):
    path = tmp_path / "device.json"
    budget = DeviceBudget(Geo(1, per=50), path)
    other = QueryMechanism.choose(Disc(centre=(0.0, 0.0), radius=10.0, width=5.0), Geo(1, per=100))
    half = QueryMechanism.choose(QUERY, Geo(0.5, per=50))
    budget.report(120.0, half)
    assert DeviceBudget(Geo(1, per=50), path).left == Geo(0.5, per=50)
    DeviceBudget(Geo(1, per=50), path).report((1.0, 2.0), other)  # 1 per 100 is 0.5 per 50
    last = DeviceBudget(Geo(1, per=50), path)
    assert last.left == Geo(0, per=50)
    with pytest.raises(BudgetExceeded, match="not enough"):
        last.report(120.0, half)
    assert len(last.log) == 2


def test_a_refused_report_costs_nothing():
    budget = DeviceBudget(Geo(1, per=50))
    with pytest.raises(DataError):
        budget.report([[1.0, 2.0, 3.0]], MADE)
    with pytest.raises(ParameterError, match="one point"):
        budget.report([1.0, 2.0], MADE)
    assert budget.left == Geo(1, per=50)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"spent": "1/0", "log": []}', '{"spent": "0", "log": [{"what": "x", "rate": "1"}]}']
)
def test_a_damaged_budget_reports_nothing(tmp_path, text):
    path = tmp_path / "device.json"
    path.write_text(text)
    with pytest.raises(LedgerError):
        DeviceBudget(Geo(1, per=50), path)


# Maps and files -------------------------------------------------------------------------------------------


def test_queries_survive_the_wire():
    for query in QUERIES.values():
        assert Query.from_dict(json.loads(json.dumps(query.to_dict()))).id == query.id
    with pytest.raises(ParameterError, match="kind"):
        Query.from_dict({"kind": "nonsense"})
    with pytest.raises(ParameterError, match="fields"):
        Query.from_dict({"kind": "threshold", "at": 1.0})


def test_points_and_names_from_files(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("id,x,y\na,1.5,2\nb,oops,4\nc\n")
    np.testing.assert_array_equal(
        read_points(path, ["x", "y"]), [[1.5, 2.0], [np.nan, 4.0], [np.nan, np.nan]]
    )
    assert read_names(path, "id") == ["a", "b", "c"]
    with pytest.raises(DataError, match="no column 'z'"):
        read_points(path, ["z"])
    with pytest.raises(DataError, match="does not exist"):
        read_points(tmp_path / "none.csv", ["x"])


def test_queries_from_words(tmp_path):
    fence = tmp_path / "fence.geojson"
    fence.write_text('{"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 0]]]}')
    with pytest.raises(ParameterError, match="degrees need a coordinate reference"):
        query_from("geofence", {"outline": str(fence), "width": "2"})
    assert len(query_from("kernel-density", {"at": "0,0;1km,0", "bandwidth": "100m"}).at) == 2
    grid = {"low": "0,0", "high": "9km,9km", "shape": "10,10", "bandwidth": "1km"}
    assert len(query_from("kernel-density", grid).at) == 100
    with pytest.raises(ParameterError, match="grid"):
        query_from("kernel-density", {"shape": "3,3"})
    assert query_from("logistic", {"weights": "1,2"}).dimension == 2
    assert length("3mi") == pytest.approx(4828.032)
    for kind, words in (
        ("threshold", {"at": "1"}),
        ("threshold", {"at": "1", "width": "2", "x": "3"}),
        ("no", {}),
    ):
        with pytest.raises(ParameterError):
            query_from(kind, words)
    with pytest.raises(ParameterError, match="distance"):
        length("far")


@pytest.mark.parametrize(
    ("package", "code"),
    [
        (
            "shapely",
            "from sordino.geo import Geofence; Geofence(outline='POLYGON ((0 0, 1 0, 1 1, 0 0))', width=1)",
        ),
        (
            "pyarrow",
            "from sordino.geo.reading import read; open('r.parquet', 'w').close(); read('r.parquet')",
        ),
    ],
)
def test_a_missing_extra_names_itself(tmp_path, package, code):
    program = f"import sys; sys.modules[{package!r}] = None\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode != 0
    assert f"needs the package {package}" in done.stderr
    assert "pip install 'sordino[geo]'" in done.stderr


def test_bad_polygons_are_refused():
    from sordino.geo import Geofence

    for outline in ("POINT (0 0)", "nonsense", "POLYGON EMPTY", "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"):
        with pytest.raises(ParameterError, match="polygon"):
            Geofence(outline=outline, width=1.0)
    assert issubclass(MissingExtra, ImportError)
