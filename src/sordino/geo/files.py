"""Points from files, and queries from words: what the command line needs before it can ask.

Numbers come from the named columns of a CSV or Parquet file; a cell that is not a number becomes NaN, which reports
count as far away, so that no value can stop a run.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import DataError, MissingExtra, ParameterError
from sordino.geo.query import Query, kinds_by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.geo.reference import Sphere

_UNITS = {"km": 1000.0, "m": 1.0, "mi": 1609.344, "ft": 0.3048}


def read_points(path: str | Path, columns: Sequence[str]) -> NDArray[np.float64]:
    """Read columns of numbers; shape (n,) for one column, (n, k) for several."""
    path = Path(path)
    if not path.is_file():
        raise DataError("points", "the file does not exist", got={"path": str(path)})
    table = _parquet(path, columns) if path.suffix == ".parquet" else _csv(path, columns)
    return table[:, 0] if len(columns) == 1 else table


def read_names(path: str | Path, column: str) -> list[str]:
    """Read one column as text."""
    path = Path(path)
    if path.suffix == ".parquet":
        return [str(value) for value in _arrow(path, [column])[0].to_pylist()]
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        _known(path, rows.fieldnames or (), [column])
        return [str(row[column]) for row in rows]


def _csv(path: Path, columns: Sequence[str]) -> NDArray[np.float64]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        _known(path, header, columns)
        places = [header.index(column) for column in columns]
        return np.array([[_number(row, place) for place in places] for row in rows]).reshape(-1, len(columns))


def _number(row: list[str], place: int) -> float:
    try:
        return float(row[place])
    except (ValueError, IndexError):
        return float("nan")


def _parquet(path: Path, columns: Sequence[str]) -> NDArray[np.float64]:
    parts = []
    for column in _arrow(path, columns):
        values = column.to_numpy()
        try:
            parts.append(values.astype(np.float64))
        except (TypeError, ValueError):
            raise DataError(
                "points", "a column does not hold numbers", got={"columns": tuple(columns)}
            ) from None
    return np.stack(parts, axis=1)


def _arrow(path: Path, columns: Sequence[str]) -> list[Any]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingExtra.named("parquet", "pyarrow", "geo") from None
    try:
        names = parquet.read_schema(path).names
        _known(path, names, columns)
        table = parquet.read_table(path, columns=list(columns))
    except (ArrowException, OSError):
        raise DataError("points", "the file is not Parquet", got={"path": str(path)}) from None
    return [table.column(column) for column in columns]


def _known(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    missing = [column for column in columns if column not in names]
    if missing:
        raise DataError(
            "points",
            f"the file has no column {missing[0]!r}",
            got={"path": str(path)},
            hint=f"it has {', '.join(names)}" if names else "the first line must name the columns",
        )


def length(text: str) -> float:
    """Read a distance: 200, 200m, 1.5km; without a unit it is metres, or the unit of the numbers.

    Example:
        >>> length("1.5km"), length("200 m"), length("12000")
        (1500.0, 200.0, 12000.0)
    """
    plain = text.strip().lower().replace(",", "")
    for unit, metres in _UNITS.items():
        if plain.endswith(unit):
            return _float(plain[: -len(unit)], text) * metres
    return _float(plain, text)


def _float(plain: str, text: str) -> float:
    try:
        return float(plain)
    except ValueError:
        raise ParameterError(
            "option", "a distance must be a number with or without a unit", got={"text": text}, hint="200m"
        ) from None


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers separated by commas; each may carry a unit."""
    return tuple(length(part) for part in text.split(","))


def query_from(
    kind: str,
    words: dict[str, str],
    *,
    reference: Sphere | None = None,
    defaults: dict[str, str] | None = None,
) -> Query:
    """Make a query from its kind and its fields as they were typed.

    Args:
        kind: Its name.
        words: Its fields. Places are metres on the map; with the ending deg they are degrees, longitude first.
        reference: What projects degrees; without one they are refused.
        defaults: Fields to fill in where the words leave them out.

    Example:
        >>> query_from("disc", {"centre": "0,0", "radius": "1km", "width": "100m"})
        Disc(centre=(0, 0), radius=1000, width=100)
    """
    from dataclasses import fields

    kinds = kinds_by_name()
    if kind not in kinds:
        raise ParameterError("query", f"kind must be one of {', '.join(sorted(kinds))}", got={"kind": kind})
    if kind == "kernel-density" and "shape" in words:
        return _grid(words, reference)
    known = {field.name: str(field.type) for field in fields(kinds[kind]) if field.init}
    words = {**{name: text for name, text in (defaults or {}).items() if name in known}, **words}
    unknown = [name for name in words if name not in known]
    missing = [
        field.name for field in fields(kinds[kind]) if field.init and field.name not in words and _must(field)
    ]
    if unknown or missing:
        raise ParameterError(
            kind,
            f"takes {', '.join(known)}",
            got={"unknown": tuple(unknown), "missing": tuple(missing)},
            hint=f"sordino geo plan {kind} " + " ".join(f"{name}=..." for name in known),
        )
    arguments: dict[str, Any] = {}
    for name, text in words.items():
        if name == "outline":
            arguments[name] = _outline(text, reference)
        elif name == "at" and kind == "kernel-density" and ";" in text:
            arguments[name] = tuple(place(part, reference) for part in text.split(";"))
        else:
            listed = place(text, reference)
            arguments[name] = listed if "tuple" in known[name] else listed[0]
    return kinds[kind](**arguments)


