"""The report's pictures: ratios cell by cell, and CPU seconds. Returns matplotlib figures; pages save them."""

from benchmarks.peers.board import REGIMES, WORDS, WORST, chosen
from benchmarks.peers.libraries import QUERIES
from benchmarks.peers.speed import seconds

COLOURS = {"fit": "#5b8c5a", "10x": "#1b6ca8", "1000x": "#d98324"}
LEAST = 1e-5  # smaller ratios are drawn here


def ratios(found, relation):
    """One dot per cell: our error over the best peer's, by query and regime; right of the line a peer is better."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    queries = [query for query in QUERIES if query != "mean_auto"]
    figure, axes = plt.subplots(figsize=(8.2, 5.2), constrained_layout=True)
    for offset, regime in zip((-0.25, 0.0, 0.25), REGIMES, strict=True):
        rows = chosen(found, relation, regime)
        across = [max(row.ratio(shifted=True).value, LEAST) for row in rows]
        up = [
            queries.index(row.cell.query) + offset + 0.012 * (place % 9 - 4) for place, row in enumerate(rows)
        ]
        axes.plot(across, up, "o", ms=3.2, alpha=0.65, mew=0, color=COLOURS[regime], label=WORDS[regime])
    axes.axvline(1, color="black", lw=0.8)
    axes.axvline(WORST, color="black", lw=0.6, ls=":")
    axes.set_xscale("log")
    axes.set_yticks(range(len(queries)), queries)
    axes.invert_yaxis()
    axes.set_xlabel("our error / best peer's error (left of the line: ours is smaller)")
    axes.set_title(f"{relation}: every column, size and price", loc="left", fontsize=11)
    axes.legend(loc="upper right", frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def times(measured, rows=1_000_000):
    """CPU seconds from the array to an answer, a million rows, by question."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    questions = [q for q in ("median", "q99", "mean", "groupby") if seconds(measured, q, rows, "sordino")]
    figure, every = plt.subplots(1, len(questions), figsize=(10, 3.2), constrained_layout=True, squeeze=False)
    for axes, query in zip(every[0], questions, strict=True):
        names = [row["library"] for row in measured["times"] if row["query"] == query and row["rows"] == rows]
        cost = {
            n: seconds(measured, query, rows, n, "fresh") or seconds(measured, query, rows, n, "estimate")
            for n in names
        }
        cost = dict(sorted(((n, c) for n, c in cost.items() if c), key=lambda item: item[1]))
        colours = ["#1b6ca8" if n == "sordino" else "#b9b9b9" if n == "numpy" else "#d98324" for n in cost]
        axes.barh(list(cost), list(cost.values()), color=colours)
        axes.set_xscale("log")
        axes.invert_yaxis()
        axes.set_title("median of 1,000 groups" if query == "groupby" else query, loc="left", fontsize=10)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("CPU seconds from the array to an answer, 1,000,000 rows", fontsize=9)
    return figure
