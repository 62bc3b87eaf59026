"""The process from which blocks are forked: it holds the function and its libraries, and never a row.

It is started, not forked, so it has nothing of the process that holds the table. For each block it gets two open files,
forks, and the child reads the rows, answers and ends; whatever the child has started is ended with it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle  # the only things read are those that `pool` wrote
import select
import signal
import socket
import struct
import sys
import time
from typing import TYPE_CHECKING, Any

from sordino.running.confine import adopt_orphans, confine, die_with_parent, leave_network
from sordino.running.evaluate import value

if TYPE_CHECKING:
    from sordino.running.evaluate import Task

DONE = b"D"
HEADER = struct.Struct("<Q")


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
    """Load the function, say what is confined, then answer block after block."""
    setup = pickle.loads(received(channel))  # noqa: S301
    sys.path[:] = setup["path"]
    adopt_orphans()
    offline = leave_network()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    frame = setup["task"].frame
    for name in (
        "sordino.running.block",
        "numpy.random",
        "numpy.linalg",
        *(() if frame == "numpy" else (frame,)),
    ):
        importlib.import_module(name)  # once here, instead of once in every block
    try:
        function = pickle.loads(setup["function"])  # noqa: S301
    except BaseException:  # noqa: BLE001  a module that cannot be imported here
        channel.sendall(HEADER.pack(0))
        return
    limits = {"seconds": setup["seconds"], "memory": setup["memory"]}
    held = _tried(limits) + (b",network" if offline else b"")
    gc.freeze()
    clones: set[int] = set()
    _greet(channel, held)
    while True:
        seed, files, _, _ = socket.recv_fds(channel, 8, 2)
        if len(seed) < 8 or not files:
            return
        if len(files) == 1:  # another zygote is wanted: quicker than to load all libraries again
            clone = os.fork()
            if clone:
                clones.add(clone)
                os.close(files[0])
                continue
            os.setsid()
            channel.close()
            channel, clones = socket.socket(fileno=files[0]), set()
            _greet(channel, held)
            continue
        child = os.fork()
        if child == 0:
            _block(channel, function, setup["task"], files, struct.unpack("<Q", seed)[0], limits)
        for one in files:
            os.close(one)
        _wait(child, limits["seconds"], channel, clones)
        channel.sendall(DONE)


def _greet(channel: socket.socket, held: bytes) -> None:
    """Say what is confined, and who speaks."""
    words = held + b",pid=%d" % os.getpid()
    channel.sendall(HEADER.pack(len(words)) + words)


def _tried(limits: dict[str, Any]) -> bytes:
    """What a child can be confined to on this system, found out by a child."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(theirs, ",".join(confine(**limits)).encode())
        os._exit(0)
    os.close(theirs)
    os.waitpid(child, 0)
    found = os.read(ours, 1000)
    os.close(ours)
    return found or b"time"


def _block(
    channel: socket.socket, function: Any, task: Task, files: list[int], seed: int, limits: dict[str, Any]
) -> None:
    """Read one block, answer it, end. Nothing but the two files is open."""
    try:
        os.setsid()
        die_with_parent()
        channel.detach()
        rows, answer = 10, 11
        os.dup2(files[0], 100)
        os.dup2(files[1], answer)
        os.dup2(100, rows)
        for one in os.listdir("/proc/self/fd"):  # noqa: PTH208  a range of all numbers would take longer than the block
            if int(one) > 2 and int(one) not in {rows, answer}:
                with contextlib.suppress(OSError):
                    os.close(int(one))
        with os.fdopen(rows, "rb") as stream:
            block = pickle.load(stream)  # noqa: S301
        confine(**limits)
        found = value(function, block, task, seed)
        if found is not None:
            os.write(answer, struct.pack(f"<{len(found)}d", *found))
    finally:
        os._exit(0)


def _wait(child: int, seconds: float, channel: socket.socket, clones: set[int]) -> None:
    """Wait for one block as long as it may take, then end it and everything that it has started."""
    watched = os.pidfd_open(child)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.register(channel, select.POLLHUP)
    poll.poll(1000 * seconds)
    os.close(watched)
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except OSError:
            continue
    os.waitpid(child, 0)
    _end_orphans(clones)


def _end_orphans(clones: set[int]) -> None:
    """Processes that a block left behind have become ours; zygotes are no such."""
    while True:
        with open("/proc/thread-self/children", encoding="ascii") as listed:  # noqa: PTH123
            left = [one for one in map(int, listed.read().split()) if one not in clones]
        if not left:
            return
        for one in left:
            os.kill(one, signal.SIGKILL)
        for one in left:
            os.waitpid(one, 0)
        time.sleep(0)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
