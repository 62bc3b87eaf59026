"""`connect`: a session on data that an organisation serves, with the methods of any other session.

The token of a question is made before it is sent, and asked again with after a lost line: paid once, answered
once. Only the standard library is needed.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as quoted
from urllib.parse import urlsplit

from sordino import catalogue, errors
from sordino.coverage import Coverage
from sordino.errors import LedgerError, ParameterError, SordinoError
from sordino.privacy import Guarantee, Neighbors, Unit
from sordino.session.release import Event, Release

if TYPE_CHECKING:
    from sordino.statistics import Statistic

TRIES = 5
HERE = ("127.0.0.1", "localhost", "::1")


def connect(url: str, token: str | None = None, *, timeout: float = 60.0) -> Service:
    """Come to a service of `sordino serve`.

    Args:
        url: Its address: ``https://dp.example.org``; without TLS on this machine alone.
        token: What it knows you by; by default what ``SORDINO_TOKEN`` holds.
        timeout: Seconds after which an unanswered request is sent again.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or (parts.scheme == "http" and parts.hostname not in HERE):
        raise ParameterError(
            "connect", "the address of a service begins with https://", got={"url": url},
            why="A token must not be sent in the clear.", hint='sd.connect("https://dp.example.org")',
        )  # fmt: skip
    secret = token or os.environ.get("SORDINO_TOKEN", "")
    if not secret:
        raise ParameterError("connect", "a token is needed", hint="export SORDINO_TOKEN=sdn_...")
    return Service(url.rstrip("/"), secret, timeout)


