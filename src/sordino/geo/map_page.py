"""A map as one page: no tiles, no network, both maps with their meaning, the numbers under the pointer, a table."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.geo.map_files import PER_KM2, unit_of
from sordino.geo.reference import Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.geo.maps import DensityMap

    Floats = NDArray[np.float64]

_TEMPLATE = Path(__file__).with_name("map_page.html")
_ROWS = 12


def write_page(path: str | Path, plain: DensityMap | None, best: DensityMap, about: dict[str, str]) -> None:
    """Write the page.

    Args:
        path: Where to.
        plain: The unbiased map, or None where it would be noise and nothing else.
        best: The smallest-error map of the same places.
        about: Lines for the top of the page.
    """
    on_ground = isinstance(best.reference, Sphere)
    scale = PER_KM2 if on_ground or unit_of(best) == "metre" else 1.0
    layers = [] if plain is None else [_layer("Unbiased", plain, scale)]
    layers.append(_layer("Smallest error", best, scale))
    top = float(max(np.max(best.density), 1e-300) * scale)
    lattice = _lattice(best)
    data = {
        "layers": layers,
        "shape": list(best.density.shape),
        "low": list(best.low),
        "high": list(best.high),
        "top": top,
        "lattice": base64.b64encode(lattice.astype("<f4").tobytes()).decode(),
        "axes": ["longitude", "latitude"] if on_ground else ["x", "y"],
        "unit": "people per km²" if scale == PER_KM2 else f"people per square {unit_of(best)}",
    }
    page = _TEMPLATE.read_text(encoding="utf-8")
    rows = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>" for name, value in about.items()
    )
    page = page.replace("<!--about-->", rows).replace("<!--table-->", _table(plain, best, scale, lattice))
    page = page.replace("/*data*/null", json.dumps(data).replace("<", "\\u003c"))
    Path(path).write_text(page, encoding="utf-8")


def _layer(name: str, found: DensityMap, scale: float) -> dict[str, Any]:
    values = (scale * found.density).astype("<f4").tobytes()
    error = None
    if found.unbiased:
        error = base64.b64encode((scale * found.standard_error).astype("<f4").tobytes()).decode()
    return {
        "name": name,
        "meaning": found.meaning,
        "values": base64.b64encode(values).decode(),
        "error": error,
    }


def _lattice(found: DensityMap) -> Floats:
    """Coordinates of every place, for the pointer."""
    x, y = found.axes
    metres = np.stack([grid.ravel() for grid in np.meshgrid(x, y, indexing="ij")], axis=1)
    return found.reference.to_degrees(metres) if isinstance(found.reference, Sphere) else metres


def _table(plain: DensityMap | None, best: DensityMap, scale: float, lattice: Floats) -> str:
    """The most crowded places that are at least a bandwidth apart."""
    x, y = best.axes
    order = np.argsort(-best.density, axis=None)[:20_000]
    chosen: list[int] = []
    for i in order.tolist():
        a, b = divmod(i, best.density.shape[1])
        if all(np.hypot(x[a] - x[j // len(y)], y[b] - y[j % len(y)]) > 2 * best.bandwidth for j in chosen):
            chosen.append(i)
        if len(chosen) == _ROWS:
            break
    lines = []
    for i in chosen:
        place = "".join(f"<td>{value:.5f}</td>" for value in lattice[i])
        shown = f"<td>{scale * best.density.ravel()[i]:,.4g}</td>"
        if plain is not None:
            value, error = scale * plain.density.ravel()[i], scale * plain.standard_error.ravel()[i]
            shown += f"<td>{value:,.4g}</td><td>{error:,.3g}</td>"
        else:
            shown += "<td>-</td><td>-</td>"
        lines.append(f"<tr>{place}{shown}</tr>")
    return "".join(lines)
