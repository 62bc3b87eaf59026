"""Blocks of rows that a PostgreSQL server cuts: it hashes, sorts and sends them one after another.

The rows of a function's columns leave the server, since the function runs here; at any time there are only some blocks
of them in memory. People are dealt by SHA-256 of a secret key and their name, rows without a name by the server's own
strong random numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.running.far_rows import FarRows, plain_block
from sordino.running.pool import run_fetched

if TYPE_CHECKING:
    from sordino.data.postgres import Server
    from sordino.running.block import Block
    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits, Values

_WORD = "sordino_word"
_FETCHED = 5_000  # rows at a time


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ServerRows(FarRows):
    """Rows of a query in a server; private.

    Attributes:
        home: The connection.
        query: An ibis expression with the columns, the unit and the row's name.
        columns: Which columns a block has, and whether each holds numbers.
        unit: The column that names people; None where a row is a person.
        row: The column that orders the rows of a person.
    """

    home: Server
    query: Any
    columns: dict[str, bool]
    unit: str | None
    row: str | None

    def values(
        self, function: bytes, task: Task, limits: ProcessLimits, *, blocks: int, key: bytes, fixed: bool
    ) -> Iterator[tuple[int, Values]]:
        """Blocks run here, while the next ones are fetched."""
        fetched = self.blocks(blocks, key, fixed=fixed and self.unit is None)
        with self.home():
            yield from run_fetched(function, fetched, task, limits, key=key)

    def blocks(self, count: int, key: bytes, *, fixed: bool) -> Iterator[tuple[int, Block]]:
        """Every block that has a row, with its number, as the server sends them."""
        rows = self._rows() if fixed else 0
        place, names = -1, list(self.columns)
        held: dict[str, list[Any]] = {name: [] for name in names}
        for number, (word, *values) in enumerate(self._fetched(key)):
            here = number * count // rows if fixed else _block(word, count)
            if here != place and held[names[0]]:
                yield place, plain_block(held, self.columns.__getitem__)
                held = {name: [] for name in names}
            place = here
            for name, one in zip(names, values, strict=True):
                held[name].append(one)
        if held[names[0]]:
            yield place, plain_block(held, self.columns.__getitem__)

    def _fetched(self, key: bytes) -> Iterator[Any]:
        """Rows with their words, sorted by them."""
        from psycopg.sql import SQL, Identifier

        names = SQL(", ").join(Identifier(name) for name in self.columns)
        word: Any = SQL("gen_random_uuid()")
        order: Any = SQL("")
        given: tuple[str, ...] = ()
        if self.unit is not None:
            word = SQL("sha256(convert_to(%s || {}::text, 'UTF8'))").format(Identifier(self.unit))
            order = SQL("") if self.row is None else SQL(", {}").format(Identifier(self.row))
            given = (key.hex(),)
        inner = SQL(self._text().replace("%", "%%") if given else self._text())
        whole = SQL("SELECT {} AS {}, {} FROM ({}) AS sordino_rows ORDER BY {}{}").format(
            word, Identifier(_WORD), names, inner, Identifier(_WORD), order
        )
        with self.home.connection.cursor(name="sordino_blocks") as cursor:
            cursor.itersize = _FETCHED
            cursor.execute(whole, given or None)
            yield from cursor

    def _rows(self) -> int:
        with self.home.connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM ({self._text()}) AS sordino_rows")  # noqa: S608  ibis wrote it
            return int(cursor.fetchone()[0])

    def _text(self) -> str:
        return str(self.home.compiled(self.query)).rstrip().rstrip(";")


def _block(word: Any, count: int) -> int:
    """The block of a word: the first 8 bytes of a digest, or the first 48 bits of a random UUID."""
    if isinstance(word, bytes | memoryview):
        return int.from_bytes(bytes(word)[:8], "big") * count >> 64
    return (word.int >> 80) * count >> 48
