"""The population standard deviation of a column between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, ClassVar

from sordino.lattice import Lattice
from sordino.reading.profile import Exact, Opened, Profile, Reach
from sordino.reading.traits import Trait
from sordino.statistics import NESTED
from sordino.statistics.variance import Variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.reading.requests import Summary

_FINE = 16
"""Binary places of the root beyond the step of the rows."""


def rounded_root(value: Exact) -> int:
    """The largest r with ``r^2 <= value 4^16``: the root in steps of 2^-16, rounded down, in exact integers.

    Example:
        >>> rounded_root(4) / 2**16, rounded_root(2) / 2**16
        (2.0, 1.414199829101562...)
    """
    scaled = Fraction(value) * 4**_FINE
    return isqrt(scaled.numerator // scaled.denominator)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardDeviation(Variance):
    """The root of the variance, on a lattice 2^16 times finer than that of the rows.

    Example:
        >>> spread = StandardDeviation("income", low=0, high=500_000)
        >>> float(spread.units.step) * spread.define([0, 4096])
        0.5
    """

    name: ClassVar[str] = "standard-deviation"
    suits: ClassVar[tuple[str, ...]] = ("plain-or-cut-squares", *NESTED)
    root: ClassVar[bool] = True

    def shows(self) -> tuple[Trait, ...]:
        """The standard deviation of the column."""
        return Trait.REACH, Trait.RANGE, Trait.DEVIATION

    @property
    def units(self) -> Lattice:
        """Steps of the rows divided by 2^16."""
        return Lattice(Fraction(0), self.grid.step / 2**_FINE)

    def define(self, rows: Sequence[int]) -> int:
        """Root of the variance."""
        return rounded_root(Variance.define(self, rows))

    def open(self, summary: Summary) -> Opened:
        """A root is monotone: take it of both envelopes; the profile follows from the reach."""
        inner = Variance.open(self, summary)
        assert inner.reach is not None
        widest = rounded_root(Fraction(self.grid.last**2, 4))
        reach = Reach.dense(
            [rounded_root(value) for value in inner.reach.low],
            [rounded_root(value) for value in inner.reach.high],
            bottom=0,
            top=widest,
        )
        profile = Profile.from_reach(reach, widest)
        return Opened(rounded_root(inner.value), self.units, profile, reach, inner.rows, bottom=0, top=widest)
