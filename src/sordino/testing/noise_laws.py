"""The laws of a noise family: tails and quantiles, symmetry, an exact sampler, calibrations that keep their promise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sordino.errors import SordinoError
from sordino.privacy import Approx, Pure
from sordino.testing import noise_pairs, recipe_laws

if TYPE_CHECKING:
    from sordino.noise import Noise


def inverse_tails(kind: type[Noise]) -> Iterator[str]:
    """Quantiles invert tails deep in the tail."""
    q = np.concatenate((10.0 ** -np.arange(1, 300, 7.0), np.linspace(0.01, 0.49, 25)))
    for noise in kind.cases():
        x = np.asarray(noise.isf(q))
        seen = np.isfinite(x) & (x < 1e300)
        if np.any(np.abs(np.asarray(noise.sf(x))[seen] / q[seen] - 1) > 1e-12):
            yield f"{noise}: isf does not invert sf"


def symmetric(kind: type[Noise]) -> Iterator[str]:
    """The law is symmetric, decreasing, and integrates to one."""
    x = np.concatenate(([0.0], np.geomspace(1e-6, 1e6, 400)))
    for noise in kind.cases():
        log = np.asarray(noise.logpdf(x))
        if not np.array_equal(np.asarray(noise.logpdf(-x)), log):
            yield f"{noise}: not symmetric"
        if np.any(np.diff(log) > 1e-13 * np.abs(log[1:])):
            yield f"{noise}: not decreasing"
        edges = np.linspace(0, float(noise.isf(0.01)), 20001)
        mass = float(np.trapezoid(np.exp(np.asarray(noise.logpdf(edges))), edges))
        if not math.isclose(mass, 0.5 - 0.01, rel_tol=2e-3):
            yield f"{noise}: the density does not integrate to its tail"


def sampled(kind: type[Noise]) -> Iterator[str]:
    """The exact sampler keeps its tolerance."""
    for noise in kind.cases():
        yield from recipe_laws.tolerance(noise.recipe(), 80)


def promised(kind: type[Noise]) -> Iterator[str]:
    """Calibrations keep their promise over the admissible pairs of a smooth bound."""
    for epsilon, smoothing in (
        (Fraction(1), Fraction(1, 10)),
        (Fraction(1, 2), Fraction(1, 50)),
        (Fraction(1), Fraction(0)),
    ):
        for target in (Pure(epsilon), Approx(epsilon, Fraction(1, 1000))):
            if type(target) not in kind.promises():
                continue
            try:
                found = kind.calibrate(target, smoothing=smoothing)
            except SordinoError:
                continue
            shift = 1 / float(found.scale)
            if isinstance(target, Pure):
                worst = noise_pairs.worst_log_ratio(found.noise, float(smoothing), shift)
                if worst > float(epsilon) * (1 + 1e-9):
                    yield f"{found.noise} at {target}: the loss is {worst:.6f}"
            else:
                worst = noise_pairs.worst_hockey_stick(found.noise, float(smoothing), shift, float(epsilon))
                if worst > float(target.delta) * (1 + 1e-6):
                    yield f"{found.noise} at {target}: delta is {worst:.3g}"


LAWS = {
    "quantiles invert tails": inverse_tails,
    "symmetric and decreasing": symmetric,
    "the exact sampler keeps its tolerance": sampled,
    "calibrations keep their promise": promised,
}
