"""Variance and standard deviation when the declared bounds are loose: two private steps.

First a mean by AutoClip, then the clipped mean of ``(x - m)^2`` about the *released* mean, whose sensitivity is a
squared radius instead of the squared range; the known noise variance of m is subtracted.
Proof: docs/proofs/mechanism_auto_clip.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.mechanisms import Answer, Mechanism
from sordino.mechanisms.auto_clip import AutoClip
from sordino.mechanisms.auto_clip_plan import plan_auto_clip
from sordino.mechanisms.price import nats, share
from sordino.privacy import Neighbors

if TYPE_CHECKING:
    from sordino.exact.bits import Bits
    from sordino.exact.grid import Grid
    from sordino.mechanisms import Asking
    from sordino.mechanisms.column import Column
    from sordino.mechanisms.law import Law
    from sordino.privacy import Guarantee
    from sordino.profile import Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceClip(Mechanism):
    """Population variance (or its root) of a column with loose bounds, replace-one.

    Args:
        price: What the whole answer costs.
        rows: Public number of rows.
        low: Public lower bound.
        high: Public upper bound.
        step: Declared lattice of the data.
        centre: Public guess of the centre.
        spread: Public guess of the spread.
        tight: The bounds fit the column: no searches, more for the noise.
        root: Answer the standard deviation.

    Example:
        >>> from sordino.privacy import Pure
        >>> VarianceClip(price=Pure(1), rows=1001, low=-50, high=1050).mean_share
        Fraction(3, 10)
    """

    price: Guarantee
    rows: int
    low: float
    high: float
    step: Fraction | float | None = None
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    root: bool = False

    name: ClassVar[str] = "variance-clip"
    needs: ClassVar[tuple[str, ...]] = ("rows",)
    proof: ClassVar[str] = "mechanism_auto_clip"

    def __post_init__(self) -> None:
        checks.whole(self.name, at_least=1, rows=self.rows)
        self.first  # noqa: B018 - checks the parameters

    @property
    def guarantee(self) -> Guarantee:
        """The two steps compose to the price."""
        return self.price

    @property
    def mean_share(self) -> Fraction:
        """Share of the price for the mean; a little more when rows are few."""
        return Fraction(7, 20) if self.rows * nats(self.price) < 500 else Fraction(3, 10)

    @property
    def first(self) -> AutoClip:
        """The mechanism of the first step."""
        return AutoClip(
            price=share(self.price, self.mean_share), rows=self.rows, low=self.low, high=self.high, step=self.step,
            centre=self.centre, spread=self.spread, tight=self.tight,
        )  # fmt: skip

    @property
    def trusted(self) -> bool:
        """As far as the first step can be trusted."""
        return self.tight or self.first.trusted

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Grid,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Ask for the mean, then for counts and squares about it."""
        from sordino.mechanisms.column import AskedColumn

        if statistic.neighbors is not Neighbors.REPLACE_ONE or statistic.rows_private:
            raise Unsupported(
                self.name,
                "needs a public number of rows",
                why="The clipped mean of squares divides by it.",
                hint="replace-one neighbours and missing=<number>, or PiecewiseLaplace",
            )
        column = AskedColumn(statistic.column, statistic.grid, ask)  # type: ignore[attr-defined]
        return self.converse(column, grid, contribution=contribution, bits=bits)

    def draw(self, reading: Reading, grid: Grid, *, bits: Bits | None = None) -> Answer:  # noqa: ARG002
        """Not from one reading: the second question depends on the first answer."""
        raise Unsupported(
            self.name, "asks the source several times", hint="call answer(statistic, ask, grid)"
        )

    def law(self, reading: Reading) -> Law:  # noqa: ARG002
        """Not in closed form: it is a composition, and its parts have laws of their own."""
        raise Unsupported(self.name, "is a composition", hint="audit each part of clip_search")

    def converse(
        self, column: Column, grid: Grid, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Mean, radius of squares, clipped mean of squares."""
        from sordino.mechanisms.drawing import draw_noise, noise_for

        first = self.first
        found = first.find_interval(column, contribution=contribution, bits=bits)
        sums = column.clipped(found.low, found.high)
        middle = first.noisy(sums, found, grid, contribution, bits)
        width = sums.high - sums.low
        spent = share(self.price, 1 - self.mean_share)
        units, top = column.grid.units, column.grid.top
        code = column.grid.code(float(middle))
        radius, part = max(top - code, code), Fraction(0)
        if not self.tight:
            radius, part = self._search(column, code, width, spent, contribution, bits)
        kept = column.clipped(max(code - radius, 0), min(code + radius, top), squares=True)
        about = units.real(code)
        rows = max(kept.rows, 1)
        second = (kept.squares - 2 * about * kept.total + about * about * kept.rows) / rows
        largest = max(kept.high - about, about - kept.low) ** 2
        rest = share(spent, 1 - part)
        noisy, _ = draw_noise(
            second, sensitivity=largest * contribution / rows, price=rest, grid=_squared(grid), bits=bits
        )
        noise = noise_for(found.rest)
        known = (float(width * contribution / rows * noise.scale) * noise.noise.std) ** 2
        value = min(max(noisy, Fraction(0)), largest)
        value = max(value - Fraction(known), value / 2)
        public = {"mean": middle, "low": kept.low, "high": kept.high}
        if self.root:
            value = Fraction(math.sqrt(value))
        return Answer(value, public)

    def _search(
        self,
        column: Column,
        code: int,
        width: Fraction,
        spent: Guarantee,
        contribution: int,
        bits: Bits | None,
    ) -> tuple[int, Fraction]:
        """Release a radius around the released mean; the radius in codes and the share of the price it took."""
        from sordino.mechanisms.clip_search import ROOT_GROWTH, radius_search, search_radius

        units, top = column.grid.units, column.grid.top
        reach = min(max(top - code, code), max(math.ceil(4 * width / units.step), 1))
        # The search runs over radii; squares double every logarithm, hence twice the exponent on a table twice as fine.
        # Squares have the heavier tail, so a prior steeper than 4 would clip too much.
        plan = plan_auto_clip(rows=self.rows, price=spent, low=0, high=(units.step * reach) ** 2, centre=0)
        if not plan.radius_share:
            return reach, Fraction(0)
        smallest = max(math.isqrt(math.ceil(plan.floor / units.step**2)), 1)
        search = radius_search(
            smallest=smallest, largest=reach, exponent=2 * min(plan.exponent, Fraction(4)), growth=ROOT_GROWTH,
            price=share(spent, plan.radius_share), contribution=contribution,
        )  # fmt: skip
        return search_radius(column, code, search, bits=bits), plan.radius_share


def _squared(grid: Grid) -> Grid:
    """The lattice of squares: twice the exponent of the lattice of values, within what floats can hold."""
    return type(grid)(max(2 * grid.exponent, -1000))
