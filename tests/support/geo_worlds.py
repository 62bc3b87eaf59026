"""Queries of every kind with points around their action, and what a law compares them with."""

import numpy as np

from sordino.geo import (
    Box,
    Disc,
    FunctionOfDistance,
    FunctionOfLinearForm,
    FunctionOnLine,
    Geofence,
    KernelDensity,
    Logistic,
    Range,
    Threshold,
    TwoWayThreshold,
)
from sordino.geo.gaussian import steepest

STAR = "POLYGON ((0 0, 3 9, 12 10, 5 14, 7 23, 0 17, -7 23, -5 14, -12 10, -3 9, 0 0))"
PLATEAUS = {
    "threshold": Threshold(at=3.0, width=2.0),
    "range": Range(low=-4.0, high=5.0, width=2.0),
    "narrow range": Range(low=-0.5, high=0.5, width=2.0),
    "two-way": TwoWayThreshold(at=(1.0, -2.0), width=2.0),
    "disc": Disc(centre=(1.0, 2.0), radius=4.0, width=2.0),
    "ball": Disc(centre=(1.0, 2.0, 0.0), radius=4.0, width=2.0),
    "box": Box(low=(-3.0, -2.0), high=(4.0, 1.0), width=1.5),
    "star": Geofence(outline=STAR, width=2.0),
}
SMOOTH = {
    "kernel on a line": KernelDensity(at=(1.0,), bandwidth=2.0),
    "kernel": KernelDensity(at=(1.0, -1.0), bandwidth=2.0),
    "kernel in space": KernelDensity(at=(0.0, 0.0, 1.0), bandwidth=1.5),
    "logistic": Logistic(weights=(0.8, -0.6), intercept=0.4),
    "tanh": FunctionOnLine.of(np.tanh, low=-6.0, high=6.0, knots=401),
    "jump": FunctionOnLine.of(lambda x: np.where(x > 0.5, 1.0, -1.0), low=-3.0, high=3.0, knots=101),
    "wave of distance": FunctionOfDistance.of(np.cos, centre=(0.5, 0.5), radius=9.0, knots=301),
    "sine of a form": FunctionOfLinearForm.of(np.sin, weights=(0.6, 0.8), low=-5.0, high=5.0, knots=301),
}
QUERIES = PLATEAUS | SMOOTH


def cloud(query, count, seed=0, spread=8.0):
    """Points around the action, some a hair's breadth apart, some far away."""
    rng = np.random.default_rng(seed)
    shape = (count,) if query.dimension == 1 else (count, query.dimension)
    anchor = query.anchor[0] if query.dimension == 1 else np.array(query.anchor)
    points = anchor + rng.normal(0.0, spread, shape)
    near = points[: count // 3] + rng.normal(0.0, 0.01, points[: count // 3].shape)
    far = anchor + rng.normal(0.0, 8 * spread, points[: count // 6].shape)
    return np.concatenate([points, near, far])


def distances(points):
    at = points[:, None] if points.ndim == 1 else points
    return np.sqrt(((at[:, None, :] - at[None, :, :]) ** 2).sum(axis=2))


def published_kernel_bound(c, g):
    """Liang and Yi 2024, Lemma 4.6 with its misprints mended: stationary in c_z with c_w - c_z held fixed."""
    best = np.maximum(c * np.exp(-c * c / 2), steepest(c))
    root = 0.5 * (np.sqrt(g * g + 4.0) + np.array([-g, g]))  # the paper's w, as |w| in bandwidths
    for w, side in ((root[1], 1.0), (root[0], -1.0)):
        # phi_0 = 0: e^{-z^2/2} = (1 + w(w - z)) e^{-w^2/2}
        z = np.linspace(0.0, 12.0, 20001)
        gap = np.exp(-z * z / 2) - (1 + w * (w - z)) * np.exp(-w * w / 2)
        for i in np.flatnonzero(np.diff(np.sign(gap)) != 0):
            consistent = (z[i] > c) if side < 0 else (z[i] < c)
            best = np.where(consistent, np.maximum(best, w * np.exp(-w * w / 2 - g * np.abs(z[i] - c))), best)
        consistent = (w > c) if side < 0 else (w < c)
        best = np.where(consistent, np.maximum(best, w * np.exp(-w * w / 2 - g * np.abs(w - c))), best)
    return best
