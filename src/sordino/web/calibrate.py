"""The public time of a dataset's answers, measured on generated data of its declared size: nothing private is read.

Answers are handed out at 1, 2, 4, ... times ``answer_after``; at four times the slowest release on generated data
nearly all of them come at the first, whatever the true data are like.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
import tempfile
import time
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino import catalogue
from sordino import session as sessions
from sordino.errors import ParameterError, SordinoError
from sordino.ledger import Ledger
from sordino.privacy import Pure
from sordino.web.forms import GRAPHS
from sordino.web.question import UNASKED

if TYPE_CHECKING:
    from sordino.web.dataset import ColumnDescription, Dataset

TIMES = 4
"""How much later than the slowest release an answer is handed out."""
LEAST = 0.05
MOST_ROWS = 10_000_000
SHAPES = ("even", "skewed", "one value")


def calibrated(dataset: Dataset, rows: int | None, *, runs: int = 3, seed: int = 1) -> float:
    """Seconds after which answers about a dataset are to be handed out.

    Args:
        dataset: Its description; the data themselves are not opened.
        rows: Its number of rows, where that is public; the declared rough one otherwise.
        runs: How often each question is asked of each shape.
        seed: Of the generated data.
    """
    size = rows or dataset.rows
    if size is None or size > MOST_ROWS:
        raise ParameterError(
            "calibrate", "a rough public number of rows must be declared", got={"dataset": dataset.name, "rows": size},
            hint="rows = 20000 in its declaration",
        )  # fmt: skip
    beside = None if "://" in dataset.ledger else Path(dataset.ledger).parent  # the same disk
    with tempfile.TemporaryDirectory(dir=beside) as folder:
        times = _timed(dataset, size, Path(folder) / "t.ledger", runs, random.Random(seed))  # noqa: S311
    if not times:
        raise ParameterError(
            "calibrate", "no question can be asked of this description", got={"dataset": dataset.name},
            hint="declare low and high, or keys, of a column",
        )  # fmt: skip
    return rounded_up(max(LEAST, TIMES * max(times)))


def _timed(dataset: Dataset, rows: int, place: Path, runs: int, made: random.Random) -> list[float]:
    """How long each release took, debit and record included; the first of each kind only loads what it needs."""
    times = []
    budget = Pure(10**6)
    with Ledger.create(
        place, budget, reason="calibration", unit=dataset.unit, neighbors=dataset.neighbors
    ) as ledger:
        for shape in SHAPES:
            data = generated(dataset, rows, shape, made)
            unit = dataset.unit if dataset.unit.column else None
            people = sessions.open(data, ledger=ledger, rows=rows, unit=unit)
            for statistic in questions(dataset):
                with contextlib.suppress(SordinoError):
                    people.release(statistic, Pure(1))
                    for _ in range(runs):
                        began = time.perf_counter()
                        people.release(statistic, Pure(1))
                        times.append(time.perf_counter() - began)
    return times


def rounded_up(seconds: float) -> float:
    """Two digits, upwards.

    Example:
        >>> rounded_up(0.1234), rounded_up(3.01)
        (0.13, 3.1)
    """
    step = 10 ** (math.floor(math.log10(seconds)) - 1)
    return float(f"{math.ceil(seconds / step - 1e-9) * step:.6g}")


def generated(dataset: Dataset, rows: int, shape: str, made: random.Random) -> dict[str, list[Any]]:
    """Columns as they are described, filled by a shape: values within the bounds, keys of the list."""
    table = {name: _column(column, rows, shape, made) for name, column in dataset.columns.items()}
    if dataset.unit.column is not None:
        table[dataset.unit.column] = [place // dataset.unit.max_rows for place in range(rows)]
    return table or {"row": list(range(rows))}


def _column(column: ColumnDescription, rows: int, shape: str, made: random.Random) -> list[Any]:
    if column.keys:
        return [column.keys[0] if shape == "one value" else made.choice(column.keys) for _ in range(rows)]
    low, high = (0.0 if column.low is None else column.low), (1.0 if column.high is None else column.high)
    power = {"even": 1, "skewed": 6, "one value": 0}[shape]
    return [low + (high - low) * made.random() ** power for _ in range(rows)]


def questions(dataset: Dataset) -> Iterator[Any]:
    """The questions that the description allows to be put: every statistic of every described column."""
    allowed = dataset.statistics or tuple(
        name for name in catalogue.statistics() if name not in (*UNASKED, *GRAPHS)
    )
    for name in allowed:
        kind: Any = catalogue.statistic(name)
        for column, about in dataset.columns.items():
            known = {key: value for key, value in about.to_dict().items() if key != "label"} | _usual(about)
            needed = [each.name for each in fields(kind) if each.init and each.default is MISSING
                      and each.default_factory is MISSING]  # fmt: skip
            given = {key: known[key] for key in needed if key in known}
            with contextlib.suppress(SordinoError, TypeError, ValueError):
                yield kind(column=column, **given) if "column" in needed else kind(**given)


def _usual(about: ColumnDescription) -> dict[str, Any]:
    """What a question has beside bounds and keys, as somebody might fill it in."""
    if about.low is None or about.high is None:
        return {"q": 0.5, "qs": (0.25, 0.5, 0.75)}
    edges = tuple(about.low + (about.high - about.low) * place / 10 for place in range(11))
    return {"q": 0.5, "qs": (0.25, 0.5, 0.75), "edges": edges, "threshold": edges[5], "trim": 0.05}


def write(file: Path, seconds: float) -> None:
    """Put ``answer_after`` into a declaration; everything else in it stays as it is."""
    text = file.read_text(encoding="utf-8")
    head, section, rest = re.match(r"(?s)(.*?)(^\[|\Z)(.*)", text, re.MULTILINE).groups()  # type: ignore[union-attr]
    line = f"answer_after = {seconds}"
    if re.search(r"(?m)^answer_after\s*=.*$", head):
        head = re.sub(r"(?m)^answer_after\s*=[^#\n]*", line + " ", head)
        head = re.sub(r"(?m)^(answer_after = \S+) $", r"\1", head)
    else:
        head = head.rstrip("\n") + f"\n{line}\n" + ("\n" if section else "")
    file.write_text(head + section + rest, encoding="utf-8")
