"""Peers that are told more than the bounds, by their exact laws: the rough hint as bounds, and a geometric grid.

Information beside the comparison and no part of its bars: libraries without an option for a hint are given one by hand.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers import cell_laws, laws, scores
from benchmarks.peers.columns import PRUDENT
from benchmarks.peers.libraries import QUANTILES, REPLACE_ONE
from benchmarks.peers.scores import Score

TIMES = (2, 3, 5, PRUDENT, 20)  # spreads on either side of the centre
ASKED = (("opendp", "grid"), ("diffprivlib", "tools"), ("pydp", "half"))
QUERIES = (*QUANTILES, "mean")
SKEWED = ("income", "pareto")  # columns whose user knows that they are positive and skewed
LEAST = 1e-8  # the first geometric candidate, as a share of the upper bound


@dataclass(frozen=True, slots=True)
class Informed:
    """A row of the comparison with the best peer as it was asked, with every width of hint, and on a geometric grid."""

    row: Any
    plain: Score
    hinted: dict[int, Score]
    geometric: Score | None

    def ratio(self, variant, peer):
        """Our error over a peer's, or None; where the hint's bounds are the declared ones nothing changes."""
        mine = self.row.ours.get(variant) or (self.row.ours.get("none") if variant == "hinted" else None)
        return None if mine is None or peer is None else scores.ratio(mine, peer)


def scored(who, law, truth):
    """A score by a law."""
    return Score(
        who=who, rmse=law.rmse(truth), median=law.median_error(truth), doubt=law.doubt, answered=1, raised=0
    )


def best(cell, values, truth, within=None):
    """The best of the peers whose answer to this has a law."""
    found = []
    for name, variant in ASKED:
        law = cell_laws.of_cell(name, variant, cell, values, bounds=within)
        if law is not None:
            found.append(scored(f"{name} {variant}", law, truth))
    return scores.best(found)


def geometric(cell, values, truth):
    """OpenDP among as many candidates, the lower bound and then in equal ratios."""
    if cell.column not in SKEWED or cell.query not in QUANTILES:
        return None
    high, many = cell.public.high, len(cell_laws.candidates(cell))
    points = np.concatenate([[cell.public.low], np.geomspace(LEAST * high, high, many - 1)])
    law = laws.opendp(values, points, QUANTILES[cell.query], cell.epsilon)
    return scored("opendp grid", law, truth)


def informed(found):
    """All of it for the rows under replace-one that ask for a quantile or a mean."""
    made, columns = [], {}
    for row in found:
        cell = row.cell
        if row.relation != REPLACE_ONE or cell.table != "main" or cell.query not in QUERIES:
            continue
        where = (cell.column, cell.rows)
        if where not in columns:
            columns[where] = cell.values()
        values = columns[where]
        by_width = {times: best(cell, values, row.truth, cell.public.hinted(times)) for times in TIMES}
        made.append(
            Informed(row, best(cell, values, row.truth), by_width, geometric(cell, values, row.truth))
        )
    return made


def widths(made, variant):
    """By width of the hint (None: the declared bounds): ratios of our error to that of the best peer."""
    found = {}
    for times in (None, *TIMES):
        ratios = [one.ratio(variant, one.plain if times is None else one.hinted[times]) for one in made]
        found[times] = [one for one in ratios if one is not None]
    return found
