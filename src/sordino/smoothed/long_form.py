"""The long form of a table, as OpenElections publishes it: one line per precinct and candidate.

1. Votes and candidates are the columns of these names, or those that somebody names.
2. The contest is one office and one district; a file with several needs to be told which.
3. A column that follows from the candidate (party) or from the place belongs to it; a column that never changes says
   nothing. Every other column of words identifies: county, precinct, district, vote mode. Together they are the key.
4. Columns that split the votes (election_day, absentee, ...) are modes: each mode of a precinct is counted on its own,
   because the file publishes it so. ``--sum-over mode`` analyses the sums instead.
5. Two lines for the same key and candidate are refused; nothing is added up unless ``--sum-over`` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sordino.errors import DataError
from sordino.smoothed import header_words as known
from sordino.smoothed.sheet import Kind, Sheet, count, kind

_JOIN = " / "
_NO_CANDIDATES = frozenset(
    {
        "total", "totals", "total votes", "total votes cast", "ballots cast", "registered voters", "turnout",
        "cast votes", "times counted", "votes cast", "total ballots", "total ballots cast", "contest total",
        "contest totals",
    }
)  # fmt: skip


@dataclass(slots=True)
class Long:
    """What was found: texts by precinct and category, the key, the contest, what was left out, notes."""

    raw: dict[str, dict[str, str]] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    contest: str = ""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def named(sheet: Sheet, names: Sequence[str]) -> str | None:
    """Return the first column with one of these names."""
    return next((column for name in names for column in sheet.columns if known.plain(column) == name), None)


def is_long(sheet: Sheet, candidate: str | None, votes: str | None) -> bool:
    """Say whether the header is that of the long form; a foreign one is refused with the options that name it."""
    if (candidate or named(sheet, known.CANDIDATE)) and (votes or named(sheet, known.VOTES)):
        return True
    roles = {known.probably(column): column for column in reversed(sheet.columns)}
    if "votes-column" in roles and "candidate-column" in roles:
        unit = roles.get("unit", sheet.columns[0])
        raise DataError(
            "tallies",
            "the header is in another language",
            got={"columns": ", ".join(sheet.columns)},
            why="One line per precinct and candidate is expected under the names precinct, candidate, votes.",
            hint=f'--unit "{unit}" --candidate-column "{roles["candidate-column"]}" '
            f'--votes-column "{roles["votes-column"]}"',
        )
    return False


def long(
    sheet: Sheet,
    *,
    unit: Sequence[str] = (),
    office: str | None = None,
    district: str | None = None,
    sum_over: Sequence[str] = (),
    candidate_column: str | None = None,
    votes_column: str | None = None,
    drop: Sequence[str] = known.NOT_VOTES,
) -> Long:
    """Read one line per precinct and candidate."""
    result = Long()
    candidate = (
        sheet.column(candidate_column, option="candidate-column")
        if candidate_column
        else named(sheet, known.CANDIDATE)
    )
    votes = sheet.column(votes_column, option="votes-column") if votes_column else named(sheet, known.VOTES)
    assert candidate is not None
    assert votes is not None
    dropped = {name.lower() for name in drop} | _NO_CANDIDATES
    rows = [row for row in sheet.rows if row[candidate]]
    rows = _contest(sheet, rows, office, district, candidate, result)
    gone = list(dict.fromkeys(row[candidate] for row in rows if row[candidate].lower() in dropped))
    result.left_out.extend((name, "lines that are votes for nobody") for name in gone)
    rows = [row for row in rows if row[candidate].lower() not in dropped]
    party = named(sheet, known.PARTY)
    modes = _modes(sheet, rows, votes)
    over = [_summed(sheet, name, modes) for name in sum_over]
    key = _key(sheet, rows, unit, candidate, votes, party, modes, over, result)
    if modes and "mode" in over:
        result.left_out.extend((name, "parts of the votes, summed over") for name in modes)
        modes = []
    result.key = (*key, *(["mode"] if modes else []))
    varying = [name for name in key if len({row[name] for row in rows}) > 1] or list(key[-1:])
    lines: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in rows:
        place = _JOIN.join(row[name] for name in varying)
        for mode in modes or [votes]:
            label = _JOIN.join([place, mode]) if modes else place
            lines.setdefault((label, row[candidate]), []).append((row[party] if party else "", row[mode]))
    _fill(result, lines, summed=bool(over))
    return result


def _contest(
    sheet: Sheet,
    rows: list[dict[str, str]],
    office: str | None,
    district: str | None,
    candidate: str,
    result: Long,
) -> list[dict[str, str]]:
    """Keep one contest, or refuse with the list of them."""
    for asked, names, word, why in (
        (office, known.OFFICE, "office", "A voter has one record in each; analyse one contest at a time."),
        (
            district,
            known.DISTRICT,
            "district",
            "Each district has candidates of its own; a voter is in one of them.",
        ),
    ):
        column = named(sheet, names)
        if column is None:
            continue
        present = list(dict.fromkeys(row[column] for row in rows if row[candidate]))
        if asked is None and len(present) > 1:
            raise DataError(
                "tallies",
                "the file holds several contests"
                if word == "office"
                else "the contest is held in several districts",
                got={f"{word}s": ", ".join(name or "(none)" for name in present)},
                why=why,
                hint=f'--{word} "{next(name for name in present if name)}"',
            )
        wanted = asked if asked is not None else (present[0] if present else "")
        if wanted not in present:
            raise DataError(
                "tallies",
                "there is no such contest in the file",
                got={word: wanted, f"{word}s": ", ".join(present)},
                why=f"The column {column} names the contests.",
                hint=f'--{word} "{present[0] if present else ""}"',
            )
        rows = [row for row in rows if row[column] == wanted]
        if wanted:
            result.contest = f"{result.contest}, {word} {wanted}" if result.contest else wanted
    return rows


def _modes(sheet: Sheet, rows: list[dict[str, str]], votes: str) -> list[str]:
    """Return the columns that split the votes by how they were cast: known names, or sums that fit on every line."""
    numbers = [
        name
        for name in sheet.columns
        if name != votes
        and not known.is_unit(name)
        and not known.is_identifier(name)
        and any(row[name] for row in rows)
        and all(kind(row[name]) in (Kind.COUNT, Kind.HIDDEN) for row in rows)
        and any(kind(row[name]) is Kind.COUNT for row in rows)
    ]
    by_name = [name for name in numbers if known.plain(name) in known.MODE_COLUMNS]
    if by_name:
        return by_name
    fits = len(numbers) > 1 and all(
        all(kind(row[name]) is Kind.COUNT for name in (*numbers, votes))
        and sum(count(row[name]) for name in numbers) == count(row[votes])
        for row in rows
    )
    return numbers if fits else []


def _summed(sheet: Sheet, name: str, modes: list[str]) -> str:
    """Return the column that is summed over; "mode" may stand for the columns that split the votes."""
    if name.lower() == "mode" and modes:
        return "mode"
    column = next((c for c in sheet.columns if c.lower() == name.lower()), None)
    if column is None and name.lower() == "mode":
        column = named(sheet, known.MODE)
    return column if column is not None else sheet.column(name, option="sum-over")


def _key(
    sheet: Sheet,
    rows: list[dict[str, str]],
    unit: Sequence[str],
    candidate: str,
    votes: str,
    party: str | None,
    modes: list[str],
    over: list[str],
    result: Long,
) -> tuple[str, ...]:
    """Choose the identifying columns and say of every other one why it is not."""
    taken = {candidate, votes, party, *modes, named(sheet, known.OFFICE), named(sheet, known.DISTRICT)}
    if unit:
        return tuple(sheet.column(name, option="unit") for name in unit)
    places: list[str] = []
    loose: list[str] = []
    for column in sheet.columns:
        if column in taken:
            continue
        values = {row[column] for row in rows}
        if column in over:
            result.left_out.append((column, "summed over"))
        elif known.is_unit(column) and not known.is_identifier(column):
            places.append(column)
        elif len(values) <= 1:
            result.left_out.append((column, "the same in every line"))
        elif known.is_share(column) or known.is_total(column):
            result.left_out.append((column, "totals or shares"))
        elif _follows(rows, (candidate,), column):
            result.left_out.append((column, "belongs to the candidate"))
        else:
            loose.append(column)
    for column in loose:
        if places and _follows(rows, tuple(places), column):
            result.left_out.append((column, "belongs to the precinct"))
        elif all(kind(row[column]) in (Kind.COUNT, Kind.SHARE, Kind.HIDDEN) for row in rows) and places:
            result.left_out.append((column, "numbers that are not the votes"))
        else:
            places.append(column)
    if not places:
        raise DataError(
            "tallies",
            "no column is known to name the precincts",
            got={"columns": ", ".join(sheet.columns)},
            why="The long form has one line per precinct and candidate.",
            hint=f'--unit "{sheet.columns[0]}"',
        )
    return tuple(places)


def _follows(rows: list[dict[str, str]], columns: tuple[str, ...], column: str) -> bool:
    """Say whether one column is a function of others."""
    seen: dict[tuple[str, ...], str] = {}
    return all(
        seen.setdefault(tuple(row[name] for name in columns), row[column]) == row[column] for row in rows
    )


def _fill(result: Long, lines: dict[tuple[str, str], list[tuple[str, str]]], *, summed: bool) -> None:
    """Put every line into its cell; lines that collide are parties of one candidate, asked to be added, or refused."""
    fused = any(len({party for party, _ in found}) > 1 for found in lines.values()) and not summed
    for (label, name), found in lines.items():
        row = result.raw.setdefault(label, {})
        for party, text in found:
            category = f"{name} ({party})" if fused and party else name
            if category not in row:
                row[category] = text
            elif summed and kind(text) is Kind.COUNT and kind(row[category]) is Kind.COUNT:
                row[category] = str(count(row[category]) + count(text))
            elif summed:
                row[category] = text if kind(text) is not Kind.COUNT else row[category]
            else:
                raise DataError(
                    "tallies",
                    "two lines have the same precinct and candidate",
                    got={"key": " + ".join(result.key), "precinct": label, "candidate": category},
                    why="Adding them would hide that they are different precincts, or count ballots twice.",
                    hint="--unit COLUMN  for every column that tells them apart, or --sum-over COLUMN",
                )
    if fused:
        result.notes.append("a candidate on several parties' lines is one category per line, as published")
