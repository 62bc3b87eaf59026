"""Runs a function on blocks: in processes of their own, or in this one where the caller vouches for the function.

Nothing about how a block ended comes out of here but its numbers, or None. How long all blocks took is seen by whoever
waits, as with any release.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sordino.errors import Unsupported
from sordino.running.evaluate import Task, value
from sordino.running.zygote import DONE, HEADER

if TYPE_CHECKING:
    from sordino.running.block import Block

    Values = tuple[float, ...] | None
    Job = tuple[Callable[[], Block], int]

GRACE = 20.0  # seconds after which a worker that does not report is given up
START = 120.0  # seconds in which the libraries of a function must be imported


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """How a function runs; public.

    Attributes:
        isolation: ``"process"``, ``"sandbox"`` or ``"none"``.
        seconds: Time for one block.
        memory: Bytes for one block.
        workers: Blocks that run at once.
    """

    isolation: str = "process"
    seconds: float = 10.0
    memory: int = 2**31
    workers: int = 2


def run(
    function: bytes,
    jobs: Iterable[Job],
    task: Task,
    limits: ProcessLimits,
    *,
    progress: Callable[[], None] | None = None,
) -> Iterator[tuple[int, Values]]:
    """The numbers of every block with its place, in the order in which they end.

    Args:
        function: The pickled function.
        jobs: For each block something that makes it, and its seed.
        task: What is done with a block.
        limits: How.
        progress: Is called after every block.
    """
    answers = (
        _here(function, jobs, task) if limits.isolation == "none" else _apart(function, jobs, task, limits)
    )
    for place, found in answers:
        if progress is not None:
            progress()
        yield place, found


def covered(function: bytes, task: Task, limits: ProcessLimits) -> tuple[str, ...]:
    """Start one worker to see that the function can be loaded and what is confined; before anything is spent."""
    if limits.isolation == "none":
        return ()
    with contextlib.closing(_Worker(function, task, limits)) as worker:
        return worker.held


def _here(function: bytes, jobs: Iterable[Job], task: Task) -> Iterator[tuple[int, Values]]:
    for place, (block, seed) in enumerate(jobs):
        own = pickle.loads(function)  # noqa: S301  ours; a fresh copy has no memory of other blocks
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = value(own, block(), task, seed)
        yield place, found


def _apart(
    function: bytes, jobs: Iterable[Job], task: Task, limits: ProcessLimits
) -> Iterator[tuple[int, Values]]:
    workers: list[_Worker] = []
    waiting = enumerate(jobs)
    try:
        while True:
            busy = [worker for worker in workers if worker.place is not None]
            job = next(waiting, None) if len(busy) < limits.workers else None
            if job is not None:
                free = next((worker for worker in workers if worker.place is None), None)
                if free is None:
                    free = _Worker(function, task, limits)
                    workers.append(free)
                place, (block, seed) = job
                free.give(place, block(), seed)
                continue
            if not busy:
                return
            for worker in _ended(busy):
                ended = worker.place
                assert ended is not None
                found, alive = worker.take()
                if not alive:
                    workers.remove(worker)
                    worker.close()
                yield ended, found
    finally:
        for worker in workers:
            worker.close()


def _ended(busy: list[_Worker]) -> list[_Worker]:
    """Workers that have reported, are gone, or are given up."""
    while True:
        now = time.monotonic()
        late = [worker for worker in busy if worker.until < now]
        wait = max(0.0, min(worker.until for worker in busy) - now)
        ready, _, _ = select.select([worker.channel for worker in busy], [], [], 0 if late else wait)
        found = [worker for worker in busy if worker.channel in ready or worker in late]
        if found:
            return found


class _Worker:
    """One zygote, and the block that it works on."""

    def __init__(self, function: bytes, task: Task, limits: ProcessLimits) -> None:
        _check_platform()
        self.task, self.limits = task, limits
        self.place: int | None = None
        self.until = 0.0
        self.answer = -1
        self.channel, theirs = socket.socketpair()
        alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        path = [entry or os.getcwd() for entry in sys.path]  # noqa: PTH109
        self.process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-W", "ignore", "-m", "sordino.running.zygote", str(theirs.fileno())],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()], start_new_session=True,
            env={**os.environ, **alone, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(path)},
        )  # fmt: skip
        theirs.close()
        setup = pickle.dumps(
            {
                "path": path,
                "function": function,
                "task": task,
                "seconds": limits.seconds,
                "memory": limits.memory,
            }
        )
        self.channel.settimeout(START)
        self.held: tuple[str, ...] = ()
        try:
            self.channel.sendall(HEADER.pack(len(setup)) + setup)
            (size,) = HEADER.unpack(self.channel.recv(HEADER.size, socket.MSG_WAITALL))
            self.held = tuple(self.channel.recv(size, socket.MSG_WAITALL).decode().split(",")) if size else ()
        except (OSError, struct.error):
            pass
        if not self.held:
            self.close()
            raise Unsupported(
                "function", "cannot be loaded in a process of its own",
                why="A module that it imports is missing there, or takes too long; nothing was spent.",
                hint="import what the function needs inside of it, or isolation='none' for one that you trust",
            )  # fmt: skip

    def give(self, place: int, block: Block, seed: int) -> None:
        """Hand over the rows of one block, as an open file in memory that nobody else sees."""
        self.place = place
        rows = os.memfd_create("block")
        self.answer, theirs = os.pipe()
        try:
            with os.fdopen(os.dup(rows), "wb") as stream:
                pickle.dump(block, stream, protocol=5)
            os.lseek(rows, 0, os.SEEK_SET)
            with contextlib.suppress(OSError):
                socket.send_fds(self.channel, [struct.pack("<Q", seed)], [rows, theirs])
        finally:
            os.close(rows)
            os.close(theirs)
        self.until = time.monotonic() + self.limits.seconds + GRACE

    def take(self) -> tuple[Values, bool]:
        """The numbers of the block, and whether the worker can go on."""
        try:
            self.channel.setblocking(False)
            alive = self.channel.recv(1) == DONE
        except OSError:
            alive = False
        self.channel.setblocking(True)
        if not alive:  # the zygote was hit: nothing of it is used, and its children go with it
            self.process.kill()
        size = 8 * self.task.width
        os.set_blocking(self.answer, False)
        try:
            found = os.read(self.answer, size + 1) if alive else b""
        except OSError:
            found = b""
        os.close(self.answer)
        self.place, self.answer = None, -1
        if len(found) != size:
            return None, alive
        numbers = struct.unpack(f"<{self.task.width}d", found)
        return (None if any(one != one for one in numbers) else numbers), alive  # noqa: PLR0124  NaN

    def close(self) -> None:
        """End the zygote; its children end with it."""
        if self.answer >= 0:
            os.close(self.answer)
            self.answer = -1
        self.channel.close()
        self.process.kill()
        self.process.wait()


def _check_platform() -> None:
    if sys.platform != "linux":
        raise Unsupported(
            "function", "runs in processes of its own on Linux only", got={"system": sys.platform},
            why="Elsewhere a function could see more than its block.",
            hint="isolation='none': you vouch that the function looks at its block only",
        )  # fmt: skip
