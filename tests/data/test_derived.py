"""Derived columns: by their definition, from every source to the bit, row by row, and refused before the debit."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sordino as sd
from sordino.data import open_source, steps
from sordino.data.derived import derived_column
from sordino.errors import DataError, ParameterError
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.formula import Formula, col
from sordino.reading.requests import Cells, Condition, Request
from sordino.testing.source_reading import shown
from tests.data.test_law import SOURCES, csv_file
from tests.support.derived_columns import FORMULAS, GROUPS, TABLE, asked, defined, table

ROWS = [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)]
HALF = slice(0, None, 3)


def computed(text, values=None):
    """What numpy makes of a formula, None where there is nothing."""
    source = open_source(table() if values is None else values)
    formula, column = Formula.read(text), source._whole(text)
    if formula.labels is None:
        return [None if math.isnan(one) else one for one in column.numeric().tolist()]
    absent = np.zeros(len(column), bool) if column.absent is None else column.absent
    places = column.numeric()[:0] if not len(column) else np.where(absent, 0, column.numeric())
    return [None if no else formula.labels[int(at)] for at, no in zip(places, absent, strict=True)]


@pytest.mark.parametrize("text", [*FORMULAS, *GROUPS])
def test_values_are_those_of_the_definition(text):
    formula = Formula.read(text)
    assert Formula.read(formula.text) == formula
    for row, found in zip(ROWS, computed(text), strict=True):
        wanted = defined(formula, row)
        if "log" in text and wanted is not None:
            assert found == pytest.approx(wanted, rel=1e-14, abs=1e-300)
        else:
            assert found == wanted, row


def test_a_planted_error_is_noticed(monkeypatch):
    """A bound of sizes that is off, and a quotient by zero that is there."""
    monkeypatch.setattr(steps, "LARGEST", 2.0**499)
    with pytest.raises(AssertionError):
        test_values_are_those_of_the_definition("(x * y)")


def in_turns(texts):
    """Every source with a third of the formulas and every formula from a third of the sources; the others are slow."""
    return [
        pytest.param(source, text, marks=[] if (one + other) % 3 == 0 else [pytest.mark.slow])
        for one, source in enumerate(SOURCES)
        for other, text in enumerate(texts)
    ]


@pytest.mark.few(14)
@pytest.mark.parametrize(("source", "text"), in_turns(FORMULAS))
def test_every_source_derives_alike(source, text, tmp_path):
    """Summaries, whole and by groups; other columns are what they were."""
    one, two = open_source(table()), open_source(SOURCES[source](table(), tmp_path))
    two.check(*asked(text))
    assert list(map(shown, one.summary(*asked(text)))) == list(map(shown, two.summary(*asked(text))))
    plain = Request("x", RowLattice(0, 10))
    assert shown(one.summary(plain)[0]) == shown(two.summary(plain)[0])


@pytest.mark.few(5)
@pytest.mark.parametrize(("source", "text"), in_turns(GROUPS))
def test_every_source_groups_alike(source, text, tmp_path):
    """Groups, counts and conditions of bins and mappings, alone and combined with a column of keys."""
    one, two = open_source(table()), open_source(SOURCES[source](table(), tmp_path))
    labels = Formula.read(text).labels
    request = asked("(x / y)")[0]
    for by, keys in (
        (text, labels),
        (("household size", text), tuple((k, label) for label in labels for k in (1, 3))),
    ):
        pairs = zip(one.summaries(by, keys, request), two.summaries(by, keys, request), strict=True)
        assert all(shown(left) == shown(right) for (left,), (right,) in pairs)
    assert (
        one.counts(text, labels)
        == two.counts(text, labels)
        == tuple(sum(found == label for found in computed(text)) for label in labels)
    )
    for condition in (("==", labels[0]), ("!=", labels[0]), ("in", labels[:2])):
        asked_for = Condition(text, *condition)
        left, right = one.where(asked_for), two.where(asked_for)
        assert shown(left.summary(request)[0]) == shown(right.summary(request)[0])
        wanted = {
            "==": lambda v: v == labels[0],
            "!=": lambda v: v not in (None, labels[0]),
            "in": lambda v: v in labels[:2],
        }
        assert left.rows == right.rows == sum(map(wanted[condition[0]], computed(text)))


@pytest.mark.few(2)
@pytest.mark.parametrize("source", ["pyarrow", "pandas", "polars lazy", "parquet"])
def test_units_are_bounded_before_and_conditions_may_derive(source, tmp_path):
    """A division by zero is a missing number: dropped before a person's rows are counted."""
    data = SOURCES[source](table(), tmp_path)
    found = []
    for one in (table(), data):
        opened = open_source(one, unit=Unit("u", 3), row="row")
        left = opened.where(Condition("(x / y)", ">", 0.5))
        found.append(list(map(shown, left.summary(*asked("(y / x)"), *asked("log(x)")[:1]))))
    assert found[0] == found[1]


