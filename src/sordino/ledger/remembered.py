"""What this client has seen: the last row of every ledger it wrote to, kept in its own state directory.

A ledger that was put back to an older copy is whole in itself. Only somebody who remembers a later row can tell.
``SORDINO_STATE=off`` switches it off; a directory that cannot be written is passed over.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from pathlib import Path

from sordino.ledger.chain import read_known

SWITCH = "SORDINO_STATE"
LENGTH = 128
"""Every note has one length and is written over the one before in one piece: to replace a file costs milliseconds."""


def place(identity: str) -> Path | None:
    """The file that remembers a ledger; None when nothing is to be remembered."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return None
    return _place(identity, os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", ""))


@functools.lru_cache(64)
def _place(identity: str, state: str, home: str) -> Path | None:
    if os.path.isabs(state):  # noqa: PTH117
        folder = Path(state)
    elif home:
        folder = Path(home) / ".local" / "state"
    else:
        return None
    return folder / "sordino" / "ledgers" / hashlib.sha256(identity.encode()).hexdigest()[:40]


def recall(identity: str) -> tuple[int, str] | None:
    """The last row that this client has seen of a ledger."""
    file = place(identity)
    if file is None:
        return None
    try:
        handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        noted, _, check = os.read(handle, LENGTH).decode("ascii").strip().partition(" ")
        return read_known(noted) if check == _check(noted) else None  # half of another's note says nothing
    except (OSError, ValueError):
        return None
    finally:
        os.close(handle)


def remember(identity: str, number: int, seal: str) -> None:
    """Note the last row of a ledger; after its commit, so that nothing is remembered that might not be there."""
    file = place(identity)
    if file is None:
        return
    noted = f"{number}:{seal}"
    text = f"{noted} {_check(noted)}".ljust(LENGTH - 1) + "\n"
    with contextlib.suppress(OSError):
        try:
            handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, text.encode("ascii"))
        finally:
            os.close(handle)


def _check(noted: str) -> str:
    return hashlib.sha256(noted.encode("ascii", "replace")).hexdigest()[:12]
