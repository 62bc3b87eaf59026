"""The file of a device's budget: its total and every debit, locked from the reading to the writing.

The file is replaced whole, so that a crash leaves the old one or the new one. A lock is on a file and not on a name:
whoever has waited for it looks whether the name still leads to the file that is locked, and else begins anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.errors import LedgerDamaged, LedgerError
from sordino.privacy import Geo, Guarantee

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

fcntl: Any = None
with contextlib.suppress(ImportError):
    import fcntl


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file holds."""

    path: Path
    total: Geo
    log: list[dict[str, str]]

    def save(self, log: list[dict[str, str]]) -> None:
        """Replace the file, durably; only inside `BudgetFile.alone`."""
        _replace(self.path, self.total, log)


class BudgetFile:
    """One device's file.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, total: Geo) -> None:
        """Make the file with its total, unless there is one."""
        if os.path.lexists(self.path):
            return
        with self._words():
            _replace(self.path, total, [], new=True)

    def read(self) -> Kept:
        """What the file holds now."""
        with self._words():
            return self._parsed(self.path.read_text(encoding="utf-8"))

    @contextlib.contextmanager
    def alone(self) -> Iterator[Kept]:
        """What the file holds, while nobody else can read it to write."""
        if fcntl is None:
            raise LedgerError(
                "budget", "files of budgets need a system with file locks", hint="leave path out"
            )
        with self._words():
            handle = self._locked()
        try:
            if _names(handle) != 1:
                raise LedgerError(
                    "budget", "the device's budget file has several names (hard links)", got={"path": str(self.path)},
                    why="Nothing was spent: each name would keep its own count.",
                )  # fmt: skip
            with self._words():
                text = b""
                while part := os.read(handle, 1 << 20):
                    text += part
                kept = self._parsed(text.decode())
            yield kept
        finally:
            os.close(handle)

    def _locked(self) -> int:
        while True:
            handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                found, named = os.fstat(handle), self.path.stat()
                if (found.st_dev, found.st_ino) == (named.st_dev, named.st_ino):
                    return handle
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)  # replaced while we waited

    def _parsed(self, text: str) -> Kept:
        record: dict[str, Any] = json.loads(text)
        total = Guarantee.from_dict(record["total"])
        entries = [{"what": str(entry["what"]), "rate": str(entry["rate"])} for entry in record["log"]]
        rates = [Fraction(entry["rate"]) for entry in entries]
        if (
            not isinstance(total, Geo)
            or Fraction(record["spent"]) != sum(rates)
            or any(rate < 0 for rate in rates)
        ):
            raise LedgerDamaged(
                "budget", "the device's budget file does not add up", got={"path": str(self.path)}
            )
        return Kept(self.path, total, entries)

    @contextlib.contextmanager
    def _words(self) -> Iterator[None]:
        """Say what went wrong with the file."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as problem:
            if isinstance(problem, LedgerError):
                raise
            kind = LedgerError if isinstance(problem, OSError) else LedgerDamaged
            raise kind(
                "budget",
                "the device's budget file cannot be read or written",
                got={"path": str(self.path)},
                why="Without it the total spent is unknown, so nothing may be reported.",
            ) from problem


def _names(handle: int) -> int:
    """How many names the file has; for a moment there are two, when it has just been begun."""
    for _ in range(20):
        if os.fstat(handle).st_nlink == 1:
            return 1
        time.sleep(0.01)
    return os.fstat(handle).st_nlink


def _take_place(beside: Path, path: Path) -> None:
    """Give the finished file its name, unless there is one of that name."""
    try:
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: reserve the name, then take it
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        beside.replace(path)


def _replace(path: Path, total: Geo, log: list[dict[str, str]], *, new: bool = False) -> None:
    """Write the file beside its place, for its owner alone, and give it its name; a new one takes nobody's place."""
    spent = sum((Fraction(entry["rate"]) for entry in log), Fraction(0))
    text = json.dumps({"total": total.to_dict(), "spent": str(spent), "log": log})
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if new:
            with contextlib.suppress(FileExistsError):  # somebody was first: theirs counts
                _take_place(beside, path)
        else:
            beside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