@pytest.mark.parametrize("text", [*FORMULAS, *GROUPS])
def test_a_row_is_derived_from_itself_alone(text):
    """Whatever rows are beside it, in whatever order: Law 1."""
    whole = computed(text)
    order = np.random.default_rng(3).permutation(len(whole))[:200]
    part = computed(text, table().take(order))
    assert [whole[place] for place in order.tolist()] == part
    for place in order[:5].tolist():
        assert computed(text, table().take([place])) == [whole[place]]


def test_text_files_derive_as_tables_do(tmp_path):
    """A CSV file holds texts alone: numbers by the grammar, dates as they are written."""
    names = ["x", "y", "k", "s", "d", "e"]
    columns = [
        ["" if v is None else v if isinstance(v, str) else repr(v) for v in TABLE[name]] for name in names
    ]
    plain = [c if c not in ("inf", "-inf", "nan") else "" for column in columns for c in column]
    columns = [plain[i * len(ROWS) : (i + 1) * len(ROWS)] for i in range(len(names))]
    source = open_source(csv_file(tmp_path / "t.csv", names, zip(*columns, strict=True)))
    fine = [
        {n: None if t == "" else float(t) if n in "xyk" else t for n, t in zip(names, row, strict=True)}
        for row in zip(*columns, strict=True)
    ]
    for text in [one for one in [*FORMULAS, *GROUPS] if "size" not in one and "log" not in one]:
        formula, column = Formula.read(text), source._whole(text)
        for row, value, absent in zip(
            fine,
            column.numeric().tolist(),
            np.zeros(len(ROWS), bool) if column.absent is None else column.absent,
            strict=True,
        ):
            wanted = defined(formula, row)
            if formula.labels is not None:
                assert (None if absent else formula.labels[int(value)]) == wanted
            else:
                assert (None if math.isnan(value) else value) == wanted


def test_objects_are_derived_value_by_value():
    """Lists hold anything; nothing of a value is called that a class could replace."""
    later = dt.datetime(2000, 1, 2, 3)  # noqa: DTZ001
    values = [dt.date(2000, 1, 1), later, pd.Timestamp("2000-01-03 04:00"), "2000-01-04", 5, None,
              dt.datetime(2000, 1, 1, tzinfo=dt.UTC), pd.NaT, object()]  # fmt: skip
    found = computed("days(x)", {"x": values})
    assert found == [10957.0, 10958.0, 10959.0, 10960.0, None, None, None, None, None]
    assert computed("(x / 2)", {"x": [1, "2", None, 2.5, True]}) == [0.5, None, None, 1.25, 0.5]
    assert computed("map(x, {'1': 'one'})", {"x": [1, "1", None, "2"]}) == [None, "one", None, None]


def test_the_logarithm_is_right_to_one_unit_of_its_last_place():
    rng = np.random.default_rng(7)
    some = np.concatenate(
        [
            np.exp(rng.uniform(-340, 340, 20_000)),
            1 + rng.uniform(-1, 1, 5000) * 2.0 ** -rng.integers(1, 52, 5000),
        ]
    )
    found = derived_column(Formula.read("log(x)"), None, lambda _: some).numeric()
    wanted = np.array([math.log(one) for one in some])
    assert np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted) + 1e-300)) <= 1


