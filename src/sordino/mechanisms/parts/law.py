"""Exact output laws: what a mechanism would answer, and how often, on data that are known.

For laws, audits and closed-form accuracy only: a law is as private as the rows behind it and never leaves the
closed room. Two shapes: points of a lattice (`LatticeLaw`) and pieces of the real line (`PieceLaw`). Probabilities
are floats worked out from exact integers; drawing is done elsewhere, by sordino.exact.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from sordino.mechanisms.parts.measure import Measure

NEVER = -math.inf


class Law(Protocol):
    """An output distribution on known data."""

    def logpdf(self, value: float) -> float:
        """Log probability (lattice) or log density (line) at a value."""
        ...

    def cdf(self, value: float) -> float:
        """Probability of an answer that is not larger."""
        ...

    def mean(self) -> float:
        """Expected answer."""
        ...

    def mean_squared_error(self, value: float) -> float:
        """Expected squared distance from a value."""
        ...


def _log_sum(terms: list[float]) -> float:
    top = max(terms, default=NEVER)
    return top if top == NEVER else top + math.log(math.fsum(math.exp(term - top) for term in terms))


def _log_fraction(value: Fraction | int) -> float:
    value = Fraction(value)
    return math.log(value.numerator) - math.log(value.denominator) if value > 0 else NEVER


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """Lattice points ``first..last`` that share one score."""

    first: int
    last: int
    level: int


class LatticeLaw:
    """The law ``P(y) ~ measure(y) exp(-slope level(y))`` on lattice points.

    Args:
        cells: Disjoint cells in increasing order; points outside them are never answered.
        measure: The public base measure.
        slope: Nats per level.
        low: Value of lattice point 0.
        step: Distance between lattice points.

    Example:
        >>> from sordino.mechanisms.parts.measure import Measure
        >>> cells = [ScoreCell(0, 4, 1), ScoreCell(5, 5, 0), ScoreCell(6, 9, 1)]
        >>> law = LatticeLaw(cells, Measure.uniform(9), math.log(2))
        >>> round(law.probability(5), 6), round(law.cdf(4), 6)
        (0.181818, 0.454545)
    """

    def __init__(
        self,
        cells: list[ScoreCell],
        measure: Measure,
        slope: float | Fraction,
        *,
        low: Fraction = Fraction(0),
        step: Fraction = Fraction(1),
    ) -> None:
        self.cells = [cell for cell in cells if cell.first <= cell.last]
        self.measure = measure
        self.slope = float(slope)
        self.low, self.step = Fraction(low), Fraction(step)
        self._firsts = [cell.first for cell in self.cells]

    def on(self, measure: Measure) -> LatticeLaw:
        """The same cells with another measure."""
        return LatticeLaw(self.cells, measure, self.slope, low=self.low, step=self.step)

    @cached_property
    def _sizes(self) -> list[int]:
        # Worked out on demand: a draw needs cells and measure only.
        ends = [end for cell in self.cells for end in (cell.first, cell.last + 1)]
        below = self.measure.table.each_below(ends)
        return [above - under for under, above in zip(below[::2], below[1::2], strict=True)]

    @cached_property
    def _masses(self) -> list[float]:
        return [
            math.log(size) + self.log_weight(cell.level) if size else NEVER
            for size, cell in zip(self._sizes, self.cells, strict=True)
        ]

    @cached_property
    def log_normalizer(self) -> float:
        """Log of the total weight."""
        return _log_sum(self._masses)

    @cached_property
    def _shares(self) -> list[float]:
        return [math.exp(mass - self.log_normalizer) for mass in self._masses]

    @cached_property
    def _before(self) -> list[float]:
        return list(accumulate(self._shares, initial=0.0))

    def log_weight(self, level: int) -> float:
        """Log weight of one unit of mass at a level."""
        return -self.slope * level

    def level(self, point: int) -> int | None:
        """Score of one lattice point; None where no answer lies."""
        index = bisect_right(self._firsts, point) - 1
        return None if index < 0 or point > self.cells[index].last else self.cells[index].level

    def log_probability(self, point: int) -> float:
        """Log probability of one lattice point."""
        level = self.level(point)
        if level is None:
            return NEVER
        return _log_fraction(self.measure.mass(point, point)) + self.log_weight(level) - self.log_normalizer

    def probability(self, point: int) -> float:
        """Probability of one lattice point."""
        return math.exp(self.log_probability(point))

    def cdf_point(self, point: int) -> float:
        """Probability of all lattice points up to this one."""
        index = bisect_right(self._firsts, point) - 1
        if index < 0:
            return 0.0
        cell = self.cells[index]
        whole = self._sizes[index]
        part = self.measure.mass(cell.first, min(point, cell.last))
        return self._before[index] + self._shares[index] * (part / whole if whole else 0.0)

    def quantile_point(self, probability: float) -> int:
        """The first lattice point up to which the given probability lies."""
        near, far = 0, self.measure.last
        while near < far:
            middle = (near + far) // 2
            near, far = (near, middle) if self.cdf_point(middle) >= probability else (middle + 1, far)
        return near

    def logpdf(self, value: float) -> float:
        """Log probability of the lattice point nearest to a value."""
        return self.log_probability(round((Fraction(value) - self.low) / self.step))

    def cdf(self, value: float) -> float:
        """Probability of an answer that is not larger."""
        return self.cdf_point(math.floor((Fraction(value) - self.low) / self.step))

    def mean(self) -> float:
        """Expected answer."""
        return float(self.low) + float(self.step) * self._moments(Fraction(0))[0]

    def mean_squared_error(self, value: float | Fraction) -> float:
        """Expected squared distance from a value."""
        centre = (Fraction(value) - self.low) / self.step
        return float(self.step) ** 2 * self._moments(centre)[1]

    def _moments(self, centre: Fraction) -> tuple[float, float]:
        """E(y - c) and E(y - c)^2 in lattice units, run by run: points of a run form a progression."""
        runs = [run for run in self.measure.cuts() if run[2]]
        if not runs:
            return 0.0, 0.0
        unit = max(density for _, _, density in runs)  # masses may be beyond the floats, their ratios are not
        shares = [
            (cell, share / (size / unit))
            for cell, size, share in zip(self.cells, self._sizes, self._shares, strict=True)
            if share
        ]
        firsts, lasts = (np.array([run[end] for run in runs], np.int64) for end in (0, 1))
        first, last = (
            np.array([getattr(cell, end) for cell, _ in shares], np.int64) for end in ("first", "last")
        )
        # The runs that meet each cell, one line per pair of the two.
        begin, after = np.searchsorted(lasts, first), np.searchsorted(firsts, last, side="right")
        pairs = np.maximum(after - begin, 0)
        cell = np.repeat(np.arange(len(shares)), pairs)
        run = np.arange(len(cell)) - np.repeat(np.cumsum(pairs) - pairs - begin, pairs)
        left, right = np.maximum(firsts[run], first[cell]), np.minimum(lasts[run], last[cell])
        count = (right - left + 1).astype(np.float64)
        dense = np.array([density / unit for _, _, density in runs])
        weight = np.array([part for _, part in shares])[cell] * dense[run] * count
        whole, rest = divmod(2 * centre.numerator, 2 * centre.denominator)
        middle = (left - whole + (right - whole)) / 2 - rest / (2 * centre.denominator)
        squares = middle * middle + (count * count - 1) / 12
        return math.fsum(weight * middle), math.fsum(weight * squares)

    def error_quantile(self, value: float | Fraction, probability: float) -> float:
        """The distance from a value that the answer stays within with the given probability."""
        centre = (Fraction(value) - self.low) / self.step
        near, far = 0, self.measure.last + 1
        while near < far:
            reach = (near + far) // 2
            inside = self.cdf_point(math.floor(centre + reach)) - self.cdf_point(
                math.ceil(centre - reach) - 1
            )
            near, far = (near, reach) if inside >= probability else (reach + 1, far)
        return float(self.step) * near


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval of the line on which the score is constant or grows by one away from the centre.

    Attributes:
        left: Left end.
        right: Right end.
        level: Score at the end next to the centre.
        rise: How much the score grows across the piece, 0 or 1.
        side: +1 above the centre, -1 below it, 0 where it makes no difference.
        density: Base measure per unit of length.
    """

    left: Fraction
    right: Fraction
    level: int
    rise: int
    side: int
    density: Fraction = Fraction(1)


