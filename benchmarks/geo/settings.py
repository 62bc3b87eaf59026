"""The settings of the experiments of Liang and Yi 2024 (its Figures 3, 4, 6 and 8), on generated and on real points.

Errors are exact expectations over the points, not simulations: M2, M3 and ours are unbiased with a known variance per
person; M0 and M1 have a bias, found by quadrature over their noise.
"""

import os
from pathlib import Path

import numpy as np

from sordino.geo import KernelDensity, QueryMechanism, Reference, Threshold, TwoWayThreshold
from sordino.geo.baseline import expected_bias, noise_variance
from sordino.privacy import Geo

DATA = Path(os.environ.get("SORDINO_DATA", Path(__file__).parents[3] / "shared" / "data"))
MU, SIGMA = 11.494, 0.829  # of the logarithms of incomes
#: Figures 3 and 8: threshold, and distances at which epsilon is one.
THRESHOLDS = {10_000: (800, 1200, 2000), 100_000: (8000, 12_000, 20_000), 500_000: (16_000, 24_000, 40_000),
              1_000_000: (32_000, 48_000, 80_000)}  # fmt: skip
TWO_WAY = (8000, 12_000, 20_000)
#: Figure 6: distance with epsilon one, bandwidth in units of w, people.
KERNELS = [(500, 1.0, 200_000), (1000, 1.0, 200_000), (2000, 1.0, 200_000), (1000, 0.8, 200_000),
           (1000, 1.2, 200_000), (1000, 1.0, 100_000), (1000, 1.0, 400_000)]  # fmt: skip
W = 2370.0
NAMES = ("M0", "M1", "M2", "LDP", "M3", "default")


def incomes(count=50_000):
    """Log-normal incomes, and Californian households drawn with their weights when the file is there."""
    rng = np.random.default_rng(1)
    found = {"log-normal": np.exp(rng.normal(MU, SIGMA, count))}
    path = DATA / "incomes" / "acs2024_ca_households.parquet"
    if path.exists():
        from pyarrow import parquet

        table = parquet.read_table(path, columns=["income", "weight"])
        income, weight = table["income"].to_numpy(), table["weight"].to_numpy().astype(float)
        found["California"] = rng.choice(income, count, p=weight / weight.sum()).astype(float)
    return found


def debts(count=4000):
    """Correlated incomes and debts (section 5 of the paper)."""
    z = np.random.default_rng(2).multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], count)
    return np.exp(np.array([MU, MU + np.log(1.791)]) + SIGMA * z)


def places(count=20_000):
    """A generated city of 25 hot spots, and New York collisions and pickups when the files are there."""
    from sordino.geo.planning import assume

    rng = np.random.default_rng(3)
    found = {"city": assume("city", 2, spread=45_000, count=count)}
    new_york = Reference.around(longitude=-73.95, latitude=40.72, radius=80_000)
    for name, file in (("collisions", "nyc_collisions"), ("pickups", "nyc_uber_pickups")):
        path = DATA / "locations" / f"{file}.parquet"
        if path.exists():
            from pyarrow import parquet

            table = parquet.read_table(path)
            degrees = np.stack([table["lon"].to_numpy(), table["lat"].to_numpy()], axis=1)
            some = degrees[rng.integers(0, len(degrees), count)]
            found[name] = new_york.to_metres(some)
    return found


def one_way(x, at, distance, people):
    """Mean squared error of each mechanism against the soft threshold."""
    price = Geo(1, per=distance)
    query = Threshold(at=at, width=min(0.2 * at, 2.0 * distance))
    bias, spread = expected_bias("M0", query, x, price)
    row = {"M0": bias.mean() ** 2 + spread.mean() / people}
    for name in ("M2", "LDP", "M3"):
        row[name] = noise_variance(name, query, x, price, radius=distance).mean() / people
    row["default"] = QueryMechanism.choose(query, price).variance(x).mean() / people
    return row


def two_way(points, distance, people, side=12, share=2.0):
    """Aggregate squared error over a grid of corners: against the soft corner, and against the sharp one.

    `share` is the width of our band in units of the distance; the paper's is 2.
    """
    price = Geo(1, per=distance)
    soft = dict.fromkeys(("M2", "LDP", "M3", "default"), 0.0)
    sharp = {"paper": 0.0, "ours": 0.0}
    edges = np.linspace(1e4, 1e6, side)
    for a in edges:
        for b in edges:
            query = TwoWayThreshold(at=(a, b), width=min(0.2 * np.hypot(a, b), 2 * distance))
            ours = TwoWayThreshold(at=(a, b), width=min(0.2 * np.hypot(a, b), share * distance))
            hard = ((points[:, 0] > a) & (points[:, 1] > b)).mean()
            sharp["paper"] += (query.value(points).mean() - hard) ** 2
            sharp["ours"] += (ours.value(points).mean() - hard) ** 2
            for name in ("M2", "LDP", "M3"):
                soft[name] += noise_variance(name, query, points, price, radius=distance).mean() / people
            soft["default"] += QueryMechanism.choose(ours, price).variance(points).mean() / people
    cells = side * side
    return {k: v / cells for k, v in soft.items()}, {k: v / cells for k, v in sharp.items()}


def kernel(points, distance, share, people, side=60):
    """Aggregate squared error over a grid of places; all errors are functions of the distance, so tabulated."""
    price = Geo(1, per=distance)
    bandwidth = share * W
    query = KernelDensity(at=(0.0, 0.0), bandwidth=bandwidth)
    r = np.concatenate([np.linspace(0.0, 12 * bandwidth, 1500), np.linspace(12.1 * bandwidth, 1.6e5, 300)])
    line = np.stack([r, np.zeros_like(r)], axis=1)
    curves = {name: noise_variance(name, query, line, price, radius=1000.0) for name in ("M2", "LDP", "M3")}
    curves["default"] = QueryMechanism.choose(query, price).variance(line)
    moved = {name: expected_bias(name, query, line, price) for name in ("M0", "M1")}
    total = dict.fromkeys(NAMES, 0.0)
    edges = [np.linspace(-55_000, 55_000, side), np.linspace(-45_000, 45_000, side)]
    for x in edges[0]:
        for y in edges[1]:
            d = np.hypot(points[:, 0] - x, points[:, 1] - y)
            for name, curve in curves.items():
                total[name] += np.interp(d, r, curve).mean() / people
            for name, (bias, spread) in moved.items():
                total[name] += np.interp(d, r, bias).mean() ** 2 + np.interp(d, r, spread).mean() / people
    return {name: value / side**2 for name, value in total.items()}
