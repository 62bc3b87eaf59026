"""The density of staircase PolyPlace, level by level: hyperbolas between closed-form break points.

Used by the noise family of that name; the theorem and the formulas are in
``docs/proofs/staircase_polyplace.md``. From a certain level on the levels repeat, scaled by e^smoothing, so that
everything out to infinity is known.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class StaircaseLadder:
    """Pieces of the unnormalised density h on (0, end], in order; beyond, the last level repeats.

    Attributes:
        low: Where each piece begins.
        high: Where it ends.
        top: h is top/(y - pole) on a piece, or top itself on a flat one.
        pole: The pole, minus infinity on a flat piece.
        tail: Mass of h beyond each piece.
        before: Mass of h before each piece.
        rest: Mass beyond the last piece.
        first: Index of the first piece of the level that repeats.
        origin: Levels are similar about -origin.
        epsilon: A level weighs e^-epsilon times the one before.
        smoothing: A level is e^smoothing times as long as the one before.
    """

    low: Floats
    high: Floats
    top: Floats
    pole: Floats
    tail: Floats
    before: Floats
    rest: float
    first: int
    origin: float
    epsilon: float
    smoothing: float

    @property
    def mass(self) -> float:
        """The integral of h over y > 0."""
        return float(self.before[-1] + self.tail[-1] + self._masses()[-1])

    def _masses(self) -> Floats:
        return piece_mass(self.low, self.high, self.top, self.pole)

    def fold(self, y: Floats) -> tuple[Floats, Floats]:
        """Bring points beyond the end back into the level that repeats: the levels skipped, and the point."""
        end = self.high[-1] + self.origin
        with np.errstate(divide="ignore"):
            skipped = np.ceil(np.log((y + self.origin) / end) / self.smoothing - 1e-13)
        skipped = np.where(y > self.high[-1], np.maximum(skipped, 1.0), 0.0)
        with np.errstate(invalid="ignore"):
            back = (y + self.origin) * np.exp(-skipped * self.smoothing) - self.origin
        back = np.where(skipped > 0, np.clip(back, self.low[self.first], self.high[-1]), y)
        return skipped, back

    def unfold(self, skipped: Floats, y: Floats) -> Floats:
        """Undo ``fold``."""
        far = (y + self.origin) * np.exp(skipped * self.smoothing) - self.origin
        return np.where(skipped > 0, far, y)

    def find(self, y: Floats) -> NDArray[np.intp]:
        """Index of the piece of a point within the end."""
        return np.minimum(np.searchsorted(self.high, y), self.high.size - 1)

    def log_density(self, y: Floats) -> Floats:
        """Log h."""
        skipped, y = self.fold(y)
        i = self.find(y)
        return log_value(y, self.top[i], self.pole[i]) - skipped * (self.epsilon + self.smoothing)

    def mass_beyond(self, y: Floats) -> Floats:
        """The mass of h beyond y."""
        skipped, y = self.fold(y)
        i = self.find(y)
        part = piece_mass(np.minimum(y, self.high[i]), self.high[i], self.top[i], self.pole[i])
        return (self.tail[i] + part) * np.exp(-skipped * self.epsilon)

    def inverse(self, log_tail: Floats, centre: Floats) -> Floats:
        """The y whose mass beyond has this logarithm; ``centre`` is the mass before it, for accuracy near 0."""
        skipped = np.ceil((np.log(self.rest) - log_tail) / self.epsilon - 1e-13)
        skipped = np.where(log_tail < np.log(self.rest), np.maximum(skipped, 1.0), 0.0)
        wanted = np.exp(log_tail + skipped * self.epsilon)
        i = np.searchsorted(-self.tail, -wanted)  # the first piece with no more mass beyond it than wanted
        i = np.minimum(i, self.tail.size - 1)
        from_end = _solve(self.high[i], -(np.maximum(wanted - self.tail[i], 0.0)), self.top[i], self.pole[i])
        k = np.maximum(np.searchsorted(self.before, centre, side="right") - 1, 0)
        from_start = _solve(self.low[k], centre - self.before[k], self.top[k], self.pole[k])
        near = centre < 0.5 * self.mass
        return np.where(near & (skipped == 0), from_start, self.unfold(skipped, from_end))

    def moment(self, order: float) -> float:
        """The integral of y^order h(y) over y > 0; infinite unless order*smoothing < epsilon."""
        if order * self.smoothing >= self.epsilon:
            return float("inf")
        nodes, weights = np.polynomial.legendre.leggauss(48)
        flat = np.isinf(self.pole)
        power = order + 1
        total = float(np.sum((self.top * (self.high**power - self.low**power))[flat]) / power)
        # In s = log(y - pole) a piece has constant density: no singularity, and a ratio of ends of a few units.
        low, high, top, pole = (part[~flat, None] for part in (self.low, self.high, self.top, self.pole))
        half = 0.5 * np.log1p((high - low) / (low - pole))
        y = pole + (low - pole) * np.exp(half * (nodes + 1))
        mass = top * half * weights
        total += float(np.sum(mass * y**order))
        repeats = np.arange(self.low.size)[~flat] >= self.first
        y, mass = y[repeats].ravel() + self.origin, mass[repeats].ravel()
        levels = int(np.ceil(np.log(4.0) / self.smoothing)) + 1
        for skip in range(1, levels + 1):
            grown = y * np.exp(skip * self.smoothing) - self.origin
            total += float(np.exp(-skip * self.epsilon) * (mass @ grown**order))
        # Beyond, origin/y <= 1/4: the binomial series, each term a geometric series over the levels.
        binomial = 1.0
        for n in range(40):
            ratio = np.exp((order - n) * self.smoothing - self.epsilon)
            series = ratio ** (levels + 1) / -np.expm1((order - n) * self.smoothing - self.epsilon)
            total += binomial * (-self.origin) ** n * float(mass @ y ** (order - n)) * series
            binomial *= (order - n) / (n + 1)
        return total


def log_value(y: Floats, top: Floats, pole: Floats) -> Floats:
    """log(top/(y - pole)), or log top on a flat piece."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(pole), np.log(top), np.log(top) - np.log(y - pole))


