"""People, passwords, tokens and roles of an organisation, in the desk. Secrets are stored as hashes only."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import string
import threading
import time
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sordino.errors import LimitExceeded, ParameterError
from sordino.privacy import Guarantee
from sordino.web.desk import hashed
from sordino.web.person import ROLES, Person

if TYPE_CHECKING:
    from sordino.web.desk import Desk

SCOPES = ("plan", "quote", "release", "history", "verify", "decide")
PREFIX = "sdn_"
LONGEST = 90
"""Days that a token lasts at most."""
INVITED = 24 * 3600
COST = {"n": 2**15, "r": 8, "p": 3, "maxmem": 2**26, "dklen": 32}
"""Of scrypt, as OWASP asks at least: 32 MB and some 150 ms for one password."""
LETTERS = string.digits + string.ascii_letters
_TWO = threading.BoundedSemaphore(2)  # slow hashes at once: nobody fills the memory with tries


def hash_password(password: str) -> str:
    """A slow hash with its salt."""
    if not 12 <= len(password) <= 200:
        raise ParameterError(
            "sign-in", "a password has 12 to 200 characters", why="It is the only lock on your name."
        )
    salt = secrets.token_bytes(16)
    return base64.b64encode(salt + _slow(password, salt)).decode()


def right_password(password: str, kept: str) -> bool:
    """Whether a password is right; takes as long when there is none to compare with."""
    raw = base64.b64decode(kept) if kept else b"\0" * 48
    return hmac.compare_digest(_slow(password[:200], raw[:16]), raw[16:]) and bool(kept)


def _slow(password: str, salt: bytes) -> bytes:
    with _TWO:
        return hashlib.scrypt(password.encode(), salt=salt, **COST)


def new_token() -> str:
    """A token that scanners of leaked secrets can tell: a prefix, 256 bits, a checksum.

    Example:
        >>> made = new_token()
        >>> made.startswith("sdn_"), looks_right(made), looks_right(made[:-1] + "!")
        (True, True, False)
    """
    number, body = secrets.randbits(256), ""
    for _ in range(43):
        number, digit = divmod(number, 62)
        body += LETTERS[digit]
    return PREFIX + body + _check(body)


def _check(body: str) -> str:
    number, out = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        out += LETTERS[digit]
    return out


def looks_right(token: str) -> bool:
    """Whether a text has the form of a token; what has not is not even looked up."""
    body = token.removeprefix(PREFIX)
    return token.startswith(PREFIX) and len(body) == 49 and hmac.compare_digest(_check(body[:43]), body[43:])


class Accounts:
    """Everybody who may come in.

    Args:
        desk: Where they are kept.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def add(self, name: str, roles: tuple[str, ...]) -> str:
        """Add somebody, or give other roles; what comes back is an invitation that works once within a day."""
        if not name or len(name) > 100 or not name.isprintable() or set(roles) - set(ROLES) or not roles:
            raise ParameterError(
                "people", "a person has a name of 1 to 100 characters and at least one role", got={"name": name[:100]},
                hint=", ".join(ROLES),
            )  # fmt: skip
        text = " ".join(role for role in ROLES if role in roles)
        self.desk.run(
            "INSERT INTO people VALUES (?, ?, '', 1) "
            "ON CONFLICT (name) DO UPDATE SET roles = excluded.roles, active = 1",
            name, text,
        )  # fmt: skip
        return self.desk.make_key(name, "invite", INVITED)

    def set_password(self, name: str, password: str) -> None:
        """Set the password; every session ends."""
        self.desk.run("UPDATE people SET password = ? WHERE name = ?", hash_password(password), name)
        self.desk.end_all(name)

    def stop(self, name: str) -> None:
        """Shut somebody out: sessions and tokens end at once."""
        self.desk.run("UPDATE people SET active = 0 WHERE name = ?", name)
        self.desk.run("UPDATE tokens SET active = 0 WHERE person = ?", name)
        self.desk.end_all(name)

    def everybody(self) -> list[tuple[str, list[str], bool, bool]]:
        """Names, roles, whether they are let in, and whether they have a password."""
        found = self.desk.run("SELECT name, roles, active, password FROM people ORDER BY name").fetchall()
        return [
            (name, roles.split(), bool(active), bool(password)) for name, roles, active, password in found
        ]

    def person(self, name: str, **given: Any) -> Person | None:
        """Somebody by name, while they are let in."""
        found = self.desk.run("SELECT roles, active FROM people WHERE name = ?", name).fetchone()
        return None if found is None or not found[1] else Person(name, frozenset(found[0].split()), **given)

    def sign_in(self, name: str, password: str, address: str) -> str | None:
        """The secret of a new session, when the password is right; five tries a minute per name and address."""
        if not (
            self.desk.allow(f"sign-in {name[:100]}", 5) and self.desk.allow(f"sign-in from {address}", 20)
        ):
            return None
        found = self.desk.run("SELECT password FROM people WHERE name = ? AND active = 1", name).fetchone()
        return self.desk.begin(name) if right_password(password, found[0] if found else "") else None

    def make_token(
        self,
        person: str,
        name: str,
        scopes: tuple[str, ...],
        *,
        datasets: tuple[str, ...] = (),
        days: int = 30,
        cost_max: Guarantee | None = None,
    ) -> str:
        """A token, shown once; ``cost_max`` is what all of its questions may cost."""
        if (
            not name.strip()
            or len(name) > 100
            or not scopes
            or set(scopes) - set(SCOPES)
            or not 1 <= days <= LONGEST
        ):
            raise ParameterError(
                "token", "has a name, scopes and at most 90 days", got={"name": name[:100], "days": days},
                hint=f"scopes: {', '.join(SCOPES)}",
            )  # fmt: skip
        secret = new_token()
        self.desk.run(
            "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, '', 1)",
            hashed(secret), name.strip(), person, " ".join(scopes), "\n".join(datasets),
            "" if cost_max is None else json.dumps(cost_max.to_dict()), time.time() + days * 86400,
        )  # fmt: skip
        return secret

    def tokens(self, person: str | None = None) -> list[dict[str, Any]]:
        """What is known of tokens; never the tokens."""
        names = ("hash", "name", "person", "scopes", "datasets", "cost_max", "until", "used", "active")
        rows = self.desk.run(f"SELECT {', '.join(names)} FROM tokens ORDER BY person, name").fetchall()  # noqa: S608
        made = [dict(zip(names, row, strict=True)) for row in rows]
        for one in made:
            one["cost_max"] = Guarantee.from_dict(json.loads(one["cost_max"])) if one["cost_max"] else None
            one["datasets"] = ", ".join(one["datasets"].split("\n"))
            one["until"] = datetime.fromtimestamp(one["until"], UTC).date().isoformat()
        return [one for one in made if person in (None, one["person"])]

    def revoke(self, key: str) -> None:
        """End a token at once; its stored hash names it."""
        self.desk.run("UPDATE tokens SET active = 0 WHERE hash = ?", key)

    def by_token(self, secret: str, address: str) -> Person | None:
        """Whose token it is, while it lasts."""
        if not looks_right(secret):
            return None
        found = self.desk.run(
            "SELECT person, name, scopes, datasets, until, used FROM tokens WHERE hash = ? AND active = 1",
            hashed(secret),
        ).fetchone()
        if found is None or found[4] < time.time():
            return None
        person, name, scopes, datasets, _, used = found
        today = datetime.now(UTC).date().isoformat()
        if used != today:
            self.desk.run("UPDATE tokens SET used = ? WHERE hash = ?", today, hashed(secret))
        return self.person(
            person, via=name, scopes=frozenset(scopes.split()), address=address, token=hashed(secret),
            datasets=frozenset(filter(None, datasets.split("\n"))),
        )  # fmt: skip

    def charge(self, token: str, draft: str, cost: Guarantee) -> None:
        """Count a question against what its token may cost in all; the same question once."""
        with self.desk.writing():
            found = self.desk.run("SELECT cost_max FROM tokens WHERE hash = ?", token).fetchone()
            if found is None or not found[0]:
                return
            most = Guarantee.from_dict(json.loads(found[0]))
            rows = self.desk.run("SELECT draft, cost FROM charges WHERE token = ?", token).fetchall()
            costs = {name: Guarantee.from_dict(json.loads(text)) for name, text in rows}
            total = sum((one for name, one in costs.items() if name != draft), start=cost)
            if not total.within(most):
                raise LimitExceeded(
                    "token", "this token has not enough left", got={"asked": cost, "of": most},
                    why="Nothing was read and nothing was spent.", hint="ask for less, or make another token",
                )  # fmt: skip
            self.desk.run(
                "INSERT INTO charges VALUES (?, ?, ?) ON CONFLICT (token, draft) DO NOTHING",
                token, draft, json.dumps(cost.to_dict()),
            )  # fmt: skip

    def refund(self, token: str, draft: str) -> None:
        """Take a question off again that was not paid."""
        self.desk.run("DELETE FROM charges WHERE token = ? AND draft = ?", token, draft)
