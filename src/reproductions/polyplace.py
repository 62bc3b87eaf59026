"""Hladík and Tětek 2022: Figure 1, standard deviation against smoothing; Figure 2, densities.

The papers' constants stand beside ours. Two curves (``Laplace, NRS`` and ``Laplace, Theorem 34``) are formulas
printed in papers that are used nowhere else: the first is not private for large epsilon (docs/proofs/laplace.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.experiment import Experiment, Part, Result, Row
from sordino.errors import Unsupported
from sordino.noise.generalized_cauchy import GeneralizedCauchy
from sordino.noise.laplace import Laplace
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.privacy import Approx, Pure

SMOOTHINGS = (0.001, 0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45)
DENSE = tuple(float(x) for x in np.concatenate(([0.001], np.linspace(0.005, 0.48, 96))))


@dataclass(frozen=True, slots=True)
class FigureOne:
    """The curves of Figure 1: standard deviation per unit of smooth sensitivity, by smoothing."""

    epsilon: float
    delta: float
    smoothings: tuple[float, ...]
    curves: dict[str, tuple[float, ...]]

    def rows(self) -> list[list[float]]:
        """Give one row per smoothing."""
        return [[x, *(self.curves[name][i] for name in self.curves)] for i, x in enumerate(self.smoothings)]

    def plot(self) -> Any:
        """Draw the figure."""
        from sordino import plots

        return plots.curves(
            {name: (self.smoothings, values) for name, values in self.curves.items()},
            xlabel="smoothing (per changed person)",
            ylabel="standard deviation of the noise\n(units of smooth sensitivity)",
            title=f"The price of smoothing at epsilon = {self.epsilon:g} (Laplace: delta = {self.delta:g})",
            log="y",
            ylim=(1.2 / self.epsilon, 30 / self.epsilon),
            level=(float(np.sqrt(2)) / self.epsilon, "Laplace, global bound"),
        )


def figure_one(
    *, epsilon: float = 1.0, delta: float = 1e-5, smoothings: tuple[float, ...] = SMOOTHINGS
) -> FigureOne:
    """Compute Figure 1 with the papers' constants and the tight ones.

    Example:
        >>> figure = figure_one(smoothings=(0.1,))
        >>> round(figure.curves["PolyPlace"][0], 4), round(figure.curves["PolyPlace, paper"][0], 4)
        (1.6457, 1.6875)
    """
    pure, approximate = Pure(epsilon), Approx(epsilon, delta)
    calibrated: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "PolyPlace": (PolyPlace, pure, {}),
        "PolyPlace, paper": (PolyPlace, pure, {"method": "published"}),
        "Student t": (StudentT, pure, {}),
        "Student t, joint": (StudentT, pure, {"method": "joint"}),
        "Student t, geo paper": (StudentT, pure, {"method": "split"}),
        "Student t, Bun-Steinke": (StudentT, pure, {"method": "published"}),
        "Cauchy, geo paper": (GeneralizedCauchy, pure, {"method": "split", "theta": 1}),
        "Cauchy, NRS": (GeneralizedCauchy, pure, {"method": "published", "theta": 1}),
        "Laplace": (Laplace, approximate, {}),
    }
    curves = {
        name: tuple(_std(family, target, smoothing, options) for smoothing in smoothings)
        for name, (family, target, options) in calibrated.items()
    }
    # Printed formulas, for comparison only: the shift of
    # Hladík and Tětek 2022, Claim 18 and of Bun and Steinke 2019, Theorem 34.
    nrs = [epsilon - g * np.log(2 / delta) for g in smoothings]
    theorem = [epsilon + g - np.expm1(g) * np.log(1 / delta) for g in smoothings]
    curves["Laplace, Theorem 34"] = tuple(_laplace_std(shift) for shift in theorem)
    curves["Laplace, NRS"] = tuple(_laplace_std(shift) for shift in nrs)
    return FigureOne(epsilon, delta, smoothings, curves)


def _std(family: Any, target: Any, smoothing: float, options: dict[str, Any]) -> float:
    """Give the standard deviation, infinite where the smoothing costs the whole price."""
    try:
        return float(family.calibrate(target, smoothing=smoothing, **options).std)
    except Unsupported:
        return float("inf")


def _laplace_std(shift: float) -> float:
    """Give the standard deviation of Laplace noise of scale 1/shift."""
    return float(np.sqrt(2) / shift) if shift > 0 else float("inf")


COLUMNS = (
    "smoothing",
    "PolyPlace",
    "PolyPlace, paper",
    "Student t",
    "Student t, joint",
    "Student t, geo paper",
    "Student t, Bun-Steinke",
    "Cauchy, geo paper",
    "Cauchy, NRS",
    "Laplace",
    "Laplace, Theorem 34",
    "Laplace, NRS",
)


def _one_parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    smoothings = SMOOTHINGS if scale == "smoke" else tuple(sorted({*SMOOTHINGS, *DENSE}))
    return [
        {"epsilon": 1.0, "delta": 1e-5, "smoothings": list(smoothings[start : start + 14])}
        for start in range(0, len(smoothings), 14)
    ]


def _one_compute(part: Part) -> list[Row]:
    found = figure_one(epsilon=part["epsilon"], delta=part["delta"], smoothings=tuple(part["smoothings"]))
    return [[x, *(found.curves[name][i] for name in COLUMNS[1:])] for i, x in enumerate(found.smoothings)]


def _one_say(result: Result) -> str:
    tight, exact, printed = (
        result.one(name, smoothing=0.1) for name in ("PolyPlace", "Student t", "Student t, Bun-Steinke")
    )
    late = result.one("Student t", smoothing=0.4) / result.one("PolyPlace", smoothing=0.4)
    return (
        f"PolyPlace has the least noise of all pure lines at every smoothing. At smoothing 0.1 its standard deviation "
        f"is {tight:.3f} with the proved smaller scale; Student t has {printed:.3f} by its published bound but "
        f"{exact:.3f} by its exact one, so the factor {printed / tight:.1f} becomes {exact / tight:.2f} "
        f"({late:.2f} at smoothing 0.4). Finite variance needs smoothing below epsilon/2 for every family."
    )


def _one_draw(result: Result) -> Any:
    curves = {name: tuple(result.column(name)) for name in COLUMNS[1:]}
    return FigureOne(1.0, 1e-5, tuple(result.column("smoothing")), curves).plot()


#: Shapes of Figure 2; at epsilon 1 and smooth sensitivity 1 the paper's scale equals the shape.
SHAPES = (1.1, 1.5, 5.0, 20.0)


def _two_parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    points = 81 if scale == "smoke" else 401
    return [{"alpha": alpha, "reach": 10.0, "points": points} for alpha in (*SHAPES, None)]


def _two_compute(part: Part) -> list[Row]:
    x = np.linspace(-part["reach"], part["reach"], part["points"])
    if part["alpha"] is None:
        return [["Laplace", float(a), float(b), 0.0] for a, b in zip(x, Laplace().pdf(x), strict=True)]
    law, scale = PolyPlace(part["alpha"]), part["alpha"]
    fine = np.linspace(0.0, 60.0, 6001)
    apart = float(np.max(np.abs(law.cdf(fine / scale) - Laplace().cdf(fine))))
    name = f"PolyPlace, smoothing {1 / part['alpha']:.3g}"
    return [[name, float(a), float(b), apart] for a, b in zip(x, law.pdf(x / scale) / scale, strict=True)]


def _two_say(result: Result) -> str:
    apart = [f"{result.select(law=name)[0]['distance']:.3f}" for name in result.values("law")[:-1]]
    return (
        "The densities approach Laplace as the smoothing falls: the largest difference of the distribution functions "
        f"is {', '.join(apart)} at smoothing {', '.join(f'{1 / a:.3g}' for a in SHAPES)}."
    )


def _two_draw(result: Result) -> Any:
    from reproductions.experiment import series
    from sordino import plots

    return plots.curves(
        series(result, name="law", x="noise", y="density"),
        xlabel="noise (units of smooth sensitivity)",
        ylabel="density (log scale)",
        title="PolyPlace at epsilon = 1 with the paper's scale, and Laplace",
        log="y",
    )


EXPERIMENTS = (
    Experiment(
        "hladik-2022-figure-1",
        "hladik-2022",
        "standard deviation of every noise against the smoothing, epsilon 1",
        "PolyPlace beats Student's t by arbitrarily large factors, is defined for every smoothing below epsilon where "
        "the others need epsilon/2, and beats Laplace noise but for tiny smoothings.",
        COLUMNS,
        _one_parts,
        _one_compute,
        _one_say,
        _one_draw,
    ),
    Experiment(
        "hladik-2022-figure-2",
        "hladik-2022",
        "densities of PolyPlace noise beside Laplace",
        "The family approaches the Laplace distribution as the smoothing goes to zero.",
        ("law", "noise", "density", "distance"),
        _two_parts,
        _two_compute,
        _two_say,
        _two_draw,
    ),
)
