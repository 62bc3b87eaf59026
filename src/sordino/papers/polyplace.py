"""Paper 000 (Hladik & Tetek, PolyPlace): Figure 1, the standard deviation of each noise against the smoothing.

The papers' constants stand beside ours. Two curves (``Laplace, NRS`` and ``Laplace, Theorem 34``) are formulas
printed in papers that are used nowhere else: the first is not private for large epsilon (docs/proofs/laplace.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

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
    # Printed formulas, for comparison only: the shift of paper 000's Claim 18 and of paper 004's Theorem 34.
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
