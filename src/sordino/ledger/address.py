"""Where a ledger is, as it was typed: a file, a PostgreSQL address, or memory. What may be shown of it has no password.

Everything that looks like an address is one, also with a capital letter or a slash too few: taken for the name of a
file, its password would stand in every message.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from sordino.errors import ParameterError
from sordino.ledger.entry import visible

SERVER = re.compile(r"\s*(?:postgres(?:ql)?:|[A-Za-z][A-Za-z0-9+.-]*://)", re.IGNORECASE)
SHOWN = ("host", "hostaddr", "port", "dbname", "service", "sslmode")
"""Options of an address that are shown; any other may be a secret."""

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

_HINT = "postgresql://user@host/database?ledger=people, with the password in ~/.pgpass or PGPASSWORD"


@dataclass(frozen=True, slots=True, repr=False)
class ServerAddress:
    """A ledger in a database.

    Attributes:
        server: What the driver is told, password and all; never shown.
        schema: The name of the ledger.
        name: What may be shown, and pasted: the user is kept, a password is not.
    """

    server: str
    schema: str
    name: str


def is_address(location: Any) -> bool:
    """Whether a place is a database rather than a file.

    Example:
        >>> is_address("Postgresql://me@host/db"), is_address("people.ledger")
        (True, False)
    """
    return isinstance(location, str) and SERVER.match(location) is not None


def read_address(url: str) -> ServerAddress:
    """Read an address of PostgreSQL.

    Example:
        >>> read_address("postgresql://me:secret@host/db?ledger=people").name
        'postgresql://me@host/db?ledger=people'
    """
    parts = _split(url.strip())
    options = dict(parse_qsl(parts.query))
    schema = options.pop("ledger", "sordino")
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,50}", schema):
        raise ParameterError(
            "ledger",
            "the name of a ledger in PostgreSQL has small letters, digits and underscores",
            got={"ledger": schema if len(schema) < 60 else schema[:60]},
            hint="postgresql://host/db?ledger=people",
        )
    server = urlunsplit(parts._replace(scheme="postgresql", query=urlencode(options)))
    user = options.get("user", parts.netloc.rpartition("@")[0].partition(":")[0])
    host = parts.netloc.rpartition("@")[2]
    shown = urlencode(
        {name: options[name] for name in SHOWN if name in options and _told(name, options[name])}
        | {"ledger": schema},
        safe="/",
    )
    name = f"postgresql://{user + '@' if user else ''}{host}{parts.path}?{shown}"
    return ServerAddress(server, schema, visible(name))


def _told(name: str, value: str) -> bool:
    """Whether an option says what it should, and so may be shown."""
    return name != "sslmode" or value in SSL_MODES


def _split(url: str) -> SplitResult:
    """Take an address apart, or say what is wrong with it without repeating it."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # refuses anything that is not a number
    except ValueError:
        raise ParameterError("ledger", "the address cannot be read", hint=_HINT) from None
    if parts.scheme not in ("postgresql", "postgres") or "://" not in url:
        raise ParameterError(
            "ledger",
            "a ledger is a file or a PostgreSQL database; this address is neither",
            hint=f"people.ledger, or {_HINT}",
        )
    if parts.fragment or "@" in unquote(parts.path) or "@" in parts.netloc.rpartition("@")[0]:
        raise ParameterError(
            "ledger",
            "the address cannot be read",
            why="A password with one of the signs / ? # @ : must be written in percent codes.",
            hint=_HINT,
        )
    return parts


def file_name(path: str | os.PathLike[str]) -> str:
    """The name of a file as it may be shown."""
    return visible(os.fspath(path) if isinstance(path, str) else str(path))
