"""Wrap the prose of the Markdown pages at one width: `python docs/wrapped.py`, or `--check` to name what is not.

Paragraphs and list items are filled anew; code, tables, formulas on lines of their own, headings, comments and
directives stay as they are. Nothing inside `code`, $formulas$ or [links](to) is broken, and no line begins with a sign
that Markdown would take for a list or a heading, so the page means the same before and after.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100

FENCE = re.compile(r"^\s*(`{3,}|~{3,}|\$\$)")
KEPT = re.compile(
    r"^\s*(#|:{3,}|\||<|!\[|\[[^\]]+\]:|:\w+:|-{3,}\s*$|={3,}\s*$|\([\w-]+\)=|\+\+\+|%|\\begin|\\end)|^: "
    r"|^ {4,}(?![*\-\d])"
)
ITEM = re.compile(r"^(\s*)([*+-]|\d+[.)])(\s+)(?=\S)")
QUOTE = re.compile(r"^(\s*>\s?)")
SIGN = re.compile(r"^(?:[*+:-]|\d+[.)])$|^[>|%#]|^`{3}|^~{3}|^\$\$|^=+$|^-{2,}$|^:\w+:|^:{3}")
ATOM = re.compile(r"`[^`]*`|\$[^$\s](?:[^$]*[^$\s])?\$|\]\([^)]*\)|[^\s`$\]]+|[`$\]]")


def pages() -> list[Path]:
    """The Markdown files of the repository."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "clients").rglob("*.md")]
    made = {
        ROOT / "docs/reference" / name for name in ("commands.md", "theorems.md")
    }  # when the site is built
    away = {"_build", "node_modules", "jupyter_execute"}
    return sorted(path for path in found if path not in made and not away & set(path.parts))


def words(text: str) -> list[str]:
    """What a line may be broken between: words, with code and formulas whole."""
    found: list[str] = []
    end = 0
    for match in ATOM.finditer(text):
        piece = re.sub(r"\s+", " ", match.group())
        if found and match.start() == end:
            found[-1] += piece
        else:
            found.append(piece)
        end = match.end()
    return found


def filled(text: str, first: str, rest: str) -> list[str]:
    """Lines of a paragraph with a prefix for the first line and one for the others."""
    lines: list[str] = []
    line, empty = first, True
    for word in words(text):
        if not empty and len(line) + 1 + len(word) > WIDTH and not SIGN.match(word):
            lines.append(line)
            line, empty = rest, True
        line += word if empty else f" {word}"
        empty = False
    return [*lines, line]


def wrapped(text: str) -> str:
    r"""A page with its prose filled to the width.

    Example:
        >>> print(wrapped("* one\n  two\n\n| a | b |\n"))
        * one two
        <BLANKLINE>
        | a | b |
        <BLANKLINE>
    """
    out: list[str] = []
    held: list[str] = []
    first = rest = ""
    fence = ""

    def flush() -> None:
        if held:
            out.extend(filled(" ".join(held), first, rest))
            held.clear()

    lines = text.split("\n")
    front = bool(lines) and lines[0] == "---"
    for number, line in enumerate(lines):
        if front:
            out.append(line)
            front = number == 0 or line != "---"
            continue
        mark = FENCE.match(line)
        if fence:
            out.append(line)
            if mark and mark.group(1).startswith(fence) and (fence != "$$" or line.rstrip().endswith("$$")):
                fence = ""
            continue
        if mark:
            flush()
            out.append(line)
            sign = mark.group(1)
            whole = sign == "$$" and line.strip() != "$$" and line.rstrip().endswith("$$")
            fence = "" if whole else sign
            continue
        item, quote = ITEM.match(line), QUOTE.match(line)
        if (
            not line.strip()
            or quote
            or (KEPT.match(line) and not item and not (held and line.startswith("<")))
        ):
            flush()
            out.append(line)
        elif item:
            flush()
            first = item.group()
            rest = " " * len(first)
            held.append(line[len(first) :].strip())
        elif held:
            held.append(line.strip())
        else:
            first = rest = line[: len(line) - len(line.lstrip())]
            held.append(line.strip())
        if held and line.endswith(("  ", "\\")):  # a line break that the author wants
            flush()
            out[-1] += "  " if line.endswith("  ") else ""
            first = rest
    flush()
    return "\n".join(out)


def main(arguments: list[str] | None = None) -> int:
    """Wrap the pages, or name those that are not wrapped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if a page is not wrapped")
    check = parser.parse_args(arguments).check
    changed = [page for page in pages() if wrapped(text := page.read_text(encoding="utf-8")) != text]
    for page in changed:
        print(f"{'not wrapped' if check else 'wrapped'}: {page.relative_to(ROOT)}")
        if not check:
            page.write_text(wrapped(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
