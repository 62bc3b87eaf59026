"""Laws of sources: read as the reference does, keep rows apart, and treat groups, counts and conditions as memory does.

A source takes part by a classmethod ``of_columns(columns, folder, *, unit=None)``: it writes columns of Python values
(None where there is none) wherever it keeps its data, in the folder if it needs one, and opens them.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sordino.data.memory import Memory
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Bundle, Cells, Condition, Rank, Request, Window
from sordino.testing import row_questions
from sordino.testing.source_reading import asked, defined, fine, shown

NAN, INF = math.nan, math.inf
HALVES = [k + 0.5 for k in range(12)]
COLUMNS: dict[str, tuple[list[Any], RowLattice]] = {
    "ties": ([3.0, 3.0, 7.0, 3.0, 1.0, 7.0] * 30, RowLattice(0, 10, missing="drop")),
    "one row": ([4.25], RowLattice(0, 10)),
    "halves": (
        [*HALVES, *(math.nextafter(h, 0) for h in HALVES), *(math.nextafter(h, 99) for h in HALVES)],
        RowLattice(0, 10, step=1),
    ),
    "odd bounds": ([math.sin(k) * 4 for k in range(300)], RowLattice(-math.pi, math.e)),
    "a step that is no power of two": ([k * 0.0317 for k in range(300)], RowLattice(0.1, 9.7, step=0.01)),
    "denormals": ([5e-324, -5e-324, 2.2e-308, 1e-310, 0.5], RowLattice(0, 1)),
    "huge": ([1e308, -1e308, 1e289, 0.0, 1e-300, -7e288], RowLattice(-1e289, 1e289)),
    "whole numbers": ([2**53 + k for k in range(-4, 5)], RowLattice(2.0**53 - 8, 2.0**53 + 8, step=1)),
}
EDGES = [NAN, None, INF, -INF, -0.0, 0.0, 1e300, -1e300, 2.5, 5e-324]
MISSING: dict[str, tuple[list[Any], RowLattice]] = {
    "no rows": ([], RowLattice(0, 10, missing="drop")),
    "nothing, dropped": ([None] * 5, RowLattice(0, 10, missing="drop")),
    "nothing, replaced": ([None] * 5, RowLattice(0, 10, missing=3)),
    "edges, dropped": (EDGES, RowLattice(0, 10, missing="drop")),
    "edges, replaced": (EDGES, RowLattice(-5, 10, missing=7)),
}
ROWS: dict[str, list[Any]] = {
    "n": [1, 2, 3, 4, 5, 6],
    "f": [1.0, 0.5, None, 2.0, 2.0**60, -3.0],
    "i": [1, 2, 2**60, 2**60 + 1, 0, None],
    "t": ["a", "1", None, "01", "7.5", "b"],
    "u": [11, 12, 2**60, 2**60 + 1, 15, 16],
}
"""Base rows: numbers, whole numbers, texts and people."""
STRANGE: dict[str, list[Any]] = {
    "f": [None, NAN, INF, -INF, -0.0, 5e-324, 1e308, 2.0**60, 1.5, 1.0],
    "i": [0, 2**63 - 1, None, -(2**63), 1, 2, -3, 2**60, 2**53 + 1],
    "t": ["a", "", None, "nan", "1e400", "b", "é", "9" * 400, "1", "true", "-"],
    "u": [11, 15, None, 2**60 + 1, 99, 0, 12],
}
"""What a hostile row holds."""
PLACES = (0, 3, 6)


def source_like(kind: type[Any]) -> bool:
    """Whether a class has the methods of a source."""
    return all(callable(getattr(kind, name, None)) for name in ("summary", "summaries", "where", "check"))


def laws(kind: type[Any]) -> dict[str, Callable[[Any], Iterator[str]]]:
    """The laws, or the one that is broken where the class does not say how it is built."""
    return dict(LAWS) if hasattr(kind, "of_columns") else {"can be built from columns": unbuilt}


def unbuilt(kind: type[Any]) -> Iterator[str]:
    """What is missing."""
    yield (
        f"{kind.__name__} does not say how it is built: give it a classmethod "
        "of_columns(columns, folder, *, unit=None) that writes columns of Python values and opens them"
    )


def reading(kind: type[Any], columns: dict[str, tuple[list[Any], RowLattice]] = COLUMNS) -> Iterator[str]:
    """Rows, totals, squares, windows and cuts, to the last bit, on coarse and on fine lattices."""
    for name, (values, grid) in columns.items():
        with tempfile.TemporaryDirectory() as folder:
            source = kind.of_columns({"x": list(values), "row": list(range(len(values)))}, Path(folder))
            for request in (asked(grid), asked(fine(grid))):
                source.check(request)
                found, wanted = shown(source.summary(request)[0]), defined(values, request)
                wrong = [part for part in wanted if found[part] != wanted[part]]
                if wrong:
                    yield f"{name}: {', '.join(wrong)} differ from the reference"
                    break


def rows_apart(kind: type[Any]) -> Iterator[str]:
    """One row more, whatever it holds, moves that row alone."""
    every = row_questions.questions(name for name in ROWS if name != "n")

    def answers(columns: dict[str, list[Any]]) -> dict[Any, tuple[Any, str]]:
        with tempfile.TemporaryDirectory() as folder:
            places = (Path(folder) / str(number) for number in itertools.count())

            @functools.cache
            def opened(unit: Unit | None = None, _row: None = None) -> Any:
                place = next(places)
                place.mkdir()
                return kind.of_columns({name: list(some) for name, some in columns.items()}, place, unit=unit)

            return {question: row_questions.heard(opened, question) for question in every}

    before = answers(ROWS)
    for turn in range(max(map(len, STRANGE.values()))):
        row = {name: values[turn % len(values)] for name, values in STRANGE.items()}
        row["n"], place = row_questions.HOSTILE, PLACES[turn % len(PLACES)]
        after = answers(
            {name: [*values[:place], row[name], *values[place:]] for name, values in ROWS.items()}
        )
        for question in every:
            if wrong := row_questions.violation(question, before[question], after[question]):
                yield f"{question[0]} of {question[1]} with a row more: {wrong}"


def _people(rows: int = 200) -> dict[str, list[Any]]:
    """Rows of people in groups, some without a number, a group or a person."""
    dice = random.Random(3)  # noqa: S311  a table that is always the same
    return {
        "x": [None if dice.random() < 0.1 else dice.gauss(5, 3) for _ in range(rows)],
        "g": [dice.choice([None, "a", "b", "c é", ""]) for _ in range(rows)],
        "k": [dice.choice([None, 1, 2, 3, 2**60]) for _ in range(rows)],
        "u": [dice.choice([None, *range(40)]) for _ in range(rows)],
    }


REQUESTS = tuple(
    Request("x", grid, (Window(Rank(1, 2), 5),), cuts=(3, 10**6))
    for grid in (
        RowLattice(0, 10, missing="drop"),
        RowLattice(0, 10, step=1, missing=2),
        RowLattice(0, 10, bits=45),
    )
)
GROUPS: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    ("g", ("b", "a", "nobody", "c é")),
    ("k", (3, 2**60, 1, 9)),
    (("g", "k"), (("b", 1), ("a", 2**60), ("nobody", 1), ("a", 2), ("c é", 9))),
)
WHERE: tuple[tuple[Condition, ...], ...] = (
    (),
    (Condition("x", ">", 1), Condition("x", "!=", 3.5)),
    (Condition("g", "in", ("a", "b")),),
    (Condition("g", "!=", "a"), Condition("k", "in", (1, 2, 3))),
    (Condition("x", ">", 1e9),),
)


def differences(
    reference: Any, other: Any, requests: tuple[Request, ...], groups: tuple[tuple[Any, tuple[Any, ...]], ...]
) -> Iterator[str]:
    """Where two sources do not say the same of the same rows: in all, by group, counted, and together."""
    if list(map(shown, reference.summary(*requests))) != list(map(shown, other.summary(*requests))):
        yield "summaries differ"
    for by, keys in groups:
        pairs = zip(
            keys,
            reference.summaries(by, keys, *requests),
            other.summaries(by, keys, *requests),
            strict=True,
        )
        wrong = [key for key, one, two in pairs if list(map(shown, one)) != list(map(shown, two))]
        if wrong:
            yield f"groups of {by} differ: {wrong}"
        if not isinstance(by, str):
            continue
        if row_questions.counts(reference, by, keys) != row_questions.counts(other, by, keys):
            yield f"counts of {by} differ"
        bundle = Bundle((requests[0], Cells(by, keys)))
        (one,), (two,) = reference.summary(bundle), other.summary(bundle)
        told = [(every.rows, shown(every.parts[0]), every.parts[1].counts) for every in (one, two)]
        if told[0] != told[1]:
            yield f"a number and the counts of {by}, asked together, differ"


def groups_and_conditions(kind: type[Any]) -> Iterator[str]:
    """Conditions, groups, combinations of keys and counts, as the reading in memory has them."""
    columns = _people()
    with tempfile.TemporaryDirectory() as folder:
        source, reference = kind.of_columns(_people(), Path(folder)), Memory(columns)
        for conditions in WHERE:
            pair = reference.where(*conditions), source.where(*conditions)
            said = ", ".join(f"{one.column} {one.op} {one.value}" for one in conditions) or "all rows"
            yield from (f"{said}: {wrong}" for wrong in differences(*pair, REQUESTS, GROUPS))


def contributions(kind: type[Any]) -> Iterator[str]:
    """As many rows of a person as the unit allows; which of them is the source's affair."""
    for unit in (Unit("u", 1), Unit("u", 3), Unit("g", 20)):
        with tempfile.TemporaryDirectory() as folder:
            source = kind.of_columns(_people(), Path(folder), unit=unit)
            pairs = zip(
                Memory(_people(), unit=unit).summary(*REQUESTS), source.summary(*REQUESTS), strict=True
            )
            if any(one.rows != two.rows for one, two in pairs):
                yield f"{unit}: the number of rows differs from the reading in memory"


LAWS: dict[str, Callable[[Any], Iterator[str]]] = {
    "reads as the reference does": reading,
    "missing values are dropped or replaced": functools.partial(reading, columns=MISSING),
    "one row moves that row alone": rows_apart,
    "groups, counts and conditions are as in memory": groups_and_conditions,
    "people have no more rows than allowed": contributions,
}
