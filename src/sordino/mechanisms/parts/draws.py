"""The one place where mechanisms draw: every random choice is a method of `Draws`.

A method is told the kind of choice, the private numbers that make its law, and the part of the price that pays for it.
In a release the choice is made exactly, from random words (drawing.py). In a replay (`sordino.testing`) another one
stands here: its outcomes are forced, and it writes down what each of them costs. No mechanism takes words itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.exact.bits import Bits
from sordino.lattice import Lattice
from sordino.mechanisms.parts import drawing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sordino.exact.scale import ExpScale
    from sordino.mechanisms.additive.cube_draw import Cube
    from sordino.mechanisms.additive.radial_draw import Shells
    from sordino.mechanisms.clip.family import Ends, Family
    from sordino.mechanisms.clip.fit_test import FitTest
    from sordino.mechanisms.clip.whole_or_interval import Chosen, Valued
    from sordino.mechanisms.discovery.mixed_cut import MixedCut
    from sordino.mechanisms.discovery.threshold import WeightThreshold
    from sordino.mechanisms.parts.law import Piece, ScoreCell
    from sordino.mechanisms.parts.measure import Measure
    from sordino.mechanisms.parts.rings import Rings
    from sordino.mechanisms.table.high_pass_law import HighPassLaw
    from sordino.noise import Noise
    from sordino.privacy import Guarantee
    from sordino.reading.combinations import Keys as KeyTuple


class ForcedBits(Bits):
    """A source without words: whoever carries it draws through the `Draws` that it names. For replays and tests.

    Attributes:
        draws: What stands in for `Draws`.
    """

    private = False

    def __init__(self, draws: Draws) -> None:
        super().__init__()
        self.draws = draws

    def _stream(self, count: int) -> NDArray[np.int64]:
        """Refuse: a choice that takes its own words is one that no replay can follow."""
        del count
        raise AssertionError(
            "a mechanism took random words itself; every choice goes through Draws.of(bits), "
            "so that its law is known and its price is checked"
        )


class Draws:
    """The random choices of one release, each with its law and its part of the price.

    Args:
        bits: A source of random words; None takes fresh ones for every draw.

    Example:
        >>> from sordino.exact.bits import SeededBits
        >>> from sordino.privacy import Pure
        >>> Draws.of(SeededBits(1)).choice([Fraction(900), Fraction(0)], price=Pure(1))
        1
    """

    def __init__(self, bits: Bits | None) -> None:
        self.bits = bits

    @classmethod
    def of(cls, bits: Bits | None) -> Draws:
        """The draws of a source of words; without one every draw takes words under a fresh key."""
        return bits.draws if isinstance(bits, ForcedBits) else Draws(bits)

    @property
    def private(self) -> bool:
        """Whether the words are fresh: answers from seeded ones are marked."""
        return self.bits is None or self.bits.private

    @property
    def _words(self) -> Bits:
        return Bits() if self.bits is None else self.bits

    # Noise ---------------------------------------------------------------------------------------------

    def noise(
        self, law: Noise, *, location: Fraction, scale: Fraction | ExpScale, grid: Lattice, price: Guarantee
    ) -> int:
        """A lattice point: a private location plus noise of a (perhaps private) scale, exactly rounded."""
        from sordino.exact.sampler import draw

        del price
        return draw(law.recipe(), location=location, scale=scale, grid=grid, bits=self.bits)

    def noisy(
        self, value: Fraction, *, sensitivity: Fraction, price: Guarantee, grid: Lattice | None = None
    ) -> tuple[Fraction, Fraction]:
        """A value plus the best noise for a public sensitivity, and the public scale of that noise."""
        calibration = drawing.noise_for(price)
        scale, lattice = sensitivity * calibration.scale, Lattice.dyadic(0) if grid is None else grid
        point = self.noise(calibration.noise, location=value, scale=scale, grid=lattice, price=price)
        return lattice.step * point, scale

    def noisy_each(
        self, values: Sequence[Fraction], *, sensitivity: Fraction, price: Guarantee, grid: Lattice
    ) -> list[Fraction]:
        """Many values, each plus its own noise for one public sensitivity; the same law as `noisy`, drawn together."""
        if not sensitivity:
            return [self.noisy(one, sensitivity=sensitivity, price=price, grid=grid)[0] for one in values]
        from sordino.exact.sampler import draw_many

        calibration = drawing.noise_for(price)
        points = draw_many(
            calibration.noise.recipe(),
            locations=list(values),
            scales=sensitivity * calibration.scale,
            grid=grid,
            size=len(values),
            bits=self.bits,
        )
        return Lattice(step=grid.step).reals(points.tolist())

    def geometrics(self, values: Sequence[int], *, scale: Fraction, price: Guarantee) -> list[int]:
        """Many whole numbers, each with its own noise; the same law as `geometric`, drawn together."""
        from sordino.mechanisms.additive.geometric import two_sided_each

        del price
        noise = two_sided_each(scale, len(values), bits=self.bits)
        return [value + more for value, more in zip(values, noise, strict=True)]

    def exceeds(self, value: Fraction, threshold: Fraction, *, price: Guarantee, grid: Lattice) -> bool:
        """Whether a private number of sensitivity 1 with the best noise exceeds a public threshold; only that."""
        noisy, _ = self.noisy(value, sensitivity=Fraction(1), price=price, grid=grid)
        return noisy > threshold

    def crossing(
        self,
        values: Sequence[Fraction],
        threshold: Fraction,
        *,
        rate: Fraction,
        grid: Lattice,
        price: Guarantee,
    ) -> int:
        """Place of the first of rising private numbers that reaches a public threshold, all with one Laplace noise.

        Their number where none does. What it costs rests on the gaps between them (docs/proofs/quantile_interval.md).
        """
        from sordino.noise.laplace import Laplace

        noise = grid.step * self.noise(
            Laplace(), location=Fraction(0), scale=1 / rate, grid=grid, price=price
        )
        passed = [value + noise >= threshold for value in values]
        return passed.index(True) if True in passed else len(passed)

    def geometric(self, value: int, *, scale: Fraction, price: Guarantee) -> int:
        """A whole number k with probability ``~ exp(-|k - value| / scale)``."""
        from sordino.mechanisms.additive.geometric import two_sided

        del price
        return value + two_sided(scale, bits=self.bits)

    def radial(self, shells: Shells, *, grid: Lattice, price: Guarantee) -> list[int]:
        """A lattice point in space: a private centre, a radius by shells, a direction on the sphere of a norm."""
        del price
        return shells.draw(grid, self._words)

    def keys(
        self, amounts: Mapping[KeyTuple, int], law: MixedCut | WeightThreshold, *, price: Guarantee
    ) -> dict[KeyTuple, int]:
        """Which of private keys are shown, and as what, each by its own draw; a key that nobody has never is."""
        del price
        drawn = law.draw(list(amounts.values()), self._words)
        return {key: value for key, value in zip(amounts, drawn, strict=True) if value is not None}

    def centred(
        self, margin: NDArray[np.int64], sigma: Fraction, *, factor: int, price: Guarantee
    ) -> NDArray[np.int64] | Any:
        """``factor`` times a private margin plus Gaussian noise, rounded to whole numbers, cell by cell.

        The price is that of what is left when the mean along every axis is taken out, and nothing else may be used
        (docs/proofs/mechanism_margins.md, Theorem 2).
        """
        return self.gaussian_cells(margin, sigma, factor=factor, price=price)

    def gaussian_cells(
        self, cells: NDArray[np.int64], sigma: Fraction, *, factor: int, price: Guarantee
    ) -> NDArray[np.int64] | Any:
        """``factor`` times private whole numbers, each plus Gaussian noise, rounded; the price of all together."""
        from sordino.exact.sampler import draw_many
        from sordino.noise.gaussian.sampler import GaussianRecipe

        del price
        flat = draw_many(
            GaussianRecipe(),
            locations=factor * cells.reshape(-1),
            scales=factor * sigma,
            grid=Lattice(),
            bits=self._words,
        )
        return flat.reshape(cells.shape)

    def geometric_cells(
        self, cells: NDArray[np.int64], scale: Fraction, *, price: Guarantee
    ) -> NDArray[np.int64] | Any:
        """Private whole numbers, each plus two-sided geometric noise; the price is that of all of them together."""
        from sordino.mechanisms.discovery.mixed_cut import two_sided_many

        del price
        return cells + two_sided_many(scale, cells.size, self._words).reshape(cells.shape)

    def high_pass(
        self,
        cells: NDArray[np.int64],
        counts: NDArray[np.int64],
        domain: int,
        law: HighPassLaw,
        *,
        price: Guarantee,
    ) -> dict[int, int]:
        """The cells of a public table whose noisy counts reach a threshold; cells that are not given are empty."""
        del price
        return law.draw(cells, counts, domain, self._words)

    def cube(self, cube: Cube, *, grid: Lattice, price: Guarantee) -> list[int]:
        """Lattice points: private numbers plus noise whose density falls with the largest of them."""
        del price
        return cube.draw(grid, self._words)

    # Choices -------------------------------------------------------------------------------------------

    def choice(
        self, exponents: Sequence[Fraction], counts: Sequence[int] | None = None, *, price: Guarantee
    ) -> int:
        """Index i with probability ``~ counts[i] exp(-exponents[i])``."""
        del price
        return drawing.pick(exponents, counts, bits=self.bits)

    def flip(self, exponents: Sequence[Fraction], *, price: Guarantee) -> int:
        """Index by permute-and-flip."""
        del price
        return drawing.permute_and_flip(exponents, bits=self.bits)

    def flips(self, levels: NDArray[np.int64], slope: Fraction, *, price: Guarantee) -> list[int]:
        """Per group of levels (a row of the array) a place by permute-and-flip."""
        del price
        return drawing.flip_lists(levels, slope, bits=self.bits)

    def lattice(self, rings: Rings, measure: Measure, slope: Fraction, *, price: Guarantee) -> list[int]:
        """Per group a lattice point with probability ``~ measure(point) exp(-slope level(point))``."""
        del price
        return rings.draw_points(measure, slope, bits=self.bits)

    def flip_lattice(self, rings: Rings, slope: Fraction, *, price: Guarantee) -> list[int]:
        """Per group a lattice point by permute-and-flip over all points."""
        del price
        return drawing.flip_rings(rings, slope, bits=self.bits)

    def cells(
        self, cells: Sequence[ScoreCell], measure: Measure, slope: Fraction, *, price: Guarantee
    ) -> int:
        """A lattice point as `lattice` draws it, from cells of any size."""
        del price
        return drawing.draw_lattice(cells, measure, slope, bits=self.bits)

    def scored(
        self,
        runs: Sequence[tuple[int, int]],
        levels: Sequence[int],
        measure: Measure,
        *,
        unit: int,
        price: Guarantee,
    ) -> int:
        """A lattice point with probability ``~ measure(point) exp(-level of its run / unit)``.

        Runs are first and last points; each begins where the one before has ended.
        """
        del price
        below = measure.table.each_below([*(first for first, _ in runs), runs[-1][1] + 1])
        masses = [after - before for before, after in itertools.pairwise(below)]
        words = self._words
        chosen = drawing.pick_level(levels, masses, unit=unit, bits=words)
        return measure.point(*runs[chosen], words.below(masses[chosen]))

    def line(self, pieces: Sequence[Piece], slope: Fraction, *, grid: Lattice, price: Guarantee) -> int:
        """A point of the line with density ``~ exp(-slope score)``, rounded to the grid."""
        del price
        return drawing.draw_piece(pieces, slope, grid, bits=self.bits)

    def passes(self, test: FitTest, count: int, *, prices: Mapping[bool, Guarantee]) -> bool:
        """Whether a private count passes a noisy threshold; each outcome has its own price."""
        del prices
        return test.passes(count, bits=self.bits)

    def whole_or_interval(
        self, family: Family, ends: Ends, whole: Valued | None, *, prices: Mapping[str, Guarantee]
    ) -> tuple[Fraction, ...] | Chosen | None:
        """The values of a whole range, or an interval weighed by its rows; each outcome has its own price.

        Without values for the whole range the outcome is drawn alone, and None is the whole range.
        """
        from sordino.mechanisms.clip.whole_or_interval import draw_outcome

        del prices
        return draw_outcome(family, family.weigh(ends), whole, bits=self._words)

    def wholes_or_intervals(
        self,
        family: Family,
        ends: Sequence[Ends],
        wholes: Sequence[Valued] | None,
        *,
        prices: Mapping[str, Guarantee],
    ) -> list[tuple[Fraction, ...] | Chosen | None]:
        """The same for many columns, weighed and drawn together; each has the law of `whole_or_interval`."""
        if len(ends) == 1:
            whole = None if wholes is None else wholes[0]
            return [self.whole_or_interval(family, ends[0], whole, prices=prices)]
        from sordino.mechanisms.clip.whole_or_interval_groups import draw_outcomes

        return draw_outcomes(family, ends, wholes, bits=self._words)

    def flat_topped(self, part: Valued, flat: Fraction, *, price: Guarantee) -> tuple[Fraction, ...]:
        """Private values with noise whose density is flat for so many (private) nats and exponential beyond."""
        from sordino.mechanisms.clip.whole_or_interval import draw_flat_topped

        del price
        return draw_flat_topped(part, flat, bits=self._words)

    def plain_pair(self, part: Valued, *, price: Guarantee) -> tuple[Fraction, ...]:
        """Private values, each with Laplace noise: one person moves all by the sensitivity together."""
        del price
        return part.plain(self._words)

    # Independent of the data ---------------------------------------------------------------------------

    def words(self, count: int) -> NDArray[np.int64]:
        """So many words of 64 bits, one per person or block, that do not depend on the rows: they cost nothing."""
        return self._words.words(count)

    def dither(self, count: int, width: int) -> NDArray[np.int64] | Any:
        """Whole numbers below ``2^width``, one per row, that do not depend on the rows: they cost nothing."""
        return self._words.words(count) & ((1 << width) - 1)
