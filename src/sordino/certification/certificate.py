"""`certify`: a proved bracket of the concentrated price of a noise law under smooth sensitivity.

The set of pairs (Z, e^t Z + s), |t| <= smoothing, |s| <= shift*min(1, e^t), shrinks by Lemmas 1-3 to a few
pairs, each is cut into cells (`cells`), and the orders are covered by `orders`. Inverting the bracket is the
business of `calibration`. The proofs are in docs/proofs/certification.md.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sordino.certification.cells import LossCells, cut, find_edge
from sordino.certification.far import Far
from sordino.certification.orders import STEP, cover, order_grid
from sordino.certification.shape import CertifiedShape, FloatArray, LogNormalTail, PowerTail, shape_class
from sordino.checks import greater_than, non_negative, positive

#: The bracket that certify promises.
LOOSENESS = 1.003
_TOLERANCE = 2e-4
#: Above this looseness one more attempt is made with more cells.
_GOAL = 1.0012
_LARGEST_ORDER = 20_000.0
_LARGEST_STEPS = 120
#: A proof of this size is not tried again with more cells.
_MANY_CELLS = 30_000
#: Covers the last roundings: of t, s and e^-t at a node and of the final maxima.
_FINAL = 1 + 1e-10


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that (S/shift) Z costs at most rho_hi, for every smoothing-smooth bound S.

    Attributes:
        family: Catalogue name of the noise family.
        parameter: Its shape parameter.
        smoothing: The gamma of S(x) <= e^gamma S(x').
        shift: The eta: noise is (S/eta) Z.
        rho_lo: A lower bound of the concentrated cost.
        rho_hi: An upper bound; this is what is charged.
        worst_pair: The (t, s) of Z against e^t Z + s with the largest cost.
        worst_order: The Renyi order with the largest cost.
        cells: How many cells the proof uses over all its pairs.
        orders: Renyi orders of the curve.
        curve: Upper bounds of K(a) = (a-1) D_a at the orders, over all admissible pairs in both directions.
        max_divergence: An upper bound of D_inf, infinite for laws with log-normal tails.
    """

    family: str
    parameter: float
    smoothing: float
    shift: float
    rho_lo: float
    rho_hi: float
    worst_pair: tuple[float, float]
    worst_order: float
    cells: int
    orders: tuple[float, ...]
    curve: tuple[float, ...]
    max_divergence: float

    def __post_init__(self) -> None:
        # `not (lo <= hi)` and not `lo > hi`: a NaN must not pass
        if not (0 <= self.rho_lo <= self.rho_hi < math.inf):
            raise ArithmeticError(f"{self.family}: the bracket [{self.rho_lo}, {self.rho_hi}] is not one")

    def divergence(self, order: float) -> float:
        """An upper bound of the Renyi divergence of any order >= 1 (infinity allowed).

        Example:
            >>> price = certify("student-t", 14, smoothing=0.1, shift=1.0)
            >>> price.divergence(2.0) <= 2 * price.rho_hi
            True
            >>> price.divergence(float("inf")) == price.max_divergence
            True
        """
        if not order >= 1:
            raise ArithmeticError(f"an order is at least 1, not {order}")
        if order == math.inf:
            return self.max_divergence
        bound = min(order * self.rho_hi, self.max_divergence)
        if order <= self.orders[0]:
            return min(bound, self.curve[0] / (self.orders[0] - 1))
        if order <= self.orders[-1]:
            chord = float(np.interp(order, self.orders, self.curve))
            return min(bound, chord / (order - 1) * (1 + 1e-14))
        return bound


def make_shape(family: str, parameter: float) -> CertifiedShape:
    """Build the certificate's view of a family, with its parameter checked."""
    shape = shape_class(family)
    return shape(float(greater_than(family, shape.above, parameter=parameter)))


