"""How much of each cell of a window a region covers: boxes, discs, polygons, nearest-centre cells; public shapes all.

A region is then a field on the nodes, softened over `edge_width` and deconvolved like any kernel: `fields.py`.
"""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import MissingExtra, Unsupported
from sordino.geo.region import Box, Disc, Geofence, TwoWayThreshold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.window import MapWindow

    Floats = NDArray[np.float64]
    Bounds = tuple[float, float, float, float]

_FINE = 8  # parts of a cell along each axis, where nearest centres meet


def bounds_of(question: Any, everything: Bounds) -> Bounds:
    """West, south, east, north of a region; a corner without an end goes as far as reports do."""
    if isinstance(question, Box):
        return (*question.low, *question.high)  # type: ignore[return-value]
    if isinstance(question, Disc):
        (x, y), r = question.centre, question.radius
        return x - r, y - r, x + r, y + r
    if isinstance(question, TwoWayThreshold):
        return question.at[0], question.at[1], everything[2], everything[3]
    if isinstance(question, Geofence):
        west, south, east, north = question.shape.bounds
        return float(west), float(south), float(east), float(north)
    raise Unsupported("region", "not a region of the plane", got={"question": type(question).__name__})


def nodes_around(window: MapWindow, bounds: Bounds, pad: float) -> tuple[slice, slice]:
    """The nodes of a window within a border around a region."""
    found = []
    for i in (0, 1):
        begin = floor((bounds[i] - pad - window.origin[i]) / window.cell[i])
        end = ceil((bounds[i + 2] + pad - window.origin[i]) / window.cell[i]) + 1
        found.append(slice(max(0, begin), min(window.shape[i], end)))
    return found[0], found[1]


def covered(question: Any, x: Floats, y: Floats, cell: tuple[float, float], bounds: Bounds) -> Floats:
    """The share of the cell around each node that a region covers."""
    if isinstance(question, (Box, TwoWayThreshold)):
        across = _overlap(x, cell[0], bounds[0], bounds[2])
        up = _overlap(y, cell[1], bounds[1], bounds[3])
        return np.outer(across, up)
    return _polygon(_shape(question), x, y, cell)


def _overlap(nodes: Floats, cell: float, low: float, high: float) -> Floats:
    """Length of [low, high] inside the cell around each node, in cells."""
    left, right = nodes - cell / 2, nodes + cell / 2
    inside: Floats = np.clip(np.minimum(right, high) - np.maximum(left, low), 0.0, None) / cell
    return inside


def _shape(question: Any) -> Any:
    if isinstance(question, Geofence):
        return question.shape
    shapely = _shapely()
    corners = 512
    # A polygon inside the circle has less area; the radius makes up for it.
    grown = question.radius * (2 * np.pi / corners / np.sin(2 * np.pi / corners)) ** 0.5
    return shapely.Point(*question.centre).buffer(grown, quad_segs=corners // 4)


def _polygon(shape: Any, x: Floats, y: Floats, cell: tuple[float, float]) -> Floats:
    """Whole cells by an exact test of their nodes, cells on the outline by the exact area of the intersection."""
    shapely = _shapely()
    shapely.prepare(shape)
    at_x, at_y = (grid.ravel() for grid in np.meshgrid(x, y, indexing="ij"))
    share = shapely.contains_xy(shape, at_x, at_y).astype(np.float64)
    line = shapely.get_coordinates(shapely.segmentize(shape.boundary, 0.4 * min(cell)))
    column = np.rint((line[:, 0] - x[0]) / cell[0]).astype(np.int64)
    row = np.rint((line[:, 1] - y[0]) / cell[1]).astype(np.int64)
    touched = np.zeros((len(x), len(y)), dtype=bool)
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            good = (column + i >= 0) & (column + i < len(x)) & (row + j >= 0) & (row + j < len(y))
            touched[column[good] + i, row[good] + j] = True
    some = np.flatnonzero(touched.ravel())
    half = 0.5 * cell[0], 0.5 * cell[1]
    boxes = shapely.box(
        at_x[some] - half[0], at_y[some] - half[1], at_x[some] + half[0], at_y[some] + half[1]
    )
    share[some] = shapely.area(shapely.intersection(shape, boxes)) / (cell[0] * cell[1])
    return share.reshape(len(x), len(y))


def nearest(centres: Floats, x: Floats, y: Floats, cell: tuple[float, float]) -> NDArray[np.float64]:
    """For each centre the share of every cell that is nearest to it; shape (centres, nodes, nodes)."""
    from scipy.spatial import cKDTree

    tree = cKDTree(centres)
    nodes = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    owner = np.asarray(tree.query(nodes)[1])
    mixed = np.zeros(owner.shape, dtype=bool)
    for axis in (0, 1):
        for shift in (-1, 1):
            mixed |= np.roll(owner, shift, axis) != owner
    mixed |= np.roll(mixed, 1, 0) | np.roll(mixed, -1, 0)
    shares = np.zeros((len(centres), *owner.shape))
    np.put_along_axis(shares, owner[None], 1.0, axis=0)
    inside = (np.arange(_FINE) + 0.5) / _FINE - 0.5
    offsets = np.stack(np.meshgrid(inside * cell[0], inside * cell[1], indexing="ij"), axis=-1).reshape(-1, 2)
    where = np.argwhere(mixed)
    owners = np.asarray(tree.query(nodes[mixed][:, None, :] + offsets[None])[1])
    shares[:, mixed] = 0.0
    for column in range(owners.shape[1]):
        np.add.at(shares, (owners[:, column], where[:, 0], where[:, 1]), 1.0 / owners.shape[1])
    return shares


def _shapely() -> Any:
    try:
        import shapely
    except ImportError:
        raise MissingExtra.named("region", "shapely", "geo") from None
    return shapely
