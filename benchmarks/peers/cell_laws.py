"""Which law answers a cell: by library, variant and query. The laws themselves are elsewhere.

Every law was written down from the library's source or documentation and checked against its draws; what has none is
simulated.
"""

import math

import numpy as np

from benchmarks.peers import laws, tumult_laws
from benchmarks.peers.libraries import QUANTILES
from benchmarks.peers.moment_laws import geometric, laplace, quotient, rounded

FINE, COARSE = 10_001, 1001  # OpenDP's candidates, as its adapter has them
KNOWN = {
    "opendp": (*QUANTILES, "mean", "count"),
    "diffprivlib": (*QUANTILES, "mean", "count"),
    "tmlt": (*QUANTILES, "mean", "mean_auto", "variance", "count"),
    "pydp": ("mean", "count"),
    "pipelinedp": ("mean", "count"),
    "smartnoise": ("count",),
}


def known(library, cell):
    """Whether a library's answer to a cell has a law here."""
    return cell.query in KNOWN.get(library, ())


def candidates(cell):
    """The points among which OpenDP chooses."""
    coarse = cell.query in ("min", "max") or cell.table == "ties"
    return np.linspace(cell.public.low, cell.public.high, COARSE if coarse else FINE)


def of_cell(library, variant, cell, values, *, bounds=None):
    """The law of a library's answer, or None where it has to be simulated.

    Args:
        library: Which library.
        variant: In which way it is asked; `half` is half of epsilon, `tree` has no law.
        cell: The question.
        values: The rows.
        bounds: Bounds in the place of the declared ones.
    """
    if not known(library, cell) or variant == "tree":
        return None
    low, high = bounds or (cell.public.low, cell.public.high)
    epsilon = cell.epsilon / 2 if variant == "half" else cell.epsilon
    if cell.query == "count":
        return _count(library, int(np.count_nonzero(values > cell.public.threshold)), len(values), epsilon)
    if cell.query in QUANTILES:
        q = QUANTILES[cell.query]
        if library == "opendp":
            points = candidates(cell)
            return laws.opendp(values, np.linspace(low, high, len(points)), q, epsilon)
        return (laws.diffprivlib if library == "diffprivlib" else laws.tmlt)(values, low, high, q, epsilon)
    if cell.query == "variance":
        return tumult_laws.variance(values, low, high, epsilon)
    if cell.query == "mean_auto":
        return tumult_laws.automatic_average(values, low, high, epsilon)
    return _mean(library, np.clip(values, low, high), low, high, epsilon)


def _mean(library, rows, low, high, epsilon):
    """With a public number of rows plain noise; with a private one a quotient, which PyDP alone cuts to the bounds."""
    cut = (low, high) if library in ("diffprivlib", "pydp") else (-math.inf, math.inf)
    if library in ("opendp", "diffprivlib"):
        return laplace(rows.mean(), (high - low) / len(rows) / epsilon, *cut)
    if library == "tmlt":
        return tumult_laws.average(rows, low, high, epsilon)
    middle = (low + high) / 2
    return quotient(
        float(np.sum(rows - middle)), len(rows), middle,
        sum_scale=(high - low) / epsilon, count_scale=2 / epsilon, low=cut[0], high=cut[1],
    )  # fmt: skip


def _count(library, count, rows, epsilon):
    """Geometric noise, or Laplace noise that is rounded (PyDP), rounded down (SmartNoise) or left as it is."""
    if library == "pipelinedp":
        return laplace(count, 1 / epsilon)
    if library in ("pydp", "smartnoise"):
        return rounded(count, epsilon, down=library == "smartnoise")
    return geometric(count, epsilon, *((0, rows) if library == "diffprivlib" else ()))
