"""Pictures of what places and tallies give away: circles around a place, a map of cells, the leak of a tally."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from sordino.web.svg import frame, label, logs, mark, n, tag, ticks


def promise(epsilon: float, per: float) -> Markup:
    """How much a report tells two places apart: circles at distances around a true place."""
    width, height, middle = 320, 320, 160
    top = 3 * per
    parts = []
    for times in (3, 2, 1):
        odds = math.exp(epsilon * times)
        radius = times * per / top * 145
        parts += [
            tag("circle", cx=middle, cy=middle, r=n(radius), class_=f"ring ring-{times}"),
            label(
                middle,
                middle - radius + 15,
                f"{times * per:g} m: {odds:.3g} to 1",
                class_="tick",
                text_anchor="middle",
            ),
        ]
    parts.append(tag("circle", cx=middle, cy=middle, r=4, class_="dot"))
    about = f"within {per:g} m the odds of two places change by at most a factor {math.exp(epsilon):.3g}"
    return frame(width, height, "What one report gives away", about, parts)


def heat(cells: Sequence[Sequence[float]], *, title: str, side: float, ring: float) -> Markup:
    """A density as cells of growing strength, north up, with the ring of indistinguishability to scale."""
    size, many = 300, len(cells)
    one = size / many
    parts = [tag("rect", x=0, y=0, width=size, height=size, class_="ground")]
    for east, column in enumerate(cells):
        for north, value in enumerate(column):
            if value > 0.02:
                parts.append(
                    tag("rect", x=n(east * one), y=n(size - (north + 1) * one), width=n(one + 0.3),
                         height=n(one + 0.3), class_="cell", fill_opacity=f"{min(value, 1.0) ** 0.6:.2f}")
                )  # fmt: skip
    radius = max(ring / side * size, 1.5)
    parts += [
        tag("circle", cx=n(size - 12 - radius), cy=n(size - 12 - radius), r=n(radius), class_="scale"),
        label(8, size - 10, f"{side / 1000:g} km", class_="tick"),
    ]
    return frame(size, size, title, f"{many} by {many} cells over {side / 1000:g} kilometres", parts)


def leak(curve: Sequence[tuple[float, float]], worst: float, at: float, *, width: int = 560) -> Markup:
    """Delta against epsilon, as powers of ten, with the worst case always drawn."""
    points = [(x, max(y, -400.0)) for x, y in curve if x > 0]
    if len(points) < 2:
        return Markup("")
    height, left, right, top, bottom = 280, 62, 24, 18, 46
    low = min(y for _, y in points)
    y1 = max(worst, 0.0) + 0.02 * abs(low) + 0.1
    y0 = min(low, worst) - 0.05 * (y1 - low)
    x0, x1 = points[0][0], points[-1][0]

    def px(x: float) -> float:
        return left + math.log(x / x0) / math.log(x1 / x0) * (width - left - right)

    def py(y: float) -> float:
        return top + (y1 - y) / (y1 - y0) * (height - top - bottom)

    parts = []
    for tick in ticks(y0, y1, 5):
        if tick <= 0:
            parts += [
                tag("line", x1=left, x2=width - right, y1=n(py(tick)), y2=n(py(tick)), class_="grid"),
                label(
                    left - 8,
                    py(tick) + 4,
                    "1" if tick == 0 else f"1e{tick:.3g}",
                    class_="tick",
                    text_anchor="end",
                ),
            ]
    for x in logs(x0, x1):
        parts.append(label(px(x), height - bottom + 20, f"{x:g}", class_="tick", text_anchor="middle"))
    parts += [
        label((left + width - right) / 2, height - 6, "epsilon", class_="axis", text_anchor="middle"),
        label(left, top - 6, "delta", class_="axis"),
        tag("line", x1=left, x2=width - right, y1=n(py(worst)), y2=n(py(worst)), class_="worst"),
        label(width - right - 4, py(worst) + 16, "worst case", class_="tick", text_anchor="end"),
        tag("polyline", points=" ".join(f"{n(px(x))},{n(py(y))}" for x, y in points), class_="line line-0"),
        *(mark("circle", px(x), py(y), "mark mark-0") for x, y in points),
    ]
    here = next((y for x, y in points if x == at), None)
    if here is not None:
        parts.append(tag("circle", cx=n(px(at)), cy=n(py(here)), r=7, class_="here"))
    return frame(width, height, "What is given away", f"delta falls from epsilon {x0:g} to {x1:g}", parts)
