"""Blocks of rows on a Spark cluster: they run on its executors, and numbers alone come back.

A task that fails is run again, so everything is a function of the key and the rows: who is in which block is a hash of
a person's name, or of a row's, never a random number. No exception leaves an executor: it would show data and fail the
job depending on them.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from sordino.errors import Unsupported
from sordino.running.far_rows import FarRows, plain_block, seed_of

if TYPE_CHECKING:
    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits, Values

_BLOCK, _WORD, _NAME = "sordino_block", "sordino_word", "sordino_name"
_BITS = 40  # of a word decide the block; times the number of blocks it must fit 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkRows(FarRows):
    """Rows of a Spark DataFrame; private.

    Attributes:
        frame: With the columns, the unit and the row's name.
        columns: Which columns a block has, and whether each holds numbers.
        unit: The column that names people; None where a row is a person.
        row: The column that names rows.
    """

    frame: Any
    columns: dict[str, bool]
    unit: str | None
    row: str

    def values(
        self, function: bytes, task: Task, limits: ProcessLimits, *, blocks: int, key: bytes, fixed: bool
    ) -> Iterator[tuple[int, Values]]:
        """Group by the block, run each group where it is, collect the numbers."""
        import pandas as pd
        import pyspark.sql.functions

        sql: Any = pyspark.sql.functions

        del fixed  # sizes vary: a row's block is its own hash
        columns, row = dict(self.columns), self.row
        names = [f"value_{place}" for place in range(task.width)]

        def words(named: pd.Series) -> pd.Series:
            return named.map(lambda one: _word(key, one))

        def answered(group: pd.DataFrame) -> pd.DataFrame:
            from sordino.running.alone import block_value

            place, found = int(group[_BLOCK].iloc[0]), None
            try:
                ordered = group.sort_values([_WORD, row], kind="stable")
                lists = {name: _values(ordered[name]) for name in columns}
                block = plain_block(lists, columns.__getitem__)
                found = block_value(function, block, task, limits, seed_of(key, place))
            except BaseException:  # noqa: BLE001  nothing about a block may leave
                found = None
            numbers = [float("nan")] * len(names) if found is None else list(found)
            return pd.DataFrame([[place, *numbers]], columns=[_BLOCK, *names])

        # Spark reads the types of these, and cannot look up names of this function.
        words.__annotations__ = {"named": pd.Series, "return": pd.Series}
        answered.__annotations__ = {"group": pd.DataFrame, "return": pd.DataFrame}
        name = sql.col(self.unit or self.row).cast("string")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # pyspark about a pandas that is newer than itself
            hashed = sql.pandas_udf(words, "long")
            dealt = (
                self.frame.select(hashed(name).alias(_WORD), row, *(one for one in columns if one != row))
                .withColumn(
                    _BLOCK, sql.shiftright(sql.shiftright(_WORD, 62 - _BITS) * sql.lit(blocks), _BITS)
                )
                .groupBy(_BLOCK)
                .applyInPandas(answered, f"{_BLOCK} long, " + ", ".join(f"{one} double" for one in names))
            )
            dealt_rows = dealt.collect()
        for place, *numbers in dealt_rows:
            yield int(place), None if any(one is None or isnan(one) for one in numbers) else tuple(numbers)


def _word(key: bytes, name: str) -> int:
    """62 bits that a name has under a key."""
    digest = hashlib.blake2b(str(name).encode(), key=key[:64], digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 2


def _values(column: Any) -> list[Any]:
    return [None if one is None or one != one else one for one in column.tolist()]  # noqa: PLR0124  NaN


def probe(frame: Any) -> None:
    """See that executors can run blocks at all, on no row of the table; before anything is spent."""
    import pandas as pd

    def loaded(parts: Any) -> Any:
        import sordino.running.alone  # noqa: F401

        for _ in parts:
            yield pd.DataFrame({"id": [1]})

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            frame.sparkSession.range(1).mapInPandas(loaded, "id long").collect()
    except Exception:  # noqa: BLE001  whatever Spark raises
        raise Unsupported(
            "Spark", "the executors must have sordino, pandas and pyarrow",
            why="Blocks and derived columns are computed there. Nothing was spent.",
            hint="install sordino on the cluster, or write the columns to a Parquet file and open that",
        ) from None  # fmt: skip
