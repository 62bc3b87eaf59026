"""Frames of pandas, polars and pyarrow: exact conversions, and a policy by declared type alone."""

from __future__ import annotations

import datetime as dt
import math
from array import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sordino.data import open_source
from sordino.data.numbers import number
from sordino.data.table import column_of
from sordino.errors import DataError
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Cells, Condition, Request

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

GRID = RowLattice(0, 10, step=1, missing="drop")
VALUES = {
    "int": [2**63 - 1, None, -(2**63), 7],
    "float": [1.5, None, math.nan, math.inf],
    "bool": [True, None, False, True],
    "decimal": [Decimal("1.005"), None, Decimal("2.500"), Decimal("7.000")],
    "text": ["a", None, "5", "8\n"],
    "date": [dt.date(2020, 1, 1), None, None, None],
}


def frames():
    """The same table five times."""
    polars = pl.DataFrame(VALUES, schema_overrides={"decimal": pl.Decimal(20, 3)})
    arrow = polars.to_arrow()
    return {
        "polars": polars,
        "pyarrow": arrow,
        "pandas": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "mapping of series": {name: polars[name] for name in polars.columns},
        "mapping of arrow columns": {name: arrow[name] for name in arrow.column_names},
    }


@pytest.mark.parametrize(
    "kind", ["polars", "pyarrow", "pandas", "mapping of series", "mapping of arrow columns"]
)
def test_every_frame_reads_alike(kind):
    """Rows and totals on a grid that drops what is missing."""
    source = open_source(frames()[kind], numbers=("text",))
    expected = {"int": (3, 17), "float": (2, 12), "bool": (3, 2), "decimal": (3, 1 + 2 + 7), "text": (1, 5)}
    for column, answer in expected.items():
        (summary,) = source.summary(Request(column, GRID))
        assert (summary.rows, summary.total) == answer, column
    assert source.rows == 4


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "pandas", "mapping of series"])
def test_text_is_no_number_unless_declared_and_dates_never_are(kind):
    """By the type alone, before anything is read."""
    with pytest.raises(DataError, match="numbers="):
        open_source(frames()[kind]).check(Request("text", GRID))
    with pytest.raises(DataError, match="dates"):
        open_source(frames()[kind], numbers=("date",)).check(Request("date", GRID))
    with pytest.raises(DataError, match="dates"):
        open_source(frames()[kind]).check(Cells("date", ()))
    with pytest.raises(DataError, match="texts"):
        open_source(frames()[kind]).check(Cells("int", ("a",)))


def test_a_column_of_objects_is_read_value_by_value():
    """Its numbers are numbers; its texts are so only when declared, and all else is missing."""
    values = [1, "2", None, dt.date(2020, 1, 1), Decimal("4.5"), 10**400, Fraction(7, 2), [1]]
    arrays = np.fromiter(values, object, len(values))
    for data in (
        {"x": values},
        {"x": tuple(values)},
        {"x": arrays},
        pd.DataFrame({"x": pd.Series(arrays, dtype=object)}),
        pl.DataFrame({"x": pl.Series(values, dtype=pl.Object)}),
    ):
        open_source(data).check(Request("x", GRID))
        (summary,) = open_source(data).summary(Request("x", GRID))
        assert (summary.rows, summary.total) == (4, 1 + 4 + 10 + 4)
        (summary,) = open_source(data, numbers=("x",)).summary(Request("x", GRID))
        assert (summary.rows, summary.total) == (5, 1 + 2 + 4 + 10 + 4)
    with pytest.raises(DataError, match="Python objects"):
        open_source(pl.LazyFrame({"x": pl.Series(values, dtype=pl.Object)})).check(Request("x", GRID))


@pytest.mark.parametrize("first", ["a", 1, None])
def test_what_a_column_of_objects_is_does_not_follow_from_its_first_values(first):
    """Narwhals would call it text, or not, by the first hundred."""
    frame = pd.DataFrame({"x": pd.Series([first, *"bcd"], dtype=object)})
    open_source(frame).check(Request("x", GRID), Cells("x", ("a",)), Cells("x", (1,)))


def test_categories_are_read_by_what_they_are():
    """Of whole numbers, of texts, of both."""
    for values, keys, counts in (([1, 2, 1, None], (1, 2), (2, 1)), (["a", 1, "1", None], (1,), (2,))):
        frame = pd.DataFrame({"x": pd.Categorical(values)})
        assert open_source(frame).counts("x", keys) == counts
    coded = pa.table({"x": pa.array([1, 2, 1, None]).dictionary_encode()})
    assert open_source(coded).counts("x", (1, 2)) == (2, 1)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_names_that_do_not_tell_columns_apart_are_refused(frame):
    """In three lines, with what to type."""
    with pytest.raises(DataError, match=r"name.*\n    .*\n    Hint: frame"):
        open_source(frame)


