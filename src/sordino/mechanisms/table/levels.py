"""`LevelNoise`: counts of a public hierarchy, with noise on every level and sums that add up exactly.

Gaussian or geometric noise on the counts of each level, least squares over the tree whatever its shape, and one set of
leaves from which every other count is a sum. Proof: docs/proofs/mechanism_levels.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.lattice import Lattice
from sordino.mechanisms import PERSONS, Answer, Mechanism
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.table import level_split
from sordino.mechanisms.table.margins import gaussian_price, pure_price
from sordino.privacy import Approx, Concentrated, Neighbors, Pure
from sordino.privacy.conversion import ball, evaluate, upper
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

    Floats = NDArray[np.float64]

SPARE_BITS = 8
"""Leaves are rounded to 2^-(8 + log2 of their number): all of them together move no sum by more than 2^-9."""

FINER = 256
"""Gaussian noise is rounded to this part of a row."""

MOST_BARRED = 50_000
"""Nodes up to which bars of geometric noise are simulated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelNoise(Conversing):
    """A hierarchy whose counts add up.

    Args:
        price: What the whole hierarchy costs.
        amounts: For every level that is asked for, one over the variance of its Gaussian noise, or its share of epsilon
            for geometric noise; None for a level that is not drawn, only added up.
        gaussian: Which noise it is.
        level: Probability of a bar for every count; None for none.
        simultaneous: Whether the level holds for all counts at once.

    Example:
        >>> from sordino.hints import Hints
        >>> from sordino.statistics.hierarchy import Hierarchy
        >>> places = [(region, 10 * region + place) for region in range(10) for place in range(10)]
        >>> asked = Hierarchy(("region", "place"), leaves=places, neighbors="add-remove-one")
        >>> (made,) = LevelNoise.offers(asked, Concentrated(0.5), Hints())
        >>> [round(made.deviation(asked, axes), 2) for axes in asked.axes]
        [1.67, 1.59, 1.6]
    """

    price: Guarantee
    amounts: tuple[Fraction | None, ...]
    gaussian: bool = False
    level: float | None = None
    simultaneous: bool = False

    name: ClassVar[str] = "levels"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.LEVELS,)
    relations: ClassVar[tuple[Neighbors, ...]] = PERSONS
    law_is: ClassVar[str] = "deviations(...) for every count"
    fixed_noise: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_levels"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The split with the least weighted error; from public numbers alone."""
        weights = statistic.weights or (1.0,) * len(statistic.margins)
        bars: dict[str, Any] = {"level": hints.level}
        if hints.interval is not None:
            bars["simultaneous"] = hints.interval.simultaneous
        made = []
        rho, epsilon = gaussian_price(price), pure_price(price)
        for gaussian, budget in ((True, None if rho is None else 2 * rho), (False, epsilon)):
            if budget is not None:
                amounts = level_split.split(
                    statistic.tree, weights, budget, tuple(statistic.moves()), gaussian=gaussian
                )
                made.append(cls(price=price, amounts=amounts, gaussian=gaussian, **bars))
        yield from sorted(made, key=lambda one: one.expected(statistic))

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """Both relations; an approximate price, whose losses are added up along all paths, in one of them."""
        from sordino.hints import Hints
        from sordino.mechanisms.parts.cases import PRICES, MechanismCase
        from sordino.statistics.hierarchy import Hierarchy

        for world in Hierarchy.cases():
            replaced = world.statistic.neighbors is Neighbors.REPLACE_ONE
            for price in (one for one in PRICES if not (replaced and isinstance(one, Approx))):
                for place, made in enumerate(cls.offers(world.statistic, price, Hints(rows=1000))):
                    yield MechanismCase(made, world, default=not place)

    @property
    def no_bar(self) -> str:
        """Projected counts are biased by an amount that depends on them."""
        return "Counts without a negative one are biased where they are small; the unbiased ones have bars."

    def refusal(self, statistic: Any) -> str | None:
        """The split must pay for the statistic's own hierarchy; bars must not take too long."""
        reason = Mechanism.refusal(self, statistic)
        if reason is None and not self._paid(statistic):
            return "Its noise was planned for another hierarchy, and does not keep the price for this one."
        if reason is None and self.level is not None and not self.gaussian:
            many = sum(statistic.tree.sizes)
            if many > MOST_BARRED:
                return (
                    f"Bars of geometric noise are simulated for at most {MOST_BARRED:,} counts, not for {many:,}; "
                    "a concentrated price has bars for any number."
                )
        return reason

    def _paid(self, statistic: Any) -> bool:
        """The exact price of the noise, for this hierarchy; rational arithmetic throughout."""
        rho, epsilon = gaussian_price(self.price), pure_price(self.price)
        budget = (None if rho is None else 2 * rho) if self.gaussian else epsilon
        fits = len(self.amounts) == len(statistic.margins) and self.amounts[-1] is not None
        fits = fits and all(one is None or one > 0 for one in self.amounts)
        return fits and budget is not None and level_split.loss(statistic.moves(), self.amounts) <= budget

    def deviations(self, statistic: Any, contribution: int = 1) -> list[Floats]:
        """Standard deviations of all counts, level by level; public."""
        noise = level_split.noise_of(self.amounts, gaussian=self.gaussian, scale=float(contribution))
        return [np.sqrt(one) for one in statistic.tree.variances(noise)]

    def deviation(self, statistic: Any, axes: tuple[int, ...], contribution: int = 1) -> float:
        """The root mean square of the deviations of a level; public."""
        own = self.deviations(statistic, contribution)[statistic.axes.index(axes)]
        return math.sqrt(float((own**2).mean()))

    def expected(self, statistic: Any) -> float:
        """The weighted mean squared error of the levels; public."""
        weights = statistic.weights or (1.0,) * len(statistic.margins)
        return sum(
            w * float((own**2).mean()) for w, own in zip(weights, self.deviations(statistic), strict=True)
        )

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Leaves and sums lie on one lattice."""
        points = Lattice.dyadic(-_digits(statistic))
        return {"value": points, "low": points, "high": points} if self.barred else {"value": points}

    def rests_on(self, statistic: Any) -> list[str]:
        """How the numbers hang together."""
        said = [
            "Every count is the exact sum of those below it; noise was split between levels before it was drawn.",
            "Rows whose path is not listed are left out.",
        ]
        if statistic.negative == "projected":
            said.append(
                "Leaves were made non-negative together, by least squares; small counts are too high on average."
            )
        return said

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Draw every level, fit one set of leaves, add them up."""
        del grid
        counts = statistic.counts(ask(statistic.request(depth=0)))
        tree, draws = statistic.tree, Draws.of(bits)
        moves = [max(kind[place] for kind in statistic.moves()) for place in range(len(counts))]
        noisy = [
            None if amount is None else self._level(level, amount, many, draws, contribution)
            for level, amount, many in zip(counts, self.amounts, moves, strict=True)
        ]
        noise = level_split.noise_of(self.amounts, gaussian=self.gaussian, scale=float(contribution))
        leaves = (
            tree.nonnegative(noisy, noise)
            if statistic.negative == "projected"
            else tree.estimates(noisy, noise)[-1]
        )
        step = 2.0 ** -_digits(statistic)
        fitted = tree.totals(leaves)
        whole = tree.whole(fitted) if statistic.rounded else np.rint(leaves / step).astype(np.int64)
        values = tuple(
            one * step for level in tree.totals(whole) for one in level.tolist()
        )  # floats that are exact multiples of the lattice
        public: dict[str, Any] = {}
        if self.level is not None and statistic.negative == "kept":
            public = self._bars(statistic, values, contribution)
        return Answer(values, public)

    def _level(
        self, counts: NDArray[np.int64], amount: Fraction, moved: int, draws: Draws, contribution: int
    ) -> Floats:
        """One level with its noise; the price is that of all that one row moves of it."""
        if self.gaussian:
            sigma = upper(evaluate(lambda: 1 / ball(amount).sqrt())) * contribution
            price: Guarantee = Concentrated(moved * amount / 2)
            drawn = draws.gaussian_cells(counts, sigma, factor=FINER, price=price)
            return np.asarray(drawn, np.float64) / FINER
        drawn = draws.geometric_cells(counts, contribution / amount, price=Pure(moved * amount))
        return np.asarray(drawn, np.float64)

    def _bars(self, statistic: Any, values: Sequence[float], contribution: int) -> dict[str, Any]:
        """Half widths after least squares, and the rounding of what is published."""
        assert self.level is not None
        if self.gaussian:
            from scipy.special import ndtri

            many = len(values)
            miss = 1 - self.level ** (1 / many) if self.simultaneous else 1 - self.level
            size = -float(ndtri(miss / 2)) * (1 + 1e-9)
            halves = [size * own for own in self.deviations(statistic, contribution)]
        else:
            halves = level_split.half_widths(
                statistic.tree,
                self.amounts,
                self.level,
                scale=float(contribution),
                simultaneous=self.simultaneous,
            )
        step = 2.0 ** -_digits(statistic)
        moved = 2.0 if statistic.rounded else 2.0**-SPARE_BITS
        wide = np.ceil((np.concatenate(halves) + moved) / step) * step  # outwards, on the lattice
        low = tuple(max(0.0, value - half) for value, half in zip(values, wide.tolist(), strict=True))
        high = tuple(max(0.0, value + half) for value, half in zip(values, wide.tolist(), strict=True))
        ends = {"low": low, "high": high, "level": self.level, "free": True}
        return ends | ({"simultaneous": True} if self.simultaneous else {})

    def error_laws(
        self,
        statistic: Any,
        ask: Asking,
        grid: Lattice,
        truth: Any,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Sequence[Errors] | None:
        """One law per level, Gaussian with the root mean square of its deviations, which is what a plan compares."""
        from sordino.mechanisms.additive.additive import AdditiveLaw
        from sordino.mechanisms.parts.error_law import ErrorLaw
        from sordino.noise.gaussian import Gaussian

        del ask, grid, truth, bits
        if statistic.negative != "kept" or statistic.rounded:
            return None
        scales = [max(self.deviation(statistic, axes, contribution), 1e-12) for axes in statistic.axes]
        return [
            ErrorLaw(AdditiveLaw(Gaussian(), value=0.0, scale=scale), truth=Fraction(0), step=None)
            for scale in scales
        ]


def _digits(statistic: Any) -> int:
    """Binary digits after the point of every count."""
    if statistic.rounded:
        return 0
    return SPARE_BITS + max(1, math.ceil(math.log2(max(2, statistic.tree.sizes[-1]))))
