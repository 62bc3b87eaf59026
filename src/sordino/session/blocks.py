"""`Block`: the tables in which a release is read by people, on a terminal, in Markdown, in a notebook, in a report."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from sordino.labels import shown
from sordino.layout import aligned, narrowest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.session.release import Release
    from sordino.session.table import AnswerRow

INDENT = 2


@dataclass(frozen=True, slots=True)
class TableBlock:
    """One small table.

    Attributes:
        title: What it shows; empty where the rows say it.
        header: Names of the columns; empty texts where none is needed.
        rows: Cells, as people read them.
        words: How many columns from the left are words; the others are numbers.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1

    @property
    def right(self) -> range:
        """The columns of numbers."""
        return range(self.words, len(self.header))

    def lines(self, width: int | None = None) -> list[str]:
        """As text, indented under its title."""
        room = None if width is None else max(width - INDENT, 20)
        head, body = aligned(self.header, self.rows, width=room, right=self.right)
        shown_head = head if any(self.header) else []
        return [
            *([self.title] if self.title else []),
            *(" " * INDENT + line for line in (*shown_head, *body)),
        ]

    def markdown(self) -> str:
        """As a table in Markdown."""
        marks = ["---" if place < self.words else "---:" for place in range(len(self.header))]
        rows = [self.header, marks, *self.rows]
        table = "\n".join("| " + " | ".join(_barred(cell) for cell in row) + " |" for row in rows)
        return f"**{_barred(self.title)}**\n\n{table}" if self.title else table

    def html(self) -> str:
        """As a table in HTML with a caption and scopes for screen readers."""
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        head = "".join(
            f'<th scope="col"{self._align(place)}>{escape(cell)}</th>'
            for place, cell in enumerate(self.header)
        )
        rows = "".join(
            "<tr>"
            + "".join(
                f'<th scope="row"{self._align(place)}>{escape(cell)}</th>'
                if place < self.words
                else f"<td{self._align(place)}>{escape(cell)}</td>"
                for place, cell in enumerate(row)
            )
            + "</tr>"
            for row in self.rows
        )
        top = f"<thead><tr>{head}</tr></thead>" if any(self.header) else ""
        return f"<table>{caption}{top}<tbody>{rows}</tbody></table>"

    def _align(self, place: int) -> str:
        return ' style="text-align:left"' if place < self.words else ' style="text-align:right"'


def blocks(release: Release, width: int | None = None) -> list[TableBlock]:
    """The tables of a release: whole, labelled, with the intervals that were paid for.

    Args:
        release: What was published.
        width: How wide a line may be; wide tables are then turned into long ones.
    """
    table = release.table
    names = list(dict.fromkeys(row.label for row in table))
    parts = {name: [row for row in table if row.label == name] for name in names}
    if not table.keys:
        single = [rows[0] for rows in parts.values() if rows[0].cell is None]
        found = [_listed("", [(row.label,) for row in single], single, ("",))] if single else []
        return found + [
            _listed(name, [(str(row.cell),) for row in rows], rows, (_cells(rows),))
            for name, rows in parts.items()
            if rows[0].cell is not None
        ]
    keys, found = table.keys, []
    plain = {name: rows for name, rows in parts.items() if rows[0].cell is None and _unbarred(rows)}
    if plain:
        wide = _wide("", keys, next(iter(plain.values())), plain)
        if _fits(wide, width):
            found.append(wide)
            parts = {name: rows for name, rows in parts.items() if name not in plain}
    for name, rows in parts.items():
        if rows[0].cell is None:
            found.append(_listed(name, [_group(row, keys) for row in rows], rows, keys))
            continue
        cells = list(dict.fromkeys(row.cell for row in rows))
        spread = {str(cell): [row for row in rows if row.cell == cell] for cell in cells}
        wide = _wide(name, keys, spread[str(cells[0])], spread)
        if _fits(wide, width) and _unbarred(rows):
            found.append(wide)
        else:
            words = [(*_group(row, keys), str(row.cell)) for row in rows]
            found.append(_listed(name, words, rows, (*keys, _cells(rows))))
    return found


def text(release: Release, width: int | None = None) -> str:
    """The tables of a release as text."""
    if not len(release.table):
        return "Nothing is listed: no key or cell stood out enough to be shown."
    return "\n\n".join("\n".join(block.lines(width)) for block in blocks(release, width))


def markdown(release: Release) -> str:
    """The tables of a release as Markdown, with a line that says that they are rounded."""
    tables = [block.markdown() for block in blocks(release, 120)]
    return "\n\n".join(
        [*tables, "*Rounded for reading; the CSV and the JSON of this release carry every digit.*"]
    )


def _unbarred(rows: list[AnswerRow]) -> bool:
    return all(row.level is None for row in rows)


def _fits(block: TableBlock, width: int | None) -> bool:
    return narrowest(block.header, block.rows) + INDENT <= (100 if width is None else width)


def _cells(rows: list[AnswerRow]) -> str:
    """What the cells of a vector are called in a header."""
    if "q" in rows[0].parameters:
        return "quantile"
    return str(rows[0].column or "cell")


def _group(row: AnswerRow, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("all" if row.group[key] is None else str(row.group[key]) for key in keys)


def _wide(
    title: str, keys: tuple[str, ...], groups: list[AnswerRow], spread: dict[str, list[AnswerRow]]
) -> TableBlock:
    """One row per group, one column per statistic or cell."""
    rows = [
        (*_group(group, keys), *(shown(column[place].value) for column in spread.values()))
        for place, group in enumerate(groups)
    ]
    return TableBlock(title, (*keys, *spread), tuple(rows), len(keys))


def _listed(
    title: str, words: Sequence[tuple[str, ...]], rows: list[AnswerRow], header: tuple[str, ...]
) -> TableBlock:
    """One row per answer, with its interval where one was paid for."""
    levels = sorted({row.level for row in rows if row.level is not None})
    if not levels:
        named = (*header, "answer") if any(header) else ("", "")
        cells = [(*word, shown(row.value)) for word, row in zip(words, rows, strict=True)]
        return TableBlock(title, named, tuple(cells), len(header))
    bar = " or ".join(f"{100 * level:g} %" for level in levels) + " interval" + covered(rows)
    cells = [(*word, shown(row.value), row.interval or "-") for word, row in zip(words, rows, strict=True)]
    return TableBlock(title, (*header, "answer", bar), tuple(cells), len(header))


def covered(rows: Iterable[AnswerRow]) -> str:
    """What the intervals of a table cover, and whether they were paid for, in a few words: `` for the rows, free``."""
    barred = [row for row in rows if row.covers is not None]
    words = " and ".join(sorted({f"the {row.covers}" for row in barred}))
    together = ", all at once" if any(row.simultaneous for row in barred) else ""
    costs = {row.paid for row in barred}
    return (
        f" for {words}{together}{', free' if costs == {False} else ', paid for' if costs == {True} else ''}"
    )


def _barred(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
