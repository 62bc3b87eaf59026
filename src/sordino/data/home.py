"""`Home`: the process an engine lives in, and the lock under which one thread at a time uses it.

A fork copies neither the threads of an engine nor the far end of its connection, so what was opened before it must not
be used after it: an answer would never come, though it was paid for.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from typing import ClassVar

from sordino.errors import DataError

_HOMES: weakref.WeakSet[Home] = weakref.WeakSet()


class Home:
    """Where an engine runs; sources made from each other share one.

    Args:
        name: What messages call the source.

    Attributes:
        ours: Whether nobody else has the connection, so that tables cannot go away.

    Example:
        >>> home = Home("DuckDB")
        >>> home.ready()
        >>> with home(), home():
        ...     pass
    """

    ours: ClassVar[bool] = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._process = os.getpid()
        self._lock = threading.RLock()
        _HOMES.add(self)

    def ready(self) -> None:
        """Refuse to be used in another process than the one in which it was opened."""
        if os.getpid() != self._process:
            raise DataError(
                self.name, "was opened in another process",
                why="A fork does not take an engine's threads and connections along; nothing was spent.",
                hint="call sd.open in the process that asks, and start it with multiprocessing's spawn",
            )  # fmt: skip

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Only this thread, until it leaves."""
        self.ready()
        with self._lock:
            yield

    def forked(self) -> None:
        """In a new process: the thread that held the lock, if any, is not here."""
        self._lock = threading.RLock()


_SHARED = [threading.RLock()]


class Caller(Home):
    """The home of an engine that the caller made: several may be one connection, so all of them share one lock."""

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Only this thread, until it leaves."""
        self.ready()
        with _SHARED[0]:
            yield


def _forked() -> None:
    _SHARED[0] = threading.RLock()
    for home in list(_HOMES):
        home.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
