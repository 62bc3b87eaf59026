"""Liang and Yi 2024: Figures 5, 9, 10 and 11, kernel-density maps drawn once by every mechanism.

In the paper M1, M2 and M3 pay the price once per place, 3600 times for a map; so does PolyPlace here. Moved points and
blocks pay once for the whole map. How a map is drawn is in geo_draws.py; New York collisions are used if given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result
from reproductions.geo_draws import NAMES, TRUE, compute
from reproductions.geo_kernels import BLOCKS, EDGE, M0, M1, M2, M3, STAND_IN, W, sources

#: By figure: distance at which epsilon is one (m), bandwidth in units of w, people.
FIGURES = {
    "5": ((1000, 1.0, 200_000),),
    "9": ((500, 1.0, 200_000), (2000, 1.0, 200_000)),
    "10": ((1000, 0.8, 200_000), (1000, 1.2, 200_000)),
    "11": ((1000, 1.0, 100_000), (1000, 1.0, 400_000)),
}
LEVELS = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)


def _parts(figure: str, scale: str, data: Path | None) -> list[Part]:
    smoke, source = scale == "smoke", sources(data)[-1]
    return [
        {
            "source": source,
            "mechanism": name,
            "distance": distance,
            "share": share,
            "people": people // 50 if smoke else people,
            "side": 20 if smoke else 60,
            "data": None if source == STAND_IN else str(data),
            "seed": 2005,
        }
        for distance, share, people in FIGURES[figure]
        for name in NAMES
        if figure == "5" or name != BLOCKS
    ]


def map_errors(result: Result, setting: str) -> dict[str, float]:
    """Mean squared difference of each map from the true one."""
    true = np.array(result.column("value", setting=setting, mechanism=TRUE))
    names = dict.fromkeys(row["mechanism"] for row in result.select(setting=setting))
    return {
        name: float(np.mean((np.array(result.column("value", setting=setting, mechanism=name)) - true) ** 2))
        for name in names
        if name != TRUE
    }


def leaning(result: Result, setting: str, name: str) -> tuple[float, float]:
    """A map over the true one: at the true map's highest place, and in sum over all places."""
    true, found = (np.array(result.column("value", setting=setting, mechanism=one)) for one in (TRUE, name))
    top = int(np.argmax(true))
    return float(found[top] / true[top]), float(found.sum() / true.sum())


def _say(result: Result) -> str:
    words, wins = [], 0
    settings = result.values("setting")
    for setting in settings:
        found = map_errors(result, setting)
        wins += found[M3] < min(found[M0], found[M1], found[M2])
        listed = ", ".join(f"{name} {value:.2g}" for name, value in found.items())
        (peak, _), (_, total) = leaning(result, setting, M0), leaning(result, setting, M1)
        words.append(f"{setting}: {listed} (M0 {peak:.2f} of the highest place, M1 {total:.2f} of the sum)")
    return (
        f"Mean squared error of one drawn map of the {result.settings[0]['source']}: {'; '.join(words)}. M3 is "
        f"the best of the paper's in {wins} of {len(settings)}."
    )


def _draw(result: Result) -> Any:
    from sordino import plots

    side, settings = result.settings[0]["side"], result.values("setting")
    names = result.values("mechanism")
    wrap = 4 if len(settings) == 1 else len(names)
    rows = -(-len(names) // wrap) * len(settings)
    extent = (-EDGE[0] / 1000, EDGE[0] / 1000, -EDGE[1] / 1000, EDGE[1] / 1000)
    with plots.style() as plt:
        top = len(LEVELS) - 1
        look = {"cmap": plt.get_cmap("viridis_r", top), "vmin": 0.5, "vmax": top + 0.5, "aspect": "equal"}
        figure, axes = plt.subplots(
            rows,
            wrap,
            figsize=(2.35 * wrap + 1.0, 2.3 * rows + 0.5),
            squeeze=False,
            sharex=True,
            sharey=True,
        )
        for axis in axes.flat[len(names) * len(settings) :]:
            axis.axis("off")
        panels = [(setting, name) for setting in settings for name in names]
        image = None
        for axis, (setting, name) in zip(axes.flat, panels, strict=False):
            values = np.array(result.column("value", setting=setting, mechanism=name)).reshape(side, side)
            # The step of each place, the highest one open; below the lowest nothing is drawn.
            step = np.minimum(np.digitize(values, LEVELS), top)
            image = axis.imshow(np.ma.masked_equal(step, 0), origin="lower", extent=extent, **look)
            off = "" if name == TRUE else f"\nsquared error {map_errors(result, setting)[name]:.1e}"
            axis.set_title(f"{name}{off}", fontsize=8.5)
            axis.grid(visible=False)
            axis.tick_params(labelsize=8)
        for line, row in enumerate(axes):
            said = f"epsilon {settings[line].replace(', ', chr(10), 1)}\n" if len(settings) > 1 else ""
            row[0].set_ylabel(f"{said}north (km)", fontsize=8.5)
        for axis in axes[-1]:
            axis.set_xlabel("east (km)", fontsize=8.5)
        bar = figure.colorbar(image, ax=axes, shrink=0.8)
        bar.set_label("mean kernel value (white: less, or negative)", fontsize=9)
        bar.set_ticks([k + 0.5 for k in range(top + 1)], labels=[f"{level:g}" for level in LEVELS])
        title = f"Kernel density of the {result.settings[0]['source']}, w = {W / 1000:g} km"
        if len(settings) == 1:
            title += f", epsilon {settings[0]}"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure


def _five(scale: str, data: Path | None) -> list[Part]:
    return _parts("5", scale, data)


def _nine(scale: str, data: Path | None) -> list[Part]:
    return _parts("9", scale, data)


def _ten(scale: str, data: Path | None) -> list[Part]:
    return _parts("10", scale, data)


def _eleven(scale: str, data: Path | None) -> list[Part]:
    return _parts("11", scale, data)


_CLAIMS = (
    ("5", "at the paper's default setting", "M3's map is nearest to the true one.", _five),
    (
        "9",
        "at a larger and a smaller epsilon",
        "At the smaller epsilon M0 is more negatively biased, M1 more positively, M2 and M3 noisier; M3 stays best.",
        _nine,
    ),
    (
        "10",
        "at a smaller and a larger bandwidth",
        "M2 and M3 have smaller error at the larger bandwidth, M0 and M1 at the smaller one.",
        _ten,
    ),
    (
        "11",
        "with fewer and more people",
        "More people reduce the error of M2 and M3, not that of M0 and M1.",
        _eleven,
    ),
)
EXPERIMENTS = tuple(
    Experiment(
        f"liang-2024-figure-{figure}",
        "liang-2024",
        f"kernel-density maps {words}, one draw by each mechanism",
        claim,
        ("setting", "mechanism", "east", "north", "value"),
        parts,
        compute,
        _say,
        _draw,
    )
    for figure, words, claim, parts in _CLAIMS
)