def certify(family: str, parameter: float, *, smoothing: float, shift: float) -> Certificate:
    """Certify the concentrated price of noise (S/shift) Z where S is a smoothing-smooth bound.

    Args:
        family: One of ``student-t``, ``polyplace``, ``arsinh-normal``, ``uniform-log-normal``.
        parameter: Degrees of freedom, alpha or sigma.
        smoothing: The gamma of smoothness; 0 means noise of a public scale.
        shift: The eta: smooth sensitivity per unit of noise scale.

    Returns:
        A bracket with rho_hi/rho_lo <= 1.003, and the Renyi curve it comes from.

    Example:
        >>> price = certify("student-t", 14, smoothing=0.1, shift=1.0774)
        >>> 0.5 < price.rho_lo <= price.rho_hi < 0.501
        True
    """
    shape = make_shape(family, parameter)
    gamma = float(non_negative(family, smoothing=smoothing))
    eta = float(positive(family, shift=shift))
    return _certify(shape, gamma, eta)


def corners(smoothing: float, shift: float) -> list[tuple[float, float]]:
    """The pairs that are worst in practice; Lemma 2 proves it for t >= 0."""
    if smoothing == 0:
        return [(0.0, shift)]
    return [(0.0, shift), (smoothing, shift), (-smoothing, shift * math.exp(-smoothing))]


class PriceEstimate(NamedTuple):
    """A quick look at a price: a lower bound, the order that attains it, the order up to which to search."""

    rho: float
    worst_order: float
    largest_order: float


@functools.lru_cache(maxsize=8192)
def estimate(shape: CertifiedShape, smoothing: float, shift: float) -> PriceEstimate:
    """A lower bound of rho within about half a percent, in a few milliseconds.

    For searches, and for setting the precision of a certificate; nothing is charged by it.
    """
    rho, worst, order = 0.0, 1.0, 8.0
    for _ in range(8):
        before = rho
        edge = _edge(shape, smoothing, shift, order)
        grid = np.concatenate([[1.0], order_grid(order, step=0.12)])
        pairs: list[LossCells] = []
        for t, s in corners(smoothing, shift):
            tolerance = max(rho, shift**2 * 1e-2) * 1.5e-3
            cells = cut(
                shape, t, s, largest_order=order, tolerance=tolerance, edge=edge, favourite_order=worst
            )
            values = cells.lower(grid) / grid
            if float(np.max(values)) > rho:
                rho, worst = float(np.max(values)), float(grid[int(np.argmax(values))])
            pairs.append(cells)
        needed = Far.of(shape, smoothing, shift, [(cells, 0.0) for cells in pairs]).order_for(rho, 4000.0)
        if needed <= order * 1.5 and rho <= before * 1.01:
            break
        order = min(max(needed, order), 4 * order)
    return PriceEstimate(rho, worst, order)


def _edge(shape: CertifiedShape, smoothing: float, shift: float, order: float) -> float:
    """Where the outer cells begin: far enough that they do not matter up to the order."""
    if not isinstance(shape, LogNormalTail):
        assert isinstance(shape, PowerTail)
        # under the law p^a q^(1-a) of a contraction the tail weighs e^((a-1)(power-1)*smoothing) more
        return _edge_of_mass(shape, math.exp(-min(32 + order * (shape.power - 1) * smoothing, 640.0)))
    s = shift * math.exp(-smoothing)
    orders = np.array([order])
    gaussian = order * (order - 1) * smoothing**2 / (2 * shape.parameter**2)  # what K(order) is like
    exponent = 12.0
    while exponent < 640:
        edge = _edge_of_mass(shape, math.exp(-exponent))
        if edge > 2 * s and shape.outer_log_moment(orders, edge, -smoothing, s)[0] < gaussian - 30:
            return edge
        exponent *= 1.25
    return _edge_of_mass(shape, 1e-280)


@functools.lru_cache(maxsize=4096)
def _edge_of_mass(shape: CertifiedShape, mass: float) -> float:
    return find_edge(shape, mass)


