"""Answers of a default mechanism with fixed random bits: what a moved constant changes is the constant's alone."""

from collections.abc import Iterator
from typing import Any

import sordino as sd
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.session.quote import prepare


def answers(
    statistic: Any, price: Any, table: Any, *, times: int, unit: Any = None, **hints: Any
) -> Iterator[tuple[Any, Any]]:
    """What is drawn of one table, again and again, each with its bar if one is asked for."""
    unit, rows = unit or sd.Unit(), len(next(iter(table.values())))
    interval = hints.pop("interval", None)
    question = prepare(
        statistic, price, neighbors=statistic.neighbors, unit=unit, rows=rows, hints=hints, interval=interval
    )
    (part,) = question.parts
    source = Memory(table, unit=unit)
    for seed in range(times):
        answer = part.mechanism.answer(
            part.statistic,
            lambda request: source.summary(request)[0],
            part.grid,
            bits=SeededBits(seed),
            contribution=part.contribution,
        )
        yield answer, part.bar.around(answer) if interval is not None else None
