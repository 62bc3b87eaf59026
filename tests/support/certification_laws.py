"""The laws that the certificate sees, and random admissible pairs, for the tests of this folder."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sordino.certification.certificate import make_shape

if TYPE_CHECKING:
    import numpy as np

#: (family, shape, smoothing, shift): small and large prices, orders near 1 and far from it, no smoothing.
CASES = [
    ("student-t", 14.0, 0.1, 1.0774),
    ("student-t", 4.0, 0.5, 1.0),
    ("student-t", 3.3, 0.02, 0.1),
    ("student-t", 1.3, 0.3, 1.0),
    ("student-t", 2.8, 0.8, 15.0),
    ("student-t", 36.0, 0.0, 1.03),
    ("polyplace", 10.0, 0.1, 0.1025421928),
    ("polyplace", 2.5, 0.8, 0.98364939),
    ("polyplace", 50.0, 0.06, 0.0021),
    ("polyplace", 1.4, 0.3, 1.5),
    ("arsinh-normal", 0.355, 0.1, 1.07),
    ("arsinh-normal", 0.77, 0.5, 1.0),
    ("arsinh-normal", 1.06, 0.8, 1.17),
    ("arsinh-normal", 0.25, 0.004, 0.02),
    ("uniform-log-normal", 0.44, 0.1, 0.68),
    ("uniform-log-normal", 0.65, 0.5, 0.68),
    ("uniform-log-normal", 0.83, 0.8, 0.71),
    ("uniform-log-normal", 0.45, 0.003, 0.01),
]


def shapes():
    """The distinct shapes of the cases."""
    return [make_shape(family, shape) for family, shape in dict.fromkeys((c[0], c[1]) for c in CASES)]


def admissible(rng: np.random.Generator, smoothing: float, shift: float) -> tuple[float, float]:
    """A pair (t, s) of the set, often on its border."""
    t = float(rng.choice([-smoothing, 0.0, smoothing, rng.uniform(-smoothing, smoothing)]))
    s = shift * min(1.0, math.exp(t)) * float(rng.choice([1.0, 1.0, rng.uniform(0, 1)]))
    return t, s
