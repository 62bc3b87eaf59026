"""Durfee 2025 (piecewise Laplace), section 5: the approximate variants, cut after k intervals or built from radii.

All numbers are exact laws on generated columns, from the intervals that releases use. Sums of local sensitivities are
an option of the mechanisms; the cuts and the printed index of Corollary 5.1 are only drawn here.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row
from sordino.data.memory import Memory
from sordino.mechanisms.nested.intervals import Interpolation, Intervals, line_pieces
from sordino.mechanisms.nested.nested import intervals_of
from sordino.mechanisms.nested.piecewise_laplace import PiecewiseLaplace
from sordino.mechanisms.parts.law import PieceLaw
from sordino.privacy import Pure
from sordino.statistics.median import Median
from sordino.statistics.trimmed_mean import TrimmedMean

if TYPE_CHECKING:
    from pathlib import Path

    from sordino.reading.profile import Opened

LINEAR = Interpolation.linear()
TO_RANGE, TO_GLOBAL = "cut to the range", "cut to the global bound"
RADII, PRINTED_RADII = "sums of local sensitivities", "sums as printed (Cor. 5.1)"
#: Column: lower and upper bound.
BOUNDS = {"normal": (-50, 1050), "uniform": (0, 1), "ages": (0, 120)}


def opened_median(column: Any, name: str, price: Pure) -> Opened:
    """Read a median as deep as the mechanism looks, and open it: the column is generated."""
    low, high = BOUNDS[name]
    step = 1 if name == "ages" else None
    statistic = Median("x", low=low, high=high, step=step)
    (summary,) = Memory({"x": column}).summary(statistic.request(depth=PiecewiseLaplace(price=price).depth))
    return statistic.read(summary).open()


def root_mean_square(opened: Opened, family: Intervals, form: Interpolation, price: Pure) -> float:
    """Root mean square distance of the answer from the true value, in the units of the data."""
    law = PieceLaw(line_pieces(family, form), price.epsilon / 2)
    return float(opened.units.step) * math.sqrt(law.mean_squared_error(Fraction(opened.value)))


def cut(family: Intervals, levels: int, *, to_global: int | None = None) -> Intervals:
    """Forget the intervals beyond some level: what follows is the range, or steps of the global bound.

    Example:
        >>> family = Intervals.of([5, 4, 2], [5, 6, 9], first=0, last=10)
        >>> cut(family, 1)
        Intervals(low=(5, 4, 0), high=(5, 6, 10), first=0, last=10)
        >>> cut(family, 1, to_global=10).high[:4]
        (5, 6, 16, 26)
    """
    low, high = family.low[: levels + 1], family.high[: levels + 1]
    if to_global is None:
        return Intervals.of(low, high, first=family.first, last=family.last)
    steps = range(1, 160)
    return Intervals(
        (*low, *(low[-1] - to_global * i for i in steps)),
        (*high, *(high[-1] + to_global * i for i in steps)),
        low[-1] - to_global * 160,
        high[-1] + to_global * 160,
    )


def _cut_parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    settings = [("normal", "1"), ("uniform", "1"), ("normal", "0.1")]
    levels = (
        (10, 30, 45, 80, 140)
        if scale == "smoke"
        else (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 80, 110, 140)
    )
    return [
        {
            "column": name,
            "epsilon": e,
            "rows": 1001,
            "levels": list(levels),
            "columns": 3 if scale == "smoke" else 20,
            "seed": 3005,
        }
        for name, e in (settings[:2] if scale == "smoke" else settings)
    ]


def _cut_compute(part: Part) -> list[Row]:
    price = Pure(Fraction(part["epsilon"]))
    epsilon, name = float(price.epsilon), part["column"]
    found: dict[tuple[str, int], list[float]] = {}
    for i in range(part["columns"]):
        random = np.random.default_rng([part["seed"], i])
        column = random.uniform(size=part["rows"]) if name == "uniform" else random.normal(size=part["rows"])
        opened = opened_median(column, name, price)
        family = intervals_of(opened)
        whole = root_mean_square(opened, family, LINEAR, price)
        width = int(family.last - family.first)
        for share in part["levels"]:
            k = round(share / epsilon)
            for kind, bound in ((TO_RANGE, None), (TO_GLOBAL, width)):
                shorter = cut(family, k, to_global=bound)
                ratio = root_mean_square(opened, shorter, LINEAR, price) / whole
                found.setdefault((kind, share), []).append(ratio)
    # Geometric means: the ratios span many decades.
    return [
        [kind, name, epsilon, share, float(np.exp(np.mean(np.log(ratios))))]
        for (kind, share), ratios in found.items()
    ]


def _cut_say(result: Result) -> str:
    def cell(share: int, kind: str, data: str = "normal") -> str:
        return f"{result.one('ratio', variant=kind, data=data, epsilon=1.0, levels=share):.3g}"

    return (
        f"Median of 1001 rows, epsilon 1, root mean square error relative to the full mechanism: cut to the range "
        f"after 10, 30 and 45 intervals {cell(10, TO_RANGE)}, {cell(30, TO_RANGE)}, {cell(45, TO_RANGE)}; cut to the "
        f"global bound {cell(10, TO_GLOBAL)}, {cell(30, TO_GLOBAL)}, {cell(45, TO_GLOBAL)}. Uniform data in tight "
        f"bounds: {cell(10, TO_RANGE, 'uniform')} and {cell(30, TO_RANGE, 'uniform')} after 10 and 30. About "
        "(2/epsilon) ln(range/spread) intervals are needed, not O(1/epsilon)."
    )


def _cut_draw(result: Result) -> Any:
    from sordino import plots

    curves: dict[str, tuple[Any, Any]] = {}
    for name, e in dict.fromkeys(zip(result.column("data"), result.column("epsilon"), strict=True)):
        for kind in (TO_RANGE, TO_GLOBAL):
            rows = result.select(variant=kind, data=name, epsilon=e)
            label = f"{kind}: {name} in {list(BOUNDS[name])}, epsilon {e:g}"
            curves[label] = ([row["levels"] for row in rows], [row["ratio"] for row in rows])
    figure = plots.curves(
        curves,
        xlabel="intervals kept, times epsilon",
        ylabel="root mean square error\n(relative to the full mechanism)",
        title="Median of 1001 rows: forgetting the far intervals",
        log="y",
        level=(1.0, "nothing forgotten"),
    )
    figure.set_size_inches(10.4, 4.6)
    return figure


def _radii_parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    sizes = (201, 1001) if scale == "smoke" else (201, 501, 1001, 2001, 5001, 10001)
    return [
        {
            "statistic": name,
            "rows": rows,
            "epsilon": 1,
            "columns": 3 if scale == "smoke" else 10,
            "seed": 3007,
        }
        for name in ("median", "trimmed mean (10 %)")
        for rows in sizes
    ]


def _radii_compute(part: Part) -> list[Row]:
    price, rows = Pure(part["epsilon"]), part["rows"]
    low, high = BOUNDS["normal"]
    statistic: Median | TrimmedMean = Median("x", low=low, high=high)
    if part["statistic"] != "median":
        statistic = TrimmedMean("x", trim=Fraction(rows // 10, rows), low=low, high=high)
    depth = PiecewiseLaplace(price=price).depth
    found: dict[str, list[float]] = {RADII: [], PRINTED_RADII: []}
    for i in range(part["columns"]):
        column = np.random.default_rng([part["seed"], rows, i]).normal(size=rows)
        (summary,) = Memory({"x": column}).summary(statistic.request(depth=depth))
        opened = statistic.read(summary).open()
        family = intervals_of(opened)
        exact = root_mean_square(opened, family, LINEAR, price)
        found[RADII].append(root_mean_square(opened, intervals_of(opened, radii=True), LINEAR, price) / exact)
        # Cor. 5.1 as printed has R_l = LS^(l) where LS^(l-1) is enough.
        sums = list(accumulate((opened.profile.at(k) for k in range(1, depth)), initial=0))
        printed = Intervals.of(
            [opened.value - radius for radius in sums],
            [opened.value + radius for radius in sums],
            first=family.first,
            last=family.last,
        )
        found[PRINTED_RADII].append(root_mean_square(opened, printed, LINEAR, price) / exact)
    return [
        [kind, part["statistic"], rows, float(np.exp(np.mean(np.log(ratios))))]
        for kind, ratios in found.items()
    ]


def _radii_say(result: Result) -> str:
    rows = max(result.column("rows"))
    cells = [
        f"{name}, {kind}: {result.one('ratio', variant=kind, statistic=name, rows=rows):.3g}"
        for name in result.values("statistic")
        for kind in result.values("variant")
    ]
    return (
        f"Root mean square error relative to exact intervals at {rows} rows: {'; '.join(cells)}. Sums of local "
        "sensitivities lose nothing on the trimmed mean and much on the median, whose local sensitivities add up."
    )


def _radii_draw(result: Result) -> Any:
    from sordino import plots

    curves: dict[str, tuple[Any, Any]] = {}
    for name in result.values("statistic"):
        for kind in result.values("variant"):
            rows = result.column("rows", statistic=name, variant=kind)
            curves[f"{name}: {kind}"] = (rows, result.column("ratio", statistic=name, variant=kind))
    return plots.curves(
        curves,
        xlabel="rows",
        ylabel="root mean square error\n(relative to exact intervals)",
        title="N(0, 1) in [-50, 1050], epsilon = 1: the approximate variant",
        log="xy",
        level=(1.0, "exact intervals"),
    )


EXPERIMENTS = (
    Experiment(
        "durfee-2025-cut",
        "durfee-2025",
        "error of the median when the far intervals are forgotten",
        "Setting the intervals beyond k = O(1/epsilon) to the global sensitivity, or to the range, should suffice.",
        ("variant", "data", "epsilon", "levels", "ratio"),
        _cut_parts,
        _cut_compute,
        _cut_say,
        _cut_draw,
    ),
    Experiment(
        "durfee-2025-radii",
        "durfee-2025",
        "error of the approximate variant, which sums local sensitivities, relative to exact intervals",
        "Local sensitivities may stand in for the exact intervals and ease the computation.",
        ("variant", "statistic", "rows", "ratio"),
        _radii_parts,
        _radii_compute,
        _radii_say,
        _radii_draw,
    ),
)
