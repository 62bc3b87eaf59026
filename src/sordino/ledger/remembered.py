"""What this client has seen: the last row of every ledger it wrote to, kept in its own state directory.

A ledger that was put back to an older copy is whole in itself. Only somebody who remembers a later row can tell.
``SORDINO_STATE=off`` switches it off; a directory that cannot be written is passed over.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from sordino.ledger.chain import read_known

SWITCH = "SORDINO_STATE"


def place(identity: str) -> Path | None:
    """The file that remembers a ledger; None when nothing is to be remembered."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "no", "false"):
        return None
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        home = Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state"  # noqa: PTH117
    except RuntimeError:  # nobody's home
        return None
    return home / "sordino" / "ledgers" / hashlib.sha256(identity.encode()).hexdigest()[:40]


def recall(identity: str) -> tuple[int, str] | None:
    """The last row that this client has seen of a ledger."""
    file = place(identity)
    if file is None:
        return None
    try:
        return read_known(file.read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return None


def remember(identity: str, number: int, seal: str) -> None:
    """Note the last row of a ledger; after its commit, so that nothing is remembered that might not be there."""
    file = place(identity)
    if file is None:
        return
    with contextlib.suppress(OSError):
        beside = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        try:
            handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileNotFoundError:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(handle, f"{number}:{seal}\n".encode("ascii"))
        finally:
            os.close(handle)
        beside.replace(file)
