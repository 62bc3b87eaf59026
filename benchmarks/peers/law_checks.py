"""Every law beside the draws that the library itself gave: one test a cell, and what they say together."""

import math

import numpy as np

from benchmarks.peers import cell_laws
from benchmarks.peers.answers import Answers
from benchmarks.peers.libraries import PEERS, QUANTILES

FEWEST = 10  # draws of a cell that is tested


def places(law, values, random):
    """Where draws fall in their law, uniform if it is theirs; within a step of the law at random."""
    found = []
    for value in values:
        upto, below = law.cdf(value), law.cdf(np.nextafter(value, -np.inf))
        found.append(below + (upto - below) * random.random())
    return found


def p_value(law, values, random):
    """How surprising the draws are (Kolmogorov and Smirnov)."""
    from scipy.stats import kstest

    return float(kstest(places(law, values, random), "uniform").pvalue)


def together(values):
    """One p-value of many independent ones: are they uniform? And the least of them, times their number."""
    from scipy.stats import kstest

    return float(kstest(values, "uniform").pvalue), min(1.0, min(values) * len(values))


def check(cache, environments, chosen):
    """By library and kind of question: cells, draws, p-value of all, least p-value times the number of cells.

    Args:
        cache: The cache folder.
        environments: Environments by library.
        chosen: The cells.
    """
    found, columns, random = {}, {}, np.random.default_rng(1)
    for name in (name for name in environments if name in cell_laws.KNOWN):
        kept = Answers(cache, PEERS[name], environments[name].version)
        for cell in chosen:
            if not cell_laws.known(name, cell):
                continue
            for variant, relations in PEERS[name].variants.items():
                got = kept.get(cell.name(name, variant, relations[0]))
                draws = [one for one in (got or {"values": []})["values"] if math.isfinite(one)]
                if len(draws) < FEWEST or variant == "tree":
                    continue
                where = (cell.table, cell.column, cell.rows)
                if where not in columns:
                    columns[where] = cell.values()
                law = cell_laws.of_cell(name, variant, cell, columns[where])
                kind = "quantiles" if cell.query in QUANTILES else cell.query
                found.setdefault((name, kind), []).append((len(draws), p_value(law, draws, random)))
    return {
        key: (len(tests), sum(count for count, _ in tests), *together([p for _, p in tests]))
        for key, tests in found.items()
    }
