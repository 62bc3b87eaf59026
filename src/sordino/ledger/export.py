"""The whole ledger as a document, written row by row: JSON that `verify_export` checks, or CSV for a spreadsheet."""

from __future__ import annotations

import csv
import functools
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

from sordino.ledger.chain import ChainRow, amount, canonical
from sordino.ledger.entry import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FORMAT, VERSION = "sordino-ledger", 2
PLAIN = ("number", "paid", "kind", "token", "at", "before", "hash", "state")
COLUMNS = (
    "row", "release", "kind", "at", "user", "host", "program", "version", "purpose", "reason", "data", "asked", "cost",
    "spent", "ceiling", "state", "token", "answer", "hash",
)  # fmt: skip


def header(last: ChainRow) -> dict[str, Any]:
    """What stands before the rows."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "budget": amount(last.ceiling).to_dict(),
        "spent": amount(last.spent).to_dict(),
    }


def plain_row(row: ChainRow) -> dict[str, Any]:
    """A row as JSON."""
    return {name: getattr(row, name) for name in PLAIN} | {
        "body": row.content,
        "spent": amount(row.spent).to_dict(),
        "ceiling": amount(row.ceiling).to_dict(),
    }


def write_json(rows: Iterable[ChainRow], last: ChainRow, file: TextIO) -> None:
    """Write a JSON document, one line per row; what a row holds as JSON goes in as it is."""
    file.write(json.dumps(header(last))[:-1] + ', "rows": [')
    comma = "\n"
    for row in rows:
        texts = json.dumps({name: getattr(row, name) for name in PLAIN})
        file.write(
            f'{comma}{texts[:-1]}, "body": {row.body}, "spent": {row.spent}, "ceiling": {row.ceiling}}}'
        )
        comma = ",\n"
    file.write("\n]}\n")


def write_csv(rows: Iterable[ChainRow], file: TextIO) -> None:
    """Write a table, one line per row of the ledger, for people: control characters are escaped."""
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(map(_cells, rows))


def _cells(row: ChainRow) -> list[Any]:
    """A row in the order of `COLUMNS`."""
    # Many spends ask the same at the same price, and are read once; every record has an answer of its own.
    told, cost, answer = (_body if row.kind == "spend" else _body.__wrapped__)(row.kind, row.body)
    release = row.paid if row.kind == "spend" else told[0]
    return [
        row.number, release, row.kind, row.at, *told[1:], cost, _shown(row.spent), _shown(row.ceiling), row.standing,
        _cell(row.token), _cell(answer), row.hash,
    ]  # fmt: skip


@functools.lru_cache(64)
def _body(kind: str, text: str) -> tuple[tuple[Any, ...], str, str]:
    """What a body tells: the release and what stands from the user to the question; the price; the answer."""
    body: Mapping[str, Any] = json.loads(text)
    release: Any = ""
    data = asked = cost = answer = ""
    if kind in ("spend", "record"):
        if kind == "spend":
            event, cost = body["event"], _shown(canonical(body["cost"]))
        else:
            told = body["release"]
            event, release, answer = told["event"], told.get("ledger_id") or "", json.dumps(told["value"])
        data = (event.get("data") or {}).get("name", "")
        asked = _asked(_Asked((event["statistic"], event["by"])))
    who = body.get("who", {})
    return (
        release,
        *(_cell(who.get(name, "")) for name in ("user", "host")), who.get("program", ""), who.get("version", ""),
        *(_cell(text) for text in (who.get("purpose", ""), body.get("reason", ""), data, asked)),
    ), cost, answer  # fmt: skip


class _Asked(tuple[Any, ...]):
    """A statistic and its groups as they stand in a row: equal when they are written alike."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(repr(self))


@functools.lru_cache(64)
def _shown(text: str) -> str:
    return repr(amount(text))


@functools.lru_cache(64)
def _asked(question: _Asked) -> str:
    """What an event asks, in a few words; many rows ask the same."""
    from sordino.explain import asked

    statistic, by = question
    event: Any = SimpleNamespace(statistic=statistic, by=by)  # all that the words need of it
    return asked(event)


def _cell(value: Any) -> Any:
    """A cell that a spreadsheet shows and does not run."""
    if not isinstance(value, str) or not value:
        return value
    text = visible(value)
    return "'" + text if text[:1] in ("=", "+", "@") or (text[:1] == "-" and not _number(text)) else text


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
