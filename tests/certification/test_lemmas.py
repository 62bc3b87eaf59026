"""The lemmas behind the certificate, by quadrature on random pairs; and planted errors that must show."""

import dataclasses
import math

import numpy as np
import pytest

from sordino.certification import cells as cells_module
from sordino.certification.cells import cut
from sordino.certification.certificate import corners, estimate, make_shape
from sordino.certification.divergence import renyi_divergence
from sordino.certification.far import Far
from sordino.certification.orders import cover, order_grid
from sordino.certification.shape import LogNormalTail
from tests.support import certification_laws as laws

FEW = [laws.CASES[i] for i in (0, 1, 6, 8, 10, 11, 14, 15)]


def divergence(shape, t, s, order):
    return renyi_divergence(shape.log_density, t, s, order, kinks=shape.knots())


def make_cells(shape, t, s, smoothing, shift, tolerance=2e-4):
    from sordino.certification.certificate import _edge

    rough = estimate(shape, smoothing, shift)
    return cut(
        shape, t, s, largest_order=rough.largest_order, tolerance=tolerance * rough.rho,
        edge=_edge(shape, smoothing, shift, rough.largest_order), favourite_order=rough.worst_order,
    )  # fmt: skip


@pytest.mark.parametrize("case", FEW, ids=str)
def test_lemma_1_divergences_rise_with_the_shift(case):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    for t in (-smoothing, 0.0, smoothing):
        for order in (1.0, 2.0, 7.0):
            values = [divergence(shape, t, x * shift, order) for x in (0.0, 0.2, 0.5, 0.8, 1.0)]
            assert np.all(np.diff(values) >= -1e-10)


@pytest.mark.parametrize("case", FEW, ids=str)
def test_lemma_2_divergences_are_convex_in_the_dilation(case):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    for order in (1.0, 2.0, 7.0):
        values = [divergence(shape, t, shift, order) for t in np.linspace(0, smoothing, 7)]
        assert np.all(np.diff(values, 2) >= -1e-10)
        assert max(values) <= max(values[0], values[-1]) + 1e-10


@pytest.mark.parametrize("case", FEW, ids=str)
def test_lemma_3_contractions_are_convex_up_to_kappa(case):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    kappa = shape.kappa(shift)
    taus = np.linspace(0, smoothing, 7)
    for order in (1.0, 2.0, 7.0):
        values = [divergence(shape, -tau, shift * math.exp(-tau), order) for tau in taus]
        assert np.all(np.diff(values + kappa * taus**2 / 2, 2) >= -1e-10)


@pytest.mark.parametrize("case", FEW, ids=str)
def test_lemma_1_both_directions_are_covered(case):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    t, s = 0.7 * smoothing, 0.9 * shift
    back = renyi_divergence(shape.log_density, t, s, 2.5, kinks=shape.knots(), reverse=True)
    assert back == pytest.approx(divergence(shape, -t, s * math.exp(-t), 2.5), rel=1e-9)
    assert s * math.exp(-t) <= shift * min(1.0, math.exp(-t))


@pytest.mark.parametrize("case", laws.CASES, ids=str)
def test_lemma_4_cells_bracket_every_order(case):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    for t, s in corners(smoothing, shift):
        pair = make_cells(shape, t, s, smoothing, shift)
        orders = np.array([1.0001, 1.2, 2.0, 3.5, 6.0])
        upper, lower = pair.upper(orders) / (orders - 1), pair.lower(orders)
        exact = np.array([divergence(shape, t, s, a) for a in orders])
        assert np.all(lower <= exact * (1 + 1e-9))
        assert np.all(exact <= upper * (1 + 1e-9))
        rho = estimate(shape, smoothing, shift).rho
        assert np.all(upper - lower <= 0.02 * orders * rho)


@pytest.mark.parametrize("case", laws.CASES, ids=str)
@pytest.mark.parametrize("count", [6, 40, 300])
def test_loss_intervals_contain_the_loss(case, count):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    rng = np.random.default_rng(5)
    knots = np.array([0.0, *shape.knots(), *(-k for k in shape.knots())])
    for t, s in corners(smoothing, shift):
        random = shape.core() * np.sinh(rng.uniform(-9, 9, count))
        nodes = np.unique([*random, *knots, *(s + math.exp(t) * knots), *(shape.turning_points(t, s) or ())])
        low, high = cells_module._enclose_loss(shape, t, s, nodes)
        x = shape.core() * np.sinh(rng.uniform(-9, 9, 40_000))
        x = x[(x > nodes[0]) & (x < nodes[-1])]
        loss = shape.log_density(np.abs(x)) + t - shape.log_density(np.abs(np.exp(-t) * (x - s)))
        index = np.searchsorted(nodes, x) - 1
        assert np.all(loss <= high[index] + cells_module.WIDENING)
        assert np.all(loss >= low[index] - cells_module.WIDENING)


def test_lemma_4_planted_errors_show():
    """A chord through the wrong end, an unwidened loss and a lost cell all fall below the truth."""
    shape = make_shape("student-t", 14)
    pair = make_cells(shape, -0.1, 1.0774 * math.exp(-0.1), 0.1, 1.0774)
    orders = np.array([1.5, 2.0, 6.0])
    exact = np.array([divergence(shape, pair.t, pair.s, a) * (a - 1) for a in orders])
    assert np.all(pair.upper(orders) >= exact)
    wrong_end = dataclasses.replace(pair, high=pair.low + 1e-9)
    assert np.all(wrong_end.upper(orders) < exact)
    lost = dataclasses.replace(
        pair, p=np.where(pair.high > 2.2, 0, pair.p), q=np.where(pair.high > 2.2, 0, pair.q)
    )
    assert np.any(lost.upper(orders) < exact)


