"""Hints as they are typed on a command line: errors speak Python, and here their hints become options.

Words only; what is wrong is decided where the error is raised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import click

    from sordino.errors import SordinoError

_PRICES = (
    (r"(?:sd\.)?Pure\(([^()]*)\)", r"--epsilon \1"),
    (r"(?:sd\.)?Approx\(([^(),]*), *([^()]*)\)", r"--epsilon \1 --delta \2"),
    (r"(?:sd\.)?Concentrated\(([^()]*)\)", r"--rho \1"),
    (r"budget=(--\w+)", r"\1"),
)
_CALLS = (
    (r'where\("([^"]*)"\)', r"--where '\1'"),
    (r"sd\.open\(\.\.\., ", "("),
    (r'sd\.open\("([^"]*)", \.\.\.\)(?: or sd\.open\(.*)?', r"--data \1"),
    (r'release_by\("(\w+)", \[([^\]]*)\], \.\.\.\)', r"by=\1 by_keys=(\2)"),
    (r'sd\.([A-Z][a-z]+)\("(\w+)", ([^)]*)\)', r"sordino release \1 \2 \3"),
)
_OPENED = re.compile(r"sd\.open\(\.\.\., (\w+)=([^,]*)\)")
_NEIGHBORS = re.compile(r"(?:sd\.)?Neighbors\.(\w+)")
_OPTION = re.compile(r"(?<![?&])\(?\b(?<![?&])([a-z_]+)=(\([^()]*\)|\"[^\"]*\"|'[^']*'|<[^>]*>|[\w./-]+)\)?")


def typed(hint: str, *, file: bool = False) -> str:
    """The same hint in options; for whoever wrote a release file, how the data are opened is a line of that file.

    Example:
        >>> typed("rows=1000, or smoothing=0.1")
        '--rows 1000, or --smoothing 0.1'
        >>> typed('sd.open(..., row="row_id")'), typed("numbers=('income',) reads its text as numbers")
        ('--row row_id', '--numbers income reads its text as numbers')
        >>> typed('sd.open(..., row="row_id")', file=True)
        'in the release file: row = "row_id"'
    """
    if file and (line := _OPENED.fullmatch(hint)):
        return f"in the release file: {line[1]} = {line[2]}"
    if "--" in hint or hint.startswith("sordino "):
        return hint
    hint = _NEIGHBORS.sub(lambda found: found[1].lower().replace("_", "-"), hint)
    for pattern, option in (*_CALLS, *_PRICES):
        hint = re.sub(pattern, option, hint)
    return _OPTION.sub(_option, hint)


def _option(found: re.Match[str]) -> str:
    name, value = found[1].replace("_", "-"), found[2]
    if value.startswith("("):
        value = ",".join(part.strip(" '\"") for part in value[1:-1].split(",") if part.strip())
    else:
        value = re.sub(r"(?<=\d)_(?=\d)", "", value.strip("'\""))
    return f"--{name} {value}"


def spoken(error: SordinoError, words: Sequence[str] = ()) -> str:
    """The message of an error, with a hint that can be typed where the words of the command were."""
    hint = typed(error.hint, file=words[:1] == ["run"])
    return str(type(error)(error.subject, error.rule, got=error.got, why=error.why, hint=hint))


def example(error: click.ClickException) -> str:
    """What to type instead, when a command was used wrongly: the example of the command, or of the one above it."""
    context = getattr(error, "ctx", None)
    while context is not None:
        epilog = context.command.epilog or ""
        if epilog.startswith("Example: "):
            return epilog.removeprefix("Example: ")
        context = context.parent
    return ""
