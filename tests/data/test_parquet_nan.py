"""NaN in a Parquet file is a missing number, whatever the statistics of the file say of its smallest and largest."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sordino.data import open_source
from sordino.data.memory import Memory
from sordino.lattice import RowLattice
from sordino.reading.requests import Condition, Request

COLUMNS = {
    "infinite": [1.0, math.nan, 2.0, math.nan, math.inf],
    "finite": [1.0, math.nan, 2.0, math.nan, 3.0],  # smallest and largest say that no row is NaN
    "constant": [5.0, math.nan, 5.0, math.nan, 5.0],
}


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("source", ["file", "relation", "view"])
def test_nan_is_missing_in_a_parquet_file(tmp_path, source, column, kind):
    """In a file of ours, and in a relation of the caller's own connection, whose settings are not ours."""
    values = np.array(COLUMNS[column] * 50, kind)
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"y": values, "k": np.arange(250) % 2}), path)
    connection = duckdb.connect()
    if source == "view":
        connection.execute(f"create view people as from '{path}'")
    there = open_source(
        {
            "file": lambda: str(path),
            "relation": lambda: connection.sql(f"from '{path}'"),
            "view": lambda: connection.table("people"),
        }[source]()
    )
    here = Memory({"y": values, "k": np.arange(250) % 2})
    for missing in ("drop", 0, 7):
        request = Request("y", RowLattice(0, 10, step=1, missing=missing), cuts=(3,))
        for one, other in (
            (here.summary(request), there.summary(request)),
            *zip(here.summaries("k", (0, 1), request), there.summaries("k", (0, 1), request), strict=True),
        ):
            assert [(s.rows, s.total, s.below) for s in one] == [(s.rows, s.total, s.below) for s in other]
        assert here.summary(request)[0].rows == (150 if missing == "drop" else 250)
    for condition in (Condition("y", ">=", 1.5), Condition("y", "!=", 2.0), Condition("(y * 2)", "<", 1e9)):
        assert here.where(condition).rows == there.where(condition).rows
