"""The staircase ladder: closed form against the supremum over chains, privacy over pairs, exact draws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from sordino.exact import SeededBits, draw_many
from sordino.lattice import Lattice
from sordino.noise.staircase_polyplace.ladder import build
from sordino.noise.staircase_polyplace.sampler import StaircasePolyPlaceRecipe

#: epsilon, smoothing, plateau, middle, core
CASES = [
    ("2", "0.2", "0.05", "0.302", "0.415"),
    ("2", "0.01", "0.33", "0.33", "0.33"),
    ("2", "0.9", "0.01", "0.16", "0.675"),
    ("4", "0.4", "0.139", "0.139", "0.232"),
    ("10", "1", "0.01", "0.01", "0.01"),
]


def ladder_of(case):
    return build(*(float(number) for number in case))


def reach(j, g):
    return math.expm1(j * g) / math.expm1(g)


def chain(k, x, y, g):
    """C_k(x, y): the largest product of ratios of scales along k admissible steps from x to y."""
    if y > (x * math.exp(k * g) + reach(k, g)) * (1 + 1e-12):
        return 0.0
    steps = [(x + reach(p, g)) / (y - reach(k - p, g)) for p in range(k + 1) if y > reach(k - p, g)]
    return min([math.exp(k * g), *steps])


def core_density(x, a, b, b1):
    if x <= a:
        return 1.0
    if x <= b:
        return (1 + a) / (1 + x)
    return (1 + a) * b / (1 + b) / x if x <= b1 else 0.0


@pytest.mark.parametrize("case", CASES, ids=str)
def test_closed_form_is_the_supremum_over_chains(case):
    e, g, a, b, b1 = (float(number) for number in case)
    ladder = ladder_of(case)
    rng = np.random.default_rng(3)
    for y in [*rng.uniform(0, 6, 25), *rng.uniform(0, 2 * b1, 15)]:
        best = core_density(y, a, b, b1)
        for k in range(1, 9 if g > 0.05 else 12):
            exact = [(y - reach(k, g)) * math.exp(-j * g) for j in (k - 1, k)]
            points = np.clip([*np.linspace(0, b1, 60), a, b, b1, *exact], 0, b1)
            best = max(
                best, *(math.exp(-k * e) * core_density(x, a, b, b1) * chain(k, x, y, g) for x in points)
            )
        assert math.exp(ladder.log_density(np.array([y]))[0]) == pytest.approx(best, rel=1e-9)


def worst_loss(ladder, smoothing, shift=1.0):
    """Largest |log p/q| at sampled admissible pairs, on both sides of every jump of both densities."""
    skipped = np.arange(1.0, 12.0)[:, None]
    breaks = np.concatenate([ladder.high, ladder.unfold(skipped, ladder.high[ladder.first :]).ravel()])
    sizes = np.concatenate([breaks * (1 - 1e-9), breaks * (1 + 1e-9), np.geomspace(1e-4, 1e3, 300)])
    own = np.concatenate([[0.0], sizes, -sizes])
    worst = 0.0
    for t in np.linspace(-smoothing, smoothing, 9):
        for s in shift * min(1.0, math.exp(t)) * np.array([0.0, 0.35, 0.8, 1.0]):
            x = np.concatenate([own, own * math.exp(t) + s])
            other = np.abs((x - s) * math.exp(-t))
            loss = ladder.log_density(np.abs(x)) + t - ladder.log_density(other)
            worst = max(worst, float(np.max(np.abs(loss))))
    return worst


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_loss_is_epsilon_and_planted_errors_exceed_it(case):
    epsilon, smoothing, *core = (float(number) for number in case)
    ladder = ladder_of(case)
    assert worst_loss(ladder, smoothing) == pytest.approx(epsilon, rel=1e-6)
    assert worst_loss(ladder, smoothing, shift=1.01) > epsilon * 1.001
    assert worst_loss(ladder, smoothing * 1.05) > epsilon * (1 + 1e-6)
    assert worst_loss(build(epsilon + 0.01, smoothing, *core), smoothing) > epsilon * (1 + 1e-4)


def test_levels_would_overlap_below_the_least_middle():
    ladder = build(2.0, 0.2, 0.01, 0.1, 0.8)  # 1/(e^2 - 1) is 0.157
    end = ladder.high[ladder.high <= 0.8 + 1e-12][-1]
    jump = ladder.log_density(np.array([end * (1 + 1e-9)])) - ladder.log_density(np.array([end * (1 - 1e-9)]))
    assert jump[0] > 0.1


@pytest.mark.few(2)
@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_exact_recipe_draws_this_law_and_not_one_30_percent_off(case):
    ladder = ladder_of(case)

    def cdf(x):
        half = 0.5 * ladder.mass_beyond(np.abs(x)) / ladder.mass
        return np.where(x > 0, 1 - half, half)

    grid = Lattice.dyadic(-16)
    drawn = draw_many(
        StaircasePolyPlaceRecipe(*(Fraction(number) for number in case)),
        locations=np.zeros(20_000, dtype=np.int64), scales=Fraction(1), grid=grid, bits=SeededBits(7),
    )  # fmt: skip
    values = np.asarray(drawn, dtype=np.float64) * float(grid.step)
    assert stats.kstest(values, cdf).pvalue > 1e-6
    assert stats.kstest(values * 1.3, cdf).pvalue < 1e-10
