"""Bun and Steinke 2019, section 4: how far the noises are from the lower bound, at a concentrated price.

Prop. 36 with l = 0, the best laws that convex programmes found, the paper's closed bounds and the certified prices, at
the two prices of the paper's experiments: rho = 0.5 and 0.02 (epsilon 1 and 0.2).
"""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

from reproductions.experiment import Experiment, Part, Result, Row
from reproductions.numeric_price import least_noise
from sordino.certification.limits import best_known_std, variance_lower_bound
from sordino.errors import Unsupported
from sordino.noise.arsinh_normal import ArsinhNormal
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace_log_normal import LaplaceLogNormal
from sordino.noise.polyplace import PolyPlace
from sordino.noise.student_t import StudentT
from sordino.noise.uniform_log_normal import UniformLogNormal
from sordino.privacy import Concentrated

#: rho: smoothings at smoke scale, and those added at full scale.
SMOOTHINGS = {
    "0.5": (
        ("0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "0.8"),
        ("0.03", "0.07", "0.15", "0.25", "0.4", "0.6", "0.7"),
    ),
    "0.02": (
        ("0.004", "0.02", "0.06", "0.1"),
        ("0.007", "0.01", "0.03", "0.04", "0.05", "0.08", "0.12", "0.14"),
    ),
}
LLN_NUMERIC, LIMIT, KNOWN = (
    "Laplace-log-normal, numeric",
    "lower bound (Prop. 36)",
    "best law found by programmes",
)
LINES: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("Laplace-log-normal, Thm 18", LaplaceLogNormal, {"method": "analytic"}),
    ("arsinh-normal, Thm 25", ArsinhNormal, {"method": "analytic"}),
    ("arsinh-normal, certified", ArsinhNormal, {}),
    ("uniform-log-normal, certified", UniformLogNormal, {}),
    ("Student t, certified", StudentT, {}),
    ("PolyPlace, certified", PolyPlace, {}),
)


def _parts(scale: str, data: Path | None) -> list[Part]:  # noqa: ARG001
    return [
        {"rho": rho, "smoothing": smoothing}
        for rho, (few, more) in SMOOTHINGS.items()
        for smoothing in sorted((*few, *(more if scale == "full" else ())), key=float)
    ]


def _compute(part: Part) -> list[Row]:
    g, target = Fraction(part["smoothing"]), Concentrated(Fraction(part["rho"]))
    rho = float(target.rho)
    found: list[tuple[str, float]] = [
        (name, _std(family, target, g, options)) for name, family, options in LINES
    ]
    numeric = least_noise(rho, float(g))
    found.append((LLN_NUMERIC, math.inf if numeric is None else numeric.std))
    found.append(("Gaussian, global bound", float(Gaussian.calibrate(target, smoothing=0).std)))
    found.append((LIMIT, math.sqrt(variance_lower_bound(target.rho, g))))
    known = best_known_std(target, float(g))
    if known is not None:
        found.append((KNOWN, known))
    return [[name, rho, float(g), std] for name, std in found]


def _std(family: Any, target: Concentrated, smoothing: Fraction, options: dict[str, Any]) -> float:
    try:
        return float(family.calibrate(target, smoothing=smoothing, **options).std)
    except Unsupported:
        return math.inf


def _say(result: Result) -> str:
    words = []
    for rho, smoothing in ((0.5, 0.1), (0.02, 0.02)):
        cells = [
            f"{row['std']:.3f} {row['noise']}"
            for row in result.select(rho=rho, smoothing=smoothing)
            if row["noise"] != KNOWN and math.isfinite(row["std"])
        ]
        words.append(f"At rho {rho:g} and smoothing {smoothing:g}: {', '.join(cells)}.")
    return (
        f"Standard deviation per unit of smooth sensitivity. {' '.join(words)} The bound holds; with certified prices "
        "the best noises stand a third above it at rho 0.5 and six percent at rho 0.02, next to the best law that "
        "programmes have found."
    )


def _draw(result: Result) -> Any:
    from sordino import plots

    with plots.style() as plt:
        figure, axes = plt.subplots(1, 2, figsize=(11.2, 4.8))
        handles: dict[str, Any] = {}
        noises = [name for name in result.values("noise") if name != LIMIT]
        looks = dict(zip(noises, plots.lines(), strict=False))
        looks[LIMIT] = {"color": "#000000", "linewidth": 1.2, "linestyle": (0, (1, 2))}
        for axis, rho in zip(axes, result.values("rho"), strict=True):
            for name, look in looks.items():
                cells = [row for row in result.select(noise=name, rho=rho) if math.isfinite(row["std"])]
                x, y = [row["smoothing"] for row in cells], [row["std"] for row in cells]
                more = {"marker": "o", "markersize": 4} if name == KNOWN else {}
                handles[name] = axis.plot(x, y, **look, **more)[0]
            least = min(result.column("std", noise=LIMIT, rho=rho))
            axis.set(
                xlabel="smoothing (per changed person)",
                title=f"rho = {rho:g}",
                yscale="log",
                ylim=(0.8 * least, 15 * least),
            )
            plots.plain_ticks(axis.yaxis)
        axes[0].set_ylabel("standard deviation of the noise\n(units of smooth sensitivity)")
        figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=3, fontsize=9)
        return figure


EXPERIMENTS = (
    Experiment(
        "bun-2019-lower-bound",
        "bun-2019",
        "noises under concentrated privacy against the lower bound, rho 0.5 and 0.02",
        "Laplace-log-normal noise is best of the new ones; no noise goes below Proposition 36.",
        ("noise", "rho", "smoothing", "std"),
        _parts,
        _compute,
        _say,
        _draw,
    ),
)
