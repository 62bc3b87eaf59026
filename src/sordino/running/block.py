"""`Block`: the rows of one part of a table as plain values, and the frame that a function likes to get.

Nothing of other rows is in it: numbers are doubles, texts are texts, missing ones are NaN or None. No index of the
whole table, no levels, no slice of a larger array, no type that was widened by somebody else's value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import MissingExtra

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAMES = ("pandas", "polars", "pyarrow", "numpy")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Plain:
    """One column of plain values; private.

    Attributes:
        numbers: The number of each row, NaN where it has none.
        texts: The text of each row, None where it has none; None altogether for a column of numbers.
        words: Whether the column is one of texts by its declared type.
    """

    numbers: NDArray[np.float64]
    texts: NDArray[Any] | None = None
    words: bool = False

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | list[Any]:
        """A copy of some rows: doubles, or a list where one of these very rows (no other) holds a text."""
        numbers = self.numbers[rows]
        if self.texts is None:
            return numbers
        texts = self.texts[rows].tolist()
        if self.words:
            return texts
        if all(text is None for text in texts):
            return numbers
        return [
            (None if np.isnan(number) else number) if text is None else text
            for number, text in zip(numbers.tolist(), texts, strict=True)
        ]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rows:
    """The rows that a function may see some of, and to whom each belongs; private.

    Attributes:
        columns: The named columns.
        units: A whole number per row, the same for rows of one person; None where a row is a person.
    """

    columns: dict[str, Plain]
    units: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def block(self, rows: NDArray[np.intp]) -> Block:
        """A copy of some rows, in this order."""
        return Block({name: column.take(rows) for name, column in self.columns.items()}, len(rows))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Block:
    """Some rows, copied."""

    columns: dict[str, NDArray[np.float64] | list[Any]]
    rows: int

    def without(self, first: int, last: int) -> Block:
        """The block without the rows first..last-1."""
        return Block(
            {
                name: np.concatenate([values[:first], values[last:]])
                if isinstance(values, np.ndarray)
                else values[:first] + values[last:]
                for name, values in self.columns.items()
            },
            self.rows - (last - first),
        )

    def frame(self, kind: str) -> Any:
        """A fresh frame of the block, as the function likes it: what it does to it stays there.

        Example:
            >>> Block({"x": np.array([1.0, 2.0]), "who": ["a", None]}, 2).frame("numpy")
            {'x': array([1., 2.]), 'who': array(['a', None], dtype=object)}
        """
        if kind == "numpy":
            return {name: _array(values) for name, values in self.columns.items()}
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame({name: _array(values) for name, values in self.columns.items()}, copy=True)
        if kind == "polars":
            import polars as pl

            typed = {name: _typed(values) for name, values in self.columns.items()}
            return pl.DataFrame(
                {
                    name: pl.Series(values, dtype=pl.String if isinstance(values, list) else pl.Float64)
                    for name, values in typed.items()
                }
            )
        import pyarrow as pa

        return pa.table(
            {
                name: pa.array(_typed(values), type=pa.string() if isinstance(values, list) else pa.float64())
                for name, values in self.columns.items()
            }
        )


def _array(values: NDArray[np.float64] | list[Any]) -> NDArray[Any]:
    return values.copy() if isinstance(values, np.ndarray) else np.fromiter(values, object, len(values))


def _typed(values: NDArray[np.float64] | list[Any]) -> NDArray[np.float64] | list[Any]:
    """Columns of one type: beside a text a number is written as one."""
    if isinstance(values, np.ndarray):
        return values.copy()
    return [value if value is None or isinstance(value, str) else repr(value) for value in values]


def check_frame(kind: str) -> None:
    """Refuse a frame whose package is not installed, before anything is spent."""
    from importlib.util import find_spec

    if find_spec(kind) is None:
        raise MissingExtra(
            "function", f"frame={kind!r} needs {kind}", hint=f"pip install {kind}, or frame='numpy': a dict of arrays"
        )  # fmt: skip
