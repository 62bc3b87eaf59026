"""What is published of the answers to a question: values, bars and paid by-products, put together as a `Release`."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import __version__
from sordino.reading.split import Split
from sordino.session.record import real
from sordino.session.release import Interval, Release

if TYPE_CHECKING:
    from sordino.ledger import Entry
    from sordino.mechanisms import Answer
    from sordino.session.quote import Question


def published(question: Question, entry: Entry, groups: list[list[Answer]]) -> Release:
    """Put the published numbers together."""
    values: list[Any] = []
    bars: list[Interval | None] = []
    public: dict[str, Any] = {}
    names = (
        [""] if question.event.by is None else list(map(_named, Split.from_record(question.event.by).keys))
    )
    for place, answers in enumerate(groups):
        shown = []
        for index, (answer, part) in enumerate(zip(answers, question.parts, strict=True)):
            value, others = _shown(answer)
            shown.append(value)
            bars.append(None if part.bar is None else part.bar.around(answer))
            if others:
                name = "/".join(
                    part for part in (names[place], "" if question.single else str(index)) if part
                )
                public.update({name: others} if name else others)
        values.append(shown[0] if question.single else tuple(shown))
    lone = question.event.by is None
    kept: Any = None
    if any(one is not None for one in bars):
        kept = bars[0] if lone and question.single else tuple(bars)
    grids = tuple(part.lattices.get("value") for part in question.parts)
    rest = [
        {name: lattice for name, lattice in part.lattices.items() if name != "value"}
        for part in question.parts
    ]
    return Release(
        value=values[0] if lone else tuple(values),
        event=question.event,
        grid=grids[0] if question.single else grids,
        lattices=rest[0] if question.single else {str(index): each for index, each in enumerate(rest)},
        assumptions=question.assumptions,
        at=entry.at,
        version=__version__,
        ledger_id=entry.number,
        token=entry.token,
        interval=kept,
        public=public,
    )


def _shown(answer: Answer) -> tuple[Any, dict[str, Any]]:
    """The value and paid by-products other than a bar, as floats."""
    ends = ("low", "high", "level", "added", "simultaneous", "free") if "level" in answer.public else ()
    rest = {name: _float(value) for name, value in answer.public.items() if name not in ends}
    value = rest.pop("key") if "key" in rest else _float(answer.value)
    return value, rest


def _float(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(_float(item) for item in value)
    if not isinstance(value, Fraction):
        return value
    number = real(value)
    return float(number["number"]) if isinstance(number, dict) else number


def _named(key: Any) -> str:
    """A group in words: its key, or its keys."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
