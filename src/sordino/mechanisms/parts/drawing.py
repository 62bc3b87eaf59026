"""Exact draws that the mechanisms share: a choice by exact weights, a lattice point, a point of the line, noise.

Thin: it translates levels, cells and pieces into the exact samplers of sordino.exact and knows nothing of what the
numbers mean. Inputs are private unless the caller says otherwise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import Unsupported
from sordino.exact import choice, compare
from sordino.exact.bits import Bits
from sordino.exact.pieces import Pieces
from sordino.exact.shapes import Falling, FlatFilling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.lattice import Lattice
    from sordino.mechanisms.parts.law import Piece, ScoreCell
    from sordino.mechanisms.parts.measure import Measure
    from sordino.mechanisms.parts.rings import Rings
    from sordino.noise.calibration import Calibration
    from sordino.privacy import Guarantee


def _integers(values: Sequence[int]) -> Any:
    """An array of Python integers: numpy would turn a mix of signed and unsigned words into floats."""
    return np.array(list(values), dtype=object)


def _weights(exponents: Sequence[Fraction], counts: Sequence[int] | None) -> choice.CellWeights:
    """Exponents on their common denominator, so that levels are integers."""
    scale = math.lcm(*(exponent.denominator for exponent in exponents))
    levels = [int(exponent * scale) for exponent in exponents]
    sizes = [1] * len(levels) if counts is None else counts
    return choice.CellWeights(_integers(sizes), _integers(levels), Fraction(1, scale))


def pick(
    exponents: Sequence[Fraction], counts: Sequence[int] | None = None, *, bits: Bits | None = None
) -> int:
    """Choose index i with probability ``~ counts[i] exp(-exponents[i])``, exactly.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> pick([Fraction(900), Fraction(0), Fraction(1000)], bits=SeededBits(1))
        1
    """
    return choice.choose(_weights(exponents, counts), bits=bits)


def pick_level(levels: Sequence[int], counts: Sequence[int], *, unit: int, bits: Bits | None = None) -> int:
    """Choose index i with probability ``~ counts[i] exp(-levels[i] / unit)``, exactly.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> pick_level([900, 0, 1000], [1, 1, 1], unit=1, bits=SeededBits(1))
        1
    """
    weights = choice.CellWeights(list(counts), list(levels), Fraction(1, unit))
    return choice.choose(weights, bits=bits)


def permute_and_flip(exponents: Sequence[Fraction], *, bits: Bits | None = None) -> int:
    """Permute-and-flip: visit candidates in random order, stop at i with probability ``exp(-(x_i - least))``.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> permute_and_flip([Fraction(50), Fraction(0), Fraction(80)], bits=SeededBits(3))
        1
    """
    return compare.permute_and_flip(_weights(exponents, None), bits=bits)[0]


def draw_lattice(
    cells: Sequence[ScoreCell], measure: Measure, slope: Fraction, *, bits: Bits | None = None
) -> int:
    """Draw a lattice point with probability ``~ measure(point) exp(-slope level(point))``, exactly.

    Cell by cell in exact integers: for cells of any shape and size. `Rings.draw_points` has the same law and is faster.
    """
    source = Bits() if bits is None else bits
    masses = [measure.mass(cell.first, cell.last) for cell in cells]
    chosen, unit = choice.choose_candidate(
        choice.CellWeights(_integers(masses), [cell.level for cell in cells], slope), bits=source
    )
    return measure.point(cells[chosen].first, cells[chosen].last, unit)


def flip_lattice(cells: Sequence[ScoreCell], slope: Fraction, *, bits: Bits | None = None) -> int:
    """Draw a lattice point by permute-and-flip over all points, exactly."""
    counts = [cell.last - cell.first + 1 for cell in cells]
    chosen, place = compare.permute_and_flip(
        choice.CellWeights(_integers(counts), [cell.level for cell in cells], slope), bits=bits
    )
    return cells[chosen].first + place


def flip_rings(rings: Rings, slope: Fraction, *, bits: Bits | None = None) -> list[int]:
    """Draw one lattice point per group by permute-and-flip over all points, exactly; equal to `flip_lattice` in law.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.mechanisms.parts.rings import Rings
        >>> rings = Rings.between(np.array([[5, 0]]), np.array([[5, 9]]), Fraction(0))
        >>> flip_rings(rings, Fraction(50), bits=SeededBits(1))
        [5]
    """
    source = Bits() if bits is None else bits
    counts = np.diff(rings.high - rings.low, axis=1, prepend=0)
    group, level = np.nonzero(counts)
    starts = np.searchsorted(group, np.arange(len(rings))).tolist()
    # Only differences count: the best level of each group has shift 0, as in the comparison of a single list.
    shifted = level - level[starts][group]
    winners = compare.flip_rows(
        counts[group, level], shifted, shifted * -float(slope), rate=slope, starts=starts, bits=source
    )
    points = []
    for first, until, since, after in rings.gaps(level[winners]).T.tolist():
        unit = source.below(until - first + after - since)
        points.append(first + unit if unit < until - first else since + unit - (until - first))
    return points


def flip_lists(levels: Any, slope: Fraction, *, bits: Bits | None = None) -> list[int]:
    """Per row of an array of levels the place that permute-and-flip chooses, exactly; equal to many `permute_and_flip`.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> flip_lists(np.array([[0, 9], [9, 0]]), Fraction(50), bits=SeededBits(1))
        [0, 1]
    """
    above = levels - levels.min(axis=1, keepdims=True)
    groups, size = above.shape
    flat = above.ravel()
    winners = compare.flip_rows(
        np.ones(len(flat), np.int64), flat, flat * -float(slope),
        rate=slope, starts=list(range(0, groups * size, size)), bits=Bits() if bits is None else bits,
    )  # fmt: skip
    return [winner % size for winner in winners]


def draw_piece(pieces: Sequence[Piece], slope: Fraction, grid: Lattice, *, bits: Bits | None = None) -> int:
    """Draw a point of the line with density ``~ exp(-slope score)`` and round it to the grid, exactly."""
    ends = [end for piece in pieces for end in (piece.left, piece.right)]
    unit = Fraction(1, math.lcm(*(end.denominator for end in ends)))
    starts = [piece.left if piece.side >= 0 else piece.right for piece in pieces]
    lengths = [(piece.right - piece.left) * (1 if piece.side >= 0 else -1) for piece in pieces]
    return Pieces(
        starts=_integers([int(start / unit) for start in starts]),
        lengths=_integers([int(length / unit) for length in lengths]),
        levels=[piece.level for piece in pieces],
        rate=slope,
        shapes=(FlatFilling(), Falling(slope)),
        kinds=[piece.rise for piece in pieces],
        unit=unit,
    ).draw(grid=grid, bits=bits)


@lru_cache(maxsize=256)
def noise_for(price: Guarantee) -> Calibration:
    """The best additive noise for a public sensitivity: Laplace, or Gaussian for a concentrated price."""
    from sordino.noise.gaussian import Gaussian
    from sordino.noise.laplace import Laplace

    family = Gaussian if price.gaussian else Laplace
    if not price.noise_targets:
        raise Unsupported(
            "noise", f"has no global calibration for {type(price).__name__}", hint="Pure(epsilon)"
        )
    return family.calibrate(price.noise_targets[0], smoothing=0)
