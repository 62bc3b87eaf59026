"""A rehearsal on public rows: everything is shown that a release must not show."""

from __future__ import annotations

import contextlib
import pickle
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.running.block import Block
from sordino.running.pool import run

if TYPE_CHECKING:
    from sordino.running.evaluate import Task
    from sordino.running.worker import ProcessLimits


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a function did on blocks of public rows.

    Attributes:
        values: The numbers of every block, None where there was none.
        seconds: Time per block, in this process.
        problems: The traceback or the reason of every block without a number.
        rows: Rows of a block.
    """

    values: tuple[tuple[float, ...] | None, ...]
    seconds: float
    problems: tuple[str, ...]
    rows: int

    @property
    def spread(self) -> float | None:
        """The standard deviation of the first number over blocks of this size: a public guess for ``spread=``."""
        found = [one[0] for one in self.values if one is not None]
        return float(np.std(found, ddof=1)) if len(found) > 1 else None

    def __str__(self) -> str:
        good = [one for one in self.values if one is not None]
        none = len(self.values) - len(good)
        each = f"{len(self.values)} blocks of {self.rows} rows, {self.seconds:.3g} s each"
        lines = [f"{each}: {len(good)} gave a number, {none} did not"]
        if good:
            middle = np.mean(np.array(good), axis=0)
            lines.append(
                "mean " + ", ".join(f"{one:.6g}" for one in middle) + f"; spread {self.spread or 0:.3g}"
            )
        lines += list(dict.fromkeys(self.problems))[:3]
        return "\n".join(lines)


def rehearse(
    pickled: bytes, columns: dict[str, Any], task: Task, limits: ProcessLimits, *, blocks: int, rows: int
) -> Rehearsal:
    """Run a function on blocks of public rows, apart as in a release, and again here where it gives no number."""
    length = len(next(iter(columns.values())))
    if length < rows:
        raise ParameterError("rehearse", f"the example must have {rows} rows or more", got={"rows": length})
    random = np.random.default_rng(0)
    places = [random.permutation(length)[:rows] for _ in range(blocks)]
    made = [
        Block(
            {name: _plain([values[place] for place in some.tolist()]) for name, values in columns.items()},
            rows,
        )
        for some in places
    ]
    found: list[tuple[float, ...] | None] = [None] * blocks
    jobs = ((lambda block=block: block, place) for place, block in enumerate(made))
    for place, values in run(pickled, jobs, task, limits):
        found[place] = values
    problems, start = [], time.perf_counter()
    for block, values in zip(made, found, strict=True):
        problems += [] if values is not None else [_problem(pickled, block, task)]
    function = pickle.loads(pickled)  # noqa: S301  ours
    start = time.perf_counter()
    with contextlib.suppress(Exception):  # it is among the problems
        function(made[0].frame(task.frame))
    return Rehearsal(tuple(found), time.perf_counter() - start, tuple(problems), rows)


def _plain(values: list[Any]) -> Any:
    try:
        return np.array([np.nan if one is None else one for one in values], np.float64)
    except (TypeError, ValueError):
        return [None if one is None else str(one) for one in values]


def _problem(pickled: bytes, block: Block, task: Task) -> str:
    function = pickle.loads(pickled)  # noqa: S301  ours
    try:
        result = function(block.frame(task.frame))
    except Exception:  # noqa: BLE001  it is shown
        return traceback.format_exc(limit=-2).strip()
    wanted = f"the numbers {', '.join(task.outputs)}" if task.outputs else "one number"
    return f"it returned {type(result).__name__}, not {wanted}; or it took too long, too much memory, or wrote a file"