def test_names_that_are_no_texts_become_texts():
    source = open_source(pd.DataFrame([[1, 2], [3, 4]]))
    assert source.summary(Request("1", GRID))[0].total == 6


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, None, 3]),
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Index([1, 3]),
        pd.array([1, None, 3], dtype="Int64"),
        pa.array([1, None, 3]),
        pa.chunked_array([[1], [None, 3]]),
        np.array([1, 3], ">i2"),
        array("d", [1, math.nan, 3]),
        np.array(["1", "3"], np.longdouble),
        range(1, 4, 2),
    ],
)
def test_one_column_comes_in_any_array(column):
    (summary,) = open_source({"x": column}).summary(Request("x", GRID))
    assert (summary.rows, summary.total) == (2, 4)


@pytest.mark.parametrize("column", ["text", b"bytes", 5, None, (i for i in range(3)), {1, 2}])
def test_what_is_no_column_is_refused_by_its_type(column):
    with pytest.raises(DataError, match="a column must be"):
        open_source({"x": column})


def test_a_number_beyond_the_doubles_warns_of_nothing():
    """Warnings are errors here, and one would tell of a single value."""
    column = np.array(["1e4000", "-1e4000", "3"], np.longdouble)
    source = open_source({"x": column, "n": [1, 2, 3]})
    assert source.summary(Request("x", GRID))[0].total == 10 + 0 + 3
    assert source.where(Condition("x", ">", 1)).rows == 2
    ordered = open_source({"x": column, "u": [1, 1, 1], "n": [1, 2, 3]}, unit=Unit("u", 1), row="x")
    assert ordered.summary(Request("n", GRID))[0].total == 2


def test_decimals_are_rounded_correctly():
    """Through text: direct casts are wrong in the last bit for a fifth of such values."""
    rng = np.random.default_rng(4)
    texts = [
        f"{a}.{b:018d}"
        for a, b in zip(rng.integers(0, 10**6, 500), rng.integers(0, 10**18, 500), strict=True)
    ]
    column = pa.array([Decimal(text) for text in texts], pa.decimal128(38, 18))
    assert column_of(pa.chunked_array([column])).numeric().tolist() == [float(text) for text in texts]


def test_masked_arrays_keep_their_mask():
    """numpy would drop it silently."""
    column = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    (summary,) = open_source({"x": column}).summary(Request("x", GRID))
    assert (summary.rows, summary.total) == (2, 4)


@pytest.mark.parametrize(
    "text", ["nan", "inf", "0x10", "1_000", "1,5", "1d", "１", "8\n", "", " ", "e5", "1e", ".", "--1"]
)
def test_what_is_no_number_by_the_grammar(text):
    """Though Python or an engine would take some of them."""
    assert math.isnan(number(text))


@pytest.mark.parametrize(
    "text", ["5", "+5", " 8 ", "1.", ".5", "1e5", "-1E+5", "1e-400", "1e400", "0" * 30 + "1"]
)
def test_what_is_a_number_by_the_grammar(text):
    """As Python reads it."""
    assert number(text) == float(text)


def test_conditions_fit_their_columns():
    """Missing rows fulfil nothing; a condition of the wrong type is refused by the schema."""
    source = open_source(frames()["polars"])
    request = Cells("text", ("a", "5"))
    assert source.where(Condition("int", "!=", 7)).summary(request)[0].rows == 2
    assert source.where(Condition("text", "!=", "a")).summary(request)[0].counts == (0, 1)
    assert source.where(Condition("text", ">", 4)).summary(request)[0].counts == (0, 1)
    assert source.where(Condition("text", "in", ("a", "5"))).rows == 2
    assert source.where(Condition("decimal", ">=", 2.5)).rows == 2
    for wrong in (Condition("int", "==", "a"), Condition("date", ">", 3), Condition("nobody", ">", 3)):
        with pytest.raises(DataError):
            source.where(wrong)
    for wrong in (Condition("text", "<", "a"), Condition("int", "in", 3), Condition("int", "==", (1, 2))):
        with pytest.raises(ValueError, match="condition"):
            source.where(wrong)


def test_what_cannot_be_read_is_refused():
    """With a hint."""
    for data in (object(), 3, np.zeros((2, 2))):
        with pytest.raises(DataError, match=r"sd\.open"):
            open_source(data)
