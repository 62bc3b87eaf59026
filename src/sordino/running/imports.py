"""Which modules a function imports when it is called: loaded once beforehand instead of once in every block."""

from __future__ import annotations

import contextlib
import dis
import importlib
import os
import sys
from types import CodeType, FunctionType
from typing import Any


def named(function: Any) -> list[str]:
    """Names of the modules that a function, and functions of its own module that it names, would import.

    Example:
        >>> def f(block):
        ...     import statistics
        ...     return statistics.mean(block["x"])
        >>> named(f)
        ['statistics']
    """
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, FunctionType):
            known = one.__globals__
            waiting.append(one.__code__)
            waiting += [
                known[name] for name in one.__code__.co_names if isinstance(known.get(name), FunctionType)
            ]
            cells = one.__closure__ or ()
            waiting += [cell.cell_contents for cell in cells if isinstance(_held(cell), FunctionType)]
        elif isinstance(one, CodeType):
            waiting += [part for part in one.co_consts if isinstance(part, CodeType)]
            for step in dis.get_instructions(one):
                if step.opname == "IMPORT_NAME" and step.argval:
                    found[step.argval] = None
    return list(found)


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def load(function: Any) -> None:
    """Import them; one that is not there is for the function to find out."""
    for name in named(function):
        with contextlib.suppress(BaseException):  # whatever a module raises
            importlib.import_module(name)


def edited() -> tuple[tuple[str, float], ...]:
    """When the files of loaded modules were written that are not installed: code that somebody may be working on."""
    installed = {sys.prefix, sys.base_prefix}
    found = []
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and not any(file.startswith(f"{home}{os.sep}") for home in installed):
            with contextlib.suppress(OSError):
                found.append((name, os.stat(file).st_mtime))  # noqa: PTH116
    return tuple(found)
