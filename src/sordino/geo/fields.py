"""Regions and functions on a window of cells: softened, deconvolved, and summed over the reports.

One spreading of the reports serves hundreds of regions; each is worked out on the part of the window around it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import DataError, ParameterError, Unsupported
from sordino.geo.coverage import bounds_of, covered, nearest, nodes_around
from sordino.geo.deconvolution import factor
from sordino.geo.window import MapWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sordino.geo.maps import Group

    Floats = NDArray[np.float64]
    Sums = tuple[Any, Any, Any, Any]

#: Reports farther than this many U outside the box come from honest devices with probability below 1e-9.
_BEYOND = 25.0


def everything(groups: Sequence[Group]) -> tuple[float, float, float, float]:
    """Where reports are: the box of the mechanisms and some U more."""
    low, high = [], []
    for group in groups:
        made = group.reports.mechanism
        step, far = float(made.step), _BEYOND * group.unit_loss
        low.append([a * step - far for a in made.low])
        high.append([b * step + far for b in made.high])
    bottom, top = np.min(low, axis=0), np.max(high, axis=0)
    return float(bottom[0]), float(bottom[1]), float(top[0]), float(top[1])


def _pad(groups: Sequence[Group], width: float) -> float:
    return max(6 * width, 3 * width + 12 * max(group.unit_loss for group in groups))


def regions_total(groups: Sequence[Group], regions: Sequence[Any], width: float) -> Sums:
    """Sums of g, w^2 g^2, w^2 g2 and w g2 for each region, softened over `width`."""
    far, pad = everything(groups), _pad(groups, width)
    bounds = [bounds_of(region, far) for region in regions]
    outer = (*np.min(bounds, axis=0)[:2], *np.max(bounds, axis=0)[2:])
    window = _window(outer, width / 4, pad)
    laid = [(group, _laid(window, group)) for group in groups]
    sums = np.zeros((4, len(regions)))
    for j, (region, where) in enumerate(zip(regions, bounds, strict=True)):
        part = nodes_around(window, where, pad)
        x, y = (window.axis(i)[part[i]] for i in (0, 1))
        shape = covered(region, x, y, window.cell, where)
        sums[:, j] = _sums(window, shape, part, laid, width)
    return sums[0], sums[1], sums[2], sums[3]


def shares_total(groups: Sequence[Group], centres: Floats, width: float) -> Sums:
    """The same for the cells of places that are nearest to each centre."""
    outer = everything(groups)
    window = _window(outer, width / 4, 0.0)
    laid = [(group, _laid(window, group)) for group in groups]
    x, y = window.axis(0), window.axis(1)
    shapes = nearest(centres, x, y, window.cell)
    part = (slice(0, window.shape[0]), slice(0, window.shape[1]))
    sums = np.array([_sums(window, shape, part, laid, width) for shape in shapes]).T
    return sums[0], sums[1], sums[2], sums[3]


def function_total(groups: Sequence[Group], function: Callable[[Any], Any], width: float) -> Sums:
    """The same for a function of the points; without softening if its width is zero and it is smooth enough."""
    outer = everything(groups)
    unit = min(group.unit_loss for group in groups)
    if width < 0:
        raise ParameterError("answer", "edge_width must not be negative", got={"edge_width": width})
    window = _window(outer, width / 4 if width else unit / 4, 0.0)
    x, y = window.axis(0), window.axis(1)
    nodes = np.stack([grid.ravel() for grid in np.meshgrid(x, y, indexing="ij")], axis=1)
    values = np.asarray(function(nodes), dtype=np.float64)
    if values.shape != (len(nodes),) or not np.isfinite(values).all():
        raise DataError(
            "answer",
            "the function must give one finite number for each row of points",
            got={"shape": values.shape},
        )
    # Far outside the box, where no honest report is, the function goes to zero so that the ends of the window meet.
    fade = _BEYOND / 2 * max(group.unit_loss for group in groups)
    field = values.reshape(window.shape) * np.outer(_faded(x, fade), _faded(y, fade))
    if not width:
        _refuse_rough(window, field, unit)
    laid = [(group, _laid(window, group)) for group in groups]
    part = (slice(0, window.shape[0]), slice(0, window.shape[1]))
    return _sums(window, field, part, laid, width, sampled=True)


def _faded(nodes: Floats, width: float) -> Floats:
    """One inside, falling to zero over a width at both ends."""
    inside = np.minimum(nodes - nodes[0], nodes[-1] - nodes) / width
    ramp: Floats = np.sin(0.5 * np.pi * np.clip(inside, 0.0, 1.0)) ** 2
    return ramp


def _window(outer: Any, finest: float, pad: float) -> MapWindow:
    counts = [max(2, int(np.ceil((outer[i + 2] - outer[i]) / finest)) + 1) for i in (0, 1)]
    return MapWindow.over(low=outer[:2], high=outer[2:], shape=counts, finest=2 * finest, pad=pad)


def _laid(window: MapWindow, group: Group) -> Floats:
    """The reports as weights on the nodes: sums of smooth functions over nodes are sums over reports."""
    return window.back(window.spread([group.reports.metres])[0])


def _sums(
    window: MapWindow, shape: Floats, part: Any, laid: Any, width: float, *, sampled: bool = False
) -> tuple[float, float, float, float]:
    """Soften and deconvolve a field on a part of the window, and sum it over reports."""
    local = MapWindow((0.0, 0.0), window.cell, shape.shape, (slice(None), slice(None)))
    spectrum = local.forward(shape) * np.exp(-0.5 * width**2 * local.waves)
    if not sampled:  # a covered share is a mean over the cell; divide the cell's own transform out
        spectrum = spectrum / np.sinc(np.fft.fftfreq(local.shape[0]))[:, None]
        spectrum = spectrum / np.sinc(np.fft.rfftfreq(local.shape[1]))[None, :]
    total = np.zeros(4)
    for group, nodes in laid:
        here, w = nodes[part], group.share
        undo = factor(local.waves, group.unit_loss, 2)
        g = local.back(spectrum * undo)
        second = 0.0
        if w != 1:
            soft = local.back(spectrum)
            second = float((here * local.back(local.forward(soft * soft) * undo)).sum())
        total += [w * (here * g).sum(), w * w * (here * g * g).sum(), w * w * second, w * second]
    return float(total[0]), float(total[1]), float(total[2]), float(total[3])


def _refuse_rough(window: MapWindow, field: Floats, unit: float) -> None:
    """A function with detail finer than the noise can be undone needs an edge width."""
    power = np.abs(window.forward(field - field.mean()) * factor(window.waves, unit, 2)) ** 2
    fine = float(power[window.waves > (2.0 / unit) ** 2].sum() / max(float(power.sum()), 1e-300))
    if fine > 0.01:
        raise Unsupported(
            "answer",
            "the function has detail finer than half the distance of loss one",
            got={"share": round(fine, 3)},
            why="Its unbiased answer would be noise and nothing else.",
            hint=f"edge_width={0.5 * unit:.4g}",
        )
