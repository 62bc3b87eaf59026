"""Move tuned constants one by one, both ways, and see what becomes of the error on generated shapes.

A cell is a statistic, a generated column and a price. Its error is the plan's, by the exact law of the answer wherever
there is one, on the same column before and after: what differs is the constant. Below 1 the moved constant would have
been better there.
"""

import functools
import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import sordino as sd

COLUMNS = ("constant", "value", "geometric mean", "worst", "best", "worst cell")


@dataclass(frozen=True)
class Cell:
    """One question about one generated column."""

    name: str
    statistic: Any
    price: Any
    column: Any
    hints: tuple[tuple[str, Any], ...] = ()

    def error(self) -> float:
        """Root mean squared error of what a release would take."""
        found = sd.plan(
            self.statistic, self.price, assume=list(map(float, self.column)), tables=1, draws=40, only_default=True,
            **dict(self.hints),
        )  # fmt: skip
        return float(found.default.rms)


def shapes(rows: int, seed: int = 7) -> dict[str, Any]:
    """Generated columns between 0 and about 100: bell, skewed, zeros, heaps, top codes, two clusters, far from zero."""
    random = np.random.default_rng([seed, rows])
    bell = np.clip(random.normal(40, 12, rows), 0, 100)
    skewed = np.clip(random.lognormal(2.5, 0.8, rows), 0, 100)
    return {
        "bell": bell,
        "skewed": skewed,
        "zeros": np.where(random.random(rows) < 0.6, 0.0, skewed),
        "heaped": np.where(random.random(rows) < 0.5, 5 * np.rint(skewed / 5), skewed),
        "top-coded": np.minimum(skewed * 3, 100),
        "two clusters": np.where(
            random.random(rows) < 0.6, random.normal(20, 2, rows), random.normal(80, 2, rows)
        ),
        "far": random.normal(95, 0.5, rows),
    }


def bounded(kinds: tuple[type, ...], highs: tuple[int, ...]) -> Iterator[Cell]:
    """Statistics of bounded columns: every shape at two sizes, within each of the bounds."""
    for rows, epsilon in ((201, 1), (1001, 0.3)):
        for name, column in shapes(rows).items():
            for kind, high in product(kinds, highs):
                asked = f"{kind.name} of {name} high={high} n={rows}"
                yield Cell(asked, kind("x", low=0, high=high), sd.Pure(epsilon), column)


def moved(value: Any) -> list[Any]:
    """A constant, smaller and larger."""
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | tuple):
        return []
    if isinstance(value, tuple):
        less, more = tuple(v[0] for v in map(moved, value)), tuple(v[-1] for v in map(moved, value))
        return [less, more]
    if isinstance(value, int):
        return sorted({value // 2, value * 2} - {value}) if abs(value) > 3 else [value - 1, value + 1]
    return [value * 3 / 4, value * 5 / 4]


@contextmanager
def set_to(group: type, name: str, value: Any) -> Iterator[None]:
    """A constant with another value, and no plan remembered from before."""
    shipped = getattr(group, name)
    try:
        setattr(group, name, value)
        forget()
        yield
    finally:
        setattr(group, name, shipped)
        forget()


def forget() -> None:
    """Empty every remembered result of the package."""
    frozen = gc.get_freeze_count()  # tests freeze what was imported, and frozen objects are not listed
    gc.unfreeze()
    things = gc.get_objects()
    if frozen:
        gc.freeze()
    for thing in things:
        # By the type itself: asking an instance would run code of whatever object happens to live.
        if type(thing) is functools._lru_cache_wrapper and str(thing.__module__).startswith("sordino"):
            thing.cache_clear()


def constants(group: type) -> dict[str, Any]:
    """The constants of a group by name."""
    return {name: value for name, value in vars(group).items() if name.isupper()}


def sweep(
    group: type, cells: list[Cell], only: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[Any, ...]]:
    """One row for every value that is tried."""
    shipped = [cell.error() for cell in cells]
    for name, value in constants(group).items():
        for other in moved(value) if only(name) else ():
            try:
                with set_to(group, name, other):
                    errors = [cell.error() for cell in cells]
            except (sd.SordinoError, ArithmeticError, AssertionError) as refused:
                yield name, _shown(other), "refused", "", "", type(refused).__name__
                continue
            ratios = [new / old if old > 0 else 1.0 for new, old in zip(errors, shipped, strict=True)]
            worst = int(np.argmax(ratios))
            middle = math.exp(sum(math.log(max(ratio, 1e-9)) for ratio in ratios) / len(ratios))
            yield name, _shown(other), middle, ratios[worst], min(ratios), cells[worst].name


def _shown(value: Any) -> str:
    return f"{float(value):g}" if isinstance(value, int | float | Fraction) else str(tuple(map(float, value)))
