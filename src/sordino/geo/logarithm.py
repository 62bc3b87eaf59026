"""Ratios as distances: a number that is twice as large is one doubling away (Liang and Yi 2024, footnote 3).

Incomes, sizes and times are often compared so. The logarithm is taken on the device, and everything that is asked of
numbers on a line is asked of doublings: thresholds, ranges, functions, reports of the point itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.geo.reference import Reference, decimal

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: Pays for the last digits of logarithms on any platform, relative to distances of at least `per`.
_ALLOWANCE = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Logarithmic(Reference):
    """Positive numbers, told apart by their ratios between two public ends.

    Args:
        least: Smaller numbers, zero and negative ones count as this one.
        most: Larger numbers count as this one.
        base: Two numbers of this ratio are a distance of one apart.

    Example:
        >>> incomes = Logarithmic(least=1_000, most=1_024_000)
        >>> incomes.to_metres([1_000, 2_000, 0, 8_000]).tolist()
        [9.965784284662087, 10.965784284662087, 9.965784284662087, 12.965784284662087]
        >>> from sordino.geo import Threshold, survey
        >>> from sordino.privacy import Geo
        >>> rich = Threshold(at=incomes.coordinate(100_000), width=1.0)   # the slope is one doubling wide
        >>> found = survey([20_000.0, 500_000.0] * 500, rich, Geo(1, per=1), reference=incomes)
        >>> abs(found.value - 0.5) < 6 * found.standard_error
        True
    """

    kind: ClassVar[str] = "logarithm"
    unit: ClassVar[str] = "ratio"
    least: float
    most: float
    base: float = 2.0

    def __post_init__(self) -> None:
        for name in ("least", "most"):
            number = float(checks.positive("reference", **{name: getattr(self, name)}))
            object.__setattr__(self, name, number)
        object.__setattr__(self, "base", float(checks.greater_than("reference", 1, base=self.base)))
        if self.least >= self.most:
            raise ParameterError(
                "reference", "most must be greater than least", got={"least": self.least, "most": self.most}
            )

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    @property
    def stretch(self) -> Fraction:
        """One, and an allowance for the last digits of logarithms."""
        return 1 + _ALLOWANCE

    def coordinate(self, number: float) -> float:
        """Where a public number lies: its logarithm."""
        return float(np.log(float(checks.positive("reference", number=number))) / np.log(self.base))

    def to_metres(self, numbers: ArrayLike) -> Floats:
        """Logarithms of numbers, cut to the ends: private if the numbers are. NaN counts as the least one."""
        at = np.asarray(numbers, dtype=np.float64)
        cut: Floats = np.fmin(np.fmax(at, self.least), self.most)
        return np.log(cut) / np.log(self.base)

    def box(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The logarithms of the ends."""
        return (self.coordinate(self.least),), (self.coordinate(self.most),)

    def to_dict(self) -> dict[str, Any]:
        """Give the record that stands in heads."""
        return {
            "kind": self.kind,
            "least": decimal(self.least),
            "most": decimal(self.most),
            "base": decimal(self.base),
        }
