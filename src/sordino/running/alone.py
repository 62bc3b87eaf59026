"""One block in a process that others share, such as an executor's: it still runs apart.

What is kept between blocks of one function has never seen a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sordino.running.pool import run

if TYPE_CHECKING:
    from sordino.running.block import Block
    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits, Values


def block_value(function: bytes, block: Block, task: Task, limits: ProcessLimits, seed: int) -> Values:
    """The numbers of one block, or None.

    Example:
        >>> import pickle
        >>> import numpy as np
        >>> from sordino.running.block import Block
        >>> from sordino.running.evaluate import Task
        >>> from sordino.running.worker import ProcessLimits
        >>> block_value(pickle.dumps(len), Block({"x": np.ones(3)}, 3), Task("numpy"), ProcessLimits("none"), 1)
        (1.0,)
    """
    ((_, found),) = run(function, [(lambda: block, seed)], task, replace(limits, workers=1))
    return found
