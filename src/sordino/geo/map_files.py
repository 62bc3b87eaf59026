"""Maps as files: CSV and GeoJSON with longitude and latitude, people per square kilometre, errors and intervals."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.geo.reference import Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.maps import DensityMap

    Floats = NDArray[np.float64]

ENDINGS = (".html", ".png", ".svg", ".pdf", ".geojson", ".csv")
PER_KM2 = 1e6


def columns(plain: DensityMap | None, best: DensityMap, *, joint: bool = False) -> dict[str, Floats]:
    """One flat column per number, in people per square km (or per square unit of a map that is not on the ground)."""
    on_ground = isinstance(best.reference, Sphere)
    scale = PER_KM2 if on_ground or unit_of(best) == "metre" else 1.0
    found = dict(zip(("longitude", "latitude") if on_ground else ("x", "y"), _places(best).T, strict=True))
    if plain is not None:
        low, high = plain.interval
        found["density"] = scale * plain.density.ravel()
        found["standard_error"] = scale * plain.standard_error.ravel()
        found["low"], found["high"] = scale * low.ravel(), scale * high.ravel()
        if joint:
            found["joint_low"], found["joint_high"] = (scale * edge.ravel() for edge in plain.band)
    found["smallest_error_density"] = scale * best.density.ravel()
    found["non_negative_density"] = scale * best.non_negative().ravel()
    return found


def unit_of(found: DensityMap) -> str:
    """The unit of the map's coordinates."""
    return str(getattr(found.reference, "unit", "metre"))


def _places(found: DensityMap) -> Floats:
    x, y = found.axes
    metres = np.stack([grid.ravel() for grid in np.meshgrid(x, y, indexing="ij")], axis=1)
    return found.reference.to_degrees(metres) if isinstance(found.reference, Sphere) else metres


def write_csv(path: str | Path, table: dict[str, Floats]) -> None:
    """One row per place."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        rows = [
            [f"{value:.7g}" if i > 1 else f"{value:.6f}" for value in column]
            for i, column in enumerate(table.values())
        ]
        writer.writerows(zip(*rows, strict=True))


def write_geojson(
    path: str | Path, found: DensityMap, table: dict[str, Floats], about: dict[str, Any]
) -> None:
    """One square per place, in degrees as the standard asks, with the numbers as properties."""
    reference = found.reference
    if not isinstance(reference, Sphere):
        raise ParameterError(
            "map",
            "GeoJSON needs a place on Earth",
            got={"reference": reference.to_dict()["kind"]},
            hint="--out map.csv",
        )
    half = [
        0.5 * (b - a) / (n - 1) for a, b, n in zip(found.low, found.high, found.density.shape, strict=True)
    ]
    x, y = found.axes
    centres = np.stack([grid.ravel() for grid in np.meshgrid(x, y, indexing="ij")], axis=1)
    turns = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * half
    corners = (
        reference.to_degrees((centres[:, None, :] + turns[None]).reshape(-1, 2)).round(6).reshape(-1, 5, 2)
    )
    numbers = {name: column for name, column in table.items() if name not in {"longitude", "latitude"}}
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Polygon", "coordinates": [ring]},
            "properties": {name: float(f"{column[i]:.6g}") for name, column in numbers.items()},
        }
        for i, ring in enumerate(corners.tolist())
    ]
    document = {"type": "FeatureCollection", "about": about, "features": features}
    Path(path).write_text(json.dumps(document), encoding="utf-8")
