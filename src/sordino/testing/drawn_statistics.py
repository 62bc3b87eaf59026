"""Statistics of the catalogue with parameters at random: bounds of any width and place, steps, ranks, shares, centres.

Parameters are known by the names of their fields, so that a new statistic whose fields have the usual names takes part.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.privacy import Neighbors
from sordino.statistics import Case

if TYPE_CHECKING:
    import numpy as np

WIDTHS = (1.0, 7.0, 100.0, 1000.0)
"""Widths of bounds that people write; others are drawn."""
PLACES = (0.0, 0.0, 0.0, -1.0, -0.5, -0.5, -0.125, 1.0, 100.0, -3.0, 1e8, -1e12)
"""Lower bounds, in widths: at zero, around it, far from it."""
RANKS = (0.0, 0.003, 0.05, 0.2, 0.37, 0.5, 0.63, 0.9, 0.99, 0.9995, 1.0)
"""Ranks near the ends and the middle; others are drawn."""
EXTREME = 0.03
"""How often a width, or an amount of a price, is far beyond what people write."""
COLUMNS = (2, 2, 3, 10)
"""How many columns several means have; from ten on their rows are pulled into a ball."""


def logarithmic(random: np.random.Generator, low: float, high: float) -> float:
    """A number between two others, evenly by magnitude."""
    return math.exp(random.uniform(math.log(low), math.log(high)))


def written(value: float) -> float:
    """Three digits: what a caller would write.

    Example:
        >>> written(0.0123456)
        0.0123
    """
    return float(f"{value:.3g}")


def ends(statistic: Any) -> tuple[float, float] | None:
    """The bounds of the one column of a statistic; None where it has others or none.

    Example:
        >>> from sordino.statistics.mean import Mean
        >>> ends(Mean("x", low=0, high=3))
        (0.0, 3.0)
    """
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    if not all(isinstance(end, int | float | Fraction) for end in (low, high)):
        return None
    return float(low), float(high)  # type: ignore[arg-type]


class StatisticDrawer:
    """Draws statistics like given ones.

    Args:
        random: Where they come from.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random

    def varied(self, case: Case) -> Case:
        """The world of a case with parameters of its own; it refuses some as a caller's would be refused."""
        statistic: Any = case.statistic
        fields = {field.name for field in dataclasses.fields(statistic) if field.init}
        if isinstance(getattr(statistic, "low", None), tuple) and "columns" in fields:
            return self._several(statistic)
        changed: dict[str, Any] = {}
        if {"low", "high", "step", "column"} <= fields:
            changed |= self._column(statistic, fields)
        if "q" in fields and statistic.name == "quantile":
            changed["q"] = self._rank()
        if {"q", "shift"} <= fields and self.random.random() < 0.2:
            changed["shift"] = int(self.random.integers(0, 4))
        if "trim" in fields:
            changed["trim"] = self._rank() * Fraction(49, 100)
        if "qs" in fields:
            changed["qs"] = tuple(sorted({self._rank() for _ in range(int(self.random.integers(1, 6)))}))
        if {"lower", "upper"} <= fields:
            changed |= dict(zip(("lower", "upper"), sorted((self._rank(), self._rank())), strict=True))
        if "false_cells" in fields:
            changed["false_cells"] = [None, 0.01, 0.5, 1.0][int(self.random.integers(4))]
        varied = dataclasses.replace(statistic, **changed) if changed else statistic
        return dataclasses.replace(case, statistic=varied)

    def _column(self, statistic: Any, fields: set[str]) -> dict[str, Any]:
        """Bounds, step and what lies within them."""
        random = self.random
        low, high, step = self.bounds()
        changed: dict[str, Any] = {"low": low, "high": high, "step": step}
        if "answer_low" in fields:
            inner = sorted(written(place) for place in low + (high - low) * random.random(2))
            changed |= {"answer_low": max(inner[0], low), "answer_high": min(inner[1], high)}
        if "centre" in fields:
            place = (0.0, 0.5, 1.0, random.random())[int(random.integers(4))]
            changed["centre"] = min(max(low + (high - low) * place, low), high)
        if "radii" in fields:
            changed["radii"] = tuple(
                (high - low) * 2.0**-level for level in range(int(random.integers(2, 6)), -1, -1)
            )
        if random.random() < 0.1 and statistic.neighbors is Neighbors.REPLACE_ONE:
            changed["missing"] = "drop"
        return changed

    def bounds(self) -> tuple[float, float, Fraction | None]:
        """Bounds of any width and place; with a declared step or without."""
        random = self.random
        width = WIDTHS[int(random.integers(len(WIDTHS)))]
        if random.random() < 0.5:
            width = written(logarithmic(random, 1e-3, 1e7))
        if random.random() < EXTREME:
            width = written(logarithmic(random, 1e-200, 1e200))
        low = width * PLACES[int(random.integers(len(PLACES)))]
        high = low + width
        exact, step = Fraction(high) - Fraction(low), None
        if random.random() < 0.4 and exact > 0:
            parts = (
                int(2 ** random.integers(0, 24)) if random.random() < 0.5 else int(random.integers(1, 2000))
            )
            step = exact / parts if random.random() < 0.7 else Fraction(str(written(width / parts)))
        return low, high, step

    def _several(self, statistic: Any) -> Case:
        """Means of several columns, each between bounds of its own."""
        many = COLUMNS[int(self.random.integers(len(COLUMNS)))]
        names = tuple(f"c{place}" for place in range(many))
        pairs = [self.bounds()[:2] for _ in names]
        lows, highs = (tuple(pair[side] for pair in pairs) for side in (0, 1))
        varied = dataclasses.replace(statistic, columns=names, low=lows, high=highs)
        rows = (lows, highs, tuple((low + high) / 2 for low, high in pairs))
        return Case(varied, rows, (1, 2), columns=names)

    def _rank(self) -> Fraction:
        """A rank or a share, as a caller would write it."""
        random = self.random
        rank = RANKS[int(random.integers(len(RANKS)))] if random.random() < 0.6 else random.random()
        return Fraction(str(written(rank)))
