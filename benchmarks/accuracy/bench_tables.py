"""A real contingency table: margins that add up exactly beside plain noise on every margin; hierarchies; sparse cells.

Region x sex x age of the persons of the American Community Survey (`SORDINO_DATA` names the folder of the data).
"""

import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.lattice import Lattice
from sordino.mechanisms.table import level_split
from sordino.mechanisms.table.high_pass import HighPass
from sordino.mechanisms.table.margins import Margins
from sordino.planner.tables import plain_deviation
from sordino.privacy import Concentrated, Pure
from sordino.statistics.count_tree import CountTree
from sordino.statistics.crosstab import Crosstab
from sordino.statistics.sparse_table import SparseTable

DATA = Path(os.environ.get("SORDINO_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
DRAWS = 5


def persons():
    """Region, sex and age; generated ones where the survey is not there."""
    path = DATA / "incomes" / "acs2024_wa_persons.parquet"
    if path.exists():
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path, columns=["puma", "sex", "age"])
        return {name: table[name].to_numpy().astype(np.int64) for name in ("puma", "sex", "age")}
    random = np.random.default_rng(1)
    rows = 80_000
    ages = np.clip(random.normal(40, 22, rows), 0, 93).astype(np.int64)
    return {"puma": random.zipf(1.5, rows) % 61, "sex": random.integers(1, 3, rows), "age": ages}


def asked(table, price, negative):
    """The table in both forms, whose levels stand for a public list."""
    levels = (np.unique(table["puma"]).tolist(), [1, 2], list(range(94)))
    statistic = Crosstab(("puma", "sex", "age"), levels=levels, negative=negative, neighbors="add-remove-one")
    return statistic, next(iter(Margins.offers(statistic, price, Hints())))


def margins(table):
    """Root mean square errors by margin, and whether all sums are exact."""
    source = Memory(table)
    for price in (
        Concentrated(Fraction(1, 200)),
        Concentrated(Fraction(1, 20)),
        Concentrated(Fraction(1, 2)),
        Pure(1),
    ):
        for negative in ("kept", "projected"):
            statistic, made = asked(table, price, negative)
            truth = np.array(statistic.open(source.summary(statistic.request())[0]).value)
            bits, errors, exact = SeededBits(1), [], True
            for _ in range(DRAWS if negative == "kept" else 2):
                answer = made.answer(statistic, lambda ask: source.summary(ask)[0], Lattice(), bits=bits)
                errors.append(np.array(answer.value) - truth)
                exact = exact and adds_up(statistic, answer.value)
            gaps, start, found = np.array(errors), 0, []
            for axes in statistic.axes:
                size = math.prod(statistic.sizes[axis] for axis in axes)
                found.append(float(np.sqrt((gaps[:, start : start + size] ** 2).mean())))
                start += size
            plain = plain_deviation(statistic, price)
            total = float(np.sqrt(np.mean(np.square(found))))
            yield (repr(price), negative, "yes" if exact else "no", *found, total, plain, total / plain)


def adds_up(statistic, values):
    """Whether every margin is the exact sum of the cells, as doubles."""
    cells = np.array(values[-math.prod(statistic.sizes) :]).reshape(statistic.sizes)
    start = 0
    for axes in statistic.axes:
        others = tuple(axis for axis in range(3) if axis not in axes)
        own = np.asarray(cells.sum(axis=others)).reshape(-1)
        if not np.array_equal(own, np.array(values[start : start + own.size])):
            return False
        start += own.size
    return True


def sparse(table):
    """Error of the whole table when small noisy counts are left out."""
    source = Memory(table)
    levels = (np.unique(table["puma"]).tolist(), [1, 2], list(range(94)))
    for epsilon in ("0.1", "1", "3"):
        for false in (None, 1.0):
            statistic = SparseTable(
                ("puma", "sex", "age"), levels=levels, false_cells=false, neighbors="add-remove-one"
            )
            truth = np.array(statistic.open(source.summary(statistic.request())[0]).value, float)
            answer = HighPass(price=Pure(Fraction(epsilon))).answer(
                statistic, lambda ask: source.summary(ask)[0], Lattice(), bits=SeededBits(2)
            )
            places = {statistic.named(cell): cell for cell in range(statistic.cells)}
            shown = np.zeros(statistic.cells)
            for key, value in zip(answer.public["keys"], answer.value, strict=True):
                shown[places[key]] = float(value)
            raw = math.sqrt(statistic.cells * 0.5 / math.sinh(float(epsilon) / 2) ** 2)
            threshold = answer.public["threshold"]
            yield (
                epsilon,
                "one false cell" if false else "least risk",
                threshold,
                float(np.linalg.norm(shown - truth)),
                raw,
            )


def trees():
    """Hierarchies with equal and with unequal numbers of children; none of them is of real data."""
    random = np.random.default_rng(1)

    def grown(*ranges):
        children, many = [], 1
        for low, high in ranges:
            children.append(tuple(random.integers(low, high + 1, many).tolist()))
            many = sum(children[-1])
        return CountTree(1, tuple(children))

    yield "1, 10, 100", CountTree(1, ((10,), (10,) * 10))
    for ranges in (((12, 12), (1, 14)), ((4, 4), (1, 8), (1, 12)), ((50, 50), (1, 40), (1, 3))):
        tree = grown(*ranges)
        shape = ", ".join(f"{low} to {high}" if low < high else str(low) for low, high in ranges)
        yield f"{', '.join(map(str, tree.sizes))} ({shape} children)", tree


def hierarchies():
    """Root mean square error over levels: noise on each count, least squares, the best parts of the price."""
    for name, tree in trees():
        many = len(tree.sizes)
        for gaussian, budget in ((True, Fraction(1)), (False, Fraction(1))):
            parts = level_split.split(tree, (1.0,) * many, budget, ((1,) * many,), gaussian=gaussian)
            even = (budget / many,) * many
            plain = math.sqrt(level_split.noise_of(even, gaussian=gaussian)[0])
            roots = [
                math.sqrt(
                    np.mean(
                        [one.mean() for one in tree.variances(level_split.noise_of(each, gaussian=gaussian))]
                    )
                )
                for each in (even, parts)
            ]
            yield name, "rho 0.5" if gaussian else "epsilon 1", plain, *roots, roots[1] / plain


def tables():
    """For the runner."""
    columns = ("levels", "price", "each count", "least squares", "best parts", "ratio")
    yield "Hierarchies, root mean square error over levels", columns, list(hierarchies())
    table = persons()
    parts = ("total", "area", "sex", "age", "area sex", "area age", "sex age", "cells")
    names = ("price", "negative", "adds up", *parts, "all", "plain", "ratio")
    yield "Root mean square error by margin, persons by area, sex and age", names, list(margins(table))
    columns = ("epsilon", "threshold by", "threshold", "L2 error", "of the raw table")
    yield "The same table as a list of cells", columns, list(sparse(table))
