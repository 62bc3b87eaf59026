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


def shifted_products(
    factors: NDArray[np.int64], times: NDArray[np.int64], shifts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The same with a product and a shift for each factor.

    Example:
        >>> shifted_products(np.array([-(3**24), 5**17]), np.array([7**14, 3]), np.array([30, 2])).tolist()
        [-178395051598049, 572204589843]
    """
    part = np.minimum(shifts, np.frexp(times.astype(np.float64))[1] // 2)
    above, below = times >> part, times & ((1 << part) - 1)
    found: NDArray[np.int64] = (factors * above + ((factors * below) >> part)) >> (shifts - part)
    wide = (
        np.abs(factors) * (np.maximum(above, below) + 1.0) >= _LARGEST / 2
    )  # its float is off by less than that
    if wide.any():
        parts = (np.broadcast_to(one, wide.shape)[wide].astype(object) for one in (factors, times, shifts))
        factor, product, shift = parts
        found[wide] = ((factor * product) >> shift).astype(np.int64)
    return found


def shifted_quotients(
    codes: NDArray[np.int64], shifts: NDArray[np.int64], divisors: NDArray[np.int64]
) -> NDArray[np.int64]:
    """``(codes << shifts) // divisors`` exactly, by long division where a dividend has more than 63 bits.

    Example:
        >>> shifted_quotients(np.array([-(2**30), 10**9]), np.array([40, 40]), np.array([3**20] * 2)).tolist()
        [-338590370079, 315336855201]
        >>> -(2**30 << 40) // 3**20, (10**9 << 40) // 3**20
        (-338590370079, 315336855201)
    """
    quotients, rest = np.divmod(codes, divisors)
    step = 62 - int(divisors.max(initial=1)).bit_length()
    while shifts.any():
        more = np.minimum(shifts, step)
        digits, rest = np.divmod(rest << more, divisors)
        quotients, shifts = (quotients << more) + digits, shifts - more
    return quotients
