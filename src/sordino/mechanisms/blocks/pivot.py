"""How wide an interval for the population must be: the law of (answer - truth) / spread on normal block values.

It is data-free: a simulation of the very releases on standard normal values, with a fixed public seed. On independent
normal block values well inside their range the ratio is a pivot: its law depends on public numbers and on the range
over the spread, which is released (docs/proofs/mechanism_blocks.md, Theorem 3).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino.exact.bits import SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.blocks.centre import Centre, located
from sordino.mechanisms.tuned_tables import ForBlocks

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from sordino.privacy import Guarantee

RUNS = 1000  # simulated releases
MOST = 13  # powers of four: ranges beyond 2^26 spreads count as so wide


def half_width(
    level: float, *, price: Guarantee, blocks: int, width: Fraction, spread: Fraction, hinted: bool = False
) -> float:
    """Half the width of an interval, in spreads; from public and released numbers.

    Args:
        level: Probability that it covers the population value.
        price: What the three releases cost.
        blocks: How many blocks.
        width: Length of the public range.
        spread: The released spread.
        hinted: Whether the spread was guessed beforehand.
    """
    power = min(max(math.ceil(math.log(max(float(width / spread) / 2, 1.0), 4)), 1), MOST)
    ratios = _ratios(price, blocks, power, hinted=hinted)
    # One standard error of the simulation on the safe side: as much as two of four times as many runs.
    above = level + math.sqrt(level * (1 - level) / RUNS)
    place = min(math.ceil(above * RUNS), RUNS) - 1
    return ForBlocks.HEAVY * float(ratios[place])


@lru_cache(maxsize=64)
def _ratios(price: Guarantee, blocks: int, power: int, *, hinted: bool) -> NDArray[np.float64]:
    random, bits = np.random.default_rng([blocks, power]), SeededBits(power)
    reach = float(4**power)
    centre = Centre(price, blocks, -reach, reach, spread=1.0 if hinted else None)
    grid = Lattice.for_range(-reach, reach)
    found = []
    for values in random.standard_normal((RUNS, blocks)):
        middle, spread = located(np.clip(values, -reach, reach), centre, grid, bits)
        found.append(abs(float(middle)) / float(spread))
    return np.sort(np.array(found))
