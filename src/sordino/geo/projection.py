"""From longitude and latitude to metres: a projection whose distances are true near a public centre.

The promise speaks of metres, so the map must not shrink or stretch them much. `Projection` is the azimuthal
equidistant projection of WGS 84 around a public point; `stretch` says how true it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import MissingExtra

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CACHE: dict[tuple[float, float], Any] = {}


@dataclass(frozen=True, slots=True)
class Projection:
    """The azimuthal equidistant projection around a public point, in metres.

    Args:
        longitude: Of the centre, in degrees.
        latitude: Of the centre, in degrees.

    Example:
        >>> new_york = Projection(longitude=-73.97, latitude=40.74)
        >>> new_york.to_metres([[-73.97, 40.75]]).round(1)
        array([[   0. , 1110.5]])
        >>> round(new_york.stretch(radius=50_000), 6)
        1.00001
    """

    longitude: float
    latitude: float

    def __post_init__(self) -> None:
        longitude = checks.between("projection", -180, 180, closed=True, longitude=self.longitude)
        latitude = checks.between("projection", -90, 90, closed=True, latitude=self.latitude)
        object.__setattr__(self, "longitude", float(longitude))
        object.__setattr__(self, "latitude", float(latitude))

    def to_metres(self, degrees: ArrayLike) -> NDArray[np.float64]:
        """East and north of the centre, from (longitude, latitude) rows. Impossible degrees become NaN."""
        at = np.asarray(degrees, dtype=np.float64)
        east, north = self._transformer().transform(at[:, 0], at[:, 1])
        metres = np.stack([east, north], axis=1)
        metres[~np.isfinite(metres).all(axis=1)] = np.nan
        return metres

    def to_degrees(self, metres: ArrayLike) -> NDArray[np.float64]:
        """(longitude, latitude) rows from metres east and north."""
        at = np.asarray(metres, dtype=np.float64)
        return np.stack(self._transformer().transform(at[:, 0], at[:, 1], direction="INVERSE"), axis=1)

    def stretch(self, *, radius: float) -> float:
        """The largest factor by which map distances exceed true ones within a radius of the centre.

        True distances of short segments on the ellipsoid are compared at the edge; multiply a privacy distance `per` by
        this to be safe on the ground.
        """
        from pyproj import Geod

        edge = float(checks.positive("projection", radius=radius))
        geod = Geod(ellps="WGS84")
        angle = np.linspace(0.0, 2 * np.pi, 72, endpoint=False)
        worst = 1.0
        for share in (0.25, 0.5, 0.75, 1.0):
            centre = share * edge * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            for direction in (angle, angle + np.pi / 2):
                other = centre + 10.0 * np.stack([np.cos(direction), np.sin(direction)], axis=1)
                a, b = self.to_degrees(centre), self.to_degrees(other)
                true = geod.inv(a[:, 0], a[:, 1], b[:, 0], b[:, 1])[2]
                worst = max(worst, float((10.0 / np.asarray(true)).max()))
        return worst

    def _transformer(self) -> Any:
        key = (self.longitude, self.latitude)
        if key not in _CACHE:
            try:
                from pyproj import Transformer
            except ImportError:
                raise MissingExtra.named("projection", "pyproj", "geo") from None
            local = f"+proj=aeqd +lat_0={self.latitude!r} +lon_0={self.longitude!r} +datum=WGS84 +units=m"
            _CACHE[key] = Transformer.from_crs("EPSG:4326", local, always_xy=True)
        return _CACHE[key]
