"""The closed room: whatever touches a value runs in it, and nothing but the result comes out.

Values are looked at when data are opened and counted, when conditions are put on them and when they are read. What goes
wrong there may name a value (an engine prints the text that it could not convert), and so may a warning or a line of a
log. Inside the room all are silenced, and the caller learns of a failure by one closed message that is the same for
every cause: no cause, no context, no text of an engine.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from sordino.errors import DataError, MissingExtra, ParameterError, SordinoError, Unsupported

T = TypeVar("T")

SCHEMA = (DataError, MissingExtra, ParameterError, Unsupported)
"""What our own sources say before they have looked at a value: it is about names and types, and passes."""


def inside(
    work: Callable[[], T],
    *,
    otherwise: Callable[[], SordinoError],
    passing: tuple[type[SordinoError], ...] = SCHEMA,
) -> T:
    """Do some work in the closed room, and give back what it returns.

    Args:
        work: What touches values.
        otherwise: Makes the closed message; it is the same whatever went wrong.
        passing: Our own errors that speak of the schema alone; they pass, without what they were raised from.

    Example:
        >>> unreadable = lambda: DataError("open", "the data could not be read")
        >>> inside(lambda: float("my secret"), otherwise=unreadable)
        Traceback (most recent call last):
        ...
        sordino.errors.DataError: open: the data could not be read.
    """
    problem: BaseException
    with _quiet():
        try:
            return work()
        except passing as error:
            problem = error.bare()
        except KeyboardInterrupt:  # the user's own; what it carries may be an object's
            problem = KeyboardInterrupt()
        except BaseException:  # noqa: BLE001  engines panic by an exception that is not an Exception; values may ask to exit
            problem = otherwise()
    # Raised out here, where nothing is being handled: an exception keeps what it was raised in as its context.
    raise problem


def unreadable() -> DataError:
    """The one message of everything that goes wrong while data are opened, before anything is spent."""
    return DataError(
        "open",
        "the data could not be read",
        why="The cause may depend on values and is not shown; nothing was spent.",
        hint="read the table by itself, where its rows may be seen: a cast or a filter of its own may fail on one",
    )


class _Silence:
    """Filters of warnings belong to the process: the first thread that comes in silences, the last one undoes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._kept = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._within == 0:
                self._kept = warnings.catch_warnings()
                self._kept.__enter__()
                warnings.simplefilter("ignore")
            self._within += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if self._within == 0:
                self._kept.__exit__(None, None, None)


_SILENCE = _Silence()


class _Depth(threading.local):
    """How many rooms this thread is in."""

    rooms = 0


_DEPTH = _Depth()


def heard(record: logging.LogRecord) -> bool:  # noqa: ARG001
    """A filter of logs: nothing that a thread says inside the room is heard, and everything else is."""
    return _DEPTH.rooms == 0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No warning, no log, and no numpy error state, however the caller has set them: each would tell rows apart."""
    for reference in list(getattr(logging, "_handlerList", ())):
        handler = reference()
        if handler is not None and heard not in handler.filters:
            handler.addFilter(heard)
    _DEPTH.rooms += 1
    try:
        with _SILENCE, np.errstate(all="ignore"):
            yield
    finally:
        _DEPTH.rooms -= 1
