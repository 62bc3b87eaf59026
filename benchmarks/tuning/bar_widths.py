"""How wide the bar of a median is, by the exact laws of the answer, of the worth of a rank and of the rung.

The half width is held against e95, the error that 95 of 100 plain answers at the whole price stay below, both over
fresh columns of a shape: its middle, its mean, and what 90 of 100 stay below; and the error of the answer beside the
bar over that of the plain one.
"""

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import sordino as sd
from sordino.data.memory import Memory
from sordino.hints import Hints
from sordino.mechanisms.choose import choose
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.quantile.ladder import rung_chances
from sordino.mechanisms.quantile.quantile_interval import QuantileInterval

Shape = tuple[float, float, Callable[[Any, int], Any]]
SHAPES: dict[str, Shape] = {  # the constants were chosen on these
    "normal": (-50, 1050, lambda random, rows: random.normal(1, 1, rows)),
    "log-normal": (0, 5e6, lambda random, rows: random.lognormal(10.8, 0.9, rows)),
    "uniform": (0, 1, lambda random, rows: random.random(rows)),
}
OTHERS: dict[str, Shape] = {  # and not on these
    "exponential": (0, 1e4, lambda random, rows: random.exponential(30, rows)),
    "Student t": (-1e5, 1e5, lambda random, rows: 100 + 20 * random.standard_t(4, rows)),
    "beta": (0, 1, lambda random, rows: random.beta(2, 5, rows)),
    "Weibull": (0, 1e6, lambda random, rows: 1000 * random.weibull(1.5, rows)),
}
SETTINGS = ((1001, 1), (1001, 3), (10_001, 0.1), (10_001, 1), (100_000, 0.1), (100_000, 0.4))
COLUMNS = ("shape", "rows", "epsilon", "relation", "middle", "mean", "90 %", "answer over plain")


def halves(
    mechanism: Any, statistic: Any, column: Any, law: Any, answers: int
) -> Iterator[tuple[float, float]]:
    """Half widths and their chances, at so many quantiles of the answer."""
    plan, lattice = mechanism.plan(statistic, 1), mechanism.lattice
    for place in range(answers):
        low, high = 0, lattice.last
        while low < high:
            middle = (low + high) // 2
            if law.cdf(lattice.real(middle)) >= (place + 0.5) / answers:
                high = middle
            else:
                low = middle + 1
        radii: list[tuple[Any, float]] = [(None, 1.0)]
        if plan.mass is not None:
            found = rung_chances(mechanism.radius_short(column, low, plan), flip=mechanism.price.pointwise)
            radii = [
                (radius, chance)
                for radius, chance in zip(mechanism.radii, found, strict=True)
                if chance > 0.005
            ]
        total = sum(chance for _, chance in radii) * answers
        for radius, likely in radii:
            rungs = mechanism.rungs(plan, low, radius)
            spare = mechanism.spare(statistic, column, rungs)
            for rung, chance in enumerate(plan.choice.chances(spare, plan.target)):
                first, last = rungs.ends(rung)
                yield (last - first) / 2 * float(lattice.step), chance * likely / total


def widths(
    shape: Shape,
    rows: int,
    epsilon: float,
    neighbors: Any,
    *,
    columns: int = 6,
    answers: int = 10,
    salt: int = 0,
    each: bool = False,
) -> tuple[float, float, float, float]:
    """Middle, mean and 90 % of the half width over e95, and the error of the answer over that of a plain one.

    With `each` they are held against the e95 of the very column and averaged over columns: a column that happens to be
    dense near its median then counts more than it should where e95 is a few rows.
    """
    low, high, draw = shape
    statistic = sd.Median("x", low=low, high=high, neighbors=neighbors)
    price = sd.Pure(epsilon)
    (mechanism,) = QuantileInterval.offers(statistic, price, Hints(interval=sd.Sample(0.95), rows=rows))
    plain, beside, found = [], [], []
    for seed in range(columns):
        data = draw(np.random.default_rng([seed, rows, int(100 * epsilon), salt]), rows)
        source = Memory({"x": data})
        known = (statistic, lambda request, source=source: source.summary(request)[0], None)
        truth = Fraction(float(np.sort(data)[(rows + 1) // 2 - 1]))
        plain += choose(statistic, price, rows=rows).error_laws(*known, truth)
        beside += mechanism.point.error_laws(*known, truth)
        units = statistic.grid.endless
        codes = np.rint((data - float(units.origin)) / float(units.step)).clip(0, statistic.grid.last)
        column = SortedColumn(codes.astype(np.int64), statistic.grid)
        found.append(list(halves(mechanism, statistic, column, beside[-1].law, answers)))
    if each:
        alone = [_summed([one], part, float(high - low)) for one, part in zip(plain, found, strict=True)]
        figures = np.mean(alone, axis=0).tolist()
    else:
        figures = _summed(plain, [half for part in found for half in part], float(high - low))
    error = math.sqrt(sum(law.mean_square for law in beside) / sum(law.mean_square for law in plain))
    return (*figures, error)


def _summed(plain: list[Any], found: list[tuple[float, float]], widest: float) -> tuple[float, float, float]:
    """Middle, mean and 90 % of half widths over the error that 95 of 100 plain answers stay below."""
    under, over = 0.0, widest
    for _ in range(50):
        middle = (under + over) / 2
        under, over = (
            (under, middle) if np.mean([law.within(middle) for law in plain]) >= 0.95 else (middle, over)
        )
    half, chance = (np.array(part) for part in zip(*sorted(found), strict=True))
    reached = np.cumsum(chance) / chance.sum()
    center, upper = (half[np.searchsorted(reached, level)] / over for level in (0.5, 0.9))
    return center, float((half * chance).sum() / chance.sum()) / over, upper


def rows_of(shapes: dict[str, Shape], *, each: bool = False, columns: int = 6) -> Iterator[tuple[Any, ...]]:
    """One row for each shape, number of rows, price and relation, and the mean of them all."""
    every = []
    for name, shape in shapes.items():
        for rows, epsilon in SETTINGS:
            for neighbors in (sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE):
                found = widths(
                    shape, rows, epsilon, neighbors, salt=1 + len(every), each=each, columns=columns
                )
                every.append(found)
                yield name, rows, epsilon, neighbors.value, *every[-1]
    yield "all", "", "", "", *np.mean(every, axis=0).tolist()
