"""Uniform numbers with as many bits as a decision needs.

A word V is the head of X = (V + rest)/2^63, uniform on [-1, 1): the rest is drawn only when somebody asks.
The float view of the same words, for the fast path, is `heads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sordino.exact.balls import Ball, dyadic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits

#: Words with |X| below this go to the slow path: their relative truncation would be too large.
GUARD = 2.0**-20
#: Outside the guard, a head is known to this relative error: 2^-63/2^-20 for the unread bits of the word,
#: 2^-53 for the rounding of the word to a float (docs/proofs/exact_sampler.md).
HEAD_ERROR = 2.0**-43 + 2.0**-53
_SCALE = 2.0**-63


class LazyUniform:
    """A uniform number on [-1, 1), refined with fresh bits on demand and never redrawn.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> u = LazyUniform(-(2**62), SeededBits(1))
        >>> u.refine(64)
        >>> u.bits, u.negative
        (127, True)
    """

    __slots__ = ("_source", "bits", "head")

    def __init__(self, word: int, source: Bits) -> None:
        self.head = word
        self.bits = 63
        self._source = source

    @property
    def negative(self) -> bool:
        """The sign bit, which no refinement can change."""
        return self.head < 0

    def refine(self, bits: int) -> None:
        """Append random bits, a multiple of 64."""
        for _ in range(bits // 64):
            self.head = (self.head << 64) | (self._source.word() & 0xFFFFFFFFFFFFFFFF)
            self.bits += 64

    def signed(self) -> Ball:
        """Enclose X on [-1, 1)."""
        return dyadic(2 * self.head + 1, -self.bits - 1, 1)

    def magnitude(self) -> Ball:
        """Enclose |X| on [0, 1]."""
        head = ~self.head if self.head < 0 else self.head
        return dyadic(2 * head + 1, -self.bits - 1, 1)

    def sign(self) -> int:
        """Return -1 or 1."""
        return -1 if self.head < 0 else 1


def heads(words: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the float next to V/2^63 for every word.

    Example:
        >>> heads(np.array([-(2**63), 2**62]))
        array([-1. ,  0.5])
    """
    x = words.astype(np.float64)
    x *= _SCALE
    return x
