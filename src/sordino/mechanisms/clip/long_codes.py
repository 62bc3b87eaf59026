"""Products and quotients of codes and powers of two that have more than 63 bits, exactly, in arrays of 64.

The ends of short intervals in a long range are such products: a start times a length, over a power of two. Python's own
integers would do, a hundred times more slowly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = 1 << 62


def shifted_product(factors: NDArray[np.int64], times: int, shift: int) -> NDArray[np.int64]:
    """``factors times >> shift`` exactly where the product has more than 63 bits, in two parts of `times`.

    Example:
        >>> shifted_product(np.array([-(3**24), 5**17]), 7**14, 30).tolist()
        [-178395051598049, 481906477637750]
        >>> -(3**24) * 7**14 >> 30, 5**17 * 7**14 >> 30
        (-178395051598049, 481906477637750)
    """
    most = max(-int(factors.min(initial=0)), int(factors.max(initial=0)))
    if most * times < _LARGEST:
        found: NDArray[np.int64] = (factors * times) >> shift
        return found
    part = min(shift, times.bit_length() // 2)
    above, below = times >> part, times & ((1 << part) - 1)
    if most * (max(above, below) + 1) >= _LARGEST:
        return ((factors.astype(object) * times) >> shift).astype(np.int64)
    return (factors * above + ((factors * below) >> part)) >> (shift - part)


def shifted_quotient(codes: NDArray[np.int64], shift: int, divisor: int) -> NDArray[np.int64]:
    """``(codes << shift) // divisor`` exactly, by long division where the dividend has more than 63 bits.

    Example:
        >>> shifted_quotient(np.array([-(2**30), 10**9]), 40, 3**20).tolist()
        [-338590370079, 315336855201]
        >>> -(2**30 << 40) // 3**20, (10**9 << 40) // 3**20
        (-338590370079, 315336855201)
    """
    quotient, rest = divmod(codes, divisor)
    step = 62 - divisor.bit_length()
    while shift > 0:
        more = min(step, shift)
        digits, rest = divmod(rest << more, divisor)
        quotient, shift = (quotient << more) + digits, shift - more
    return quotient
