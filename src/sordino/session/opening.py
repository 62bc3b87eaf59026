"""`open`: the ledger that pays, the source that answers, and the number of rows that may be known.

What touches a value, opening and counting, happens in the closed room.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from sordino import checks
from sordino.checks import explained
from sordino.errors import DataError, LedgerError, ParameterError
from sordino.lattice import RowLattice
from sordino.ledger import Ledger
from sordino.privacy import Guarantee, Neighbors, Unit
from sordino.reading.requests import Request, Source
from sordino.reading.room import inside, unreadable
from sordino.session.door import Session
from sordino.session.provenance import provenance

MOST_ROWS = 10**15
"""More rows than any table has."""


@explained("sd.open")
def open(  # noqa: A001
    data: Any,
    *,
    unit: Unit | None = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    budget: Guarantee | None = None,
    neighbors: Neighbors | str | None = None,
    rows: int | None = None,
    reason: str = "",
    row: str | None = None,
    numbers: Sequence[str] = (),
    decimal: str = ".",
    quoted_line_breaks: bool = False,
    data_name: str | None = None,
    user: str | None = None,
    known: str | None = None,
) -> Session:
    """Open data for release.

    Args:
        data: A mapping of columns, an array (its column is ``"x"``), or anything that `sordino.data` can open.
        unit: Whom to protect; without one, one row is one person, and the release says so.
        ledger: A path, a ``postgresql://`` address, a `Ledger`; None keeps one in memory.
        budget: The ceiling of a new ledger; one that exists keeps its own.
        neighbors: Which datasets the promise compares; replace-one unless said otherwise. Also its name as a text.
        rows: The number of rows, when it is private: a rough public guess that only helps to choose.
        reason: What a new ledger is for.
        row: Column that orders the rows of a unit; without one the order of the table does.
        numbers: Columns of text that are to be read as numbers.
        decimal: What separates the decimals of numbers in a CSV file: ``"."`` or ``","``.
        quoted_line_breaks: Whether quoted fields of a CSV file hold line breaks; without it a record is a line.
        data_name: What the data are called in public; by default the name of the file or table.
        user: Who asks, for the ledger; by default the login name.
        known: ``ROW:HASH`` of a row of the ledger that was noted earlier: an older copy put back is then refused.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"age": [31, 45, 28, 60]}, budget=sd.Pure(3))
        >>> answer = people.release(sd.Median("age", low=0, high=120, step=1), sd.Pure(1))
        >>> people.remaining
        Pure(epsilon=2)
    """
    unit, neighbors = Unit.checked(unit), None if neighbors is None else Neighbors.of(neighbors)
    kept = ledger_for(ledger, budget, neighbors, unit, reason, user=user, known=known)
    try:
        whom = unit or kept.unit
        relation = neighbors or kept.neighbors
        source, counted = source_for(
            data,
            whom,
            counting=counting(relation, whom),
            row=row,
            numbers=numbers,
            decimal=decimal,
            quoted_line_breaks=quoted_line_breaks,
        )
        counted = rows_for(rows, counted, relation)
        named = provenance(data, source, data_name)
        return Session(source, kept, unit=unit, neighbors=neighbors, rows=counted, data=named)
    except BaseException:
        if not isinstance(ledger, Ledger):
            kept.close()
        raise


def ledger_for(
    ledger: str | os.PathLike[str] | Ledger | None,
    budget: Guarantee | None,
    neighbors: Neighbors | None,
    unit: Unit | None,
    reason: str,
    *,
    user: str | None = None,
    known: str | None = None,
) -> Ledger:
    """Find the ledger, or begin it when a budget is given."""
    if isinstance(ledger, Ledger):
        if user is not None or known is not None:
            raise ParameterError(
                "open",
                "user and known belong to a ledger that is opened here",
                hint='ledger=sd.Ledger("people.ledger", user="alice", known="ROW:HASH")',
            )
        kept = ledger
    elif ledger is not None and (budget is None or Ledger.exists(ledger)):
        kept = Ledger(ledger, user=user, known=known)
    else:
        if budget is None:
            raise ParameterError(
                "open",
                "a budget or a ledger must be given",
                why="There is no default budget: what may be spent in all is yours to say.",
                hint='ledger="people.ledger", budget=sd.Pure(3)',
            )
        return Ledger.create(
            ledger,
            budget,
            reason=reason or "opened from Python",
            neighbors=neighbors or Neighbors.REPLACE_ONE,
            unit=unit,
            user=user,
        )
    if budget is not None and budget not in (kept.budget, Guarantee.from_dict(kept.opening["stated"])):
        raise LedgerError(
            f"ledger {kept.name}",
            "the ledger has another budget",
            got={"budget": budget, "ledger": kept.budget},
            hint="leave budget out, or raise the ceiling: sordino ledger raise LEDGER --epsilon 4 --reason 'why'",
        )
    return kept


def counting(neighbors: Neighbors, unit: Unit) -> bool:
    """Whether the number of rows is public, so that it may be counted: under replace-one, where a row is a person.

    People may have several rows or none: their number is not the number of rows.
    """
    return neighbors is Neighbors.REPLACE_ONE and unit.column is None


def source_for(
    data: Any,
    unit: Unit,
    *,
    counting: bool,
    row: str | None = None,
    numbers: Sequence[str] = (),
    decimal: str = ".",
    quoted_line_breaks: bool = False,
) -> tuple[Source, int | None]:
    """Turn what was given into a source, and count its rows where their number is public; in the closed room."""
    from sordino.data import open_source

    numbers = (numbers,) if isinstance(numbers, str) else tuple(numbers)

    def work() -> tuple[Source, int | None]:
        if isinstance(data, Source) and not isinstance(data, Mapping):
            source = _bounded_alike(data, unit)
        else:
            archive = isinstance(data, str | os.PathLike) and os.fspath(data).endswith(".npz")
            source = open_source(
                _arrays(data) if archive else data,
                unit=unit,
                row=row,
                numbers=tuple(numbers),
                decimal=decimal,
                quoted_line_breaks=quoted_line_breaks,
            )
            for name in numbers:  # a column that is not there would be read as nothing, and nobody would know
                source.check(Request(name, RowLattice(0, 1)))
        return source, getattr(source, "rows", None) if counting else None

    return inside(work, otherwise=unreadable)


def _bounded_alike(source: Source, unit: Unit) -> Source:
    """A source that bounds the units of the ledger."""
    if unit.column is not None and getattr(source, "unit", None) != unit:
        raise DataError(
            "open",
            "the source bounds other units than the ledger",
            got={"unit": unit.column},
            why="Whose rows belong together is decided where they are read.",
            hint="give the data themselves, or a source that was opened with this unit",
        )
    return source


def _arrays(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The columns of a numpy archive."""
    import numpy as np

    name = os.fspath(path)
    try:
        with np.load(name, allow_pickle=False) as archive:
            return {column: archive[column] for column in archive.files}
    except (OSError, ValueError):
        raise DataError("open", "the file cannot be read", got={"file": name}) from None


def rows_for(rows: int | None, counted: int | None, neighbors: Neighbors) -> int | None:
    """The number of rows that may be used for choosing: the true one only where it is public."""
    if rows is not None and checks.whole("open", at_least=1, hint="rows=1000", rows=rows) > MOST_ROWS:
        raise ParameterError(
            "open", "rows must be at most 1e15", got={"rows": rows},
            why="It is a rough guess of how many rows there are.", hint="rows=1000",
        )  # fmt: skip
    if neighbors is not Neighbors.REPLACE_ONE:
        return rows
    if rows is not None and counted is not None and rows != counted:
        raise DataError(
            "open",
            "rows must be the number of rows of the data",
            got={"rows": rows},
            why="Under replace-one the number of rows is public and is used exactly.",
            hint="leave rows out, or open with neighbors=sd.Neighbors.ADD_REMOVE_ONE",
        )
    return counted or rows
