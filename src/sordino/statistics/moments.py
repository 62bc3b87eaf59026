"""Envelopes of the variance from sorted codes: which rows to move so that it grows or shrinks most.

Proofs in docs/proofs/statistics_moments.md. Floats select candidates, integers decide.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.reading.profile import Exact


def variance_of(rows: int, total: int, squares: int) -> Fraction:
    """The population variance ``(n sum k^2 - (sum k)^2) / n^2``.

    Example:
        >>> variance_of(2, 4, 10)
        Fraction(1, 1)
    """
    return Fraction(rows * squares - total * total, rows * rows) if rows else Fraction(0)


class MomentSpread:
    """Sums of blocks of sorted codes, for the envelopes of the variance."""

    def __init__(self, codes: NDArray[np.int64], top: int) -> None:
        self.rows = len(codes)
        self.top = top
        ordered = np.sort(codes)
        steps = ordered.astype(object) if self.rows * (top + 1) ** 2 >= 2**62 else ordered
        zero = np.zeros(1, steps.dtype)
        self._sums = np.concatenate([zero, np.cumsum(steps)])
        self._squares = np.concatenate([zero, np.cumsum(steps * steps)])

    def narrowest(self, kept: int, size: int) -> Exact:
        """Least variance of ``size`` rows of which ``kept`` neighbouring rows stay and the others join their mean."""
        if kept <= 0:
            return Fraction(0)
        totals = self._sums[kept:] - self._sums[: self.rows - kept + 1]
        squares = self._squares[kept:] - self._squares[: self.rows - kept + 1]
        return min(Fraction(kept * q - t * t, kept * size) for t, q in _best(kept, totals, squares, low=True))

    def widest(self, gone: int, added: int, size: int) -> Exact:
        """Largest variance with ``gone`` neighbouring rows removed and ``added`` rows put at the two ends."""
        starts = self.rows - gone + 1
        totals = self._sums[-1] - (self._sums[gone:] - self._sums[:starts])
        squares = self._squares[-1] - (self._squares[gone:] - self._squares[:starts])
        best = Fraction(0)
        for above in range(added + 1):
            t, q = totals + above * self.top, squares + above * self.top**2
            for total, square in _best(size, t, q, low=False):
                best = max(best, Fraction(size * square - total * total, size * size))
        return best


def _best(size: int, totals: NDArray[Any], squares: NDArray[Any], *, low: bool) -> Sequence[tuple[int, int]]:
    """The (total, squares) whose spread may be extreme: all within the rounding of the floats."""
    t, q = totals.astype(np.float64), squares.astype(np.float64)
    spread = size * q - t * t
    slack = 1e-12 * float(np.max(size * q + t * t, initial=0.0))
    near = spread <= spread.min() + slack if low else spread >= spread.max() - slack
    return list({(int(a), int(b)) for a, b in zip(totals[near], squares[near], strict=True)})
