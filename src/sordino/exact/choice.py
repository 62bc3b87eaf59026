"""Choosing one of many candidates with exact probabilities: the exponential mechanism over weighted cells.

Weights are integers times exponentials of rationals, so nothing is rounded: a float pass finds the cell
unless the random number is within a proved tolerance of a border, and balls decide the rest.
Proof: docs/proofs/exact_choice.md. Noisy maxima are in `compare.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.exact.balls import Undecided, precision, rational, to_float
from sordino.exact.bits import Bits
from sordino.exact.functions import ARRAYS
from sordino.exact.location import exact_array
from sordino.exact.uniforms import LazyUniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from sordino.exact.balls import Ball

# Relative error of one float weight: 2^-47 for exp, 700 * 2^-52 for its argument, 2^-52 for the rest.
_WEIGHT_ERROR = 2.0**-41
_UNSIGNED = 2.0**-64
# Counts below 2^900 keep every sum of float weights finite.
_LARGEST_COUNT = 900


@dataclass(frozen=True, slots=True, eq=False)
class CellWeights:
    """The exact weights counts[i] * exp(-rate * levels[i]) * factors[kinds[i]].

    Args:
        counts: Integers, not negative: how many equal candidates a cell holds, or its length.
        levels: Integers: the distance of the cell from the best one, up to a common shift.
        rate: The exact price of one level.
        factors: Exact public constants by kind of cell, as functions that return balls; none by default.
        kinds: The kind of each cell.

    Example:
        >>> CellWeights([1, 5, 0], [0, 2, 1], rate=Fraction(1, 2)).size
        3
    """

    counts: Any
    levels: Any
    rate: Fraction
    factors: tuple[Callable[[], Ball], ...] = ()
    kinds: Any = None

    def __post_init__(self) -> None:
        counts, levels = _integers(self.counts), _integers(self.levels)
        if counts.shape != levels.shape or counts.ndim != 1:
            raise ParameterError("weights", "counts and levels must be lists of the same length")
        if not (counts > 0).any():
            raise ParameterError("weights", "at least one weight must be positive")
        if (counts < 0).any():
            raise ParameterError("weights", "counts must not be negative")
        if self.rate < 0:
            raise ParameterError("weights", "rate must not be negative", got={"rate": self.rate})
        object.__setattr__(self, "counts", counts)
        object.__setattr__(self, "levels", levels - levels[counts > 0].min())
        object.__setattr__(self, "rate", Fraction(self.rate))
        if self.factors:
            object.__setattr__(self, "kinds", np.asarray(self.kinds, dtype=np.int64))

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.counts)

    def exponents(self) -> Any:
        """Return -rate * levels as floats to a relative 2^-52; whatever lies beyond -10^300 is -10^300."""
        if self.levels.dtype != object:
            exponents = self.levels.astype(np.float64)
            exponents *= -float(self.rate)
            return exponents
        top, bottom = self.rate.numerator, self.rate.denominator
        return np.array([_quotient(-level * top, bottom) for level in self.levels.tolist()], dtype=np.float64)

    def floats(self) -> Any:
        """Return the weights as floats, each to a relative error of 2^-41 (or below e^-700 in all).

        None if a count is too large for a float: then balls must do.
        """
        if self.counts.dtype == object and max(self.counts.tolist()) >> _LARGEST_COUNT:
            return None
        # A level below the shift belongs to an empty cell: its exponent may be anything finite.
        weights = ARRAYS.exp(np.minimum(self.exponents(), 0.0))
        weights *= self.counts.astype(np.float64)
        if self.factors:
            with precision(80):
                constants = np.array([to_float(factor()) for factor in self.factors])
            weights *= constants[self.kinds]
        return weights

    def balls(self) -> list[Ball]:
        """Enclose every weight at the current precision."""
        made: dict[int, Ball] = {}
        step = rational(-self.rate).exp()
        constants = [factor() for factor in self.factors]
        result = []
        for i, (count, level) in enumerate(zip(self.counts.tolist(), self.levels.tolist(), strict=True)):
            if level not in made:  # a product of enclosures encloses too, and costs less than an exponential
                near = made.get(level - 1)
                made[level] = rational(-self.rate * level).exp() if near is None else near * step
            ball = made[level] * count
            result.append(ball * constants[self.kinds[i]] if constants else ball)
        return result


def _integers(values: Any) -> Any:
    """Return integers as int64, or as Python objects when they are larger."""
    array = exact_array(values, "weights")
    if array.dtype.kind == "i":
        return array.astype(np.int64)
    listed = array.tolist()
    if set(map(type, listed)) == {int}:
        return array
    listed = [v.item() if isinstance(v, np.generic) else v for v in listed]
    if any(isinstance(v, bool) or not isinstance(v, int) for v in listed):
        raise ParameterError("weights", "counts and levels must be integers")
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _quotient(top: int, bottom: int) -> float:
    """Return top/bottom correctly rounded, or a huge number of its sign."""
    try:
        return top / bottom
    except OverflowError:
        return 1e300 if top > 0 else -1e300


def choose(weights: CellWeights, *, bits: Bits | None = None) -> int:
    """Choose a cell with probability exactly proportional to its weight.

    Args:
        weights: The exact weights.
        bits: A source of random words; by default a fresh key from the operating system.

    Returns:
        The index of the cell; a cell of weight zero is never chosen.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> choose(CellWeights([0, 3, 0], [0, 9, 0], rate=Fraction(1)), bits=SeededBits(1))
        1
    """
    source = Bits() if bits is None else bits
    uniform = LazyUniform(source.word(), source)
    floats = weights.floats()
    if floats is None:
        return choose_exactly(weights, uniform)
    borders = np.cumsum(floats)
    total = borders[-1]
    target = (uniform.head + (1 << 63)) * _UNSIGNED * total
    slack = (_WEIGHT_ERROR + (weights.size + 4) * 2.0**-52) * total
    i = int(np.searchsorted(borders, target, side="right"))
    # Inside one cell by more than the slack on both sides: no completion of the word changes the cell.
    if i < weights.size and target < borders[i] - slack and (i == 0 or target > borders[i - 1] + slack):
        return i
    return choose_exactly(weights, uniform)


def choose_exactly(weights: CellWeights, uniform: LazyUniform) -> int:
    """Decide in balls, with more bits until one cell remains.

    Args:
        weights: The exact weights.
        uniform: The random number, as far as it has been drawn; it is refined, never drawn anew.

    Returns:
        The index of the cell.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> choose_exactly(CellWeights([1, 1], [0, 0], rate=Fraction(1)), LazyUniform(-1, SeededBits(1)))
        0
    """
    precise = 128
    while True:
        with precision(precise):
            try:
                return _locate(weights.balls(), (uniform.signed() + 1) / 2)
            except Undecided:
                pass
        uniform.refine(64)
        precise += 64


def _locate(balls: list[Ball], uniform: Ball) -> int:
    """Return the first cell whose upper border lies above uniform * total for certain."""
    total = balls[0]
    for ball in balls[1:]:
        total += ball
    target = uniform * total
    border = rational(0)
    for i, ball in enumerate(balls):
        if ball.is_zero():
            continue
        border += ball
        if target < border:
            return i
        if not target > border:
            break
    raise Undecided


def choose_candidate(weights: CellWeights, *, bits: Bits | None = None) -> tuple[int, int]:
    """Choose a cell, then one of its `counts` equal candidates uniformly.

    Args:
        weights: Cells of equal candidates.
        bits: A source of random words; by default a fresh key from the operating system.

    Returns:
        The cell and the candidate's number inside it.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> cell, inside = choose_candidate(CellWeights([0, 3], [0, 9], rate=Fraction(1)), bits=SeededBits(1))
        >>> cell, 0 <= inside < 3
        (1, True)
    """
    source = Bits() if bits is None else bits
    cell = choose(weights, bits=source)
    return cell, source.below(int(weights.counts[cell]))
