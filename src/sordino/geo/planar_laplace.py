"""Planar Laplace noise in integers: P(K = k) proportional to exp(-|k|/65536) on the lattice of one to three dimensions.

`noise` fixes every bit, so that clients in other languages can be held to the same vectors; `noise_many` draws the
same law in bulk. Neither uses a logarithm, a sine or a rounded number to decide anything. Proof:
docs/proofs/geo_points.md.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from typing import TYPE_CHECKING

import numpy as np

from sordino.errors import SordinoError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sordino.exact.bits import Bits

    Words = Callable[[], int]

#: The privacy loss is one over this many lattice steps.
T = 65536
#: r/c is at most 1/sqrt(d), so that the proposal's tail is above that of the law.
_RATIOS = {1: (1, 1), 2: (12, 17), 3: (15, 26)}
#: A draw needs about 32 words; a generator that makes it take so many is broken.
_PATIENCE = 100_000
_FINE = 20  # the acceptance compares numbers on a grid of 2^-20 first


class BrokenGenerator(SordinoError):
    """The source of random words repeats itself; nothing may be sent."""


def noise(dimension: int, word: Words) -> tuple[int, ...]:
    """Draw one noise vector from uniform 64-bit words.

    Args:
        dimension: One, two or three.
        word: Gives a uniform integer from 0 to 2^64 - 1 at each call.

    Example:
        >>> import secrets
        >>> len(noise(2, lambda: secrets.randbits(64)))
        2
    """
    used = 0

    def counted() -> int:
        nonlocal used
        used += 1
        if used > _PATIENCE:
            raise BrokenGenerator(
                "noise",
                "the source of random words repeats itself",
                why="An honest one ends after some tens.",
            )
        return word()

    r, c = _RATIOS[dimension]
    shared = gcd(r, c * T)
    s, t = r // shared, c * T // shared
    while True:
        k = tuple(_two_sided(s, t, counted) for _ in range(dimension))
        if dimension == 1 or _keep(sum(i * i for i in k), sum(map(abs, k)), r, c, counted):
            return k


def _below(n: int, word: Words) -> int:
    """Uniform on 0..n-1, from the top bits of whole words."""
    size = (n - 1).bit_length()
    if size == 0:
        return 0
    while True:
        v = word() >> (64 - size)
        if v < n:
            return v


def _exp_ratio(a: int, b: int, word: Words) -> bool:
    """True with probability exp(-a/b), for 0 <= a <= b: von Neumann's series."""
    k = 1
    while _below(b * k, word) < a:
        k += 1
    return k % 2 == 1


def _geometric(s: int, t: int, word: Words) -> int:
    """P(G >= j) = exp(-j s/t)."""
    while True:
        u = _below(t, word)
        if _exp_ratio(u, t, word):
            break
    v = 0
    while _exp_ratio(1, 1, word):
        v += 1
    return (u + t * v) // s


def _two_sided(s: int, t: int, word: Words) -> int:
    """Proportional to exp(-|j| s/t) on the integers; minus zero is drawn again."""
    while True:
        negative = word() >> 63
        size = _geometric(s, t, word)
        if not (negative and size == 0):
            return -size if negative else size


def _keep(square: int, total: int, r: int, c: int, word: Words) -> bool:
    """True with probability exp(-x), x = (sqrt(square) - (r/c) total)/T: all comparisons are of integers."""
    v = 0
    goal = c * c * square
    while (r * total + c * T * (v + 1)) ** 2 <= goal:
        if not _exp_ratio(1, 1, word):
            return False
        v += 1
    base = r * total + c * T * v
    k = 1
    while True:
        u = bits = 0
        while True:
            u = (u << 32) | (word() >> 32)
            bits += 32
            low = (base << bits) + c * T * k * u
            far = goal << (2 * bits)
            if low * low >= far:
                return k % 2 == 1
            if (low + c * T * k) ** 2 <= far:
                break
        k += 1


def noise_many(count: int, dimension: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
    """Draw many noise vectors of the same law, from other words; shape (count, dimension).

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> noise_many(3, 2, bits=SeededBits(1)).shape
        (3, 2)
    """
    from sordino.exact.bits import Bits as Source

    source = Source() if bits is None else bits
    parts: list[NDArray[np.int64]] = []
    left = count
    while left > 0:
        kept = _accepted(int(left * (1.0, 1.3, 1.7)[dimension - 1]) + 16, dimension, source)
        parts.append(kept[:left])
        left -= len(parts[-1])
    return np.concatenate(parts) if parts else np.empty((0, dimension), dtype=np.int64)


def _accepted(tries: int, dimension: int, source: Bits) -> NDArray[np.int64]:
    """Proposals with the law of `_two_sided`, less those that `_keep` would refuse."""
    from sordino.exact.exponential import ExponentialRecipe
    from sordino.exact.sampler import draw_many
    from sordino.lattice import Lattice

    r, c = _RATIOS[dimension]
    half = Fraction(1, 2)
    # floor(E c T/r) of an exact exponential E is the geometric.
    sizes = draw_many(
        ExponentialRecipe(),
        locations=-half,
        scales=Fraction(c * T, r),
        grid=Lattice.dyadic(0),
        size=tries * dimension,
        bits=source,
    )
    signs = source.words(tries * dimension) < 0
    k = np.where(signs, -sizes, sizes).reshape(tries, dimension)
    k = k[~(signs & (sizes == 0)).reshape(tries, dimension).any(axis=1)]
    if dimension == 1:
        return k
    size = np.abs(k).astype(np.float64)
    x = (np.sqrt((size * size).sum(axis=1)) - r / c * size.sum(axis=1)) / T
    fine = 2.0**-_FINE
    marks = draw_many(
        ExponentialRecipe(),
        locations=-half * Fraction(fine),
        scales=1,
        grid=Lattice.dyadic(-_FINE),
        size=len(k),
        bits=source,
    )
    low = marks * fine  # the exponential lies in [low, low + fine)
    slack = 2.0**-44 * (1.0 + size.sum(axis=1) / T)
    keep = low > x + slack
    for i in np.flatnonzero(~keep & (low + fine >= x - slack)).tolist():
        keep[i] = _settle([abs(int(v)) for v in k[i]], int(marks[i]), r, c, source)
    return k[keep]


def _settle(k: list[int], mark: int, r: int, c: int, source: Bits) -> bool:
    """Decide E > x exactly for an exponential E known to lie in the cell [mark, mark + 1) of the fine grid.

    Given its cell, E exceeds x with a probability that is compared with a uniform number, both as exact as need be.
    """
    from sordino.exact.balls import Undecided, is_less, precision, rational
    from sordino.exact.uniforms import LazyUniform

    square, total = sum(i * i for i in k), sum(k)
    fine = Fraction(1, 2**_FINE)
    edge = Fraction(mark) * fine
    uniform = LazyUniform(source.word(), source)
    root = isqrt(square)
    exact = Fraction(root) if root * root == square else None
    accuracy = 192
    while True:
        with precision(accuracy):
            length = rational(square).sqrt() if exact is None else rational(exact)
            x = (length - rational(Fraction(r * total, c))) / T
            here = x - rational(edge)
            share = ((-here).exp() - rational(-fine).exp()) / (1 - rational(-fine).exp())
            try:
                return is_less(uniform.magnitude(), share)
            except Undecided:
                pass
        uniform.refine(64)
        accuracy += 64
