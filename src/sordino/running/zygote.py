"""The processes from which blocks are forked: they hold the function and its libraries, and never a row.

The first one is started, not forked, so it has nothing of the process that holds the table. It forks one process for
each worker of a run and answers no block itself, so it can be kept for the next run. A worker gets two open files for
each block and forks; the child reads the rows, answers and ends, and whatever it has started is ended with it.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle  # the only things read are those that `pool` wrote
import signal
import socket
import struct
import sys
from typing import TYPE_CHECKING, Any

from sordino.running.child import end_children, end_zombies, wait_for
from sordino.running.confine import Confinement
from sordino.running.evaluate import value
from sordino.running.imports import edited, load
from sordino.running.passing import read
from sordino.running.trial import tried

if TYPE_CHECKING:
    from sordino.running.evaluate import Task

CURRENT, WORKER, DONE = b"C", b"W", b"D"
HEADER = struct.Struct("<Q")
IDLE = 600.0  # seconds after which a process that nobody asks ends itself


def received(channel: socket.socket) -> bytes:
    """One message: its length, then so many bytes."""
    (size,) = HEADER.unpack(_exactly(channel, HEADER.size))
    return _exactly(channel, size)


def _exactly(channel: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        some = channel.recv(min(size - len(found), 1 << 20))
        if not some:
            os._exit(0)  # the other end is gone
        found += some
    return bytes(found)


def serve(channel: socket.socket) -> None:
    """Load the function, say what is confined, then fork workers when they are wanted; end with all of them."""
    try:
        _serve(channel)
    finally:
        end_children()


def _serve(channel: socket.socket) -> None:
    setup = pickle.loads(received(channel))  # noqa: S301
    sys.path[:] = setup["path"]
    task: Task = setup["task"]
    confinement = Confinement(seconds=setup["seconds"], memory=setup["memory"])
    confinement.adopt_orphans()
    offline = confinement.leave_network()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("sordino.running.block", *(() if task.frame == "numpy" else (task.frame,))):
        importlib.import_module(name)  # once here, instead of once in every block
    try:
        function = pickle.loads(setup["function"])  # noqa: S301
    except BaseException:  # noqa: BLE001  a module that cannot be imported here
        channel.sendall(HEADER.pack(0))
        return
    load(function)
    held = tried(function, task, confinement) + (b",network" if offline else b"")
    code = edited()
    confinement.use_huge_pages()
    gc.collect()
    gc.freeze()
    _greet(channel, held)
    channel.settimeout(IDLE)
    while True:
        try:
            wanted, files, _, _ = socket.recv_fds(channel, 1, 1)
        except TimeoutError:
            return
        end_zombies()
        if wanted == CURRENT and edited() == code:
            channel.sendall(CURRENT)
            continue
        if wanted != WORKER or not files:
            return
        if os.fork() == 0:
            os.setsid()
            confinement.adopt_orphans()
            confinement.die_with_parent()
            channel.close()
            _work(socket.socket(fileno=files[0]), held, function, task, confinement, setup["seconds"])
        os.close(files[0])


def _greet(channel: socket.socket, held: bytes) -> None:
    """Say what is confined, and who speaks."""
    words = held + b",pid=%d" % os.getpid()
    channel.sendall(HEADER.pack(len(words)) + words)


def _work(
    channel: socket.socket, held: bytes, function: Any, task: Task, confinement: Confinement, seconds: float
) -> None:
    """Answer block after block, each in a process of its own."""
    try:
        _greet(channel, held)
        while True:
            seed, files, _, _ = socket.recv_fds(channel, 8, 2)
            if len(seed) < 8 or len(files) < 2:
                return
            child = confinement.fork()
            if child == 0:
                _block(function, task, files, struct.unpack("<Q", seed)[0], confinement)
            for one in files:
                os.close(one)
            wait_for(child, seconds, channel)
            channel.sendall(DONE)
    finally:
        os._exit(0)


def _block(function: Any, task: Task, files: list[int], seed: int, confinement: Confinement) -> None:
    """Read one block, answer it, end. Nothing but its own two files is open."""
    try:
        os.setsid()
        confinement.die_with_parent()
        rows, answer = (
            os.dup2(one, place, inheritable=False) for one, place in zip(files, (100, 101), strict=True)
        )
        confinement.enter()
        os.closerange(3, rows)
        os.closerange(answer + 1, 1 << 20)
        found = value(function, read(rows), task, seed)
        if found is not None:
            os.write(answer, struct.pack(f"<{len(found)}d", *found))
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
