"""Ways to make a map from private reports, and real points to try them on.

Each method takes points, a price and a grid and returns people per square km. Draws use numpy's generator: the law is
that of the exact sampler (tests compare them), and nothing here is a release.
"""

import os
from pathlib import Path

import numpy as np

from sordino.geo import KernelDensity, Points, QueryMechanism, Reference, map_of
from sordino.geo.baseline import planar_laplace
from sordino.geo.blocks import BlockMechanism
from sordino.geo.deconvolution import LEAST_RATIO, factor
from sordino.geo.drawing import true_density
from sordino.geo.points import PointReports
from sordino.geo.window import MapWindow

#: Where the public files are; a generated city stands in for them elsewhere.
DATA = Path(os.environ.get("SORDINO_DATA", Path(__file__).parents[3] / "shared" / "data")) / "locations"
HALF = 8000.0
CELLS = 65
GRID = {"low": (-HALF, -HALF), "high": (HALF, HALF), "shape": (CELLS, CELLS)}
CENTRE = {"longitude": -73.97, "latitude": 40.74}


def real_points(name, count, seed=1):
    """Points of a public file in metres around midtown, with replacement beyond its size; else a generated city."""
    rng = np.random.default_rng(seed)
    path = DATA / f"{name}.parquet"
    if not path.exists():
        from sordino.geo.planning import assume

        return assume("city", 2, spread=HALF, count=count)
    from pyarrow import parquet

    table = parquet.read_table(path)
    degrees = np.stack([table["lon"].to_numpy(), table["lat"].to_numpy()], axis=1)
    some = (
        rng.permutation(len(degrees))[:count]
        if count <= len(degrees)
        else rng.integers(0, len(degrees), count)
    )
    return Reference.around(**CENTRE, radius=80_000).to_metres(degrees[some])


def reports_of(points, price, generator):
    """Point reports with numpy's noise."""
    made = Points(Reference.around(**CENTRE, radius=80_000), price)
    steps = planar_laplace(generator, len(points), 2) * made.unit_loss / float(made.step)
    return PointReports(made, made.snap(points) + np.rint(steps).astype(np.int64))


def truth(points, h):
    """Without any privacy."""
    return 1e6 * true_density(points, bandwidth=h, **GRID)


def unbiased(reports, h):
    """The deconvolved map, if the bandwidth allows one."""
    if h < LEAST_RATIO * reports.mechanism.unit_loss:
        return None
    return 1e6 * map_of(reports, bandwidth=h, **GRID).density


def best(reports, h):
    """The smallest-error map."""
    return 1e6 * map_of(reports, bandwidth=h, best=True, **GRID).density


def moved(reports, h):
    """Reports taken for points."""
    return truth(reports.metres, h)


def likelihood(reports, h, rounds=60):
    """EM deconvolution (Richardson and Lucy) on cells, then the kernel."""
    unit = reports.mechanism.unit_loss
    window = MapWindow.over(**GRID, finest=min(h / 4, unit / 4), pad=max(6 * h, 3 * h + 12 * unit))
    seen = window.counts([reports.metres]).astype(float)
    blur = 1.0 / factor(window.waves, unit, 2)

    def blurred(field):
        return window.back(window.forward(field) * blur)

    people = np.maximum(blurred(seen), 1e-12)
    for _ in range(rounds):
        people *= np.maximum(blurred(seen / np.maximum(blurred(people), 1e-9)), 0.0)
    smooth = np.exp(-0.5 * h * h * window.waves) / window.area
    return 1e6 * window.back(window.forward(people) * smooth)[window.inner]


def randomised_response(points, h, generator, epsilon=1.0):
    """Local differential privacy: which cell of side h, by unary encoding (OUE), then the kernel that is left."""
    side = h
    reach = HALF + 4 * h
    cells = int(np.ceil(2 * reach / side))
    index = np.floor((points + reach) / side).astype(int)
    good = ((index >= 0) & (index < cells)).all(axis=1)
    counts = np.bincount(index[good, 0] * cells + index[good, 1], minlength=cells * cells)
    n, p, q = len(points), 0.5, 1 / (np.exp(epsilon) + 1)
    heard = generator.binomial(counts, p) + generator.binomial(n - counts, q)
    people = (heard - n * q) / (p - q)
    axis = -reach + side * (np.arange(cells) + 0.5)
    left = (h**2 - side**2 / 12) ** 0.5  # a cell has spread of its own
    places = np.linspace(-HALF, HALF, CELLS)
    kernel = np.exp(-0.5 * ((places[:, None] - axis[None, :]) / left) ** 2) / ((2 * np.pi) ** 0.5 * left)
    return 1e6 * kernel @ people.reshape(cells, cells) @ kernel.T


def rms(found, true):
    """Root mean squared error over the map."""
    return float(np.sqrt(np.mean((found - true) ** 2)))


def blocks_error(price, h, count):
    """Expected error of the map by blocks of places, one price; places a bandwidth apart, which suits it best."""
    shape = (int(2 * HALF / h) + 1,) * 2
    query = KernelDensity.grid(**{**GRID, "shape": shape}, bandwidth=h)
    made = BlockMechanism.choose(query, price)
    return float(1e6 * count / query.normaliser * (len(made.blocks) * made.variance() / count) ** 0.5)


def per_place_error(points, price, h):
    """Expected error if every place is asked about separately, each at the full price."""
    query = KernelDensity(at=((0.0, 0.0),), bandwidth=h)
    made = QueryMechanism.choose(query, price)
    some = points[:: max(1, len(points) // 2000)]
    places = np.linspace(-HALF, HALF, 9)
    variance = np.mean([made.variance(some - np.array([x, y])).mean() for x in places for y in places])
    return float(1e6 * len(points) / query.normaliser * (variance / len(points)) ** 0.5)
