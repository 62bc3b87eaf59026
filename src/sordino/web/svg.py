"""The parts of a picture: elements whose every value is escaped, the frame with title and description, round ticks.

All text is escaped here, and only here and in the files of pictures becomes markup.
"""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup, escape

TICKS = 6
MARKS = ("circle", "square", "diamond", "triangle", "cross")
SHAPES: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((-3, -3), (3, -3), (3, 3), (-3, 3)),
    "diamond": ((0, -4.5), (4.5, 0), (0, 4.5), (-4.5, 0)),
    "triangle": ((0, -4.5), (4, 3), (-4, 3)),
    "cross": (
        (-4, -1), (-1, -1), (-1, -4), (1, -4), (1, -1), (4, -1), (4, 1), (1, 1), (1, 4), (-1, 4), (-1, 1), (-4, 1),
    ),
}  # fmt: skip
"""Marks by their corners, so that lines are told apart without colours."""


def tag(name: str, inner: Any = "", **given: Any) -> Markup:
    """One element; every value is escaped."""
    words = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value) for key, value in given.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, words, inner)


def label(x: float, y: float, words: Any, **given: Any) -> Markup:
    """Words at a place."""
    return tag("text", escape(words), x=n(x), y=n(y), **given)


def n(value: float) -> str:
    """A length with one digit at most."""
    return f"{value:.1f}".removesuffix(".0")


def frame(width: int, height: int, title: str, about: str, parts: list[Markup], **given: Any) -> Markup:
    """A picture with its title and its description."""
    head = [tag("title", escape(title)), tag("desc", escape(about))]
    return tag(
        "svg", Markup("").join([*head, *parts]), viewBox=f"0 0 {width} {height}", width=width, height=height,
        role="img", class_="chart", aria_label=title, **given,
    )  # fmt: skip


def logs(low: float, high: float) -> list[float]:
    """Round numbers on a logarithmic axis, few of them."""
    found: list[float] = []
    for factors in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        some = [
            factor * 10.0**power
            for power in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
            for factor in factors
            if low * 0.999 <= factor * 10.0**power <= high * 1.001
        ]
        if found and len(some) > TICKS:
            break
        found = some
    return found[:: max(1, math.ceil(len(found) / TICKS))]


def ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Round numbers between two ends.

    Example:
        >>> ticks(0, 97)
        [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    found = _steps(low, high, step)
    while len(found) < 2:  # one number alone says nothing of a scale
        step /= 2
        found = _steps(low, high, step)
    return found


def _steps(low: float, high: float, step: float) -> list[float]:
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def mark(kind: str, x: float, y: float, cls: str) -> Markup:
    """A mark at a place, by its shape."""
    if kind == "circle":
        return tag("circle", cx=n(x), cy=n(y), r=3.5, class_=cls)
    return tag("polygon", points=" ".join(f"{n(x + a)},{n(y + b)}" for a, b in SHAPES[kind]), class_=cls)
