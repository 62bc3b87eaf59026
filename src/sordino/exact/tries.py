"""Tries of a recipe: words, their float view, and which of them are accepted.

A try is dropped only after its rejection has been decided exactly; the bits that decision needed stay with
it. What accepted tries become is `sampler.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.exact.balls import Undecided, precision
from sordino.exact.functions import ARRAYS
from sordino.exact.recipe import Guard
from sordino.exact.uniforms import GUARD, LazyUniform, heads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.exact.bits import Bits
    from sordino.exact.recipe import Recipe

_UPPER_GUARD = 1.0 - GUARD


def outside(guard: Guard, magnitude: float) -> bool:
    """Tell whether a head may take the fast path."""
    return guard is Guard.NONE or (magnitude >= GUARD and (guard is Guard.ZERO or magnitude <= _UPPER_GUARD))


def decide(recipe: Recipe, uniforms: Sequence[LazyUniform]) -> bool:
    """Decide exactly whether a try is accepted; the bits it needed stay with the uniforms."""
    bits, more = 128, 64
    while True:
        with precision(bits):
            try:
                return recipe.accepts(*uniforms)
            except Undecided:
                pass
        for u in uniforms:
            u.refine(more)
        bits += more
        more *= 2  # a value with many digits before the point needs as many bits


def accepted(recipe: Recipe, source: Bits) -> list[LazyUniform]:
    """Return the uniforms of one accepted try."""
    while True:
        uniforms = [LazyUniform(source.word(), source) for _ in recipe.guards]
        if not recipe.rejects or decide(recipe, uniforms):
            return uniforms


class TryBatch:
    """Accepted tries in floats, with what is needed to work out any of them exactly."""

    __slots__ = ("_segments", "_source", "_uniforms", "sure", "tolerance", "value")

    def __init__(self, source: Bits, value: Any, tolerance: Any, sure: Any) -> None:
        self.value = value
        self.tolerance = tolerance
        self.sure = sure  # False where a guard or an unproved parameter forbids the fast path
        self._source = source
        self._segments: list[tuple[int, Any, Any]] = []
        self._uniforms: dict[int, list[LazyUniform]] = {}

    def remember(self, begin: int, words: Any, kept: Any, refined: dict[int, list[LazyUniform]]) -> None:
        """Keep the words of tries `kept`, which serve draws begin, begin + 1, ...; some are refined already."""
        self._segments.append((begin, words, kept))
        if refined:
            place = {int(i): begin + j for j, i in enumerate(kept)}
            self._uniforms.update({place[i]: lazy for i, lazy in refined.items() if i in place})

    def uniforms(self, i: int) -> list[LazyUniform]:
        """Return the uniforms of draw i with every bit already revealed."""
        if i in self._uniforms:
            return self._uniforms[i]
        begin, words, kept = next(segment for segment in reversed(self._segments) if segment[0] <= i)
        column = i if kept is None else kept[i - begin]
        return [LazyUniform(word, self._source) for word in words[:, column].tolist()]


def _evaluate(recipe: Recipe, source: Bits, count: int) -> tuple[Any, Any, Any]:
    """Evaluate tries on fresh words: the words, which are outside the guards, and the fast view."""
    words = source.words(count * recipe.words).reshape(recipe.words, count)
    if not recipe.proved:
        return words, np.zeros(count, dtype=bool), None
    x = [heads(row) for row in words]
    sure = np.ones(count, dtype=bool)
    for guard, v in zip(recipe.guards, x, strict=True):
        if guard is not Guard.NONE:
            magnitude = np.abs(v)
            sure &= magnitude >= GUARD
            if guard is Guard.ENDS:
                sure &= magnitude <= _UPPER_GUARD
    return words, sure, recipe.fast(ARRAYS, *x)


def tries(recipe: Recipe, source: Bits, count: int) -> TryBatch:
    """Make `count` accepted tries."""
    if not recipe.rejects:
        words, sure, fast = _evaluate(recipe, source, count)
        value, tolerance = (np.zeros(count), 0.0) if fast is None else fast[:2]
        batch = TryBatch(source, value, tolerance, sure)
        batch.remember(0, words, None, {})
        return batch
    batch = TryBatch(source, np.empty(count), np.empty(count), np.empty(count, dtype=bool))
    made = 0
    while made < count:
        size = max(64, int(1.25 * (count - made)))
        words, sure, fast = _evaluate(recipe, source, size)
        if fast is None:
            value = tolerance = np.zeros(size)
            keep = np.zeros(size, dtype=bool)
            doubtful = np.arange(size)
        else:
            value, tolerance = fast.value, fast.tolerance
            keep = fast.gap < 0.0
            doubtful = np.flatnonzero(~(sure & (np.abs(fast.gap) > fast.gap_tolerance)))
        refined: dict[int, list[LazyUniform]] = {}
        for i in doubtful.tolist():
            refined[i] = [LazyUniform(word, source) for word in words[:, i].tolist()]
            keep[i] = decide(recipe, refined[i])
            sure[i] = False
        kept = np.flatnonzero(keep)[: count - made]
        batch.remember(made, words, kept, refined)
        end = made + len(kept)
        np.take(value, kept, out=batch.value[made:end])
        np.take(tolerance, kept, out=batch.tolerance[made:end])
        np.take(sure, kept, out=batch.sure[made:end])
        made = end
    return batch
