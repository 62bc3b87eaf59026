"""Errors of a mean or sum with a private clipping interval: exact given what was released before the last noise.

The interval, and the noisy number of rows where it is private, are simulated; the noise of the answer has a known law
given them, so few simulated intervals tell as much as many simulated answers. The mechanism is mechanisms/auto_clip.py.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.mechanisms.additive.additive import AdditiveLaw
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.parts.error_law import ErrorLaw
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.auto_clip import AutoClip
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.privacy import Guarantee


def clipped_error(
    mechanism: AutoClip,
    column: ClippableColumn,
    grid: Lattice,
    truth: Fraction,
    *,
    contribution: int,
    bits: Bits,
) -> ErrorLaw:
    """Release an interval and give the law of the error of the answer that would follow.

    Args:
        mechanism: In the relation in which the rows are read.
        column: A public column.
        grid: The lattice of the answer.
        truth: The statistic of the column.
        contribution: How many rows one person may move.
        bits: Random words of a simulation.
    """
    interval = mechanism.find_interval(column, contribution=contribution, bits=bits)
    sums = column.clipped(interval.low, interval.high)
    step = float(grid.step)

    def law(value: Fraction, sensitivity: Fraction, price: Guarantee, to: float, **ends: float) -> ErrorLaw:
        noise = noise_for(price)
        scale = float(sensitivity * contribution * noise.scale)
        return ErrorLaw(
            AdditiveLaw(noise.noise, value=float(value), scale=scale), truth=truth, step=to, **ends
        )

    width = sums.high - sums.low
    if mechanism.neighbors is Neighbors.REPLACE_ONE:
        count = max(sums.rows, 1)
        times = Fraction(1) if mechanism.total else Fraction(1, count)
        low, high = (float(end * count * times) for end in (sums.low, sums.high))
        return law(sums.total * times, width * times, interval.rest, step, low=low, high=high)
    if mechanism.total:
        return law(sums.total, max(abs(sums.low), abs(sums.high)), interval.rest, step)
    # A mean is a sum about a released point over a noisy count, which is drawn; given it the mean has additive noise.
    drawn, _ = Draws.of(bits).noisy(
        Fraction(sums.rows),
        sensitivity=Fraction(contribution),
        price=interval.rest.share(interval.count_part),
    )
    rows, point = max(drawn, Fraction(1)), interval.origin(sums)
    return law(
        point + (sums.total - point * sums.rows) / rows, max(sums.high - point, point - sums.low) / rows,
        interval.rest.share(1 - interval.count_part),
        step / float(rows), low=float(sums.low), high=float(sums.high),
    )  # fmt: skip
