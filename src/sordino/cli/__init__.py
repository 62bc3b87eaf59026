"""The command line: one small file per verb.

A file of this folder is a verb if it declares a click command called ``command``; the first line of its docstring is
its line in ``sordino --help``. Nothing is imported before it is needed, so help stays fast.
"""

from __future__ import annotations

import ast
import functools
import importlib
import io
import re
import sys
import traceback
from pathlib import Path

import click

from sordino import __version__
from sordino.errors import (
    AuditFailed,
    BudgetExceeded,
    Frozen,
    LedgerDamaged,
    ParameterError,
    SordinoError,
    Unanswered,
    without_secrets,
)

COMMAND = re.compile(r"^(?:def command\(|command\b[^(\n]*=)", re.MULTILINE)
"""How a file declares that it is a verb."""

# What a shell sees; docs/howto/release.md says when.
EXIT_BUG, EXIT_USAGE, EXIT_BUDGET, EXIT_AUDIT, EXIT_LEDGER = 1, 2, 3, 4, 5
EXIT_STOPPED = 130  # as shells say it of ctrl-C


@functools.cache
def _own() -> tuple[str, ...]:
    """The verbs of this folder."""
    files = Path(__file__).parent.glob("*.py")
    return tuple(sorted(path.stem for path in files if COMMAND.search(path.read_text(encoding="utf-8"))))


class Verbs(click.Group):
    """A group whose commands are the files of this folder, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the verbs without importing them: our own, and those of installed plug-ins."""
        from importlib.metadata import entry_points

        return sorted({*_own(), *(plugin.name for plugin in entry_points(group=__name__))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name in _own():
            command = importlib.import_module(f"{__name__}.{cmd_name}").command
        elif cmd_name in self.list_commands(ctx):
            from importlib.metadata import entry_points

            (plugin,) = list(entry_points(group=__name__, name=cmd_name))[:1]
            command = plugin.load()
        else:
            return None
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs with the first line of their files' docstrings, read without importing."""
        folder = Path(__file__).parent
        rows = []
        for verb in self.list_commands(ctx):
            if verb in _own():
                tree = ast.parse((folder / f"{verb}.py").read_text(encoding="utf-8"))
                words = ast.get_docstring(tree) or ""
            else:
                found = self.get_command(ctx, verb)
                words = "" if found is None else found.help or ""
            rows.append((verb, words.split("\n")[0]))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sordino")
def program() -> None:
    """Differential privacy whose noise is fitted to the data at hand instead of to the worst case.

    Results go to stdout, everything else to stderr. Every command takes --json where it prints a result.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; errors a user can act on are shown without a traceback."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        _check_words(words)
        code = program.main(args=words, standalone_mode=False)
    except click.exceptions.Abort as stop:
        click.echo(_stopped(words, asked=not isinstance(stop.__cause__, KeyboardInterrupt)), err=True)
        sys.exit(EXIT_STOPPED)
    except click.ClickException as error:
        from sordino.cli.hints import example

        shown = io.StringIO()
        error.show(file=shown)
        for line in shown.getvalue().splitlines():
            click.echo(without_secrets(line), err=True)
        if words_of := example(error):
            click.echo(f"    Hint: {words_of}", err=True)
        sys.exit(error.exit_code)
    except SordinoError as error:
        from sordino.cli.hints import spoken

        click.echo(spoken(error, words), err=True)
        sys.exit(exit_code(error))
    except BrokenPipeError:  # the reader of our output has gone: ``sordino ... | head``
        sys.stdout = None
        sys.exit(EXIT_USAGE)
    except OSError as error:
        click.echo(str(_of_a_file(error)), err=True)
        sys.exit(EXIT_USAGE)
    except Exception as error:  # noqa: BLE001  a bug of ours; its words may hold what was read
        click.echo(str(_bug(error)), err=True)
        sys.exit(EXIT_BUG)
    if isinstance(code, int) and code:  # what a verb said to ``ctx.exit``: click hands it back as a value
        sys.exit(code)


def _stopped(words: list[str], *, asked: bool) -> str:
    """What became of a verb that was stopped: at a question of ours, before anything was paid, or by ctrl-C."""
    if words[:1] not in (["release"], ["run"]):
        return "Stopped."
    if asked:
        return "Stopped; nothing was released."
    return "Stopped. Whether it was paid says: sordino ledger show"


def _check_words(words: list[str]) -> None:
    """Refuse arguments that are not text: they can be neither stored nor printed."""
    for place, word in enumerate(words, start=1):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ParameterError(
                "sordino", "arguments must be UTF-8", got={"argument": place},
                why="They are written into the ledger and into messages.",
                hint="rename the file, or type the name of the column as the header has it",
            ) from None  # fmt: skip


def _of_a_file(error: OSError) -> ParameterError:
    """A file that cannot be read or written; the name of a file is a parameter."""
    named = {"file": error.filename} if isinstance(error.filename, str) else {}
    return ParameterError(
        "sordino", (error.strerror or "a file cannot be used").lower(), got=named,
        why="The file could not be read or written.", hint="check the path, its folder and their rights",
    )  # fmt: skip


def _bug(error: Exception) -> SordinoError:
    """What is told of a bug: where it happened in our files, and nothing of its words."""
    home = Path(__file__).parent.parent
    ours = [
        f"{Path(frame.filename).relative_to(home)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(home)
    ]
    return SordinoError(
        "sordino", "this is a bug of ours", got={"error": type(error).__name__, "at": ours[-1] if ours else "?"},
        why="Its own words are not shown: they may hold what was read.",
        hint="report the line above with the command that you typed",
    )  # fmt: skip


def exit_code(error: SordinoError) -> int:
    """Say which exit code an error has: 5 for a damaged ledger alone."""
    if isinstance(error, BudgetExceeded | Frozen):
        return EXIT_BUDGET
    if isinstance(error, AuditFailed):
        return EXIT_AUDIT
    if isinstance(error, LedgerDamaged):
        return EXIT_LEDGER
    return EXIT_BUG if isinstance(error, Unanswered) else EXIT_USAGE
