"""Privacy loss between two exact output laws: the range of the log ratio, read at every breakpoint.

For laws and audits: both laws come from data that are known. Scores are constant or linear between breakpoints, so
the supremum over all answers is attained at a breakpoint and needs no grid.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from sordino.mechanisms.parts.law import LatticeLaw, Piece, PieceLaw


def loss_range(law: LatticeLaw | PieceLaw, other: LatticeLaw | PieceLaw) -> tuple[float, float]:
    """Smallest and largest ``log P(y) - log P'(y)`` over all answers y of two laws with one base measure.

    Returns:
        The two ends; ``max(-low, high)`` is the pure privacy loss, ``high - low`` the bounded range. An answer that
        only one of the laws can give makes an end infinite.

    Example:
        >>> from sordino.mechanisms.parts.law import ScoreCell
        >>> from sordino.mechanisms.parts.measure import Measure
        >>> one = LatticeLaw([ScoreCell(0, 0, 0), ScoreCell(1, 1, 1)], Measure.uniform(1), 1)
        >>> two = LatticeLaw([ScoreCell(0, 0, 1), ScoreCell(1, 1, 0)], Measure.uniform(1), 1)
        >>> [round(loss, 12) for loss in loss_range(one, two)]
        [-1.0, 1.0]
    """
    if isinstance(law, LatticeLaw) and isinstance(other, LatticeLaw):
        return _lattice_range(law, other)
    if isinstance(law, PieceLaw) and isinstance(other, PieceLaw):
        return _piece_range(law, other)
    raise TypeError("both laws must be of one shape")


def _lattice_range(law: LatticeLaw, other: LatticeLaw) -> tuple[float, float]:
    edges = {cell.first for cell in (*law.cells, *other.cells)} | {
        cell.last + 1 for cell in (*law.cells, *other.cells)
    }
    starts = sorted(edges)
    ratios = []
    for first, end in itertools.pairwise(starts):
        if law.measure.mass(first, end - 1) == 0:
            continue
        here, there = law.level(first), other.level(first)
        if here is None and there is None:
            continue
        ratios.append(_difference(here, there, law, other))
    return min(ratios), max(ratios)


def _difference(here: int | None, there: int | None, law: LatticeLaw, other: LatticeLaw) -> float:
    if here is None:
        return -math.inf
    if there is None:
        return math.inf
    return law.log_weight(here) - other.log_weight(there) + other.log_normalizer - law.log_normalizer


def _piece_range(law: PieceLaw, other: PieceLaw) -> tuple[float, float]:
    edges = sorted({end for piece in (*law.pieces, *other.pieces) for end in (piece.left, piece.right)})
    ratios = []
    for left, right in itertools.pairwise(edges):
        here, there = _covering(law, left, right), _covering(other, left, right)
        if here is None and there is None:
            continue
        if here is None or there is None:
            ratios.append(-math.inf if here is None else math.inf)
            continue
        for end in (left, right):  # one-sided limits: the score is linear in between
            gap = _score(there, end) - _score(here, end)
            ratios.append(law.slope * gap + other.log_normalizer - law.log_normalizer)
    return min(ratios), max(ratios)


def _covering(law: PieceLaw, left: Fraction, right: Fraction) -> Piece | None:
    for piece in law.pieces:
        if piece.left <= left and right <= piece.right:
            return piece
    return None


def _score(piece: Piece, value: Fraction) -> float:
    away = value - piece.left if piece.side >= 0 else piece.right - value
    return piece.level + piece.rise * float(away / (piece.right - piece.left))
