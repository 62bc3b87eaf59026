"""`ForcedDraws`: what stands in the place of `Draws` when a mechanism is run again along a path of forced outcomes.

As long as the path lasts its outcomes are handed to the mechanism; at the first choice beyond it the run stops and the
law of that choice is looked at. Nothing random happens here but the dither, which is the same on both tables.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.parts.draws import Draws, ForcedBits
from sordino.mechanisms.parts.measure import Measure
from sordino.testing import cut_steps, flat_steps, joint_steps, noise_steps, steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sordino.exact.scale import ExpScale
    from sordino.lattice import Lattice
    from sordino.mechanisms.clip.family import Ends, Family
    from sordino.mechanisms.clip.whole_or_interval import Chosen, Valued
    from sordino.mechanisms.parts.law import ScoreCell
    from sordino.mechanisms.parts.rings import Rings
    from sordino.noise import Noise
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Ask


class Pending(BaseException):
    """The path is at its end and the next choice is to be made; no mechanism can catch it by mistake."""

    def __init__(self, step: steps.Step) -> None:
        super().__init__(step.kind)
        self.step = step


class ForcedDraws(Draws):
    """Outcomes in a given order, and the steps at which they were asked for.

    Args:
        path: The outcomes.
        seed: Of the dither.
        known: Choices that take long to weigh, by the path that leads to them; filled here, for the next run.

    Attributes:
        asked_for: What was asked of the source so far.
        dithered: Whether words were drawn for single rows or people, who are told apart by their places.
    """

    def __init__(
        self, path: Sequence[Any], seed: int = 0, known: dict[tuple[Any, ...], steps.Step] | None = None
    ) -> None:
        super().__init__(None)
        self.path, self.seed = tuple(path), seed
        self.asked: list[steps.Step] = []
        self._known = {} if known is None else known
        self._dithers = itertools.count()
        self.asked_for: list[Ask] = []
        self.dithered = False

    @property
    def bits(self) -> ForcedBits:
        """A source without words that leads back here."""
        return ForcedBits(self)

    @bits.setter
    def bits(self, value: Any) -> None:
        del value

    @property
    def private(self) -> bool:
        """Forced answers are not."""
        return False

    def _force(self, step: steps.Step) -> Any:
        if len(self.asked) == len(self.path):
            self._pause(step)
        outcome = self.path[len(self.asked)]
        self.asked.append(step)
        return outcome

    def _pause(self, step: steps.Step) -> None:
        """Stop before a choice beyond the path."""
        raise Pending(step)

    def noise(
        self, law: Noise, *, location: Fraction, scale: Fraction | ExpScale, grid: Lattice, price: Guarantee
    ) -> int:
        """As `Draws.noise`."""
        return int(
            self._force(
                noise_steps.NoiseStep(
                    price=price, noise=law, location=Fraction(location), scale=scale, grid=grid
                )
            )
        )

    def exceeds(self, value: Fraction, threshold: Fraction, *, price: Guarantee, grid: Lattice) -> bool:
        """As `Draws.exceeds`; what is told is yes or no."""
        calibration = noise_for(price)
        step = noise_steps.ThresholdStep(
            price=price, noise=calibration.noise, value=value, scale=calibration.scale,
            threshold=threshold + grid.step / 2,
        )  # fmt: skip
        return bool(self._force(step))

    def crossing(
        self,
        values: Sequence[Fraction],
        threshold: Fraction,
        *,
        rate: Fraction,
        grid: Lattice,
        price: Guarantee,
    ) -> int:
        """As `Draws.crossing`; what is told is the place."""
        step = noise_steps.CrossingStep(
            price=price, values=tuple(values), threshold=threshold, rate=rate, grid=grid
        )
        return int(self._force(step))

    def geometric(self, value: int, *, scale: Fraction, price: Guarantee) -> int:
        """As `Draws.geometric`."""
        return int(self._force(noise_steps.GeometricStep(price=price, value=value, scale=scale)))

    def noisy_each(
        self, values: Sequence[Fraction], *, sensitivity: Fraction, price: Guarantee, grid: Lattice
    ) -> list[Fraction]:
        """As `Draws.noisy_each`, one by one."""
        return [self.noisy(one, sensitivity=sensitivity, price=price, grid=grid)[0] for one in values]

    def geometrics(self, values: Sequence[int], *, scale: Fraction, price: Guarantee) -> list[int]:
        """As `Draws.geometrics`, one by one."""
        return [self.geometric(one, scale=scale, price=price) for one in values]

    def radial(self, shells: Any, *, grid: Lattice, price: Guarantee) -> list[int]:
        """As `Draws.radial`."""
        return list(self._force(noise_steps.RadialStep(price=price, shells=shells, grid=grid)))

    def keys(self, amounts: Mapping[Any, int], law: Any, *, price: Guarantee) -> dict[Any, int]:
        """As `Draws.keys`."""
        return dict(self._force(joint_steps.KeysStep(price=price, amounts=dict(amounts), law=law)))

    def centred(self, margin: Any, sigma: Fraction, *, factor: int, price: Guarantee) -> Any:
        """As `Draws.centred`."""
        step = joint_steps.CentredStep(price=price, margin=np.asarray(margin), sigma=sigma, factor=factor)
        return np.array(self._force(step), np.int64).reshape(np.shape(margin))

    def gaussian_cells(self, cells: Any, sigma: Fraction, *, factor: int, price: Guarantee) -> Any:
        """As `Draws.gaussian_cells`."""
        step = joint_steps.GaussianCellsStep(
            price=price, margin=np.asarray(cells), sigma=sigma, factor=factor
        )
        return np.array(self._force(step), np.int64).reshape(np.shape(cells))

    def geometric_cells(self, cells: Any, scale: Fraction, *, price: Guarantee) -> Any:
        """As `Draws.geometric_cells`."""
        step = joint_steps.CellsStep(price=price, cells=np.asarray(cells), scale=scale)
        return np.array(self._force(step), np.int64).reshape(np.shape(cells))

    def high_pass(
        self, cells: Any, counts: Any, domain: int, law: Any, *, price: Guarantee
    ) -> dict[int, int]:
        """As `Draws.high_pass`: an empty cell is one of no rows."""
        del domain
        amounts = dict(zip(np.asarray(cells).tolist(), np.asarray(counts).tolist(), strict=True))
        return dict(sorted(self._force(joint_steps.KeysStep(price=price, amounts=amounts, law=law))))

    def cube(self, cube: Any, *, grid: Lattice, price: Guarantee) -> list[int]:
        """As `Draws.cube`."""
        return list(self._force(joint_steps.CubeStep(price=price, cube=cube, grid=grid)))

    def choice(
        self, exponents: Sequence[Fraction], counts: Sequence[int] | None = None, *, price: Guarantee
    ) -> int:
        """As `Draws.choice`; a cell counts as often as it has candidates."""
        if counts is not None:
            measure = Measure.uniform(len(exponents) - 1) if set(counts) == {1} else None
            assert measure is not None, "weighted cells are drawn by `scored`"
        return int(self._force(steps.ChoiceStep(price=price, exponents=tuple(map(Fraction, exponents)))))

    def flip(self, exponents: Sequence[Fraction], *, price: Guarantee) -> int:
        """As `Draws.flip`."""
        return int(
            self._force(steps.ChoiceStep(price=price, exponents=tuple(map(Fraction, exponents)), flips=True))
        )

    def flips(self, levels: NDArray[np.int64], slope: Fraction, *, price: Guarantee) -> list[int]:
        """As `Draws.flips`, group by group."""
        return [self.flip([slope * level for level in row], price=price) for row in levels.tolist()]

    def lattice(self, rings: Rings, measure: Measure, slope: Fraction, *, price: Guarantee) -> list[int]:
        """As `Draws.lattice`, group by group."""
        return [
            int(self._force(_runs(steps.RunsStep, rings, group, measure, slope, price)))
            for group in range(len(rings))
        ]

    def flip_lattice(self, rings: Rings, slope: Fraction, *, price: Guarantee) -> list[int]:
        """As `Draws.flip_lattice`, group by group."""
        last = int(rings.high[0, -1]) - 1
        return [
            int(self._force(_runs(steps.FlipRunsStep, rings, group, Measure.uniform(last), slope, price)))
            for group in range(len(rings))
        ]

    def cells(
        self, cells: Sequence[ScoreCell], measure: Measure, slope: Fraction, *, price: Guarantee
    ) -> int:
        """As `Draws.cells`."""
        ordered = sorted(cells, key=lambda cell: cell.first)
        return self.scored(
            [(cell.first, cell.last) for cell in ordered],
            [slope.numerator * cell.level for cell in ordered],
            measure,
            unit=slope.denominator,
            price=price,
        )

    def scored(
        self,
        runs: Sequence[tuple[int, int]],
        levels: Sequence[int],
        measure: Measure,
        *,
        unit: int,
        price: Guarantee,
    ) -> int:
        """As `Draws.scored`."""
        step = steps.RunsStep(
            price=price, starts=np.array([first for first, _ in runs], dtype=object), after=runs[-1][1] + 1,
            exponents=np.array([float(level / unit) for level in levels]), measure=measure,
        )  # fmt: skip
        return int(self._force(step))

    def line(self, pieces: Sequence[Any], slope: Fraction, *, grid: Lattice, price: Guarantee) -> int:
        """As `Draws.line`."""
        return int(
            self._force(noise_steps.LineStep(price=price, pieces=tuple(pieces), slope=slope, grid=grid))
        )

    def passes(self, test: Any, count: int, *, prices: Mapping[bool, Guarantee]) -> bool:
        """As `Draws.passes`."""
        return bool(self._force(noise_steps.TestStep(price=prices, test=test, count=count)))

    def whole_or_interval(
        self, family: Family, ends: Ends, whole: Valued | None, *, prices: Mapping[str, Guarantee]
    ) -> tuple[Fraction, ...] | Chosen | None:
        """As `Draws.whole_or_interval`; an interval is charged what this table charges it."""
        before = self.path[: len(self.asked)]
        step = self._known.get(before)
        if not isinstance(step, cut_steps.WholeOrIntervalStep):
            step = cut_steps.WholeOrIntervalStep(
                price=prices, family=family, weighed=family.weigh(ends), whole=whole
            )
            self._known[before] = step
        outcome = self._force(step)
        if outcome[0] == cut_steps.INTERVAL:
            return step.chosen(*outcome[1:])
        return None if whole is None else _values(whole, outcome[1])

    def wholes_or_intervals(
        self,
        family: Family,
        ends: Sequence[Ends],
        wholes: Sequence[Valued] | None,
        *,
        prices: Mapping[str, Guarantee],
    ) -> list[tuple[Fraction, ...] | Chosen | None]:
        """As `Draws.wholes_or_intervals`, group by group."""
        values: Sequence[Valued | None] = [None] * len(ends) if wholes is None else wholes
        pairs = zip(ends, values, strict=True)
        return [self.whole_or_interval(family, one, value, prices=prices) for one, value in pairs]

    def flat_topped(self, part: Valued, flat: Fraction, *, price: Guarantee) -> tuple[Fraction, ...]:
        """As `Draws.flat_topped`."""
        return _values(part, self._force(flat_steps.flat_topped(part, flat, price)))

    def plain_pair(self, part: Valued, *, price: Guarantee) -> tuple[Fraction, ...]:
        """As `Draws.plain_pair`: noise without a flat top."""
        return _values(part, self._force(flat_steps.flat_topped(part, Fraction(0), price)))

    def words(self, count: int) -> NDArray[np.int64]:
        """The same for every person of both tables: the new ones come last."""
        self.dithered = True
        random = np.random.default_rng((self.seed, 2, next(self._dithers)))
        return random.integers(-(2**63), 2**63, size=count, dtype=np.int64)

    def dither(self, count: int, width: int) -> NDArray[np.int64]:
        """The same for every row of both tables: rows are told apart by their places, and the new ones come last."""
        self.dithered = True
        words = np.random.default_rng((self.seed, next(self._dithers))).integers(0, 1 << 62, size=4096)
        return np.resize(words, count) & ((1 << width) - 1)


def _values(part: Valued, points: Any) -> tuple[Fraction, ...]:
    """Lattice points as values: one, or those that are drawn together."""
    return tuple(
        part.grid.step * int(point) for point in (points if isinstance(points, tuple) else (points,))
    )


def _runs(
    kind: type[steps.RunsStep], rings: Rings, group: int, measure: Measure, slope: Fraction, price: Guarantee
) -> steps.RunsStep:
    """Nested sets of answers as runs of points with one level each."""
    low, high = rings.low[group], rings.high[group]
    first, after = int(low[-1]), int(high[-1])
    starts = np.unique(np.concatenate([low, high[high < after], [first]]))
    # Level of a point: the first l with low[l] <= point < high[l]; both ends move outwards with l.
    inside_low = len(low) - np.searchsorted(low[::-1], starts, side="right")
    inside_high = np.searchsorted(high, starts, side="right")
    levels = np.maximum(inside_low, inside_high)
    return kind(price=price, starts=starts, after=after, exponents=levels * float(slope), measure=measure)
