"""Where we stand, in a few sentences made from the numbers; the first thing on the page."""

import math
import statistics

from benchmarks.peers import accuracy_tables, informed, scores
from benchmarks.peers.accuracy_tables import FITTING, NOTICED, RIVALS, number
from benchmarks.peers.columns import COLUMNS, PRUDENT
from benchmarks.peers.libraries import ADD_REMOVE, REPLACE_ONE
from benchmarks.peers.speed import SAFE, seconds


def counted(found, relation, variant, bar, columns=None):
    """Cells, cells above a bar beyond the simulation error, and how many of these are grid luck."""
    rows = [row for row in accuracy_tables.main_rows(found, relation) if row.ratio(variant)]
    rows = [row for row in rows if columns is None or row.cell.column in columns]
    over = [row for row in rows if row.ratio(variant).above(bar)]
    return len(rows), len(over), sum(row.lucky(variant, bar) for row in over)


WIDTHS = {
    "fit (at most 5 standard deviations wide)": 5,
    "are some fifty wide": 100,
    "are a thousand or more wide": math.inf,
}
"""Columns by how wide their bounds are; what a comparison says depends on this more than on anything else."""


def by_width(found, relation):
    """Cells and the middle of the ratios, by how wide the bounds are; a mean is one answer of ours, counted once.

    The peers are asked for a mean in two ways; ours is set against the better of them.
    """
    cells = {}
    for row in accuracy_tables.main_rows(found, relation):
        if row.cell.column in COLUMNS and (ratio := row.ratio("none")):
            query = "mean" if row.cell.query == "mean_auto" else row.cell.query
            key = (query, row.cell.column, row.cell.rows, row.cell.epsilon)
            cells[key] = max(cells.get(key, 0), ratio.value)
    told, least = {}, 0
    for words, most in WIDTHS.items():
        names = [name for name, column in COLUMNS.items() if least < column.width <= most]
        ratios = [value for (_, column, _, _), value in cells.items() if column in names]
        if ratios:
            told[words] = (len(ratios), statistics.median(ratios))
        least = most
    return told


def split(found):
    """The sentence that leads: what the bounds decide."""
    parts = [f"**{number(middle)}** where the bounds {words} ({count} cells)"
             for words, (count, middle) in by_width(found, REPLACE_ONE).items()]  # fmt: skip
    if not parts:
        return []
    sentence = (
        f"The bounds decide. The middle ratio of our error to the best peer's, replace-one, knowing the bounds alone, "
        f"is {', '.join(parts)}. A mean is counted once, against the better of the two ways in which the peers were "
        f"asked for it."
    )
    return [sentence]


def accuracy(found):
    """Three sentences: without and with a hint, tight bounds, add/remove."""
    told = []
    for variant, words in (("none", "knowing the bounds alone"), ("rough", "with a rough hint")):
        mean, count = accuracy_tables.mean_of(found, REPLACE_ONE, variant)
        if not count:
            continue
        _, behind, _ = counted(found, REPLACE_ONE, variant, NOTICED)
        _, far, luck = counted(found, REPLACE_ONE, variant, scores.BARS["cell"])
        told.append(
            f"Replace-one, {words}: our error is **{number(mean.value)}** of the best peer's in the geometric mean of "
            f"{count} cells. A peer is better in {behind} of them, by more than {scores.BARS['cell']} in {far} "
            f"({luck} of these by grid luck)."
        )
    count, over, luck = counted(found, REPLACE_ONE, "tight", scores.BARS["tight"], FITTING)
    told.append(
        f"Replace-one, bounds said to be tight where they are: a peer is better by more than 5 % in {over} of {count} "
        f"cells ({luck} by grid luck)."
    )
    mean, count = accuracy_tables.mean_of(found, ADD_REMOVE, "none", RIVALS)
    if count:
        _, behind, _ = counted(found, ADD_REMOVE, "none", NOTICED)
        told.append(
            f"Add/remove: **{number(mean.value)}** of the better of Tumult and PyDP over {count} cells; "
            f"some peer is better in {behind}."
        )
    return told


def hints(made):
    """One sentence about peers that are given the hint as bounds."""
    by_variant = [informed.widths(made, variant)[PRUDENT] for variant in ("rough", "hinted")]
    if not all(by_variant):
        return []
    rough, same = (number(scores.geometric(ratios).value) for ratios in by_variant)
    sentence = (
        f"When the peers' user turns the same rough hint into bounds (centre ± {PRUDENT} spreads), our error is "
        f"**{rough}** of theirs with our hint and **{same}** within the same bounds."
    )
    return [sentence]


def speed(measured):
    """One sentence about time."""
    words = []
    for query in ("median", "mean"):
        safe = [cost for name in SAFE if (cost := seconds(measured, query, 10**6, name, "fresh"))]
        mine = seconds(measured, query, 10**6, "sordino", "fresh")
        if safe and mine:
            words.append(f"a {query} of a million floats takes **{number(min(safe) / mine)}** times less CPU")
    if not words:
        return []
    return [f"Against the fastest float-safe peer {' and '.join(words)} from the array to the answer."]


def lines(found, made=None, measured=None):
    """All of it as a list."""
    told = (
        split(found) + accuracy(found) + (hints(made) if made else []) + (speed(measured) if measured else [])
    )
    return "\n".join(f"- {sentence}" for sentence in told) + "\n"
