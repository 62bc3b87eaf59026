"""Tables of text that fit a width: long words wrap inside their column, numbers never do."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

GAP = 2
NARROW = 8  # a column of words is not squeezed further unless nothing else helps


def aligned(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    right: Collection[int] = (),
) -> tuple[list[str], list[str]]:
    r"""Lines of the header and lines of the body: words to the left, the columns in ``right`` to the right.

    Args:
        header: Names of the columns; several lines each where they hold line breaks.
        rows: The cells.
        width: How wide a line may be; as wide as needed where nothing is said.
        right: Columns of numbers.

    Example:
        >>> head, body = aligned(("region", "answer"), [("north", "41,870"), ("south", "9")], right=(1,))
        >>> print(*head, *body, sep="\n")
        region  answer
        north   41,870
        south        9
    """
    widths = _widths(header, rows, width, right)
    heads = [_wrapped(text, widths[place]) for place, text in enumerate(header)]
    tall = max(map(len, heads), default=0)
    top = [
        _line([(lines[level - tall] if level >= tall - len(lines) else "") for lines in heads], widths, right)
        for level in range(tall)
    ]
    body: list[str] = []
    for row in rows:
        cells = [_wrapped(text, widths[place]) for place, text in enumerate(row)]
        body += [
            _line([lines[level] if level < len(lines) else "" for lines in cells], widths, right)
            for level in range(max(map(len, cells)))
        ]
    return top, body


def html_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for a page, with everything escaped.

    Example:
        >>> html_table("Errors", ("n",), [("<1",)])
        '<table><caption>Errors</caption><tr><th scope="col">n</th></tr><tr><td>&lt;1</td></tr></table>'
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def narrowest(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """How wide a table is when nothing but its header wraps."""
    return sum(_narrow(header, rows)) + GAP * (len(header) - 1)


def _narrow(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    words = [max((len(word) for word in name.split()), default=0) for name in header]
    return [max(pair) for pair in zip(words, _natural([""] * len(header), rows), strict=True)]


def _natural(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(len(line) for text in (header[place], *(row[place] for row in rows)) for line in text.split("\n"))
        for place in range(len(header))
    ]


def _widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, right: Collection[int]
) -> list[int]:
    """The natural widths, or narrower ones: the widest column of words gives way first."""
    widths = _natural(header, rows)
    if width is None:
        return widths
    room = width - GAP * (len(widths) - 1)
    whole = [
        max(
            len(word)
            for text in (header[place], *(row[place] for row in rows))
            for word in text.split() or [""]
        )
        for place in range(len(header))
    ]
    narrow = _narrow(header, rows)
    for least in (whole, [min(one, NARROW) for one in whole]):
        floor = [narrow[place] if place in right else least[place] for place in range(len(widths))]
        while sum(widths) > room:
            wide = max(range(len(widths)), key=lambda place: (widths[place] > floor[place], widths[place]))
            if widths[wide] <= floor[wide]:
                break
            widths[wide] -= 1
    return widths


def _wrapped(text: str, width: int) -> list[str]:
    return [
        line for part in text.split("\n") for line in textwrap.wrap(part, max(width, 1), break_on_hyphens=False) or [""]
    ] or [""]  # fmt: skip


def _line(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    parts = [
        cell.rjust(width) if place in right else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return (" " * GAP).join(parts).rstrip()
