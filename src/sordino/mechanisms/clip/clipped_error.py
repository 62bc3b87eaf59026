"""Errors of a mean or sum with a private clipping interval: exact given what was released before the last noise.

The interval is simulated; the noise of the answer has a known law given it, so few simulated intervals tell as much as
many simulated answers. The mechanism is auto_clip.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sordino.mechanisms.clip.noisy_mean import Summand
from sordino.mechanisms.clip.plain_or_cut_error import summand_errors

if TYPE_CHECKING:
    from fractions import Fraction

    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.auto_clip import AutoClip
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.mechanisms.clip.plain_or_cut_error import MixedErrors


def clipped_error(
    mechanism: AutoClip,
    column: ClippableColumn,
    grid: Lattice,
    truth: Fraction,
    *,
    contribution: int,
    bits: Bits,
) -> MixedErrors:
    """Release an interval and give the law of the error of the answer that would follow.

    Args:
        mechanism: In the relation in which the rows are read.
        column: A public column.
        grid: The lattice of the answer.
        truth: The statistic of the column.
        contribution: How many rows one person may move.
        bits: Random words of a simulation.
    """
    del grid  # its rounding is far below the noise
    interval = mechanism.find_interval(column, contribution=contribution, bits=bits)
    sums = column.clipped(interval.low, interval.high)
    part = Summand.of(
        sums, interval, total=mechanism.total, neighbors=mechanism.neighbors, contribution=contribution
    )
    return summand_errors(part, truth)
