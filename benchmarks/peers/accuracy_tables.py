"""The accuracy part of the report as Markdown: verdicts, cells where a peer is better, geometric means, all cells."""

import math

from benchmarks.peers import scores
from benchmarks.peers.cells import EPSILONS
from benchmarks.peers.columns import COLUMNS, ROWS
from benchmarks.peers.figures import SHOWN, label
from benchmarks.peers.libraries import ADD_REMOVE, QUERIES, REPLACE_ONE

FITTING = ("unif", "bimodal", "bimodal50")  # columns of which "the bounds are tight" is true
SHOWN_AT_MOST = 10  # of the cells where a peer is better; the others are on the page of all cells
NOTICED = 1.01  # a ratio up to here is no difference
RIVALS = ("tmlt core", "pydp plain", "pydp tree")  # against whom add/remove is judged


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


def main_rows(found, relation):
    """Rows of the main table under one relation."""
    return [row for row in found if row.relation == relation and row.cell.table == "main"]


def against(row, variant, names):
    """The ratio to the best of some peers."""
    mine = row.ours.get(variant)
    peer = scores.best([one for one in row.peers.values() if one.who in names])
    return None if mine is None or peer is None else scores.ratio(mine, peer)


def mean_of(found, relation, variant, names=None):
    """Geometric mean over the cells with both sides."""
    ratios = [
        row.ratio(variant) if names is None else against(row, variant, names)
        for row in main_rows(found, relation)
    ]
    known = [one for one in ratios if one is not None]
    return scores.geometric(known), len(known)


def doubtful(one):
    """A ratio with its simulation error, in per cent."""
    return f"{number(one.value)} ± {100 * min(one.doubt, 9.99):.0f} %"


def verdicts(found):
    """The bars and what was measured."""
    lines = []
    for variant, bar in (("none", scores.BARS["none"]), ("rough", scores.BARS["rough"])):
        mean, count = mean_of(found, REPLACE_ONE, variant)
        text = f"replace-one, {SHOWN[variant]}: geometric mean over {count} cells"
        lines.append((text, f"at most {bar}", doubtful(mean), said(mean.value <= bar)))
    for variant, bar, fitting in (
        ("none", 1.7, 0),
        ("rough", 1.7, 0),
        ("tight", 1.05, 1),
        ("tight", 1.05, 0),
    ):
        rows = [row for row in main_rows(found, REPLACE_ONE) if row.ratio(variant)]
        if fitting:
            rows = [row for row in rows if row.cell.column in FITTING]
        over = [row for row in rows if row.ratio(variant).above(bar)]
        lucky = [row for row in over if row.lucky(variant, bar)]
        worst = max((row.ratio(variant).value for row in rows), default=math.nan)
        untrue = (
            variant == "tight" and not fitting
        )  # no bar: the caller's word is wrong of half of the columns
        where = (
            ", of columns whose bounds fit" if fitting else ", also where that is untrue" if untrue else ""
        )
        text = f"replace-one, {SHOWN[variant]}{where}: cells above {bar} beyond twice the simulation error"
        luck = f"{len(lucky)} by grid luck{named(lucky, variant)}"
        measured = f"{len(over)} of {len(rows)} ({luck}); largest ratio {number(worst)}"
        asked = "–" if untrue else "none, grid luck aside"
        lines.append((text, asked, measured, "" if untrue else said(len(over) == len(lucky))))
    for names, text in (
        (RIVALS, "Tumult and PyDP"),
        (RIVALS[:1], "Tumult"),
        (RIVALS[1:], "PyDP"),
        (None, "every peer"),
    ):
        mean, count = mean_of(found, ADD_REMOVE, "none", names)
        bar = "at most 0.5" if names == RIVALS else "–"
        verdict = said(mean.value <= 0.5) if names == RIVALS else ""
        lines.append((f"add/remove, no hint, against {text}: {count} cells", bar, doubtful(mean), verdict))
    return lines


def named(lucky, variant):
    """Cells of grid luck with the ratio as asked and over shifted grids."""
    told = [
        f"{row.cell.query} {row.cell.column} n={row.cell.rows} ε={row.cell.epsilon}, "
        f"{number(row.ratio(variant).value)} → {number(row.ratio(variant, shifted=True).value)}"
        for row in lucky
    ]
    return f": {'; '.join(told)}" if told else ""


def said(good):
    """A verdict."""
    return "held" if good else "**missed**"


def judged(found, relation, variant):
    """The cells in which a variant is compared: `tight` where the bounds fit, for elsewhere it is not true."""
    rows = [row for row in main_rows(found, relation) if row.ratio(variant) is not None]
    return [row for row in rows if variant != "tight" or row.cell.column in FITTING]


def better_peers(found, relation, variant, bar=NOTICED):
    """Cells where the best peer is better, by more than a bar and twice the simulation error, the worst first."""
    rows = [row for row in judged(found, relation, variant) if row.ratio(variant).above(bar)]
    return sorted(rows, key=lambda row: -row.ratio(variant).value)


