"""Closed forms against the vectors and against quadrature over the noise: unbiased at every place; mutants are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from sordino.errors import Unsupported
from sordino.geo import deconvolution, planar_laplace
from sordino.geo.deconvolution import edge, edge_noise, factor, kernel, kernel_noise, tabulated
from tests.support.geo_vectors import vectors


def numbers(vector, *names):
    return [float(vector["in"][name]) for name in names]


@pytest.mark.parametrize("vector", vectors("kernel"))
def test_kernels(vector):
    unit, h, r = numbers(vector, "unit_loss_metres", "bandwidth", "distance")
    a, d = (h / unit) ** 2, vector["in"]["d"]
    peak = float(kernel([0.0], a, d)[0])
    assert float(kernel([r / h], a, d)[0]) == pytest.approx(float(vector["out"]["g"]), abs=4e-15 * peak)
    assert float(tabulated(np.array([r / h]), a, d)[0]) == pytest.approx(
        float(vector["out"]["g"]), abs=1e-9 * peak
    )


@pytest.mark.parametrize("vector", vectors("edge"))
def test_edges(vector):
    unit, w, s = numbers(vector, "unit_loss_metres", "width", "signed_distance")
    found = float(edge([s / w], (w / unit) ** 2, vector["in"]["d"])[0])
    assert found == pytest.approx(float(vector["out"]["g"]), abs=1e-12)


@pytest.mark.parametrize("vector", vectors("kernel_noise"))
def test_noise_constants(vector):
    assert kernel_noise(float(vector["in"]["a"]), vector["in"]["d"]) == pytest.approx(
        float(vector["out"]["c"])
    )


@pytest.mark.parametrize("vector", vectors("covariance"))
def test_the_covariance_of_the_noise(vector):
    unit = float(vector["in"]["unit_loss_metres"])
    expected = float(vector["out"]["subtract_per_axis"])
    assert (vector["in"]["d"] + 1) * unit**2 == pytest.approx(expected)


def mean_over_noise(function, at, dimension, unit=1.0):
    """E function(at + Z) by quadrature over planar Laplace noise; `at` lies on the first axis."""
    nodes, weights = np.polynomial.legendre.leggauss(240)
    r = 22.5 * unit * (nodes + 1)
    weights = weights * 22.5 * unit * r ** (dimension - 1) * np.exp(-r / unit)
    if dimension == 1:
        values = 0.5 * (function(np.abs(at + r)) + function(np.abs(at - r)))
        return float((weights * values).sum() / unit)
    if dimension == 2:
        angle = np.linspace(0, np.pi, 120, endpoint=False) + np.pi / 240
        cosine, share = np.cos(angle), np.full(120, 1 / 120)
    else:
        cosine, share = np.polynomial.legendre.leggauss(40)
        share = share / 2
    away = np.sqrt(np.maximum(at**2 + r[:, None] ** 2 + 2 * at * r[:, None] * cosine, 0.0))
    values = (function(away) * share).sum(axis=1)
    return float((weights * values).sum() / unit**dimension / {2: 1.0, 3: 2.0}[dimension])


@pytest.mark.few(1)
@pytest.mark.parametrize("dimension", [1, 2, 3])
@settings(max_examples=12)
@given(st.floats(0.4, 4.0), st.floats(0.0, 5.0))
def test_kernels_are_unbiased(dimension, ratio, at):
    a = ratio**2
    found = mean_over_noise(lambda r: kernel(r / ratio, a, dimension), at, dimension)
    peak = float(kernel([0.0], a, dimension)[0])
    assert found == pytest.approx(np.exp(-0.5 * (at / ratio) ** 2), abs=1e-9 * peak + 1e-9)


@pytest.mark.thorough
def test_mutants_are_biased(monkeypatch):
    """The exponent (d+1)/2 replaced, or U off by two per cent."""
    ratio = 1.0

    def with_factor(power):
        """The kernel of another exponent, by its Hankel transform."""
        from scipy.special import j0

        k = np.linspace(0, 12, 1500)
        spectrum = np.exp(-0.5 * k**2) * (1 + k**2) ** power * k * (k[1] - k[0])
        return lambda r: (j0(np.asarray(r)[..., None] * k) * spectrum).sum(axis=-1)

    table = np.linspace(0, 30, 1500)
    for power, right in ((1.5, True), (1.0, False), (2.0, False)):
        values = with_factor(power)(table)
        found = mean_over_noise(lambda r, values=values: np.interp(r, table, values), 0.0, 2)
        assert (abs(found - 1.0) < 2e-3) == right
    off = mean_over_noise(lambda r: kernel(r / ratio, (ratio / 1.02) ** 2, 2), 0.0, 2)
    assert abs(off - 1.0) > 0.01


@pytest.mark.thorough
@settings(max_examples=12)
@given(st.floats(0.5, 3.0), st.floats(-6.0, 6.0))
def test_edges_are_unbiased(width, at):
    """On a line directly; in the plane the noise across an edge is the marginal of planar Laplace noise."""
    a = width**2
    nodes, weights = np.polynomial.legendre.leggauss(200)
    r = 20 * (nodes + 1)
    half = weights * 20 * np.exp(-r) / 2
    line = (half * (edge((at + r) / width, a, 1) + edge((at - r) / width, a, 1))).sum()
    assert line == pytest.approx(float(ndtr(at / width)), abs=1e-7)
    angle = (np.arange(96) + 0.5) / 96 * 2 * np.pi
    moved = at + r[:, None] * np.cos(angle)
    plane = (weights * 20 * r * np.exp(-r) * edge(moved / width, a, 2).mean(axis=1)).sum()
    assert plane == pytest.approx(float(ndtr(at / width)), abs=1e-6)


def test_unbiased_on_the_lattice_itself(monkeypatch):
    """Theorem 3 on a lattice coarse enough to sum: the bias is below 2 B G(0), and small."""
    monkeypatch.setattr(planar_laplace, "T", 8)
    reach = 220
    axis = np.arange(-reach, reach + 1)
    x, y = np.meshgrid(axis, axis, indexing="ij")
    r = np.hypot(x, y)
    law = np.exp(-r / 8)
    law /= law.sum()
    bound = 2 * 9.0336 / (np.pi * 8) ** 3 * float(kernel([0.0], 1.0, 2)[0])
    for shift in (0, 3, 9):
        found = float((law * kernel(np.hypot(x + shift, y) / 8, 1.0, 2)).sum())
        assert abs(found - np.exp(-0.5 * (shift / 8) ** 2)) <= bound
    assert bound < 0.01


def test_noise_constants_by_simulation():
    """c(a) and the noise of an edge are the integrated variances of g."""
    ratio = 1.3
    r = np.linspace(0, 60, 40_000)
    step = r[1] - r[0]
    square = (kernel(r / ratio, ratio**2, 2) ** 2 * 2 * np.pi * r).sum() * step
    own = np.pi * ratio**2  # the kernel's own square
    assert (square - own) / (np.pi * ratio**2) == pytest.approx(kernel_noise(ratio**2, 2), rel=1e-4)
    t = np.linspace(-60, 60, 40_001)
    for dimension in (1, 2):
        values = edge(t / 0.8, 0.64, dimension)
        soft = ndtr(t / 0.8)
        excess = ((values**2 - soft**2).sum()) * (t[1] - t[0])
        assert excess == pytest.approx(edge_noise(0.8, 1.0, dimension), rel=1e-3)


def test_what_is_too_narrow_is_refused():
    with pytest.raises(Unsupported, match="quarter"):
        kernel([0.0], 0.06, 2)
    kernel([0.0], 1 / 16, 2)
    with pytest.raises(Unsupported, match="quarter"):
        edge([0.0], 0.01, 1)
    with pytest.raises(Unsupported, match="line or in the plane"):
        edge([0.0], 1.0, 3)
    assert float(factor(4.0, 1.0, 2)) == pytest.approx(5**1.5)
    assert deconvolution.LEAST_RATIO == 0.25
