"""Hostile columns for the law, in the types of Arrow; the definition of a summary is in `sordino.testing`."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa

from sordino.lattice import RowLattice

NAN, INF = math.nan, math.inf
RNG = np.random.default_rng(20)
HALVES = [k + 0.5 for k in range(12)]
DROP = RowLattice(0, 10, missing="drop")
TEXTS = [
    "5",
    "+5",
    " 8 ",
    "1.",
    ".5",
    "1e0",
    "-1E+5",
    "1e-400",
    "1e400",
    "9" * 400,
    "4.35",
    "9007199254740993",
]
TEXTS += [
    "nan",
    "inf",
    "-Infinity",
    "0x10",
    "1_000",
    "1,5",
    "1d",
    "１",
    "8\n",
    "",
    " ",
    "e5",
    "1e",
    ".",
    "--1",
    None,
]
TEXTS += ["1 2", "\t5", "true", "1e 5", "0." + "0" * 400 + "1", '"3"', "3;4", "7,"]

COLUMNS = {
    "ties": (pa.float64(), [3.0, 3.0, 7.0, 3.0, 1.0, 7.0] * 30, DROP),
    "equal": (pa.float64(), [5.0] * 60, DROP),
    "empty": (pa.float64(), [], DROP),
    "all null": (pa.float64(), [None] * 5, DROP),
    "all null, fixed": (pa.float64(), [None] * 5, RowLattice(0, 10, missing=3)),
    "one": (pa.float64(), [4.25], DROP),
    "edges, dropped": (pa.float64(), [NAN, None, INF, -INF, -0.0, 0.0, 1e300, -1e300, 5e-324, 3.0], DROP),
    "edges, fixed": (
        pa.float64(),
        [NAN, None, INF, -INF, -0.0, 0.0, 1e300, 2.5, 5e-324],
        RowLattice(-5, 10, missing=7),
    ),
    "denormals": (pa.float64(), [5e-324, -5e-324, 2.2e-308, 1e-310, 0.5], RowLattice(0, 1, missing="drop")),
    "smallest steps": (pa.float64(), [5e-324, 1e-300, 3e-289, 7e-289, 1e-288], RowLattice(0, 1e-288)),
    "huge": (pa.float64(), [1e308, -1e308, 1e289, 0.0, 1e-300, -7e288], RowLattice(-1e289, 1e289)),
    "halves": (
        pa.float64(),
        [*HALVES, *(math.nextafter(h, 0) for h in HALVES), *(math.nextafter(h, 99) for h in HALVES)],
        RowLattice(0, 10, step=1),
    ),
    "odd bounds": (pa.float64(), RNG.normal(0.3, 2, 500).tolist(), RowLattice(-math.pi, math.e)),
    "step that is not a power of two": (
        pa.float64(),
        RNG.normal(3, 2, 500).tolist(),
        RowLattice(0.1, 9.7, step=0.01),
    ),
    "40 bits": (pa.float64(), RNG.normal(3, 2, 500).tolist(), RowLattice(-3, 8, bits=40, missing="drop")),
    "50 bits": (pa.float64(), RNG.normal(3, 2, 500).tolist(), RowLattice(0, 8, bits=50)),
    "steps above one": (
        pa.float64(),
        [k * 128.0 + d for k in range(40) for d in (0, 1, -1)],
        RowLattice(0, 2.0**40),
    ),
    "many rows": (pa.float64(), RNG.normal(5, 2, 5000).tolist(), DROP),
    "float32": (pa.float32(), [float(np.float32(v)) for v in RNG.normal(3, 2, 200)], DROP),
    "int64": (pa.int64(), [2**63 - 1, -(2**63), 0, None, 7], RowLattice(-1e19, 1e19)),
    "int64 near 2^53": (
        pa.int64(),
        [2**53 + k for k in range(-4, 5)],
        RowLattice(2.0**53 - 8, 2.0**53 + 8, step=1),
    ),
    "uint64": (pa.uint64(), [2**64 - 1, 2**63, 0, 1025, None], RowLattice(0, 2e19)),
    "int8": (pa.int8(), [-128, 127, 0, None, 5], RowLattice(-100, 100, step=1, missing="drop")),
    "bool": (pa.bool_(), [True, False, None, True], RowLattice(0, 1, step=1, missing="drop")),
    "decimal(18,3)": (
        pa.decimal128(18, 3),
        [Decimal("1.005"), Decimal("-2.675"), None, Decimal("9.999")],
        DROP,
    ),
    "decimal(38,18)": (
        pa.decimal128(38, 18),
        [Decimal(int(k)) / 10**18 for k in RNG.integers(0, 10**18, 200)],
        RowLattice(0, 1, bits=50),
    ),
    "decimal(38,0)": (  # where a cast in DuckDB rounds twice
        pa.decimal128(38, 0),
        [Decimal(2**64 + int(k)) for k in RNG.integers(0, 2**64, 400, dtype=np.uint64)],
        RowLattice(2**64, 2**65, step=2**15),
    ),
    "text": (pa.string(), TEXTS, DROP),
    "text, fixed": (pa.string(), TEXTS, RowLattice(-10, 10, missing=-3)),
}


def arrow(name):
    """The column in a table of its own, with row numbers beside it."""
    dtype, values, _ = COLUMNS[name]
    return pa.table({"x": pa.array(values, dtype), "row": pa.array(range(len(values)), pa.int64())})


def spelled(name):
    """The column as the fields of a CSV file: infinities as numbers that overflow, truth as 1 and 0."""
    return [_spelled(value) for value in COLUMNS[name][1]]


def _spelled(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(int(value))
    if value in {INF, -INF}:
        return "1e999" if value > 0 else "-1e999"
    return repr(value) if isinstance(value, float) else str(value)
