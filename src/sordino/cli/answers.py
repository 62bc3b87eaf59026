"""How verbs print answers: as tables, CSV, JSON or Markdown, into files, as pictures. Nothing is left out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import picture_option
from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.session.release import Release

FORMATS = ("table", "csv", "json", "markdown")

answer_options: list[Callable[..., Any]] = [
    click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        help="How the answers are printed. [default: table]",
    ),
    click.option("--csv", "csv_file", metavar="FILE", help="Write the answers as CSV into FILE too."),
    picture_option("Draw the answers into FILE"),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
]
"""The options of verbs that print answers."""


def with_answer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(answer_options):
        command = option(command)
    return command


def chosen(options: dict[str, Any]) -> str:
    """The format that was asked for."""
    return "json" if options.get("as_json") else options.get("format_") or "table"


def check_outputs(options: dict[str, Any]) -> None:
    """Refuse files that cannot be written before anything is spent."""
    table = options.get("csv_file")
    if table and not Path(table).parent.is_dir():
        raise ParameterError(
            "csv", "the folder of the file must exist", got={"path": table}, hint=f"--csv {Path(table).name}"
        )


def print_answer(answer: Release, options: dict[str, Any]) -> None:
    """Print in the chosen format, and write the files that were asked for."""
    kind = chosen(options)
    if kind == "json":
        render.as_json(answer.to_dict())
    elif kind == "csv":
        click.echo(answer.to_csv(), nl=False)
    elif kind == "markdown":
        click.echo(answer.to_markdown())
    else:
        paged(answer.text(render.width()))
    write_files(answer, options)


def write_files(answer: Release, options: dict[str, Any]) -> None:
    """Write the CSV and the picture that were asked for."""
    if options.get("csv_file"):
        Path(options["csv_file"]).write_text(answer.to_csv(), encoding="utf-8")
        render.note(f"wrote {options['csv_file']}")
    if options.get("plot"):
        from sordino import plots

        render.note(f"wrote {plots.save(answer.plot(), options['plot'])}")


def paged(text: str) -> None:
    """Print; a text longer than the terminal goes through the pager, so that no line is lost."""
    import shutil

    tall = shutil.get_terminal_size((100, 24)).lines
    if sys.stdout.isatty() and sys.stdin.isatty() and text.count("\n") + 2 > tall:
        click.echo_via_pager(text + "\n")
    else:
        click.echo(text)
