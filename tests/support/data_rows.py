"""The law of rows (`sordino.testing.row_questions`): tables of every source and hostile rows for them."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import functools
import gzip
import math
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from sordino.data import open_source, records, text_file
from sordino.testing import row_questions
from sordino.testing.row_questions import CONDITIONS, GRIDS, HOSTILE

NAN, INF = math.nan, math.inf


class Raising:
    """Everything that can be asked of it raises."""

    def _raise(self, *_):
        raise ValueError("canary")

    __eq__ = __ne__ = __hash__ = __float__ = __int__ = __index__ = __str__ = __repr__ = __bool__ = _raise
    __len__ = __iter__ = __array__ = __lt__ = __format__ = _raise
    __class__ = property(_raise)


class Lying:
    """Equal to everything, and the same in every table of hashes as 1."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(1)

    def __float__(self):
        return 1.0


class Name(str):
    """A text that compares and shows itself as it likes."""

    __slots__ = ()

    def __eq__(self, other):
        raise ValueError("canary")

    def __str__(self):
        raise ValueError("canary")

    __hash__ = str.__hash__


class Amount(int):
    def __int__(self):
        raise ValueError("canary")

    def __float__(self):
        raise ValueError("canary")


OBJECTS = [
    None, "b", "?", "1", "a", "", " 1 ", "1e400", "nan", "\ud800", "\0", "é", 1.5, 1.0, -0.0, NAN, INF, -INF, 5e-324,
    2.0**60, 10**400, -(10**400), 2**60, 2**63, -1, 0, 1, True, False, Decimal(1), Decimal("NaN"), Decimal("sNaN"),
    Decimal("Infinity"), Decimal("1e999999"), Decimal("1e-999999"), Fraction(1, 3), Fraction(10**400), 1j, b"a",
    dt.date(2020, 1, 1), dt.timedelta(1), UUID(int=5), np.float32(0.1), np.float64(1), np.longdouble("1e4000"),
    np.int8(1), np.uint64(2**63), np.bool_(True), np.datetime64("2020-01-01"), np.timedelta64(1), np.str_("a"),
    pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), [1, 2], (1,), {}, {1}, np.array([1, 2]), np.array(5), np.zeros(0),
    pl.Series([1]), pa.scalar(1), object(), int, Raising(), Lying(), Name("a"), Amount(1), range(3), "1" * 400,
]  # fmt: skip
TEXTS = [
    None, "a", "1", "01", "", " ", "1 ", "b", "é", "?", "nan", "inf", "1e400", "-1E5", "1e-400", "9" * 400, "9" * 5000,
    "8\n", "1,5", "0x10", "1_0", "１", "-", "+1", ".5", "a\0b", "\ufeff1", "\u2028", '"', "'", "\\N", "--1", "🜲",
]  # fmt: skip
FLOATS = [None, NAN, INF, -INF, -0.0, 5e-324, 1e308, -1e308, 2.0**60, 1.5, 1.0, 2.2e-308]
WHOLES = [None, 2**63 - 1, -(2**63), 0, 1, 2, -3, 2**60, 2**60 + 1, 2**53 + 1]
DECIMALS = [None, *map(Decimal, ("0.001", "-0.001", "1.000", "999999999999999.999", "-999999999999999.999"))]

TYPES = {
    "f": (pa.float64(), [1.0, 0.5, None, 2.0, 2.0**60, -3.0], FLOATS, st.floats()),
    "i": (pa.int64(), [1, 2, 2**60, 2**60 + 1, 0, None], WHOLES, st.integers(-(2**63), 2**63 - 1)),
    "b": (pa.bool_(), [True, False, None, True, True, False], [None, True, False], st.booleans()),
    "t": (pa.string(), ["a", "1", None, "01", "7.5", "b"], TEXTS, st.nothing()),
    "d": (
        pa.decimal128(18, 3),
        [Decimal("1.000"), Decimal("0.500"), None, Decimal("2.675"), Decimal("-3.000"), Decimal("7.125")],
        DECIMALS,
        st.nothing(),
    ),
    "u": (pa.int64(), [11, 12, 2**60, 2**60 + 1, 15, 16], [*WHOLES, 11, 15], st.integers(0, 20)),
    "v": (pa.string(), ["p", "q", "r", "1", "s", "01"], [*TEXTS, "p", "s"], st.nothing()),
}
"""Typed columns: Arrow type, base rows, hostile values, and a strategy for more of them."""

DERIVED = ("(f / i)", "(d * f + 3)", "log(f)", "(b - 1e300 * f)", "days(t)")
DERIVED_GROUPS = {
    "bin(f, 0, 1, 3)": ("0 to 1", "1 to 3"),
    "map(t, {'a': 'first', '1': 'second', '?': 'first'})": ("first", "second"),
    "map(v, {'p': 'p'}, 'other')": ("other", "p"),
}
COMBINED = {
    ("i", "v"): ((1, "p"), (2, "q"), (2**60, "r"), (0, "s"), (1, "s")),
    ("u", "bin(f, 0, 1, 3)"): ((12, "0 to 1"), (15, "1 to 3"), (11, "1 to 3")),
}
"""Derived columns of numbers and of groups, and combinations of keys."""

