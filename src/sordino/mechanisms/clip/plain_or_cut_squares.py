"""Variance, deviation and second moment that trust the declared bounds unless rows fill a much shorter interval.

As means (plain_or_cut.py), with squares in place of rows. Within an interval the sum of squared deviations moves by at
most the squared length when a row comes or goes, so no mean has to be released first. Where the number of rows is
private, three sums are drawn that tell mean and variance (three_sums.py). Within the whole range a mean is released,
where it is cheap: squares about it have a quarter of the sensitivity when it lies in the middle.
Proof: docs/proofs/mechanism_plain_or_cut.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.lattice import Lattice
from sordino.lattice import RowLattice as Codes
from sordino.mechanisms import Answer
from sordino.mechanisms.clip.cutting import Cutting
from sordino.mechanisms.clip.family import Family
from sordino.mechanisms.clip.interval import ClipInterval, count_part
from sordino.mechanisms.clip.noisy_mean import Summand
from sordino.mechanisms.clip.plain_or_cut_plan import CutPlan, mean_part, plan_cut
from sordino.mechanisms.clip.three_sums import ThreeSums
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.public_noise import PublicNoise
from sordino.mechanisms.tuned_means import ForCut, ForLoose
from sordino.privacy import Guarantee, Neighbors, Pure
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.mechanisms import Mechanism
    from sordino.mechanisms.clip.clipped_bar import ClippedBar
    from sordino.mechanisms.clip.column import Clipped

MEANS = 15  # places of the law of a released mean


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainOrCutSquares(Cutting):
    """Population variance (or its root), or the mean square about a public point.

    Intervals about the centre are preferred like those at zero.

    Args:
        loose: The bounds are far too wide: intervals need not be filled, so that a heap of equal rows may win.
        root: Answer the standard deviation.
        about: The public point of a second moment; None for the variance.

    Example:
        >>> from sordino.privacy import Pure
        >>> squares = PlainOrCutSquares(price=Pure(1), rows=4001, low=-50, high=1050)
        >>> squares.trusted, round(float(squares.mean_part()), 3)
        (True, 0.05)
    """

    loose: bool = False
    root: bool = False
    about: Fraction | float | None = None

    name: ClassVar[str] = "plain-or-cut-squares"
    squares: ClassVar[bool] = True

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where rows suffice to search, and wherever a root or a private number of rows has no better answer."""
        replace_one = statistic.neighbors is Neighbors.REPLACE_ONE
        enough = hints.rows and hints.rows * price.strength >= ForCut.THREE_TIGHT
        three = not replace_one and enough and isinstance(price, Pure)
        about, root = _point(statistic), getattr(statistic, "root", False)
        fits = not hints.rows or hints.fits(statistic.low, statistic.high)
        mode = {"tight": fits, "loose": hints.loose and not fits}
        found = cls.of(statistic, price, hints, root=root, about=about, **mode)
        searches = not fits and found.plan().searches
        moment = about is not None and not replace_one
        if searches or (root and replace_one and hints.rows) or moment or three:
            yield found

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The safe mode, that for bounds far too wide and, where noise is plain, the one for bounds that fit."""
        if not {Trait.VARIANCE, Trait.DEVIATION, Trait.MOMENT} & set(statistic.traits) or not hints.rows:
            return
        about, root = _point(statistic), getattr(statistic, "root", False)
        modes: list[dict[str, bool]] = [{}, {"loose": True}]
        if root or about is not None or statistic.neighbors is Neighbors.ADD_REMOVE_ONE:
            modes.append({"tight": True})
        for mode in modes:
            yield cls.of(statistic, price, hints, centre=None, root=root, about=about, **mode)

    @property
    def label(self) -> str:
        """What a plan calls the modes."""
        mode = " (tight=True)" if self.tight else " (loose=True)" if self.loose else ""
        return self.name + mode

    def refusal(self, statistic: Any) -> str | None:
        """The variance or its root, or the moment about the same point, within the bounds it was planned for."""
        if self.about is None:
            return self._other(statistic, Trait.DEVIATION if self.root else Trait.VARIANCE)
        reason = self._other(statistic, Trait.MOMENT)
        if reason is None and (self.root or statistic.grid.code(float(self.about)) != statistic.middle):
            return "It was planned for a moment about another point."
        return reason

    def fine(self, grid: Lattice) -> Lattice:
        """The lattice of squares: twice the exponent of that of values, within what floats can hold."""
        return Lattice.dyadic(max(2 * grid.exponent, -1000))

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:
        """A root and a mean are on the grid, squares on its square; the interval is of codes of the column."""
        plain, codes = Lattice(Fraction(0), grid.step), statistic.grid.endless
        value = plain if self.root else Lattice(Fraction(0), self.fine(grid).step)
        return {"value": value, "mean": plain, "low": codes, "high": codes, "rows_beyond": Lattice()}

    # What is paid for what ----------------------------------------------------------------------------------

    def mean_part(self, contribution: int = 1) -> Fraction:
        """Of the price, for a mean about which squares within the bounds are taken; 0 where it does not pay."""
        counted = self.neighbors is Neighbors.ADD_REMOVE_ONE
        if self.about is not None or (self.price.gaussian and counted):
            return Fraction(0)
        return mean_part(self.rows, self.price, contribution=contribution, tight=self.tight, counted=counted)

    def plan(self, contribution: int = 1, codes: Codes | None = None) -> CutPlan:
        """How intervals are weighed and what is left for the noise; public."""
        lattice = Codes(self.low, self.high, step=self.step) if codes is None else codes
        part, counted = self.mean_part(contribution), self.neighbors is Neighbors.ADD_REMOVE_ONE
        return plan_cut(
            rows=0 if self.tight else self.rows, price=self.price.share(1 - part), cells=lattice.last,
            contribution=contribution, spread=self._spread_in(lattice), squares=True, loose=self.loose,
            counted=counted * (2 if self.about is None else 1), whole_counted=counted if part else None,
        )  # fmt: skip

    def family(self, codes: Codes, contribution: int = 1) -> Family:
        """The intervals among which it chooses: for a moment those at its point."""
        plan = self.plan(contribution, codes)
        if self.about is not None:
            return Family(plan, codes.last, codes.code(float(self.about)), anchored=True)
        return Family(plan, codes.last, self._near_zero(codes), centre=self._near_centre(codes))

    # What gets noise ----------------------------------------------------------------------------------------

    def summand(self, sums: Clipped, rest: Guarantee, contribution: int) -> Summand:
        """Squares of the rows clipped to an interval, about their own mean or about the public point."""
        rows, count = sums.rows, max(sums.rows, 1)
        together = self.neighbors is Neighbors.ADD_REMOVE_ONE and not rest.gaussian
        if self.about is None and together:
            return ThreeSums.of_rows(sums, rest, contribution)
        if self.about is None:
            largest = (sums.high - sums.low) ** 2
            squares, ends = sums.squares - sums.total**2 / count, (Fraction(0), largest / 4)
            part = ForCut.ORIGIN
        else:
            point = Fraction(self.about)
            largest = max(sums.high - point, point - sums.low) ** 2
            squares, ends = sums.about(point), (Fraction(0), largest)
            part = ForCut.MOMENT_ORIGIN
        if together:
            half = largest / 2
            return Summand(
                squares - half * rows, half * contribution, rest, half, None, rows, ends, contribution, paired=True
            )  # fmt: skip
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            origin, counted = largest * part, count_part(self.rows, rest, ForLoose.SQUARES_PART)
            return Summand(
                squares - origin * rows, (largest - origin) * contribution, rest.share(1 - counted), origin,
                rest.share(counted), rows, ends, contribution,
            )  # fmt: skip
        return Summand(
            squares / count, largest * contribution / count, rest, Fraction(0), None, rows, ends, contribution
        )

    def _about(
        self, sums: Clipped, mean: Fraction, rows: Fraction, rest: Guarantee, contribution: int
    ) -> Summand:
        """Squares within the declared bounds about a released mean, whose known noise is taken off in the end.

        Args:
            sums: Of the rows within the declared bounds.
            mean: The released one.
            rows: Their number, or the noisy one that was released with the mean.
            rest: What is left of the price.
            contribution: How many rows one person may move.
        """
        largest = max(sums.high - mean, mean - sums.low) ** 2
        ends = Fraction(0), (sums.high - sums.low) ** 2 / 4
        known = self._mean_noise(sums, mean, rows, contribution) ** 2
        law = self._mean_law(sums, rows, contribution)
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            half = largest / 2
            return Summand(
                sums.about(mean) - half * sums.rows, half * contribution, rest, half, None, sums.rows, ends,
                contribution, law, paired=True, known=known,
            )  # fmt: skip
        return Summand(
            sums.about(mean) / rows, largest * contribution / rows, rest, Fraction(0), None, sums.rows, ends,
            contribution, law, known=known,
        )  # fmt: skip

    def _mean_noise(self, sums: Clipped, mean: Fraction, rows: Fraction, contribution: int) -> Fraction:
        """The standard deviation of the noise in a released mean; of numbers that are public by then.

        With the rows at either end drawn apart, and p of the length below the mean, it is ``(1 - p) t - p t'``.
        """
        law = self._mean_law(sums, rows, contribution)
        part = float((mean - sums.low) / (sums.high - sums.low)) if sums.high > sums.low else 0.0
        shared = math.hypot(part, 1 - part) if self.neighbors is Neighbors.ADD_REMOVE_ONE else 1.0
        assert law.noise is not None
        return Fraction(float(law.scale) * law.noise.std * shared)

    def _mean_law(self, sums: Clipped, rows: Fraction, contribution: int) -> PublicNoise:
        """The law of the noise in that mean, for a bar; a step of the lattice is far below it.

        ``(1 - p) t - p t'`` is no wider than one of the two, whatever p (Proschan: Laplace laws are log-concave).
        """
        noise = noise_for(self.price.share(self.mean_part(contribution)))
        sensitivity = (sums.high - sums.low) * contribution / rows
        step = Lattice.for_range(sums.low, sums.high).step
        return PublicNoise(noise.noise, sensitivity * noise.scale, step)

    def whole(
        self, sums: Clipped, rest: Guarantee, grid: Lattice, *, contribution: int, bits: Bits | None
    ) -> tuple[Summand, dict[str, Any]]:
        """Squares within the declared bounds, about a mean that is released first where that pays."""
        part = self.mean_part(contribution)
        if not part:
            return self.summand(sums, rest, contribution), {}
        found = ClipInterval(0, 1, self.price.share(part), {})
        mean = Summand.of(sums, found, total=False, neighbors=self.neighbors, contribution=contribution).draw(
            grid, bits
        )
        rows = Fraction(max(sums.rows, 1)) if mean.count is None else max(mean.count, Fraction(1))
        return self._about(sums, mean.value, rows, rest, contribution), {"mean": mean.value}

    def wholes(self, sums: Clipped, rest: Guarantee, contribution: int) -> list[tuple[float, Summand]]:
        """The same at a few places of the law of that mean, with their chances."""
        part = self.mean_part(contribution)
        if not part:
            return [(1.0, self.summand(sums, rest, contribution))]
        noise = noise_for(self.price.share(part)).noise
        places = np.asarray(noise.ppf((np.arange(MEANS) + 0.5) / MEANS)) / noise.std
        places *= math.sqrt(MEANS / float(places @ places))  # few places of a law have too small a variance
        rows = Fraction(max(sums.rows, 1))
        centre = sums.total / rows
        size = self._mean_noise(sums, centre, rows, contribution)
        means = (min(max(centre + size * Fraction(place), sums.low), sums.high) for place in places.tolist())
        return [(1 / MEANS, self._about(sums, mean, rows, rest, contribution)) for mean in means]

    def told(
        self, value: Fraction, grid: Lattice, public: dict[str, Any], bar: ClippedBar
    ) -> Answer:  # fmt: skip
        """The answer, or its root, from what was drawn."""
        if self.root:
            value = grid.step * round(Fraction(math.sqrt(value)) / grid.step)
        return Answer(value, public, noise=bar)


def _point(statistic: Any) -> Fraction | None:
    """The lattice point about which a second moment is taken; None for a variance."""
    return statistic.grid.endless.real(statistic.middle) if Trait.MOMENT in statistic.traits else None
