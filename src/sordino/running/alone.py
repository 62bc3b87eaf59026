"""One block after another in a process that others share, such as an executor's: each still runs apart.

The zygote is kept between blocks of one function; it has never seen a row.
"""

from __future__ import annotations

import pickle
import select
import time
from typing import TYPE_CHECKING

from sordino.running.evaluate import value
from sordino.running.worker import Worker

if TYPE_CHECKING:
    from sordino.running.block import Block
    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits, Values

_KEPT: dict[tuple[bytes, Task, ProcessLimits], Worker] = {}


def block_value(function: bytes, block: Block, task: Task, limits: ProcessLimits, seed: int) -> Values:
    """The numbers of one block, or None.

    Example:
        >>> import numpy as np
        >>> from sordino.running.block import Block
        >>> from sordino.running.evaluate import Task
        >>> from sordino.running.worker import ProcessLimits
        >>> block_value(pickle.dumps(len), Block({"x": np.ones(3)}, 3), Task("numpy"), ProcessLimits("none"), 1)
        (1.0,)
    """
    if limits.isolation == "none":
        return value(pickle.loads(function), block, task, seed)  # noqa: S301  ours, and fresh for every block
    key = (function, task, limits)
    worker = _KEPT.get(key)
    if worker is None or not worker.alive:
        for other in _KEPT.values():
            other.close()
        _KEPT.clear()
        worker = _KEPT[key] = Worker.started(function, task, limits)
    worker.give(0, block, seed)
    select.select([worker.channel], [], [], max(0.0, worker.until - time.monotonic()))
    _, found, alive = worker.take()
    if not alive:
        _KEPT.pop(key).close()
    return found
