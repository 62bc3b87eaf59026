"""Queries about places: a corner above two thresholds, a disc, a box, a polygon; all by signed distance.

For any closed set the band formula is a smooth upper bound (docs/proofs/geo_plateau.md), exact for convex sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import MissingExtra, ParameterError
from sordino.geo.band import Band
from sordino.geo.query import Query

if TYPE_CHECKING:
    from sordino.geo.query import Floats


def _floats(subject: str, name: str, values: Any, *, least: int = 1) -> tuple[float, ...]:
    """Take a sequence of finite numbers."""
    try:
        listed = list(values)
    except TypeError:
        listed = []
    if len(listed) < least:
        raise ParameterError(subject, f"{name} must hold at least {least} numbers", got={name: values})
    return tuple(float(checks.exact(subject, **{name: value})) for value in listed)


@dataclass(frozen=True, slots=True, repr=False)
class Region(Query):
    """A closed set, softened over a band: one inside, zero outside, one half on the boundary."""

    @property
    def curve(self) -> Band:
        """A band."""
        return Band(self.width)  # type: ignore[attr-defined]

    def to_boundary(self, points: Floats) -> Floats:
        """Signed distance to the boundary, negative inside."""
        raise NotImplementedError

    @property
    def size(self) -> float:
        """A length that bounds the set's extent, for the float error of distances."""
        raise NotImplementedError

    def coordinate(self, points: Floats) -> Floats:
        """Signed distance to the points that count in full."""
        d = self.to_boundary(points)
        d += 0.5 * self.curve.width
        return d

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """Differences, squares, a root: a few last digits of the extent."""
        return 2.0**-49 * (far + self.size + self.curve.width)


@dataclass(frozen=True, slots=True, repr=False)
class TwoWayThreshold(Query):
    """Are both numbers above their thresholds? A quarter plane whose corner is rounded, softened over a band.

    The rounding radius width/sqrt(2) is that of Liang and Yi 2024, section 4.2.

    Args:
        at: The two thresholds.
        width: Over what distance the answer goes from zero to one.

    Example:
        >>> TwoWayThreshold(at=(10.0, 20.0), width=2.0).value([[12.0, 30.0], [10.5, 30.0], [5.0, 30.0]])
        array([1.  , 0.75, 0.  ])
    """

    name = "two-way-threshold"
    at: tuple[float, float]
    width: float

    def __post_init__(self) -> None:
        at = _floats(self.name, "at", self.at, least=2)
        if len(at) != 2:
            raise ParameterError(self.name, "at must hold two thresholds", got={"at": at})
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "width", float(checks.positive(self.name, width=self.width)))

    @property
    def dimension(self) -> int:
        """Two."""
        return 2

    @property
    def curve(self) -> Band:
        """A band."""
        return Band(self.width)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The corner."""
        return self.at

    def coordinate(self, points: Floats) -> Floats:
        """Signed distance to the rounded quarter plane of points that count in full."""
        half, radius = 0.5 * self.width, self.width * float(np.sqrt(0.5))
        a = (self.at[0] - points[:, 0]) + half
        b = (self.at[1] - points[:, 1]) + half
        straight = np.maximum(a, b)
        a += radius
        b += radius
        corner = (a > 0) & (b > 0)  # between the corner and the centre of its rounding
        a *= a
        b *= b
        a += b
        np.sqrt(a, out=a)
        a -= radius
        return np.where(corner, a, straight)

    def coordinate_error(self, far: float, limit: float) -> float:  # noqa: ARG002
        """Sums, squares, a root: a few last digits; across the seams the distance is continuous."""
        return 2.0**-49 * (far + 2 * self.width)


@dataclass(frozen=True, slots=True, repr=False)
class Disc(Region):
    """Is the point within a radius of a centre? In any dimension.

    Args:
        centre: The middle, in the unit of the points.
        radius: How far the disc reaches.
        width: Over what length the edge is softened: the answer falls from one to zero across it.

    Example:
        >>> Disc(centre=(0.0, 0.0), radius=10.0, width=4.0).value([[3.0, 4.0], [6.0, 8.0], [30.0, 40.0]])
        array([1. , 0.5, 0. ])
    """

    name = "disc"
    centre: tuple[float, ...]
    radius: float
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", _floats(self.name, "centre", self.centre))
        object.__setattr__(self, "radius", float(checks.positive(self.name, radius=self.radius)))
        object.__setattr__(self, "width", float(checks.positive(self.name, width=self.width)))

    @property
    def dimension(self) -> int:
        """As many as the centre has."""
        return len(self.centre)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The centre."""
        return self.centre

    @property
    def size(self) -> float:
        """The radius."""
        return self.radius

    def to_boundary(self, points: Floats) -> Floats:
        """Distance to the centre, less the radius."""
        d = distance(points, self.centre)
        d -= self.radius
        return d


