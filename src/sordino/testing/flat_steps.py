"""Noise of plain-or-cut on known data: of one value or of a pair, with a top that is flat for so many private nats.

Worked out in logarithms, apart from the code that draws (clip/whole_or_interval.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.mechanisms.clip.flat_top import beyond, top_weight
from sordino.testing.noise_steps import NoiseStep
from sordino.testing.round_points import TWICE, LazyPoints, LazyTuples
from sordino.testing.steps import Parts, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.mechanisms.clip.whole_or_interval import Valued

    Floats = NDArray[np.float64]


CLOSE = (
    1 / 16
)  # so many scales nearer or farther a number of a pair may lie than the place that it stands for


@dataclass(frozen=True, slots=True)
class FlatTop:
    """Noise that is flat for so many nats and exponential beyond, in nats: density ``~ exp(-max(|u|, flat))``.

    Example:
        >>> round(float(FlatTop(1.0).sf(1.0)), 6), round(float(FlatTop(0.0).sf(2.0)), 6) == round(math.exp(-2) / 2, 6)
        (0.25, True)
    """

    flat: float
    shape: ClassVar[dict[str, Any]] = {}

    def logpdf(self, u: Any) -> Any:
        """Log density."""
        return self.flat - np.maximum(np.abs(u), self.flat) - math.log(2 * (1 + self.flat))

    def sf(self, u: Any) -> Any:
        """Probability of more."""
        size = np.abs(np.asarray(u, float))
        room = 2 * (1 + self.flat)
        tail = np.where(
            size > self.flat,
            np.exp(-np.maximum(size - self.flat, 0.0)) / room,
            0.5 - np.minimum(size, self.flat) / room,
        )
        return np.where(np.asarray(u) >= 0, tail, 1 - tail)

    def cdf(self, u: Any) -> Any:
        """Probability of less."""
        return self.sf(-np.asarray(u, float))

    def isf(self, q: Any) -> Any:
        """The upper quantiles of chances of at most one half."""
        q, room = np.asarray(q, float), 2 * (1 + self.flat)
        with np.errstate(divide="ignore"):
            return np.where(q * room < 1, self.flat - np.log(q * room), (0.5 - q) * room)

    def breaks(self) -> Floats:
        """Where the top ends."""
        return np.array([self.flat]) if self.flat else np.array([1.0])


def flat_topped(part: Valued, flat: Fraction | float, price: Any) -> FlatToppedStep | PairStep:
    """A value with such noise as a step, or several."""
    if len(part.values) > 1:
        return PairStep(price=price, part=part, flat=float(flat))
    return FlatToppedStep(
        price=price, noise=FlatTop(float(flat)), location=part.values[0], scale=part.scale,  # type: ignore[arg-type]
        grid=part.grid,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FlatToppedStep(NoiseStep):
    """A private value with noise whose top is flat for so many nats; these are private too."""

    kind: ClassVar[str] = "flat-topped noise"

    @property
    def question(self) -> Any:
        """The grid and the public scale."""
        return self.grid, self.scale


@dataclass(frozen=True, kw_only=True)
class PairStep(Step):
    """Two private values or three, with noise of density ``~ exp(-max(|u| + |v| + ..., flat))`` in scales.

    Losses are exact at the middles of cells about both pairs of values; chances of cells are those of their middles.
    """

    kind: ClassVar[str] = "a pair with noise"
    part: Valued
    flat: float = 0.0

    @property
    def question(self) -> Any:
        """The grid and the public scale."""
        return self.part.grid, self.part.scale

    def logs(self, away: Floats) -> Floats:
        """Log densities at so many scales from the values, one row for each of them."""
        numbers = len(self.part.values)
        far = np.maximum(np.abs(away).sum(axis=0), self.flat)
        return np.asarray(self.flat - far - math.log(2**numbers * top_weight(self.flat, numbers)))

    def rank(self, drawn: Sequence[Fraction]) -> float:
        """Where the distance of drawn values lies within its law, from 0 to 1."""
        pairs = zip(drawn, self.part.values, strict=True)
        distance = sum(abs(float((one - value) / self.part.scale)) for one, value in pairs)
        return 1.0 - float(beyond(self.flat, distance, len(self.part.values)))

    def parts(self, other: PairStep) -> Parts:
        """A grid of cells about both pairs; one of them holds each value, and those at the rim what is beyond."""
        scale = self.part.scale
        shifts = [float((b - a) / scale) for a, b in zip(self.part.values, other.part.values, strict=True)]
        steps = np.array([0.25, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0])
        more = [0.5, 1.0], [1, 4, 48]  # of a flat top: parts of it, and scales beyond
        if len(shifts) > 2:
            steps, more = np.array([0.75, 3.0, 12.0, 48.0]), ([1.0], [4])
        tops = {self.flat, other.flat} - {0.0}
        steps = np.unique(
            np.concatenate(
                [steps, *([top * part for part in more[0]] + [top + far for far in more[1]] for top in tops)]
            )
        )
        axes, points = [], []
        for value, shift in zip(self.part.values, shifts, strict=True):
            edges = np.unique(np.concatenate([-steps, steps, shift - steps, shift + steps]))
            middles = np.concatenate([(edges[1:] + edges[:-1]) / 2, [0.0, shift]])
            places, which = np.unique(middles, return_index=True)
            axes.append((places, np.append(np.diff(edges), [1e-9, 1e-9])[which]))
            point = partial(_point, value, scale, self.part.grid.step)
            points.append(LazyPoints(point, places, *_axis_rooms(places, shift)))
        away = np.stack(
            [grid.ravel() for grid in np.meshgrid(*(places for places, _ in axes), indexing="ij")]
        )
        widths = np.meshgrid(*(np.log(size) for _, size in axes), indexing="ij")
        sizes = np.sum([size.ravel() for size in widths], axis=0)
        here, there = self.logs(away), other.logs(away - np.array(shifts)[:, None])
        masses = [law + sizes - np.logaddexp.reduce(law + sizes) for law in (here, there)]
        return Parts(LazyTuples(points), masses[0], masses[1], here - there)


def _point(value: Fraction, scale: Fraction, step: Fraction, away: float) -> int:
    """The lattice point next to a place that is so many scales from a value."""
    return math.floor((value + scale * Fraction(away)) / step + Fraction(1, 2))


def _axis_rooms(places: Floats, shift: float) -> tuple[Floats, Floats]:
    """Where a round number may stand for one of a pair: near by, and farther where losses are equal."""
    first, last = min(shift, 0.0), max(shift, 0.0)
    lows, highs = places - CLOSE, places + CLOSE
    beyond, before = places >= last, places <= first
    nearer, farther = places / TWICE, TWICE * places
    lows = np.where(beyond, np.minimum(lows, np.maximum(last, nearer)), lows)
    highs = np.where(before, np.maximum(highs, np.minimum(first, nearer)), highs)
    return np.where(before, np.minimum(lows, farther), lows), np.where(
        beyond, np.maximum(highs, farther), highs
    )
