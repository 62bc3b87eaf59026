"""Points from files, and queries from words: what the command line needs before it can ask.

Numbers come from the named columns of a CSV or Parquet file; a cell that is no number becomes NaN, which reports
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


def query_from(kind: str, words: dict[str, str]) -> Query:
    """Make a query from its kind and its fields as they were typed.

    Example:
        >>> query_from("disc", {"centre": "0,0", "radius": "1km", "width": "100m"})
        Disc(centre=(0, 0), radius=1000, width=100)
    """
    from dataclasses import fields

    kinds = kinds_by_name()
    if kind not in kinds:
        raise ParameterError("query", f"kind must be one of {', '.join(sorted(kinds))}", got={"kind": kind})
    if kind == "kernel-density" and "shape" in words:
        return _grid(words)
    known = {field.name: str(field.type) for field in fields(kinds[kind]) if field.init}
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
            arguments[name] = _outline(text)
        elif name == "at" and kind == "kernel-density" and ";" in text:
            arguments[name] = tuple(numbers(part) for part in text.split(";"))
        else:
            listed = numbers(text)
            arguments[name] = listed if "tuple" in known[name] else listed[0]
    return kinds[kind](**arguments)


def _grid(words: dict[str, str]) -> Query:
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
        low=numbers(words["low"]),
        high=numbers(words["high"]),
        shape=[int(count) for count in numbers(words["shape"])],
        bandwidth=length(words["bandwidth"]),
    )


def _must(field: Any) -> bool:
    from dataclasses import MISSING

    return field.default is MISSING


def _outline(text: str) -> str:
    """Well-known text, or a file that holds it or GeoJSON."""
    path = Path(text)
    if not text.lstrip().upper().startswith(("POLYGON", "MULTIPOLYGON")) and path.is_file():
        content = path.read_text(encoding="utf-8")
        if content.lstrip().startswith("{"):
            return _geojson(json.loads(content))
        return content
    return text


def _geojson(document: dict[str, Any]) -> str:
    try:
        from shapely import to_wkt, union_all
        from shapely.geometry import shape
    except ImportError:
        raise MissingExtra.named("geofence", "shapely", "geo") from None
    parts = document.get("features", [document])
    return str(
        to_wkt(union_all([shape(part.get("geometry", part)) for part in parts]), rounding_precision=-1)
    )
