"""Waiting in line: writers of one SQLite file are served in the order in which they come.

SQLite's own waiting is a series of naps that grow longer, so who comes last is served first and who waits long waits
longer. Here the kernel's queue wakes whoever is next. It is courtesy, not safety: two writers without it are still
kept apart by SQLite's locks, so a queue that cannot be had, or that somebody holds for too long, is passed by.
"""

from __future__ import annotations

import contextlib
import os
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
    """Hold one's turn at a file that everybody who waits can open; nothing is written to it.

    The file is the database's journal, never the database: closing it would drop SQLite's own locks on that.
    """
    place = _opened(path)
    held = place is not None and _wait(place, patience)
    try:
        yield
    finally:
        if held and place is not None:
            fcntl.flock(place, fcntl.LOCK_UN)  # also where a fork has a copy of the handle
            os.close(place)


def _opened(path: str | os.PathLike[str]) -> int | None:
    if fcntl is None:
        return None
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # not there yet: the first writer's
        return None


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
