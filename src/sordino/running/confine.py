"""What the process of one block may not do, as far as the system can be asked to see to it.

Limits of time, memory and files hold on every POSIX system. On Linux there are also no network (a namespace of its own,
and Landlock), no file that could be written or made, no signal to other processes, and no new privileges. `confine`
says what took hold: the names are public, and ``isolation="sandbox"`` insists on all of them.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys

NEW_USER, NEW_NET, NEW_IPC = 0x10000000, 0x40000000, 0x08000000
_DEATH_SIGNAL, _NO_NEW_PRIVILEGES, _SUBREAPER = 1, 38, 36
_CREATE_RULES, _RESTRICT = 444, 446  # Landlock; the same numbers on every architecture
_ABI = 1  # asks for the version of Landlock

SANDBOX = ("network", "files")
"""What a sandbox must cover."""


def _kernel() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def adopt_orphans() -> None:
    """Become the parent of whatever a block leaves behind, so that it can be found and ended."""
    if sys.platform == "linux":
        _kernel().prctl(_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """End with the process that started this one."""
    if sys.platform == "linux":
        _kernel().prctl(_DEATH_SIGNAL, 9, 0, 0, 0)


def leave_network() -> bool:
    """Go where there is no network, with all processes to come; a namespace is slow to make, so once for many blocks.

    To be called while the process has one thread.
    """
    return sys.platform == "linux" and _kernel().unshare(NEW_USER | NEW_NET) == 0


def confine(*, seconds: float, memory: int) -> tuple[str, ...]:
    """Take away from this process what one block does not need; what took hold, by name."""
    held = ["time", "memory"]
    most = int(seconds) + 1
    for kind, wanted in (
        (resource.RLIMIT_CPU, most),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (limit, limit))
    if sys.platform != "linux":
        return tuple(held)
    kernel = _kernel()
    kernel.unshare(
        NEW_USER | NEW_IPC
    )  # no power over the process it came from, and no memory shared with other blocks
    kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if _landlock(kernel):
        held.append("files")
    return tuple(held)


def _landlock(kernel: ctypes.CDLL) -> bool:
    """Forbid to write, make, remove or rename any file; later versions also to connect and to signal."""
    version = kernel.syscall(_CREATE_RULES, None, 0, _ABI)
    if version < 1:
        return False
    files = 0x1FFF & ~0b1101  # all but executing, reading files and listing folders
    files |= 1 << 13 if version >= 2 else 0
    files |= 1 << 14 if version >= 3 else 0
    network = 0b11 if version >= 4 else 0
    scoped = 0b11 if version >= 6 else 0
    rules = struct.pack("QQQ", files, network, scoped)[: 8 if version < 4 else 16 if version < 6 else 24]
    ruleset = kernel.syscall(_CREATE_RULES, rules, ctypes.c_size_t(len(rules)), 0)
    if ruleset < 0:
        return False
    held = kernel.syscall(_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return held
