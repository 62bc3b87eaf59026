"""The mean squared distance to a public centre."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.lattice import Lattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Exact, Opened, Profile, Reach
from sordino.reading.requests import Request
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Numeric

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.hints import Hints
    from sordino.privacy import Guarantee
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondMoment(Numeric):
    """The mean of ``(x - centre)^2`` over rows clipped to the bounds; 0 for an empty column.

    About a centre that has already been released this is the second step of a private variance, with the
    sensitivity of the squared half-range instead of the squared range.

    Args:
        centre: Public, or already released; taken to the nearest lattice point.

    Example:
        >>> SecondMoment("income", centre=2, low=0, high=4, step=1).define([1, 3])
        Fraction(1, 1)
    """

    name: ClassVar[str] = "second-moment"
    suits: ClassVar[tuple[str, ...]] = ("plain-or-cut-squares", "additive")

    centre: float

    def shows(self) -> tuple[Trait, ...]:
        """The second moment of the column."""
        return Trait.REACH, Trait.RANGE, Trait.MOMENT

    def check(self) -> None:
        """Squares are summed, so the lattice is not too fine."""
        Numeric.check(self)
        checks.exact(self.name, centre=self.centre)
        checks.between(self.name, 1, 2**32, closed=True, cells=self.grid.last, hint="bits of at most 32")

    @property
    def units(self) -> Lattice:
        """Squared steps."""
        return Lattice(Fraction(0), self.grid.step**2)

    @property
    def middle(self) -> int:
        """The code of the centre."""
        return self.grid.code(float(self.centre))

    @property
    def most(self) -> int:
        """The largest squared distance, in squared steps."""
        return max(self.middle, self.grid.last - self.middle) ** 2

    def request(self, *, depth: int = DEPTH) -> Request:
        """Sums and squares."""
        return Request(self.column, self.grid, squares=True, depth=depth)

    def define(self, rows: Sequence[int]) -> Exact:
        """Average the squared distances."""
        return Fraction(sum((row - self.middle) ** 2 for row in rows), len(rows)) if rows else 0

    def open(self, summary: Summary) -> Opened:
        """One row moves the mean by its share of the largest square."""
        n, depth, most = summary.rows, summary.request.depth, self.most
        total = summary.squares - 2 * self.middle * summary.total + n * self.middle**2
        value: Exact = Fraction(total, n) if n else 0
        if self.neighbors is Neighbors.REPLACE_ONE:
            profile = Profile.constant(Fraction(most, max(n, 1)))
            steps = [Fraction(most * min(l, n), max(n, 1)) for l in range(depth + 1)]
            reach = Reach.dense([value - s for s in steps], [value + s for s in steps], bottom=0, top=most)
        else:
            reach = mean_reach(total, n, most, depth)
            profile = Profile.dense([Fraction(most, max(1, n - k)) for k in range(depth + 1)], most)
            profile = profile.meet(Profile.from_reach(reach, most))
        return Opened(value, self.units, profile, reach, n, bottom=0, top=most)

    def smoothing(self, price: Guarantee, hints: Hints) -> Fraction:  # noqa: ARG002
        """Plain noise, where clipped squares do not answer."""
        return Fraction(0)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """A centre inside and one at an end, both relations."""
        rows = tuple((x,) for x in (0, 1, 2, 4))
        for relation in cls.relations:
            for centre in (0, 1):
                yield Case(
                    cls("x", centre=centre, low=0, high=4, step=1, neighbors=relation), rows, (1, 2, 3, 4)
                )


def mean_reach(total: int, rows: int, most: int, depth: int) -> Reach:
    """Reach of a mean of numbers in 0..most of which only the total is known, add/remove-one.

    With l steps the total and the number of rows go to the extremes of adding ``most`` (or 0) each time and of
    removing 0 (or ``most``) each time; between the two the ratio is monotone (docs/proofs/statistics_moments.md).

    Example:
        >>> mean_reach(6, 3, 4, 1).high
        (Fraction(2, 1), Fraction(3, 1), 4)
    """
    lows: list[Exact] = []
    highs: list[Exact] = []
    for l in range(depth + 1):
        if l >= rows:  # the empty dataset is near, and counts as 0
            lows.append(0)
            highs.append(most if l else 0)
            continue
        lows.append(min(Fraction(total, rows + l), Fraction(max(0, total - l * most), rows - l)))
        highs.append(
            max(Fraction(min(total, (rows - l) * most), rows - l), Fraction(total + l * most, rows + l))
        )
    return Reach.dense(lows, highs, bottom=0, top=most)
