"""Random cells on which true statements about a column are tried: what each does to the exact error of the default.

A spread may be three times too large or too small, a centre one spread off, a number of rows twice or half of the true
one where it is private, narrower bounds still hold every row.
"""

import math
from fractions import Fraction

import numpy as np

from sordino.data.memory import Memory
from sordino.mechanisms.choose import choose, output_grid
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.statistics.maximum import Maximum
from sordino.statistics.mean import Mean
from sordino.statistics.minimum import Minimum
from sordino.statistics.quantile import Quantile
from sordino.statistics.standard_deviation import StandardDeviation
from sordino.statistics.sum import Sum
from sordino.statistics.variance import Variance
from tests.support.mean_shapes import shapes, widened

ASKED = {
    "mean": (Mean, {}, lambda rows, _: float(rows.mean())),
    "sum": (Sum, {}, lambda rows, _: float(rows.sum())),
    "variance": (Variance, {}, lambda rows, _: float(rows.var())),
    "deviation": (StandardDeviation, {}, lambda rows, _: float(rows.std())),
    "q10": (Quantile, {"q": 0.1}, None),
    "median": (Quantile, {"q": 0.5}, None),
    "q90": (Quantile, {"q": 0.9}, None),
    "q99": (Quantile, {"q": 0.99}, None),
    "minimum": (Minimum, {}, None),
    "maximum": (Maximum, {}, None),
}
SYMMETRIC = ("normal", "uniform", "two bumps", "constant")
WIDER = ("fit", "x10", "x1000", "x1e6", "off centre")
NEGLIGIBLE = 1e-7  # of the range: errors below it are not told apart


def exact_error(asked, column, low, high, price, neighbors, *, step=None, **told):
    """Exact RMSE of the default, given what is told."""
    kind, options, truth = ASKED[asked]
    statistic = kind("x", low=low, high=high, step=step, neighbors=neighbors, **options)
    mechanism = choose(statistic, price, **told)
    source = Memory({"x": column})
    if truth is None:
        codes = [int(code) for code in statistic.grid.codes(column)]
        right = statistic.grid.endless.real(statistic.define(codes))
    else:
        right = Fraction(truth(column, statistic))
    laws = mechanism.error_laws(
        statistic, lambda request: source.summary(request)[0], output_grid(statistic), right
    )
    assert laws is not None, (asked, mechanism)
    return math.sqrt(laws[0].mean_square)


def fills(rows, low, high):
    """Whether the bounds fit: rows come near both of them, and no quarter of the range holds nearly all rows."""
    slack = (high - low) / 10
    near = np.sort(rows)
    most = math.ceil(0.95 * len(rows))
    shortest = (near[most - 1 :] - near[: len(near) - most + 1]).min()
    return near[0] <= low + slack and near[-1] >= high - slack and shortest > (high - low) / 4


def statements(random, name, rows, wider, bounds, relation):
    """What may be told of a column: the name of a statement, the bounds it leaves, and the options."""
    low, high = bounds
    spread = float(rows.std()) or 1.0
    guess = {"spread": spread * 3 ** random.uniform(-1, 1)}
    centre = {"centre": float(rows.mean() + spread * random.uniform(-1, 1))}
    yield "spread", bounds, guess
    yield "centre", bounds, centre
    yield "both", bounds, guess | centre
    yield "occupied", bounds, {"occupied": float(np.mean(rows != np.median(rows)))}
    if name in SYMMETRIC and wider != "fit":
        yield "symmetric", bounds, {"symmetric": True}
    if fills(rows, low, high):
        yield "tight", bounds, {"tight": True}
    if wider != "fit":
        fitting = widened("fit", rows)
        narrow = tuple(
            near + (far - near) * 10 ** -random.uniform(0, 1 + math.log10(1 + abs(far - near) / spread))
            for far, near in zip(bounds, fitting, strict=True)
        )
        yield "narrower", narrow, {}
    if (rows == np.rint(rows)).all():
        yield "step", bounds, {"step": 1}


def cells(count, seed, asked=None, told=None):
    """What each true statement does to the error, on random columns, bounds, prices and relations."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        size, epsilon = int(random.choice([51, 201, 501, 1001, 4001])), float(random.choice([0.1, 0.3, 1, 3]))
        price = Pure(epsilon) if random.random() < 0.8 else Concentrated(epsilon**2 / 2)
        relation = Neighbors.REPLACE_ONE if random.random() < 0.7 else Neighbors.ADD_REMOVE_ONE
        what = str(random.choice(list(ASKED) if asked is None else asked))
        name, rows = list(shapes(size, random))[int(random.integers(len(list(shapes(3, random)))))]
        wider = str(random.choice(WIDER))
        bounds = widened(wider, rows)
        if (rows == np.rint(rows)).all():
            bounds = math.floor(bounds[0]), math.ceil(bounds[1])
        own = {"rows": size}
        without = exact_error(what, rows, *bounds, price, relation, **own)
        floor = NEGLIGIBLE * (bounds[1] - bounds[0])
        pairs = [
            (statement, exact_error(what, rows, *to, price, relation, **own, **facts), without)
            for statement, to, facts in statements(random, name, rows, wider, bounds, relation)
            if told is None or statement in told
        ]
        if relation is Neighbors.ADD_REMOVE_ONE and (told is None or "rows" in told):
            rough = max(round(size * 2 ** random.uniform(-1, 1)), 1)
            untold = exact_error(what, rows, *bounds, price, relation)
            pairs.append(("rows", exact_error(what, rows, *bounds, price, relation, rows=rough), untold))
        for statement, error, reference in pairs:
            ratio = max(error, floor) / max(reference, floor)
            yield ratio, (statement, what, name, wider, size, price, relation.value)
