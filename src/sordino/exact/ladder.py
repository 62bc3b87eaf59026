"""Choosing a level in many rows at once, exactly: nested sets of answers whose weight falls by one rate.

The weights by level are public and made once; the masses of the sets come in as floats with a stated error.
A row whose random word falls too near a border is decided in balls from exact masses.
Proof: docs/proofs/exact_ladder.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino.errors import ParameterError
from sordino.exact.functions import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sordino.exact.bits import Bits

# Relative error of a float weight: 2^-47 for exp, 700 * 2^-52 for its argument, 2^-46 for 1 - exp(-rate).
_WEIGHT_ERROR = 2.0**-41
# Below this share of all mass a sum of weights may have lost terms to underflow: balls decide.
_LEAST = 2.0**-900
_SIGN = np.uint64(1 << 63)


class Ladder:
    """The public weights ``exp(-rate l)`` of the levels ``l = 0, 1, ..., size - 1``.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> ladder = Ladder.of(Fraction(3), 2)
        >>> masses = np.array([[0.0, 1.0], [1.0, 1.0]])
        >>> exact = [[0, 1], [1, 1]]
        >>> ladder.choose(masses, error=0.0, spare=0.0, exact=exact.__getitem__, bits=SeededBits(1)).tolist()
        [1, 0]
    """

    __slots__ = ("_falls", "_weights", "rate", "size")

    def __init__(self, rate: Fraction, size: int) -> None:
        if rate < 0 or size < 1:
            raise ParameterError("ladder", "rate must not be negative and there must be a level")
        self.rate, self.size = Fraction(rate), size
        step = float(self.rate)
        self._weights = ARRAYS.exp(np.arange(size) * -step)
        # exp(-rate l) - exp(-rate (l + 1)) as a product: a difference of floats would cancel.
        self._falls = self._weights * -float(ARRAYS.expm1(np.array([-step]))[0])

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, rate: Fraction, size: int) -> Ladder:
        """The table for a rate and a number of levels, kept for the next time."""
        return cls(rate, size)

    def choose(
        self,
        masses: NDArray[np.float64],
        *,
        error: float,
        spare: float,
        exact: Callable[[int], Sequence[int]],
        bits: Bits,
    ) -> NDArray[np.int64]:
        """Choose a level in every row with probability ``~ (masses[l] - masses[l - 1]) exp(-rate l)``, exactly.

        Args:
            masses: Per row the mass of all answers up to each level, non-decreasing, in units of all mass there is.
            error: Relative error of each mass.
            spare: Absolute error of each mass, on top of it.
            exact: The exact masses of one row, as integers on any scale; asked only when floats do not decide.
            bits: A source of random words: one word per row, more where a row asks for them.

        Returns:
            The level of each row.
        """
        words = bits.words(len(masses))
        # Summed by parts all terms are positive: sum_j<l m_j (q_j - q_j+1) + m_l q_l, so nothing cancels.
        before = np.cumsum(masses * self._falls, axis=1)
        borders = masses * self._weights
        borders[:, 1:] += before[:, :-1]
        total = borders[:, -1]
        target = (words.astype(np.int64).view(np.uint64) ^ _SIGN).astype(np.float64) * 2.0**-64 * total
        slack = (2 * (_WEIGHT_ERROR + error) + (self.size + 16) * 2.0**-51) * total + 4 * spare
        level: NDArray[np.int64] = np.count_nonzero(borders <= target[:, None], axis=1)
        rows = np.arange(len(masses))
        above = borders[rows, np.minimum(level, self.size - 1)]
        below = borders[rows, np.maximum(level, 1) - 1]
        sure = (level < self.size) & (target < above - slack) & ((level == 0) | (target > below + slack))
        sure &= total > _LEAST
        for row in np.flatnonzero(~sure).tolist():
            level[row] = self._settle(exact(row), int(words[row]), bits)
        return level

    def _settle(self, masses: Sequence[int], word: int, bits: Bits) -> int:
        """Decide one row in balls, with the word that it has already."""
        from sordino.exact.choice import CellWeights, choose_exactly
        from sordino.exact.uniforms import LazyUniform

        gains = [mass - before for mass, before in zip(masses, [0, *masses[:-1]], strict=True)]
        return choose_exactly(CellWeights(gains, range(self.size), self.rate), LazyUniform(word, bits))
