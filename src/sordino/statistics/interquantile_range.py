"""The distance between two quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import Lattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.reading.requests import Request, Window
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, NESTED, Case, Numeric
from sordino.statistics.ordered import block_profile, codes_between
from sordino.statistics.quantile import Quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class InterquantileRange(Numeric):
    """The upper quantile minus the lower one, both by the lower rule.

    Args:
        lower: Which quantile is subtracted, such as 0.25.
        upper: Which quantile it is subtracted from, such as 0.75.

    Example:
        >>> InterquantileRange("income", lower=0.25, upper=0.75, low=0, high=500_000).define([1, 2, 4, 8])
        3
    """

    name: ClassVar[str] = "interquantile-range"
    suits: ClassVar[tuple[str, ...]] = NESTED

    lower: Fraction | float
    upper: Fraction | float

    def shows(self) -> tuple[Trait, ...]:
        """Between nothing and the whole range."""
        return Trait.REACH, Trait.RANGE, Trait.COLUMN

    def check(self) -> None:
        """Two different quantiles in order."""
        Numeric.check(self)
        lower = checks.between(self.name, 0, 1, closed=True, lower=self.lower)
        upper = checks.between(self.name, 0, 1, closed=True, upper=self.upper)
        if lower >= upper:
            raise ParameterError(
                self.name, "lower must be less than upper", got={"lower": self.lower, "upper": self.upper}
            )
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def exact(self) -> tuple[str, ...]:
        """Exact under replace-one (unless so few rows that both quantiles are the same row)."""
        return ("low", "high") if self.neighbors is Neighbors.REPLACE_ONE else ()

    @property
    def units(self) -> Lattice:
        """Steps of the rows, counted from zero."""
        return Lattice(Fraction(0), self.grid.step)

    @property
    def ends(self) -> tuple[Quantile, Quantile]:
        """The two quantiles."""
        lower, upper = (
            Quantile(
                self.column, q=q, low=self.low, high=self.high, step=self.step, missing=self.missing,
                bits=self.bits, neighbors=self.neighbors,
            )
            for q in (self.lower, self.upper)
        )  # fmt: skip
        return lower, upper

    def request(self, *, depth: int = DEPTH) -> Request:
        """One window around each quantile."""
        windows = tuple(Window(end.ranks()[0], depth + 3) for end in self.ends)
        return Request(self.column, self.grid, windows, depth=depth)

    def define(self, rows: Sequence[int]) -> int:
        """Subtract."""
        if not rows:
            return 0
        ordered = sorted(rows)
        first, second = (end.weights(len(rows)).pieces[0][0] for end in self.ends)
        return ordered[second - 1] - ordered[first - 1]

    def open(self, summary: Summary) -> Opened:
        """Widen at both ends with the best split of the steps, or narrow."""
        n, depth, top = summary.rows, summary.request.depth, self.grid.last
        if self.neighbors is Neighbors.ADD_REMOVE_ONE:
            lower, upper = (end.add_remove(summary, depth, top)[0] for end in self.ends)
            pairs = [(lower.at(l), upper.at(l)) for l in range(depth + 1)]
            reach = Reach.dense(
                [max(0, u[0] - l[1]) for l, u in pairs], [u[1] - l[0] for l, u in pairs], bottom=0, top=top
            )
            value = upper.low[0] - lower.low[0]
            return Opened(
                value, self.units, Profile.from_reach(reach, top), reach, n, summary.runs, bottom=0, top=top
            )
        if n == 0:
            reach = Reach.dense([0], [0], bottom=0, top=top)
            return Opened(0, self.units, Profile.constant(top), reach, 0, bottom=0, top=top)
        first, second = (end.weights(n).pieces[0][0] for end in self.ends)
        r1_down = codes_between(summary.runs, first - depth, first)[::-1]
        r1_up = codes_between(summary.runs, first, first + depth)
        r2_down = codes_between(summary.runs, second - depth, second)[::-1]
        r2_up = codes_between(summary.runs, second, second + depth)
        highs = [int(np.max(r2_up[: l + 1] - r1_down[l::-1])) for l in range(depth + 1)]
        lows = [max(0, int(np.min(r2_down[: l + 1] - r1_up[l::-1]))) for l in range(depth + 1)]
        reach = Reach.dense(lows, highs, bottom=0, top=top)
        bounds = sum(block_profile(summary.runs, rank, rank, depth) for rank in (first, second))
        profile = Profile.dense([int(b) for b in np.asarray(bounds)], top)
        profile = profile.meet(Profile.from_reach(reach, top))
        return Opened(highs[0], self.units, profile, reach, n, summary.runs, bottom=0, top=top)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Two pairs of quantiles, both relations."""
        rows = tuple((x,) for x in (0, 1, 3, 6))
        for relation in cls.relations:
            for lower, upper in ((Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 5), Fraction(1))):
                statistic = cls("x", lower=lower, upper=upper, low=0, high=6, step=1, neighbors=relation)
                yield Case(statistic, rows, (2, 3, 4))
