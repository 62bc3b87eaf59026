"""Several quantiles of a column at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import FINE_BITS
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile
from sordino.reading.requests import Request, Window
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case, Numeric
from sordino.statistics.ordered import codes_between
from sordino.statistics.quantile import Quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles(Numeric):
    """Several quantiles, each by the lower rule, in one pass and for one price.

    The reading holds a rank window around every quantile (`Opened.windows`, in the order of ``qs``) and the sum
    and number of rows below each, which is all that a recursive mechanism asks of the data. The profile bounds
    how far the farthest quantile moves.

    Args:
        qs: Increasing quantiles between 0 and 1.

    Example:
        >>> Quantiles("income", qs=(0.25, 0.5, 0.75), low=0, high=500_000).define([1, 2, 3, 4])
        (1, 2, 3)
    """

    name: ClassVar[str] = "quantiles"
    suits: ClassVar[tuple[str, ...]] = ("quantiles-interval", "recursive-quantiles")
    vector: ClassVar[bool] = True
    norm: ClassVar[float] = math.inf

    qs: tuple[Fraction | float, ...]
    bits: int = FINE_BITS

    def shows(self) -> tuple[Trait, ...]:
        """Several quantiles."""
        return (Trait.QUANTILES,)

    def check(self) -> None:
        """At least one, increasing."""
        Numeric.check(self)
        qs = tuple(checks.between(self.name, 0, 1, closed=True, q=q) for q in self.qs)
        if not qs or any(a >= b for a, b in pairwise(qs)):
            raise ParameterError(
                self.name, "qs must be increasing", got={"qs": self.qs}, hint="qs=(0.25, 0.5, 0.75)"
            )
        object.__setattr__(self, "qs", qs)

    @property
    def parts(self) -> tuple[Quantile, ...]:
        """The single quantiles."""
        return tuple(
            Quantile(
                self.column, q=q, low=self.low, high=self.high, step=self.step, missing=self.missing,
                bits=self.bits, neighbors=self.neighbors,
            )
            for q in self.qs
        )  # fmt: skip

    def request(self, *, depth: int = DEPTH) -> Request:
        """One window around every quantile."""
        windows = tuple(Window(part.ranks()[0], depth + 3) for part in self.parts)
        return Request(self.column, self.grid, windows, depth=depth)

    def define(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Each quantile by itself."""
        return tuple(int(part.define(rows)) for part in self.parts)

    def open(self, summary: Summary) -> Opened:
        """The windows, and the largest of the single profiles."""
        depth, top, n = summary.request.depth, self.grid.last, summary.rows
        if n == 0:
            profile = Profile.constant(top)
            return Opened((0,) * len(self.qs), self.units, profile, None, 0, summary.runs)
        value = tuple(
            int(codes_between(summary.runs, rank, rank)[0])
            for rank in (part.weights(n).pieces[0][0] for part in self.parts)
        )
        opened = [part.open(summary) for part in self.parts]
        last = max(one.profile.distance[-1] for one in opened)
        bounds = [max(one.profile.at(k) for one in opened) for k in range(min(last, depth) + 1)]
        return Opened(value, self.units, Profile.dense(bounds, top), None, n, summary.runs)

    @property
    def exact(self) -> tuple[str, ...]:
        """The largest of exact profiles is exact."""
        return ("profile",) if self.neighbors is Neighbors.REPLACE_ONE else ()

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Three quantiles over four points, both relations."""
        rows = tuple((x,) for x in (0, 1, 3, 5))
        for relation in cls.relations:
            qs = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
            yield Case(cls("x", qs=qs, low=0, high=5, step=1, neighbors=relation), rows, (1, 2, 3, 4))
