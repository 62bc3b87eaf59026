"""Sums of the codes of every group that no 64 bits overflow: in halves, put together in Python's integers."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from sordino.data.passes import CODE

HALF = 2.0**20
"""Codes are summed in halves, so that 64 bits hold the sums of 2^39 rows."""


def sum_columns(
    cuts: tuple[int, ...], cutting: tuple[tuple[tuple[int, int] | None, bool], ...]
) -> dict[str, nw.Expr]:
    """What is summed: codes cut to intervals, their squares where asked, and marks of those below cuts."""
    columns: dict[str, nw.Expr] = {}
    for place, (within, squares) in enumerate(cutting):
        code: nw.Expr = nw.col(CODE)
        if within is not None:
            code = code.clip(float(within[0]), float(within[1])) - float(within[0])
        upper = (code * (1 / HALF)).floor()
        lower = code - upper * HALF
        columns |= {f"total{place}_high": upper, f"total{place}_low": lower}
        if squares:  # codes of at most 32 bits: 12 above the cut, so every product stays below 2^40
            columns[f"high_high{place}"] = upper * upper
            for name, product in (("high_low", upper * lower), ("low_low", lower * lower)):
                above = (product * (1 / HALF)).floor()
                columns |= {f"{name}{place}_high": above, f"{name}{place}_low": product - above * HALF}
    for place, cut in enumerate(cuts):
        columns[f"cut{place}"] = nw.when(nw.col(CODE) < float(cut)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    return columns


def plain_key(key: Any) -> Any:
    """A key as it is looked up: texts, and whole numbers however an engine sends them.

    Example:
        >>> plain_key("a"), plain_key(2.0), plain_key(0.5)
        ('a', 2, 0.5)
    """
    if isinstance(key, str):
        return key
    return int(key) if key == int(key) else float(key)


def whole(found: dict[str, int], name: str) -> int:
    """A sum of two halves.

    Example:
        >>> whole({"total0_high": 1, "total0_low": 5}, "total0")
        1048581
    """
    return (found[f"{name}_high"] << 20) + found[f"{name}_low"]


def totals(found: dict[str, int] | None, place: int, *, squares: bool) -> tuple[int, int]:
    """A sum, and a sum of squares where asked: (h 2^20 + l)^2 = h^2 2^40 + 2 h l 2^20 + l^2."""
    if found is None:
        return 0, 0
    total = whole(found, f"total{place}")
    if not squares:
        return total, 0
    mixed, low = (whole(found, f"{name}{place}") for name in ("high_low", "low_low"))
    return total, (found[f"high_high{place}"] << 40) + (mixed << 21) + low
