"""Pictures of plans, budgets and answers as SVG: classes and presentation attributes only, so that they fit the page.

Every picture has a title and a description; the numbers behind it stand in a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from sordino.planner.report import short
from sordino.web.svg import MARKS, frame, label, logs, mark, n, tag, ticks

APART = 15
"""Units between labels at the end of lines."""


def gauge(budget: float, spent: float, this: float = 0.0, *, title: str, width: int = 560) -> Markup:
    """A budget as a bar: spent, this question, left."""
    total = max(budget, 1e-300)
    used, now = min(spent / total, 1.0), min(this / total, 1.0)
    end = min(used + now, 1.0)
    parts = [
        tag("rect", x=0.5, y=0.5, width=width - 1, height=21, rx=4, class_="gauge-all"),
        tag("rect", x=0.5, y=0.5, width=n(used * (width - 1)), height=21, rx=4, class_="gauge-spent"),
    ]
    if this:
        kind = "gauge-over" if used + now > 1 + 1e-12 else "gauge-this"
        parts.append(
            tag("rect", x=n(0.5 + used * (width - 1)), y=0.5, width=n(max((end - used) * (width - 1), 2)),
                 height=21, class_=kind)
        )  # fmt: skip
    about = f"{100 * used:.0f} percent is spent" + (
        f", this question takes {100 * now:.0f} percent" if this else ""
    )
    return frame(width, 22, title, about, parts, preserveAspectRatio="none")


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
    for y in logs(y0, y1):
        parts += [
            tag("line", x1=left, x2=width - right, y1=n(py(y)), y2=n(py(y)), class_="grid"),
            label(left - 8, py(y) + 4, short(y), class_="tick", text_anchor="end"),
        ]
    for x in logs(x0, x1):
        parts += [label(px(x), plot - bottom + 20, f"{x:g}", class_="tick", text_anchor="middle")]
    parts.append(label((left + width - right) / 2, plot - 6, unit, class_="axis", text_anchor="middle"))
    parts.append(label(left, top - 3, "error (root mean square)", class_="axis"))
    if natural > 0:
        parts += [
            tag("line", x1=left, x2=width - right, y1=n(py(natural)), y2=n(py(natural)), class_="natural"),
            label(
                width - right - 4,
                py(natural) - 6,
                "sampling error, no privacy",
                class_="tick",
                text_anchor="end",
            ),
        ]
    ends = []
    for place, (name, points) in enumerate(drawn.items()):
        text = " ".join(f"{n(px(x))},{n(py(y))}" for x, y in points)
        parts.append(tag("polyline", points=text, class_=f"line line-{place}"))
        parts += [mark(MARKS[place % len(MARKS)], px(x), py(y), f"mark mark-{place}") for x, y in points]
        ends.append((py(points[-1][1]), name, place))
    if narrow:
        for row, (_, name, place) in enumerate(ends):
            y = plot + 8 + 22 * row
            parts += [
                tag("line", x1=left, x2=left + 26, y1=y, y2=y, class_=f"line line-{place}"),
                mark(MARKS[place % len(MARKS)], left + 13, y, f"mark mark-{place}"),
                label(left + 34, y + 4, name, class_="label"),
            ]
    else:
        last = -math.inf
        for y, name, place in sorted(ends):
            at_y = max(y, last + APART)
            last = at_y
            parts.append(label(width - right + 8, at_y + 4, name, class_=f"label label-{place}"))
    points = drawn.get(chosen) or next(iter(drawn.values()))
    here = math.exp(
        _between([math.log(x) for x, _ in points], [math.log(y) for _, y in points], math.log(at))
    )
    inside = min(max(at, x0), x1)
    parts.append(
        tag(
            "circle",
            cx=n(px(inside)),
            cy=n(py(min(max(here, y0), y1))),
            r=7,
            class_="here",
            id=f"here-{width}",
        )
    )
    return frame(
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
            tag("line", x1=n(px(tick)), x2=n(px(tick)), y1=8, y2=height - 28, class_="grid"),
            label(px(tick), height - 10, short(tick) if tick else "0", class_="tick", text_anchor="middle"),
        ]
    for place, (words, value, below, above) in enumerate(known):
        y = 14 + line * place + line / 2
        parts.append(
            label(
                left - 10,
                y + 4,
                words if len(words) < 19 else words[:17] + "…",
                class_="label",
                text_anchor="end",
            )
        )
        if below is not None and above is not None:
            parts.append(tag("line", x1=n(px(below)), x2=n(px(above)), y1=n(y), y2=n(y), class_="bar"))
            parts += [
                tag("line", x1=n(px(end)), x2=n(px(end)), y1=n(y - 5), y2=n(y + 5), class_="bar")
                for end in (below, above)
            ]
        parts.append(tag("circle", cx=n(px(value)), cy=n(y), r=5, class_="dot"))
    return frame(width, height, title, f"{len(known)} released answers", parts)


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
            label(
                left - 10,
                y + 16,
                words if len(words) < 19 else words[:17] + "…",
                class_="label",
                text_anchor="end",
            ),
            tag("rect", x=left, y=y + 2, width=n(max(size, 1)), height=line - 8, rx=2, class_="column"),
            label(left + max(size, 1) + 6, y + 16, short(value), class_="tick"),
        ]
    return frame(width, height, title, f"{len(cells)} released counts", parts)
