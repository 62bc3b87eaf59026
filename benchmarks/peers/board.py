"""The scoreboard: what is asked of the comparison, regime by regime, and whether it holds. Reads scored rows only."""

import math
import statistics
from dataclasses import dataclass

from benchmarks.peers import scores
from benchmarks.peers.columns import REGIMES
from benchmarks.peers.libraries import ADD_REMOVE, REPLACE_ONE

WORST = 1.2  # against the best peer, in any cell, with the luck of candidates taken out
MEANS = {"fit": 0.5, "10x": 0.1, "1000x": 0.1}  # geometric means
NOTICED = 1.01  # a ratio up to here is no difference
RELATIONS = (REPLACE_ONE, ADD_REMOVE)
WORDS = {"fit": "bounds that fit", "10x": "bounds 10 times too wide", "1000x": "bounds 1000 times too wide"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One regime under one relation.

    Attributes:
        rows: Its rows with both sides answered.
        mean: Geometric mean of our error over the best peer's.
        middle: The middle one of these ratios.
        better: Rows in which a peer is better beyond the simulation error, luck of candidates taken out.
        over: Those of them above the bar.
        hopeless: Rows in which our answer tells nothing and a peer's does.
    """

    rows: list
    mean: scores.Ratio
    middle: float
    better: list
    over: list
    hopeless: list

    @property
    def worst(self):
        """The row with the largest ratio, luck taken out."""
        return max(self.rows, key=lambda row: row.ratio(shifted=True).value)


def chosen(found, relation, regime=None):
    """Rows under one relation with both sides answered; a ratio of nothing to nothing is no comparison."""
    return [
        row
        for row in found
        if row.relation == relation
        and regime in (None, row.cell.regime)
        and (one := row.ratio()) is not None
        and 0 < one.value < math.inf
    ]


def standing(rows):
    """Sum rows up, the worst first."""
    ordered = sorted(rows, key=lambda row: -row.ratio(shifted=True).value)
    return Standing(
        rows=ordered,
        mean=scores.geometric([row.ratio() for row in ordered]),
        middle=statistics.median(row.ratio().value for row in ordered),
        better=[row for row in ordered if row.ratio(shifted=True).above(NOTICED)],
        over=[row for row in ordered if row.ratio(shifted=True).above(WORST)],
        hopeless=[row for row in ordered if row.hopeless],
    )


def standings(found):
    """By relation and regime, where anything was measured."""
    parts = {
        (relation, regime): chosen(found, relation, regime) for relation in RELATIONS for regime in REGIMES
    }
    return {key: standing(rows) for key, rows in parts.items() if rows}


def verdicts(found):
    """What is asked, of what, what was measured, and whether it holds."""
    lines = []
    for (relation, regime), now in standings(found).items():
        where, count = f"{relation}, {WORDS[regime]}", len(now.rows)
        bar, worst = MEANS[regime], now.worst.ratio(shifted=True)
        lines += [
            (
                f"{where}: geometric mean over {count} cells",
                f"at most {bar:g}",
                now.mean,
                now.mean.value <= bar,
            ),
            (f"{where}: cells above {WORST:g}", "none", (len(now.over), worst), not now.over),
            (f"{where}: useless where a peer is not", "none", (len(now.hopeless), None), not now.hopeless),
        ]
    return lines
