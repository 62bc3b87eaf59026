"""The desk: what the page remembers beside the ledger. People, sessions, tokens, drafts, requests, rates and a log.

What decides about budget is in the ledger: losing the desk loses no privacy. Secrets are stored as hashes, and nothing
that was read from data or released ever comes here. SQLite for one machine, PostgreSQL for several.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from sordino.errors import MissingExtra
from sordino.ledger.address import is_address, read_address
from sordino.ledger.chain import FIRST, digest

LASTS, IDLE = 12 * 3600, 3600
"""Seconds that a session lasts, and that it may be idle."""


def hashed(secret: str) -> str:
    """What is stored of a secret of 256 random bits: nothing shorter needs a slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Desk:
    """The tables of the desk.

    Args:
        place: A file, a ``postgresql://`` address, or None to keep it in memory.
    """

    def __init__(self, place: str | Path | None) -> None:
        self._place = None if place is None else str(place)
        self._server = is_address(self._place)
        self._mine = threading.local()
        self._alone = threading.RLock()
        self._memory: Any = None
        self._opened: list[Any] = []
        if self._place is None:
            self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        elif not self._server:
            file = Path(self._place)
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.touch(mode=0o600, exist_ok=True)
        with self.writing():
            for statement in files("sordino.web").joinpath("desk.sql").read_text(encoding="utf-8").split(";"):
                if statement.strip():
                    self.run(statement)

    def _connection(self) -> Any:
        if self._memory is not None:
            return self._memory
        kept = getattr(self._mine, "connection", None)
        if kept is not None and not (self._server and (kept.closed or kept.broken)):
            return kept
        assert self._place is not None
        if self._server:
            try:
                import psycopg
            except ImportError:
                raise MissingExtra.named("serve", "psycopg", "postgres") from None
            address = read_address(self._place)
            fresh: Any = psycopg.connect(address.server, autocommit=True, connect_timeout=10)
            fresh.execute("SELECT pg_advisory_lock(736)")  # two workers that begin at once
            fresh.execute(f"CREATE SCHEMA IF NOT EXISTS {address.schema}_desk")
            fresh.execute("SELECT pg_advisory_unlock(736)")
            fresh.execute(f"SET search_path TO {address.schema}_desk")
        else:
            fresh = sqlite3.connect(self._place, timeout=30, isolation_level=None, check_same_thread=False)
            fresh.execute("PRAGMA journal_mode=WAL")
            fresh.execute("PRAGMA synchronous=NORMAL")
        self._mine.connection = fresh
        self._opened.append(fresh)
        return fresh

    def run(self, statement: str, *values: Any) -> Any:
        """Run one statement."""
        with self._alone if self._memory is not None else contextlib.nullcontext():
            return self._connection().execute(
                statement.replace("?", "%s") if self._server else statement, values
            )

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that is alone with the desk."""
        with self._alone if self._memory is not None else contextlib.nullcontext():
            connection = self._connection()
            connection.execute("BEGIN" if self._server else "BEGIN IMMEDIATE")
            try:
                if self._server:
                    connection.execute("SELECT pg_advisory_xact_lock(735)")
                yield
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    def secret(self, name: str) -> bytes:
        """A key of the desk's own, made when it is first asked for."""
        with self.writing():
            found = self.run("SELECT value FROM secrets WHERE name = ?", name).fetchone()
            if found is None:
                found = (secrets.token_hex(32),)
                self.run("INSERT INTO secrets VALUES (?, ?)", name, found[0])
        return bytes.fromhex(found[0])

    # Sessions, and keys that are exchanged once: links of the app, invitations.

    def begin(self, person: str) -> str:
        """Begin a session; what comes back is shown to the browser alone."""
        secret, now = secrets.token_urlsafe(32), time.time()
        self.run("DELETE FROM sessions WHERE made < ? OR seen < ?", now - LASTS, now - IDLE)
        self.run("INSERT INTO sessions VALUES (?, ?, ?, ?)", hashed(secret), person, now, now)
        return secret

    def who(self, secret: str, *, idle: float = IDLE) -> str | None:
        """Whose session it is, while it lasts."""
        now = time.time()
        found = self.run("SELECT person, made, seen FROM sessions WHERE hash = ?", hashed(secret)).fetchone()
        if found is None or now - found[1] > LASTS or now - found[2] > idle:
            return None
        if now - found[2] > 30:
            self.run("UPDATE sessions SET seen = ? WHERE hash = ?", now, hashed(secret))
        return str(found[0])

    def end(self, secret: str) -> None:
        """End a session."""
        self.run("DELETE FROM sessions WHERE hash = ?", hashed(secret))

    def end_all(self, person: str) -> None:
        """End every session of a person."""
        self.run("DELETE FROM sessions WHERE person = ?", person)

    def make_key(self, person: str, kind: str, seconds: float) -> str:
        """A key that is exchanged once."""
        secret = secrets.token_urlsafe(32)
        self.run("INSERT INTO keys VALUES (?, ?, ?, ?)", hashed(secret), person, kind, time.time() + seconds)
        return secret

    def key(self, secret: str, kind: str) -> str | None:
        """Whose key it is; it is left as it is."""
        found = self.run(
            "SELECT person, until FROM keys WHERE hash = ? AND kind = ?", hashed(secret), kind
        ).fetchone()
        return None if found is None or found[1] < time.time() else str(found[0])

    def exchange(self, secret: str, kind: str) -> str | None:
        """Whose key it was: it is used up, also by somebody who comes too late."""
        with self.writing():
            person = self.key(secret, kind)
            gone = self.run("DELETE FROM keys WHERE hash = ? AND kind = ?", hashed(secret), kind).rowcount
        return person if gone else None

    # Drafts: a question, its token, and what became of it.

    def draft(self, token: str, person: str, dataset: str, asked: Mapping[str, Any]) -> None:
        """Keep a question under its token; the same again changes nothing."""
        text = json.dumps(asked, sort_keys=True)
        self.run(
            "INSERT INTO drafts VALUES (?, ?, ?, ?, ?, 'draft', 0) ON CONFLICT (token) DO NOTHING",
            token, person, dataset, text, time.time(),
        )  # fmt: skip

    def drafted(self, token: str) -> dict[str, Any] | None:
        """A draft by its token."""
        names = ("token", "person", "dataset", "asked", "made", "state", "paid")
        found = self.run(f"SELECT {', '.join(names)} FROM drafts WHERE token = ?", token).fetchone()  # noqa: S608
        if found is None:
            return None
        return dict(zip(names, found, strict=True)) | {"asked": json.loads(found[3])}

    def mark(self, token: str, state: str, *, paid: float | None = None) -> None:
        """Note what became of a draft; when it was paid is noted once."""
        self.run("UPDATE drafts SET state = ? WHERE token = ?", state, token)
        if paid is not None:
            self.run("UPDATE drafts SET paid = ? WHERE token = ? AND paid = 0", paid, token)

    def marked(self, state: str) -> list[str]:
        """The tokens of all drafts in a state."""
        return [row[0] for row in self.run("SELECT token FROM drafts WHERE state = ?", state).fetchall()]

    # Rates.

    def allow(self, subject: str, most: int, seconds: int = 60) -> bool:
        """Count a use; whether it is within so many in this span of time."""
        span = int(time.time()) // seconds
        with self.writing():
            self.run("DELETE FROM rates WHERE span < ? AND subject = ?", span, subject)
            self.run(
                "INSERT INTO rates VALUES (?, ?, 1) ON CONFLICT (subject, span) DO UPDATE SET used = rates.used + 1",
                subject, span,
            )  # fmt: skip
            used = self.run("SELECT used FROM rates WHERE subject = ? AND span = ?", subject, span).fetchone()
        return bool(used[0] <= most)

    # The log: who asked what from where, chained like the ledger. Never values, bodies or query strings.

    def note(self, person: str, via: str, address: str, route: str, subject: str, outcome: str) -> None:
        """Write one line."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        told = [text[:200] for text in (person, via, address, route, subject, outcome)]
        with self.writing():
            last = self.run("SELECT number, hash FROM log ORDER BY number DESC LIMIT 1").fetchone()
            number, before = (1, FIRST) if last is None else (last[0] + 1, last[1])
            seal = digest(number, at, *told, before)
            self.run("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", number, at, *told, before, seal)

    def lines(self, last: int = 200) -> list[tuple[Any, ...]]:
        """The newest lines of the log, the newest first."""
        return list(self.run("SELECT * FROM log ORDER BY number DESC LIMIT ?", last).fetchall())

    def log_holds(self) -> bool:
        """Whether every line of the log names the one before it."""
        before, expected = FIRST, 1
        for number, *told, named, seal in self.run("SELECT * FROM log ORDER BY number").fetchall():
            if number != expected or named != before or digest(number, *told, named) != seal:
                return False
            before, expected = seal, number + 1
        return True

    def close(self) -> None:
        """Let go of the connections of all threads."""
        for connection in self._opened:
            with contextlib.suppress(Exception):
                connection.close()
        self._opened, self._mine = [], threading.local()
