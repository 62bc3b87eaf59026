"""What is asked: one cell is a query of a column with so many rows at a price, under one relation.

Truths are those of the sample, so the errors are the price of privacy alone.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.columns import COLUMNS, REAL, ROWS, TIES, draw, magnitude, real
from benchmarks.peers.libraries import QUANTILES, QUERIES

EPSILONS = (1, 0.1)
REAL_ROWS = 5001
REAL_QUERIES = ("median", "q90", "q99", "mean", "variance")


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One question without a library."""

    table: str
    query: str
    column: str
    rows: int
    epsilon: float

    def name(self, library, variant, relation):
        """The key of a library's answers to it."""
        return "|".join(
            map(
                str,
                (library, variant, relation, self.table, self.query, self.column, self.rows, self.epsilon),
            )
        )

    @property
    def public(self):
        """What everybody may know of the column."""
        return (COLUMNS | TIES | REAL)[self.column]

    def values(self):
        """The rows, or None where a real column is not at hand."""
        return real(self.column, self.rows) if self.table == "real" else draw(self.column, self.rows)

    def task(self, identifier, path, variant, relation, repeats, seconds):
        """The question as an adapter reads it."""
        known = self.public
        low, high = known.hinted() if variant == "hinted" else (known.low, known.high)
        task = {
            "id": identifier, "variant": variant, "relation": relation, "query": self.query, "column": str(path),
            "low": low, "high": high, "threshold": known.threshold, "centre": known.centre,
            "spread": known.spread, "epsilon": self.epsilon, "magnitude": magnitude(self.rows),
            "repeats": repeats, "seconds": seconds,
        }  # fmt: skip
        if self.query in QUANTILES:
            task["q"] = QUANTILES[self.query]
        if self.table == "ties":
            task["step"] = known.step
            task["candidates"] = 1001
        return task


def truth(query, values, threshold):
    """The statistic of the sample; the variance is the unbiased one."""
    if query in QUANTILES:
        return float(np.quantile(values, QUANTILES[query], method="inverted_cdf"))
    if query in ("mean", "mean_auto"):
        return float(np.mean(values))
    if query == "variance":
        return float(np.var(values, ddof=1))
    return float(np.count_nonzero(values > threshold))


def cells(scale="full"):
    """All questions; `smoke` keeps two columns, one size and one price."""
    if scale == "smoke":
        return [Cell("main", query, column, 201, 1) for query in QUERIES for column in ("gauss", "unif")]
    main = [
        Cell("main", query, column, rows, epsilon)
        for rows in ROWS
        for column in COLUMNS
        for epsilon in EPSILONS
        for query in QUERIES
    ]
    ties = [Cell("ties", "median", column, 1001, epsilon) for column in TIES for epsilon in (0.1, 1, 10)]
    found = [Cell("real", query, column, REAL_ROWS, 1) for column in REAL for query in REAL_QUERIES]
    return main + ties + found
