"""Variance, standard deviation and second moment when the declared bounds may be loose.

First a mean by AutoClip (a second moment has its centre given), then the clipped mean of ``(x - m)^2`` about the
*released* mean, whose sensitivity is a squared radius instead of the squared range; the known noise variance of m is
subtracted. How the radius is searched is square_search.py. Proof: docs/proofs/mechanism_auto_clip.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import Unsupported
from sordino.lattice import Lattice
from sordino.mechanisms import Answer, Mechanism, lacking, matched, other_bounds
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.interval import count_part
from sordino.mechanisms.clip.square_search import SquarePlan, plan_squares
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.mechanisms import Asking
    from sordino.mechanisms.clip.column import ClippableColumn, Clipped
    from sordino.mechanisms.clip.interval import ClipInterval
    from sordino.mechanisms.parts.error_law import Errors
    from sordino.mechanisms.parts.law import Law
    from sordino.privacy import Guarantee
    from sordino.reading.profile import Reading
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True)
class Middle:
    """A point about which squares are taken, in codes and real units, and what its release has told.

    Attributes:
        code: The nearest code; clipping intervals are centred on it.
        value: The point itself in real units, public or released.
        width: Width of the interval from which a released mean came; None for a public point.
        found: That interval.
    """

    code: int
    value: Fraction
    width: Fraction | None = None
    found: ClipInterval | None = None


@dataclass(frozen=True, slots=True)
class Squares:
    """Clipped squares about a released point: private sums, and what is left of the price.

    Attributes:
        kept: Sums of the clipped rows.
        middle: The point about which squares are taken.
        rest: What is left of the price.
        ends: The clipping interval in codes of the column.
    """

    kept: Clipped
    middle: Middle
    rest: Guarantee
    ends: tuple[int, int] = (0, 0)

    @property
    def total(self) -> Fraction:
        """The sum of squares."""
        kept, about = self.kept, self.middle.value
        return kept.squares - 2 * about * kept.total + about * about * kept.rows

    @property
    def largest(self) -> Fraction:
        """The largest square inside the interval; public once the interval is."""
        kept, about = self.kept, self.middle.value
        return max(kept.high - about, about - kept.low) ** 2

    @property
    def origin(self) -> Fraction:
        """From where squares are counted when their number is private: they pile up near zero, below the middle."""
        return self.largest / 4


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceClip(Mechanism):
    """Population variance (or its root), or the mean square about a public point, of a column with loose bounds.

    Args:
        price: What the whole answer costs.
        rows: Public number of rows; under add/remove a declared rough one.
        low: Public lower bound.
        high: Public upper bound.
        step: Declared lattice of the data.
        centre: Public guess of the centre.
        spread: Public guess of the spread.
        tight: The bounds fit the column: no searches, more for the noise.
        root: Answer the standard deviation.
        about: The public point of a second moment; None for the variance.
        neighbors: Which two datasets are neighbours.

    Example:
        >>> from sordino.privacy import Pure
        >>> VarianceClip(price=Pure(1), rows=1001, low=-50, high=1050).mean_share
        Fraction(3, 10)
        >>> VarianceClip(price=Pure(1), rows=1001, low=-50, high=1050, about=0).mean_share
        Fraction(0, 1)
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
    about: float | None = None
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    name: ClassVar[str] = "variance-clip"
    needs: ClassVar[tuple[str, ...]] = ("rows",)
    proof: ClassVar[str] = "mechanism_auto_clip"
    searches: ClassVar[bool] = True
    answers_tried: ClassVar[int] = 24

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
        """Given the interval that its searches release, the law of the last noise."""
        from sordino.mechanisms.clip.column import AskedColumn
        from sordino.mechanisms.clip.squares_error import squares_error

        assert bits is not None
        column = AskedColumn(statistic.column, statistic.grid, ask)
        found = squares_error(
            matched(self, statistic), column, grid, Fraction(truth), contribution=contribution, bits=bits
        )
        return [found]

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Clipped squares, where the bounds may be loose and rows suffice to search them."""
        replace_one = statistic.neighbors is Neighbors.REPLACE_ONE
        about = getattr(statistic, "centre", None)
        fits = hints.fits(statistic.low, statistic.high)
        if about is not None:  # a second moment needs no search for the middle
            clip = cls(
                price=price, rows=hints.rows or 0, low=statistic.low, high=statistic.high, step=statistic.step,
                tight=fits or not hints.rows, about=about, neighbors=statistic.neighbors,
            )  # fmt: skip
            if hints.interval is None and not (replace_one and not clip.finds_radius):
                yield clip
            return
        root = statistic.root
        if hints.rows and (not fits or (root and replace_one)):
            clip = cls(
                price=price, rows=hints.rows, low=statistic.low, high=statistic.high, step=statistic.step,
                centre=hints.centre, spread=hints.spread, tight=fits, root=root, neighbors=statistic.neighbors,
            )  # fmt: skip
            if (root and replace_one) or clip.finds_radius or hints.spread is not None:
                yield clip

    def __post_init__(self) -> None:
        checks.whole(self.name, rows=self.rows)
        self.first  # noqa: B018 - checks the parameters

    def refusal(self, statistic: Any) -> str | None:
        """The variance or its root, or the moment about the same point, within the bounds it was planned for."""
        if self.about is None:
            reason = lacking(statistic, Trait.DEVIATION if self.root else Trait.VARIANCE)
        else:
            reason = lacking(statistic, Trait.MOMENT)
            if reason is None and (self.root or float(self.about) != float(statistic.centre)):
                reason = "It was planned for a moment about another point."
        return reason or self._other_relation(statistic) or other_bounds(statistic, self.low, self.high)

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:
        """A root and a mean are on the grid, squares on its square; the interval is of codes of the column."""
        plain, codes = Lattice(Fraction(0), grid.step), statistic.grid.endless
        value = plain if self.root else Lattice(Fraction(0), _squared(grid).step)
        return {"value": value, "mean": plain, "low": codes, "high": codes}

    @property
    def guarantee(self) -> Guarantee:
        """The two steps compose to the price."""
        return self.price

    @property
    def mean_share(self) -> Fraction:
        """Share of the price for the mean; a little more when rows are few."""
        if self.about is not None:
            return Fraction(0)
        bid = self.rows * self.price.nats
        return Fraction(7, 20) if bid < 500 else Fraction(3, 10) if bid < 2000 else Fraction(1, 4)

    @property
    def first(self) -> AutoClip:
        """The mechanism of the first step."""
        return AutoClip(
            price=self.price.share(self.mean_share or 1), rows=self.rows, low=self.low, high=self.high,
            step=self.step, centre=self.centre, spread=self.spread, tight=self.tight, neighbors=self.neighbors,
        )  # fmt: skip

    @property
    def trusted(self) -> bool:
        """As far as the first step can be trusted."""
        return self.tight or self.first.trusted

    @property
    def finds_radius(self) -> bool:
        """Whether rows and price suffice to look for a radius of squares at all, even about a mean with plain noise."""
        spent, far = self.price.share(1 - self.mean_share), 2**30
        width = None if self.about is not None else far
        return (
            not self.tight and plan_squares(rows=self.rows, price=spent, farthest=far, width=width).share > 0
        )

    def answer(
        self,
        statistic: Statistic,
        ask: Asking,
        grid: Lattice,
        *,
        contribution: int = 1,
        bits: Bits | None = None,
    ) -> Answer:
        """Ask for the mean, then for counts and squares about it."""
        from sordino.mechanisms.clip.column import AskedColumn

        column = AskedColumn(statistic.column, statistic.grid, ask)  # type: ignore[attr-defined]
        mechanism = matched(self, statistic)
        return mechanism.converse(column, grid, contribution=contribution, bits=bits)

    def draw(self, reading: Reading, grid: Lattice, *, bits: Bits | None = None) -> Answer:  # noqa: ARG002
        """Not from one reading: the second question depends on the first answer."""
        raise Unsupported(
            self.name, "asks the source several times", hint="call answer(statistic, ask, grid)"
        )

    def law(self, reading: Reading) -> Law:  # noqa: ARG002
        """Not in closed form: it is a composition, and its parts have laws of their own."""
        raise Unsupported(self.name, "is a composition", hint="audit each part of clip_search")

    def converse(
        self, column: ClippableColumn, grid: Lattice, *, contribution: int = 1, bits: Bits | None = None
    ) -> Answer:
        """Mean, radius of squares, clipped mean of squares."""
        found = self.find_squares(column, grid, contribution=contribution, bits=bits)
        value, count = self._noisy(found, grid, contribution, bits)
        codes, (low, high) = column.grid.endless, found.ends
        public: dict[str, Any] = {"low": codes.real(low), "high": codes.real(high)}
        if found.middle.found is not None:
            public["mean"] = found.middle.value
            value = max(value - self.noise_of_mean(found.middle, count, contribution), value / 2)
        fine = grid if self.root else _squared(grid)
        answer = Fraction(math.sqrt(value)) if self.root else value
        return Answer(fine.step * round(answer / fine.step), public)

    def find_squares(
        self, column: ClippableColumn, grid: Lattice, *, contribution: int = 1, bits: Bits | None = None
    ) -> Squares:
        """Release a mean and a radius; what is left of the price is for the noise."""
        from sordino.mechanisms.clip.search import ROOT_GROWTH, radius_search, search_radius

        middle = self._middle(column, grid, contribution, bits)
        code, top = middle.code, column.grid.last
        spent = self.price.share(1 - self.mean_share)
        plan = self._plan(column, middle, spent)
        radius = plan.reach
        if plan.share:
            search = radius_search(
                smallest=plan.smallest, largest=plan.reach, exponent=2 * plan.exponent, growth=ROOT_GROWTH,
                price=spent.share(plan.share), contribution=contribution,
            )  # fmt: skip
            radius = search_radius(column, code, search, bits=bits)
        ends = max(code - radius, 0), min(code + radius, top)
        kept = column.clipped(*ends, squares=True)
        return Squares(kept, middle, spent.share(1 - plan.share), ends)

    def _middle(self, column: ClippableColumn, grid: Lattice, contribution: int, bits: Bits | None) -> Middle:
        """Release a mean, or take the public point."""
        if self.about is not None:
            code = column.grid.code(float(self.about))
            return Middle(code, column.grid.endless.real(code))
        first = self.first
        found = first.find_interval(column, contribution=contribution, bits=bits)
        sums = column.clipped(found.low, found.high)
        value = first.noisy(sums, found, grid, contribution, bits)[1].value
        value = grid.step * round(value / grid.step)
        return Middle(column.grid.code(float(value)), value, sums.high - sums.low, found)

    def _plan(self, column: ClippableColumn, middle: Middle, spent: Guarantee) -> SquarePlan:
        """How far and how dearly to search, from what has been released; no search where the bounds fit."""
        top, step = column.grid.last, column.grid.endless.step
        farthest = max(top - middle.code, middle.code, 1)
        told = {} if middle.found is None else middle.found.public
        if self.tight or told.get("fits"):
            return SquarePlan.whole(farthest)
        return plan_squares(
            rows=self.rows, price=spent, farthest=farthest,
            width=None if middle.width is None else max(math.ceil(middle.width / step), 1),
            away=told.get("rows_away"),
        )  # fmt: skip

    def _noisy(
        self, found: Squares, grid: Lattice, contribution: int, bits: Bits | None
    ) -> tuple[Fraction, Fraction]:
        """The noisy mean of clipped squares about a released point, and the number of rows it was divided by."""
        fine, rows, total, largest = _squared(grid), found.kept.rows, found.total, found.largest
        draws = Draws.of(bits)
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            origin, part = found.origin, count_part(self.rows, found.rest)
            noisy, _ = draws.noisy(
                total - origin * rows, sensitivity=(largest - origin) * contribution,
                price=found.rest.share(1 - part), grid=fine,
            )  # fmt: skip
            counted, _ = draws.noisy(
                Fraction(rows), sensitivity=Fraction(contribution), price=found.rest.share(part)
            )
            count = max(counted, Fraction(1))
            value = origin + noisy / count
        else:
            count = Fraction(max(rows, 1))
            value, _ = draws.noisy(
                total / count,
                sensitivity=largest * contribution / count,
                price=found.rest,
                grid=fine,
            )
        return min(max(value, Fraction(0)), largest), count

    def noise_of_mean(self, middle: Middle, count: Fraction, contribution: int) -> Fraction:
        """The variance of the noise in the released mean, from released numbers."""
        from sordino.mechanisms.parts.drawing import noise_for

        found, width = middle.found, middle.width
        assert found is not None
        assert width is not None
        rest, reach = found.rest, width
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            rest, reach = rest.share(1 - found.count_part), width / 2
        noise = noise_for(rest)
        return Fraction((float(reach * contribution / count * noise.scale) * noise.noise.std) ** 2)


def _squared(grid: Lattice) -> Lattice:
    """The lattice of squares: twice the exponent of the lattice of values, within what floats can hold."""
    return Lattice.dyadic(max(2 * grid.exponent, -1000))
