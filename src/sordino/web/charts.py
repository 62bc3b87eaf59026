"""Pictures as SVG: classes and presentation attributes only, so that they follow the page's colours and its policy.

Every picture has a title and a description; the numbers behind it stand in a table beside it. All text is escaped here,
and only here becomes markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from sordino.planner.report import short

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
APART = 15
"""Units between labels at the end of lines."""


def _tag(name: str, inner: Any = "", **given: Any) -> Markup:
    """One element; every value is escaped."""
    words = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value) for key, value in given.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, words, inner)


def _text(x: float, y: float, words: Any, **given: Any) -> Markup:
    return _tag("text", escape(words), x=_n(x), y=_n(y), **given)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _frame(width: int, height: int, title: str, about: str, parts: list[Markup], **given: Any) -> Markup:
    head = [_tag("title", escape(title)), _tag("desc", escape(about))]
    return _tag(
        "svg", Markup("").join([*head, *parts]), viewBox=f"0 0 {width} {height}", width=width, height=height,
        role="img", class_="chart", aria_label=title, **given,
    )  # fmt: skip


def gauge(budget: float, spent: float, this: float = 0.0, *, title: str, width: int = 560) -> Markup:
    """A budget as a bar: spent, this question, left."""
    total = max(budget, 1e-300)
    used, now = min(spent / total, 1.0), min(this / total, 1.0)
    end = min(used + now, 1.0)
    parts = [
        _tag("rect", x=0.5, y=0.5, width=width - 1, height=21, rx=4, class_="gauge-all"),
        _tag("rect", x=0.5, y=0.5, width=_n(used * (width - 1)), height=21, rx=4, class_="gauge-spent"),
    ]
    if this:
        kind = "gauge-over" if used + now > 1 + 1e-12 else "gauge-this"
        parts.append(
            _tag("rect", x=_n(0.5 + used * (width - 1)), y=0.5, width=_n(max((end - used) * (width - 1), 2)),
                 height=21, class_=kind)
        )  # fmt: skip
    about = f"{100 * used:.0f} percent is spent" + (
        f", this question takes {100 * now:.0f} percent" if this else ""
    )
    return _frame(width, 22, title, about, parts, preserveAspectRatio="none")


def _logs(low: float, high: float) -> list[float]:
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


def curves(
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    at: float,
    chosen: str,
    natural: float = 0.0,
    unit: str = "epsilon",
    width: int = 560,
) -> Markup:
    """Error against price, both logarithmic, with a mark at the chosen price on the chosen line."""
    drawn = {
        name: [(x, y) for x, y in zip(*line, strict=True) if 0 < y < math.inf and x > 0]
        for name, line in lines.items()
    }
    drawn = {name: points for name, points in drawn.items() if len(points) > 1}
    if not drawn:
        return Markup("")
    xs = [x for points in drawn.values() for x, _ in points]
    ys = [y for points in drawn.values() for _, y in points] + ([natural] if natural > 0 else [])
    narrow = width < 420
    left, right, top, bottom = 62, (20 if narrow else 150), 14, 44
    height = 300 + (22 * len(drawn) if narrow else 0)
    plot = height - (22 * len(drawn) if narrow else 0)
    x0, x1, y0, y1 = min(xs), max(xs), min(ys) / 1.15, max(ys) * 1.15

    def px(x: float) -> float:
        return left + (math.log(x / x0) / math.log(x1 / x0)) * (width - left - right)

    def py(y: float) -> float:
        return top + (1 - math.log(y / y0) / math.log(y1 / y0)) * (plot - top - bottom)

    parts = []
    for y in _logs(y0, y1):
        parts += [
            _tag("line", x1=left, x2=width - right, y1=_n(py(y)), y2=_n(py(y)), class_="grid"),
            _text(left - 8, py(y) + 4, short(y), class_="tick", text_anchor="end"),
        ]
    for x in _logs(x0, x1):
        parts += [_text(px(x), plot - bottom + 20, f"{x:g}", class_="tick", text_anchor="middle")]
    parts.append(_text((left + width - right) / 2, plot - 6, unit, class_="axis", text_anchor="middle"))
    parts.append(_text(left, top - 3, "error (root mean square)", class_="axis"))
    if natural > 0:
        parts += [
            _tag("line", x1=left, x2=width - right, y1=_n(py(natural)), y2=_n(py(natural)), class_="natural"),
            _text(
                width - right - 4,
                py(natural) - 6,
                "sampling error, no privacy",
                class_="tick",
                text_anchor="end",
            ),
        ]
    ends = []
    for place, (name, points) in enumerate(drawn.items()):
        text = " ".join(f"{_n(px(x))},{_n(py(y))}" for x, y in points)
        parts.append(_tag("polyline", points=text, class_=f"line line-{place}"))
        parts += [_mark(MARKS[place % len(MARKS)], px(x), py(y), f"mark mark-{place}") for x, y in points]
        ends.append((py(points[-1][1]), name, place))
    if narrow:
        for row, (_, name, place) in enumerate(ends):
            y = plot + 8 + 22 * row
            parts += [
                _tag("line", x1=left, x2=left + 26, y1=y, y2=y, class_=f"line line-{place}"),
                _mark(MARKS[place % len(MARKS)], left + 13, y, f"mark mark-{place}"),
                _text(left + 34, y + 4, name, class_="label"),
            ]
    else:
        last = -math.inf
        for y, name, place in sorted(ends):
            at_y = max(y, last + APART)
            last = at_y
            parts.append(_text(width - right + 8, at_y + 4, name, class_=f"label label-{place}"))
    points = drawn.get(chosen) or next(iter(drawn.values()))
    here = math.exp(
        _between([math.log(x) for x, _ in points], [math.log(y) for _, y in points], math.log(at))
    )
    inside = min(max(at, x0), x1)
    parts.append(
        _tag(
            "circle",
            cx=_n(px(inside)),
            cy=_n(py(min(max(here, y0), y1))),
            r=7,
            class_="here",
            id=f"here-{width}",
        )
    )
    return _frame(
        width, height, "Error against price", f"{len(drawn)} lines; this plan is at {unit} {at:g}", parts,
        data_points=" ".join(f"{x:.6g},{y:.6g}" for x, y in points),
        data_box=f"{left},{width - right},{top},{plot - bottom},{x0:.6g},{x1:.6g},{y0:.6g},{y1:.6g}",
    )  # fmt: skip


def _between(xs: list[float], ys: list[float], x: float) -> float:
    """Straight lines between points, and the ends beyond them."""
    for place in range(1, len(xs)):
        if x <= xs[place]:
            share = (x - xs[place - 1]) / (xs[place] - xs[place - 1])
            return ys[place - 1] + max(share, 0.0) * (ys[place] - ys[place - 1])
    return ys[-1]


def _mark(kind: str, x: float, y: float, cls: str) -> Markup:
    if kind == "circle":
        return _tag("circle", cx=_n(x), cy=_n(y), r=3.5, class_=cls)
    return _tag("polygon", points=" ".join(f"{_n(x + a)},{_n(y + b)}" for a, b in SHAPES[kind]), class_=cls)


def dots(
    rows: Sequence[tuple[str, float, float | None, float | None]], *, title: str, width: int = 560
) -> Markup:
    """One answer per line: a dot, with its interval where one is known."""
    known = [(words, value, low, high) for words, value, low, high in rows if math.isfinite(value)]
    if len(known) < 1:
        return Markup("")
    ends = [
        each
        for _, value, low, high in known
        for each in (value, low, high)
        if each is not None and math.isfinite(each)
    ]
    low, high = min(ends), max(ends)
    if low > 0 and low < 0.4 * high:
        low = 0.0
    pad = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
    low, high = (low if low == 0 else low - pad), high + pad
    left, right, line = (120 if width >= 420 else 92), 18, 30
    height = 14 + line * len(known) + 30

    def px(value: float) -> float:
        return left + (value - low) / (high - low) * (width - left - right)

    parts = []
    for tick in ticks(low, high, 5 if width >= 420 else 3):
        parts += [
            _tag("line", x1=_n(px(tick)), x2=_n(px(tick)), y1=8, y2=height - 28, class_="grid"),
            _text(px(tick), height - 10, short(tick) if tick else "0", class_="tick", text_anchor="middle"),
        ]
    for place, (words, value, below, above) in enumerate(known):
        y = 14 + line * place + line / 2
        parts.append(
            _text(
                left - 10,
                y + 4,
                words if len(words) < 19 else words[:17] + "…",
                class_="label",
                text_anchor="end",
            )
        )
        if below is not None and above is not None:
            parts.append(_tag("line", x1=_n(px(below)), x2=_n(px(above)), y1=_n(y), y2=_n(y), class_="bar"))
            parts += [
                _tag("line", x1=_n(px(end)), x2=_n(px(end)), y1=_n(y - 5), y2=_n(y + 5), class_="bar")
                for end in (below, above)
            ]
        parts.append(_tag("circle", cx=_n(px(value)), cy=_n(y), r=5, class_="dot"))
    return _frame(width, height, title, f"{len(known)} released answers", parts)


def bars(cells: Sequence[tuple[str, float]], *, title: str, width: int = 560) -> Markup:
    """Counts by cell."""
    top = max((value for _, value in cells if math.isfinite(value)), default=0.0)
    if top <= 0:
        return Markup("")
    left, line = (120 if width >= 420 else 92), 28
    height = 10 + line * len(cells)
    parts = []
    for place, (words, value) in enumerate(cells):
        y = 6 + line * place
        size = max(value, 0.0) / top * (width - left - 78)
        parts += [
            _text(
                left - 10,
                y + 16,
                words if len(words) < 19 else words[:17] + "…",
                class_="label",
                text_anchor="end",
            ),
            _tag("rect", x=left, y=y + 2, width=_n(max(size, 1)), height=line - 8, rx=2, class_="column"),
            _text(left + max(size, 1) + 6, y + 16, short(value), class_="tick"),
        ]
    return _frame(width, height, title, f"{len(cells)} released counts", parts)


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
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def promise(epsilon: float, per: float) -> Markup:
    """How much a report tells two places apart: circles at distances around a true place."""
    width, height, middle = 320, 320, 160
    top = 3 * per
    parts = []
    for times in (3, 2, 1):
        odds = math.exp(epsilon * times)
        radius = times * per / top * 145
        parts += [
            _tag("circle", cx=middle, cy=middle, r=_n(radius), class_=f"ring ring-{times}"),
            _text(
                middle,
                middle - radius + 15,
                f"{times * per:g} m: {odds:.3g} to 1",
                class_="tick",
                text_anchor="middle",
            ),
        ]
    parts.append(_tag("circle", cx=middle, cy=middle, r=4, class_="dot"))
    about = f"within {per:g} m the odds of two places change by at most a factor {math.exp(epsilon):.3g}"
    return _frame(width, height, "What one report gives away", about, parts)


def heat(cells: Sequence[Sequence[float]], *, title: str, side: float, ring: float) -> Markup:
    """A density as cells of growing strength, north up, with the ring of indistinguishability to scale."""
    size, many = 300, len(cells)
    one = size / many
    parts = [_tag("rect", x=0, y=0, width=size, height=size, class_="ground")]
    for east, column in enumerate(cells):
        for north, value in enumerate(column):
            if value > 0.02:
                parts.append(
                    _tag("rect", x=_n(east * one), y=_n(size - (north + 1) * one), width=_n(one + 0.3),
                         height=_n(one + 0.3), class_="cell", fill_opacity=f"{min(value, 1.0) ** 0.6:.2f}")
                )  # fmt: skip
    radius = max(ring / side * size, 1.5)
    parts += [
        _tag("circle", cx=_n(size - 12 - radius), cy=_n(size - 12 - radius), r=_n(radius), class_="scale"),
        _text(8, size - 10, f"{side / 1000:g} km", class_="tick"),
    ]
    return _frame(size, size, title, f"{many} by {many} cells over {side / 1000:g} kilometres", parts)


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
                _tag("line", x1=left, x2=width - right, y1=_n(py(tick)), y2=_n(py(tick)), class_="grid"),
                _text(
                    left - 8,
                    py(tick) + 4,
                    "1" if tick == 0 else f"1e{tick:.3g}",
                    class_="tick",
                    text_anchor="end",
                ),
            ]
    for x in _logs(x0, x1):
        parts.append(_text(px(x), height - bottom + 20, f"{x:g}", class_="tick", text_anchor="middle"))
    parts += [
        _text((left + width - right) / 2, height - 6, "epsilon", class_="axis", text_anchor="middle"),
        _text(left, top - 6, "delta", class_="axis"),
        _tag("line", x1=left, x2=width - right, y1=_n(py(worst)), y2=_n(py(worst)), class_="worst"),
        _text(width - right - 4, py(worst) + 16, "worst case", class_="tick", text_anchor="end"),
        _tag(
            "polyline", points=" ".join(f"{_n(px(x))},{_n(py(y))}" for x, y in points), class_="line line-0"
        ),
        *(_mark("circle", px(x), py(y), "mark mark-0") for x, y in points),
    ]
    here = next((y for x, y in points if x == at), None)
    if here is not None:
        parts.append(_tag("circle", cx=_n(px(at)), cy=_n(py(here)), r=7, class_="here"))
    return _frame(width, height, "What is given away", f"delta falls from epsilon {x0:g} to {x1:g}", parts)
