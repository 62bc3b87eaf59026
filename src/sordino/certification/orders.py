"""Lemma 5: finitely many orders that cover all a > 1, by the convexity of K(a) = (a-1) D_a."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sordino.certification.shape import FloatArray

FIRST = 1e-4
STEP = 0.03


def order_grid(largest: float, step: float = STEP) -> FloatArray:
    """Orders from 1.0001 on, with steps step*sqrt(a(a-1)): K = rho a(a-1) is overshot by step^2/4 at most.

    With a = cosh(v/2)^2 those steps are equal in v.
    """
    start, stop = (2 * float(np.arcsinh(np.sqrt(a - 1))) for a in (1 + FIRST, max(largest, 1.5)))
    v = np.linspace(start, stop, int(np.ceil((stop - start) / step)) + 1)
    return np.asarray(1 + np.sinh(v / 2) ** 2)


def cover(orders: FloatArray, moments: FloatArray) -> float:
    """An upper bound of D_a/a over 1 < a <= orders[-1] from upper bounds of K at the orders.

    Below the first order D_a/a <= D_a <= D_first. Between two orders K lies under its chord c0 + c1 u, u = a-1,
    and (c0 + c1 u)/(u(u+1)) is largest at an end or where c1 u^2 + 2 c0 u + c0 = 0.
    """
    u = orders - 1
    best = max(float(moments[0] / u[0]), float(np.max(moments / (u * orders))))
    c1 = np.diff(moments) / np.diff(u)
    c0 = moments[:-1] - c1 * u[:-1]
    inside = (c1 > 0) & (c0 < 0)
    c0, c1 = c0[inside], c1[inside]
    root = (-c0 + np.sqrt(c0 * c0 - c0 * c1)) / c1
    within = (root > u[:-1][inside]) & (root < u[1:][inside])
    if within.any():
        values = (c0 + c1 * root) / (root * (root + 1))
        best = max(best, float(np.max(values[within])))
    return best
