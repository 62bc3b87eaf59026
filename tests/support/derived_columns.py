"""A hostile table for derived columns, formulas over it, and the definition of each value in Python's fractions."""

from __future__ import annotations

import datetime as dt
import math
import re
from fractions import Fraction
from itertools import pairwise, product

import pyarrow as pa

from sordino.lattice import RowLattice
from sordino.reading.requests import Rank, Request, Window

NUMBERS = [
    None, math.nan, 0.0, -0.0, 1.0, -1.0, 3.0, 0.1, 1e-160, -1e-160, 5e-324, 1e160, -1e308, math.inf, -math.inf,
    1e150, 7.5,
    2.0**500, 2.0**-500, 2.0**-501, 65.0, 18.0, math.nextafter(18, 0), math.sqrt(2), math.nextafter(1, 2), 1e-5,
]  # fmt: skip
DATES = [
    None,
    "1970-01-01",
    "2000-02-29",
    "1900-03-01",
    "0001-01-01",
    "9999-12-31",
    "2026-11-18",
    "1969-12-31",
]
TEXTS = [
    *DATES,
    "2001-02-29",
    "2026-13-01",
    "2026-1-1",
    "2026-01-00",
    "yesterday",
    "",
    " 2026-11-18 ",
    "２026-11-18",
]
STATES = [None, "CA", "NY", "TX", "ca", "", "C'A", "é"]
PAIRS = list(product(NUMBERS, NUMBERS))

TABLE = {
    "x": [a for a, _ in PAIRS],
    "y": [b for _, b in PAIRS],
    "k": [None if i % 7 == 3 else i * 37 % 11 - 5 for i in range(len(PAIRS))],
    "s": [STATES[i * 5 % len(STATES)] for i in range(len(PAIRS))],
    "d": [DATES[i * 3 % len(DATES)] for i in range(len(PAIRS))],
    "e": [TEXTS[i * 5 % len(TEXTS)] for i in range(len(PAIRS))],
    "household size": [i % 4 for i in range(len(PAIRS))],
    "u": [i * 7 % 50 for i in range(len(PAIRS))],
    "row": [i * 31 % len(PAIRS) for i in range(len(PAIRS))],
}
KINDS = {
    "x": pa.float64(), "y": pa.float64(), "k": pa.int64(), "s": pa.string(), "d": pa.date32(), "e": pa.string(),
    "household size": pa.int64(), "u": pa.int64(), "row": pa.int64(),
}  # fmt: skip
FORMULAS = [
    "(x / y)",
    "(x * y)",
    "(x + y)",
    "(x - y)",
    "(x * y / (x + y) - 3)",
    "(1 / k)",
    "(k / col('household size'))",
    "log(x)",
    "log(x / y)",
    "(log(x * x) / 2.302585092994046)",
    "days(d)",
    "(days(d) - days(e))",
    "(x)",
    "(0.1 * k - 1e300)",
]
GROUPS = [
    "bin(x, 0, 18, 65)",
    "bin(x / y, -1, 0, 1e-160, 1e160)",
    "map(s, {'CA': 'west', 'NY': 'east', \"C'A\": 'west'})",
    "map(s, {'CA': 'west', 'é': 'accent'}, 'elsewhere')",
    "bin(days(d), -1e9, 0, 11016, 1e9)",
]
GRIDS = (
    RowLattice(-100, 100, missing="drop"),
    RowLattice(-1e6, 3e6, missing=7),
    RowLattice(-1e160, 1e160, bits=44),
)


def table():
    """The table in Arrow."""
    columns = {
        name: [None if v is None else dt.date.fromisoformat(v) for v in values] if name == "d" else values
        for name, values in TABLE.items()
    }
    return pa.table(
        {name: pa.array(values, KINDS[name], from_pandas=False) for name, values in columns.items()}
    )


def asked(formula):
    """What is compared."""
    return [Request(formula, grid, (Window(Rank(1, 2), 4),), cuts=(3, grid.last // 2)) for grid in GRIDS]


def ordinary(value):
    """A double of the sizes that are computed with."""
    if value is None or math.isnan(value):
        return None
    if abs(value) > 2.0**500:
        return math.copysign(2.0**500, value)
    return 0.0 if abs(value) < 2.0**-500 else value


def rounded(value):
    """The double nearest to a fraction, in those sizes."""
    if abs(value) > 2**500:
        return math.copysign(2.0**500, value)
    return ordinary(value.numerator / value.denominator)


def defined(formula, row):
    """The value of a formula in one row: exact arithmetic, rounded once at each operation; None where there is none."""
    if formula.op == "number":
        return ordinary(formula.number)
    if formula.op == "col":
        value = row[formula.name]
        return None if value is None else ordinary(float(value))
    if formula.op == "days":
        try:
            text = row[formula.parts[0].name]
            if text is None or not re.fullmatch(r"(?a)\d{4}-\d\d-\d\d", text):
                return None
            return float(dt.date.fromisoformat(text).toordinal() - 719163)
        except ValueError:
            return None
    if formula.op == "map":
        text = row[formula.parts[0].name]
        return None if text is None else dict(formula.pairs).get(text, formula.otherwise)
    parts = [defined(part, row) for part in formula.parts]
    if any(part is None for part in parts):
        return None
    if formula.op == "log":
        return ordinary(math.log(parts[0])) if parts[0] > 0 else None
    if formula.op == "bin":
        cells = zip(pairwise(formula.edges), formula.labels, strict=True)
        return next((label for (low, high), label in cells if low <= parts[0] < high), None)
    left, right = map(Fraction, parts)
    if formula.op == "/":
        return None if right == 0 else rounded(left / right)
    return rounded({"+": left + right, "-": left - right, "*": left * right}[formula.op])