def place(text: str, reference: Sphere | None) -> tuple[float, ...]:
    """Read a place or numbers: metres on the map, or degrees if each ends so, which a reference projects.

    Example:
        >>> place("1km,-200m", None)
        (1000.0, -200.0)
    """
    parts = [part.strip().lower().replace("°", "deg") for part in text.split(",")]
    if not any(part.endswith("deg") for part in parts):
        return numbers(text)
    if len(parts) != 2 or not all(part.endswith("deg") for part in parts):
        raise ParameterError(
            "option",
            "a place in degrees is a longitude and a latitude",
            got={"text": text},
            hint="-73.97deg,40.74deg",
        )
    return project([[_float(part[:-3], text) for part in parts]], reference)[0]


def project(degrees: Any, reference: Sphere | None) -> list[tuple[float, ...]]:
    """Project rows of degrees to the map, or refuse them for want of a reference."""
    if reference is None:
        raise ParameterError(
            "option",
            "degrees need a coordinate reference",
            why="Without one they would be taken for metres.",
            hint="--centre=-73.97,40.74 --radius 50km",
        )
    return [tuple(row) for row in reference.to_metres(degrees).tolist()]


def refuse_degrees(columns: Sequence[str], *, centre: bool) -> None:
    """Refuse columns that are degrees by their names but have no reference, and swapped ones.

    Example:
        >>> refuse_degrees(["lon", "lat"], centre=True)
    """
    names = [name.strip().lower() for name in columns]
    kinds = ["lat" if n.startswith("lat") else "lon" if n.startswith(("lon", "lng")) else "" for n in names]
    if any(kinds) and not centre:
        raise ParameterError(
            "report",
            "the columns are degrees by their names, and there is no coordinate reference",
            got={"columns": tuple(columns)},
            why="Degrees would be taken for metres.",
            hint="--centre=-73.97,40.74 --radius 50km",
        )
    if centre and kinds[:2] == ["lat", "lon"]:
        raise ParameterError(
            "report",
            "longitude comes first",
            got={"columns": tuple(columns)},
            hint=f"--columns {names[1]},{names[0]}",
        )


def _grid(words: dict[str, str], reference: Sphere | None) -> Query:
    """Make a kernel density on an even grid from low, high, shape and bandwidth."""
    from sordino.geo.kernel_density import KernelDensity

    if set(words) != {"low", "high", "shape", "bandwidth"}:
        raise ParameterError(
            "kernel-density",
            "a grid takes low, high, shape and bandwidth",
            got={"fields": tuple(words)},
            hint="kernel-density low=0,0 high=9km,9km shape=10,10 bandwidth=1km",
        )
    return KernelDensity.grid(
        low=place(words["low"], reference),
        high=place(words["high"], reference),
        shape=[int(count) for count in numbers(words["shape"])],
        bandwidth=length(words["bandwidth"]),
    )


def _must(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING


def _outline(text: str, reference: Sphere | None) -> str:
    """Well-known text in metres on the map, or a file that holds it or GeoJSON, which is in degrees."""
    path = Path(text)
    if not text.lstrip().upper().startswith(("POLYGON", "MULTIPOLYGON")) and path.is_file():
        content = path.read_text(encoding="utf-8")
        if content.lstrip().startswith("{"):
            shapely = _shapely()
            return str(
                shapely.to_wkt(shapely.union_all([shape for _, shape in outlines(path, reference)]), -1)
            )
        return content
    return text


def outlines(path: str | Path, reference: Sphere | None) -> list[tuple[str, Any]]:
    """Names and shapes of a GeoJSON file, projected like the points: GeoJSON is in degrees by its standard."""
    shapely = _shapely()
    from shapely.geometry import shape

    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        parts = document.get("features", [document])
        named = [(_name(part, i), shape(part.get("geometry", part))) for i, part in enumerate(parts)]
    except (OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        raise DataError("outline", "the file is not GeoJSON", got={"path": str(path)}) from error
    if reference is None:
        project([[0.0, 0.0]], None)
    found = []
    for name, outline in named:
        # Edges are straight in degrees, so they are cut into short pieces before they are bent.
        fine = shapely.segmentize(outline, 0.01)
        found.append((name, shapely.transform(fine, lambda at: np.array(project(at, reference)))))
    return found


def _name(part: dict[str, Any], number: int) -> str:
    properties = part.get("properties") or {}
    for key in ("name", "NAME", "Name", "id", "ID"):
        if key in properties:
            return str(properties[key])
    return str(part.get("id", number + 1))


def _shapely() -> Any:
    try:
        import shapely
    except ImportError:
        raise MissingExtra.named("geofence", "shapely", "geo") from None
    return shapely
