"""Where reference vectors come from, and how their names map to statistics."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from sordino.data.memory import Memory
from sordino.privacy import Neighbors
from sordino.statistics.count_above import CountAbove
from sordino.statistics.interquantile_range import InterquantileRange
from sordino.statistics.maximum import Maximum
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median
from sordino.statistics.minimum import Minimum
from sordino.statistics.quantile import Quantile
from sordino.statistics.sum import Sum
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.variance import Variance
from sordino.statistics.winsorized_mean import WinsorizedMean
from tests.support.places import SHARED, TESTS

FULL = SHARED / "reference"
COPIED = TESTS / "statistics" / "vectors"
RELATION = {"swap": Neighbors.REPLACE_ONE, "addrem": Neighbors.ADD_REMOVE_ONE}


def vectors(name: str, *, full: bool = True) -> list:
    """The cases of one file: all of them, or the few that live beside the tests."""
    file = FULL / f"{name}.json" if full else COPIED / f"{name}.json"
    if not file.exists():
        return []
    return json.loads(file.read_text())["cases"]


def both(name: str, keep) -> list:
    """Parameters from the copied few and, where they are there, from all vectors."""
    found = []
    for full in (False, True):
        mark = "" if full else "copy-"
        found += [pytest.param(case, id=mark + case["id"]) for case in vectors(name, full=full) if keep(case)]
    return found


def statistic(case: dict):
    """The statistic that a vector speaks of, on the lattice of its decimals."""
    name, params = case["statistic"], case.get("params", {})
    n = len(case["x"])
    common = {
        "low": float(case["a"]),
        "high": float(case["b"]),
        "step": Fraction(1, 10_000),
        "neighbors": RELATION[case["neighbouring"]],
    }
    if name == "trimmed_mean_1":
        params = {"m": 1}
    if name.startswith("quantile_ceil"):
        return Quantile("x", q=Fraction(name.rsplit("_", 1)[1]), **common)
    if name.startswith("quantile_type7"):
        return Quantile("x", q=Fraction(name.rsplit("_", 1)[1]), rule="interpolated", **common)
    if name == "count_above":
        return CountAbove("x", threshold=float(params["threshold"]), neighbors=common["neighbors"])
    if name == "order_statistic":
        return Minimum("x", shift=params["r"] - 1, **common)
    if name == "interquantile_range":
        return InterquantileRange(
            "x", lower=Fraction(params["r1"], n), upper=Fraction(params["r2"], n), **common
        )
    if name == "variance_population":
        return Variance("x", envelope="exact", **common)
    if name.startswith("trimmed_mean"):
        return TrimmedMean("x", trim=Fraction(params["m"], n), **common)
    if name == "winsorized_mean":
        return WinsorizedMean("x", trim=Fraction(params["m"], n), **common)
    kind = {"median_ceil": Median, "mean": Mean, "sum": Sum, "min": Minimum, "max": Maximum}[name]
    return kind("x", **common)


def read(description, rows, depth: int):
    """Read a list of numbers."""
    source = Memory({"x": [float(x) for x in rows]})
    return description.read(*source.summary(description.request(depth=depth))).open()


def close(found, expected, tolerance: float = 1e-11) -> bool:
    """Equal to 1e-11 relative."""
    a, b = Fraction(found), Fraction(expected)
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b))
