"""Blocks of rows that DuckDB cuts, from Parquet files or a table of its own: it hashes, sorts and hands them over.

A sort that does not fit into memory goes to disk, so at any time only some blocks are here. People are dealt by SHA-256
of a secret key and their name, rows without a name by that of the key and a number that each row has in this query
alone: independent words in either case (docs/proofs/mechanism_blocks.md, Theorem 2).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.running.block import Block
from sordino.running.far_rows import FarRows
from sordino.running.pool import run_fetched

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.data.home import Home
    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits, Values

    Pieces = dict[str, list[Any]]

_WORD = "sordino_word"
_FETCHED = 1 << 17  # rows at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EngineRows(FarRows):
    """Rows of a DuckDB relation; private.

    Attributes:
        home: Where the engine runs.
        relation: With the columns, the unit and the row's name.
        columns: Which columns a block has, and whether each holds numbers.
        unit: The column that names people; None where a row is a person.
        row: The column that orders the rows of a person.
        rows: How many rows there are.
        guard: Called before and after reading; raises when the data have changed.
    """

    home: Home
    relation: Any
    columns: dict[str, bool]
    unit: str | None
    row: str | None
    rows: int
    guard: Callable[[], None]

    def values(
        self, function: bytes, task: Task, limits: ProcessLimits, *, blocks: int, key: bytes, fixed: bool
    ) -> Iterator[tuple[int, Values]]:
        """Blocks run here, while the next ones are fetched."""
        fetched = self.blocks(blocks, key, fixed=fixed and self.unit is None)
        with self.home():
            self.guard()
            yield from run_fetched(function, fetched, task, limits, key=key)
            self.guard()

    def blocks(self, count: int, key: bytes, *, fixed: bool) -> Iterator[tuple[int, Block]]:
        """Every block that has a row, with its number, as the engine hands them over."""
        # The block of a word w is floor(count w / 2^64), which grows with w.
        edges = np.array([-(-(place << 64) // count) for place in range(1, count)], np.uint64)
        seen, place = 0, -1
        held: Pieces = {name: [] for name in self.columns}
        for words, values in self._fetched(key):
            rows = np.arange(seen, seen + len(words))
            here = rows * count // self.rows if fixed else np.searchsorted(edges, words, side="right")
            seen += len(words)
            cuts = [0, *(np.flatnonzero(np.diff(here)) + 1).tolist(), len(words)]
            for first, last in itertools.pairwise(cuts):
                if here[first] != place and place >= 0:
                    yield place, _joined(held)
                    held = {name: [] for name in self.columns}
                place = int(here[first])
                for name, column in values.items():
                    held[name].append(column[first:last])
        if place >= 0:
            yield place, _joined(held)

    def _fetched(self, key: bytes) -> Iterator[tuple[NDArray[np.uint64], dict[str, Any]]]:
        """Words and columns, sorted by the words."""
        name = "row_number() OVER ()" if self.unit is None else _quoted(self.unit)
        word = f"('0x' || left(sha256('{key.hex()}' || CAST({name} AS VARCHAR)), 16))::UBIGINT AS {_WORD}"
        extra = [one for one in (self.unit, self.row) if one is not None and one not in self.columns]
        chosen = ", ".join(_quoted(one) for one in (*self.columns, *dict.fromkeys(extra)))
        order = ", ".join([_WORD, *(_quoted(one) for one in (self.unit, self.row) if one is not None)])
        for batch in self.relation.project(f"{word}, {chosen}").order(order).to_arrow_reader(_FETCHED):
            if len(batch):
                yield (
                    batch.column(_WORD).to_numpy(zero_copy_only=False),
                    {one: _plain(batch.column(one), numbers=holds) for one, holds in self.columns.items()},
                )


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _plain(column: Any, *, numbers: bool) -> Any:
    if not numbers:
        return [None if one is None else str(one) for one in column.to_pylist()]
    import pyarrow as pa

    return column.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)


def _joined(held: Pieces) -> Block:
    """A copy of the pieces of a block."""
    columns: dict[str, Any] = {
        name: np.concatenate(pieces)
        if isinstance(pieces[0], np.ndarray)
        else [one for piece in pieces for one in piece]
        for name, pieces in held.items()
    }
    return Block(columns, len(next(iter(columns.values()))))
