"""What is asked: one cell is a query of a column, within bounds of one regime, with so many rows, at a price.

Truths are those of the sample, so the errors are the price of privacy alone.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.peers.columns import COLUMNS, REAL, REGIMES, ROWS, draw, magnitude, real, rough_hint
from benchmarks.peers.libraries import QUANTILES, QUERIES

EPSILONS = (1, 0.1)
REAL_ROWS = ROWS[-1]


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One question without a library; `regime` says how much too wide the bounds are."""

    regime: str
    query: str
    column: str
    rows: int
    epsilon: float

    def name(self, library, variant, relation):
        """The key of a library's answers to it."""
        words = (library, variant, relation, self.regime, self.query, self.column, self.rows, self.epsilon)
        return "|".join(map(str, words))

    @property
    def public(self):
        """What everybody may know of the column."""
        return (COLUMNS | REAL)[self.column].in_regime(self.regime)

    @property
    def statistic(self):
        """What is asked in the end: a mean that looks for its bounds is a mean."""
        return "mean" if self.query == "mean_auto" else self.query

    def values(self):
        """The rows, or None where a real column is not at hand."""
        return (real if self.column in REAL else draw)(self.column, self.rows)

    def task(self, identifier, path, variant, relation, repeats, seconds):
        """The question as an adapter reads it."""
        known = self.public
        task = {
            "id": identifier, "variant": variant, "relation": relation, "query": self.query, "column": str(path),
            "low": known.low, "high": known.high, "threshold": known.threshold, "epsilon": self.epsilon,
            "magnitude": magnitude(self.rows), "repeats": repeats, "seconds": seconds,
        }  # fmt: skip
        if variant == "rough":
            task["centre"], task["spread"] = rough_hint(self.column)
        if self.query in QUANTILES:
            task["q"] = QUANTILES[self.query]
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


def useful(query, values):
    """An error beyond this tells nothing: the column's spread, or the variance itself; a count always tells."""
    if query == "count":
        return float("inf")
    return float(np.var(values, ddof=1)) ** (1 if query == "variance" else 0.5)


def cells(scale="full"):
    """All questions; `smoke` keeps two columns, one size and one price. A count does not depend on the bounds."""
    if scale == "smoke":
        return [Cell("fit", query, column, 201, 1) for query in QUERIES for column in ("gauss", "uniform")]
    sizes = [(column, rows) for column in COLUMNS for rows in ROWS] + [(name, REAL_ROWS) for name in REAL]
    return [
        Cell(regime, query, column, rows, epsilon)
        for column, rows in sizes
        for regime in REGIMES
        for epsilon in EPSILONS
        for query in QUERIES
        if query != "count" or regime == "fit"
    ]