def test_lemma_5_covers_between_the_orders():
    grid = order_grid(50.0)
    assert grid[0] == pytest.approx(1.0001)
    assert grid[-1] == pytest.approx(50.0)
    gaussian = 0.3 * grid * (grid - 1)
    assert 0.3 <= cover(grid, gaussian) <= 0.3 * (1 + 0.03**2 / 4 + 2e-4)
    fine = np.linspace(1 + 1e-6, 50.0, 2_000_001)
    for curve in (
        lambda a: 0.2 * (a - 1) ** 1.5,
        lambda a: np.logaddexp(0.1 * (a - 1), 3 * (a - 1) - 4) - math.log1p(math.exp(-4)),
    ):
        truth = np.max(curve(fine) / (fine * (fine - 1)))
        assert truth <= cover(grid, curve(grid)) <= 1.01 * truth


def test_lemma_5_maximum_inside_a_chord_is_found():
    """With K = max(0, 10u - 9.9) sampled at u = 0.01 and 3, the quotient peaks inside the chord."""
    orders = np.array([1.01, 1.5, 4.0])
    moments = np.array([1e-6, 1e-5, 6.0])
    u = np.linspace(0.5, 3, 1_000_001)
    chord = 1e-5 + (6.0 - 1e-5) * (u - 0.5) / 2.5
    truth = np.max(chord / (u * (u + 1)))
    assert truth > 1.02 * np.max(moments / ((orders - 1) * orders))
    assert cover(orders, moments) == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("case", [c for c in laws.CASES if c[2] > 0], ids=str)
def test_far_bound_holds_at_large_orders_and_is_needed(case):
    family, parameter, smoothing, shift = case
    shape = make_shape(family, parameter)
    rough = estimate(shape, smoothing, shift)
    pairs = [(make_cells(shape, t, s, smoothing, shift), 0.0) for t, s in corners(smoothing, shift)]
    far = Far.of(shape, smoothing, shift, pairs)
    for order in (2.0, rough.largest_order, 3 * rough.largest_order):
        bound = far.bound(order)
        for factor in (1.0, 1.7, 5.0):
            a = order * factor
            for t, s in corners(smoothing, shift):
                try:
                    assert divergence(shape, t, s, a) / a <= bound * (1 + 1e-9)
                except ArithmeticError:
                    continue
    if isinstance(shape, LogNormalTail):  # a far bound without the contraction's limit would be refuted
        limit = smoothing**2 / (2 * parameter**2)
        assert far.bound(1e6) == pytest.approx(limit, rel=0.2)
        a = 60.0 if smoothing > 0.4 else 400.0
        top = divergence(shape, -smoothing, shift * math.exp(-smoothing), a) / a
        assert top > 0.8 * limit


def test_dropping_the_far_bound_would_be_wrong():
    """Near sigma = gamma/sqrt(2 rho) the supremum lies beyond any finite order that was computed."""
    from sordino.certification import certify

    price = certify("arsinh-normal", 0.2, smoothing=0.1, shift=0.02)
    shape = make_shape("arsinh-normal", 0.2)
    a = 4 * price.orders[-1]
    value = divergence(shape, -0.1, 0.02 * math.exp(-0.1), a) / a
    assert value <= price.rho_hi
    short = order_grid(3.0)
    pair = make_cells(shape, -0.1, 0.02 * math.exp(-0.1), 0.1, 0.02)
    assert cover(short, pair.upper(short)) < value  # orders up to 3 alone miss it


@pytest.mark.thorough
def test_outer_moments_bound_the_tail_integral():
    for family, parameter in (("arsinh-normal", 0.5), ("uniform-log-normal", 0.6)):
        shape = make_shape(family, parameter)
        for t, s in ((0.0, 0.5), (0.2, 0.5), (-0.2, 0.4)):
            for edge in (3.0, 8.0, 30.0):
                u = np.linspace(math.log(edge), math.log(edge) + 40, 400_001)
                x = np.exp(u)
                orders = np.array([1.5, 3.0, 8.0])
                bound = np.exp(shape.outer_log_moment(orders, edge, t, s))
                for order, value in zip(orders, bound, strict=True):
                    total = 0.0
                    for side in (-1, 1):
                        z = np.exp(-t) * np.abs(side * x - s)
                        log_p = shape.log_density(x)
                        term = log_p + (order - 1) * (log_p + t - shape.log_density(z)) + u
                        total += float(np.trapezoid(np.exp(term), u))
                    assert total <= value * (1 + 1e-9)


def test_a_cell_that_is_not_finite_raises(monkeypatch):
    shape = make_shape("student-t", 5)
    original = type(shape).tail
    monkeypatch.setattr(
        type(shape), "tail", lambda self, x: np.where(original(self, x) < 0.5, np.nan, original(self, x))
    )
    with pytest.raises(ArithmeticError, match="not finite"):
        cells_module._measure(shape, 0.1, 0.5, np.linspace(-5, 5, 50))
