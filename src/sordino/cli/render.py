"""The only place that prints: tables, key-value blocks, JSON, progress, saved files.

Results go to stdout; notes and progress go to stderr, so that ``sordino ... --json | jq`` works.
"""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.errors import without_secrets
from sordino.layout import aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def number(value: Any, digits: int = 4) -> str:
    """Write a number for people: short, aligned by the caller, infinity as a word.

    Example:
        >>> number(1.23456789), number(float("inf")), number(12345678), number(None)
        ('1.235', 'infinite', '12,345,678', '-')
    """
    if value is None:
        return "-"
    if isinstance(value, bool | str):
        return without_secrets(str(value))  # names and reasons are people's own: no control characters
    if isinstance(value, int):
        return f"{value:,}"
    as_float = float(value)
    if as_float != as_float:  # noqa: PLR0124
        return "-"
    if as_float in (float("inf"), float("-inf")):
        return "infinite" if as_float > 0 else "-infinite"
    if as_float == 0 or 1e-4 <= abs(as_float) < 1e6:
        return f"{as_float:,.{digits}g}" if abs(as_float) < 10**digits else f"{as_float:,.0f}"
    return f"{as_float:.{digits - 1}e}"


def report(found: Any, *, structured: bool, plot: str | None) -> None:
    """Print something that knows its own words, dictionary and figure; save the figure where one is asked for."""
    if structured:
        as_json(found.to_dict())
    else:
        click.echo("\n".join("  " + line for line in found.text(width() - 2).splitlines()))
    if plot:
        from sordino import plots

        note(f"wrote {plots.save(found.plot(), plot)}")


def width() -> int:
    """How wide a line may be: the terminal's width, or 100 where there is none."""
    return max(shutil.get_terminal_size((100, 24)).columns, 40)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]], *, title: str = "", note: str = "") -> None:
    """Print an aligned table that fits the terminal; words to the left, numbers to the right."""
    cells = [[number(cell) for cell in row] for row in rows]
    numeric = [
        column
        for column in range(len(header))
        if rows and all(isinstance(row[column], int | float | Fraction | None) for row in rows)
    ]
    head, body = aligned(header, cells, width=width() - 2, right=numeric)
    if title:
        click.echo(click.style(title, bold=True))
    for line in head:
        click.echo(click.style("  " + line, dim=True))
    for line in body:
        click.echo("  " + line)
    if note:
        click.echo(f"  {note}")


def block(pairs: Sequence[tuple[str, Any]], *, title: str = "") -> None:
    """Print name and value pairs with the values in one column; longer texts wrap under themselves."""
    if title:
        click.echo(click.style(title, bold=True))
    wide = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        text = textwrap.wrap(number(value), max(min(width(), 100) - wide - 4, 20)) or [""]
        click.echo(f"  {name.ljust(wide)}  {text[0]}")
        for more in text[1:]:
            click.echo(f"  {' ' * wide}  {more}")


def paragraph(text: str) -> None:
    """Print prose, wrapped."""
    click.echo(textwrap.fill(text, min(width(), 100), initial_indent="  ", subsequent_indent="  "))


def as_json(value: Any) -> None:
    """Print one JSON document; fractions become numbers, infinities the word."""

    def plain(item: Any) -> Any:
        if isinstance(item, dict):
            return {str(key): plain(entry) for key, entry in item.items()}
        if isinstance(item, list | tuple):
            return [plain(entry) for entry in item]
        if isinstance(item, bool | int | str) or item is None:
            return item
        if hasattr(item, "tolist"):
            return plain(item.tolist())
        as_float = float(item)
        return as_float if abs(as_float) != float("inf") and as_float == as_float else str(as_float)  # noqa: PLR0124

    click.echo(json.dumps(plain(value), indent=2))


def note(text: str) -> None:
    """Say something beside the result, on stderr."""
    click.echo("\n".join(map(without_secrets, text.split("\n"))), err=True)


LARGE = 1 << 26
"""Bytes of a file from which on its reading is shown."""


@contextmanager
def progress(words: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr while long work goes on, only in a terminal; yields ``advance(steps)``."""
    if not sys.stderr.isatty():
        yield lambda _steps: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=total)
        yield lambda steps: bar.advance(task, steps)


@contextmanager
def reading(data: str) -> Iterator[None]:
    """Show how much of a large file has been read, in hundredths of its bytes; only in a terminal.

    Whoever sees the bar has the file: how many records it holds, and how they read, is not shown.
    """
    path = Path(data)
    if not sys.stderr.isatty() or not path.is_file() or path.stat().st_size < LARGE:
        yield
        return
    from sordino.data.records import watching

    with progress(f"reading {path.name}", 100) as advance, watching(percent(advance)):
        yield


def percent(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """Turn steps done of all into steps of a hundred."""
    shown = 0

    def progress(done: int, total: int) -> None:
        nonlocal shown
        now = 100 * done // total
        advance(now - shown)
        shown = now

    return progress
