"""Figures of tables as they were designed, beside what is built: every one that public numbers or exact laws tell.

Designed figures are those of the specification from which keys, tables, hierarchies and several means were built; the
last column is built over designed. Counts of keys found are expectations by the exact law of every key, given the data
(`SORDINO_DATA` names their folder; without them those lines are left out).
"""

import math
from fractions import Fraction

import numpy as np

from benchmarks.accuracy.bench_tables import DATA
from sordino.mechanisms.additive.cube_draw import cube_deviation, cube_half
from sordino.mechanisms.discovery.mixed_cut import MixedCut
from sordino.mechanisms.table import level_split, pure_split
from sordino.mechanisms.table.high_pass_law import HighPassLaw
from sordino.mechanisms.table.interactions import Design, subsets
from sordino.statistics.count_tree import CountTree

HALVES = {".1": (109, 178), ".3": (41, 64), "1": (14, 21), "3": (6, 8)}
LISTED = {".1": (86, 132, 201, 270), "1": (9, 14, 21, 28), "3": (4, 5, 7, 10)}
MARGINS = {
    (10, 10): (1.81, 5.11), (20, 2, 18): (2.17, 6.6), (39, 2, 18): (2.20, 6.6), (100, 100): (1.98, 5.59),
    (100, 10, 100): (2.67, 10.7), (50, 2, 100, 10): (3.04, 13.5),
}  # fmt: skip
REPLACED = {(10, 10): (1.22, 1.25), (20, 2, 18): (1.29, 1.33), (61, 2, 94): (1.30, 1.32)}
PERSONS = (None, 23, 19, 23, 21, 24, 20, 21.3)
CUBE = {2: (0.71, 0.69), 5: (0.53, 0.49), 10: (0.47, 0.41), 30: (0.43, 0.35)}
COLLISIONS = {".1": 50, "1": 2908, "3": 7144}


def keys():
    """From how many people on a key is shown half the time, and keys found where everybody has one."""
    for epsilon, wanted in HALVES.items():
        for delta, figure in zip(("1e-6", "1e-9"), wanted, strict=True):
            found = MixedCut.of(Fraction(epsilon), Fraction(delta)).even
            yield f"shown half the time, epsilon {epsilon}, delta {delta}", figure, found, found / figure
    path = DATA / "locations" / "nyc_collisions.parquet"
    if path.exists():
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path, columns=["lat", "lon"])
        lat, lon = (np.deg2rad(table[name].to_numpy()) * 6_371_008.8 / 200 for name in ("lat", "lon"))
        cells = np.floor(lat).astype(np.int64) * 10**7 + np.floor(lon * math.cos(math.radians(40.7))).astype(
            int
        )
        counts = np.unique(cells, return_counts=True)[1]
        for epsilon, figure in COLLISIONS.items():
            law = MixedCut.of(Fraction(epsilon), Fraction("1e-6"))
            found = sum(
                many * law.kept(int(size))
                for size, many in zip(*np.unique(counts, return_counts=True), strict=True)
            )
            yield f"collisions by 200 m cell found, epsilon {epsilon}", figure, found, found / figure


def listed():
    """Thresholds of sparse tables with one false cell."""
    for epsilon, wanted in LISTED.items():
        for cells, figure in zip((10**4, 10**6, 10**9, 10**12), wanted, strict=True):
            found = HighPassLaw.listing(1 / Fraction(epsilon), cells, 1.0, gaussian=False).threshold
            yield (
                f"listed from, epsilon {epsilon}, {cells:.0e} cells",
                figure,
                int(found),
                int(found) / figure,
            )


def margins():
    """Root mean square errors of all margins, and what replaced rows cost."""
    for sizes, (gaussian, pure) in MARGINS.items():
        asked = Design(sizes, tuple((margin, 1.0) for margin in subsets(range(len(sizes)))))
        name = " x ".join(map(str, sizes))
        parts = {part: float(v) for part, v in asked.added(Fraction(1, 2)).items()}
        drawn = pure_split.split(asked, Fraction(1), replaced=False, closed=False)
        noise = {margin: pure_split.geometric_variance(float(share)) for margin, share in drawn.items()}
        for price, figure, variances in (
            ("rho 0.5", gaussian, parts), ("epsilon 1", pure, pure_split.part_variances(asked, noise)),
        ):  # fmt: skip
            found = math.sqrt(np.mean([asked.variance(margin, variances) for margin, _ in asked.margins]))
            yield f"{name}, {price}", figure, found, found / figure
    for sizes, (least, most) in REPLACED.items():
        asked = Design(sizes, tuple((margin, 1.0) for margin in subsets(range(len(sizes)))))
        one, two = (
            {part: float(v) for part, v in found.items()}
            for found in (asked.added(Fraction(1, 2)), asked.replaced(Fraction(1, 2), closed=True))
        )
        ratios = [
            math.sqrt(asked.variance(margin, two) / asked.variance(margin, one))
            for margin, _ in asked.margins
            if margin
        ]
        name = f"{' x '.join(map(str, sizes))}, replaced over added"
        for words, figure, found in (("least", least, min(ratios)), ("most", most, max(ratios))):
            yield f"{name}, {words}", figure, found, found / figure
    asked = Design((61, 2, 94), tuple((margin, 1.0) for margin in subsets(range(3))))
    variances = {part: float(v) for part, v in asked.added(Fraction(1, 200)).items()}
    for figure, (margin, _) in zip(PERSONS, asked.margins, strict=True):
        if figure is not None:
            found = math.sqrt(asked.variance(margin, variances))
            yield f"persons, rho 0.005, margin {margin}", figure, found, found / figure


def others():
    """A hierarchy with equal numbers of children, and cube noise beside a split of epsilon."""
    tree = CountTree(1, ((10,), (10,) * 10))
    best = level_split.split(tree, (1.0,) * 3, Fraction(1), ((1, 1, 1),), gaussian=True)
    for name, figure, amounts in (("two passes", 1.624, (Fraction(1, 3),) * 3), ("best parts", 1.622, best)):
        noise = level_split.noise_of(amounts, gaussian=True)
        found = math.sqrt(np.mean([one.mean() for one in tree.variances(noise)]))
        yield f"hierarchy 1, 10, 100, rho 0.5, {name}", figure, found, found / figure
    for columns, (deviation, wide) in CUBE.items():
        found = cube_deviation(columns) / (math.sqrt(2) * columns)
        yield f"cube over split, {columns} means, deviation", deviation, found, found / deviation
        found = cube_half(0.05, columns) / (columns * math.log(20))
        yield f"cube over split, {columns} means, 95 % half width", wide, found, found / wide


def tables():
    """For the runner."""
    columns = ("what", "designed", "built", "ratio")
    yield "Keys", columns, list(keys())
    yield "Sparse tables", columns, list(listed())
    yield "Margins", columns, list(margins())
    yield "Hierarchies and several means", columns, list(others())
