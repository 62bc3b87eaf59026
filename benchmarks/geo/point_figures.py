"""Draw the figures of the pages on point reports: `python -m benchmarks.geo.point_figures FOLDER`."""

import sys
from pathlib import Path

import numpy as np

from benchmarks.geo import map_methods as methods
from sordino.geo import map_of
from sordino.geo.deconvolution import kernel
from sordino.geo.drawing import block_density, true_density
from sordino.geo.figures import maps
from sordino.plots import COLOURS, DASHES, save, style
from sordino.privacy import Geo

PRICE = Geo(1, per=500)


def one_price(folder):
    """All ways to make a map for one price, on the same people."""
    half = 10_000.0
    points = methods.real_points("nyc_collisions", 142_069)
    points = points[(np.abs(points) < half).all(axis=1)]
    grid = {"low": (-half, -half), "high": (half, half), "shape": (40, 40)}
    h = 1000.0
    reports = methods.reports_of(points, PRICE, np.random.default_rng(1))
    truth = 1e6 * true_density(points, bandwidth=h, **grid)
    panels = [
        ("true", truth),
        ("blocks of places", 1e6 * block_density(points, PRICE, bandwidth=h, **grid)),
        ("moved points (M0)", 1e6 * true_density(reports.metres, bandwidth=h, **grid)),
        ("one report, unbiased", 1e6 * map_of(reports, bandwidth=h, **grid).density),
    ]
    titled = [
        (name if i == 0 else f"{name}\nerror {methods.rms(panel, truth):.3g}", panel.T)
        for i, (name, panel) in enumerate(panels)
    ]
    figure = maps(
        titled,
        extent=(-10, 10, -10, 10),
        unit="people per square km",
        title=f"{len(points):,} collisions, epsilon 1 per 500 m, bandwidth 1 km, one price for the whole map",
    )
    return save(figure, folder / "geo_map.png")


def fine(folder):
    """A bandwidth of half the distance of loss one: the smallest-error map against the unbiased one."""
    points = methods.real_points("nyc_collisions", 100_000)
    h = 250.0
    reports = methods.reports_of(points, PRICE, np.random.default_rng(1))
    truth = methods.truth(points, h)
    panels = [
        ("true", truth),
        ("unbiased", methods.unbiased(reports, h)),
        ("smallest error", methods.best(reports, h)),
    ]
    titled = [
        (name if i == 0 else f"{name}: error {methods.rms(panel, truth):.3g}", panel.T)
        for i, (name, panel) in enumerate(panels)
    ]
    figure = maps(
        titled,
        extent=(-8, 8, -8, 8),
        unit="people per square km",
        title="Half the distance of loss one: bandwidth 250 m, epsilon 1 per 500 m, 100,000 people",
    )
    return save(figure, folder / "geo_map_fine.png")


def deconvolved(folder):
    """The question and the function that is applied to reports instead."""
    r = np.linspace(0, 5, 500)
    with style() as plt:
        figure, axis = plt.subplots()
        axis.plot(r, np.exp(-0.5 * r * r), color=COLOURS[6], label="the question: a kernel at the point")
        for ratio, colour, dash in zip((1.0, 1.5, 2.5), COLOURS, DASHES[1:], strict=False):
            label = f"applied to reports, bandwidth {ratio:g} U"
            axis.plot(r, kernel(r, ratio**2, 2), color=colour, linestyle=dash, label=label)
        axis.axhline(0, color="#bbbbbb", linewidth=0.8)
        axis.set_xlabel("distance from the place (bandwidths)")
        axis.set_ylabel("weight")
        axis.set_title("Its mean over the noise is the question, exactly, wherever the point is")
        axis.legend()
        return save(figure, folder / "geo_deconvolution.svg")


def by_people(folder):
    """Relative error against the number of people."""
    counts = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
    lines = {
        "unbiased": [],
        "smallest error": [],
        "EM": [],
        "moved points": [],
        "OUE, local DP": [],
        "blocks": [],
    }
    h = 500.0
    for n in counts:
        points = methods.real_points("nyc_collisions", n)
        generator = np.random.default_rng(3)
        truth = methods.truth(points, h)
        reports = methods.reports_of(points, PRICE, generator)
        found = {
            "unbiased": methods.rms(methods.unbiased(reports, h), truth),
            "smallest error": methods.rms(methods.best(reports, h), truth),
            "EM": methods.rms(methods.likelihood(reports, h), truth),
            "moved points": methods.rms(methods.moved(reports, h), truth),
            "OUE, local DP": methods.rms(methods.randomised_response(points, h, generator), truth),
            "blocks": methods.blocks_error(PRICE, h, n),
        }
        for name, error in found.items():
            lines[name].append(error / truth.mean())
    with style() as plt:
        figure, axis = plt.subplots()
        for (name, errors), colour, dash in zip(lines.items(), COLOURS, DASHES, strict=False):
            axis.plot(counts, errors, color=colour, linestyle=dash, marker="o", markersize=4, label=name)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("people")
        axis.set_ylabel("error of the map / mean density")
        axis.set_title("Maps of New York collisions: epsilon 1 per 500 m, bandwidth 500 m")
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return save(figure, folder / "geo_map_people.svg")


def main():
    """Draw all."""
    folder = Path(sys.argv[1])
    print(one_price(folder), fine(folder), deconvolved(folder), by_people(folder))


if __name__ == "__main__":
    main()
