"""Addresses of PostgreSQL servers: recognised however they are spelt, taken apart, and shown without passwords.

What is shown can be pasted: the user, the host and the options stay, and the password is found where it always is
(``PGPASSWORD``, ``~/.pgpass``).
"""

from __future__ import annotations

import errno
import os
import re
import shlex
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from sordino.errors import ParameterError

_SERVER = re.compile(r"(?i)\s*postgres(ql)?:/")
_SCHEME = re.compile(r"(?i)\s*[a-z][a-z0-9+.-]+://")
_SECRET = ("password", "sslpassword", "passfile", "sslkey")


def is_server(place: object) -> bool:
    """Whether a place is the address of a PostgreSQL server; schemes have no upper or lower case.

    Example:
        >>> is_server("Postgresql://me@host/db"), is_server("people.ledger")
        (True, False)
    """
    return isinstance(place, str) and _SERVER.match(place) is not None


def check_place(subject: str, place: object) -> None:
    """Refuse what can be no file and no server; the address of anything else would be taken for the name of a file."""
    if place is None or is_server(place):
        return
    hint = "people.ledger, or 'postgresql://user@host/database?ledger=people'"
    if not isinstance(place, str | os.PathLike) or (isinstance(place, str) and _SCHEME.match(place)):
        raise ParameterError(
            subject, "a place is a file or a postgresql:// address", got={"place": place}, hint=hint
        )
    if place == ":memory:":  # as SQLite says it: the file of that name would be a surprise
        raise ParameterError(
            subject, "a place is a file or a postgresql:// address; memory is asked for by None",
            got={"place": place}, hint="ledger=None",
        )  # fmt: skip
    check_path(subject, place, hint=hint)


def check_path(subject: str, path: str | os.PathLike[str], *, hint: str) -> None:
    """Refuse a text that no file can be called: too long, or with a character that names do not have."""
    name = os.fspath(path)
    fits = True
    try:
        os.lstat(name)
    except OSError as problem:
        fits = problem.errno != errno.ENAMETOOLONG
    except ValueError:
        fits = False
    if not fits:
        raise ParameterError(subject, "no file can have this name", got={"path": name}, hint=hint)


def server(subject: str, address: str) -> tuple[SplitResult, dict[str, str]]:
    """An address taken apart, and its options; raises when it cannot be.

    Example:
        >>> parts, options = server("open", "Postgres://me@host/db?table=people")
        >>> parts.scheme, parts.hostname, options
        ('postgresql', 'host', {'table': 'people'})
    """
    refusal = ParameterError(
        subject,
        "the address cannot be read",
        why="It has a user, a host, perhaps a port, and a database; an IPv6 host stands between brackets.",
        hint="'postgresql://user@host:5432/database'",
    )
    parts: SplitResult | None
    try:
        parts = urlsplit(address.strip())
        parts.port  # noqa: B018  raises when it is not a number
    except ValueError:
        parts = None
    if parts is None or not address.strip().lower().startswith(("postgresql://", "postgres://")):
        raise refusal
    return parts._replace(scheme="postgresql"), dict(parse_qsl(parts.query))


def written(parts: SplitResult, options: dict[str, str]) -> str:
    """An address put together again, for the server alone: it may hold a password."""
    query = urlencode(options, safe="/", quote_via=quote)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" + (f"?{query}" if query else "")


def shown(parts: SplitResult, options: dict[str, str]) -> str:
    """An address as it may be printed and pasted: no password.

    Example:
        >>> shown(*server("open", "postgresql://me:secret@host/db?ledger=people&password=secret"))
        'postgresql://me@host/db?ledger=people'
    """
    user, at, host = parts.netloc.rpartition("@")
    login = user.partition(":")[0]
    kept = {name: value for name, value in options.items() if name.lower() not in _SECRET}
    return written(parts._replace(netloc=f"{login}{at}{host}" if login else host), kept)


def pasted(place: object) -> str:
    """A place as a word of a command line."""
    return shlex.quote(str(place))
