"""Who is in which block: decided by fresh secret words, never by a value. What the blocks say; private.

Every person's word decides the block and the place in it, so the rest of the table is dealt alike whoever comes, goes
or is replaced (docs/proofs/mechanism_blocks.md, Theorem 2). The words are not kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino.errors import Unsupported
from sordino.running.confine import SANDBOX
from sordino.running.evaluate import Task
from sordino.running.far_rows import FarRows
from sordino.running.pool import covered, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sordino.mechanisms.parts.draws import Draws
    from sordino.running.block import Rows
    from sordino.running.worker import ProcessLimits
    from sordino.statistics.function import Function


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Dealt:
    """Rows in the order of their blocks, and where each block starts; private."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]

    def rows(self, block: int) -> NDArray[np.intp]:
        """The rows of one block."""
        return self.order[self.starts[block] : self.starts[block + 1]]


def deal(rows: int, units: NDArray[np.int64] | None, blocks: int, draws: Draws, *, fixed: bool) -> Dealt:
    """Deal rows into blocks.

    Args:
        rows: How many rows.
        units: To whom each belongs; None where a row is a person.
        blocks: How many blocks.
        draws: Gives fresh secret words.
        fixed: The number of rows is public: a random order is cut into parts of one size. Otherwise every person's
            block is drawn by itself, and sizes vary.
    """
    people = rows if units is None else int(units.max(initial=-1)) + 1
    words, order = _different(people, draws)
    if units is not None:
        order = np.argsort(_ranks(order)[units], kind="stable")  # rows of one person stay together
    keys = words if units is None else words[units]
    if fixed and units is None:
        starts = np.array([rows * place // blocks for place in range(blocks + 1)])
    else:  # the block of a word w is floor(blocks w / 2^64), which grows with w
        edges = np.array([-(-(place << 64) // blocks) for place in range(1, blocks)], np.uint64)
        inner = np.searchsorted(keys[order], edges, side="left")
        starts = np.concatenate([[0], inner, [rows]])
    return Dealt(order, starts.astype(np.intp))


def _different(count: int, draws: Draws) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
    """So many different words and their order: all are drawn again where two are alike, so no order is likelier."""
    while True:
        words = draws.words(count).astype(np.int64).view(np.uint64)
        order = _in_order(words)
        if order is not None:
            return words, order


def _in_order(words: NDArray[np.uint64]) -> NDArray[np.intp] | None:
    """The order of different words, None where two are alike.

    The places take the room of the lowest bits, so that plain numbers are sorted, which is twice as quick as an order
    of other numbers; the few words that differ in those bits alone are put in order afterwards.
    """
    room = np.uint64(max(len(words) - 1, 1).bit_length())
    keys = words >> room << room
    keys |= np.arange(len(words), dtype=np.uint64)
    keys.sort()
    order = (keys & ((np.uint64(1) << room) - np.uint64(1))).astype(np.intp)
    keys >>= room
    alike = np.flatnonzero(keys[1:] == keys[:-1])
    if len(alike):
        places = np.union1d(alike, alike + 1)
        rows = order[places]
        order[places] = rows = rows[np.argsort(words[rows])]
        if (words[rows[1:]] == words[rows[:-1]]).any():
            return None
    return order


def _ranks(order: NDArray[np.intp]) -> NDArray[np.int64]:
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def block_values(
    statistic: Function, table: Rows | FarRows, blocks: int, debias: int, draws: Draws
) -> NDArray[np.float64]:
    """The values of all blocks, one row per output, cut to the bounds; private."""
    return values_and_failures(statistic, table, blocks, debias, draws)[0]


def values_and_failures(
    statistic: Function, table: Rows | FarRows, blocks: int, debias: int, draws: Draws
) -> tuple[NDArray[np.float64], int]:
    """The values of all blocks, and how many blocks gave no number; private."""
    task = Task(statistic.frame, statistic.outputs, debias, tuple(statistic.columns))
    checked(statistic.pickled, task, statistic.limits)
    grids = statistic.grids
    low = np.array([grid.low for grid in grids])
    high = np.array([grid.high for grid in grids])
    values = np.where(np.arange(blocks) % 2 == 0, low[:, None], high[:, None])
    if statistic.otherwise is not None:
        values[:] = statistic.otherwise
    done = good = 0
    for done, (place, found) in enumerate(_answered(statistic, table, blocks, task, draws), start=1):
        if found is not None:
            values[:, place] = found
            good += 1
        if statistic.progress is not None:
            statistic.progress(done, blocks)
    if statistic.progress is not None and 0 < done < blocks:  # the others are empty
        statistic.progress(blocks, blocks)
    return np.clip(values, low[:, None], high[:, None]), blocks - good


def _answered(
    statistic: Function, table: Rows | FarRows, blocks: int, task: Task, draws: Draws
) -> Iterator[tuple[int, tuple[float, ...] | None]]:
    """The numbers of every block that has a row, in the order in which they end."""
    if isinstance(table, FarRows):
        key = draws.words(4).astype(np.int64).tobytes()
        yield from table.values(
            statistic.pickled, task, statistic.limits, blocks=blocks, key=key, fixed=statistic.fixed
        )
        return
    dealt = deal(len(table), table.units, blocks, draws, fixed=statistic.fixed)
    seeds = draws.words(blocks).astype(np.int64).view(np.uint64).tolist()
    filled = [place for place in range(blocks) if dealt.starts[place] < dealt.starts[place + 1]]
    jobs = ((lambda place=place: table.block(dealt.rows(place)), seeds[place]) for place in filled)
    for place, numbers in run(statistic.pickled, jobs, task, statistic.limits):
        yield filled[place], numbers


@lru_cache(maxsize=64)
def checked(function: bytes, task: Task, limits: ProcessLimits) -> tuple[str, ...]:
    """See that the function can be loaded where it will run, and that a sandbox holds; what is covered, by name."""
    if not function:
        raise Unsupported(
            "function", "was read back from a record, which holds no code",
            why="A ledger keeps the name and the digest of a function only.", hint="sd.Function(f, columns=[...], ...)",
        )  # fmt: skip
    held = covered(function, task, limits)
    missing = [name for name in SANDBOX if name not in held]
    if limits.isolation == "sandbox" and missing:
        raise Unsupported(
            "function", "has no sandbox on this system", got={"not covered": missing},
            why="It needs Linux with namespaces of users and Landlock.", hint="isolation='process'",
        )  # fmt: skip
    return held