@functools.lru_cache(maxsize=1024)
def _certify(shape: CertifiedShape, smoothing: float, shift: float) -> Certificate:
    """The algorithm of docs/proofs/certification.md: corners, semi-convexity, cells, orders; doubled until tight."""
    rough = estimate(shape, smoothing, shift)
    lowest, order = rough.rho, rough.largest_order
    tolerance = _TOLERANCE
    best = _attempt(shape, smoothing, shift, lowest, order, tolerance, rough.worst_order)
    for goal in (_GOAL, LOOSENESS):
        if best.rho_hi <= goal * best.rho_lo or best.cells > _MANY_CELLS:
            break
        tolerance /= 3
        order = min(order * 1.5, _LARGEST_ORDER)
        lowest = max(lowest, best.rho_lo)
        ratios = np.array(best.curve) / (np.array(best.orders) * (np.array(best.orders) - 1))
        loosest = best.orders[int(np.argmax(ratios))]
        again = _attempt(shape, smoothing, shift, lowest, order, tolerance, loosest)
        best = again if again.rho_hi <= best.rho_hi else best
    return best


def _attempt(
    shape: CertifiedShape,
    smoothing: float,
    shift: float,
    lowest: float,
    order: float,
    tolerance: float,
    favourite: float,
) -> Certificate:
    """One certificate at a given precision; always valid, perhaps not tight."""
    if smoothing > 0:
        kappa = shape.kappa(shift)
        steps = max(1, math.ceil(smoothing * math.sqrt(kappa / (8 * tolerance * lowest))))
        steps = min(steps, _LARGEST_STEPS)  # a larger slack is looser, not wrong
        slack = kappa * (smoothing / steps) ** 2 / 8
    else:
        steps, slack = 0, 0.0
    taus = [smoothing * j / steps for j in range(1, steps + 1)]
    backward = [(0.0, shift)] + [(-tau, shift * math.exp(-tau)) for tau in taus]
    forward = [(smoothing, shift)] if smoothing > 0 else []
    edge = _edge(shape, smoothing, shift, order)
    pairs: list[tuple[LossCells, float]] = []
    for group, extra in ((backward, slack), (forward, 0.0)):
        for t, s in group:
            cells = cut(
                shape,
                t,
                s,
                largest_order=order,
                tolerance=tolerance * lowest,
                edge=edge,
                favourite_order=favourite,
            )
            pairs.append((cells, extra))
    step = STEP * math.sqrt(tolerance / _TOLERANCE)
    return _supremum(shape, smoothing, shift, lowest, pairs, step)


def _supremum(
    shape: CertifiedShape,
    smoothing: float,
    shift: float,
    lowest: float,
    pairs: list[tuple[LossCells, float]],
    step: float,
) -> Certificate:
    """Maxima over the pairs and all orders."""
    far = Far.of(shape, smoothing, shift, pairs)
    grid = order_grid(far.order_for(lowest, _LARGEST_ORDER), step)
    if isinstance(shape, LogNormalTail):  # orders whose outer cells still matter are left to the far bound
        grid = grid[: max(2, min(cells.orders_resolved(grid) for cells, _ in pairs))]
    uppers = np.stack([cells.upper(grid) + (grid - 1) * extra for cells, extra in pairs])
    if not np.isfinite(uppers).all():
        raise ArithmeticError(f"{shape.family}: a Renyi bound is not finite")
    uppers = np.maximum(uppers, 0.0)
    curve: FloatArray = np.max(uppers, axis=0) * _FINAL
    rho_hi = max(cover(grid, curve), far.bound(float(grid[-1]))) * _FINAL

    with_one = np.concatenate([[1.0], grid])
    lowers = np.stack([cells.lower(with_one) / with_one for cells, _ in pairs])
    where = np.unravel_index(int(np.argmax(lowers)), lowers.shape)
    worst = pairs[int(where[0])][0]
    rho_lo = float(lowers[where])
    assert rho_lo <= rho_hi, f"{shape.family}: lower bound {rho_lo} above upper bound {rho_hi}"
    return Certificate(
        family=shape.family,
        parameter=shape.parameter,
        smoothing=smoothing,
        shift=shift,
        rho_lo=rho_lo,
        rho_hi=rho_hi,
        worst_pair=(worst.t, worst.s),
        worst_order=float(with_one[int(where[1])]),
        cells=sum(cells.size for cells, _ in pairs),
        orders=tuple(grid.tolist()),
        curve=tuple(curve.tolist()),
        max_divergence=far.max_divergence * _FINAL,
    )
