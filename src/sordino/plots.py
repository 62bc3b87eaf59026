"""Every figure in one style: a style, a saver, and the figures that belong to no single room.

Functions return a matplotlib Figure and never show it. Colours survive printing in grey and are never the only
mark: lines differ in dash too. matplotlib is imported only here and in the rooms' own figure files.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from html import escape
from io import StringIO
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import MissingExtra, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sordino.noise.calibration import Calibration

# Okabe and Ito's palette, ordered so that neighbours also differ in lightness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (1, 1)), (0, (9, 3)))
FORMATS = ("svg", "png", "pdf")

_STYLE = {
    "figure.figsize": (7.2, 4.2),
    "figure.dpi": 120,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "svg.hashsalt": "sordino",  # the same figure gives the same file
}


class Studio:
    """Makes figures without pyplot's state: nobody's backend or open figures are touched, and notebooks show them."""

    def __init__(self, matplotlib: Any) -> None:
        self._matplotlib = matplotlib

    def figure(self, **options: Any) -> Any:
        """An empty figure."""
        return _picture_class()(**options)

    def subplots(self, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Any, Any]:
        """A figure and its axes, with the arguments of pyplot's function of that name."""
        own = {name: options.pop(name) for name in ("figsize", "dpi", "layout") if name in options}
        figure = self.figure(**own)
        return figure, figure.subplots(rows, columns, **options)

    def get_cmap(self, name: str, levels: int | None = None) -> Any:
        """A colour map."""
        found = self._matplotlib.colormaps[name]
        return found if levels is None else found.resampled(levels)


def _matplotlib(subject: str = "plots") -> Any:
    """Import matplotlib, or name the extra to install."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingExtra.named(subject, "matplotlib", "plots") from error
    return mpl


@cache
def _picture_class() -> Any:
    """A figure that a notebook shows by itself."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        def _repr_svg_(self) -> str:
            return svg(self)

    return Picture


def svg(figure: Any) -> str:
    """A figure as SVG, without time stamps."""
    written = StringIO()
    with style():
        figure.savefig(written, format="svg", metadata={"Date": None})
    text = written.getvalue()
    return text[text.index("<svg") :]


def inline(figure: Any, *, title: str) -> str:
    """A figure as SVG inside a page: it shrinks with the page and has a title for screen readers."""
    head, mark, rest = svg(figure).partition(">")
    named = f' role="img" aria-label="{escape(title)}" style="max-width:100%;height:auto"'
    return f"{head}{named}{mark}{rest}"


@contextmanager
def style() -> Iterator[Any]:
    """Draw in the house style; yields a `Studio`.

    Example:
        >>> with style() as plt:
        ...     figure, axes = plt.subplots()
        ...     _ = axes.set_xlabel("epsilon")
    """
    mpl = _matplotlib()
    from cycler import cycler  # comes with matplotlib

    with mpl.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=list(COLOURS))}):
        yield Studio(mpl)


def lines() -> Iterator[dict[str, Any]]:
    """Yield line styles that differ in colour and in dash."""
    return (
        {"color": colour, "linestyle": dash}
        for colour, dash in zip(cycle(COLOURS), cycle(DASHES), strict=False)
    )


def save(figure: Any, path: str | Path) -> Path:
    """Write a figure to a file whose ending says the format, without time stamps.

    Example:
        >>> save(None, "figure.gif")
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: plot: the file must end in .svg, .png or .pdf, got path='figure.gif'.
            Hint: plot.svg
    """
    target, ending = check(path)
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    with style():
        figure.savefig(target, metadata=metadata)
    return target


def check(path: str | Path) -> tuple[Path, str]:
    """Refuse a file that cannot be drawn into, and a missing matplotlib, before any work is done."""
    target = Path(path)
    ending = target.suffix.lstrip(".").lower()
    if ending not in FORMATS:
        raise ParameterError(
            "plot", "the file must end in .svg, .png or .pdf", got={"path": str(path)}, hint="plot.svg"
        )
    if not target.parent.exists():
        raise ParameterError(
            "plot", "the folder of the file must exist", got={"path": str(path)}, hint=target.name
        )
    _matplotlib("plot")
    return target, ending


def densities(calibrations: Sequence[Calibration], *, unit: str = "units of the smooth bound") -> Any:
    """Draw the densities of calibrated noises: the centre on the left, the tails on log axes on the right."""
    with style() as plt:
        figure, (centre, tails) = plt.subplots(1, 2, figsize=(9.2, 4.0))
        reach = max(float(c.scale) * float(c.noise.isf(0.02)) for c in calibrations)
        near = np.linspace(-reach, reach, 1201)
        far = np.geomspace(reach / 100, reach * 300, 600)
        for calibration, line in zip(calibrations, lines(), strict=False):
            scale = float(calibration.scale)
            label = label_of(calibration)
            centre.plot(near, calibration.noise.pdf(near / scale) / scale, label=label, **line)
            tails.plot(far, 2 * calibration.noise.sf(far / scale), label=label, **line)
        centre.set(xlabel=f"noise ({unit})", ylabel="density", title="The centre", xlim=(-reach, reach))
        centre.set_ylim(bottom=0)
        tails.set(
            xlabel=f"size of the noise ({unit})",
            ylabel="probability of a larger one",
            title="The tails",
            xscale="log",
            yscale="log",
            ylim=(1e-12, 1.5),
            xlim=(far[0], far[-1]),
        )
        figure.legend(*centre.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return figure


def label_of(calibration: Calibration) -> str:
    """Name a calibrated noise in a legend: family, shape and standard deviation."""
    shape = ", ".join(f"{name} {float(value):.3g}" for name, value in calibration.noise.shape.items())
    std = calibration.std
    size = f"std {std:.3g}" if np.isfinite(std) else "infinite variance"
    return f"{calibration.noise.name} ({shape}; {size})" if shape else f"{calibration.noise.name} ({size})"


def curves(
    series: dict[str, tuple[Sequence[float], Sequence[float]]],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    log: str = "",
    ylim: tuple[float, float] | None = None,
    level: tuple[float, str] | None = None,
) -> Any:
    """Draw named curves with a legend beside the axes, and optionally one labelled level."""
    with style() as plt:
        figure, axes = plt.subplots(figsize=(8.6, 4.4))
        for (name, (x, y)), line in zip(series.items(), lines(), strict=False):
            values = np.asarray(y, dtype=float)
            axes.plot(x, np.where(np.isfinite(values), values, np.nan), label=name, **line)
        if level is not None:
            axes.axhline(level[0], color="#666666", linewidth=1, linestyle=(0, (1, 2)), label=level[1])
        axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
        if "x" in log:
            axes.set_xscale("log")
        if "y" in log:
            axes.set_yscale("log")
            plain_ticks(axes.yaxis)
        if ylim is not None:
            axes.set_ylim(*ylim)
        figure.legend(loc="outside right center")
        return figure


def plain_ticks(axis: Any) -> None:
    """Write a short log axis as 1, 2, 5, 10, not as powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def thousands(axis: Any) -> None:
    """Write an axis as people write numbers: 20,000."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{float(f'{value:.6g}'):,.6g}"))
