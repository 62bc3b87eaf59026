"""The tables of peers that are told more, as Markdown."""

from benchmarks.peers import informed, scores
from benchmarks.peers.accuracy_tables import NOTICED, doubtful, number, table
from benchmarks.peers.columns import PRUDENT
from benchmarks.peers.figures import label

SHOWN_AT_MOST = 10


def told(ratios):
    """Geometric mean, cells where the peer is better, the largest ratio."""
    better = sum(one.above(NOTICED) for one in ratios)
    worst = max((one.value for one in ratios), default=0.0)
    return doubtful(scores.geometric(ratios)), f"{better} of {len(ratios)}", number(worst)


def by_width(made):
    """One line a width of the hint."""
    lines = []
    for times, ratios in informed.widths(made, "rough").items():
        name = "declared bounds" if times is None else f"centre ± {times} spreads"
        lines.append((f"**{name}**" if times == PRUDENT else name, *told(ratios)))
    names = ("the peers' bounds", "ours with the rough hint / theirs", "a peer is better", "largest")
    return table(names, lines) + "\n"


def by_query(made):
    """With bounds of the prudent width for the peers: we with the rough hint, and we within the same bounds."""
    lines = []
    for query in (*informed.QUERIES, None):
        part = [one for one in made if query in (None, one.row.cell.query)]
        by_variant = [informed.widths(part, variant)[PRUDENT] for variant in ("rough", "hinted")]
        lines.append((query or "all", *(word for ratios in by_variant for word in told(ratios))))
    names = (
        "",
        "rough hint",
        "a peer is better",
        "largest",
        "the same bounds",
        "a peer is better",
        "largest",
    )
    return table(names, lines) + "\n"


def better(made, variant):
    """The cells where a peer within bounds from the hint is better than we, the worst first."""
    known = [(one, ratio) for one in made if (ratio := one.ratio(variant, one.hinted[PRUDENT]))]
    known = sorted((pair for pair in known if pair[1].above(NOTICED)), key=lambda pair: -pair[1].value)
    if not known:
        return "None.\n"
    lines = []
    for one, ratio in known[:SHOWN_AT_MOST]:
        cell, peer = one.row.cell, one.hinted[PRUDENT]
        name = f"**{cell.query}, {cell.column}, n={cell.rows}, ε={cell.epsilon}**"
        mine = number((one.row.ours.get(variant) or one.row.ours["none"]).rmse)
        lines.append((name, f"**{doubtful(ratio)}**", mine, f"{number(peer.rmse)} {label(peer.who)}"))
    return table(("cell", "ratio", "our RMSE", "best peer's"), lines) + "\n"


def by_grid(made):
    """OpenDP on a geometric grid beside itself on an even one and us, over sizes and prices."""
    lines = []
    for column in informed.SKEWED:
        for query in informed.QUERIES:
            part = [
                one
                for one in made
                if one.geometric and (one.row.cell.column, one.row.cell.query) == (column, query)
            ]
            if not part:
                continue
            gain = [scores.ratio(one.row.peers["opendp grid"], one.geometric) for one in part]
            mine = [
                [ratio for one in part if (ratio := one.ratio(variant, one.geometric))]
                for variant in ("none", "rough")
            ]
            lines.append(
                (f"{query}, {column}", *(number(scores.geometric(each).value) for each in (gain, *mine)))
            )
    names = ("question", "even grid / geometric", "Sordino / geometric", "Sordino, rough hint / geometric")
    return table(names, lines) + "\n"
