"""Who has reported already, and what was accepted: one SQLite file that survives restarts.

A batch is checked and stored in one transaction, so that a crash loses nothing and a repeated batch adds nothing. Names
of devices are kept as digests of 16 bytes only.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.geo.head import AnyMechanism

_SCHEMA = """
CREATE TABLE IF NOT EXISTS mechanisms (id TEXT PRIMARY KEY, head TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (
    mechanism TEXT NOT NULL, round INTEGER NOT NULL, device BLOB NOT NULL, batch INTEGER NOT NULL,
    PRIMARY KEY (mechanism, round, device)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batches (
    batch INTEGER PRIMARY KEY, mechanism TEXT NOT NULL, size INTEGER NOT NULL,
    codes BLOB NOT NULL, rounds BLOB NOT NULL, blocks BLOB
);
"""
_MARK = 0x50D1  # application id: a file of this library's reports


class SeenReports:
    """The file, or memory for a collector that lives as long as its process.

    Example:
        >>> store = SeenReports(None)
        >>> mark = np.frombuffer(bytes(16), dtype="S16")
        >>> [store.add("m", np.array([0]), mark, np.array([[5]]), None).tolist() for _ in range(2)]
        [[True], [False]]
    """

    __slots__ = ("_connection", "_keep", "path")

    def __init__(self, path: str | Path | None) -> None:
        self.path = None if path is None else Path(path)
        self._keep = path is not None
        try:
            self._connection = sqlite3.connect(
                ":memory:" if path is None else str(path), isolation_level=None
            )
            self._connection.execute("PRAGMA busy_timeout = 60000")
            (mark,) = self._connection.execute("PRAGMA application_id").fetchone()
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if mark != _MARK and tables:
                raise sqlite3.DatabaseError("another file")  # noqa: TRY301
            if path is not None:
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(f"PRAGMA application_id = {_MARK}")
            self._connection.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise DataError(
                "collector",
                "the store cannot be opened, or is not a store of reports",
                got={"path": str(path)},
                hint="name a new file",
            ) from error

    def describe(self, made: AnyMechanism) -> None:
        """Keep the head of a mechanism beside its reports."""
        self._connection.execute(
            "INSERT OR IGNORE INTO mechanisms VALUES (?, ?)", (made.id, json.dumps(made.head()))
        )

    def add(
        self,
        mechanism: str,
        rounds: NDArray[np.int64],
        devices: Any,
        codes: NDArray[np.int64],
        blocks: NDArray[np.int64] | None,
    ) -> NDArray[np.bool_]:
        """Store reports whose device has not been seen in that round; tell which. All or nothing, on disk."""
        order = np.lexsort((devices, rounds))
        # numpy drops zero bytes at the end of a fixed string; pad them again.
        names = [name.ljust(16, b"\0") for name in devices[order].tolist()]
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            (batch,) = connection.execute("SELECT coalesce(max(batch), 0) + 1 FROM batches").fetchone()
            before = connection.total_changes
            connection.executemany(
                "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?)",
                zip(
                    [mechanism] * len(names), rounds[order].tolist(), names, [batch] * len(names), strict=True
                ),
            )
            fresh = np.ones(len(names), dtype=bool)
            if connection.total_changes - before != len(names):
                mine = set(
                    connection.execute(
                        "SELECT round, device FROM seen WHERE mechanism = ? AND batch = ?", (mechanism, batch)
                    )
                )
                pairs = zip(rounds[order].tolist(), names, strict=True)
                fresh[order] = np.fromiter((pair in mine for pair in pairs), bool, len(names))
            kept = codes[fresh] if self._keep else codes[:0]
            connection.execute(
                "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)",
                (
                    batch,
                    mechanism,
                    len(kept),
                    np.ascontiguousarray(kept, dtype="<i8").tobytes(),
                    rounds[fresh].astype("<i8").tobytes() if self._keep else b"",
                    None if blocks is None else blocks[fresh].astype("<i8").tobytes() if self._keep else b"",
                ),
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        return fresh

    def heads(self) -> list[dict[str, Any]]:
        """The heads of all mechanisms in the file."""
        return [
            json.loads(head)
            for (head,) in self._connection.execute("SELECT head FROM mechanisms ORDER BY id")
        ]

    def stored(
        self, mechanism: str
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]]:
        """The accepted codes of a mechanism, batch by batch, flat, with their rounds and blocks."""
        rows = self._connection.execute(
            "SELECT codes, rounds, blocks FROM batches WHERE mechanism = ? AND size > 0 ORDER BY batch",
            (mechanism,),
        )
        for codes, rounds, blocks in rows:
            yield (
                np.frombuffer(codes, dtype="<i8").astype(np.int64),
                np.frombuffer(rounds, dtype="<i8").astype(np.int64),
                None if blocks is None else np.frombuffer(blocks, dtype="<i8").astype(np.int64),
            )

    def close(self) -> None:
        """Close the file; accepted batches are on disk already."""
        self._connection.close()

    def __del__(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()