@dataclass(frozen=True, slots=True, repr=False)
class Box(Region):
    """Is the point in a box with sides along the axes? In any dimension.

    Args:
        low: The lowest corner, one number per axis.
        high: The highest corner.
        width: Over what length the edge is softened: the answer falls from one to zero across it.

    Example:
        >>> Box(low=(0.0, 0.0), high=(10.0, 4.0), width=2.0).value([[5.0, 2.0], [10.5, 2.0], [13.0, 8.0]])
        array([1.  , 0.25, 0.  ])
    """

    name = "box"
    low: tuple[float, ...]
    high: tuple[float, ...]
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", _floats(self.name, "low", self.low))
        object.__setattr__(self, "high", _floats(self.name, "high", self.high))
        object.__setattr__(self, "width", float(checks.positive(self.name, width=self.width)))
        if len(self.low) != len(self.high) or any(a >= b for a, b in zip(self.low, self.high, strict=False)):
            raise ParameterError(
                self.name,
                "high must be greater than low in every coordinate",
                got={"low": self.low, "high": self.high},
            )

    @property
    def dimension(self) -> int:
        """As many as the corners have."""
        return len(self.low)

    @property
    def anchor(self) -> tuple[float, ...]:
        """The middle."""
        return tuple(0.5 * (a + b) for a, b in zip(self.low, self.high, strict=True))

    @property
    def size(self) -> float:
        """The longest side."""
        return max(b - a for a, b in zip(self.low, self.high, strict=True))

    def to_boundary(self, points: Floats) -> Floats:
        """Euclidean distance outside, minus the distance to the nearest face inside."""
        at = points[:, None] if points.ndim == 1 else points
        nearest = np.full(at.shape[0], -np.inf)
        square = np.zeros(at.shape[0])
        for axis, (a, b) in enumerate(zip(self.low, self.high, strict=True)):
            out = np.maximum(a - at[:, axis], at[:, axis] - b)
            np.maximum(nearest, out, out=nearest)
            square += np.square(np.maximum(out, 0.0))
        return np.where(nearest > 0, np.sqrt(square), nearest)


@dataclass(frozen=True, slots=True, repr=False)
class Geofence(Region):
    """Is the point inside a polygon? Any closed polygon, with holes, through shapely.

    Args:
        outline: Well-known text of a polygon or multipolygon in metres, or a shapely geometry.
        width: Over what distance the answer goes from one to zero, centred on the outline.

    Example:
        >>> fence = Geofence(outline="POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))", width=2.0)
        >>> fence.value([[5.0, 5.0], [10.5, 5.0], [20.0, 5.0]])
        array([1.  , 0.25, 0.  ])
    """

    name = "geofence"
    outline: str
    width: float

    def __post_init__(self) -> None:
        shapely = _shapely()
        object.__setattr__(self, "width", float(checks.positive(self.name, width=self.width)))
        shape: Any = self.outline
        if isinstance(shape, str):
            try:
                shape = shapely.from_wkt(shape)
            except shapely.errors.GEOSException:
                shape = None
        area = getattr(shape, "geom_type", "") in {"Polygon", "MultiPolygon"}
        if not area or shape.is_empty or not shape.is_valid:
            raise ParameterError(
                self.name,
                "outline must be a valid polygon or multipolygon",
                got={"outline": self.outline if isinstance(self.outline, str) else type(shape).__name__},
                hint='"POLYGON ((0 0, 1000 0, 1000 1000, 0 0))"',
            )
        object.__setattr__(self, "outline", shapely.to_wkt(shape, rounding_precision=-1))

    @property
    def dimension(self) -> int:
        """Two."""
        return 2

    @property
    def shape(self) -> Any:
        """The shapely geometry."""
        return _prepared(self.outline)[0]

    @property
    def anchor(self) -> tuple[float, ...]:
        """The middle of the bounding box."""
        a, b, c, d = self.shape.bounds
        return 0.5 * (a + c), 0.5 * (b + d)

    @property
    def size(self) -> float:
        """The extent of the bounding box, or of the largest coordinate, whose last digits GEOS works with."""
        return 4.0 * max(abs(edge) for edge in self.shape.bounds)

    def to_boundary(self, points: Floats) -> Floats:
        """GEOS distance to the outline, with the sign of an exact point-in-polygon test."""
        shapely = _shapely()
        shape, edge = _prepared(self.outline)
        d = shapely.distance(edge, shapely.points(points))
        inside = shapely.contains_xy(shape, points[:, 0], points[:, 1])
        return np.where(inside, -d, d)


def distance(points: Floats, centre: tuple[float, ...]) -> Floats:
    """Euclidean distance to a centre, with a few passes."""
    if points.ndim == 1:
        d: Floats = points - centre[0]
        return np.abs(d, out=d)
    total = points[:, 0] - centre[0]
    total *= total
    for axis in range(1, len(centre)):
        d = points[:, axis] - centre[axis]
        d *= d
        total += d
    return np.sqrt(total, out=total)


_PREPARED: dict[str, tuple[Any, Any]] = {}


def _prepared(outline: str) -> tuple[Any, Any]:
    """Parse and index a polygon once."""
    if outline not in _PREPARED:
        shapely = _shapely()
        shape = shapely.from_wkt(outline)
        edge = shape.boundary
        shapely.prepare(shape)
        shapely.prepare(edge)
        if len(_PREPARED) > 64:
            _PREPARED.clear()
        _PREPARED[outline] = shape, edge
    return _PREPARED[outline]


def _shapely() -> Any:
    """Import shapely, or say how to install it."""
    try:
        import shapely
    except ImportError:
        raise MissingExtra.named("geofence", "shapely", "geo") from None
    return shapely
