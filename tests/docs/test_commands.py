"""Every command line that a page shows is understood: the verb is there, and so is every option and argument."""

import json
import re
import shlex

import click
import pytest

from docs.notebooks.run import notebooks
from docs.wrapped import pages
from sordino.cli import program
from sordino.errors import SordinoError
from tests.support.places import ROOT

FENCED = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"^(?:\$ )?(sordino .*)$", re.MULTILINE)
INLINE = re.compile(r"`(sordino [a-z][^`]*)`")
SHELL = ("", "text", "console", "sh", "bash")
OPEN = ("...", "STATISTIC", "NAME", "FILE")
"""What a page writes where the reader goes on: such a line is checked as far as it goes."""


def lines(path):
    """The command lines of a page, continued lines joined, without comments and what the shell does."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
    for kind, block in FENCED.findall(text):
        for line in LINE.findall(re.sub(r"\\\n\s*", "", block)) if kind in SHELL else ():
            if not line.startswith(("sordino is ", "sordino serves ")):  # what the program says itself
                yield line, False
    for line in INLINE.findall(FENCED.sub("", text)):
        yield re.sub(r"\s+", " ", line), True


SHOWN = sorted({(line, inline) for path in [*pages(), *notebooks()] for line, inline in lines(path)
                if path.name not in ("CHANGELOG.md", "commands.md", "theorems.md")})  # fmt: skip


def understood(line, *, inline=False):
    """Parse a line as the program would, and run nothing; ClickException where it is not understood."""
    words = shlex.split(re.split(r"\s[|>#]\s|\s#|\s2?>", line)[0], comments=True)[1:]
    whole = not inline and not any(word.rstrip(",.:") in OPEN or word.isupper() for word in words)
    words = [word for word in words if not word.startswith("...")]
    command, context = program, click.Context(program, info_name="sordino")
    while isinstance(command, click.Group) and words:
        if words[0].startswith("-"):
            return  # --help, --version
        if words[0].isupper():
            return  # the name of any statistic
        found = command.get_command(context, words[0])
        if found is None:
            raise click.UsageError(f"no command {words[0]!r}")
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    if isinstance(command, click.Group):
        return
    if whole:
        command.make_context(command.name, list(words), parent=context.parent)
    else:
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {
            "--help",
            "-h",
        }
        for word in words:
            if word.startswith("--") and word.split("=")[0] not in known:
                raise click.NoSuchOption(word)


def test_there_are_many():
    assert len(SHOWN) > 120
    assert any(line.startswith("sordino release median") for line, _ in SHOWN)


@pytest.mark.parametrize(("line", "inline"), SHOWN, ids=lambda one: str(one)[:60])
def test_a_command_on_a_page_is_understood(line, inline, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "office").mkdir()
    try:
        understood(line, inline=inline)
    except (click.ClickException, SordinoError, ValueError) as wrong:
        pytest.fail(f"{line}\n{wrong}")


@pytest.mark.parametrize(
    "line",
    [
        "sordino relase median",
        "sordino release medain income --low 0 --high 1",
        "sordino release median income --low 0 --high 1 --epsilon 1 --data a.csv --legder a.ledger",
        "sordino release median income --lwo 0 ...",
        "sordino release median --low 0 --high 500000 --epsilon 1 --data a.csv --ledger a.ledger income extra",
        "sordino geo report points.csv --epsilon 1",
    ],
)
def test_a_wrong_line_is_not_understood(line):
    with pytest.raises((click.ClickException, SordinoError)):
        understood(line)


def test_the_readme_has_them_too():
    assert {line for line, _ in lines(ROOT / "README.md")} <= {line for line, _ in SHOWN}
