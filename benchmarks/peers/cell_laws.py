"""Which law answers a cell: by library, variant and query. The laws themselves are elsewhere.

Every law was written down from the library's source or documentation and checked against its draws; what has none is
simulated.
"""

import math

import numpy as np

from benchmarks.peers import laws, search_laws, tumult_laws
from benchmarks.peers.libraries import QUANTILES
from benchmarks.peers.moment_laws import geometric, laplace, quotient, rounded

FINE, COARSE = 10_001, 1001  # OpenDP's candidates, as its adapter has them
TREE = {"pipelinedp": "pydp tree"}  # whose quantiles are another's answer: the same tree of the same library
KNOWN = {
    "opendp": (*QUANTILES, "mean", "mean_auto", "variance", "count"),
    "diffprivlib": (*QUANTILES, "mean", "mean_auto", "variance", "count"),
    "tmlt": (*QUANTILES, "mean", "mean_auto", "variance", "count"),
    "pydp": ("mean", "count"),
    "pipelinedp": ("mean", "count"),
    "smartnoise": ("count",),
}


VARIANCES = {
    "opendp": search_laws.opendp_variance,
    "diffprivlib": search_laws.diffprivlib_variance,
    "tmlt": tumult_laws.variance,
}


def known(library, cell):
    """Whether a library's answer to a cell has a law here."""
    return cell.query in KNOWN.get(library, ())


def settled(library, cell):
    """Whether draws would only check what is known: by a law, or by another library's draws from the same code."""
    return known(library, cell) or (library in TREE and cell.query in QUANTILES)


def candidates(cell):
    """The points among which OpenDP chooses."""
    many = COARSE if cell.query in ("min", "max") else FINE
    return np.linspace(cell.public.low, cell.public.high, many)


def of_cell(library, variant, cell, values):
    """The law of a library's answer, or None where it has to be simulated.

    Args:
        library: Which library.
        variant: In which way it is asked; `half` is half of epsilon, `tree` has no law.
        cell: The question.
        values: The rows.
    """
    if not known(library, cell) or variant == "tree":
        return None
    low, high = cell.public.low, cell.public.high
    epsilon = cell.epsilon / 2 if variant == "half" else cell.epsilon
    if cell.query == "count":
        return _count(library, int(np.count_nonzero(values > cell.public.threshold)), len(values), epsilon)
    if cell.query in QUANTILES:
        q = QUANTILES[cell.query]
        if library == "opendp":
            return laws.opendp(values, candidates(cell), q, epsilon)
        return (laws.diffprivlib if library == "diffprivlib" else laws.tmlt)(values, low, high, q, epsilon)
    if cell.query == "variance":
        return VARIANCES[library](values, low, high, epsilon)
    if cell.query == "mean_auto" and library == "tmlt":
        return tumult_laws.automatic_average(values, low, high, epsilon)
    if cell.query == "mean_auto":
        return search_laws.two_stage(library, values, low, high, epsilon, candidates(cell))
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
