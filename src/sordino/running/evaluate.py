"""One value of a function on one block: whatever goes wrong, there is a number or there is none.

`value` is what both a worker process and the caller's own process run. It is a function of the block alone.
"""

from __future__ import annotations

import itertools
import math
import numbers
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.running.seeding import seed_all

if TYPE_CHECKING:
    from sordino.running.block import Block


@dataclass(frozen=True, slots=True)
class Task:
    """What is done with every block; public.

    Attributes:
        frame: What the function gets: a word of `sordino.running.block.FRAMES`.
        outputs: Names of the numbers that it returns; none for a single number.
        debias: Parts of the jackknife inside a block; 0 for none.
        columns: Names of the columns of a block, for a trial on made-up rows.
    """

    frame: str
    outputs: tuple[str, ...] = ()
    debias: int = 0
    columns: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """How many numbers one block gives."""
        return max(1, len(self.outputs))


def value(function: Callable[[Any], Any], block: Block, task: Task, seed: int) -> tuple[float, ...] | None:
    """The numbers of one block, or None where there are none: an exception, no number, too many, an empty block.

    With ``debias`` the group jackknife: ``g f(block) - (g - 1) mean_i f(block without part i)``, a function of the
    block like any other, so it costs no privacy; where a part gives no number, f(block) stands.

    Example:
        >>> from sordino.running.block import Block
        >>> block = Block({"x": np.array([1.0, 2.0, 6.0])}, 3)
        >>> value(lambda b: b["x"].mean(), block, Task("numpy"), 1)
        (3.0,)
        >>> value(lambda b: 1 / 0, block, Task("numpy"), 1) is None
        True
    """
    if block.rows == 0:
        return None
    seed_all(seed)  # what a function may use without being asked
    with np.errstate(all="ignore"):
        return _bent(function, block, task)


def _bent(function: Callable[[Any], Any], block: Block, task: Task) -> tuple[float, ...] | None:
    whole = _once(function, block, task)
    parts = min(task.debias, block.rows)
    if whole is None or parts < 2:
        return whole
    edges = [block.rows * part // parts for part in range(parts + 1)]
    rest = []
    for first, last in itertools.pairwise(edges):
        part = _once(function, block.without(first, last), task)
        if part is None:
            return whole
        rest.append(part)
    bent = [
        parts * every - (parts - 1) * math.fsum(one[place] for one in rest) / parts
        for place, every in enumerate(whole)
    ]
    return whole if any(math.isnan(one) for one in bent) else tuple(bent)


def _once(function: Callable[[Any], Any], block: Block, task: Task) -> tuple[float, ...] | None:
    try:
        return _numbers(function(block.frame(task.frame)), task)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  exits and panics are failures like any other
        return None


def _numbers(result: Any, task: Task) -> tuple[float, ...] | None:
    if not task.outputs:
        found = [result]
    elif isinstance(result, Mapping) or (hasattr(result, "keys") and hasattr(result, "__getitem__")):
        found = [result[name] for name in task.outputs]
    elif isinstance(result, Sequence) and not isinstance(result, str | bytes):
        found = list(result)
    else:
        found = list(np.asarray(result).ravel())
    if len(found) != task.width:
        return None
    reals = [_real(one) for one in found]
    return None if any(math.isnan(one) for one in reals) else tuple(reals)


def _real(one: Any) -> float:
    """The double of a real number, NaN for anything else."""
    if isinstance(one, np.ndarray) and one.ndim == 0:
        one = one[()]
    decimal = sys.modules.get(
        "decimal"
    )  # whoever has such a number has loaded it; every library makes a fork dearer
    if isinstance(one, numbers.Real | np.bool_) or (decimal is not None and isinstance(one, decimal.Decimal)):
        try:
            return float(one)
        except OverflowError:
            return math.inf if one > 0 else -math.inf  # type: ignore[operator]
    return math.nan