def piece_mass(low: Floats, high: Floats, top: Floats, pole: Floats) -> Floats:
    """The integral of a piece."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.isinf(pole), top * (high - low), top * np.log1p((high - low) / (low - pole)))


def _solve(end: Floats, mass: Floats, top: Floats, pole: Floats) -> Floats:
    """The point at a signed mass from the end of a piece."""
    with np.errstate(invalid="ignore", over="ignore"):
        curved = end + (end - pole) * np.expm1(mass / top)
        return np.where(np.isinf(pole), end + mass / top, curved)


@functools.lru_cache(maxsize=512)
def build(epsilon: float, smoothing: float, plateau: float, middle: float, core: float) -> StaircaseLadder:
    """Lay out the levels 0, 1, ... up to the first that repeats."""
    origin = float(1 / np.expm1(smoothing))

    def reach(k: Floats | float) -> Floats:
        """S_k = (e^(k smoothing) - 1)/(e^smoothing - 1)."""
        return np.asarray(np.expm1(k * smoothing) * origin)

    share = (1 + plateau) * middle / (1 + middle)
    rows = [
        (0.0, plateau, 1.0, -np.inf),
        (plateau, middle, 1 + plateau, -1.0),
        (middle, core, share, 0.0),
    ]
    end, k = core, 0
    first = 0
    while True:
        k += 1
        start, end = end, float(reach(k) + core * np.exp(k * smoothing))
        p = np.arange(k, 0.0, -1)
        knees = reach(k - p) + np.exp((k - 2 * p + 1) * smoothing) * (plateau + reach(p))
        flat_end = float(np.exp(-k * smoothing) * (plateau + reach(k)))
        bend = float(reach(k) + middle * np.exp((k - 1) * smoothing))
        bounds = np.concatenate([[0.0, flat_end], knees, [bend, end]])
        tops = np.concatenate([[np.exp(k * smoothing)], plateau + reach(p), [1 + plateau, share]])
        poles = np.concatenate([[-np.inf], reach(k - p), [reach(k - 1.0), reach(float(k))]])
        weight = np.exp(-k * epsilon)
        first = len(rows)
        for low, high, top, pole in zip(bounds[:-1], bounds[1:], tops, poles, strict=True):
            if high > start:
                rows.append((max(low, start), high, weight * top, pole))
        if flat_end <= start:
            break
    # break points that coincide (plateau = middle) may differ by an ulp: no piece
    kept = [index for index, row in enumerate(rows) if row[1] - row[0] > 1e-13 * row[1]]
    first = sum(index < first for index in kept)
    low, high, top, pole = (np.array(column) for column in zip(*(rows[index] for index in kept), strict=True))
    mass = piece_mass(low, high, top, pole)
    rest = float(np.sum(mass[first:]) / np.expm1(epsilon))
    tail = rest + np.concatenate([np.cumsum(mass[::-1])[::-1][1:], [0.0]])
    before = np.concatenate([[0.0], np.cumsum(mass)[:-1]])
    return StaircaseLadder(low, high, top, pole, tail, before, rest, first, origin, epsilon, smoothing)
