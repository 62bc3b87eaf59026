"""The coordinate reference: what a pair of numbers means on the ground, and how far the map stretches distances.

The promise speaks of metres on the ground, so a map may nowhere pull near points apart. `Sphere` is an azimuthal
equidistant map around a public centre, with a far rule that keeps it safe over the whole globe; `Flat` is for numbers
that are distances already. Proof: docs/proofs/geo_points.md. A reference is part of the name of every mechanism.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

SEMI_MAJOR, FLATTENING = 6_378_137.0, 1 / 298.257223563  # WGS 84
_ECCENTRICITY = FLATTENING * (2 - FLATTENING)  # squared
#: What pays for the last digits of sines and cosines on any platform, relative to distances of at least `per`.
_ALLOWANCE = 1e-5
LARGEST_RADIUS = 200_000.0
_FLAT_KINDS = {1: "line", 2: "plane", 3: "space"}


class Reference(ABC):
    """What coordinates mean; made by `around` for places on the ground, by `flat` for plain numbers."""

    kind: ClassVar[str]

    @staticmethod
    def around(*, longitude: float, latitude: float, radius: float) -> Sphere:
        """Map the ground around a public centre.

        Args:
            longitude: Of the centre, in degrees.
            latitude: Of the centre, in degrees.
            radius: Half the side of the square that reports tell apart, in metres, at most 200 km. Points outside
                count as points of its border: take the map you want and add three bandwidths and five times the
                distance of loss one on each side.

        Example:
            >>> new_york = Reference.around(longitude=-73.97, latitude=40.74, radius=50_000)
            >>> new_york.to_metres([[-73.97, 40.75]]).round(1)
            array([[   0. , 1112.6]])
            >>> float(new_york.stretch)
            1.00208
        """
        side = float(checks.positive("reference", radius=radius))
        if side > LARGEST_RADIUS:
            raise ParameterError(
                "reference",
                "radius must be at most 200 km",
                got={"radius": radius},
                why="No flat map keeps the distances of a larger region.",
                hint="several centres with one mechanism each; their answers are added",
            )
        at = float(checks.between("reference", -90, 90, closed=True, latitude=latitude))
        meridian, normal = radii_of_curvature(np.array(at))
        radius_here = round(float(np.sqrt(meridian * normal)), 1)
        return Sphere(longitude, latitude, radius_here, float(ceil(side * 2**0.5)))

    @staticmethod
    def flat(*, low: Any, high: Any, unit: str = "metre") -> Flat:
        """Take numbers as they are: a line, a plane or space with a unit, told apart between two public corners.

        Example:
            >>> Reference.flat(low=0, high=1_000_000, unit="dollar").to_dict()
            {'kind': 'line', 'unit': 'dollar'}
        """
        return Flat(_corner("low", low), _corner("high", high), unit)

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Number of coordinates."""

    @property
    @abstractmethod
    def stretch(self) -> Fraction:
        """The largest ratio of a distance on the map to the distance on the ground, rounded up."""

    @abstractmethod
    def box(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The corners, in the unit of the map, between which points are told apart."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Give the record that stands in heads and in the names of mechanisms."""


@dataclass(frozen=True, slots=True)
class Sphere(Reference):
    """The azimuthal equidistant map of a sphere around a public centre, folded beyond a public reach.

    Attributes:
        longitude: Of the centre, in degrees.
        latitude: Of the centre, in degrees.
        radius: Of the sphere, in metres.
        reach: Beyond this distance from the centre points move along the circle only, in metres.
    """

    kind: ClassVar[str] = "sphere-azimuthal-equidistant"
    longitude: float
    latitude: float
    radius: float
    reach: float

    def __post_init__(self) -> None:
        for name, least, most in (
            ("longitude", -180, 180),
            ("latitude", -90, 90),
            ("radius", 6_335_000, 6_400_000),
            ("reach", 1, 300_000),
        ):
            value = checks.between("reference", least, most, closed=True, **{name: getattr(self, name)})
            object.__setattr__(self, name, float(value))

    @property
    def dimension(self) -> int:
        """Two."""
        return 2

    @property
    def stretch(self) -> Fraction:
        """c0/sin(c0) R/M at the point of the region nearest to the equator, and the allowance for floats."""
        c0 = self.reach / self.radius
        nearest = max(0.0, abs(self.latitude) - np.degrees(c0))
        meridian = float(radii_of_curvature(np.array(nearest))[0])
        ratio = c0 / np.sin(c0) * self.radius / meridian + _ALLOWANCE
        return Fraction(ceil(float(ratio) * 10**5), 10**5)

    def box(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The square inside the reach."""
        half = self.reach / 2**0.5
        return (-half, -half), (half, half)

    def to_metres(self, degrees: ArrayLike) -> Floats:
        """East and north of the centre, from (longitude, latitude) rows. What is not a place on Earth becomes NaN."""
        at = _rows(degrees)
        with np.errstate(all="ignore"):
            turn = at[:, 0] - self.longitude
            across = np.radians(turn - 360.0 * np.rint(turn / 360.0))
            up, up0 = np.radians(at[:, 1]), np.radians(self.latitude)
            rise = np.radians(at[:, 1] - self.latitude)
            east = np.cos(up) * np.sin(across)
            bend = np.cos(up) * np.sin(across / 2) ** 2
            north = np.sin(rise) + 2 * np.sin(up0) * bend
            angle = 2 * np.arcsin(np.sqrt(np.minimum(np.sin(rise / 2) ** 2 + np.cos(up0) * bend, 1.0)))
            c0 = self.reach / self.radius
            factor = np.where(angle <= np.pi / 2, np.minimum(angle, c0) / np.sin(angle), c0)
            factor[angle < 1e-12] = 1.0
            metres = np.stack([self.radius * factor * east, self.radius * factor * north], axis=1)
        metres[~np.isfinite(metres).all(axis=1) | (np.abs(at[:, 1]) > 90.0)] = np.nan
        return metres

    def to_degrees(self, metres: ArrayLike) -> Floats:
        """(longitude, latitude) rows from metres east and north of the centre."""
        at = _rows(metres)
        angle = np.hypot(at[:, 0], at[:, 1]) / self.radius
        ratio = np.sinc(angle / np.pi)  # sin(c)/c
        up0 = np.radians(self.latitude)
        sine = np.cos(angle) * np.sin(up0) + at[:, 1] / self.radius * ratio * np.cos(up0)
        east = at[:, 0] / self.radius * ratio
        north = np.cos(up0) * np.cos(angle) - at[:, 1] / self.radius * ratio * np.sin(up0)
        turn = self.longitude + np.degrees(np.arctan2(east, north))
        up = np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0)))
        return np.stack([turn - 360.0 * np.rint(turn / 360.0), up], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Give the record that stands in heads."""
        return {
            "kind": self.kind,
            "longitude": decimal(self.longitude),
            "latitude": decimal(self.latitude),
            "radius": decimal(self.radius),
            "reach": decimal(self.reach),
        }


@dataclass(frozen=True, slots=True)
class Flat(Reference):
    """Numbers whose differences are distances already: a line, a plane or space.

    Attributes:
        low: Lower public corner.
        high: Upper public corner.
        unit: What one step of a number is: metre, dollar.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    unit: str = "metre"

    def __post_init__(self) -> None:
        if len(self.low) != len(self.high) or len(self.low) not in _FLAT_KINDS:
            raise ParameterError(
                "reference", "low and high must have one to three numbers each", got={"low": self.low}
            )
        if any(a >= b for a, b in zip(self.low, self.high, strict=True)):
            raise ParameterError(
                "reference", "high must be greater than low", got={"low": self.low, "high": self.high}
            )
        if not isinstance(self.unit, str) or not self.unit.isascii() or not self.unit.isalpha():
            raise ParameterError("reference", "unit must be a word", got={"unit": self.unit}, hint="metre")
        if self.unit.lower().startswith("degree"):
            raise ParameterError(
                "reference",
                "degrees are not distances",
                got={"unit": self.unit},
                why="A degree of longitude is 111 km at the equator and nothing at the pole.",
                hint="Reference.around(longitude=..., latitude=..., radius=50_000)",
            )

    @property
    def dimension(self) -> int:
        """As many as the corners have."""
        return len(self.low)

    @property
    def stretch(self) -> Fraction:
        """One: nothing is projected."""
        return Fraction(1)

    def box(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The corners."""
        return self.low, self.high

    def to_dict(self) -> dict[str, Any]:
        """Give the record that stands in heads."""
        return {"kind": _FLAT_KINDS[self.dimension], "unit": self.unit}


def reference_from(record: Any, *, low: Any = None, high: Any = None) -> Reference:
    """Read what `to_dict` wrote; a flat reference also needs its corners."""
    kind = record.get("kind") if isinstance(record, dict) else None
    try:
        if kind == Sphere.kind:
            names = ("longitude", "latitude", "radius", "reach")
            if set(record) == {"kind", *names}:
                return Sphere(*(float(record[name]) for name in names))
        elif kind in _FLAT_KINDS.values() and set(record) == {"kind", "unit"}:
            made = Flat(tuple(map(float, low)), tuple(map(float, high)), record["unit"])
            if made.to_dict() == record:
                return made
        elif kind == "logarithm" and set(record) == {"kind", "least", "most", "base"}:
            from sordino.geo.logarithm import Logarithmic

            return Logarithmic(*(float(record[name]) for name in ("least", "most", "base")))
    except (TypeError, ValueError):
        pass
    raise DataError("reference", "the coordinate reference is not known", got={"kind": kind})


def radii_of_curvature(latitude: Floats) -> tuple[Floats, Floats]:
    """Radii of curvature of the WGS 84 ellipsoid along the meridian and across it, at latitudes in degrees."""
    root = np.sqrt(1.0 - _ECCENTRICITY * np.sin(np.radians(latitude)) ** 2)
    return SEMI_MAJOR * (1.0 - _ECCENTRICITY) / root**3, SEMI_MAJOR / root


def decimal(value: float | Fraction) -> str:
    """Write a number that has a finite decimal expansion, exactly and without an exponent.

    Example:
        >>> decimal(Fraction(1, 8)), decimal(-73.97), decimal(71000.0)
        ('0.125', '-73.97', '71000')
    """
    if isinstance(value, Fraction):
        twos = fives = 0
        rest = value.denominator
        while rest % 2 == 0:
            rest, twos = rest // 2, twos + 1
        while rest % 5 == 0:
            rest, fives = rest // 5, fives + 1
        if rest != 1:
            raise ParameterError("decimal", "the number has no finite decimals", got={"value": value})
        places = max(twos, fives)
        whole = value.numerator * 10**places // value.denominator
        text = f"{Decimal(whole).scaleb(-places):f}"
    else:
        text = f"{Decimal(repr(float(value))):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def snap(points: Floats, *, step: float, low: Any, high: Any) -> NDArray[np.int64]:
    """Lattice integers floor(v/step + 1/2), clamped; a row that is not finite goes to the low corner.

    Example:
        >>> snap(np.array([[0.26, 9.0], [np.nan, 0.0]]), step=0.5, low=(-4, -4), high=(4, 4))
        array([[ 1,  4],
               [-4, -4]])
    """
    bottom, top = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    bad = np.asarray(~np.isfinite(points).all(axis=1))
    with np.errstate(all="ignore"):
        at = np.floor(np.where(bad[:, None], 0.0, points) / step + 0.5)
    np.clip(at, bottom, top, out=at)
    at[bad] = bottom
    snapped: NDArray[np.int64] = at.astype(np.int64)
    return snapped


def whole_steps(box: tuple[tuple[float, ...], tuple[float, ...]], step: float) -> tuple[Any, Any]:
    """The box in lattice steps: outwards for plain numbers, and equal on both sides where the box is."""
    low = tuple(-ceil(-a / step) if a < 0 else floor(a / step) for a in box[0])
    high = tuple(ceil(b / step) if b > 0 else -floor(-b / step) for b in box[1])
    return low, high


def _rows(points: ArrayLike) -> Floats:
    at = np.asarray(points, dtype=np.float64)
    at = at[None, :] if at.ndim == 1 else at
    if at.ndim != 2 or at.shape[1] != 2:
        raise DataError("reference", "places must be rows of longitude and latitude", got={"shape": at.shape})
    return at


def _corner(name: str, value: Any) -> tuple[float, ...]:
    listed = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
    return tuple(float(checks.exact("reference", **{name: number})) for number in listed)
