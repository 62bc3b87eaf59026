"""Floats stray from the real curves by no more than each curve says, measured against many digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import shapely

from sordino.geo import QueryMechanism
from sordino.geo.mechanism import _margin
from sordino.privacy import Geo
from tests.support.geo_worlds import PLATEAUS, QUERIES, STAR, cloud

PRICE = Geo(1, per=1)
mpmath.mp.prec = 160


def exact_coordinate(query, x):
    """The coordinate of a lattice point with many digits."""
    x = [mpmath.mpf(v) for v in np.atleast_1d(x)]
    if query.name == "threshold":
        return mpmath.mpf(query.at) - x[0] + mpmath.mpf(query.width) / 2
    if query.name in {"disc", "kernel-density"}:
        centre = query.centre if query.name == "disc" else query.at[0]
        r = mpmath.sqrt(mpmath.fsum((a - mpmath.mpf(c)) ** 2 for a, c in zip(x, centre, strict=True)))
        return r - mpmath.mpf(query.radius) + mpmath.mpf(query.width) / 2 if query.name == "disc" else r
    if query.name == "logistic":
        w = [mpmath.mpf(v) for v in query.weights]
        form = mpmath.fsum(a * b for a, b in zip(w, x, strict=True)) + mpmath.mpf(query.intercept)
        return form / mpmath.sqrt(mpmath.fsum(v * v for v in w))
    raise AssertionError(query.name)


def exact_curve(query, u, gamma):
    """Value and local bound, floored, with many digits."""
    curve = query.curve
    gamma = mpmath.mpf(gamma)
    if query.plateau:
        width = mpmath.mpf(curve.width)
        value = min(max(1 - u / width, mpmath.mpf(0)), mpmath.mpf(1))
        bound = mpmath.exp(-gamma * max(-u, u - width, mpmath.mpf(0))) / width
    elif query.name == "kernel-density":
        h = mpmath.mpf(curve.bandwidth)
        c, g = abs(u) / h, gamma * h
        root = mpmath.sqrt(g * g + 4)
        z = min(max(c, (root - g) / 2), (root + g) / 2)
        value, bound = mpmath.exp(-c * c / 2), z * mpmath.exp(-z * z / 2 - g * abs(c - z)) / h
    else:
        b = mpmath.sqrt(mpmath.fsum(mpmath.mpf(v) ** 2 for v in query.weights))
        v, g = abs(u) * b, gamma / b
        turn = mpmath.log((1 + g) / (1 - g)) if g < 1 else mpmath.inf
        z = min(v, turn)
        e = mpmath.exp(-z)
        value, bound = 1 / (1 + mpmath.exp(-u * b)), b * e / (1 + e) ** 2 * mpmath.exp(-g * (v - z))
    return value, max(bound, mpmath.mpf(curve.floor) * mpmath.mpf(query.lipschitz))


@pytest.mark.parametrize(
    "name", ["threshold", "disc", "ball", "kernel on a line", "kernel", "kernel in space", "logistic"]
)
def test_floats_keep_to_their_allowance(name):
    query = QUERIES[name]
    made = QueryMechanism.choose(query, PRICE)
    gamma = made.smoothing
    at = made.lattice.snap(query.points(cloud(query, 200, seed=9)))
    values, scales = made._read(at)
    far = query.curve.far(gamma, query.curve.floor)
    moved = query.coordinate_error(far, made.lattice.reach) + 2.0**-50 * far
    slack = query.curve.slack(gamma, query.curve.floor)
    worst = [0.0, 0.0]
    for x, f, s in zip(at, values, scales, strict=True):
        value, bound = exact_curve(query, exact_coordinate(query, x), gamma)
        ideal = bound * mpmath.mpf(made.calibration.scale.numerator) / made.calibration.scale.denominator
        worst[0] = max(worst[0], float(abs(mpmath.mpf(f) - value) / bound))
        worst[1] = max(worst[1], float(abs(mpmath.log(mpmath.mpf(s) / ideal)) / gamma))
    assert worst[0] <= moved + slack.value
    assert worst[1] <= moved + slack.bound + 2.0**-49 / gamma
    # The allowance is what the margin pays for, and it is not empty talk: errors are seen.
    assert max(worst) > 0


def test_a_larger_error_costs_a_larger_margin():
    query = PLATEAUS["disc"]
    made = QueryMechanism.choose(query, PRICE)
    small = _margin(query, PRICE, made.lattice, 0.3, constant=False)
    steeper = _margin(query, PRICE, made.lattice, 0.0003, constant=False)
    assert Fraction(0) < small < steeper


def test_distances_to_polygons_are_right_to_the_last_digits():
    """GEOS against rational arithmetic: the assumption of the proofs page."""
    query = PLATEAUS["star"]
    made = QueryMechanism.choose(query, PRICE)
    at = made.lattice.snap(cloud(query, 60, seed=4))
    edge = [tuple(map(Fraction, p)) for p in shapely.from_wkt(STAR).exterior.coords]
    allowed = query.coordinate_error(query.curve.far(0.3, query.curve.floor), made.lattice.reach)
    found = query.to_boundary(at)
    for (x, y), got in zip(at.tolist(), found.tolist(), strict=True):
        best = None
        for (ax, ay), (bx, by) in zip(edge[:-1], edge[1:], strict=True):
            dx, dy = bx - ax, by - ay
            t = ((Fraction(x) - ax) * dx + (Fraction(y) - ay) * dy) / (dx * dx + dy * dy)
            t = min(max(t, Fraction(0)), Fraction(1))
            d = (ax + t * dx - Fraction(x)) ** 2 + (ay + t * dy - Fraction(y)) ** 2
            best = d if best is None else min(best, d)
        true = mpmath.sqrt(mpmath.mpf(best.numerator) / best.denominator)
        assert abs(abs(mpmath.mpf(got)) - true) <= allowed


@pytest.mark.parametrize("name", QUERIES)
def test_points_of_one_lattice_cell_are_not_told_apart(name):
    query = QUERIES[name]
    made = QueryMechanism.choose(query, PRICE)
    at = made.lattice.snap(query.points(cloud(query, 50, seed=3)))
    assert (np.mod(at / made.lattice.step, 1.0) == 0.0).all()
    nudged = at + 0.4 * made.lattice.step
    np.testing.assert_array_equal(made.lattice.snap(nudged), at)
    for first, second in zip(made._read(at), made._read(nudged), strict=True):
        np.testing.assert_array_equal(first, second)
