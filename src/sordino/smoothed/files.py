"""Reading tallies from CSV files: by precinct in wide or long form, one row of counts, or a column to be counted.

Wide: one row per precinct, one column per candidate. Long (as OpenElections publishes): one row per precinct and
candidate, with columns for both and for the votes. Each form's rules are in its own file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sordino.smoothed.header_words import NOT_VOTES
from sordino.smoothed.hidden_cells import settle
from sordino.smoothed.long_form import is_long, long
from sordino.smoothed.precinct_table import PrecinctTable, arranged, checked
from sordino.smoothed.sheet import read_sheet
from sordino.smoothed.wide_form import wide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_precincts(
    path: str | Path,
    *,
    unit: str | Sequence[str] | None = None,
    categories: Sequence[str] = (),
    other: Sequence[str] = (),
    office: str | None = None,
    district: str | None = None,
    suppressed: str | None = None,
    hidden_at_most: int | None = None,
    without: Sequence[str] = (),
    pool: Sequence[str] = (),
    sum_over: Sequence[str] = (),
    candidate_column: str | None = None,
    votes_column: str | None = None,
    separator: str | None = None,
    drop: Sequence[str] = NOT_VOTES,
) -> PrecinctTable:
    """Read tallies by precinct.

    Args:
        path: A CSV file with a header.
        unit: The columns that together name a precinct; by default every identifying column of the file.
        categories: The categories to keep, in this order; by default all that the file counts.
        other: Categories to merge into one called "other".
        office: In the long form, which contest.
        district: In the long form, which district of it.
        suppressed: How to read a hidden count: "unknown" (the worst of what it may be) or "zero"; refused if None.
        hidden_at_most: The largest count that a hidden one can be.
        without: Rows to leave out, such as rows of totals.
        pool: Groups of precincts to add up, each as "06 + 13".
        sum_over: In the long form, identifying columns to add up over, such as the vote mode.
        candidate_column: The column of the candidates, when it is not called candidate.
        votes_column: The column of the votes, when it is not called votes.
        separator: What stands between columns, when it is not a comma.
        drop: Lines of the long form that are not votes.

    Returns:
        For every precinct its counts by category, and in words how the file was read.
    """
    sheet = read_sheet(path, separator=separator)
    units = (unit,) if isinstance(unit, str) else tuple(unit or ())
    if is_long(sheet, candidate_column, votes_column):
        found = long(
            sheet,
            unit=units,
            office=office,
            district=district,
            sum_over=sum_over,
            candidate_column=candidate_column,
            votes_column=votes_column,
            drop=drop,
        )
        form, raw, key, contest = "long", found.raw, found.key, found.contest
        left_out, notes, totals = found.left_out, found.notes, None
    else:
        raw, key, left_out, totals = wide(
            sheet, unit=units, chosen=(*categories, *other) if categories else ()
        )
        form, contest, notes = "wide", "", []
    cells, hidden = settle(raw, suppressed=suppressed, at_most=hidden_at_most, totals=totals or None)
    table = PrecinctTable(cells, form, key, contest, tuple(left_out), tuple(notes), hidden)
    kept = arranged(table, categories=categories, other=other, without=without, pool=pool)
    return checked(kept)


def count_column(path: str | Path, column: str) -> dict[str, int]:
    """Count the values of one column of a table with one row per record.

    Returns:
        The categories with their counts, largest first; empty cells are a category of their own.
    """
    sheet = read_sheet(path)
    name = sheet.column(column, option="column")
    return dict(Counter(cell or "(empty)" for cell in sheet.values(name)).most_common())
