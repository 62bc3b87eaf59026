"""One call on made-up rows, before there are any others: which modules does a function load when it is called?

The rows are public, so nothing is learnt; what the function does to itself is gone with the process of the trial.
"""

from __future__ import annotations

import contextlib
import importlib
import mmap
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.running.block import Block
from sordino.running.child import wait_for
from sordino.running.evaluate import value

if TYPE_CHECKING:
    from sordino.running.confine import Confinement
    from sordino.running.evaluate import Task

_ROWS = 40
_SECONDS = 5.0
_SPACE = 1 << 20  # bytes for the names of modules


def tried(function: Any, task: Task, confinement: Confinement) -> bytes:
    """Call the function in a process of its own, and load here what was loaded there.

    Returns:
        What a block is confined to on this system, by name.
    """
    said = mmap.mmap(-1, _SPACE)
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            said.write(",".join(confinement.enter()).encode() + b"\n")
            before = set(sys.modules)
            _call(function, task)
            said.write("\n".join(name for name in sys.modules if name not in before).encode() + b"\n")
        finally:
            os._exit(0)
    wait_for(child, _SECONDS)
    held, *names = said[:].split(b"\0", 1)[0].decode().split("\n")
    for name in names:
        if name:
            with contextlib.suppress(BaseException):  # whatever a module raises
                importlib.import_module(name)
    return held.encode() or b"time"


def _call(function: Any, task: Task) -> None:
    """With numbers, and where they are not what it wants with texts."""
    numbers = np.arange(_ROWS) % 7 + 1.0
    kinds: tuple[Any, ...] = (numbers, [str(one) for one in numbers.tolist()])
    for rows in kinds:
        if value(function, Block(dict.fromkeys(task.columns, rows), _ROWS), task, 1) is not None:
            return
