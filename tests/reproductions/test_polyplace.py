"""Hladík and Tětek 2022: the numbers of Figure 1 as stored, to the printed digits; the densities of Figure 2."""

import math

import numpy as np
import pytest

from reproductions import experiments

INF = math.inf
# smoothing: PolyPlace paper, tight; t Bun-Steinke, geo paper, joint, exact; Cauchy NRS, geo; Laplace NRS, Thm 34, exact
TABLE = {
    0.001: (1.4165, 1.4162, 1.7425, 1.7407, 1.7355, 1.7266, 4.7355, 2.2699, 1.4317, 1.4292, 1.4183),
    0.05: (1.5391, 1.5199, 2.3536, 2.2079, 1.9245, 1.8672, 6.5263, 2.6810, 3.6290, 3.0763, 2.1753),
    0.10: (1.6875, 1.6457, 3.3050, 2.8144, 2.1651, 2.0471, 9.9995, 3.2410, INF, INF, 6.8175),
    0.20: (2.0916, 1.9887, 8.2455, 4.8067, 2.8868, 2.5904, 52.202, 5.1394, INF, INF, INF),
    0.30: (2.7705, 2.5679, 69.941, 9.5849, 4.3301, 3.6842, INF, 9.7591, INF, INF, INF),
    0.45: (6.3593, 5.6707, INF, 84.679, 17.321, 13.583, INF, 82.350, INF, INF, INF),
}
NAMES = (
    "PolyPlace, paper", "PolyPlace", "Student t, Bun-Steinke", "Student t, geo paper", "Student t, joint", "Student t",
    "Cauchy, NRS", "Cauchy, geo paper", "Laplace, NRS", "Laplace, Theorem 34", "Laplace",
)  # fmt: skip


def test_figure_one_has_the_stored_numbers():
    result = experiments()["hladik-2022-figure-1"].run("smoke")
    for smoothing, stored in TABLE.items():
        for name, value in zip(NAMES, stored, strict=True):
            # five printed digits
            assert result.one(name, smoothing=smoothing) == pytest.approx(value, rel=6e-5), (smoothing, name)


def test_polyplace_is_the_least_pure_line():
    result = experiments()["hladik-2022-figure-1"].run("smoke")
    for row in result.select():
        assert row["PolyPlace"] < min(row[name] for name in NAMES[:8] if name != "PolyPlace")
    assert "2.047" in result.finding


def test_figure_two_densities_are_laws_that_approach_laplace():
    result = experiments()["hladik-2022-figure-2"].run("smoke")
    laws = result.values("law")
    for name in laws:
        x, y = (np.array(result.column(column, law=name)) for column in ("noise", "density"))
        assert (y == y[::-1]).all()
        assert 0.8 < np.trapezoid(y, x) <= 1.01  # up to a tenth of the mass lies outside
    apart = [result.select(law=name)[0]["distance"] for name in laws]
    assert apart == sorted(apart, reverse=True)
    # The closed density at 0 of scale s = alpha: (alpha - 1)/(2 (alpha - 1 + 2 q)), q = (1 - 1/alpha)^alpha.
    q = (1 - 1 / 5) ** 5
    assert result.one("density", law=laws[2], noise=0.0) == pytest.approx(4 / (2 * (4 + 2 * q)), rel=1e-12)