MIXED = {
    "f": ([1.0, 0.5, None, 2.0, 2.0**60, -3.0], st.floats()),
    "i": ([1, 2, 2**60, 2**60 + 1, 0, None], st.integers()),
    "b": ([True, False, None, True, True, False], st.booleans()),
    "t": (["a", "1", None, "01", "7.5", "b"], st.text()),
    "d": ([Decimal("1.5"), Fraction(1, 2), "7", True, np.float32(2), [1]], st.fractions()),
    "u": ([11, 12, 2**60, 2**60 + 1, "11", 16], st.integers(0, 20)),
    "v": (["p", "q", "r", "1", "s", "01"], st.text()),
}
"""The same for columns of objects, where any object may come."""


def base(family):
    """The columns of the base rows."""
    table = {name: (MIXED[name][0] if family.objects else TYPES[name][1]) for name in TYPES}
    kept = {name: [one if family.takes(one) else None for one in values] for name, values in table.items()}
    return {"n": list(range(1, 7)), **kept}


def hostile_rows(family):
    """Rows in which any value may be hostile, as places in lists: hypothesis would hash and print the values."""
    columns = {}
    for name in TYPES:
        more = MIXED[name][1] if family.objects else TYPES[name][3]
        listed = st.sampled_from(
            [place for place, one in enumerate(_pool(family, name)) if family.takes(one)]
        )
        drawn = more.filter(family.takes).map(lambda value: ("drawn", value))
        columns[name] = st.one_of(listed.map(lambda place: ("listed", place)), drawn, st.just(("plain", 0)))
    return st.fixed_dictionaries(columns)


def _pool(family, name):
    return OBJECTS if family.objects else TEXTS if family.texts else TYPES[name][2]


def hostile(family, drawn):
    """The row that was drawn."""
    rows = base(family)
    values = {"listed": lambda name, place: _pool(family, name)[place], "drawn": lambda _, value: value,
              "plain": lambda name, place: rows[name][place]}  # fmt: skip
    return {"n": HOSTILE, **{name: values[how](name, what) for name, (how, what) in drawn.items()}}


class Family:
    """A kind of source: how a table of these columns is made.

    Args:
        make: Columns and a folder to data that can be opened.
        objects: Whether its columns are of Python objects.
        texts: Whether its columns are all of text, so that any may come into any column.
        far: Whether it hands out no rows and reads no text as numbers.
        row: The column that orders the rows of a unit.
        takes: Which values can be put into it at all.
        around: What everything about it happens in.
    """

    def __init__(
        self,
        make,
        *,
        objects=False,
        texts=False,
        far=False,
        row="n",
        takes=lambda value: True,
        around=contextlib.nullcontext,
    ):
        self.make, self.objects, self.texts, self.far, self.row = make, objects, texts, far, row
        self.takes, self.around = takes, around

    def questions(self):
        """Every question by its name; all sources are asked the same, and may refuse."""
        found = row_questions.questions(TYPES)
        found += [("ordered", "u", name) for name in TYPES]
        found += [("numbers", name, grid) for name in DERIVED for grid in range(len(GRIDS))]
        found += [("where", name, condition) for name in DERIVED for condition in CONDITIONS]
        found += [("counts", name, keys) for name, keys in DERIVED_GROUPS.items()]
        found += [("groups", name, keys) for name, keys in (DERIVED_GROUPS | COMBINED).items()]
        found += [("where", name, ("!=", keys[0])) for name, keys in DERIVED_GROUPS.items()]
        return found + ([] if self.far else [("aligned", name, 0) for name in TYPES])

    def ask(self, data, questions):
        """What questions see: counted answers, or a refusal, and whatever is printed on the way."""
        opened = functools.cache(functools.partial(self._opened, data))
        with self.around():
            return {question: row_questions.heard(opened, question, self.row) for question in questions}

    def _opened(self, data, unit=None, row=None):
        declared = () if self.far else ("t", "d") if self.objects else ("t", "v")
        source = open_source(data, numbers=declared, unit=unit, row=row)
        assert "canary" not in repr(source)
        return source


def mapping(columns, _):
    return dict(columns)


def object_arrays(columns, _):
    return {name: np.fromiter(values, object, len(values)) for name, values in columns.items()}


def arrow(columns):
    types = {name: kind for name, (kind, *_) in TYPES.items()}
    return pa.table({name: pa.array(values, types.get(name, pa.int64())) for name, values in columns.items()})


