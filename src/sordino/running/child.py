"""The end of a process: it may take so long, and whatever it has started ends with it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket


def wait_for(child: int, seconds: float, channel: socket.socket | None = None) -> None:
    """Wait for a child, then end it and everything that it has started.

    Args:
        child: The process; it leads a session of its own.
        seconds: As long as it may take.
        channel: Whoever wants the answer; nobody waits longer than it is open.
    """
    watched = os.pidfd_open(child)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    if channel is not None:
        poll.register(channel, select.POLLHUP)
    poll.poll(1000 * seconds)
    os.close(watched)
    for end in (os.killpg, os.kill):
        try:
            end(child, signal.SIGKILL)
        except OSError:
            continue
    os.waitpid(child, 0)
    end_children()


def end_zombies() -> None:
    """Take leave of children that have ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue


def end_children() -> None:
    """End all children; what a block left behind has become one (`Confinement.adopt_orphans`)."""
    while True:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
        except ChildProcessError:  # there are none
            return
        with open("/proc/thread-self/children", encoding="ascii") as listed:  # noqa: PTH123
            left = [int(one) for one in listed.read().split()]
        for one in left:
            os.kill(one, signal.SIGKILL)
        for one in left:
            os.waitpid(one, 0)
        time.sleep(0)
