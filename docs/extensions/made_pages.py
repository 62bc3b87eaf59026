"""Pages that are made from the code when the site is built, so that they cannot rot: commands and theorems.

They are written beside the others and are not kept in the repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
MADE = ("reference/commands.md", "reference/theorems.md")


def commands() -> str:
    """Every verb with its arguments and options, as `--help` says them."""
    import click

    from sordino.cli import program

    context = click.Context(program, info_name="sordino")
    head = (
        "# Every command\n\nMade from the commands themselves. The options of a statistic stand once, under "
        "`release`; `plan` takes the same. {doc}`cli` has what the verbs share.\n"
    )
    parts = [head]
    for name in program.list_commands(context):
        parts += _command(program.get_command(context, name), ["sordino", name], 2)
    return "\n".join(parts)


def _command(command: Any, path: list[str], level: int) -> list[str]:
    import click

    context = click.Context(command, info_name=" ".join(path))
    words = re.sub(r"\s+", " ", (command.help or "").split("\f")[0].replace("\b", "")).strip()
    parts = [f"{'#' * level} {' '.join(path)}\n", f"{_plain(words)}\n"]
    if command.epilog:
        parts.append(f"```\n{command.epilog.removeprefix('Example: ')}\n```\n")
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        if path[-1] == "plan":
            parts += ["Its statistics and their own options are those of `sordino release`. Besides:\n"]
            parts += _options(_shared(command, context, names))
            return [*parts, *_command(command.get_command(context, "budget"), [*path, "budget"], level + 1)]
        if path[-1] == "release":
            shared = _shared(command, context, names)
            known = {option.opts[0] for option in shared}
            parts += [
                "For every statistic:\n",
                *_options(shared),
                "The statistics, and what each takes besides:\n",
            ]
            for name in names:
                one = command.get_command(context, name)
                own = [param for param in one.params if param.opts[0] not in known]
                usage = " ".join(
                    param.human_readable_name for param in own if isinstance(param, click.Argument)
                )
                parts += [f"{'#' * (level + 1)} release {name}\n", f"{_plain(one.help or '')}\n"]
                parts += [f"```\nsordino release {name} {usage} ...\n```\n", *_options(own)]
            return parts
        for name in names:
            parts += _command(command.get_command(context, name), [*path, name], level + 1)
        return parts
    pieces = " ".join(context.command.collect_usage_pieces(context))
    return [*parts, f"```\n{' '.join(path)} {pieces}\n```\n", *_options(command.params)]


def _shared(command: Any, context: Any, names: list[str]) -> list[Any]:
    """The options that all commands of a group have, and few of which are fields of a statistic."""
    statistics = [command.get_command(context, name) for name in names if name != "budget"]
    found = [{param.opts[0]: param for param in one.params} for one in statistics]
    common = set.intersection(*(set(one) for one in found))
    return [param for name, param in found[0].items() if name in common]


def _options(params: list[Any]) -> list[str]:
    import click

    rows = []
    for param in params:
        if not isinstance(param, click.Option) or param.hidden or "--help" in param.opts:
            continue
        value = "" if param.is_flag else f" {param.make_metavar(click.Context(click.Command('x')))}"
        default = f" Default: `{param.default}`." if param.show_default and not param.is_flag else ""
        needed = " **Needed.**" if param.required else ""
        rows.append(f"`{', '.join(param.opts)}{value}`\n: {_plain(param.help or '')}{default}{needed}\n")
    return rows


def _plain(text: str) -> str:
    """Words without signs that Markdown would take for its own."""
    escaped = re.sub(r"([<>*_|$\[\]])", r"\\\1", re.sub(r"\s+", " ", text)).strip()
    return re.sub(r"(?<!\S)(--[a-z][\w-]*)", r"`\1`", escaped)


def theorems() -> str:
    """Every proof page with what it states, what rests on it, and the tests that check it."""
    from sordino.catalogue import mechanisms, noise_families, statistics

    users: dict[str, set[str]] = {}
    for room, found in (
        ("statistic", statistics()),
        ("noise", noise_families()),
        ("mechanism", mechanisms()),
    ):
        for name, kind in found.items():
            home = Path(sys.modules[kind.__module__].__file__ or "")
            files = sorted(home.parent.glob("*.py")) if room == "noise" else [home]
            text = "".join(path.read_text(encoding="utf-8") for path in files)
            for page in re.findall(r"docs/proofs/(\w+)", text) + re.findall(r'proof[^\n]*"(\w+)"', text):
                users.setdefault(page, set()).add(f"{room} `{name}`")
    head = (
        "# Index of theorems\n\nEvery guarantee names a page of proofs. Made from those pages: what each states, which "
        "parts of the package rest on it, the works it cites ({doc}`bibliography`) and the tests that check it by "
        "brute force or against vectors. What is wrong in the papers as printed is in the {doc}`../papers/errata`.\n"
    )
    lines = [head]
    for path in sorted((DOCS / "proofs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        stated = [
            re.sub(r"\s+", " ", one).rstrip(".:")
            for one in re.findall(r"\*\*((?:Theorem|Lemma|Proposition|Corollary|Claim)[^*]*)\*\*", text)
        ]
        cited = sorted({f"{who} {year}" for who, year in CITED.findall(re.sub(r"\s+", " ", text))})
        tests = sorted(set(re.findall(r"`(tests/[\w/]+\.py)", text)))
        lines.append(f"## {{doc}}`../proofs/{path.stem}`\n")
        for head, found in (("States", stated), ("Used by", sorted(users.get(path.stem, ()))), ("Cites", cited),
                            ("Checked by", [f"`{one}`" for one in tests])):  # fmt: skip
            if found:
                lines.append(f"* {head}: {'; '.join(dict.fromkeys(found))}")
        lines.append("")
    return "\n".join(lines)


STATED = re.compile(r"\*\*((?:Theorem|Lemma|Proposition|Corollary|Claim)[^*]*)\*\*")
NAME = r"[A-ZÀ-Ž][A-Za-zà-ž]+"
CITED = re.compile(
    rf"((?:{NAME}, )*{NAME} and {NAME}|{NAME} et al\.|Durfee|Hoeffding|Mironov|Owen) ((?:19|20)\d\d)\b"
)


def write(folder: Path = DOCS) -> None:
    """Write the pages, where they differ from what is there."""
    for name, text in zip(MADE, (commands(), theorems()), strict=True):
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
