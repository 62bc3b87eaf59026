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

    A library whose quantiles are another's is tested against the draws of that one.

    Args:
        cache: The cache folder.
        environments: Environments by library.
        chosen: The cells.
    """
    from scipy.stats import ks_2samp

    found, columns, random = {}, {}, np.random.default_rng(1)
    answers = {
        name: Answers(cache, PEERS[name], environments[name].version)
        for name in environments
        if name in PEERS
    }
    for name, kept in answers.items():
        for cell in chosen:
            if not cell_laws.settled(name, cell):
                continue
            for variant, relations in PEERS[name].variants.items():
                draws = finite(kept, cell.name(name, variant, relations[0]))
                if len(draws) < FEWEST or variant == "tree":
                    continue
                if cell_laws.known(name, cell):
                    where = (cell.column, cell.rows)
                    if where not in columns:
                        columns[where] = cell.values()
                    p = p_value(cell_laws.of_cell(name, variant, cell, columns[where]), draws, random)
                else:
                    library, other = cell_laws.TREE[name].split()
                    same = finite(answers[library], cell.name(library, other, relations[0]))
                    p = float(ks_2samp(draws, same).pvalue)
                kind = "quantiles" if cell.query in QUANTILES else cell.query
                found.setdefault((name, kind), []).append((len(draws), p))
    return {
        key: (len(tests), sum(count for count, _ in tests), *together([p for _, p in tests]))
        for key, tests in found.items()
    }


def finite(kept, name):
    """The draws that are numbers."""
    return [one for one in (kept.get(name) or {"values": []})["values"] if math.isfinite(one)]
