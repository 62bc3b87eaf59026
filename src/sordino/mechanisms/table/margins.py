"""`Margins`: a table and its margins with noise that is split in the best known way, and sums that add up exactly.

Concentrated prices: Gaussian noise on interaction parts (ResidualPlanner, Xiao et al. 2023), exactly rounded. Pure
ones: geometric noise on margins and least squares over all of them. Either way one table is rebuilt from what was
drawn, rounded to a public lattice, and every margin is a sum of its cells. Proof: docs/proofs/mechanism_margins.md.
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
from sordino.mechanisms.table import pure_split
from sordino.mechanisms.table.interactions import Axes, Design, centred, whole_table
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
"""Cells are rounded to 2^-(8 + log2 of their number): all of them together move no sum by more than 2^-9."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins(Conversing):
    """A table with margins that add up.

    Args:
        price: What the whole table costs.
        amounts: For every set of axes that is drawn, the variance of the noise on its part (concentrated prices) or its
            share of epsilon (pure ones); sets are written as the numbers of their axes.
        gaussian: Whether parts are drawn with Gaussian noise, or margins with geometric noise.
        level: Probability of a bar for every cell; None for none.
        simultaneous: Whether the level holds for all cells at once.

    Example:
        >>> from sordino.statistics.crosstab import Crosstab
        >>> table = Crosstab(("r", "s"), levels=(tuple(range(10)), tuple(range(10))), neighbors="add-remove-one")
        >>> from sordino.hints import Hints
        >>> (made,) = Margins.offers(table, Concentrated(0.5), Hints())
        >>> [round(made.deviation(table, axes), 2) for axes in table.axes]
        [1.9, 1.81, 1.81, 1.73]
    """

    price: Guarantee
    amounts: tuple[tuple[Axes, Fraction], ...]
    gaussian: bool = False
    level: float | None = None
    simultaneous: bool = False

    name: ClassVar[str] = "margins"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.MARGINS,)
    relations: ClassVar[tuple[Neighbors, ...]] = PERSONS
    law_is: ClassVar[str] = "deviation(...) for a margin"
    fixed_noise: ClassVar[bool] = True
    proof: ClassVar[str] = "mechanism_margins"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The split with the least weighted error; from public numbers alone."""
        design = design_of(statistic)
        replaced = statistic.neighbors is Neighbors.REPLACE_ONE
        bars: dict[str, Any] = {"level": hints.level}
        if hints.interval is not None:
            bars["simultaneous"] = hints.interval.simultaneous
        made = []
        rho, epsilon = gaussian_price(price), pure_price(price)
        if rho is not None:
            best = design.replaced(rho, closed=statistic.other) if replaced else design.added(rho)
            made.append(cls(price=price, amounts=tuple(best.items()), gaussian=True, **bars))
        if epsilon is not None:
            share = pure_split.split(design, epsilon, replaced=replaced, closed=bool(statistic.other))
            made.append(cls(price=price, amounts=tuple(share.items()), **bars))
        yield from sorted(made, key=lambda one: one.expected(statistic))

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """Open and closed tables in both relations, at one of every kind of price."""
        from sordino.hints import Hints
        from sordino.mechanisms.parts.cases import PRICES, MechanismCase
        from sordino.statistics.crosstab import Crosstab

        for world in Crosstab.cases():
            for price in PRICES:
                for place, made in enumerate(cls.offers(world.statistic, price, Hints(rows=1000))):
                    yield MechanismCase(made, world, default=not place)

    @property
    def no_bar(self) -> str:
        """A projected table is biased by an amount that depends on the counts."""
        return "A table without negative cells is biased where counts are small; the unbiased one has bars."

    def refusal(self, statistic: Any) -> str | None:
        """The split must pay for the statistic's own table."""
        reason = Mechanism.refusal(self, statistic)
        if reason is None and not self._paid(statistic):
            return "Its noise was planned for another table, and does not keep the price for this one."
        return reason

    def _paid(self, statistic: Any) -> bool:
        """The exact price of the noise, for this table; rational arithmetic throughout."""
        design, amounts = design_of(statistic), dict(self.amounts)
        replaced, closed = statistic.neighbors is Neighbors.REPLACE_ONE, bool(statistic.other)
        wanted = set(design.parts) - ({()} if replaced and closed else set())
        if self.gaussian:
            rho = gaussian_price(self.price)
            if rho is None or not wanted <= set(amounts):
                return False
            losses = [sum((design.norm(p) / v for p, v in amounts.items()), Fraction(0))]
            if replaced:
                losses = losses[: 0 if closed else 1] + [
                    sum((design.moved(p, kind) / v for p, v in amounts.items()), Fraction(0))
                    for kind in design.replacements()
                ]
            return max(losses, default=Fraction(0)) <= 2 * rho
        epsilon = pure_price(self.price)
        seen = {part for part in wanted if any(set(part) <= set(drawn) for drawn in amounts)}
        alone = sum(amounts.values(), Fraction(0))
        twice = 2 * sum((share for axes, share in amounts.items() if axes), Fraction(0))
        cost = max(twice, Fraction(0) if closed else alone) if replaced else alone
        return epsilon is not None and seen == wanted and cost <= epsilon

    def deviation(self, statistic: Any, axes: Axes, contribution: int = 1) -> float:
        """Standard deviation of every cell of a margin; public."""
        return contribution * math.sqrt(design_of(statistic).variance(axes, self._variances(statistic)))

    def expected(self, statistic: Any) -> float:
        """The weighted mean squared error of the margins; public."""
        weights = statistic.weights or (1.0,) * len(statistic.axes)
        return sum(
            w * self.deviation(statistic, axes) ** 2 for w, axes in zip(weights, statistic.axes, strict=True)
        )

    def _variances(self, statistic: Any, contribution: int = 1) -> dict[Axes, float]:
        """Variances of the noise on parts."""
        design, amounts = design_of(statistic), dict(self.amounts)
        if self.gaussian:
            return {part: float(amount) for part, amount in amounts.items()}
        noise = {
            axes: pure_split.geometric_variance(float(share) / contribution) / contribution**2
            for axes, share in amounts.items()
        }
        found = pure_split.part_variances(design, noise)
        if statistic.neighbors is Neighbors.REPLACE_ONE and statistic.other:
            found[()] = 0.0
        return found

    def lattices(self, statistic: Statistic, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Cells and sums lie on one lattice."""
        points = Lattice.dyadic(-_digits(statistic))
        return {"value": points, "low": points, "high": points} if self.barred else {"value": points}

    def rests_on(self, statistic: Any) -> list[str]:
        """How the numbers hang together."""
        said = [
            "Every margin is the exact sum of the cells below it; noise was split between them before it was drawn."
        ]
        if statistic.negative == "projected":
            said.append(
                "Cells were made non-negative together, by least squares; small counts are too high on average."
            )
        if statistic.other:
            said.append("Rows with a key that is not listed count under (other).")
        else:
            said.append("Rows with a key that is not listed are left out.")
        return said

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Draw, rebuild one table, add it up."""
        del grid
        counts = statistic.counts(ask(statistic.request(depth=0)))
        design = design_of(statistic)
        draws = Draws.of(bits)
        closed = statistic.neighbors is Neighbors.REPLACE_ONE and statistic.other
        parts = (
            self._gaussian_parts(
                counts, design, draws, contribution, replaced=statistic.neighbors is Neighbors.REPLACE_ONE
            )
            if self.gaussian
            else self._geometric_parts(counts, design, draws, contribution, statistic)
        )
        if closed:
            parts[()] = np.array(float(counts.sum()))  # every row is in the table, and their number is public
        variances = self._variances(statistic, contribution)
        variances.setdefault((), 0.0)
        if statistic.negative == "projected":
            from sordino.mechanisms.table.nonnegative import nonnegative

            table = nonnegative(parts, variances, design.sizes)
        else:
            table = whole_table(parts, design.sizes)
        step = 2.0 ** -_digits(statistic)
        whole = np.rint(table / step).astype(np.int64)
        if closed:  # the public total, exactly: what rounding has moved goes to the largest cell
            whole.reshape(-1)[int(np.argmax(whole))] += round(float(counts.sum()) / step) - int(whole.sum())
        values = tuple(value * step for value in statistic.flat(whole))
        public: dict[str, Any] = {}
        if self.level is not None and statistic.negative == "kept":
            public = self._bars(statistic, design, values, contribution)
        return Answer(values, public)  # floats that are exact multiples of the lattice

    def _gaussian_parts(
        self, counts: Any, design: Design, draws: Draws, contribution: int, *, replaced: bool
    ) -> dict[Axes, Floats]:
        parts = {}
        for axes, variance in self.amounts:
            factor = math.prod(design.sizes[axis] for axis in axes)
            others = tuple(axis for axis in range(len(design.sizes)) if axis not in axes)
            margin = np.asarray(counts.sum(axis=others) if others else counts)
            sigma = upper(evaluate(lambda: ball(variance).sqrt())) * contribution  # noqa: B023
            moved = [design.norm(axes), *(design.moved(axes, kind) for kind in design.replacements())]
            price = Concentrated((max(moved) if replaced else moved[0]) / (2 * variance))
            drawn = draws.centred(margin, sigma, factor=factor, price=price)
            parts[axes] = centred(np.asarray(drawn, np.float64)) / factor
        return parts

    def _geometric_parts(
        self, counts: Any, design: Design, draws: Draws, contribution: int, statistic: Any
    ) -> dict[Axes, Floats]:
        noisy, variances = {}, {}
        twice = 2 if statistic.neighbors is Neighbors.REPLACE_ONE else 1
        for axes, share in self.amounts:
            others = tuple(axis for axis in range(len(design.sizes)) if axis not in axes)
            margin = np.asarray(counts.sum(axis=others) if others else counts)
            scale = contribution / share
            price = Pure(share * (twice if axes else 1))
            noisy[axes] = np.asarray(draws.geometric_cells(margin, scale, price=price), np.float64)
            variances[axes] = pure_split.geometric_variance(float(1 / scale))
        return pure_split.combined(design, noisy, variances)

    def _bars(
        self, statistic: Any, design: Design, values: Sequence[float], contribution: int
    ) -> dict[str, Any]:
        """Half widths by margin, and the rounding of the cells below."""
        assert self.level is not None
        many = len(values)
        miss = 1 - self.level
        if self.gaussian:
            from scipy.special import ndtri

            each = 1 - self.level ** (1 / many) if self.simultaneous else miss
            size = -float(ndtri(each / 2)) * (1 + 1e-9)
            halves = {axes: size * self.deviation(statistic, axes, contribution) for axes in statistic.axes}
        else:
            exact = statistic.neighbors is Neighbors.REPLACE_ONE and bool(statistic.other)
            each = miss / many if self.simultaneous else miss
            halves = pure_split.half_widths(
                design, self.amounts, each, scale=float(contribution), exact_total=exact
            )
        low: list[float] = []
        high: list[float] = []
        start = 0
        for axes in statistic.axes:
            size = math.prod(design.sizes[axis] for axis in axes)
            half = halves[axes] + 2.0**-SPARE_BITS / 2
            if not axes and statistic.neighbors is Neighbors.REPLACE_ONE and statistic.other:
                half = 0.0
            step = 2.0 ** -_digits(statistic)
            wide = math.ceil(half / step) * step  # outwards, on the lattice
            for value in values[start : start + size]:
                low.append(max(0.0, value - wide))
                high.append(max(0.0, value + wide))
            start += size
        ends = {"low": tuple(low), "high": tuple(high), "level": self.level, "free": True}
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
        """One law per cell, Gaussian; of pure prices the same deviation, which is what a plan compares."""
        from sordino.mechanisms.additive.additive import AdditiveLaw
        from sordino.mechanisms.parts.error_law import ErrorLaw
        from sordino.noise.gaussian import Gaussian

        del ask, grid, truth, bits
        if statistic.negative != "kept":
            return None
        laws: list[Errors] = []
        for axes in statistic.axes:
            scale = max(self.deviation(statistic, axes, contribution), 1e-12)
            laws.append(
                ErrorLaw(AdditiveLaw(Gaussian(), value=0.0, scale=scale), truth=Fraction(0), step=None)
            )
        return laws


def gaussian_price(price: Guarantee) -> Fraction | None:
    """The rho of Gaussian noise that a price pays for; its shift is ``sqrt(2 rho)`` deviations."""
    if isinstance(price, Approx) and price.delta:
        from sordino.noise.gaussian import Gaussian

        return 1 / (2 * Gaussian.calibrate(price, smoothing=0).scale ** 2)
    target = price.noise_targets[0] if price.noise_targets else price
    return target.rho if isinstance(target, Concentrated) else None


def pure_price(price: Guarantee) -> Fraction | None:
    """The epsilon of geometric noise that a price pays for."""
    target = price.noise_targets[0] if price.noise_targets else price
    return target.epsilon if isinstance(target, Pure) else None


def design_of(statistic: Any) -> Design:
    """The public arithmetic of a table."""
    weights = statistic.weights or (1.0,) * len(statistic.axes)
    return Design(statistic.sizes, tuple(zip(statistic.axes, weights, strict=True)))


def _digits(statistic: Any) -> int:
    """Binary digits after the point of every cell."""
    return SPARE_BITS + max(1, math.ceil(math.log2(max(2, math.prod(statistic.sizes)))))