class Service:
    """A service; made by `connect`."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        self.url, self._token, self._timeout = url, token, timeout

    def ask(self, method: str, path: str, sent: Any = None) -> tuple[int, Any]:
        """Send a request; a lost line is tried again, since every one of them may come twice."""
        body = None if sent is None else json.dumps(sent).encode()
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        for left in range(TRIES - 1, -1, -1):
            try:
                status, said, pause = self._sent_once(method, path, body, headers)
                if status < 400:
                    return status, json.loads(said)
            except (OSError, http.client.HTTPException, ValueError):
                status, said, pause = 0, b"", 0.2 * (TRIES - left)
            if status not in (0, 429) or (status == 429 and not left):
                raise _rebuilt(said, status)
            if left:
                time.sleep(pause)
        raise LedgerError(
            "connect", "the service cannot be reached", got={"url": self.url},
            why="What was paid is not paid twice: a question keeps its token.", hint="try again with the same token",
        )  # fmt: skip

    def _sent_once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, float]:
        """Status, answer and how long to wait before the next try."""
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", body, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:  # noqa: S310
                return answer.status, answer.read(), 0.0
        except urllib.error.HTTPError as refusal:  # its words may be cut off too
            with refusal:
                return refusal.code, refusal.read(), min(float(refusal.headers.get("retry-after", "1")), 15.0)

    @property
    def datasets(self) -> list[dict[str, Any]]:
        """The public descriptions of what may be asked about."""
        return list(self.ask("GET", "datasets")[1]["datasets"])

    def open(self, name: str) -> RemoteSession:
        """A session on one of the datasets."""
        return RemoteSession(self, name)

    def decide(self, request: str, decision: str, reason: str = "") -> str:
        """Approve or refuse a request, as an officer."""
        sent = {"decision": decision, "reason": reason}
        return str(self.ask("POST", f"requests/{quoted(request, safe='')}/decision", sent)[1]["state"])

    def __repr__(self) -> str:
        return f"<Service {self.url}>"


class Waiting:
    """A question that waits for an officer, or for its turn.

    Attributes:
        token: Asks again for the answer.
    """

    def __init__(self, session: RemoteSession, token: str) -> None:
        self._session, self.token = session, token

    def wait(self, timeout: float = 3600.0) -> Release:
        """The answer, once there is one; raises when it is refused or the time is over."""
        deadline, pause = time.monotonic() + timeout, 0.2
        while (found := self._session.look(self.token)) is None:
            if time.monotonic() + pause > deadline:
                raise LedgerError(
                    "release",
                    "has no answer yet",
                    got={"token": self.token},
                    hint="people.look(token) asks again",
                )
            time.sleep(pause)
            pause = min(2 * pause, 10.0)
        return found

    def __repr__(self) -> str:
        return f"<Waiting for an answer, token {self.token}>"


class RemoteSession:
    """Data that somebody else holds; made by ``connect(...).open(name)``.

    Statistics with the bounds that the dataset describes: ``people.median("income")``.
    """

    def __init__(self, server: Service, name: str, conditions: tuple[str, ...] = ()) -> None:
        self._server, self.name, self._conditions = server, name, conditions
        self._about: Mapping[str, Any] | None = None

    @property
    def _path(self) -> str:
        return f"datasets/{quoted(self.name, safe='')}"

    @property
    def description(self) -> Mapping[str, Any]:
        """The public description of the data."""
        if self._about is None:
            self._about = self._server.ask("GET", self._path)[1]
        return self._about

    @property
    def rows(self) -> int | None:
        """The number of rows where it is public, or the rough one that was declared."""
        found = self.description["rows"]
        return None if found is None else int(found)

    @property
    def unit(self) -> Unit:
        """Whom it protects."""
        return Unit(**self.description["unit"])

    @property
    def neighbors(self) -> Neighbors:
        """Which datasets the promise compares."""
        return Neighbors.of(self.description["neighbors"])

    @property
    def remaining(self) -> Guarantee:
        """What is left of the budget."""
        return Guarantee.from_dict(self._server.ask("GET", f"{self._path}/ledger")[1]["left"])

    @property
    def history(self) -> tuple[Release | dict[str, Any], ...]:
        """What one may see of the releases so far; a paid question without an answer stands as its entry."""
        found = self._server.ask("GET", f"{self._path}/ledger/entries")[1]["entries"]
        return tuple(one if one["release"] is None else Release.from_dict(one["release"]) for one in found)

    def where(self, *conditions: str | tuple[str, str, Any]) -> RemoteSession:
        """The same data, only the rows that fulfil public conditions."""
        texts = tuple(one if isinstance(one, str) else " ".join(map(str, one)) for one in conditions)
        return RemoteSession(self._server, self.name, (*self._conditions, *texts))

    def __getattr__(self, name: str) -> Any:
        kinds = {} if name.startswith("_") else catalogue.statistics()
        kind = kinds.get(name.replace("_", "-"))
        if kind is None:
            raise AttributeError(f"RemoteSession has no {name!r}")

        def made(column: str, **given: Any) -> Statistic:
            known = self.description["columns"].get(column, {})
            fields = getattr(kind, "__dataclass_fields__", {})
            told = {
                key: known[key] for key in ("low", "high", "step", "keys") if key in known and key in fields
            }
            build: Any = kind
            return build(column, **(told | given))

        return made

    def quote(self, statistic: Any, price: Any, **options: Any) -> Event:
        """What a release would ask and promise; spends nothing."""
        found = self._server.ask("POST", f"{self._path}/quote", self._sent(statistic, price, options))[1]
        return Event.from_dict(found["event"])

    def release(
        self,
        statistic: Statistic | Sequence[Statistic],
        price: Guarantee | Sequence[Guarantee],
        *,
        token: str | None = None,
        **options: Any,
    ) -> Release | Waiting:
        """Release a statistic, or several as one priced batch; `Waiting` where an officer decides first.

        Args:
            statistic: What is asked.
            price: What it may cost in all, or one price per statistic.
            token: Names the question: asked again with it, it costs nothing.
            options: ``interval``, ``purpose`` and public hints, as for `sordino.Session.release`.
        """
        name = token or secrets.token_hex(16)
        sent = self._sent(statistic, price, options)
        status, found = self._server.ask("PUT", f"{self._path}/releases/{quoted(name, safe='')}", sent)
        return Release.from_dict(found) if status == 201 else Waiting(self, name)

    def release_by(
        self,
        column: str | Sequence[str],
        keys: Any,
        statistic: Any,
        price: Any,
        *,
        scale: str = "own",
        **options: Any,
    ) -> Release | Waiting:
        """Release a statistic for every group of a column, or of combinations of several, with public keys.

        Args:
            column: The column to split by, or several.
            keys: As for `sordino.Session.release_by`; ``sd.discover()`` finds them in the data.
            statistic: What is asked of every group.
            price: What it may cost.
            scale: As for `sordino.Session.release_by`.
            options: As for `release`.
        """
        return self.release(statistic, price, by=(column, keys), scale=scale, **options)

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, releases: str | None = None
    ) -> Path:
        """Write the report of the ledger, for whoever may see all answers; as `sordino.Session.report` does."""
        asked = {"title": title, "releases": releases}
        found = self._server.ask("POST", f"{self._path}/report", asked)[1]
        target = Path(path)
        target.write_text(found["html"], encoding="utf-8")
        return target

    def look(self, token: str) -> Release | None:
        """The answer under a token; None while there is none."""
        status, found = self._server.ask("GET", f"{self._path}/releases/{quoted(token, safe='')}")
        return Release.from_dict(found) if status == 201 else None

    def _sent(self, statistic: Any, price: Any, options: dict[str, Any]) -> dict[str, Any]:
        given = dict(options)
        if given.pop("mechanism", None) is not None or "measure" in given:
            raise ParameterError(
                "release", "mechanisms and measures are objects and stay here", hint="leave it out"
            )
        asked, prices = (
            tuple(one) if isinstance(one, list | tuple) else (one,) for one in (statistic, price)
        )
        if not all(hasattr(one, "to_dict") for one in asked) or not all(
            isinstance(one, Guarantee) for one in prices
        ):
            raise ParameterError(
                "release", "statistics and prices are sent", hint="sd.Median(...), sd.Pure(0.5)"
            )
        by, interval = given.pop("by", None), Coverage.of(given.pop("interval", None))
        return {
            "statistic": _written(statistic),
            "price": _written(price),
            "by": None if by is None else _split(*by),
            "where": list(self._conditions),
            "interval": None if interval is None else interval.to_dict(),
            "purpose": given.pop("purpose", None),
            **({} if (scale := given.pop("scale", "own")) == "own" else {"scale": scale}),
            "hints": given,
        }

    def __repr__(self) -> str:
        return f"<RemoteSession {self.name} at {self._server.url}>"


def _written(made: Any) -> Any:
    return [one.to_dict() for one in made] if isinstance(made, list | tuple) else made.to_dict()


def _split(column: Any, keys: Any) -> dict[str, Any]:
    """Groups as they are sent: columns by name; keys, combinations of them, or how they are to be found."""
    columns = str(column) if not isinstance(column, list | tuple) else [str(one) for one in column]
    if hasattr(keys, "record"):
        return {"column": columns, "discovery": keys.record}
    if isinstance(keys, Mapping):
        return {"column": columns, "keys": {str(name): list(of) for name, of in keys.items()}}
    return {"column": columns, "keys": list(keys)}


def _rebuilt(said: bytes, status: int) -> SordinoError:
    """The error that the service met, as if it had been met here."""
    try:
        found = json.loads(said)
    except ValueError:
        found = {}
    kind = getattr(errors, str(found.get("code", "")), None)
    known = kind if isinstance(kind, type) and issubclass(kind, SordinoError) else LedgerError
    return known(
        str(found.get("subject") or "service"), str(found.get("rule") or f"the service refused ({status})"),
        got=dict(found.get("got") or {}), why=str(found.get("why") or ""), hint=str(found.get("hint") or ""),
    )  # fmt: skip
