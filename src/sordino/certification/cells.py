"""Lemma 4: a pair of laws cut into cells, which bounds all its Renyi divergences from both sides.

A cell knows the masses of P = law of Z and Q = law of e^t Z + s on it and an interval that contains the
loss log p/q there. Nothing here knows about suprema over pairs or orders.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from sordino.certification.shape import CertifiedShape, FloatArray, LogNormalTail, PowerTail

ULP = 2.3e-16
#: Absolute widening of every loss interval: absorbs the rounding of the log density (a few 1e-13 at most).
WIDENING = 1e-11
#: Beyond this exponent moments are scaled instead of centred.
LARGE_EXPONENT = 30.0


@dataclass(frozen=True, slots=True)
class LossCells:
    """A dominating pair of finite laws, with the rounding allowance of each mass.

    ``reach`` is the largest |x| of a cell; ``edge`` is where the outer cells begin.
    """

    p: FloatArray
    q: FloatArray
    p_error: FloatArray
    q_error: FloatArray
    low: FloatArray
    high: FloatArray
    reach: FloatArray
    shape: CertifiedShape
    edge: float
    t: float
    s: float

    @property
    def size(self) -> int:
        """How many cells."""
        return int(self.p.size)

    @property
    def largest_loss(self) -> float:
        """An upper bound of the loss on all cells: of D_inf, for a bounded family."""
        return float(np.max(self.high))

    def _outside(self) -> tuple[float, float]:
        """Masses of P and Q beyond the edges, for families whose outer cells are not in the list."""
        at = np.exp(-self.t) * np.array([self.edge - self.s, self.edge + self.s])
        return float(self.shape.tail(np.array([self.edge]))[0]), float(0.5 * np.sum(self.shape.tail(at)))

    def orders_resolved(self, orders: FloatArray) -> int:
        """For how many of the orders the part beyond the edges is negligible."""
        assert isinstance(self.shape, LogNormalTail)
        outer = self.shape.outer_log_moment(orders, self.edge, self.t, self.s)
        large = outer > -12 + (orders - 1) * self.lower(orders)
        return int(np.argmax(large)) if large.any() else int(orders.size)

    def upper(self, orders: FloatArray) -> FloatArray:
        """Upper bounds of K(a) = log of the integral of p^a q^(1-a), for orders a > 1.

        The chord of r^a over [e^low, e^high] gives p A - q B per cell. As all masses sum to one, 1 + (a-1) may
        be taken from A and (a-1) from B, which leaves no cancellation when the losses are small.
        """
        more = (orders - 1)[:, None]
        width = self.high - self.low
        base = -np.expm1(-width)
        exponent = more * self.high
        top = np.max(exponent, axis=1)
        large = top > LARGE_EXPONENT
        scale = np.where(large, top, 0.0)
        growth = np.exp(exponent - scale[:, None])
        slope = growth * (-np.expm1(-orders[:, None] * width) / base)
        intercept = growth * (np.exp(self.low) * -np.expm1(-more * width) / base)

        allowance = ULP * (16 + 4 * (orders - 1) * np.max(np.abs(self.high)))
        rounding = allowance * (slope @ self.p + intercept @ self.q + orders * np.exp(-scale))
        centre_p, centre_q = np.where(large[:, None], 0.0, 1 + more), np.where(large[:, None], 0.0, more)
        slope -= centre_p
        intercept -= centre_q
        total = slope @ self.p - intercept @ self.q
        total += np.abs(slope) @ self.p_error + np.abs(intercept) @ self.q_error + rounding
        if isinstance(self.shape, LogNormalTail):
            p, q = self._outside()
            error = self.shape.tail_error
            moment = self.shape.outer_log_moment(orders, self.edge, self.t, self.s)
            with np.errstate(over="ignore"):  # infinite where the order is not resolved: see orders_resolved
                total += np.exp(moment - scale)
            total -= np.where(large, 0.0, orders * p - (orders - 1) * q - orders * error * (p + q))
        with np.errstate(invalid="ignore", divide="ignore"):
            result = np.where(large, scale + np.log(total), np.log1p(np.where(large, 0.0, total)))
        return np.asarray(result * (1 + 4 * ULP) + 4 * ULP * scale)

    def lower(self, orders: FloatArray) -> FloatArray:
        """Lower bounds of D_a for a >= 1 (a = 1 is Kullback-Leibler): no map increases a divergence."""
        parts = np.stack([self.p, self.q, self.p_error, self.q_error])
        if isinstance(self.shape, LogNormalTail):
            p, q = self._outside()
            error = self.shape.tail_error
            parts = np.append(parts, [[p], [q], [error * p], [error * q]], axis=1)
        p, q, p_error, q_error = parts
        faint = (p <= 1e3 * p_error) | (q <= 1e3 * q_error) | (p < 1e-290) | (q < 1e-290)
        # what is too small to be resolved is lumped into one cell
        parts = np.append(parts[:, ~faint], np.sum(parts[:, faint], axis=1, keepdims=True), axis=1)
        if parts[0, -1] <= 2 * parts[2, -1] or parts[1, -1] <= 2 * parts[3, -1]:
            parts = parts[:, :-1]
        p, q, p_error, q_error = parts
        loss = np.log(p / q)
        more = (orders - 1)[:, None]
        exponent = more * loss
        top = np.max(exponent, axis=1)
        large = top > LARGE_EXPONENT
        scale = np.where(large, top, 0.0)
        growth = np.exp(exponent - scale[:, None])
        gain = np.where(large[:, None], growth, np.expm1(np.minimum(exponent, 2 * LARGE_EXPONENT)))
        # first order in the errors of the masses, twice over; what is charged never comes from here
        unsure = orders * (np.abs(gain) @ p_error) + (orders - 1) * (growth @ (np.abs(p - q) / q * q_error))
        rounding = ULP * (16 + np.abs(exponent).max(axis=1)) * (np.abs(gain) @ p)
        total = gain @ p - 2 * unsure - rounding
        with np.errstate(invalid="ignore", divide="ignore"):
            moment = np.where(
                large, scale + np.log(np.maximum(total, 1e-300)), np.log1p(np.maximum(total, -0.5))
            )
            divergence = moment / (orders - 1)
        if orders[0] == 1:
            unsure_one = float(p_error @ (1 + np.abs(loss)) + q_error @ (np.abs(p - q) / q))
            divergence[0] = float(loss @ p) - 2 * unsure_one
        return np.asarray(np.maximum(divergence, 0.0))


def find_edge(shape: CertifiedShape, mass: float) -> float:
    """An x whose tail is about the mass (never less than 1e-290), by bisection in log x."""
    mass = max(mass, 1e-290)
    low, high = shape.core(), shape.core()
    while float(shape.tail(np.array([high]))[0]) > mass and high < 1e140:
        high = high * high if high > 1e3 else high * 4
    for _ in range(40):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if float(shape.tail(np.array([middle]))[0]) > mass else (low, middle)
    return float(min(high, 1e140))


@functools.lru_cache(maxsize=4096)
def _knots(shape: CertifiedShape) -> tuple[float, ...]:
    """Knots are roots for some families: found once per shape."""
    return shape.knots()


def cut(
    shape: CertifiedShape,
    t: float,
    s: float,
    *,
    largest_order: float,
    tolerance: float,
    edge: float,
    favourite_order: float = 1.0,
) -> LossCells:
    """Cut the line so that the overshoot of D_a/a stays near the tolerance for orders up to the largest.

    The overshoot of Lemma 4 is the mean of width^2/12 under the density p^a q^(1-a); it is least when nodes are
    placed with density (that density * loss'^2)^(1/3). A mixture over a few orders, among them the favourite and
    its neighbours, serves them all.
    """
    edge = max(edge, 8 * s, *(2 * k * float(np.exp(abs(t))) + s for k in _knots(shape)))
    core = shape.core()
    reach = float(np.arcsinh(edge / core))
    w = np.linspace(-reach, reach, 2001)
    x = core * np.sinh(w)
    z = np.exp(-t) * (x - s)
    loss = shape.log_density(np.abs(x)) + t - shape.log_density(np.abs(z))
    slope = np.exp(-t) * np.sign(z) * shape.score(np.abs(z)) - np.sign(x) * shape.score(np.abs(x))
    jacobian = core * np.cosh(w)
    log_weight = shape.log_density(np.abs(x)) + np.log(jacobian)
    ladder = [a for a in (1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 50.0, 150.0, 500.0) if a <= max(1.5, largest_order)]
    ladder += [1 + (favourite_order - 1) * factor for factor in (0.75, 1.0, 1.3) if favourite_order > 1]
    weight = np.zeros_like(w)
    for a in ladder:
        tilted = log_weight + (a - 1) * loss
        tilted = np.exp(tilted - np.max(tilted))
        weight += tilted / (np.sum(tilted) * (w[1] - w[0]) * len(ladder))
    density = np.cbrt(weight * (slope * jacobian) ** 2)
    cumulative = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(w))])
    # each order gets a share of the nodes, so its own error is len(ladder)^(2/3) times smaller than if alone
    count = int(np.clip(np.sqrt(cumulative[-1] ** 3 * len(ladder) ** 0.5 / (12 * tolerance)), 60, 6000))
    floor = np.linspace(0, 0.25, w.size)
    nodes = np.interp(np.linspace(0, 1.25, count), cumulative / cumulative[-1] + floor, w)
    nodes = np.union1d(nodes, np.linspace(-reach, reach, 80))  # no cell may be too wide for a large order
    knots = np.array(_knots(shape))
    # between a knot of P and the same knot of Q the loss may turn sharply, unseen by the reference grid
    own = np.concatenate([-knots, [0.0], knots])
    between = np.linspace(own, s + np.exp(t) * own, 17)
    fine = np.linspace(0, s, 49)
    turns = [x for x in shape.turning_points(t, s) or () if abs(x) < edge]
    x = np.unique(np.concatenate([core * np.sinh(nodes[1:-1]), [-edge, edge], between.ravel(), fine, turns]))
    return _measure(shape, t, s, x)


def _measure(shape: CertifiedShape, t: float, s: float, x: FloatArray) -> LossCells:
    """Masses and loss intervals of the cells between the nodes, and of the two outer ones."""
    shrink = float(np.exp(-t))
    z = shrink * (x - s)
    ax, az = np.abs(x), np.abs(z)
    tail_p, tail_q = shape.tail(ax), shape.tail(az)
    # an ulp in x moves the tail by its logarithmic slope, at most twice x*score(x)
    sensitivity = 2 * float(ax[-1] * shape.score(ax[-1:])[0]) + 2
    error = shape.tail_error + 2 * ULP * sensitivity
    p, q = 0.5 * np.abs(np.diff(tail_p)), 0.5 * np.abs(np.diff(tail_q))
    p_error = error * np.maximum(tail_p[1:], tail_p[:-1])
    q_error = error * np.maximum(tail_q[1:], tail_q[:-1])
    low, high = _enclose_loss(shape, t, s, x)
    reach = np.maximum(ax[1:], ax[:-1])
    edge = float(min(-x[0], x[-1]))
    if isinstance(shape, PowerTail):
        left, right = shape.outer_loss(-float(x[0]), t, s, -1), shape.outer_loss(float(x[-1]), t, s, 1)
        outer_p, outer_q = 0.5 * tail_p[[0, -1]], 0.5 * tail_q[[0, -1]]
        p, q = np.append(p, outer_p), np.append(q, outer_q)
        p_error, q_error = np.append(p_error, error * outer_p), np.append(q_error, error * outer_q)
        low, high = np.append(low, [left[0], right[0]]), np.append(high, [left[1], right[1]])
        reach = np.append(reach, [np.inf, np.inf])
    cells = LossCells(p, q, p_error, q_error, low - WIDENING, high + WIDENING, reach, shape, edge, t, s)
    if not all(np.isfinite(part).all() for part in (p, q, p_error, q_error, low, high)):
        raise ArithmeticError(f"{shape.family}: a cell is not finite at t={t}, s={s}")
    return cells


def _enclose_loss(shape: CertifiedShape, t: float, s: float, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intervals that contain the loss on each cell.

    The score is monotone on each cell (all knots are nodes), so end values enclose loss' = psi_Q - psi_P;
    in log|x| the same holds with x*score(x), which is monotone everywhere. Where one of the two enclosures
    has a constant sign the loss runs between its end values, else it strays by half the variation at most.
    """
    shrink = float(np.exp(-t))
    z = shrink * (x - s)
    ax, az = np.abs(x), np.abs(z)
    loss = shape.log_density(ax) + t - shape.log_density(az)
    score_x, score_z = shape.score(ax), shape.score(az)
    sign_x, sign_z = np.sign(x[1:] + x[:-1]), np.sign(z[1:] + z[:-1])

    p0, p1 = sign_x * score_x[:-1], sign_x * score_x[1:]
    q0, q1 = shrink * sign_z * score_z[:-1], shrink * sign_z * score_z[1:]
    pad = 1e-12 * (np.abs(p0) + np.abs(p1) + np.abs(q0) + np.abs(q1))
    least = np.minimum(q0, q1) - np.maximum(p0, p1) - pad
    most = np.maximum(q0, q1) - np.minimum(p0, p1) + pad
    monotone = (least >= 0) | (most <= 0)
    variation = np.maximum(np.abs(least), np.abs(most)) * np.diff(x)

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # d loss / d log|x| = -x psi(x) + z psi(z) x/(x-s)
        w_x, w_z, turn = ax * score_x, az * score_z, x / (x - s)
        products = np.stack(
            [
                w_z[i] * turn[j]
                for i in (slice(None, -1), slice(1, None))
                for j in (slice(None, -1), slice(1, None))
            ]
        )
        pad = 1e-12 * (np.abs(products).max(axis=0) + np.maximum(w_x[1:], w_x[:-1]))
        least = products.min(axis=0) - np.maximum(w_x[1:], w_x[:-1]) - pad
        most = products.max(axis=0) - np.minimum(w_x[1:], w_x[:-1]) + pad
        in_log = np.maximum(np.abs(least), np.abs(most)) * np.abs(np.diff(np.log(ax)))
        usable = (x[1:] * x[:-1] > 0) & ((x[1:] - s) * (x[:-1] - s) > 0) & np.isfinite(in_log)
    monotone |= usable & ((least >= 0) | (most <= 0))
    variation = np.where(usable, np.minimum(variation, np.where(usable, in_log, np.inf)), variation)
    with np.errstate(divide="ignore", invalid="ignore"):
        # and loss - t = -(integral of x*score(x) d log x from |z| to |x|): what counts far out, where cells are wide
        spread = np.log(ax) - np.log(az)
        both = np.stack([w_x[1:], w_x[:-1], w_z[1:], w_z[:-1]])
        products = np.stack(
            [spread[i] * w for i in (slice(None, -1), slice(1, None)) for w in (both.min(0), both.max(0))]
        )
        pad = 1e-12 * (1 + np.abs(products).max(axis=0))
        floor = np.where(usable, t - products.max(axis=0) - pad, -np.inf)
        ceiling = np.where(usable, t - products.min(axis=0) + pad, np.inf)

    if shape.turning_points(t, s) is not None:
        monotone[:] = True  # every zero of the derivative is a node

    first, second = loss[:-1], loss[1:]
    middle, half = 0.5 * (first + second), 0.5 * np.maximum(variation, np.abs(second - first))
    low = np.where(monotone, np.minimum(first, second), np.maximum(middle - half, floor))
    high = np.where(monotone, np.maximum(first, second), np.minimum(middle + half, ceiling))
    return np.asarray(low), np.asarray(high)
