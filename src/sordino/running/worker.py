"""One process that forks blocks, seen from the process that holds the table: what it is given, and what comes back.

A worker has at most two blocks: the one that runs, and the next one, which waits in its socket so that no time is lost
between them. A block that was waiting when its worker was hit is given to another, so one block cannot fail another.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sordino.errors import Unsupported
from sordino.running.passing import write
from sordino.running.zygote import CURRENT, DONE, HEADER, WORKER

if TYPE_CHECKING:
    from sordino.running.block import Block
    from sordino.running.evaluate import Task

    Values = tuple[float, ...] | None

GRACE = 20.0  # seconds after which a worker that does not report is given up
START = 120.0  # seconds in which the libraries of a function must be imported
PARTING = 2.0  # seconds in which a process that is not needed any more ends by itself
AHEAD = 2  # blocks that a worker may have


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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Given:
    """One block on its way; private."""

    place: int
    block: Block
    seed: int
    answer: int = -1

    def whole(self) -> Block:
        """The block itself, to be given again."""
        return self.block


class Worker:
    """A process that forks blocks, and the blocks that it works on; it may be used when `ready` returns."""

    def __init__(self, task: Task, limits: ProcessLimits) -> None:
        self.task, self.limits = task, limits
        self.given: deque[Given] = deque()
        self.until = 0.0
        self.held: tuple[str, ...] = ()
        self.process: subprocess.Popen[bytes] | None = None
        self.handle = -1  # an open file that stands for the process
        self.channel, self._theirs = socket.socketpair()
        self.channel.settimeout(START)

    @classmethod
    def first(cls, function: bytes, task: Task, limits: ProcessLimits) -> Worker:
        """A new process, which has nothing of this one but the function. It is asked for others, never for a block."""
        _check_platform()
        made = cls(task, limits)
        theirs = made._theirs
        alone = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        path = [entry or os.getcwd() for entry in sys.path]  # noqa: PTH109
        made.process = subprocess.Popen(  # noqa: S603  our own module
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
        with contextlib.suppress(OSError):  # a process that is gone is found by `ready`
            made.channel.sendall(HEADER.pack(len(setup)) + setup)
        return made

    def current(self) -> bool:
        """Whether the process is there, and its code is what is written now; asked before it is used again."""
        try:
            self.channel.sendall(CURRENT)
            return self.channel.recv(1) == CURRENT
        except OSError:
            return False

    def another(self) -> Worker:
        """One that takes blocks, forked from this one: all libraries are loaded already."""
        self.ready()
        made = Worker(self.task, self.limits)
        with contextlib.suppress(OSError):
            socket.send_fds(self.channel, [WORKER], [made._theirs.fileno()])
        made._theirs.close()
        return made

    def ready(self) -> tuple[str, ...]:
        """Wait until the function is loaded; what is confined, by name."""
        if self.held:
            return self.held
        try:
            (size,) = HEADER.unpack(self.channel.recv(HEADER.size, socket.MSG_WAITALL))
            *held, who = self.channel.recv(size, socket.MSG_WAITALL).decode().split(",") if size else [""]
            if held:
                self.handle = os.pidfd_open(int(who.removeprefix("pid=")))
                self.held = tuple(held)
        except (OSError, struct.error, ValueError):
            pass
        if not self.held:
            self.close()
            raise Unsupported(
                "function", "cannot be loaded in a process of its own",
                why="A module that it imports is missing there, or takes too long; nothing was spent.",
                hint="import what the function needs inside of it, or isolation='none' for one that you trust",
            )  # fmt: skip
        return self.held

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        if self.handle < 0:
            return self.process is not None and self.process.poll() is None
        return not select.select([self.handle], [], [], 0)[0]

    def _kill(self) -> None:
        """End the zygote, and wait until it is gone."""
        if self.handle >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.handle, signal.SIGKILL)
            select.select([self.handle], [], [], GRACE)
        elif self.process is not None:
            self.process.kill()

    def give(self, place: int, block: Block, seed: int) -> None:
        """Hand over the rows of one block, as an open file in memory that nobody else sees."""
        self.ready()
        rows = write(block)
        answer, theirs = os.pipe()
        try:
            with contextlib.suppress(OSError):
                socket.send_fds(self.channel, [struct.pack("<Q", seed)], [rows, theirs])
        finally:
            os.close(rows)
            os.close(theirs)
        if not self.given:
            self.until = time.monotonic() + self.limits.seconds + GRACE
        self.given.append(Given(place, block, seed, answer))

    def take(self) -> tuple[int, Values, bool]:
        """The place and the numbers of the block that has ended, and whether the worker can go on."""
        try:
            self.channel.setblocking(False)
            alive = self.channel.recv(1) == DONE
        except OSError:
            alive = False
        self.channel.setblocking(True)
        if not alive:  # the zygote was hit: nothing of it is used, and its children go with it
            self._kill()
        done = self.given.popleft()
        self.until = time.monotonic() + self.limits.seconds + GRACE
        size = 8 * self.task.width
        os.set_blocking(done.answer, False)
        try:
            found = os.read(done.answer, size + 1) if alive else b""
        except OSError:
            found = b""
        os.close(done.answer)
        if len(found) != size:
            return done.place, None, alive
        numbers = struct.unpack(f"<{self.task.width}d", found)
        return done.place, (None if any(one != one for one in numbers) else numbers), alive  # noqa: PLR0124  NaN

    def close(self) -> None:
        """End the process; its children end with it."""
        for one in self.given:
            os.close(one.answer)
        self.given.clear()
        self.channel.close()  # it ends its children, then itself
        if self.handle >= 0:
            select.select([self.handle], [], [], PARTING)
        self._kill()
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1
        if self.process is not None:
            self.process.wait()


def _check_platform() -> None:
    if sys.platform != "linux":
        raise Unsupported(
            "function", "runs in processes of its own on Linux only", got={"system": sys.platform},
            why="Elsewhere a function could see more than its block.",
            hint="isolation='none': you vouch that the function looks at its block only",
        )  # fmt: skip
