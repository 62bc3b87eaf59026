"""Waiting in line: writers of one SQLite file are served in the order in which they come.

SQLite's own waiting is a series of naps that grow longer, so who comes last is served first and who waits long waits
longer. Here only one at a time waits for SQLite, all others for their turn in the kernel's queue; whoever has just
written must line up again behind them. It is courtesy, not safety: two writers without it are still kept apart by
SQLite's locks, so a queue that cannot be had, or that somebody holds for too long, is passed by.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

fcntl: Any = None  # no such queue on this system
with contextlib.suppress(ImportError):
    import fcntl

PATIENCE = 20.0
"""Seconds in line before the queue is passed by."""


@contextlib.contextmanager
def turn(path: str | os.PathLike[str], patience: float = PATIENCE) -> Iterator[None]:
    """Hold one's turn while waiting for SQLite's lock.

    The queue stands at the journal beside the file, never at the file: closing a handle of that would drop SQLite's
    own locks on it. Nothing is written to the journal here.
    """
    place = _opened(os.fspath(path))
    held = place is not None and _wait(place, patience)
    try:
        yield
    finally:
        if held and place is not None:
            fcntl.flock(place, fcntl.LOCK_UN)  # also where a fork has a copy of the handle
            os.close(place)


def _opened(path: str) -> int | None:
    """The journal of a file; an empty one, with the rights of the file as SQLite would make it, where there is none."""
    if fcntl is None:
        return None
    journal = f"{path}-journal"
    try:
        with contextlib.suppress(FileNotFoundError):
            return os.open(journal, os.O_RDONLY | os.O_CLOEXEC)
        kept = os.stat(path)  # noqa: PTH116
        made = os.open(journal, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, stat.S_IMODE(kept.st_mode))
        if os.geteuid() == 0:
            os.fchown(made, kept.st_uid, kept.st_gid)
    except OSError:
        return None
    return made


def _wait(place: int, patience: float) -> bool:
    """Whether the turn was had in time; the handle is closed when it was not."""
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _queue(place, patience)
    except OSError:  # a file system without such locks
        os.close(place)
        return False
    return True


def _queue(place: int, patience: float) -> bool:
    """Stand in line, in a thread of its own: a wait in the kernel has no end of its own."""
    decided, had, given_up = threading.Lock(), threading.Event(), False

    def queue() -> None:
        with contextlib.suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_EX)
        with decided:
            if given_up:
                os.close(place)
            had.set()

    threading.Thread(target=queue, name="sordino-ledger-turn", daemon=True).start()
    if had.wait(patience):
        return True
    with decided:
        given_up = True
        return had.is_set()