def better_table(found, relation, variant, bar=NOTICED):
    """The same as Markdown, or a sentence where there is none."""
    rows = better_peers(found, relation, variant, bar)
    if not rows:
        return "None.\n"
    lines = []
    for row in rows[:SHOWN_AT_MOST]:
        peer, mine = row.best, row.ours[variant]
        lines.append((
            f"**{row.cell.query}, {row.cell.column}, n={row.cell.rows}, ε={row.cell.epsilon}**",
            f"**{doubtful(row.ratio(variant))}**", number(mine.rmse), f"{number(peer.rmse)} {label(peer.who)}",
            f"{number(mine.median)} / {number(peer.median)}", shifted(row, variant, bar),
        ))  # fmt: skip
    names = ("cell", "ratio", "our RMSE", "best peer's", "median errors", "ratio over shifted grids")
    rest = len(rows) - len(lines)
    more = f"\nAnd {rest} more with smaller ratios, bold in {{doc}}`peers_cells`.\n" if rest else ""
    return table(names, lines) + "\n" + more


def shifted(row, variant, bar):
    """The ratio when OpenDP's candidates lie anywhere, and whether that makes the cell grid luck."""
    if row.shifted is None:
        return ""
    told = number(row.ratio(variant, shifted=True).value)
    return f"{told}: grid luck" if row.lucky(variant, bar) else told


def means_by(found, relation, pick, values):
    """Geometric means over a part of the cells, by what `pick` takes from a cell."""
    lines = []
    for value in values:
        line = [value]
        for variant in SHOWN:
            known = [
                one
                for row in main_rows(found, relation)
                if pick(row.cell) == value and (one := row.ratio(variant))
            ]
            line.append(doubtful(scores.geometric(known)) if known else "–")
        lines.append(line)
    return lines


def breakdown(found, relation):
    """Geometric means by query, by column, by size and price."""
    names = ("", *SHOWN.values())
    sizes = [f"n={n}, ε={e}" for n in ROWS for e in EPSILONS]
    parts = (
        means_by(found, relation, lambda cell: cell.query, QUERIES),
        means_by(found, relation, lambda cell: cell.column, COLUMNS),
        means_by(found, relation, lambda cell: f"n={cell.rows}, ε={cell.epsilon}", sizes),
    )
    return "\n\n".join(table(names, part) for part in parts) + "\n"


def all_cells(found, relation):
    """Every cell: our RMSE without a hint, with a rough one, with tight bounds; the best peer's."""
    kept = {(r.cell.query, r.cell.column, r.cell.rows, r.cell.epsilon): r for r in main_rows(found, relation)}
    text = []
    for rows in ROWS:
        for epsilon in EPSILONS:
            lines = []
            for query in QUERIES:
                for column in COLUMNS:
                    row = kept.get((query, column, rows, epsilon))
                    if row is None:
                        continue
                    peer = row.best
                    mine = [number(row.ours[v].rmse) if v in row.ours else "–" for v in SHOWN]
                    ratios = [row.ratio(v) for v in SHOWN]
                    shown = [
                        "–"
                        if one is None
                        else f"**{number(one.value)}**"
                        if one.above(1)
                        else number(one.value)
                        for one in ratios
                    ]
                    best = f"{number(peer.rmse)} {label(peer.who)}" if peer else "nobody answers"
                    if row.shifted is not None:
                        best += f" ({number(row.shifted)} over shifted grids)"
                    doubt = f"{100 * ratios[0].doubt:.0f} %" if ratios[0] else "–"
                    lines.append(
                        (query, column, number(row.truth), " / ".join(mine), best, " / ".join(shown), doubt)
                    )
            if lines:
                names = ("query", "column", "truth", "our RMSE", "best peer's RMSE", "ratio", "±")
                text += [f"### n = {rows}, ε = {epsilon}", "", table(names, lines), ""]
    return "\n".join(text)


def ties(found):
    """Medians of tied columns, all libraries."""
    return _by_library([row for row in found if row.cell.table == "ties"])


def real(found):
    """Real columns, all libraries."""
    return _by_library([row for row in found if row.cell.table == "real"])


def _by_library(rows):
    if not rows:
        return "Not measured in this run.\n"
    text = []
    for relation in (REPLACE_ONE, ADD_REMOVE):
        part = [row for row in rows if row.relation == relation]
        peers = sorted({who for row in part for who in row.peers})
        mine = [v for v in ("none", "tight") if any(v in row.ours for row in part)]
        lines = []
        for row in part:
            cells = [row.ours.get(v) for v in mine] + [row.peers.get(who) for who in peers]
            least = min((one.rmse for one in cells if one is not None and one.usable), default=math.nan)
            shown = [_entry(one, least) for one in cells]
            lines.append(
                (f"{row.cell.query}, {row.cell.column}, ε={row.cell.epsilon}", number(row.truth), *shown)
            )
        heads = ["Sordino" if v == "none" else "Sordino, tight" for v in mine] + [label(who) for who in peers]
        text += [f"**{relation}**", "", table(("question", "truth", *heads), lines), ""]
    return "\n".join(text)


def _entry(one, least):
    if one is None:
        return "–"
    if not one.answered:
        return "all raised"
    told = f"**{number(one.rmse)}**" if one.rmse <= least else number(one.rmse)
    return told + (f" ({one.raised} of {one.raised + one.answered} raised)" if one.raised else "")
