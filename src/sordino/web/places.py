"""`Places`: one's own GeoJSON (RFC 7946), checked before it is drawn. It comes by a form alone and is not kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from sordino.errors import ParameterError, without_secrets

MOST_BYTES, MOST_POSITIONS, MOST_OUTLINES, MOST_DEPTH = 2_000_000, 20_000, 2_000, 8
LONGEST_NAME = 80
EXAMPLE = '{"type": "Point", "coordinates": [8.54, 47.37]}'

Position = tuple[float, float]
Kind = Literal["point", "line", "area"]
_WORDS: dict[str, Kind] = {
    "Point": "point", "MultiPoint": "point", "LineString": "line", "MultiLineString": "line", "Polygon": "area",
    "MultiPolygon": "area",
}  # fmt: skip
"""Geometries with what they are made of."""


@dataclass(frozen=True, slots=True)
class Outline:
    """One point, one line, or one area with its holes.

    Attributes:
        kind: What it is.
        name: What its feature is called; empty where it has no name.
        parts: Its positions (longitude, latitude): one list, or the rings of an area, the outer one first.
    """

    kind: Kind
    name: str
    parts: tuple[tuple[Position, ...], ...]

    @property
    def positions(self) -> int:
        """How many positions it has."""
        return sum(map(len, self.parts))


@dataclass(frozen=True, slots=True)
class Places:
    """What a file of GeoJSON holds, with the box around it in degrees.

    Attributes:
        outlines: In the order of the file.
        west: Western end; with the eastern one it may lie beyond 180, where a file crosses the date line.
        south: Southern end.
        east: Eastern end.
        north: Northern end.
    """

    outlines: tuple[Outline, ...]
    west: float
    south: float
    east: float
    north: float

    @property
    def centre(self) -> Position:
        """The middle of the box."""
        return (self.west + self.east) / 2, (self.south + self.north) / 2

    @classmethod
    def from_geojson(cls, text: str) -> Places:
        """Read and check a text.

        Example:
            >>> Places.from_geojson('{"type": "Point", "coordinates": [8.54, 47.37]}').centre
            (8.54, 47.37)
        """
        if not text.strip():
            _refuse("choose a file or paste its text")
        if len(text) > MOST_BYTES:
            _refuse(f"the file must have at most {MOST_BYTES // 1_000_000} MB")
        try:
            document = json.loads(text, parse_constant=_no_number)
        except json.JSONDecodeError as problem:
            _refuse("the text is not JSON", f"line {problem.lineno}, column {problem.colno}")
        except (ValueError, RecursionError):  # numbers without end, lists within lists
            _refuse("the text is not JSON")
        outlines = _Reader().document(document)
        if not outlines:
            _refuse("the file holds no place")
        outlines = _across_the_date_line(outlines)
        longitudes, latitudes = zip(
            *(place for one in outlines for part in one.parts for place in part), strict=True
        )
        return cls(tuple(outlines), min(longitudes), min(latitudes), max(longitudes), max(latitudes))


def decoded(given: bytes) -> str:
    """The text of a file, with or without a mark at its beginning."""
    try:
        return given.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse("the file is not text in UTF-8")


def _across_the_date_line(outlines: list[Outline]) -> list[Outline]:
    """Outlines on both sides of the date line stand together: western longitudes count on beyond 180."""
    longitudes = [x for one in outlines for part in one.parts for x, _ in part]
    if max(longitudes) - min(longitudes) <= 180:
        return outlines
    moved = [x % 360 for x in longitudes]
    if max(moved) - min(moved) >= 180:
        return outlines
    return [
        Outline(one.kind, one.name, tuple(tuple((x % 360, y) for x, y in part) for part in one.parts))
        for one in outlines
    ]


class _Reader:
    """Walks through a document and counts what it meets."""

    def __init__(self) -> None:
        self.outlines: list[Outline] = []
        self.positions = 0

    def document(self, given: Any) -> list[Outline]:
        kind = _type(given, "the document")
        if kind == "FeatureCollection":
            for number, one in enumerate(_list(given.get("features"), "features")):
                where = f"features[{number}]"
                if _type(one, where) != "Feature":
                    _refuse("a collection of features holds features only", where)
                self.feature(one, f"{where}.")
        elif kind == "Feature":
            self.feature(given, "")
        else:
            self.geometry(given, "", "geometry")
        return self.outlines

    def feature(self, given: dict[str, Any], where: str) -> None:
        if given.get("geometry") is not None:  # a feature may have no place
            self.geometry(given["geometry"], _name(given), f"{where}geometry")

    def geometry(self, given: Any, name: str, where: str, depth: int = 0) -> None:
        kind = _type(given, where)
        if kind == "GeometryCollection":
            if depth >= MOST_DEPTH:
                _refuse("collections lie in each other too deeply", where)
            for number, one in enumerate(_list(given.get("geometries"), f"{where}.geometries")):
                self.geometry(one, name, f"{where}.geometries[{number}]", depth + 1)
            return
        if kind not in _WORDS:
            _refuse(f"a type is none of GeoJSON: {', '.join((*_WORDS, 'GeometryCollection'))}", where)
        where, found = f"{where}.coordinates", given.get("coordinates")
        if not kind.startswith("Multi"):
            self.outline(_WORDS[kind], name, found, where)
            return
        for number, one in enumerate(_list(found, where)):
            self.outline(_WORDS[kind], name, one, f"{where}[{number}]")

    def outline(self, kind: Kind, name: str, given: Any, where: str) -> None:
        if kind == "point":
            parts: tuple[tuple[Position, ...], ...] = ((self.position(given, where),),)
        elif kind == "line":
            parts = (self.line(given, where, least=2),)
        else:
            rings = _list(given, where)
            if not rings:
                _refuse("an area has at least one ring", where)
            parts = tuple(self.line(ring, f"{where}[{number}]", least=4) for number, ring in enumerate(rings))
            for number, ring in enumerate(parts):
                if ring[0] != ring[-1]:
                    _refuse("a ring must end where it begins", f"{where}[{number}]")
        self.outlines.append(Outline(kind, name, parts))
        if len(self.outlines) > MOST_OUTLINES:
            _refuse(f"the file must hold at most {MOST_OUTLINES:,} places")

    def line(self, given: Any, where: str, *, least: int) -> tuple[Position, ...]:
        places = _list(given, where)
        if len(places) < least:
            _refuse(f"a {'line' if least == 2 else 'ring'} has at least {least} positions", where)
        return tuple(self.position(one, f"{where}[{number}]") for number, one in enumerate(places))

    def position(self, given: Any, where: str) -> Position:
        self.positions += 1
        if self.positions > MOST_POSITIONS:
            _refuse(f"the file must hold at most {MOST_POSITIONS:,} positions")
        numbers = _list(given, where)
        if len(numbers) < 2 or not all(_number(one) for one in numbers[:2]):
            _refuse("a position is two numbers, longitude before latitude", where)
        x, y = numbers[:2]
        if not (-180 <= x <= 180 and -90 <= y <= 90):
            _refuse(
                "a position is in degrees: longitude from -180 to 180, then latitude from -90 to 90", where
            )
        return float(x), float(y)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _type(given: Any, where: str) -> str:
    found = given.get("type") if isinstance(given, dict) else None
    if not isinstance(found, str):
        _refuse("an object of GeoJSON has a type", where)
    return found


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list):
        _refuse("a list is missing", where)
    return given


def _name(feature: dict[str, Any]) -> str:
    """What a feature is called, as text that may be shown."""
    properties = feature.get("properties")
    known = properties if isinstance(properties, dict) else {}
    found = [known.get("name"), known.get("title"), feature.get("id")]
    words = next((str(one) for one in found if isinstance(one, str | int) and str(one).strip()), "")
    words = without_secrets(" ".join(words[: 4 * LONGEST_NAME].split()))
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _refuse(rule: str, where: str = "") -> NoReturn:
    """Three lines: the rule and where it is broken, why, and a text that would do. Never a value of the file."""
    raise ParameterError(
        "map", rule, got={"where": where} if where else None,
        why="A map is drawn of GeoJSON: points, lines and areas in degrees of longitude and latitude.", hint=EXAMPLE,
    )  # fmt: skip
