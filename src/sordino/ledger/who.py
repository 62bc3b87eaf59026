"""Who asks: user, host, program and version, and the purpose of a release. Texts for people.

Names and reasons have a length limit, and whatever a terminal would act on is shown escaped.
"""

from __future__ import annotations

import functools
import os
import platform
from typing import Any

from sordino import __version__
from sordino.errors import ParameterError

NAME, REASON = 200, 1000
"""The longest name (of a user, a purpose, data) and the longest reason, in characters."""


def who(user: str | None = None, purpose: str | None = None) -> dict[str, str]:
    """Say who asks, and what for when it is stated.

    Example:
        >>> told = who("alice", "annual report")
        >>> told["user"], told["program"], told["purpose"]
        ('alice', 'sordino', 'annual report')
    """
    found = {
        "user": login() if user is None else user,
        "host": _short(platform.node() or "unknown"),
        "program": "sordino",
        "version": __version__,
    }
    return found if purpose is None else {**found, "purpose": purpose}


@functools.cache
def login() -> str:
    """The login name of this process's owner, by the system's own list; the environment alone can say anything."""
    try:
        import pwd

        return _short(pwd.getpwuid(os.getuid()).pw_name)
    except (ImportError, KeyError):
        pass
    try:
        import getpass

        return _short(getpass.getuser())
    except (OSError, KeyError, ImportError):
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def check_name(subject: str, limit: int = NAME, **given: Any) -> None:
    """Refuse a name that is empty, too long or no text.

    Example:
        >>> check_name("open", user="alice")
    """
    for name, text in given.items():
        if text is None:
            continue
        if not isinstance(text, str) or not text.strip() or len(text) > limit or not storable(text):
            raise ParameterError(
                subject,
                f"{name} must be a text of 1 to {limit} characters",
                got={name: text},
                why="It stays in the ledger, as it is.",
            )


def check_reason(reason: Any) -> None:
    """Refuse a change of the ledger without a reason, or with one that nobody would read."""
    if not isinstance(reason, str) or not reason.strip():
        raise ParameterError(
            "ledger",
            "a reason must be given",
            why="It stays in the ledger.",
            hint='reason="2026 income tables"',
        )
    check_name("ledger", REASON, reason=reason)


def check_token(token: Any) -> None:
    """Refuse a token that is not a short text."""
    fine = isinstance(token, str) and token.strip() and len(token) <= NAME and storable(token)
    if token is not None and not fine:
        raise ParameterError(
            "ledger",
            "a token is a text of 1 to 200 characters",
            got={"token": token},
            hint='token="tables-2026-1"',
        )


def storable(text: str) -> bool:
    """Whether every database can keep a text: no NUL, no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def visible(text: str) -> str:
    r"""Show a text with everything escaped that a terminal would act on: control characters, reversed writing.

    Example:
        >>> visible("tables\x1b[2J")
        'tables\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def _short(text: str) -> str:
    return text[:NAME]
