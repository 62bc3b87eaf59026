"""Which of our modules a module depends on, and a digest of each: what a kept result or a picture can be stale by.

Imports are followed through the source, wherever in a file they stand; nothing is run. Comments, docstrings, blank
lines and the import lines themselves do not count, so a reworded or moved module changes nothing.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOTS = (Path(__file__).resolve().parents[1], Path(__file__).resolve().parents[2])
"""Where our packages are: `sordino` and `reproductions` in the first folder, `benchmarks` in the second."""
OURS = ("sordino", "reproductions", "benchmarks")
SILENT = ("sordino", "sordino.errors", "sordino.checks", "sordino.registry")
"""Modules that decide no number: where names live, how refusals read, how variants are found."""
BY_NAME = ("sordino.noise", "sordino.statistics", "sordino.mechanisms")
"""Folders in which `sordino.catalogue` finds things by their names."""


def digests(*modules: str) -> dict[str, str]:
    """Digest the named modules and everything of ours that they import, directly or not.

    Example:
        >>> found = digests("sordino.privacy.conversion")
        >>> "sordino.privacy" in found, "sordino.session.door" in found
        (True, False)
    """
    todo, found = list(modules), {}
    while todo:
        name = todo.pop()
        if name in found or name in SILENT or (path := _file(name)) is None:
            continue
        found[name] = _digest(path)
        todo += _imported(name)
    return dict(sorted(found.items()))


@functools.cache
def _file(name: str) -> Path | None:
    """The source of a module, if it is ours."""
    if name.partition(".")[0] not in OURS:
        return None
    for root in ROOTS:
        place = root.joinpath(*name.split("."))
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if path.is_file():
                return path
    return None


@functools.cache
def _digest(path: Path) -> str:
    """Digest the lines that do something."""
    return _short(line for _, line in _lines(path))


def _short(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]


@functools.cache
def _lines(path: Path) -> tuple[tuple[int, str], ...]:
    """The lines that do something, with their numbers: no comments, docstrings, blank lines and imports."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    silent: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and (isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node)):
            silent |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    kept = ((row, line.rstrip()) for row, line in enumerate(lines, 1) if row not in silent)
    return tuple((row, line) for row, line in kept if line)


def source(file: str) -> Path | None:
    """The path of a file of ours; None for what is not."""
    path = Path(file)
    ours = any(path.is_relative_to(root / name) for root in ROOTS for name in OURS)
    return path if ours and path.is_file() else None


@functools.cache
def pieces(path: Path) -> dict[str, str]:
    """Digests of every function and method of a file by its name, and under no name of all that stands outside them.

    Example:
        >>> found = pieces(Path(__file__))
        >>> {"pieces", "digests", ""} <= set(found)
        True
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions: dict[str, tuple[int, int]] = {}
    classes = [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    for prefix, body in [("", tree.body), *classes]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                functions[prefix + node.name] = first, node.end_lineno or node.lineno
    inside = {row for first, last in functions.values() for row in range(first, last + 1)}
    found = {
        name: _short(line for row, line in _lines(path) if first <= row <= last)
        for name, (first, last) in functions.items()
    }
    return found | {"": _short(line for row, line in _lines(path) if row not in inside)}


def everything() -> frozenset[str]:
    """Digests of all pieces of all our files as they are now."""
    files = {path for root in ROOTS for name in OURS for path in (root / name).rglob("*.py")}
    return frozenset(digest for path in files for digest in pieces(path).values())


def _is_text(node: ast.AST) -> bool:
    """Whether a statement is a docstring, of a function or of a name."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@functools.cache
def _imported(name: str) -> tuple[str, ...]:
    """The modules that a module imports, its parent folders, and what it finds by name."""
    path = _file(name)
    assert path is not None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = name.split(".")
    found = [".".join(parts[:count]) for count in range(1, len(parts))]
    aliases = {}
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            for item in node.names:
                found.append(item.name)
                aliases[item.asname or item.name] = item.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(node.module)
            found += [_home(node.module, item.name) for item in node.names]
        elif (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases
        ):
            found.append(_home(aliases[node.value.id], node.attr))
    if name == "sordino.catalogue":
        found += [inner for folder in BY_NAME for inner in _inside(folder)]
    if name.startswith("sordino.noise.") and path.name == "__init__.py":
        found += _inside(name)  # a family's law, sampler and certificate find each other by name
    return tuple(found)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything but what is imported for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _statements(node)


def _home(package: str, name: str) -> str:
    """The module of a name that is imported from a package: itself, or where the package's front page says it lives."""
    if _file(f"{package}.{name}") is not None:
        return f"{package}.{name}"
    return _homes(package).get(name, package)


@functools.cache
def _homes(package: str) -> dict[str, str]:
    """Read where a front page says that names live: in its stub, or in a list of names by module or modules by name."""
    path = _file(package)
    if path is None or path.name != "__init__.py":
        return {}
    homes: dict[str, str] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            for one, other in ast.literal_eval(node.value).items():
                names, home = (other, one) if isinstance(other, tuple | list) else ((one,), other)
                homes |= dict.fromkeys(names, f"{package}.{home}")
    if (stub := path.with_suffix(".pyi")).is_file():
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                homes |= {item.asname or item.name: _home(node.module, item.name) for item in node.names}
    return homes


def _inside(folder: str) -> list[str]:
    """All modules of a folder, however deep."""
    path = _file(folder)
    assert path is not None
    inner = [one.relative_to(path.parent).with_suffix("").parts for one in path.parent.rglob("*.py")]
    return [".".join([folder, *parts]).removesuffix(".__init__") for parts in inner]