def arrays(columns, _):
    """Masked arrays of numpy's own types; a float that is not there is NaN, a text that is not there is empty."""
    table = {"n": np.array(columns["n"])}
    for name, dtype in (("i", np.int64), ("b", bool), ("u", np.int64)):
        values = columns[name]
        filled = np.array([0 if value is None else value for value in values], dtype)
        table[name] = np.ma.masked_array(filled, mask=[value is None for value in values])
    table["f"] = np.array([NAN if value is None else value for value in columns["f"]], np.float64)
    table["d"] = np.array([NAN if value is None else float(value) for value in columns["d"]], np.longdouble)
    for name in "tv":
        table[name] = np.array(
            ["" if value is None else value for value in columns[name]], np.dtypes.StringDType()
        )
    return table


def pandas_objects(columns, _):
    return pd.DataFrame(
        {name: pd.Series(np.fromiter(v, object, len(v)), dtype=object) for name, v in columns.items()}
    )


def pandas_categories(columns, _):
    table = {"n": pd.Series(columns["n"])}
    for name, values in columns.items():
        if name == "n":
            continue
        seen = {(type(value), value): value for value in values if not pd.isna(value)}
        different, codes = list(seen.values()), {key: place for place, key in enumerate(seen)}
        kinds = pd.Index(np.fromiter(different, object, len(different)), dtype=object)
        if not kinds.is_unique:  # 1 and True are one category
            different = list(dict.fromkeys(different))
            kinds = pd.Index(np.fromiter(different, object, len(different)), dtype=object)
            codes = {key: different.index(value) for key, value in seen.items()}
        places = [-1 if pd.isna(value) else codes[type(value), value] for value in values]
        table[name] = pd.Series(pd.Categorical.from_codes(places, kinds))
    return pd.DataFrame(table)


def pandas_nullable(columns, _):
    types = {"f": "Float64", "i": "Int64", "b": "boolean", "t": "string", "v": "string", "u": "Int64"}
    table = {name: pd.Series(pd.array(columns[name], dtype=types[name])) for name in types}
    table["d"] = pd.Series(columns["d"], dtype=pd.ArrowDtype(pa.decimal128(18, 3)))
    return pd.DataFrame({"n": columns["n"], **table})


def parquet(columns, folder):
    path = folder / "rows.parquet"
    pq.write_table(arrow(columns), path)
    return str(path)


def csv_file(columns, folder, *, ending="csv"):
    """Proper records, the fields quoted where they have to be."""
    opener = gzip.open if ending.endswith("gz") else open
    with opener(folder / f"rows.{ending}", "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        fields = ([_spelled(value) for value in values] for values in columns.values())
        writer.writerows(zip(*fields, strict=True))
    return str(folder / f"rows.{ending}")


def _spelled(value):
    return "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)


def _category(value):
    """What pandas takes as a category. It makes one of equal values, of 2.0**60 and 2**60 too: then one row decides
    which of them all others hold, before anybody reads them."""
    if type(value) is Decimal:
        return value.is_finite()
    if type(value) is float and math.isfinite(value):
        return abs(value) < 2**53
    return type(value) in {str, int, float, bool, Fraction, type(None)}


def writable(value):
    """What a server takes as text."""
    return not (isinstance(value, str) and ("\0" in value or "\ud800" in value))


def _one_line(value):
    """Records over several lines are the affair of the tests of records."""
    return not (isinstance(value, str) and any(sign in value for sign in '\0\r\n"'))


@contextlib.contextmanager
def long_files(block=64):
    """Every CSV file is a long one, which is read in stretches of few bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "LONG", -1)
        patch.setattr(records, "BLOCK", block)
        yield


FAMILIES = {
    "lists": Family(mapping, objects=True),
    "object arrays": Family(object_arrays, objects=True),
    "numpy arrays": Family(arrays),
    "pandas objects": Family(pandas_objects, objects=True),
    "pandas categories": Family(pandas_categories, objects=True, takes=_category),
    "pandas nullable": Family(pandas_nullable),
    "pandas on arrow": Family(lambda columns, _: arrow(columns).to_pandas(types_mapper=pd.ArrowDtype)),
    "polars": Family(lambda columns, _: pl.from_arrow(arrow(columns))),
    "pyarrow": Family(lambda columns, _: arrow(columns)),
    "polars lazy": Family(lambda columns, _: pl.from_arrow(arrow(columns)).lazy()),
    "duckdb": Family(lambda columns, _: duckdb.connect().from_arrow(arrow(columns))),
    "parquet": Family(parquet),
    "csv": Family(csv_file, texts=True, row=None, takes=_one_line),
    "csv, long": Family(csv_file, texts=True, row=None, takes=_one_line, around=long_files),
    "csv.gz": Family(functools.partial(csv_file, ending="csv.gz"), texts=True, row=None, takes=_one_line),
}
