"""Pictures of what was published: histograms, quantiles, groups as dots with intervals; and of a budget.

Everything drawn is in the release; nothing is read. Words stand beside colours, so that grey prints can be read.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sordino import plots
from sordino.errors import ParameterError
from sordino.explain import asked
from sordino.labels import shown
from sordino.session.blocks import covered

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.session.release import Release
    from sordino.session.table import AnswerRow

INK = plots.COLOURS[0]
ROW = 0.36  # inches for one line of dots
PLACES = (
    "median", "quantile", "mean", "trimmed-mean", "winsorized-mean", "output-trimmed-mean", "minimum", "maximum",
)  # fmt: skip
"""Statistics that are places on the axis of their column, and are drawn on it together."""
ACROSS = 3  # panels of a histogram by group beside each other


def picture(release: Release) -> Any:
    """One panel per statistic, under each other."""
    keys = release.table.keys
    panels = [panel for rows in _by_panel(release).values() for panel in _panels(rows, keys)]
    if not panels:
        raise ParameterError(
            "plot", "there is no number to draw", why="The answer is a word.", hint="print(answer)"
        )
    with plots.style() as plt:
        heights = [panel.height for panel in panels]
        figure = plt.figure(figsize=(7.2, sum(heights) + 0.3))
        grid = figure.add_gridspec(len(panels), ACROSS, height_ratios=heights)
        for place, panel in enumerate(panels):
            panel.draw(figure, grid[place, :] if panel.whole else grid[place, :].subgridspec(1, ACROSS))
        words = _intervals(release)
        figure.suptitle(
            "\n".join(textwrap.wrap(_cut(asked(release.event), 300) + words, 88)),
            fontsize=10,
            x=0.01,
            ha="left",
        )
        return figure


def _cut(text: str, most: int = 90) -> str:
    """Names have no end of their own, and a picture has."""
    return text if len(text) <= most else text[: most - 1] + "…"


def gauge(budget: Guarantee, spent: Guarantee, left: Guarantee) -> Any:
    """A budget as a bar: what was spent, and what is left of it."""
    share = used(budget, spent)
    with plots.style() as plt:
        figure, axes = plt.subplots(figsize=(7.2, 1.25))
        axes.barh([0], [share], color=INK, height=0.6)
        axes.barh([0], [1 - share], left=[share], color="white", edgecolor="#666666", hatch="///", height=0.6)
        axes.set(xlim=(0, 1), yticks=[], title=f"budget {budget!r}", xticks=[0, 0.25, 0.5, 0.75, 1])
        axes.set_xticklabels(["0", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel(f"spent {spent!r}, left {left!r}")
        axes.grid(visible=False)
        return figure


def used(budget: Guarantee, spent: Guarantee) -> float:
    """The share of a budget that was spent: of the parameter of which most is gone, at most 1."""
    shares = []
    for name in ("epsilon", "rho", "delta"):
        whole, part = getattr(budget, name, None), getattr(spent, name, None)
        if whole and part is not None:
            shares.append(float(part / whole))
    return min(max(shares, default=0.0), 1.0)


class _Panel:
    """A part of the picture that knows its height."""

    whole = True

    def __init__(self, title: str, rows: Sequence[AnswerRow], names: Sequence[str]) -> None:
        self.title, self.rows, self.names = _cut(title), list(rows), [_cut(name) for name in names]

    @property
    def height(self) -> float:
        return 0.95 + ROW * len(set(self.names))

    def draw(self, figure: Any, place: Any) -> None:
        raise NotImplementedError


class _Dots(_Panel):
    """A dot per row of the table, with its interval; those of one name stand on one line."""

    def draw(self, figure: Any, place: Any) -> None:
        axes = figure.add_subplot(place)
        lines = list(dict.fromkeys(self.names))
        for row, name in zip(self.rows, self.names, strict=True):
            if not isinstance(row.value, int | float):
                continue
            at = lines.index(name)
            if row.low is not None and row.high is not None:
                axes.plot([row.low, row.high], [at, at], color=INK, linewidth=2, solid_capstyle="butt")
            axes.plot([row.value], [at], "o", color=INK, markersize=6, markeredgecolor="white")
        for at, name in enumerate(lines):
            values = [row.value for row, own in zip(self.rows, self.names, strict=True) if own == name]
            numbers = [value for value in values if isinstance(value, int | float)]
            if len(numbers) > 1:
                axes.plot([min(numbers), max(numbers)], [at, at], color="#999999", linewidth=1, zorder=0)
            words = ", ".join(shown(value) for value in values)
            axes.annotate(words, (1.01, at), xycoords=("axes fraction", "data"), va="center", fontsize=9)
        axes.set(yticks=range(len(lines)), title=self.title, ylim=(len(lines) - 0.5, -0.5))
        axes.set_yticklabels([textwrap.shorten(line, 34, placeholder="...") for line in lines])
        axes.margins(x=0.08)
        plots.thousands(axes.xaxis)


class _Bars(_Panel):
    """A bar per cell, with its interval."""

    @property
    def height(self) -> float:
        return 2.9

    def draw(self, figure: Any, place: Any) -> None:
        _bars(figure.add_subplot(place), self.rows, self.title)


class _Multiples(_Panel):
    """Small histograms of up to three groups beside each other, on one scale."""

    whole = False

    def __init__(self, title: str, groups: dict[str, list[AnswerRow]], top: tuple[float, float]) -> None:
        super().__init__(title, [], [])
        self.groups, self.top = groups, top

    @property
    def height(self) -> float:
        return 3.0

    def draw(self, figure: Any, place: Any) -> None:
        for at, (group, rows) in enumerate(self.groups.items()):
            axes = figure.add_subplot(place[0, at])
            _bars(axes, rows, f"{self.title}\n{group}" if at == 0 and self.title else group, small=True)
            axes.set_ylim(*self.top)
            if at:
                axes.set_yticklabels([])


def _bars(axes: Any, rows: Sequence[AnswerRow], title: str, *, small: bool = False) -> None:
    places = range(len(rows))
    values = [row.value if isinstance(row.value, int | float) else 0 for row in rows]
    axes.bar(places, values, color=INK, width=0.82)
    for at, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            axes.plot([at, at], [row.low, row.high], color="black", linewidth=1.4)
    if not small and len(rows) <= 14:
        for at, (value, row) in enumerate(zip(values, rows, strict=True)):
            top = max(value, 0, row.high or 0)  # above its interval
            axes.annotate(
                shown(value), (at, top), ha="center", va="bottom", fontsize=8, xytext=(0, 2),
                textcoords="offset points",
            )  # fmt: skip
    axes.set(xticks=list(places), title=title)
    names = [str(row.cell) for row in rows]
    steep = max(map(len, names)) * len(names) > (30 if small else 90)
    axes.set_xticklabels(names, rotation=40 if steep else 0, ha="right" if steep else "center", fontsize=8)
    axes.axhline(0, color="#333333", linewidth=0.8)
    axes.margins(y=0.12)
    axes.grid(visible=False, axis="x")
    plots.thousands(axes.yaxis)


def _panels(rows: list[AnswerRow], keys: tuple[str, ...]) -> list[_Panel]:
    """How a statistic is drawn: bars for counts of cells, lines of dots otherwise."""
    label = rows[0].label
    if rows[0].cell is None:
        names = [_group(row) if keys else row.label for row in rows]
        title = label if keys else str(rows[0].column) if len(rows) > 1 else ""
        return [_Dots(title, rows, names)] if _numbers(rows) else []
    if "q" in rows[0].parameters:
        names = [_group(row) if keys else f"q {row.cell}" for row in rows]
        qs = ", ".join(dict.fromkeys(str(row.cell) for row in rows))
        return [_Dots(f"{label} (q {qs})" if keys else label, rows, names)]
    if not keys:
        return [_Bars(label, rows, [])]
    groups: dict[str, list[AnswerRow]] = {}
    for row in rows:
        groups.setdefault(_group(row), []).append(row)
    ends = [
        float(end) for row in rows for end in (row.value, row.low, row.high) if isinstance(end, int | float)
    ]
    top = (min([0.0, *ends]) * 1.05, max([1.0, *ends]) * 1.05)
    listed = list(groups.items())
    return [
        _Multiples(label if start == 0 else "", dict(listed[start : start + ACROSS]), top)
        for start in range(0, len(listed), ACROSS)
    ]


def _group(row: AnswerRow) -> str:
    return ", ".join(map(str, row.group.values()))


def _by_panel(release: Release) -> dict[str, list[AnswerRow]]:
    """Rows that are drawn together: those of a statistic, or several places on the axis of one column."""
    found: dict[str, list[AnswerRow]] = {}
    for row in release.table:
        together = row.cell is None and not row.group and row.statistic in PLACES
        found.setdefault(f"column {row.column}" if together else row.label, []).append(row)
    return found


def _numbers(rows: list[AnswerRow]) -> bool:
    return any(isinstance(row.value, int | float) for row in rows)


def _intervals(release: Release) -> str:
    levels = sorted({row.level for row in release.table if row.level is not None})
    if not levels:
        return ""
    return f"; lines are {' or '.join(f'{100 * level:g} %' for level in levels)} intervals{covered(release.table)}"
