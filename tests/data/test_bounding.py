"""Contribution bounding in memory: the rule in plain Python, and what privacy needs of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.data import open_source
from sordino.data.bounding import bounded, hashed
from sordino.errors import DataError
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Cells, Columns, Condition, Request

GRID = RowLattice(0, 1000, step=1, missing="drop")


def kept(units, max_rows):
    """The definition: number the rows of each unit, keep those with the smallest hashes."""
    stay = []
    for unit in set(units) - {None}:
        rows = [row for row, other in enumerate(units) if other == unit]
        order = sorted(range(1, len(rows) + 1), key=lambda j: (hashed(j), j))
        stay += [rows[j - 1] for j in order[:max_rows]]
    return sorted(stay)


@given(st.lists(st.sampled_from([0, 1, 2, None]), max_size=40), st.integers(1, 5))
@settings(max_examples=200, deadline=None)
def test_rows_are_kept_by_the_definition(units, max_rows):
    """Rows without a unit are left out."""
    codes = np.array([-1 if unit is None else unit for unit in units], np.int64)
    assert bounded(codes, max_rows).tolist() == kept(units, max_rows)


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(1, 3), st.data())
@settings(max_examples=200, deadline=None)
def test_what_is_kept_of_one_person_does_not_depend_on_another(units, max_rows, data):
    """Without a's rows, or with more of them anywhere, the same rows of b and c stay."""

    def others(units):
        rows = [f"{unit}{units[:row].count(unit)}" for row, unit in enumerate(units)]
        source = open_source(
            {"u": np.array(units, object), "row": np.array(rows, object)}, unit=Unit("u", max_rows)
        )
        asked = Cells("row", tuple(f"{u}{i}" for u in "bc" for i in range(30)))
        return source.summary(asked)[0].counts

    changed = [unit for unit in units if unit != "a"]
    for _ in range(data.draw(st.integers(0, 5))):
        changed.insert(data.draw(st.integers(0, len(changed))), "a")
    assert others(units) == others(changed)


def test_the_public_salt_never_changes():
    """A release is repeatable only while the same rows stay: docs/reference/data.md states the numbers."""
    assert [hashed(j) for j in (1, 2, 2**31)] == [
        (1_640_531_527 * j + 1_013_904_223) % (2**31 - 1) for j in (1, 2, 1)
    ]


def test_the_rule_sees_no_value():
    """Other values on the same rows: the same rows stay."""
    units = np.random.default_rng(1).integers(0, 40, 300)
    places = {}
    for seed in (2, 3):
        values = np.random.default_rng(seed).permutation(300)
        (summary,) = open_source({"u": units, "x": values}, unit=Unit("u", 3)).summary(
            Columns(("x",), (GRID,))
        )
        inverse = np.argsort(values)
        places[seed] = inverse[summary.codes[0]].tolist()
    assert places[2] == places[3]
    assert places[2] == kept(units.tolist(), 3)


def test_the_order_is_where_missing_bounding_split():
    """A person's limit counts rows that pass and have a value, and counts them over all groups together."""
    x = [math.nan, 5.0, 5.0, 5.0, 5.0]
    data = {"u": [1, 1, 1, 1, 1], "x": x, "g": np.array(list("aabba")), "year": [1, 1, 1, 1, 2]}
    source = open_source(data, unit=Unit("u", 2))
    request = Request("x", GRID)
    assert source.summary(request)[0].rows == 2
    assert source.where(Condition("year", "==", 2)).summary(request)[0].rows == 1
    assert source.where(Condition("year", "==", 1)).summary(request)[0].rows == 2
    assert sum(group[0].rows for group in source.summaries("g", ("a", "b"), request)) == 2
    fixed = Request("x", RowLattice(0, 1000, step=1, missing=7))
    assert open_source(data, unit=Unit("u", 5)).summary(fixed)[0].total == 27
    assert source.summary(Cells("g", ("a", "b")))[0].rows == 2


def test_a_row_identifier_orders_the_rows():
    """Then the order of the table does not matter."""
    rng = np.random.default_rng(6)
    data = {"u": rng.integers(0, 9, 200), "x": rng.integers(0, 1000, 200), "id": rng.permutation(200)}
    order = rng.permutation(200)
    mixed = {name: column[order] for name, column in data.items()}
    totals = {
        open_source(table, unit=Unit("u", 4), row="id").summary(Request("x", GRID))[0].total
        for table in (data, mixed)
    }
    assert len(totals) == 1
    plain = {
        open_source(table, unit=Unit("u", 4)).summary(Request("x", GRID))[0].total for table in (data, mixed)
    }
    assert len(plain) == 2


def test_a_row_without_an_identifier_does_not_round_those_of_others():
    """Identifiers beyond the doubles stay apart, whoever has none; a row without one comes last in its unit."""
    for gap in (False, True):
        rows = np.ma.masked_array([2**60 + 1, 2**60, 5], mask=[False, False, gap])
        data = {"u": ["a", "a", "b"], "x": [1, 2, 3], "row": rows}
        source = open_source(data, unit=Unit("u", 1), row="row")
        assert source.summary(Request("x", GRID))[0].total == 2 + 3


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        (np.array(["a", "a", "b", "b"]), 2),
        (np.array(["a", None, "b", "b"], object), 2),
        (np.array([2**60, 2**60 + 1, 2**60, 2**60 + 2]), 3),
        (np.ma.masked_array([2**60, 2**60 + 1, 7, 7], mask=[0, 0, 1, 0]), 3),
        (np.array([[1], {}, (1,), None], object), 0),
        ([7, 7.0, "7", 1.5], 2),
        ([2**60, 2**60 + 1, 2.0**60, None], 2),
        ([True, 1, np.int8(1), math.nan], 1),
    ],
)
def test_units_of_every_type(column, rows):
    """Texts, whole numbers beyond the doubles, and objects by their text or whole number; others have no unit."""
    source = open_source({"u": column, "x": np.ones(4)}, unit=Unit("u", 1))
    assert source.summary(Request("x", GRID))[0].rows == rows


def test_a_unit_that_is_not_there_is_refused():
    """Before anything is read."""
    with pytest.raises(DataError, match="must exist"):
        open_source({"x": [1.0]}, unit=Unit("u")).check(Request("x", GRID))
    with pytest.raises(DataError, match="dates"):
        open_source({"x": np.array(["2020-01-01"], "datetime64[D]")}, unit=Unit("x")).check()
    with pytest.raises(DataError, match="floating-point"):
        open_source({"x": np.array([1.0])}, unit=Unit("x")).check()
    with pytest.raises(DataError, match="row identifier"):
        open_source({"x": [1], "r": np.array(["a"])}, unit=Unit("x"), row="r").check()


def test_a_source_keeps_its_own_unit():
    """Opened again with the same unit it is itself; with another it is refused."""
    source = open_source({"x": [1.0], "u": [1]}, unit=Unit("u", 2))
    assert open_source(source) is source
    assert open_source(source, unit=Unit("u", 2)) is source
    assert source.unit == Unit("u", 2)
    for wrong in ({"unit": Unit("u", 3)}, {"row": "x"}, {"numbers": ("x",)}):
        with pytest.raises(DataError, match="its own unit"):
            open_source(source, **wrong)
