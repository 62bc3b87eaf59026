"""Paper 002: stored numbers of thresholds and kernel densities; expectations are exact, so tolerances are small."""

import numpy as np
import pytest

from sordino.papers import experiments, geo_kernels
from sordino.papers.geo_kernels import PP_GLOBAL, PP_LOCAL
from sordino.papers.geo_thresholds import ONE_WAY, STAND_IN, incomes, log_normal

# threshold, distance: M0, M2, local DP, M3, PolyPlace global, PolyPlace local, Laplace-Pareto (two digits)
STORED = {
    (10_000, 1200): (1.23e-7, 1.8e-6, 5.0e-6, 1.55e-7, 5.1e-8, 4.2e-8, 1.5e-8),
    (100_000, 12_000): (4.41e-5, 1.8e-6, 5.0e-6, 4.0e-6, 1.3e-6, 1.6e-6, 6.2e-7),
    (500_000, 24_000): (3.26e-7, 1.25e-6, 5.0e-6, 4.3e-7, 1.4e-7, 8.4e-8, 3.0e-8),
    (1_000_000, 48_000): (1.095e-8, 1.25e-6, 5.0e-6, 1.8e-7, 5.9e-8, 1.35e-8, 4.5e-9),
}
NAMES = (
    "M0 moved points", "M2 Laplace", "local DP", "M3 published", "PolyPlace, global bound", "PolyPlace, local bound",
    "Laplace-Pareto",
)  # fmt: skip


def test_one_way_thresholds_have_the_stored_numbers():
    result = experiments()["002-figure-3"].run("smoke")
    for (at, distance), stored in STORED.items():
        for name, value in zip(NAMES, stored, strict=True):
            found = result.one("error", source=STAND_IN, threshold=at, distance=distance, mechanism=name)
            # Two printed digits. M0: the squared bias by an independent double integral; 2000 incomes are coarse.
            assert found == pytest.approx(value, rel=0.12 if name == "M0 moved points" else 0.05), (at, name)
    for at, distances in ONE_WAY.items():
        for distance in distances:
            cell = {row["mechanism"]: row["error"] for row in result.select(threshold=at, distance=distance)}
            assert (cell["M3 published"] > cell["M2 Laplace"]) == (at == 100_000)
    assert "5.9 to 50 times" in result.finding
    assert "12 of 12" in result.finding


def test_incomes_are_the_fitted_law():
    x = np.log(log_normal(4001))
    assert x.mean() == pytest.approx(11.494, abs=1e-9)
    assert x.std() == pytest.approx(0.829, rel=2e-3)
    assert (incomes(STAND_IN, 10, None) == log_normal(10)).all()
    assert len(ONE_WAY) == 4


def test_two_way_thresholds_keep_the_order():
    result = experiments()["002-figure-4"].run("smoke")
    for distance in (8000, 12_000, 20_000):
        cell = {row["mechanism"]: row["variance"] for row in result.select(distance=distance)}
        assert cell["Laplace-Pareto"] < cell["PolyPlace, local bound"] < cell["M3 published"]
        assert 5 < cell["M3 published"] / cell["Laplace-Pareto"] < 15
        assert cell["local DP"] == pytest.approx(2 * (distance / 12_000) ** 2)


def test_kernel_densities_have_the_stored_constants_and_order():
    result = experiments()["002-figure-6"].run("smoke")
    # M2 does not depend on the people: 2 (K/rate)^2 = 0.0328, 0.131, 0.525 per person; 0.205 and 0.0911 by bandwidth.
    for distance, share, people, variance in (
        (500, 1.0, 200_000, 0.0328),
        (1000, 1.0, 200_000, 0.131),
        (2000, 1.0, 200_000, 0.525),
        (1000, 0.8, 200_000, 0.205),
        (1000, 1.2, 200_000, 0.0911),
    ):
        cell = {
            row["mechanism"]: row["error"]
            for row in result.select(distance=distance, share=share, people=people)
        }
        assert cell["M2 Laplace"] * people == pytest.approx(variance, rel=5e-3)
        assert cell[PP_LOCAL] < cell[PP_GLOBAL] < cell["M3 published"]
        # 2.97 against 9 units of B^2/epsilon^2 at the same bound
        assert cell["M3 published"] / cell[PP_GLOBAL] == pytest.approx(3.03, rel=0.02)


@pytest.mark.statistical
def test_the_map_has_the_expected_error_of_its_mechanism():
    result = experiments()["002-map"].run("smoke")
    errors = geo_kernels.map_errors(result)
    part = result.settings[0]
    # M2: the error of a mean of `people` Laplace draws over 64 places; the root has a relative error of about 9 %.
    expected = (0.1312 / part["people"]) ** 0.5
    spread = expected / np.sqrt(2 * part["side"] ** 2)
    assert abs(errors["M2 Laplace"] - expected) < 4 * spread
    assert abs(2 * errors["M2 Laplace"] - expected) > 4 * spread
    assert errors[PP_LOCAL] < errors["M3 published"] < errors["M2 Laplace"]
