"""The law of one draw of noise on known data: on the line, on whole numbers, in space, and against a threshold.

Continuous laws are cut into fine cells for the paths that are walked; losses are read at the points where they are
extreme, and divergences are integrals over the line (densities.py). Choices among finitely many are in steps.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.exact.scale import ExpScale
from sordino.testing.densities import LogLinear, log_masses, shifted
from sordino.testing.noise_points import far_points, log_cells
from sordino.testing.round_points import LazyPoints, rooms
from sordino.testing.steps import Parts, Step, difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.lattice import Lattice
    from sordino.noise import Noise

    Floats = NDArray[np.float64]

CUTS = 5  # every gap between two points is cut into so many parts


@dataclass(frozen=True, kw_only=True)
class NoiseStep(Step):
    """A private location plus noise of a scale, on a public grid."""

    kind: ClassVar[str] = "noise"
    noise: Noise
    location: Fraction
    scale: Fraction | ExpScale
    grid: Lattice

    @property
    def question(self) -> Any:
        """The family and the grid; location and scale may be private."""
        return self.noise, self.grid

    @property
    def size(self) -> float:
        """The scale as a float."""
        if isinstance(self.scale, ExpScale):
            return float(self.scale.multiplier) * math.exp(float(self.scale.step) * self.scale.exponent)
        return float(self.scale)

    def _point(self, away: float) -> int:
        return math.floor((self.location + Fraction(away)) / self.grid.step + Fraction(1, 2))

    def parts(self, other: NoiseStep) -> Parts:
        """Fine cells of the line, measured from the table's own location."""
        here, there, shift = self.size, other.size, float(other.location - self.location)
        if not here or not there:
            same = here == there and shift == 0
            both = np.array([0.0 if same else math.inf, 0.0 if same else -math.inf])
            return Parts([self._point(0.0), self._point(shift)], None, None, both)
        edges = np.unique(
            np.concatenate(
                [here * far_points(self.noise), shift + there * far_points(other.noise), [shift / 2]]
            )
        )
        # Cuts between the points at which the losses are read; the points themselves stand inside a cell.
        gaps = np.diff(edges)
        inner = edges[:-1, None] + gaps[:, None] * (np.arange(1, CUTS) / CUTS)
        places = np.unique(np.concatenate([edges, inner.ravel()]))
        with np.errstate(all="ignore"):
            loss = (
                np.asarray(self.noise.logpdf(places / here)) - math.log(here)
                - np.asarray(other.noise.logpdf((places - shift) / there)) + math.log(there)
            )  # fmt: skip
        kept = np.isfinite(loss)
        places, loss = places[kept], loss[kept]
        cuts = (places[1:] + places[:-1]) / 2
        own = log_cells(self.noise, cuts / here)
        its = log_cells(other.noise, (cuts - shift) / there)
        exact = shifted(self.noise, other.noise, there / here, shift / here)
        return Parts(LazyPoints(self._point, places, *rooms(places, cuts, loss)), own, its, loss, exact)


@dataclass(frozen=True, kw_only=True)
class GeometricStep(Step):
    """A whole number plus two-sided geometric noise."""

    kind: ClassVar[str] = "geometric"
    value: int
    scale: Fraction

    @property
    def question(self) -> Any:
        """The scale: of two scales a number far away would tell any two values apart."""
        return self.scale

    def parts(self, other: GeometricStep) -> Parts:
        """The numbers between the two values one by one, and both tails."""
        low, high = sorted((self.value, other.value))
        span = np.unique(np.linspace(low, high, min(high - low, 400) + 1).round().astype(int))
        points = [low - 1, *span.tolist(), high + 1]
        logs = []
        for law in (self, other):
            rate = float(1 / law.scale)
            centre = math.log(math.tanh(rate / 2))
            one = [centre - rate * abs(point - law.value) for point in points]
            tail = math.log(-math.expm1(-rate))
            one[0] -= tail
            one[-1] -= tail
            logs.append(np.array(one))
        return Parts(points, logs[0], logs[1], logs[0] - logs[1])


@dataclass(frozen=True, kw_only=True)
class ThresholdStep(Step):
    """Whether a private number with noise exceeds a public threshold."""

    kind: ClassVar[str] = "threshold"
    noise: Noise
    value: Fraction
    scale: Fraction
    threshold: Fraction

    @property
    def question(self) -> Any:
        """The threshold and the noise."""
        return self.noise, self.scale, self.threshold

    def parts(self, other: ThresholdStep) -> Parts:
        """No and yes."""
        logs = []
        for law in (self, other):
            away = float((law.threshold - law.value) / law.scale)
            logs.append(np.log([float(law.noise.cdf(away)), float(law.noise.sf(away))]))
        return Parts([False, True], logs[0], logs[1], logs[0] - logs[1])


@dataclass(frozen=True, kw_only=True)
class CrossingStep(Step):
    """Which of rising private numbers is the first to reach a public threshold, all with one Laplace noise."""

    kind: ClassVar[str] = "crossing"
    values: tuple[Fraction, ...]
    threshold: Fraction
    rate: Fraction
    grid: Lattice

    @property
    def question(self) -> Any:
        """Everything but the numbers."""
        return len(self.values), self.threshold, self.rate, self.grid

    def logs(self) -> Floats:
        """Log probabilities: the noise is rounded, so each number is passed half a step before it is reached."""
        from sordino.noise.laplace import Laplace

        if not self.values:  # everything is the only place
            return np.zeros(1)
        steps = [math.ceil((self.threshold - value) / self.grid.step) for value in reversed(self.values)]
        cuts = np.array([float(self.rate * self.grid.step * (step - Fraction(1, 2))) for step in steps])
        return log_cells(Laplace(), cuts)[::-1]

    def parts(self, other: CrossingStep) -> Parts:
        """Every place."""
        here, there = self.logs(), other.logs()
        return Parts(range(len(here)), here, there, difference(here, there))


