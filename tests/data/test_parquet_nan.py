"""NaN in a Parquet file is a missing number, whatever the statistics of the file say of its smallest and largest."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sordino.data import open_source
from sordino.data.memory import Memory
from sordino.lattice import RowLattice
from sordino.reading.requests import Request


@pytest.mark.parametrize("missing", ["drop", 0, 7])
def test_nan_is_missing_in_a_parquet_file(tmp_path, missing):
    column = np.array([1.0, np.nan, 2.0, np.nan, np.inf] * 50)
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"y": column}), path)
    request = Request("y", RowLattice(0, 10, step=1, missing=missing))
    (here,), (there,) = (
        source.summary(request) for source in (Memory({"y": column}), open_source(str(path)))
    )
    assert (here.rows, here.total) == (there.rows, there.total)
    assert here.rows == (150 if missing == "drop" else 250)
