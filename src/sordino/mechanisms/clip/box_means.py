"""`BoxMeans`: means of several columns whose bounds are far too wide.

An interval is searched for every column, as for a single mean; what is left of the price is for all columns together.
Pure and approximate prices take cube noise in the box. Concentrated ones, from ten columns on, a ball inside it: a
rough centre, a radius that few rows exceed, and Gaussian noise for its length. Proof:
docs/proofs/mechanism_box_means.md.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.lattice import Lattice
from sordino.mechanisms import PERSONS, Answer, Mechanism
from sordino.mechanisms.additive.cube import CubeNoise
from sordino.mechanisms.clip import ball
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.column import AskedColumn
from sordino.mechanisms.clip.search import radius_search
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.draws import Draws
from sordino.mechanisms.tuned_tables import ForBall
from sordino.privacy import Concentrated, Neighbors, Pure, compose
from sordino.privacy.conversion import ball as enclosed
from sordino.privacy.conversion import evaluate, upper
from sordino.reading.requests import Columns
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.hints import Hints
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.clip.interval import ClipInterval
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.privacy import Guarantee


SHORTEST = 2e-290
"""The length of a range that a lattice of rows can have, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxMeans(Conversing):
    """Means of several columns with wide bounds.

    Args:
        price: What all of them cost together.
        rows: Public number of rows, or a declared rough one; it steers the searches, not the promise.
        searched: Whether an interval is searched for every column; otherwise the box is that of the declared bounds.
        round: Whether rows are pulled into a ball inside the box; concentrated prices only.

    Example:
        >>> from sordino.hints import Hints
        >>> from sordino.statistics.means import Means
        >>> asked = Means(tuple("abcdefghij"), low=0, high=1e6)
        >>> [made.round for made in BoxMeans.offers(asked, Concentrated(1), Hints(rows=10_000, loose=True))]
        [True]
    """

    price: Guarantee
    rows: int
    searched: bool = True
    round: bool = False

    name: ClassVar[str] = "box-means"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.CUBE,)
    relations: ClassVar[tuple[Neighbors, ...]] = PERSONS
    law_is: ClassVar[str] = "the law of each part in clip/search.py"
    searches: ClassVar[bool] = True
    answers_tried: ClassVar[int] = 24
    proof: ClassVar[str] = "mechanism_box_means"

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """Where the caller calls the bounds far too wide, and asks for no bar."""
        if hints.loose and hints.rows and hints.interval is None:
            many = statistic.dimension >= ForBall.LEAST_COLUMNS
            yield cls(price=price, rows=hints.rows, round=isinstance(price, Concentrated) and many)

    @classmethod
    def alternatives(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """The mode for bounds that are far too wide."""
        if Trait.CUBE in statistic.traits:
            yield from cls.offers(statistic, price, dataclasses.replace(hints, loose=True))

    @classmethod
    def cases(cls) -> Iterable[MechanismCase]:
        """The ball in both relations; searches in one, of fewer rows, for they have thousands of outcomes."""
        from sordino.mechanisms.parts.cases import MechanismCase
        from sordino.statistics.means import Means

        corners = (0.0, -1.0), (1.0, 1.0), (4.0, -1.0), (4.0, 1.0)

        for world in Means.cases():
            yield MechanismCase(cls(price=Concentrated(1), rows=1000, searched=False, round=True), world)
            if world.statistic.neighbors is Neighbors.REPLACE_ONE:
                few = dataclasses.replace(world, rows=corners)
                yield MechanismCase(
                    cls(price=Pure(1), rows=1000), few, (("rows", 1000), ("loose", True)), default=True
                )

    def __post_init__(self) -> None:
        if self.round and not isinstance(self.price, Concentrated):
            from sordino.errors import Unsupported

            raise Unsupported(
                self.name, "pulls rows into a ball at concentrated prices only", got={"price": self.price},
                hint="sd.Concentrated(0.5), or round=False",
            )  # fmt: skip

    @property
    def no_bar(self) -> str:
        """What was cut away is not covered."""
        return "Rows were pulled into a box and a ball; by how much their means moved is not known."

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:  # noqa: ARG002
        """Means lie on the grid, a radius on the units of the box."""
        found = {"value": grid.endless}
        return found | ({"radius": Lattice.dyadic(-20)} if self.round else {})

    def rests_on(self, statistic: Any) -> list[str]:  # noqa: ARG002
        """What was done to rows."""
        return [
            "Values were cut to intervals that were searched privately; the means are those of cut values."
        ]

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """An interval per column, then all of them together."""
        found = self._intervals(statistic, ask, contribution, bits)
        rest = compose([one.rest for one in found])
        if not self.round:
            units = [grid_.endless.real for grid_ in statistic.grids]
            lows = [float(real(one.low)) for real, one in zip(units, found, strict=True)]
            highs = [float(real(max(one.high, one.low + 1))) for real, one in zip(units, found, strict=True)]
            # Far from zero, or next to it, the ends of a short interval may be one float, or too near for a range.
            highs = [
                max(high, math.nextafter(low, math.inf), low + SHORTEST)
                for low, high in zip(lows, highs, strict=True)
            ]
            narrow = dataclasses.replace(statistic, low=tuple(lows), high=tuple(highs))
            answer = CubeNoise(price=rest).answer(narrow, ask, grid, contribution=contribution, bits=bits)
            return Answer(answer.value)
        assert isinstance(rest, Concentrated)
        return self._in_a_ball(statistic, ask, grid, found, rest, contribution, bits)

    def _intervals(
        self, statistic: Any, ask: Asking, contribution: int, bits: Bits | None
    ) -> list[ClipInterval]:
        """For every column an interval, and what is left of its part of the price."""
        each = self.price.share(Fraction(1, statistic.dimension))
        found = []
        for part in statistic.parts:
            search = AutoClip(
                price=each, rows=self.rows, low=part.low, high=part.high, tight=not self.searched,
                neighbors=statistic.neighbors,
            )  # fmt: skip
            column = AskedColumn(part.column, part.grid, ask)
            found.append(search.find_interval(column, contribution=contribution, bits=bits))
        return found

    def _in_a_ball(
        self,
        statistic: Any,
        ask: Asking,
        grid: Lattice,
        found: Sequence[ClipInterval],
        rest: Concentrated,
        contribution: int,
        bits: Bits | None,
    ) -> Answer:
        """A rough centre, a radius, and the mean of what is pulled into the ball."""
        draws, many = Draws.of(bits), statistic.dimension
        codes = ask(Columns(statistic.columns, statistic.grids)).codes
        assert codes is not None
        lows, highs = [one.low for one in found], [one.high for one in found]
        points = ball.boxed(codes, lows, highs)
        replaced = statistic.neighbors is Neighbors.REPLACE_ONE
        rows: Any = points.shape[1]
        shares = {"centre": ForBall.CENTRE, "radius": ForBall.RADIUS}
        if not replaced:
            shares["rows"] = ForBall.ROWS
            price = rest.share(ForBall.ROWS)
            size = _deviation(Fraction(1), price) * contribution
            (rows,) = draws.gaussian_cells(np.array([rows]), size, factor=1, price=price)
        rows = max(int(rows), 1)
        diagonal = upper(evaluate(lambda: enclosed(Fraction(many)).sqrt())) * ball.UNIT
        longest = 2 if replaced else 1  # a row that is replaced moves by twice what one that comes does
        price = rest.share(ForBall.CENTRE)
        size = _deviation(longest * diagonal, price) * contribution
        sums = draws.gaussian_cells(points.sum(axis=1), size, factor=1, price=price)
        centre = np.clip(np.asarray(sums) // rows, -ball.UNIT, ball.UNIT).astype(np.int64)
        squares = ball.squared(points, centre)
        search = radius_search(
            smallest=max(math.floor(diagonal * ForBall.SMALLEST), 1), largest=2 * math.ceil(diagonal),
            exponent=Fraction(ForBall.EXPONENT), price=rest.share(ForBall.RADIUS), contribution=contribution,
        )  # fmt: skip
        radius = search.draw(ball.outside(squares, [int(one) for one in search.radii]), bits=bits)
        last = rest.share(1 - sum(shares.values(), Fraction(0)))
        size = _deviation(Fraction(longest * radius), last) * contribution
        sums = draws.gaussian_cells(
            ball.pulled_sums(points, centre, squares, radius), size, factor=1, price=last
        )
        value = _real(statistic, found, centre, np.asarray(sums), rows, grid)
        return Answer(value, {"radius": Fraction(radius, ball.UNIT)})


def _deviation(moved: Fraction, price: Concentrated) -> Fraction:
    """The deviation of Gaussian noise for something of a length, rounded up."""
    return upper(evaluate(lambda: 1 / (2 * enclosed(price.rho)).sqrt())) * moved


def _real(
    statistic: Any,
    found: Sequence[ClipInterval],
    centre: NDArray[np.int64],
    sums: NDArray[np.int64],
    rows: int,
    grid: Lattice,
) -> tuple[Fraction, ...]:
    """From units of the box to the columns' own, within their intervals."""
    value = []
    for own, one, middle, total in zip(statistic.grids, found, centre.tolist(), sums.tolist(), strict=True):
        low, high = own.endless.real(one.low), own.endless.real(one.high)
        place = (middle + Fraction(total, rows)) / ball.UNIT  # -1 to 1
        value.append(grid.inside(low + (high - low) * (place + 1) / 2, low, high))
    return tuple(value)