@dataclass(frozen=True, kw_only=True)
class TestStep(Step):
    """Whether a private count passes a noisy threshold."""

    __test__ = False
    kind: ClassVar[str] = "test"
    test: Any
    count: int

    @property
    def question(self) -> Any:
        """The threshold and its noise."""
        return self.test

    def parts(self, other: TestStep) -> Parts:
        """No and yes, from the nearer tail."""
        here, there = (np.log(law.test.chances(law.count)) for law in (self, other))
        return Parts([False, True], here, there, here - there)


@dataclass(frozen=True, kw_only=True)
class LineStep(Step):
    """A point of the line: pieces with a score that is constant or linear."""

    kind: ClassVar[str] = "line"
    pieces: tuple[Any, ...]
    slope: Fraction
    grid: Lattice

    @property
    def question(self) -> Any:
        """The range and the grid."""
        return min(p.left for p in self.pieces), max(p.right for p in self.pieces), self.grid

    @property
    def origin(self) -> Fraction:
        """Where the range begins; places are floats from there, since pieces may be short and far from zero."""
        return Fraction(min(piece.left for piece in self.pieces))

    def _logs(self, lefts: Floats, rights: Floats) -> tuple[Floats, Floats]:
        """Log densities, up to a constant, at both ends of segments that lie inside one piece each."""
        pieces = sorted((p for p in self.pieces if p.left < p.right), key=lambda p: p.left)
        origin = self.origin
        start, end = (
            np.array([float(getattr(piece, name) - origin) for piece in pieces]) for name in ("left", "right")
        )
        level, rise, side, density = (
            np.array([float(getattr(piece, name)) for piece in pieces])
            for name in ("level", "rise", "side", "density")
        )
        own = np.searchsorted(start, (lefts + rights) / 2, side="right") - 1
        ends = []
        for place in (lefts, rights):
            away = np.where(side[own] >= 0, place - start[own], end[own] - place) / (end[own] - start[own])
            score = level[own] + rise[own] * np.clip(away, 0.0, 1.0)
            ends.append(np.log(density[own]) - float(self.slope) * score)
        return ends[0], ends[1]

    def parts(self, other: LineStep) -> Parts:
        """Segments on which both scores are linear."""
        origin = self.origin
        ends = {
            float(end - origin)
            for law in (self, other)
            for piece in law.pieces
            for end in (piece.left, piece.right)
        }
        edges = np.array(sorted(ends))
        lefts, rights = edges[:-1], edges[1:]
        masses, heights = [], []
        for law in (self, other):
            first, second = law._logs(lefts, rights)
            raw = log_masses(first, second, rights - lefts)
            total = float(np.logaddexp.reduce(raw))
            masses.append(raw - total)
            heights.append((first - total, second - total))
        left, right = (heights[0][k] - heights[1][k] for k in (0, 1))
        # The outcome of a segment is its middle; the loss is the larger of its ends, which it comes close to.
        loss = np.where(np.abs(left) >= np.abs(right), left, right)
        exact = LogLinear(heights[0], heights[1], rights - lefts)
        points = LazyPoints(partial(self._point, origin), (lefts + rights) / 2, lefts, rights)
        return Parts(points, masses[0], masses[1], loss, exact)

    def _point(self, origin: Fraction, place: float) -> int:
        return math.floor((Fraction(place) + origin) / self.grid.step + Fraction(1, 2))


@dataclass(frozen=True, kw_only=True)
class RadialStep(Step):
    """A point in space around a private centre."""

    kind: ClassVar[str] = "radial"
    shells: Any
    grid: Lattice

    @property
    def question(self) -> Any:
        """Norm, dimension and far tail."""
        return self.shells.norm, len(self.shells.centre), self.grid

    def parts(self, other: RadialStep) -> Parts:
        """Points on the line through both centres, across it, and far away; losses alone."""
        from sordino.mechanisms.additive.radial_law import RadialLaw

        one, two = self.shells, other.shells
        centre, shift = (np.array([float(v) for v in s.centre]) for s in (one, two))
        dimension = len(centre)
        gap = shift - centre
        reach = float(max([one.tail, *one.radii, *two.radii])) or 1.0
        along = np.concatenate([np.linspace(-3, 4, 57), [0.001, 0.999, 1.001, -0.001, -50.0, 50.0]])
        points = [centre + t * gap for t in along]
        directions = [np.eye(dimension)[i] * sign for i in range(dimension) for sign in (1, -1)]
        directions += [np.ones(dimension), -np.ones(dimension)]
        sizes = np.unique(
            [float(r) for r in (*np.cumsum([float(r) for r in one.radii])[:40], reach, 30 * reach)]
        )
        points += [start + d * size for start in (centre, shift) for d in directions for size in sizes]
        losses, laws = [], []
        for shells, middle in ((one, centre), (two, shift)):
            law = RadialLaw(list(shells.radii), tail=shells.tail, dimension=dimension, slope=shells.slope)
            radii = np.linalg.norm(np.array(points) - middle, shells.norm, axis=1)
            laws.append(np.array([_radial(law, r, dimension) for r in radii]))
        losses = laws[0] - laws[1]
        kept = np.isfinite(losses)
        step = float(self.grid.step)
        outcomes = [
            tuple(math.floor(v / step + 0.5) for v in p) for p, k in zip(points, kept, strict=True) if k
        ]
        return Parts(outcomes, None, None, losses[kept])


def _radial(law: Any, radius: float, dimension: int) -> float:
    """Log density in space, up to a constant of norm and dimension."""
    return float(law.logpdf(radius)) - (dimension - 1) * math.log(radius) if radius > 0 else math.nan