def _decay_moments(rate: float) -> tuple[float, float, float]:
    """Integral, mean and second moment of ``exp(-rate u)`` on ``0 <= u <= 1`` (moments of the normalised law)."""
    if rate < 1e-2:  # series: the closed forms cancel (error below 1e-16 relative)
        zeroth = sum((-rate) ** k / math.factorial(k + 1) for k in range(9))
        first = sum((-rate) ** k / (math.factorial(k) * (k + 2)) for k in range(9))
        second = sum((-rate) ** k / (math.factorial(k) * (k + 3)) for k in range(9))
        return zeroth, first / zeroth, second / zeroth
    gone = math.exp(-rate)
    zeroth = -math.expm1(-rate) / rate
    first = (zeroth - gone) / rate
    second = (2 * first - gone) / rate
    return zeroth, first / zeroth, second / zeroth


class PieceLaw:
    """The law with density ``~ base(y) exp(-slope score(y))`` on pieces of the line.

    Example:
        >>> law = PieceLaw([Piece(Fraction(-1), Fraction(0), 0, 1, -1), Piece(Fraction(0), Fraction(1), 0, 1, 1)], 1.0)
        >>> round(law.cdf(0.0), 6), round(law.pdf(0.0) * (1 - math.exp(-1)), 6)
        (0.5, 0.5)
    """

    def __init__(self, pieces: list[Piece], slope: float | Fraction) -> None:
        self.pieces = sorted(
            (piece for piece in pieces if piece.left < piece.right), key=lambda piece: piece.left
        )
        self.slope = float(slope)
        self._masses = [
            _log_fraction(piece.density * (piece.right - piece.left))
            - self.slope * piece.level
            + math.log(_decay_moments(self.slope * piece.rise)[0])
            for piece in self.pieces
        ]
        self.log_normalizer = _log_sum(self._masses)
        self.masses = [math.exp(mass - self.log_normalizer) for mass in self._masses]
        self._before = list(accumulate(self.masses, initial=0.0))
        self._lefts = [piece.left for piece in self.pieces]

    def _find(self, value: float | Fraction) -> tuple[int, Piece] | None:
        index = bisect_right(self._lefts, value) - 1
        if index < 0 or value > self.pieces[index].right:
            return None
        return index, self.pieces[index]

    @staticmethod
    def _inward(piece: Piece, value: float | Fraction) -> float:
        """Position inside a piece, 0 at the end next to the centre."""
        away = Fraction(value) - piece.left if piece.side >= 0 else piece.right - Fraction(value)
        return float(away / (piece.right - piece.left))

    def logpdf(self, value: float | Fraction) -> float:
        """Log density; at an edge, of the piece to its right."""
        found = self._find(value)
        if found is None:
            return NEVER
        _, piece = found
        score = piece.level + piece.rise * self._inward(piece, value)
        return _log_fraction(piece.density) - self.slope * score - self.log_normalizer

    def pdf(self, value: float | Fraction) -> float:
        """Density."""
        return math.exp(self.logpdf(value))

    def cdf(self, value: float | Fraction) -> float:
        """Probability of an answer that is not larger."""
        if not self.pieces or value <= self.pieces[0].left:
            return 0.0
        found = self._find(value)
        if found is None:  # past the end, or in a hole between two pieces
            return self._before[bisect_right(self._lefts, value)]
        index, piece = found
        inward = self._inward(piece, value)
        rate = self.slope * piece.rise
        covered = inward if rate == 0 else math.expm1(-rate * inward) / math.expm1(-rate)
        return self._before[index] + self.masses[index] * (covered if piece.side >= 0 else 1 - covered)

    def mean(self) -> float:
        """Expected answer."""
        return self._moments(Fraction(0))[0]

    def mean_squared_error(self, value: float | Fraction) -> float:
        """Expected squared distance from a value."""
        return self._moments(Fraction(value))[1]

    def _moments(self, centre: Fraction) -> tuple[float, float]:
        first_moments, second_moments = [], []
        for piece, mass in zip(self.pieces, self.masses, strict=True):
            _, mean, second = _decay_moments(self.slope * piece.rise)
            sign = 1 if piece.side >= 0 else -1
            start = float((piece.left if sign > 0 else piece.right) - centre)
            length = sign * float(piece.right - piece.left)
            first_moments.append(mass * (start + length * mean))
            second_moments.append(
                mass * (start * start + 2 * start * length * mean + length * length * second)
            )
        return math.fsum(first_moments), math.fsum(second_moments)


class MixtureLaw:
    """A law reached in two steps: first a public by-product with these probabilities, then a law given it."""

    def __init__(self, parts: Sequence[tuple[float, LatticeLaw]]) -> None:
        self.parts = [(chance, law) for chance, law in parts if chance > 0]

    def logpdf(self, value: float) -> float:
        """Log probability of the lattice point nearest to a value, over all by-products."""
        return _log_sum([math.log(chance) + law.logpdf(value) for chance, law in self.parts])

    def cdf(self, value: float) -> float:
        """Probability of an answer that is not larger."""
        return math.fsum(chance * law.cdf(value) for chance, law in self.parts)

    def mean(self) -> float:
        """Expected answer."""
        return math.fsum(chance * law.mean() for chance, law in self.parts)

    def mean_squared_error(self, value: float | Fraction) -> float:
        """Expected squared distance from a value."""
        return math.fsum(chance * law.mean_squared_error(value) for chance, law in self.parts)
