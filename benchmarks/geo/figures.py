"""Draw the figures of the geo-privacy pages: `python -m benchmarks.geo.figures FOLDER`."""

import sys
from pathlib import Path

import numpy as np

from benchmarks.geo import settings
from sordino.geo import KernelDensity, QueryMechanism
from sordino.geo.baseline import noise_variance
from sordino.geo.drawing import true_density
from sordino.geo.figures import bars, circles, maps
from sordino.plots import COLOURS, DASHES, save, style
from sordino.privacy import Geo


def thresholds(folder):
    """Figures 3 and 8 of the paper, as bars."""
    x = settings.incomes().get("California", settings.incomes()["log-normal"])
    groups, rows = [], []
    for at, distances in settings.THRESHOLDS.items():
        for distance in distances:
            groups.append(f"{at // 1000:,}k\n1/{distance / 1000:g}k")
            rows.append(settings.one_way(x, at, distance, 400_000))
    names = {
        "M0": "M0 moved points",
        "M2": "M2 Laplace",
        "M3": "M3 published",
        "default": "Sordino's default",
    }
    series = [(label, [row[key] for row in rows]) for key, label in names.items()]
    figure = bars(groups, series, title="One-way thresholds on Californian incomes, 400,000 people",
                  ylabel="mean squared error")  # fmt: skip
    figure.axes[0].set_xlabel("threshold and epsilon per dollar")
    figure.axes[0].legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.26))
    return save(figure, folder / "geo_thresholds.svg")


def kernels(folder):
    """Figure 6 of the paper, as bars."""
    found = settings.places(3000)
    points = found.get("collisions", found["city"])
    rows = [settings.kernel(points, d, share, n, side=25) for d, share, n in settings.KERNELS]
    groups = [f"1/{d} m\nh = {share:g} w\n{n // 1000}k" for d, share, n in settings.KERNELS]
    series = [(label, [row[key] for row in rows]) for key, label in (
        ("M0", "M0 moved points"), ("M1", "M1 moved distance"), ("M2", "M2 Laplace"), ("M3", "M3 published"),
        ("default", "Sordino's default"))]  # fmt: skip
    figure = bars(groups, series, title="Kernel density of New York collisions, mean over a grid",
                  ylabel="squared error")  # fmt: skip
    figure.set_size_inches(10.5, 4.8)
    figure.axes[0].legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.24))
    return save(figure, folder / "geo_kernels.svg")


def bounds(folder):
    """How fast the noise falls with the distance from the action."""
    query, price = KernelDensity(at=(0.0, 0.0), bandwidth=2370.0), Geo(1, per=1000)
    r = np.linspace(0.0, 30_000.0, 600)
    line = np.stack([r, np.zeros_like(r)], axis=1)
    lines = [
        ("M2: Laplace, global Lipschitz constant", noise_variance("M2", query, line, price)),
        ("M3: Student t, published", noise_variance("M3", query, line, price)),
        ("PolyPlace, global bound", QueryMechanism.choose(query, price, scope="global").variance(line)),
        ("PolyPlace, local bound (default)", QueryMechanism.choose(query, price).variance(line)),
    ]
    with style() as plt:
        figure, axis = plt.subplots()
        for (name, variance), colour, dash in zip(lines, COLOURS, DASHES, strict=False):
            axis.plot(r / 1000, np.sqrt(variance), label=name, color=colour, linestyle=dash)
        axis.set_yscale("log")
        axis.set_xlabel("distance of the person from the place (km)")
        axis.set_ylabel("standard deviation of a report")
        axis.set_title("Noise of a kernel density report, epsilon 1 per km, bandwidth 2.37 km")
        axis.legend()
        return save(figure, folder / "geo_noise.svg")


def city(folder):
    """What 50,000 reports about every place separately give; maps from one report are in point_figures.py."""
    found = settings.places(50_000)
    points = found.get("collisions", found["city"])
    side = 24
    query = KernelDensity.grid(low=(-2e4, -2e4), high=(2e4, 2e4), shape=(side, side), bandwidth=2000.0)
    price = Geo(1, per=1000)
    unit = len(points) * 1e6 / query.normaliser
    truth = (
        true_density(points, bandwidth=2000.0, low=(-2e4, -2e4), high=(2e4, 2e4), shape=(side, side)) * 1e6
    )
    rng = np.random.default_rng(1)
    r = np.linspace(0.0, 90_000.0, 2000)  # the published noise depends on the distance alone
    line = np.stack([r, np.zeros_like(r)], axis=1)
    spread = np.sqrt(noise_variance("M3", KernelDensity(at=(0.0, 0.0), bandwidth=2000.0), line, price) / 3)
    paper, ours = np.empty(side**2), np.empty(side**2)
    for j, single in enumerate(query.each()):
        noise = np.interp(single.coordinate(points), r, spread) * rng.standard_t(3, len(points))
        paper[j] = (single.value(points) + noise).mean()
        made = QueryMechanism.choose(single, price)
        ours[j] = made.grid.numbers(made.draw(points)).mean()
    panels = [("true", truth), ("published M3", paper * unit), ("Sordino's default", ours * unit)]
    figure = maps(
        [(name, values.reshape(side, side).T) for name, values in panels],
        extent=(-20, 20, -20, 20),
        unit="people per square km",
        title="epsilon 1 per km for every place separately, 50,000 people",
    )
    return save(figure, folder / "geo_map_places.png")


def main():
    """Draw all."""
    folder = Path(sys.argv[1])
    print(thresholds(folder), kernels(folder), bounds(folder), city(folder))
    print(save(circles(Geo(1, per=200)), folder / "geo_promise.svg"))


if __name__ == "__main__":
    main()
