"""Mean squared error of the default beside the mechanisms of Liang and Yi 2024, in all settings of Figures 3, 4, 6, 8.

The bars: at most a third of M3 everywhere, never above M2.
"""

from benchmarks.geo import settings


def tables():
    """Yield one table per figure and data set."""
    for name, x in settings.incomes().items():
        rows = []
        for at, distances in settings.THRESHOLDS.items():
            for distance in distances:
                row = settings.one_way(x, at, distance, 400_000)
                rows.append([f"{at:,}, {distance:,}", *(row[k] for k in ("M0", "M2", "LDP", "M3", "default")),
                             row["M3"] / row["default"], row["M2"] / row["default"]])  # fmt: skip
        yield (
            f"one-way threshold (Figures 3 and 8), {name} incomes, 400,000 people: mean squared error",
            ("threshold, 1/epsilon", "M0", "M2", "LDP", "M3", "default", "M3/default", "M2/default"),
            rows,
        )
    points = settings.debts()
    rows, totals = [], []
    for distance in settings.TWO_WAY:
        soft, _ = settings.two_way(points, distance, 1_600_000)
        rows.append([f"{distance:,}", *(soft[k] for k in ("M2", "LDP", "M3", "default")),
                     soft["M3"] / soft["default"], soft["M2"] / soft["default"]])  # fmt: skip
        narrow, sharp = settings.two_way(points, distance, 1_600_000, share=1.2)
        paper, ours = soft["M3"] + sharp["paper"], narrow["default"] + sharp["ours"]
        totals.append([f"{distance:,}", paper, soft["M2"] + sharp["paper"], soft["default"] + sharp["paper"], ours,
                       paper / ours])  # fmt: skip
    yield (
        "two-way threshold (Figure 4), 1,600,000 people: squared error against the soft corner, mean over the grid",
        ("1/epsilon", "M2", "LDP", "M3", "default", "M3/default", "M2/default"),
        rows,
    )
    yield (
        "the same against the sharp corner; ours also with a band of 1.2/epsilon instead of 2/epsilon",
        ("1/epsilon", "M3", "M2", "default, same band", "default, 1.2/eps", "M3/default"),
        totals,
    )
    for name, points in settings.places(4000).items():
        rows = []
        for distance, share, people in settings.KERNELS:
            row = settings.kernel(points, distance, share, people, side=30)
            rows.append([f"{distance:,}, {share:g}, {people:,}", *(row[k] for k in settings.NAMES),
                         row["M3"] / row["default"], row["M2"] / row["default"]])  # fmt: skip
        yield (
            f"kernel density (Figure 6), {name}: squared error, mean over the grid",
            ("1/epsilon, h/w, people", *settings.NAMES, "M3/default", "M2/default"),
            rows,
        )
