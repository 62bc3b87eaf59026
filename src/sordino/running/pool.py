"""Runs a function on blocks: in processes of their own, or in this one where the caller vouches for the function.

Nothing about how a block ended comes out of here but its numbers, or None. How long all blocks took is seen by whoever
waits, as with any release.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import itertools
import os
import pickle
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from sordino.running.evaluate import Task, value
from sordino.running.far_rows import seed_of
from sordino.running.worker import AHEAD, ProcessLimits, Worker

if TYPE_CHECKING:
    from sordino.running.block import Block
    from sordino.running.worker import Values

    Job = tuple[Callable[[], Block], int]


def run(
    function: bytes, jobs: Iterable[Job], task: Task, limits: ProcessLimits
) -> Iterator[tuple[int, Values]]:
    """The numbers of every block with its place, in the order in which they end.

    Args:
        function: The pickled function.
        jobs: For each block something that makes it, and its seed.
        task: What is done with a block.
        limits: How.
    """
    if limits.isolation == "none":
        return _here(function, jobs, task)
    return _apart(function, jobs, task, limits)


def run_fetched(
    function: bytes, blocks: Iterable[tuple[int, Block]], task: Task, limits: ProcessLimits, *, key: bytes
) -> Iterator[tuple[int, Values]]:
    """The same for blocks that come with their numbers from elsewhere: they run while the next ones are fetched."""
    places: list[int] = []

    def jobs() -> Iterator[Job]:
        for place, block in blocks:
            places.append(place)
            yield (lambda block=block: block), seed_of(key, place)  # type: ignore[misc]

    for place, found in run(function, jobs(), task, limits):
        yield places[place], found


def covered(function: bytes, task: Task, limits: ProcessLimits) -> tuple[str, ...]:
    """Start a process to see that the function can be loaded and what is confined; before anything is spent.

    It sees no row, and is kept for the runs that follow.
    """
    if limits.isolation == "none":
        return ()
    key = (function, task, limits)
    first = _FIRST.take(key)
    _FIRST.keep(key, first)
    return first.held


def end() -> None:
    """End the process that is kept for the next run."""
    _FIRST.clear()


class _First:
    """At most one process that forks workers and is in no use now; no block comes near it, so it serves many runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[tuple[bytes, Task, ProcessLimits], Worker, int] | None = None

    def keep(self, key: tuple[bytes, Task, ProcessLimits], worker: Worker) -> None:
        """Keep this one, and end the one before."""
        with self._lock:
            before, self._kept = self._kept, (key, worker, os.getpid())
        _end(before)

    def take(self, key: tuple[bytes, Task, ProcessLimits]) -> Worker:
        """The one that fits, or a new one; one that does not fit is ended. It is ready."""
        with self._lock:
            before, self._kept = self._kept, None
        if before is not None and before[0] == key and before[2] == os.getpid() and before[1].current():
            return before[1]
        _end(before)
        made = Worker.first(*key)
        made.ready()
        return made

    def clear(self) -> None:
        """End it."""
        with self._lock:
            before, self._kept = self._kept, None
        _end(before)


def _end(kept: tuple[tuple[bytes, Task, ProcessLimits], Worker, int] | None) -> None:
    if kept is not None and kept[2] == os.getpid():  # in a forked process it belongs to the parent
        kept[1].close()


_FIRST = _First()
atexit.register(end)


def _here(function: bytes, jobs: Iterable[Job], task: Task) -> Iterator[tuple[int, Values]]:
    for place, (block, seed) in enumerate(jobs):
        own = pickle.loads(function)  # noqa: S301  ours; a fresh copy has no memory of other blocks
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = value(own, block(), task, seed)
        yield place, found


def _apart(
    function: bytes, jobs: Iterable[Job], task: Task, limits: ProcessLimits
) -> Iterator[tuple[int, Values]]:
    waiting: Iterator[tuple[int, Job]] = enumerate(jobs)
    first = next(waiting, None)
    if first is None:  # no block, as on the empty table of a quote
        return
    waiting = itertools.chain([first], waiting)
    key = (function, task, limits)
    source = _FIRST.take(key)
    workers: list[Worker] = []
    again: deque[tuple[int, tuple[Callable[[], Block], int]]] = (
        deque()
    )  # blocks whose worker was hit by another
    try:
        workers += [source.another() for _ in range(limits.workers)]
        while True:
            free = min(workers, key=lambda worker: len(worker.given), default=None)
            if free is None or len(free.given) < AHEAD:
                job = again.popleft() if again else next(waiting, None)
                if job is not None:
                    if free is None or (free.given and len(workers) < limits.workers):
                        free = source.another()  # in the place of one that was hit
                        workers.append(free)
                    place, (block, seed) = job
                    free.give(place, block(), seed)
                    continue
            busy = [worker for worker in workers if worker.given]
            if not busy:
                return
            for worker in _ended(busy):
                ended, found, alive = worker.take()
                if not alive:
                    workers.remove(worker)
                    again.extend((one.place, (one.whole, one.seed)) for one in worker.given)
                    worker.close()
                yield ended, found
    finally:
        for worker in workers:
            worker.close()
        if source.current():  # which also lets it take leave of its workers
            _FIRST.keep(key, source)
        else:
            source.close()


def _ended(busy: list[Worker]) -> list[Worker]:
    """Workers that have reported, are gone, or are given up."""
    while True:
        now = time.monotonic()
        late = [worker for worker in busy if worker.until < now]
        wait = max(0.0, min(worker.until for worker in busy) - now)
        ready, _, _ = select.select([worker.channel for worker in busy], [], [], 0 if late else wait)
        found = [worker for worker in busy if worker.channel in ready or worker in late]
        if found:
            return found
