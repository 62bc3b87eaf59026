"""Durfee 2025: Theorem 2 and its limits on exact laws."""

import numpy as np
import pytest

from reproductions import experiments
from reproductions.piecewise_laplace import (
    GLOBAL,
    HALF,
    INVERSE,
    PANELS,
    PIECEWISE,
    SMOOTH,
    distance_laws,
    gap,
    tied_errors,
)
from sordino.privacy import Pure
from sordino.statistics.median import Median


def test_theorem_two_and_the_reduction_to_laplace():
    result = experiments()["durfee-2025-theorem-2"].run("smoke")
    for panel in PANELS:
        least, most = gap(result, panel, PIECEWISE, INVERSE)
        assert least > -1e-12
        assert most > 0.005
    assert max(map(abs, gap(result, "count", PIECEWISE, HALF))) < 1e-12
    assert gap(result, "count", GLOBAL, PIECEWISE)[1] > 0.1
    # "Uniformly outperforms smooth sensitivity" fails on the trimmed mean and holds on the median.
    assert gap(result, "trimmed mean (10 %)", SMOOTH, PIECEWISE)[1] > 0.15
    assert gap(result, "median", SMOOTH, PIECEWISE)[1] < 0
    assert "Theorem 2 holds" in result.finding


def test_the_laws_by_integration_of_the_scores():
    """Median of five points: density proportional to e^(-score/2), integrated on a fine grid."""
    x = [1.0, 2.0, 4.0, 5.0, 9.0]
    laws = distance_laws(Median("x", low=0, high=10), x, Pure(1))
    y = np.linspace(0, 10, 1_000_001)
    up, down = [4.0, 5.0, 9.0, 10.0], [4.0, 2.0, 1.0, 0.0]
    linear = np.where(y >= 4, np.interp(y, up, range(4)), np.interp(-y, [-v for v in down], range(4)))
    for name, score in ((PIECEWISE, linear), (INVERSE, np.ceil(np.round(linear, 9)))):
        weight = np.exp(-score / 2)
        for r in (0.5, 1.5, 3.0, 5.0):
            share = weight[np.abs(y - 4) <= r].sum() / weight.sum()
            assert laws[name](r) == pytest.approx(share, abs=2e-5), (name, r)


def test_ties_stop_piecewise_laplace():
    result = experiments()["durfee-2025-ties"].run("smoke")
    # Spread evenly over the two neighbouring years' intervals the error cannot fall below that of the first nats.
    assert result.one("error", mechanism="piecewise Laplace", rows=1001) == pytest.approx(0.46, abs=0.02)
    assert result.one("error", mechanism="piecewise Laplace, rounded", rows=1001) == pytest.approx(
        0.44, abs=0.02
    )
    better = result.one("error", mechanism="permute-and-flip on whole years", rows=1001)
    assert better < result.one("error", mechanism="inverse sensitivity on whole years", rows=1001) < 0.1


def test_a_constant_column_by_hand():
    """All rows equal 30: score 26 or so beyond it on both sides, zero on it; the lattice keeps the atom."""
    errors = tied_errors([30.0] * 51, Pure(1))
    q = np.exp(-26 / 2)  # 26 of 51 rows must change before the median moves
    others = np.abs(np.arange(121) - 30)
    exact = q * others.sum() / (1 + 120 * q)
    assert errors["inverse sensitivity on whole years"] == pytest.approx(exact, rel=1e-9)
    # Piecewise Laplace: one interval of score 25 to 26 on each side, of lengths 30 and 90.
    rate = 0.5
    mean = 1 / rate - 1 / np.expm1(rate)
    assert errors["piecewise Laplace"] == pytest.approx(mean * (30 * 30 + 90 * 90) / 120, rel=1e-9)
