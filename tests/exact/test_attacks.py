"""Published attacks on floating-point releases: each succeeds against the naive construction, not against ours.

"Proves" means: the output is impossible under the other hypothesis. With epsilon = 1 no test of a private
release can be right more often than e/(1+e) = 0.731.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.exact import LogGrid, SeededBits, draw_many
from sordino.lattice import Lattice, RowLattice
from tests.support.exact_harness import FAMILIES, RECIPES

LIMIT = math.e / (1 + math.e)
N = 20_000


def sampling_error(n):
    return 4 * math.sqrt(0.25 / max(n, 1))


# --- A. Porous support (Mironov 2012) -------------------------------------------------------------------


def naive_laplace(q, rng, size):
    """Textbook inversion of a 53-bit uniform in float arithmetic."""
    u = rng.integers(1, 2**53, size=size) * 2.0**-53
    sign = rng.choice([-1.0, 1.0], size=size)
    return q + sign * -np.log(u)


def reachable(y, q):
    """Is there a 53-bit uniform that the naive sampler maps to y? Tried around the ideal inverse."""
    z = y - q
    centre = np.rint(np.exp(-np.abs(z)) * 2.0**53)
    sign = np.where(z < 0, -1.0, 1.0)
    found = np.zeros(len(y), dtype=bool)
    for shift in range(-12, 13):
        u = (centre + shift) * 2.0**-53
        good = (u > 0) & (u < 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            found |= good & (q + sign * -np.log(np.where(good, u, 0.5)) == y)
    return found


def porous_verdicts(y, truth):
    """How many outputs are reachable under exactly one of q = 0, 1, and how often that one is the truth."""
    zero, one = reachable(y, 0.0), reachable(y, 1.0)
    verdict = zero != one
    return verdict.mean(), np.mean(one[verdict] == truth) if verdict.any() else float("nan"), verdict.sum()


def test_porous_support_gives_away_the_naive_laplace():
    rng = np.random.default_rng(1)
    for q in (0, 1):
        share, right, _ = porous_verdicts(naive_laplace(float(q), rng, N), q == 1)
        assert share > 0.5
        assert right == 1.0


@pytest.mark.parametrize("exponent", [-20, -40])
def test_porous_support_says_nothing_about_ours(exponent):
    right, total = 0.0, 0
    for q in (0, 1):
        k = draw_many(
            RECIPES["laplace"],
            locations=q,
            scales=1,
            grid=Lattice.dyadic(exponent),
            size=N,
            bits=SeededBits(50 + q),
        )
        _, share, count = porous_verdicts(Lattice.dyadic(exponent).numbers(k), q == 1)
        if count:
            right += share * count
            total += count
    if total:
        assert right / total < LIMIT + sampling_error(total)


# --- B. Precision (Haney et al. 2022) -------------------------------------------------------------------


def too_fine_for_one(y):
    """A sum 1 + noise is a multiple of 2^-54 at least; a finer output proves q = 0."""
    return np.ldexp(y, 54) != np.rint(np.ldexp(y, 54))


@pytest.mark.parametrize("law", ["laplace", "normal", "student"])
def test_fine_digits_give_away_naive_sums(law):
    rng = np.random.default_rng(2)
    noise = {
        "laplace": lambda: rng.laplace(size=N),
        "normal": lambda: rng.normal(size=N),
        "student": lambda: rng.standard_t(3, size=N),
    }[law]
    assert too_fine_for_one(0.0 + noise()).mean() > 0.03
    assert not too_fine_for_one(1.0 + noise()).any()


@pytest.mark.parametrize("name", FAMILIES)
def test_fine_digits_say_nothing_about_ours(name):
    grid = Lattice.dyadic(-40)
    for q in (0, 1):
        k = draw_many(RECIPES[name], locations=q, scales=1, grid=grid, size=2000, bits=SeededBits(60))
        # Every output is a lattice point under both hypotheses, and the lattice has no holes.
        assert not too_fine_for_one(grid.numbers(k[np.abs(k) < 2**52])).any()


# --- C. A lattice tied to a private scale ---------------------------------------------------------------


def tied_lattice(scale):
    """The recipe "granularity = scale/2^20, rounded up to a power of two", sound for public scales only."""
    return Lattice.dyadic(math.ceil(math.log2(scale)) - 20)


def test_a_lattice_tied_to_the_scale_proves_the_neighbour():
    small, large = (
        0.95,
        0.95 * math.exp(0.1),
    )  # neighbours under smoothing 0.1, on both sides of a power of two
    fine, coarse = tied_lattice(small), tied_lattice(large)
    assert fine != coarse
    k = draw_many(RECIPES["laplace"], locations=0, scales=small, grid=fine, size=N, bits=SeededBits(70))
    proved = np.mean(k % 2 != 0)  # odd multiples of the fine step cannot come from the coarse lattice
    assert proved > 0.2


def test_a_public_lattice_hides_which_scale_was_used():
    small, large = 0.95, 0.95 * math.exp(0.1)
    grid = Lattice.for_range(0, 1000)
    parity = [
        np.mean(
            draw_many(RECIPES["laplace"], locations=0, scales=s, grid=grid, size=N, bits=SeededBits(71)) % 2
        )
        for s in (small, large)
    ]
    assert abs(parity[0] - 0.5) < sampling_error(N)
    assert abs(parity[1] - 0.5) < sampling_error(N)


# --- D. Float sums (Casacuberta et al. 2022) against smooth sensitivity ---------------------------------

ROWS, TRIM = 4896, 400


def trimmed_sensitivities(x, top, bottom, steps):
    """LS at distance j < steps of the trimmed sum (Bun and Steinke 2019, Prop. 40), for sorted numbers of any kind."""
    n = len(x)
    at = lambda i: bottom if i < 1 else top if i > n else x[i - 1]  # noqa: E731
    return [max(at(n - TRIM + 1 + j - t) - at(TRIM + 1 - t) for t in range(j + 2)) for j in steps]


def offset_data(rng):
    """Rows that agree to 2^-49: the statistic hardly moves, so its noise is tiny; its float sum is not exact.

    Once the running sum passes 2^11 its last bit is worth 2^-41, and 3/4 + 2^-42 lies half-way.
    """
    return 0.75 + 2.0**-42 + rng.choice([-8, -3, -1, 1, 2, 7], size=ROWS) * 2.0**-53


def loop_mean(x):
    """The trimmed mean as a loop over the rows in their order, in floats."""
    keep = np.zeros(ROWS, dtype=bool)
    keep[np.argsort(x, kind="stable")[TRIM:-TRIM]] = True
    total = 0.0
    for v in x[keep].tolist():
        total += v
    return total / (ROWS - 2 * TRIM)


def worst_pair(rng):
    """The neighbour, of many, whose float mean moves most."""
    x = offset_data(rng)
    best = (0.0, x)
    for _ in range(60):
        y = x.copy()
        y[rng.integers(ROWS)] = rng.integers(0, 2)  # one row moves to an end of the range
        best = max(best, (abs(loop_mean(x) - loop_mean(y)), y), key=lambda pair: pair[0])
    return x, best[1]


def guess_rate(one, two):
    """The best single threshold between the two samples, chosen in sample."""
    values = np.unique(np.concatenate([one, two]))
    below = np.searchsorted(np.sort(one), values, side="right") / len(one)
    above = 1 - np.searchsorted(np.sort(two), values, side="right") / len(two)
    return max(np.max(below + above), 2 - np.min(below + above)) / 2


def test_a_float_sum_betrays_the_trimmed_mean_under_smooth_sensitivity():
    rng = np.random.default_rng(3)
    x, y = worst_pair(rng)
    size = ROWS - 2 * TRIM
    sensitivities = trimmed_sensitivities(np.sort(x).tolist(), 1.0, 0.0, range(401))
    smooth = max(math.exp(-0.1 * j) * v / size for j, v in enumerate(sensitivities))
    assert abs(loop_mean(x) - loop_mean(y)) > 20 * smooth
    # Exact noise cannot repair a wrong location.
    scale, grid = 10 * smooth, Lattice.dyadic(-61)  # PolyPlace(SS/gamma, 1/gamma), gamma = 0.1
    outputs = [
        draw_many(
            RECIPES["polyplace 10"],
            locations=loop_mean(d),
            scales=scale,
            grid=grid,
            size=2000,
            bits=SeededBits(i),
        )
        for i, d in enumerate((x, y))
    ]
    assert guess_rate(*outputs) > 0.99


def test_an_exact_sum_of_codes_does_not():
    rng = np.random.default_rng(3)
    x, y = worst_pair(rng)
    rows = RowLattice(0.0, 1.0, bits=50)
    size = ROWS - 2 * TRIM
    log_grid = LogGrid(gamma=Fraction(1, 10))
    outputs = []
    for i, d in enumerate((x, y)):
        codes = np.sort(rows.codes(d)).tolist()
        steps = list(range(401))
        bound = log_grid.bound(
            trimmed_sensitivities(codes, rows.last, 0, steps), steps, unit=Fraction(1, size * 2**50)
        )
        location = Fraction(sum(codes[TRIM:-TRIM]), size * 2**50)
        outputs.append(
            draw_many(
                RECIPES["polyplace 10"],
                locations=location,
                scales=bound.times(Fraction(10)),
                grid=Lattice.dyadic(-61),
                size=4000,
                bits=SeededBits(i),
            )
        )
    assert guess_rate(*outputs) < LIMIT + sampling_error(8000)


def test_the_order_of_rows_moves_a_float_sum_and_not_ours():
    rng = np.random.default_rng(4)
    x = rng.random(5000) * 2.0 ** rng.integers(0, 40, 5000)
    shuffled = rng.permutation(x)
    assert sum(x.tolist()) != sum(shuffled.tolist())
    rows = RowLattice(0.0, 2.0**40, bits=50)
    assert sum(rows.codes(x).tolist()) == sum(rows.codes(shuffled).tolist())


def test_a_float32_sum_exceeds_its_global_sensitivity_and_ours_does_not():
    # Removing one row of value at most 1 must move the sum by at most 1.
    n = 2**14
    x = np.full(n, np.float32(1.0) - np.float32(2.0**-24))
    x[0] = 1.0

    def float_sum(values):
        total = np.float32(0.0)
        for v in values:
            total += v
        return float(total)

    moved = max(
        abs(float_sum(x) - float_sum(x[i + 1 :][::1] if i < 0 else np.delete(x, i))) for i in (0, n - 1)
    )
    assert moved > 1.0
    codes = RowLattice(0.0, 1.0).codes(x)
    top = RowLattice(0.0, 1.0).last
    assert max(abs(int(codes.sum()) - int(np.delete(codes, i).sum())) for i in (0, n - 1)) <= top


# --- E. A smooth bound computed in floats is not smooth --------------------------------------------------


def median_sensitivities(x, top):
    n, r = len(x), len(x) // 2
    at = lambda i: 0 if i < 0 else top if i >= n else int(x[i])  # noqa: E731
    return [max(at(r + t) - at(r + t - j - 1) for t in range(j + 2)) for j in range(n + 1)]


def neighbour_pairs(count):
    rng = np.random.default_rng(5)
    for _ in range(count):
        x = np.sort(rng.integers(0, 1001, size=21))
        y = x.copy()
        y[rng.integers(21)] = rng.integers(0, 1001)
        yield median_sensitivities(x, 1000), median_sensitivities(np.sort(y), 1000)


def test_a_float_smooth_bound_breaks_its_promise():
    gamma = 0.1
    smooth = lambda v: max(math.exp(-gamma * j) * s for j, s in enumerate(v))  # noqa: E731
    broken = 0
    for a, b in neighbour_pairs(1500):
        one, two = Fraction(smooth(a)), Fraction(smooth(b))
        # exp(1/10) from below to 60 digits would do; the float above it is already larger.
        factor = Fraction("1.105170918075647624811707826490246668224547194737518718792864")
        broken += one > factor * two or two > factor * one
    assert broken > 15


def test_the_log_grid_keeps_it_and_attains_it():
    grid = LogGrid(gamma=Fraction(1, 10), m=64)
    gaps = [abs(grid.bound(a).exponent - grid.bound(b).exponent) for a, b in neighbour_pairs(1500)]
    assert max(gaps) == grid.m
