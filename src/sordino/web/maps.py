"""Pictures of places and tallies: circles around a place, a map of cells or of one's own file, the leak of a tally."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from sordino.web.svg import frame, label, logs, mark, n, tag, ticks

if TYPE_CHECKING:
    from sordino.web.places import Outline, Places

DEGREE = 111.195
"""Kilometres of one degree of latitude, on a sphere of 6371 km."""


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


def own(places: Places, radius: float, *, width: int = 640) -> Markup:
    """A file's outlines in degrees, with a bar of kilometres and a circle of a radius in metres at the centre.

    Longitudes are shortened by the cosine of the middle latitude, so that lengths near the centre are the same
    in both directions; far from it, on maps of continents, they are not.
    """
    left, right, top, bottom = 70, 16, 24, 46
    x0, y0 = places.centre
    squeeze = max(math.cos(math.radians(y0)), 0.02)
    reach = radius / 1000 / DEGREE
    across = max((places.east - places.west) / 2 * squeeze, reach, 1e-6) * 1.1
    up = max((places.north - places.south) / 2, reach, 1e-6) * 1.1
    # Neither a ribbon nor a tower; on a phone there is more room below than beside.
    across, up = max(across, up / 1.2), max(up, across / (2 if width > 400 else 1.2))
    wide = width - left - right
    unit = wide / (2 * across)  # of one degree of latitude
    tall = round(2 * up * unit)
    height = tall + top + bottom
    middle = left + wide / 2, top + tall / 2

    def at(place: tuple[float, float]) -> tuple[float, float]:
        return middle[0] + (place[0] - x0) * squeeze * unit, middle[1] - (place[1] - y0) * unit

    parts = [tag("rect", x=left, y=top, width=wide, height=tall, class_="ground")]
    parts += _degrees(left, top, wide, tall, (x0, y0), (across / squeeze, up), at)
    for kind in ("area", "line", "point"):  # points lie on top
        parts += [_outline(one, at) for one in places.outlines if one.kind == kind]
    ring = max(reach * unit, 1.5)
    parts += [
        tag("circle", cx=n(middle[0]), cy=n(middle[1]), r=n(ring), class_="scale"),
        *_names(places.outlines, at, (left, top, left + wide, top + tall), width // 60),
        *_bar(left + 12, top + tall - 12, wide / 3, unit / DEGREE),
        label(left + wide / 2, height - 6, "longitude (degrees)", class_="axis", text_anchor="middle"),
        label(left, top - 8, "latitude (degrees)", class_="axis"),
    ]
    small = "" if reach * unit >= 1.5 else ", which is too small to be drawn to scale"
    where = f"{_degree(x0, 'EW')}, {_degree(y0, 'NS')}"
    about = f"{len(places.outlines)} places around {where}; a circle of {radius:g} m{small}"
    return frame(width, height, "Map of your own file", about, parts)


def _degree(value: float, signs: str) -> str:
    """``8.54° E``; beyond 180 it is west again."""
    value = value - 360 if value > 180 else value
    return f"{abs(value):.6g}°" + (f" {signs[value < 0]}" if value else "")


def _degrees(
    left: float, top: float, wide: float, tall: float, centre: tuple[float, float], half: tuple[float, float],
    at: Callable[[tuple[float, float]], tuple[float, float]],
) -> list[Markup]:  # fmt: skip
    """Lines and numbers of longitude and latitude; few, since they are long."""
    parts = []
    for x, words in _spelled(
        ticks(centre[0] - half[0], centre[0] + half[0], max(2, min(6, round(wide / 90))))
    ):
        here = at((x, centre[1]))[0]
        parts += [
            tag("line", x1=n(here), x2=n(here), y1=top, y2=top + tall, class_="grid"),
            label(min(here, left + wide - 14), top + tall + 18, words, class_="tick", text_anchor="middle"),
        ]
    for y, words in _spelled(
        ticks(centre[1] - half[1], centre[1] + half[1], max(2, min(6, round(tall / 60))))
    ):
        if abs(y) <= 90:
            here = at((centre[0], y))[1]
            parts += [
                tag("line", x1=left, x2=left + wide, y1=n(here), y2=n(here), class_="grid"),
                label(left - 5, here + 4, words, class_="tick", text_anchor="end"),
            ]
    return parts


def _spelled(found: list[float]) -> list[tuple[float, str]]:
    """Degrees with as many digits as tell neighbours apart; beyond 180 they are west again."""
    digits = max(0, -math.floor(math.log10(found[1] - found[0]) + 1e-9))
    return [(x, f"{x - 360 if x > 180 else x + 360 if x < -180 else x:.{digits}f}") for x in found]


def _outline(outline: Outline, at: Callable[[tuple[float, float]], tuple[float, float]]) -> Markup:
    if outline.kind == "point":
        x, y = at(outline.parts[0][0])
        return tag("circle", cx=n(x), cy=n(y), r=3.5, class_="dot")
    drawn = []
    for part in outline.parts:
        corners = [f"{n(x)} {n(y)}" for x, y in map(at, part)]
        # What falls on one spot is drawn once: a coast has more corners than the screen has dots.
        kept = [one for place, one in enumerate(corners) if place == 0 or one != corners[place - 1]]
        drawn.append("M" + "L".join(kept) + ("Z" if outline.kind == "area" else ""))
    word = "ring" if outline.kind == "area" else "line line-0"
    return tag("path", d=" ".join(drawn), class_=word, fill_rule="evenodd")


def _names(
    outlines: Sequence[Outline],
    at: Callable[[tuple[float, float]], tuple[float, float]],
    box: tuple[float, float, float, float],
    most: int,
) -> list[Markup]:
    """The first names that find room; all of them are in the table."""
    parts: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    for one in outlines:
        words = one.name if len(one.name) <= 22 else one.name[:21] + "…"
        if not words or len(parts) == most:
            continue
        corners = [at(place) for place in one.parts[0]]
        half = 3.9 * len(words)
        x = (min(x for x, _ in corners) + max(x for x, _ in corners)) / 2
        y = (min(y for _, y in corners) + max(y for _, y in corners)) / 2
        y += -8 if one.kind == "point" else 4
        x = min(max(x, box[0] + half + 2), box[2] - half - 2)
        y = min(max(y, box[1] + 14), box[3] - 34)
        if all(abs(x - a) > half + b or abs(y - c) > 15 for a, b, c in taken):
            taken.append((x, half, y))
            parts.append(label(x, y, words, text_anchor="middle"))
    return parts


def _bar(x: float, y: float, most: float, unit: float) -> list[Markup]:
    """A bar of a round length, at most so long on paper; ``unit`` is of one kilometre."""
    power = 10.0 ** math.floor(math.log10(most / unit))
    kilometres = next(power * factor for factor in (5, 2, 1) if power * factor * unit <= most * 1.001)
    long = kilometres * unit
    words = f"{kilometres:,.6g} km" if kilometres >= 1 else f"{1000 * kilometres:.6g} m"
    return [
        tag("path", d=f"M{n(x)} {n(y - 6)}v6h{n(long)}v-6", class_="here"),
        label(x + long / 2, y - 8, words, text_anchor="middle"),
    ]
