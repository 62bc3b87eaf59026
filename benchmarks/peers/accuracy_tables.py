"""The accuracy part of the report as Markdown: standings, verdicts, cells where a peer is better, geometric means."""

import math
import statistics

from benchmarks.peers import board, scores
from benchmarks.peers.board import REGIMES, WORDS, chosen
from benchmarks.peers.columns import COLUMNS, REAL
from benchmarks.peers.libraries import QUERIES, REPLACE_ONE, label

SHOWN_AT_MOST = 10  # of the cells where a peer is better; the others are in the file of all cells


def number(value):
    """Three significant digits."""
    if value is None or math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{float(f'{value:.3g}'):g}"
    return f"{value:.2e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def table(names, lines):
    """A Markdown table; every line has all cells."""
    lines = [tuple(line) for line in lines]
    assert all(len(line) == len(names) for line in lines), names
    head = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    return "\n".join([*head, *("| " + " | ".join(map(str, line)) + " |" for line in lines)])


def doubtful(one):
    """A ratio with its simulation error, in per cent, where it has one."""
    return number(one.value) + (f" ± {100 * min(one.doubt, 9.99):.0f} %" if one.doubt >= 0.005 else "")


def said(good):
    """A verdict."""
    return "held" if good else "**missed**"


def standings(found):
    """The table that leads: one line a regime and relation."""
    lines = []
    for (relation, regime), now in board.standings(found).items():
        lines.append((
            f"{relation}, {WORDS[regime]}", len(now.rows), f"**{number(now.middle)}**", number(now.mean.value),
            len(now.better), len(now.over), number(now.worst.ratio(shifted=True).value), len(now.hopeless),
        ))  # fmt: skip
    names = (
        "", "cells", "middle ratio", "geometric mean", "a peer is better", f"by more than {board.WORST:g}",
        "worst", "useless, a peer is not",
    )  # fmt: skip
    return table(names, lines) + "\n"


def verdicts(found):
    """The bars and what was measured."""
    lines = []
    for what, bar, measured, good in board.verdicts(found):
        if isinstance(measured, scores.Ratio):
            told = doubtful(measured)
        else:
            count, worst = measured
            told = str(count) + (f"; largest ratio {doubtful(worst)}" if worst else "")
        lines.append((what, bar, told, said(good)))
    return lines


def question(cell):
    """A cell in words."""
    return f"{cell.query}, {cell.column}, n={cell.rows}, ε={cell.epsilon}"


def better_table(rows, most=SHOWN_AT_MOST):
    """Cells where the best peer is better, the worst first, or a sentence where there is none."""
    if not rows:
        return "None.\n"
    lines = []
    for row in rows[:most]:
        peer, mine = row.fairest, row.ours["none"]
        lines.append((
            question(row.cell), f"**{doubtful(row.ratio(shifted=True))}**", number(mine.rmse),
            f"{number(peer.rmse)} {label(peer.who)}", f"{number(mine.median)} / {number(peer.median)}",
            number(row.ratio().value) if row.shifted else "", number(row.useful),
        ))  # fmt: skip
    names = ("cell", "ratio", "our RMSE", "best peer's", "median errors", "with its luck", "spread")
    rest = len(rows) - len(lines)
    more = f"\nAnd {rest} more with smaller ratios, in {{doc}}`peers_cells`.\n" if rest else ""
    return table(names, lines) + "\n" + more


def means_by(found, relation, pick, values):
    """Geometric means of the default, by regime, over the part of the cells of which `pick` gives a value."""
    lines = []
    for value in values:
        line = [value]
        for regime in REGIMES:
            known = [row.ratio() for row in chosen(found, relation, regime) if pick(row.cell) == value]
            line.append(number(scores.geometric(known).value) if known else "–")
        lines.append(line)
    return lines


def breakdown(found, relation):
    """Geometric means by query, by column, by size and price, each by regime."""
    rows = chosen(found, relation)
    sizes = sorted({(row.cell.rows, -row.cell.epsilon) for row in rows})
    queries = [query for query in QUERIES if any(row.cell.query == query for row in rows)]
    columns = [name for name in COLUMNS | REAL if any(row.cell.column == name for row in rows)]
    names = ("", *WORDS.values())
    parts = (
        means_by(found, relation, lambda cell: cell.query, queries),
        means_by(found, relation, lambda cell: cell.column, columns),
        means_by(found, relation, lambda cell: f"n={cell.rows}, ε={cell.epsilon}",
                 [f"n={rows}, ε={-epsilon:g}" for rows, epsilon in sizes]),
    )  # fmt: skip
    return "\n\n".join(table(names, part) for part in parts) + "\n"


def saying_more(found):
    """What the caller's knowledge is worth: our error with it over our error without, replace-one."""
    lines = []
    for variant, words in (
        ("tight", "`tight=True`, bounds that fit"),
        ("loose", "`loose=True`, means and variances in wide bounds"),
        ("rough", "a rough hint, quantiles and means in wide bounds"),
    ):
        rows = [row for row in chosen(found, REPLACE_ONE) if variant in row.ours]
        shares = [row.ours[variant].rmse / row.ours["none"].rmse for row in rows]
        ratios = [
            one for row in rows if (one := row.ratio(variant, shifted=True)) and 0 < one.value < math.inf
        ]
        if not shares:
            continue
        lines.append((
            words, len(shares), number(statistics.median(shares)), number(min(shares)), number(max(shares)),
            number(scores.geometric(ratios).value), sum(one.above(board.WORST) for one in ratios),
        ))  # fmt: skip
    names = (
        "what is said", "cells", "our error with / without: middle", "least", "most",
        "with / best peer's", f"above {board.WORST:g}",
    )  # fmt: skip
    return table(names, lines) + "\n"
