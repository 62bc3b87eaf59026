"""All the averages of Algorithm 1 for two types at once, by two de Casteljau sweeps.

E_k is the mean of delta(K) when k records are drawn with P(type 1) = p1 and n - k with p2. These n + 1 numbers are the
Bezier control polygon, on [p2, p1], of the polynomial whose Bernstein coefficients are delta(0..n) (its polar form),
so subdividing twice gives them all in n^2 multiply-adds, convex combinations only. docs/proofs/smoothed_sweeps.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sordino.smoothed.mass import Floats, log_binomial_share

_LN2 = math.log(2.0)
_ONE_THREAD = 1 << 18  # multiply-adds up to which OpenBLAS stays on one thread


@lru_cache(maxsize=64)
def _steps(block: int, t: float) -> tuple[Floats, Floats]:
    """Return the matrices that give the first entries after 0..block-1 steps, and whole rows after ``block`` steps.

    One step is d(j) <- (1-t) d(j) + t d(j+1), so r steps weigh d(j+k) with the binomial probability of k in r.
    """
    triangle = np.zeros((block, block))
    triangle[0, 0] = 1.0
    for row in range(1, block):
        triangle[row, : row + 1] = triangle[row - 1, : row + 1] * (1.0 - t)
        triangle[row, 1 : row + 1] += triangle[row - 1, :row] * t
    weights = np.zeros(block + 1)
    weights[:block] = triangle[-1] * (1.0 - t)
    weights[1:] += triangle[-1] * t
    band = np.zeros((2 * block, block))
    for column in range(block):
        band[column : column + block + 1, column] = weights
    return triangle, band


def subdivide(logs: Floats, t: float, block: int | None = None) -> Floats:
    """Return the logarithms of the control polygon of the part [0, t], given the one of [0, 1].

    Entry i is the mean after i steps; see :func:`_steps`. ``block`` steps are taken by one matrix product. Rows of
    ``block`` entries carry their own power of two, so neighbouring entries may lie anywhere between 1 and 1e-10^8.

    Example:
        >>> np.exp(subdivide(np.log([0.5, 1.0, 0.25]), 0.5)).tolist()
        [0.5, 0.75, 0.6875]
    """
    length = logs.size
    if block is None:
        block = _block(logs)
    triangle, band = _steps(block, t)
    rows = -(-length // block)
    padded = np.full(rows * block, -np.inf)
    padded[:length] = logs
    table = padded.reshape(rows, block)
    with np.errstate(invalid="ignore"):
        exponent = np.floor(table.max(axis=1) / _LN2)
    exponent = np.where(np.isfinite(exponent), exponent, -np.inf)
    shift = np.where(np.isfinite(exponent), exponent, 0.0)[:, None] * _LN2
    table = np.exp(np.where(np.isfinite(table), table - shift, -np.inf))

    result = np.empty(rows * block)
    with np.errstate(divide="ignore"):
        for done in range(rows):
            here = exponent[0] if np.isfinite(exponent[0]) else 0.0
            result[done * block : (done + 1) * block] = np.log(triangle @ table[0]) + here * _LN2
            if done == rows - 1:
                break
            table, exponent = _advance(table, exponent, band)
    return result[:length]


def _advance(table: Floats, exponent: Floats, band: Floats) -> tuple[Floats, Floats]:
    """Take one block of steps: every new row depends on its own and the following old row."""
    rows, block = table.shape
    with np.errstate(invalid="ignore"):
        left, right = exponent[:-1], exponent[1:]
        top = np.maximum(left, right)
        finite = np.where(np.isfinite(top), top, 0.0)
        scale_left = np.where(np.isfinite(left), np.exp2(np.maximum(left - finite, -1100.0)), 0.0)
        scale_right = np.where(np.isfinite(right), np.exp2(np.maximum(right - finite, -1100.0)), 0.0)
    wide = np.empty((rows - 1, 2 * block))
    np.multiply(table[:-1], scale_left[:, None], out=wide[:, :block])
    np.multiply(table[1:], scale_right[:, None], out=wide[:, block:])
    fresh = _product(wide, band)
    largest = fresh.max(axis=1)
    # renormalise only rows that have sunk: multiplying by a power of two is exact
    sunk = (largest < 1e-30) & (largest > 0.0)
    if sunk.any():
        by = np.where(sunk, np.floor(np.log2(np.where(sunk, largest, 1.0))), 0.0)
        # two factors, because 2^-by itself may overflow
        half = np.floor(by / 2.0)
        fresh *= np.exp2(-half)[:, None]
        fresh *= np.exp2(half - by)[:, None]
        finite = finite + by
    return fresh, np.where(largest > 0.0, finite, -np.inf)


def _product(wide: Floats, band: Floats) -> Floats:
    """Multiply in pieces small enough that BLAS does not spread them over threads, which would only wait here."""
    rows, (inner, block) = wide.shape[0], band.shape
    piece = max(1, _ONE_THREAD // (inner * block))
    whole = rows // piece * piece
    result = np.empty((rows, block))
    if whole:
        stacked = wide[:whole].reshape(-1, piece, inner)
        np.matmul(stacked, band, out=result[:whole].reshape(-1, piece, block))
    if whole < rows:
        np.matmul(wide[whole:], band, out=result[whole:])
    return result


def _block(logs: Floats) -> int:
    """Choose how many steps to take at once: all that two rows span must fit into a double's range."""
    finite = logs[np.isfinite(logs)]
    if finite.size < 2:
        return min(128, max(1, logs.size))
    steepest = float(np.abs(np.diff(finite)).max())
    block = 128  # fastest from a thousand to a hundred thousand entries
    while block > 1 and steepest * 2 * block > 600.0 and float(np.ptp(finite)) > 600.0:
        block //= 2
    return min(block, max(1, logs.size))


def log_means(log_delta: Floats, p1: float, p2: float) -> Floats:
    """Return ln E_k for k = 0..n: k records of probability p1, the others of p2.

    Args:
        log_delta: ln delta(K) for K = 0..n.
        p1: P(type 1) of the first vertex.
        p2: P(type 1) of the second vertex.

    Example:
        >>> np.exp(log_means(np.log([1.0, 0.5, 1.0]), 0.5, 0.25)).round(6).tolist()
        [0.8125, 0.75, 0.75]
    """
    n = log_delta.size - 1
    if p1 < p2:
        return log_means(log_delta, p2, p1)[::-1]
    if p1 == p2:
        return np.full(n + 1, log_mean(log_delta, p1))
    # [0, 1] -> [0, p1] -> [p2, p1]; the right part of a subdivision is the left part of the mirror image
    upper = subdivide(log_delta, p1) if p1 < 1.0 else log_delta
    if p2 == 0.0:
        return upper
    return subdivide(upper[::-1], (p1 - p2) / p1)[::-1]


def log_mean(log_delta: Floats, p: float) -> float:
    """Return ln E[delta(K)] when all n records are drawn with P(type 1) = p.

    Example:
        >>> round(float(np.exp(log_mean(np.log([1.0, 0.5, 1.0]), 0.5))), 12)
        0.75
    """
    from sordino.smoothed.mass import log_sum

    n = log_delta.size - 1
    return float(log_sum(log_delta + log_binomial_share(np.arange(n + 1), n, p)))
