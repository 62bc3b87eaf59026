"""The whole conversation on an empty table: whatever can fail fails before anything is spent."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError, Unsupported
from sordino.exact.bits import SeededBits
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Combinations, Links, Request, Summary
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms import Answer, Mechanism
    from sordino.reading.requests import Ask
    from sordino.statistics import Statistic


REMEMBERED = 256  # questions; each holds public things only


def rehearse(
    statistic: Statistic, mechanism: Mechanism, grid: Lattice, contribution: int
) -> tuple[Ask, Answer]:
    """Hold the whole conversation on an empty table: find the first request, and let every refusal come now.

    The answer is about nobody; its form tells whether a bar follows from what is published. A question that passed is
    remembered by its public parameters, so that a release is drawn once when it is asked again. A caller's own function
    is not: it may hold whatever it likes.
    """
    if Trait.BLOCKS in mechanism.asks or not _frozen(statistic, mechanism):
        return _held(statistic, mechanism, grid, contribution)
    return _remembered(statistic, mechanism, grid, contribution)


def _frozen(*asked: Any) -> bool:
    try:
        hash(asked)
    except TypeError:  # a plug-in's own class
        return False
    return True


def _held(statistic: Statistic, mechanism: Mechanism, grid: Lattice, contribution: int) -> tuple[Ask, Answer]:
    from sordino.data.memory import Memory

    asked: list[Ask] = []

    def ask(request: Ask) -> Summary:
        asked.append(request)
        nothing: dict[str, list[Any]] = {name: [] for name in columns(request)}  # may hold numbers and keys
        return Memory(nothing).summary(request)[0]

    try:
        # Nobody is protected here, and the bits of a release must not depend on what was rehearsed before it.
        answer = mechanism.answer(statistic, ask, grid, contribution=contribution, bits=SeededBits(0))
    except SordinoError:
        raise
    except Exception as problem:
        raise Unsupported(
            statistic.name,
            f"cannot be answered by {mechanism.name}",
            why="The rehearsal on an empty table failed; nothing was spent.",
            hint="another price, such as sd.Pure(0.5), or another mechanism",
        ) from problem
    return asked[0], answer


_remembered = lru_cache(maxsize=REMEMBERED)(_held)


def columns(request: Ask) -> tuple[str, ...]:
    """The columns that a request names."""
    if isinstance(request, Bundle):
        return tuple(dict.fromkeys(name for part in request.parts for name in columns(part)))
    if isinstance(request, Columns | Blocks):
        return request.columns
    if isinstance(request, Combinations):
        return tuple(dict.fromkeys((*request.columns, *request.present)))
    if isinstance(request, Links):
        return tuple(name for name in (request.left, request.right, request.weight) if name)
    assert isinstance(request, Request | Cells)
    return (request.column,)
