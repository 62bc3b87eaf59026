"""What each argument is, read from the docstrings where it is written once: for ``help()`` and for the command line.

A subclass describes its own fields alone; what it inherits is described by its ancestors. Somebody who asks for help
about the subclass wants all of it.
"""

from __future__ import annotations

import inspect
import re
import textwrap

_SECTION = re.compile(r"^(Args|Attributes):\n((?:(?:    .*)?\n)*)", re.MULTILINE)
_ITEM = re.compile(r"^    (\w+): ((?:.*\n)(?:     +.*\n)*)", re.MULTILINE)


def written(text: str | None) -> dict[str, str]:
    r"""The arguments that a docstring describes, each on one line.

    Example:
        >>> written("A number.\n\nArgs:\n    x: The first,\n        which matters.\n    y: The second.\n")
        {'x': 'The first, which matters.', 'y': 'The second.'}
    """
    found: dict[str, str] = {}
    for section in _SECTION.finditer(inspect.cleandoc(text or "") + "\n"):
        for name, words in _ITEM.findall(section.group(2)):
            found[name] = " ".join(words.split())
    return found


def described(kind: type) -> dict[str, str]:
    """What the arguments of a class are: as it says itself, or else as its nearest ancestor says."""
    found: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__):
        found |= written(ancestor.__dict__.get("__doc__"))
    return found


def completed(kind: type) -> str | None:
    """The docstring of a dataclass with every inherited field described; None where there is no docstring.

    It is asked while the class is being made, so fields are those of its ancestors and its own annotations.
    """
    text = kind.__dict__.get("__doc__")
    if not text:
        return None
    inherited = [
        name for base in reversed(kind.__mro__[1:]) for name in getattr(base, "__dataclass_fields__", {})
    ]
    noted = inspect.get_annotations(kind)
    names = dict.fromkeys([*inherited, *(name for name in noted if "ClassVar" not in str(noted[name]))])
    known, own = described(kind), written(text)
    missing = [item(name, known[name]) for name in names if name in known and name not in own]
    if not missing:
        return str(text)
    clean = inspect.cleandoc(text) + "\n"
    section = _SECTION.search(clean)
    if section is not None:
        at = section.start() + len(section.group().rstrip("\n"))
        return clean[:at] + "\n" + "\n".join(missing) + clean[at:]
    at = clean.find("\nExample:\n")
    added = "\nArgs:\n" + "\n".join(missing) + "\n"
    return clean + added if at < 0 else clean[:at] + added + clean[at:]


def item(name: str, words: str) -> str:
    """An argument with its description, as a section of a docstring holds it."""
    return textwrap.fill(
        f"{name}: {words}", 100, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False
    )


def sentence(text: str) -> str:
    """The first sentence of a description, without the marks of code.

    Example:
        >>> sentence("``1`` for ages, e.g. 0.5 for shoes. More is said elsewhere.")
        '1 for ages, e.g. 0.5 for shoes.'
    """
    plain = re.sub(r"`+", "", text)
    first = re.split(r"(?<=[^.].[.])\s+(?=[A-Z])", plain, maxsplit=1)[0]
    return first if first.endswith(".") else f"{first}."
