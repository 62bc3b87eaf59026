"""Computes the shipped table anew: ``python -m reproductions.certification_table`` (a quarter of an hour)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from sordino.certification import table
from sordino.certification.calibration import search, settle
from sordino.certification.certificate import make_shape
from sordino.certification.shape import certified_families, shape_class
from sordino.certification.table import PRICES, RATIOS, Node, node_smoothing

#: From this price on the best shape moves fast and there may be two valleys: every node is searched in full.
LARGE_PRICE = 1.0


def generate(prices: tuple[float, ...] = PRICES, ratios: tuple[float, ...] = RATIOS) -> dict[str, list[Any]]:
    """Search and certify every node; a node starts from its neighbour's shape."""
    families: dict[str, list[Any]] = {}
    for family in certified_families():
        rows: list[Any] = []
        for ratio in ratios:
            near: tuple[float, float] | None = None
            for rho in prices:
                if near is not None:
                    near = (near[0], near[1] * math.sqrt(rho / rows[-1][0])) if rho < LARGE_PRICE else None
                node = _make_node(family, rho, node_smoothing(rho, ratio), near)
                near = None if node is None else (node.shape, node.shift)
                if node is not None:
                    rows.append([rho, ratio, node.shape, node.shift, node.rho_hi])
        families[family] = rows
    return families


def _make_node(family: str, rho: float, smoothing: float, near: tuple[float, float] | None) -> Node | None:
    """Search, then certify at the shape found and, for PolyPlace, just before the edge of its price."""
    found = search(family, rho, smoothing, near=near)
    if found is None:
        return None
    shape, shift = found
    shapes = (shape, 0.985 * shape) if shape_class(family).search_aim < 1 else (shape,)
    settled = [
        node for node in (settle(family, rho, smoothing, at, shift) for at in shapes) if node is not None
    ]
    if not settled:
        return None
    best = min(settled, key=lambda node: make_shape(family, float(node.shape)).std() / float(node.shift))
    return Node(rho, smoothing, float(best.shape), float(best.shift), best.certificate.rho_hi)


def main() -> None:
    """Write the table that the certification ships."""
    families = generate()
    lines = [
        f'    "{family}": [\n' + ",\n".join("      " + json.dumps(row) for row in rows) + "\n    ]"
        for family, rows in families.items()
    ]
    text = (
        '{\n  "fields": ["rho", "smoothing / sqrt(2 rho)", "shape", "shift", "certified rho"],\n  "families": {\n'
        + ",\n".join(lines)
        + "\n  }\n}\n"
    )
    Path(table.__file__).with_name("table.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
