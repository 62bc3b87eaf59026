"""What the process of one block may not do, as far as the system can be asked to see to it.

Limits of time, memory and files hold on every POSIX system. On Linux there are also no network (a namespace of its own,
and Landlock), no file that could be written or made, no signal to other processes, and no new privileges. `enter` says
what took hold: the names are public, and ``isolation="sandbox"`` insists on all of them.

Whatever can be done once is done in the process from which blocks are forked: after a fork every page that is touched
is copied, and that is most of what a block costs.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
import threading

NEW_USER, NEW_NET, NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_DEATH_SIGNAL, _NO_NEW_PRIVILEGES, _SUBREAPER = 1, 38, 36
_CREATE_RULES, _RESTRICT = 444, 446  # Landlock; the same numbers on every architecture
_ABI = 1  # asks for the version of Landlock
_HUGE, _COLLAPSE, _HUGE_PAGE = 14, 25, 1 << 21  # advice about memory, and the pages that it makes

SANDBOX = ("network", "files")
"""What a sandbox must cover."""


class Confinement:
    """Limits of a block: made once, entered by the process of every block.

    Args:
        seconds: Time for one block.
        memory: Bytes for one block.
    """

    def __init__(self, *, seconds: float, memory: int) -> None:
        self.limits = ((resource.RLIMIT_CPU, int(seconds) + 1), (resource.RLIMIT_AS, memory))
        self._rules = -1
        for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE):
            resource.setrlimit(kind, (0, 0))
        if sys.platform == "linux":
            kernel = ctypes.PyDLL(None)
            numbers = [ctypes.c_long] * 5
            self._control, self._unshare, self._call = kernel.prctl, kernel.unshare, kernel.syscall
            self._control.argtypes, self._unshare.argtypes = numbers, numbers[:1]
            self._call.argtypes = [*numbers, ctypes.c_long]
            self._call.restype = ctypes.c_long
            self._fork = kernel.fork
            self._fork.argtypes = []
            self._rules = self._ruleset()

    def fork(self) -> int:
        """Fork, without what Python does after a fork where that has nothing to do.

        Its hooks set locks of other threads free and seed random numbers again. Here are no other threads, and a block
        is seeded anyway; they would touch twice the pages that a light function does.
        """
        if sys.platform != "linux" or threading.active_count() > 1:
            return os.fork()
        return int(self._fork())

    def adopt_orphans(self) -> None:
        """Become the parent of whatever a block leaves behind, so that it can be found and ended."""
        if sys.platform == "linux":
            self._control(_SUBREAPER, 1, 0, 0, 0)

    def die_with_parent(self) -> None:
        """End with the process that started this one."""
        if sys.platform == "linux":
            self._control(_DEATH_SIGNAL, 9, 0, 0, 0)

    def leave_network(self) -> bool:
        """Go where there is no network, with all processes to come; a namespace is slow to make, so once for many.

        To be called while the process has one thread.
        """
        return sys.platform == "linux" and self._unshare(NEW_USER | NEW_NET) == 0

    def enter(self) -> tuple[str, ...]:
        """Take away from this process what one block does not need; what took hold, by name."""
        held = ["time", "memory"]
        for kind, wanted in self.limits:
            _, hard = resource.getrlimit(kind)
            limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (limit, limit))
        if sys.platform != "linux":
            return tuple(held)
        # no power over the process it came from, and no memory shared with other blocks
        self._unshare(NEW_USER | NEW_IPC)
        self._control(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        if self._rules >= 0 and self._call(_RESTRICT, self._rules, 0, 0, 0, 0) == 0:
            held.append("files")
        return tuple(held)

    def _ruleset(self) -> int:
        """Rules that forbid to write, make, remove or rename any file; later versions also to connect and to signal.

        An open file, or -1 where the system knows none.
        """
        version = self._call(_CREATE_RULES, 0, 0, _ABI, 0, 0)
        if version < 1:
            return -1
        files = 0x1FFF & ~0b1101  # all but executing, reading files and listing folders
        files |= 1 << 13 if version >= 2 else 0
        files |= 1 << 14 if version >= 3 else 0
        network = 0b11 if version >= 4 else 0
        scoped = 0b11 if version >= 6 else 0
        rules = struct.pack("QQQ", files, network, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
        held = ctypes.create_string_buffer(rules, len(rules))
        return int(self._call(_CREATE_RULES, ctypes.addressof(held), len(rules), 0, 0, 0))

    def use_huge_pages(self) -> None:
        """Put this process's memory into huge pages where it can be: a fork copies one entry instead of 512."""
        if sys.platform != "linux":
            return
        advise = ctypes.PyDLL(None).madvise
        advise.argtypes = [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
        with open("/proc/self/maps", encoding="utf-8") as listed:  # noqa: PTH123
            lines = [line.split() for line in listed]
        for where, allowed, _, _, file, *_ in lines:
            if file == "0" and allowed.startswith("rw"):
                first, last = (int(end, 16) for end in where.split("-"))
                for page in range(-(-first // _HUGE_PAGE) * _HUGE_PAGE, last - _HUGE_PAGE + 1, _HUGE_PAGE):
                    advise(page, _HUGE_PAGE, _HUGE)
                    advise(page, _HUGE_PAGE, _COLLAPSE)
