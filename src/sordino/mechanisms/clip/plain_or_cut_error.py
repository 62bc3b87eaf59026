"""Errors of plain-or-cut on public data: a mixture over its outcomes, each with noise of known law.

Only the noise of sums and counts that are drawn together is taken at a few places of its law, at fewer for rare
intervals, a few of which stand for all of their group. Intervals that nobody names (their
chance is of order e^-M) count as if they lay at the farther end of the range.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.clip.family import exact_chances
from sordino.mechanisms.clip.plain_or_cut_plan import rate_of
from sordino.mechanisms.clip.three_sums import ThreeSums, slopes
from sordino.mechanisms.parts.drawing import noise_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.column import ClippableColumn
    from sordino.mechanisms.clip.cutting import Cutting
    from sordino.mechanisms.clip.noisy_mean import Summand
    from sordino.noise import Noise

    Array = NDArray[np.float64]

COUNTS = 41  # places of the law of a noisy number of rows
NEGLIGIBLE = 1e-5  # outcomes that can add no more than this of the whole range's squared noise are left out
EDGES = np.array([0.0, 0.5, 1.5, 3.0, 6.0, 12.0, 40.0])  # in scales: between them the noise is integrated
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_COUNT_NODES, _COUNT_WEIGHTS = np.polynomial.legendre.leggauss(3)
_SHARE_NODES, _SHARE_WEIGHTS = np.polynomial.legendre.leggauss(3)
RARE = 1e-3  # groups of intervals with a smaller chance: where they lie matters, and less how noise is integrated
STANDING = 5  # so many of a rare group stand for all of it
COARSE_EDGES = np.array([0.0, 2.0, 8.0])  # the same as EDGES, for them


@dataclass(frozen=True, slots=True)
class MixedErrors:
    """The law of the error of an answer with several outcomes.

    Attributes:
        noise: The unit law of the noise.
        chance: Probability of each outcome.
        value: Where its noise is centred.
        scale: The scale of its noise.
        flat: Up to so many scales the density is flat (the whole range of a pure price), else 0.
        low: Answers are cut to at least this.
        high: Answers are cut to at most this.
        truth: The statistic.
        root: Whether the answer is the root of what these describe.

    Example:
        >>> from sordino.noise.laplace import Laplace
        >>> one, zero = np.ones(1), np.zeros(1)
        >>> law = MixedErrors(Laplace(), one, zero, one, zero, one * -99, one * 99, 0.0)
        >>> round(law.within(np.log(2)), 4), round(law.mean_square, 3)
        (0.5, 2.0)
    """

    noise: Noise
    chance: Array
    value: Array
    scale: Array
    flat: Array
    low: Array
    high: Array
    truth: float
    root: bool = False

    def _cdf(self, answers: Array) -> Array:
        """Probability of an answer that is not larger, per outcome, before it is cut."""
        away = answers - self.value
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(self.scale > 0, away / self.scale, np.sign(away) * np.inf)
        x = np.where((self.scale == 0) & (away == 0), np.inf, x)
        plain = np.asarray(self.noise.cdf(x))
        if not self.flat.any():
            return plain
        tail = np.exp(-np.maximum(np.abs(x) - self.flat, 0.0)) / (2 * (1 + self.flat))
        inner = np.minimum(np.abs(x), self.flat) / (2 * (1 + self.flat))
        above = np.where(np.abs(x) <= self.flat, 0.5 + inner, 1 - tail)
        return np.where(self.flat > 0, np.where(x >= 0, above, 1 - above), plain)

    def at_most(self, answer: float) -> float:
        """Probability of an answer that is not larger."""
        if self.root and answer < 0:
            return 0.0
        if self.root:
            answer *= answer
        inside = np.where(answer >= self.high, 1.0, np.where(answer < self.low, 0.0, self._cdf(answer)))  # type: ignore[arg-type]
        return float(np.sum(self.chance * inside))  # no threads for so little

    def within(self, distance: float) -> float:
        """Probability of an error of at most this."""
        below = float(np.nextafter(self.truth - distance, -np.inf))
        return self.at_most(self.truth + distance) - self.at_most(below)

    @property
    def mean_square(self) -> float:
        """Expected squared error."""
        half = np.diff(EDGES)[:, None] / 2
        far = (EDGES[:-1, None] + half * (1 + _NODES)).ravel()
        weight = (half * _WEIGHTS).ravel()
        flat = self.flat[:, None]
        places = np.concatenate([flat * (1 + _NODES) / 2, flat + far], axis=1)
        if self.flat.any():
            density = np.exp(-np.concatenate([0 * _NODES, far])) / (2 * (1 + flat))
        else:
            density = np.concatenate([0 * _NODES, np.asarray(self.noise.pdf(far))])[None, :]
        parts = np.concatenate(
            [flat * _WEIGHTS / 2, np.broadcast_to(weight, (len(flat), len(weight)))], axis=1
        )
        mass = density * parts
        mass = mass / (2 * mass.sum(axis=1, keepdims=True))
        total = np.zeros(len(self.chance))
        for sign in (-1, 1):
            answers = self.value[:, None] + sign * self.scale[:, None] * places
            answers = np.clip(answers, self.low[:, None], self.high[:, None])
            errors = (np.sqrt(answers) if self.root else answers) - self.truth
            total += (mass * errors**2).sum(axis=1)
        return float(np.sum(self.chance * total))


def outcome_errors(
    mechanism: Cutting, column: ClippableColumn, grid: Lattice, truth: Fraction, contribution: int
) -> MixedErrors:
    """The law of the error on a public column.

    Args:
        mechanism: In the relation in which the rows are read.
        column: A public column.
        grid: The lattice of the answer.
        truth: The statistic of the column.
        contribution: How many rows one person may move.
    """
    del grid  # its rounding is far below the noise
    family = mechanism.family(column.grid, contribution)
    plan, top, squares = family.plan, column.grid.last, mechanism.squares
    found: list[tuple[float, ...]] = []
    if not plan.searches or not mechanism.shortens(column.grid):
        sums, weighed, chance, flat = column.clipped(0, top, squares=squares), None, 1.0, 0.0
    else:
        ends, sums = column.ends(family.reach, squares=squares)
        weighed = family.weigh(ends)
        exponent = Fraction(1)
        if plan.joint:
            exponent = plan.flatness(rate_of(plan.whole))
        chance, flat, cells = exact_chances(weighed, numbers=plan.whole_drawn, exponent=exponent)
    wholes = mechanism.wholes(sums, plan.whole, contribution)
    for part, whole in wholes:
        found += _outcomes(chance * part, flat, whole)
    noise = noise_for(wholes[0][1].price).noise
    if weighed is None:
        return _mixed(found, noise, truth, root=mechanism.root)
    upper = 2 * (sums.total - sums.low * sums.rows) <= (sums.high - sums.low) * sums.rows
    far = (top - 1, top) if upper else (0, 1)
    least = _least(wholes[0][1])
    for cell, (level, places, likely) in enumerate(zip(weighed.level, weighed.places, cells, strict=True)):
        flat_top = weighed.charges[cell] / weighed.unit if plan.joint else 0.0
        some: list[Any] = [None] if places is None else list(places)
        if likely < least * len(some):
            continue
        rare = likely < RARE
        if rare and len(some) > STANDING:
            some = [some[place * (len(some) - 1) // (STANDING - 1)] for place in range(STANDING)]
        for place in some:
            low, high = far if place is None else family.interval(level, int(place))
            inside = mechanism.summand(column.clipped(low, high, squares=squares), plan.cut, contribution)
            found += _outcomes(likely / len(some), flat_top, inside, coarse=rare)
    return _mixed(found, noise, truth, root=mechanism.root)


def summand_errors(part: Summand, truth: Fraction) -> MixedErrors:
    """The law of the error of one outcome alone, with plain noise."""
    return _mixed(_outcomes(1.0, 0.0, part), noise_for(part.price).noise, truth, root=False)


def _least(whole: Summand) -> float:
    """The chance below which an outcome cannot matter, however wrong: by the noise and the width of the whole range."""
    noise = noise_for(whole.price)
    width = float(whole.sensitivity) * max(whole.rows, 1) / whole.contribution
    return NEGLIGIBLE * min(float(whole.sensitivity * noise.scale) / width, 1.0) ** 2 if width else 1e-12


def _outcomes(chance: float, flat: float, part: Summand, *, coarse: bool = False) -> list[tuple[float, ...]]:
    """Chance, centre, scale, flatness and ends of one outcome; one for every place of the law of a noisy count."""
    noise = noise_for(part.price)
    scale, origin = float(part.sensitivity * noise.scale), float(part.origin - part.known)
    low, high = (-np.inf, np.inf) if part.ends is None else map(float, part.ends)
    if isinstance(part, ThreeSums):
        return _three(chance, flat, part, low, high, coarse=coarse)
    if part.paired:
        return _paired(chance, flat, part, low, high)
    if part.counting is None:
        return [(chance, origin + float(part.value), scale, flat, low, high)]
    counting = noise_for(part.counting)
    levels = (np.arange(COUNTS) + 0.5) / COUNTS
    counts = part.rows + part.contribution * float(counting.scale) * np.asarray(counting.noise.ppf(levels))
    return [
        (chance / COUNTS, origin + float(part.value) / count, scale / count, flat, low, high)
        for count in np.maximum(np.rint(counts), 1.0).tolist()
    ]


def _paired(chance: float, flat: float, part: Summand, low: float, high: float) -> list[tuple[float, ...]]:
    """The same where the count is drawn with the value: given its noise s, that of the value is flat up to |s|.

    Both together have the density ``~ exp(-max(|s|, |d|, flat))`` in scales, so s has ``~ (1 + m) exp(-m)`` with m the
    larger of ``|s|`` and the flat top.
    """
    noise = noise_for(part.price)
    scale, origin = float(part.sensitivity * noise.scale), float(part.origin - part.known)
    counted = part.contribution * float(noise.scale)
    found: list[tuple[float, ...]] = []
    for off, likely in _count_places(flat):
        for sign in (-1, 1):
            count = max(part.rows + sign * off * counted, 1.0)
            top = max(off, flat)
            found.append(
                (chance * likely / 2, origin + float(part.value) / count, scale / count, top, low, high)
            )
    return found


def _count_places(flat: float) -> list[tuple[float, float]]:
    """Places of the law of the absolute noise of a count, in scales, with their chances."""
    edges = np.concatenate([[0.0], flat + EDGES[1:]]) if flat else EDGES
    half = np.diff(edges)[:, None] / 2
    places = (edges[:-1, None] + half * (1 + _COUNT_NODES)).ravel()
    most = np.maximum(places, flat)
    mass = (half * _COUNT_WEIGHTS).ravel() * (1 + most) * np.exp(flat - most)
    return list(zip(places.tolist(), (mass / mass.sum()).tolist(), strict=True))


def _three(
    chance: float, flat: float, part: ThreeSums, low: float, high: float, *, coarse: bool
) -> list[tuple[float, ...]]:
    """The same of a variance from three sums: given the noise of two of them, that of the third is flat, then plain.

    The two are u scales off together, evenly shared out, with the density ``~ u (1 + (x - u)+) exp(-max(u, x))``; the
    third is flat for what they leave of the top, and moves the variance in a straight line, about.
    """
    sums, rows = np.array([float(one) for one in part.sums]), max(part.rows, 1)
    scale = part.contribution * float(noise_for(part.price).scale)
    tilts = slopes(
        float(sums[1] / 2 + sums[2]) / rows, float(part.value / part.half) / rows if part.half else 0.0
    )
    first, second, third = np.argsort(np.abs(tilts))
    edges, nodes, weights = EDGES, _COUNT_NODES, _COUNT_WEIGHTS
    if coarse:
        edges, nodes, weights = COARSE_EDGES, np.zeros(1), np.full(1, 2.0)
    if flat:
        edges = np.concatenate([np.linspace(0, flat, 2 if coarse else 3), flat + edges[1:]])
    half = np.diff(edges)[:, None] / 2
    away = (edges[:-1, None] + half * (1 + nodes)).ravel()
    mass = (
        (half * weights).ravel()
        * away
        * (1 + np.maximum(flat - away, 0))
        * np.exp(flat - np.maximum(away, flat))
    )
    share, weight = (1 + _SHARE_NODES) / 2, _SHARE_WEIGHTS / 2
    if coarse:
        share, weight = np.full(1, 0.5), np.ones(1)
    signs = np.array([-1.0, 1.0])
    grid = np.meshgrid(away, share, signs, signs, indexing="ij")
    likely = (mass[:, None] / mass.sum() * weight)[:, :, None, None] * np.full((2, 2), chance / 4)
    noisy = np.empty((3, grid[0].size))
    noisy[first] = sums[first] + scale * (grid[0] * grid[1] * grid[2]).ravel()
    noisy[second] = sums[second] + scale * (grid[0] * (1 - grid[1]) * grid[3]).ravel()
    top = np.maximum(flat - grid[0].ravel(), 0.0)
    values = []
    for sign in (-1, 0, 1):
        noisy[third] = sums[third] + sign * scale * (1 + top)
        count = np.maximum(noisy.sum(axis=0), 1.0)
        values.append(float(part.half) * (noisy[0] * noisy[2] - noisy[1] ** 2 / 4) / count**2)
    slant = np.abs(values[2] - values[0]) / (2 * (1 + top))
    outcomes = zip(likely.ravel().tolist(), values[1].tolist(), slant.tolist(), top.tolist(), strict=True)
    return [(*one, low, high) for one in outcomes]


def _mixed(found: list[tuple[float, ...]], noise: Noise, truth: Fraction, *, root: bool) -> MixedErrors:
    chance, value, scale, flat, low, high = (np.array(column) for column in zip(*found, strict=True))
    return MixedErrors(noise, chance, value, scale, flat, low, high, float(truth), root)
