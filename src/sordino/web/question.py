"""`Inquiry`: a question as a form or a program puts it, before it meets data. Foreign input becomes a statistic here.

Whatever is wrong with it is a `ParameterError`; sizes are bounded, so that nobody fills the memory with keys.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino import catalogue
from sordino.coverage import Coverage, Population, Sample
from sordino.errors import ParameterError, SordinoError
from sordino.planner.code import code, number, price_code, price_words, python_call, typed, typed_words
from sordino.privacy import Guarantee
from sordino.statistics import Statistic

if TYPE_CHECKING:
    from sordino.session import Session
    from sordino.web.dataset import Dataset

MOST_BYTES, MOST_KEYS, MOST_DEPTH = 64_000, 10_000, 8
HINTS = ("centre", "spread", "tight", "loose", "symmetric")
"""Public hints that may come from afar; objects may not."""
UNASKED = ("function",)
"""Statistics that run a caller's own code: never from afar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question and its price.

    Attributes:
        statistic: What is asked; programs may ask several at once.
        price: What it may cost, in all or each.
        by: Column and public keys of a split; programs may name several columns, or have keys found.
        where: Conditions on the rows, as the command line writes them.
        interval: What an error bar is to cover.
        purpose: What it is for.
        hints: Public hints.
        scale: ``"shared"`` where one interval is found for the values of all groups.
    """

    statistic: Any
    price: Any
    by: tuple[Any, Any] | None = None
    where: tuple[str, ...] = ()
    interval: Coverage | None = None
    purpose: str | None = None
    hints: Mapping[str, Any] | None = None
    scale: str = "own"

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "statistic": _written(self.statistic),
            "price": _written(self.price),
            "by": None if self.by is None else _split_written(*self.by),
            "where": list(self.where),
            "interval": None if self.interval is None else self.interval.to_dict(),
            "purpose": self.purpose,
            "hints": dict(self.hints or {}),
            **({} if self.scale == "own" else {"scale": self.scale}),
        }

    @classmethod
    def from_dict(cls, record: Any) -> Inquiry:
        """Read a question from afar.

        Example:
            >>> from sordino.privacy import Pure
            >>> from sordino.statistics.count import Count
            >>> asked = Inquiry(statistic=Count("age"), price=Pure(1))
            >>> Inquiry.from_dict(asked.to_dict()) == Inquiry.from_dict(asked.to_dict())
            True
        """
        try:
            _bounded(record)
            hints = dict(record.get("hints") or {})
            for one in several(record["statistic"]):
                _known(dict(one).get("kind"), hints)
            return cls(
                statistic=_read(Statistic.from_dict, record["statistic"]),
                price=_read(Guarantee.from_dict, record["price"]),
                by=None if record.get("by") is None else _split_read(record["by"]),
                where=tuple(str(one) for one in record.get("where") or ()),
                interval=coverage(record.get("interval")),
                purpose=None if record.get("purpose") in (None, "") else str(record["purpose"]),
                hints=hints,
                scale=str(record.get("scale") or "own"),
            )
        except SordinoError:
            raise
        except Exception:  # noqa: BLE001  whatever a stranger sent
            raise ParameterError(
                "question", "cannot be read", why="It has a statistic and a price, and nothing that is unknown.",
                hint='{"statistic": {"kind": "median", "column": "income", "low": 0, "high": 500000}, '
                '"price": {"kind": "pure", "epsilon": "1/2"}}',
            ) from None  # fmt: skip

    @property
    def options(self) -> dict[str, Any]:
        """What a session is told beside statistic and price."""
        scale = {} if self.scale == "own" else {"scale": self.scale}
        return {"by": self.by, "interval": self.interval, **scale, **(self.hints or {})}

    def of(self, session: Session) -> tuple[Session, Any]:
        """The question as a session puts it: looks at the schema alone and spends nothing."""
        people = session.where(*self.where) if self.where else session
        return people, people.question(self.statistic, self.price, **self.options)

    def python(
        self, dataset: Dataset | None = None, *, far: str | None = None, token: str | None = None
    ) -> str:
        """The same in Python."""
        lines = ["import sordino as sd", ""]
        if far is not None:
            lines += [
                f"people = sd.connect({json.dumps(far)}).open({json.dumps(dataset.name if dataset else '')})"
            ]
        elif dataset is not None:
            given = [json.dumps(shown(dataset.data)), f"ledger={json.dumps(shown(dataset.ledger))}"]
            given += [f"data_name={json.dumps(dataset.name)}"]
            if dataset.unit.column is not None:
                given.append(f"unit=sd.{dataset.unit!r}")
            if dataset.row:
                given.append(f"row={json.dumps(dataset.row)}")
            if dataset.decimal != ".":
                given.append(f"decimal={json.dumps(dataset.decimal)}")
            lines += [f"people = sd.open({', '.join(given)})"]
        if self.where:
            lines += [f"people = people.where({', '.join(json.dumps(one) for one in self.where)})"]
        rest = "" if self.interval is None else f", interval={code(self.interval)}"
        rest += "".join(f", {name}={code(value)}" for name, value in (self.hints or {}).items())
        rest += "" if self.scale == "own" else f", scale={json.dumps(self.scale)}"
        rest += "" if token is None else f", token={json.dumps(token)}"
        asked = f"{_code(python_call, self.statistic)}, {_code(price_code, self.price)}{rest}"
        if self.by is not None:
            keys = f"sd.{self.by[1]!r}" if hasattr(self.by[1], "record") else json.dumps(self.by[1])
            lines += [f"answer = people.release_by({json.dumps(self.by[0])}, {keys}, {asked})"]
        else:
            lines += [f"answer = people.release({asked})"]
        return "\n".join([*lines, "print(answer)"])

    def command(self, dataset: Dataset) -> str:
        """The same on the command line; nothing for what is asked in Python alone."""
        if isinstance(self.statistic, tuple) or (self.by is not None and not isinstance(self.by[0], str)):
            return ""
        words = [
            "sordino",
            "release",
            self.statistic.name,
            *typed_words(self.statistic),
            *price_words(self.price),
        ]
        if self.by is not None:
            words += ["--by", self.by[0], "--by-keys", ",".join(map(str, self.by[1]))]
            words += [] if self.scale == "own" else ["--scale", self.scale]
        for one in self.where:
            words += ["--where", one]
        if self.interval is not None:
            words += ["--interval", number(self.interval.level)]
            words += ["--interval-for", "population"] if self.interval.target == "population" else []
        for name, value in (self.hints or {}).items():
            words += [f"--{name}"] if value is True else [f"--{name}", typed(value)]
        words += [
            "--data",
            shown(dataset.data),
            "--ledger",
            shown(dataset.ledger),
            "--data-name",
            dataset.name,
        ]
        if dataset.row:
            words += ["--row", dataset.row]
        if dataset.decimal != ".":
            words += ["--decimal", dataset.decimal]
        return shlex.join(words)


def several(given: Any) -> tuple[Any, ...]:
    """One, or several, as several."""
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _written(made: Any) -> Any:
    return [one.to_dict() for one in made] if isinstance(made, tuple) else made.to_dict()


def _read(reader: Any, record: Any) -> Any:
    return tuple(map(reader, record)) if isinstance(record, list) else reader(record)


def _code(spell: Any, made: Any) -> str:
    return f"[{', '.join(map(spell, made))}]" if isinstance(made, tuple) else str(spell(made))


def _split_written(column: Any, keys: Any) -> dict[str, Any]:
    columns = column if isinstance(column, str) else list(column)
    if hasattr(keys, "record"):
        return {"column": columns, "discovery": keys.record}
    return {"column": columns, "keys": dict(keys) if isinstance(keys, Mapping) else list(keys)}


def _split_read(record: Any) -> tuple[Any, Any]:
    column = record["column"]
    columns = column if isinstance(column, str) else [str(one) for one in column]
    if "discovery" in record:
        from sordino import discover

        return columns, discover(**dict(record["discovery"]))
    keys = record["keys"]
    return columns, dict(keys) if isinstance(keys, Mapping) else tuple(map(_key, keys))


def _key(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def coverage(record: Any) -> Coverage | None:
    """Read what an error bar is to cover."""
    if record is None or isinstance(record, int | float):
        return Coverage.of(record)
    given = dict(record)
    kind = {"sample": Sample, "population": Population}[given.pop("covers")]
    return kind(**given)


def shown(place: str) -> str:
    """A place as it may be shown: the name of a file, an address without user and password."""
    if "://" in place:
        from sordino.errors import without_secrets

        return without_secrets(place)
    return place.rpartition("/")[2]


def _known(kind: Any, hints: Mapping[str, Any]) -> None:
    """Refuse statistics that run code, and hints that are objects."""
    if unknown := sorted(set(hints) - set(HINTS)):
        raise ParameterError("question", "has hints that are not taken from afar", got={"hints": unknown[:3]})
    if kind in UNASKED or kind not in catalogue.statistics():
        raise ParameterError("question", "kind must be a known statistic", got={"kind": kind})


def _bounded(record: Any, depth: int = 0) -> None:
    """Refuse what nobody types."""
    if depth == 0 and len(json.dumps(record)) > MOST_BYTES:
        raise ParameterError("question", "is longer than 64 kB", hint="ask in several questions")
    if depth > MOST_DEPTH:
        raise ParameterError("question", "is nested too deeply")
    if isinstance(record, dict | list):
        if len(record) > MOST_KEYS:
            raise ParameterError(
                "question", "has more than 10,000 keys or cells", hint="ask in several questions"
            )
        for each in record.values() if isinstance(record, dict) else record:
            _bounded(each, depth + 1)