TIMES = pl.DataFrame(
    {
        "z": [dt.datetime(2000, 1, 1, tzinfo=dt.UTC)],
        "w": [dt.time(3)],
        "f": [1.5],
        "s": ["a"],
        "d": [dt.date(2000, 1, 1)],
    }
)
REFUSED = {
    "no such column": ("(f / nobody)", "must exist"),
    "a text": ("(f / s)", "must hold numbers"),
    "a date as a number": ("(f / d)", "must hold numbers"),
    "days of a number": ("days(f)", "column of dates"),
    "days of a time with a zone": ("days(z)", "column of dates"),
    "days of a time": ("days(w)", "column of dates"),
    "a mapping of numbers": ("map(f, {'a': 'b'})", "column of text"),
    "numbers alone": ("(1 + 2)", "made of columns"),
    "a constant logarithm": ("(f / log(1))", "of columns"),
    "a constant zero": ("(f / 0)", "divisor"),
    "a constant that is zero": ("(f / (1 - 1))", "divisor"),
    "Python": ("(__import__('os').system('true'))", "readable"),
    "an attribute": ("(f.real)", "readable"),
    "a power": ("(f ** 2)", "readable"),
    "an unknown function": ("(exp(f))", "readable"),
    "groups as numbers": ("(bin(f, 0, 1) + 1)", "no numbers"),
    "edges that fall": ("bin(f, 1, 0)", "increase"),
    "too deep": ("(" * 500 + "f" + ")" * 500, "readable"),
    "too long": ("(" + "+".join(["f"] * 300) + ")", "readable"),
}  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_derived_is_refused_before_the_debit(case, lazy):
    text, words = REFUSED[case]
    people = sd.open(TIMES.lazy() if lazy else TIMES, budget=sd.Pure(3), neighbors="add-remove-one")
    with pytest.raises((DataError, ParameterError), match=words):
        people.release(sd.Median(text, low=0, high=1), sd.Pure(1))
    assert people.remaining == sd.Pure(3)


def test_keys_of_derived_columns():
    """Own groups by default; numbers are no keys, and a key that is no group could match no row."""
    people = sd.open({"age": [5.0, 30.0, 70.0, 200.0], "s": ["CA", "NY", "CA", None]}, budget=sd.Pure(1e6),
                     neighbors="add-remove-one")  # fmt: skip
    ages, states = sd.col("age").bins(0, 18, 65, 120), sd.col("s").mapped({"CA": "west", "NY": "east"})
    found = people.release_by(ages, None, sd.Count("age"), sd.Pure(1e5))
    assert found.groups == {"0 to 18": 1, "18 to 65": 1, "65 to 120": 1}
    both = people.release_by([ages, states], {states: ["west"]}, sd.Count("age"), sd.Pure(1e5))
    assert both.groups == {("0 to 18", "west"): 1, ("18 to 65", "west"): 0, ("65 to 120", "west"): 1}
    left = people.remaining
    for by, keys in ((ages, ["18-65"]), (sd.col("age") / 2, [1]), (states, ["CA"]), (["s", ages], None)):
        with pytest.raises(sd.SordinoError):
            people.release_by(by, keys, sd.Count("age"), sd.Pure(1))
    with pytest.raises(DataError, match=r"whole numbers or text|must exist"):
        sd.open({"s": ["a"], "x": [1]}, budget=sd.Pure(1), unit=sd.Unit("map(s, {'a': 'b'})")).release(
            sd.Count("x"), sd.Pure(1)
        )
    assert people.remaining == left


def test_a_rate_and_a_geometric_mean_are_one_line():
    rng = np.random.default_rng(4)
    income, size = rng.lognormal(10, 0.5, 4000), rng.integers(0, 5, 4000)
    people = sd.open({"income": income, "size": size}, budget=sd.Pure(100))
    rate = people.release(
        sd.Mean(sd.col("income") / sd.col("size"), low=0, high=100_000, missing=0), sd.Pure(40)
    )
    geometric = math.exp(people.release(sd.Mean(sd.col("income").log(), low=0, high=20), sd.Pure(40)))
    assert float(rate) == pytest.approx(
        np.where(size > 0, income / np.maximum(size, 1), 0).clip(0, 100_000).mean(), rel=0.01
    )
    assert geometric == pytest.approx(math.exp(np.log(income).mean()), rel=0.01)
    assert "mean (income / size)" in repr(rate)


def test_a_column_of_that_very_name_comes_first():
    source = open_source({"(a / b)": np.array([3.0]), "a": np.array([1.0]), "b": np.array([2.0])})
    assert source.summary(Request("(a / b)", RowLattice(0, 10, step=1)))[0].total == 3
    assert col("(a / b)").text == "(col('(a / b)'))"
    assert source.summary(Request("(col('(a / b)') * 2)", RowLattice(0, 10, step=1)))[0].total == 6
    source.check(Cells("bin(a, 0, 5)", ("0 to 5",)))
