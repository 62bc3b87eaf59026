"""Tables whose margins add up: the best noise, least squares by matrices, exact rounding, no negative cells."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.coverage import Sample
from sordino.data.memory import Memory
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.hints import Hints
from sordino.lattice import Lattice
from sordino.mechanisms.table import pure_split
from sordino.mechanisms.table.interactions import Design, part_of, subsets, whole_table
from sordino.mechanisms.table.margins import Margins
from sordino.mechanisms.table.nonnegative import nonnegative
from sordino.privacy import Approx, Concentrated, Neighbors, Pure
from sordino.statistics.crosstab import Crosstab

SIZES = (3, 2, 4)
WORKLOADS = {
    "all": subsets(range(3)),
    "two ways": [(0, 1), (1, 2)],
    "chain": [(), (0,), (0, 1), (0, 1, 2)],
    "cells": [(0, 1, 2)],
}


def design(name, sizes=SIZES):
    """A design with equal weights."""
    return Design(sizes, tuple((margin, 1.0) for margin in WORKLOADS[name]))


def matrix(margin, sizes=SIZES):
    """The matrix of a margin: rows are its cells, columns those of the table."""
    factors = [np.eye(size) if axis in margin else np.ones((1, size)) for axis, size in enumerate(sizes)]
    found = np.ones((1, 1))
    for factor in factors:
        found = np.kron(found, factor)
    return found


def projection(part, sizes=SIZES):
    """The centring matrix of a part."""
    found = np.ones((1, 1))
    for axis in part:
        found = np.kron(found, np.eye(sizes[axis]) - 1 / sizes[axis])
    return found


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_person_costs_the_price_and_variances_are_as_said(name):
    """Losses by matrices: equal for all cells; variances against generalised least squares."""
    asked = design(name)
    variances = {part: float(v) for part, v in asked.added(Fraction(1, 2)).items()}
    loss = np.zeros(math.prod(SIZES))
    for part, variance in variances.items():
        moved = projection(part) @ matrix(part)
        loss += (moved**2).sum(axis=0) / variance / 2
    assert np.allclose(loss, 0.5, rtol=1e-9)
    assert (loss <= 0.5 * (1 + 1e-12)).all()
    # What least squares over the noisy parts would say of every margin.
    rows = np.vstack([projection(part) @ matrix(part) / math.sqrt(v) for part, v in variances.items()])
    inverse = np.linalg.pinv(rows.T @ rows)
    for margin in WORKLOADS[name]:
        own = matrix(margin)
        by_matrices = np.diag(own @ inverse @ own.T)
        assert np.allclose(by_matrices, asked.variance(margin, variances), rtol=1e-9)


@pytest.mark.parametrize("closed", [True, False])
def test_the_worst_replacement_costs_the_price(closed):
    """All pairs of cells, and a row that leaves the table unless it is closed."""
    asked = design("all")
    variances = {part: float(v) for part, v in asked.replaced(Fraction(1, 2), closed=closed).items()}
    assert (() in variances) is not closed
    moved = {part: projection(part) @ matrix(part) for part in variances}
    cells = range(math.prod(SIZES))
    losses = [
        sum(((m[:, a] - m[:, b]) ** 2).sum() / variances[part] for part, m in moved.items()) / 2
        for a, b in itertools.combinations(cells, 2)
    ]
    if not closed:
        losses += [
            sum((m[:, a] ** 2).sum() / variances[part] for part, m in moved.items()) / 2 for a in cells
        ]
    assert max(losses) == pytest.approx(0.5, rel=1e-9)


def test_no_other_split_is_better():
    """Variances moved a little at the same price have a larger weighted error."""
    asked, random = design("all"), np.random.default_rng(1)
    best = {part: float(v) for part, v in asked.added(Fraction(1, 2)).items()}
    error = sum(asked.variance(margin, best) for margin, _ in asked.margins)
    for _ in range(100):
        other = {part: v * math.exp(0.3 * random.standard_normal()) for part, v in best.items()}
        factor = sum(float(asked.norm(part)) / v for part, v in other.items())
        scaled = {part: v * factor for part, v in other.items()}
        assert sum(asked.variance(margin, scaled) for margin, _ in asked.margins) >= error * (1 - 1e-9)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("sizes", "gaussian", "pure"),
    [
        ((10, 10), 1.81, 5.11), ((20, 2, 18), 2.17, 6.6), ((39, 2, 18), 2.20, 6.6), ((100, 100), 1.98, 5.59),
        ((100, 10, 100), 2.67, 10.7), ((50, 2, 100, 10), 3.04, 12.99),
    ],
)  # fmt: skip
def test_errors_are_those_of_the_table(sizes, gaussian, pure):
    """Root mean squares over all margins at rho 1/2 and epsilon 1, as designed (the last: 13.5)."""
    asked = Design(sizes, tuple((margin, 1.0) for margin in subsets(range(len(sizes)))))
    found = {part: float(v) for part, v in asked.added(Fraction(1, 2)).items()}

    def root(variances):
        return math.sqrt(np.mean([asked.variance(margin, variances) for margin, _ in asked.margins]))

    assert root(found) == pytest.approx(gaussian, rel=0.005)
    shares = pure_split.split(asked, Fraction(1), replaced=False, closed=False)
    drawn = {margin: pure_split.geometric_variance(float(share)) for margin, share in shares.items()}
    assert root(pure_split.part_variances(asked, drawn)) == pytest.approx(pure, rel=0.01)


def test_combining_margins_is_least_squares():
    """Estimates and variances against matrices, some margins drawn and some not."""
    asked, random = design("all"), np.random.default_rng(2)
    variances = {(): 4.0, (1,): 2.0, (0, 2): 3.0, (0, 1, 2): 5.0}
    truth = random.integers(0, 20, SIZES).astype(float)
    noisy = {}
    for margin, variance in variances.items():
        others = tuple(axis for axis in range(3) if axis not in margin)
        table = truth.sum(axis=others) if others else truth
        noisy[margin] = np.asarray(table + math.sqrt(variance) * random.standard_normal(table.shape))
    parts = pure_split.combined(asked, noisy, variances)
    rows = np.vstack([matrix(m) / math.sqrt(v) for m, v in variances.items()])
    seen = np.concatenate([noisy[m].reshape(-1) / math.sqrt(v) for m, v in variances.items()])
    solved = np.linalg.lstsq(rows, seen, rcond=None)[0].reshape(SIZES)
    assert np.allclose(whole_table(parts, SIZES), solved, atol=1e-9)
    inverse = np.linalg.inv(rows.T @ rows)
    after = pure_split.part_variances(asked, variances)
    for margin, _ in asked.margins:
        own = matrix(margin)
        assert np.allclose(np.diag(own @ inverse @ own.T), asked.variance(margin, after), rtol=1e-9)


def rounded_divergence(factor, sigma, order=2.0):
    """Divergence of two neighbouring tables of one axis with two levels, of what is left without the mean, in balls."""
    from flint import arb, ctx

    def law(counts):
        # y_j = round(factor c_j + factor sigma N); what is published is the difference of the two.
        reach = math.ceil(factor * (12 * sigma + 2)) + 2
        masses = []
        for count in counts:
            scale = arb(factor) * arb(str(sigma)) * arb(2).sqrt()
            edges = [((arb(k) - arb("0.5") - factor * count) / scale) for k in range(-reach, reach + 2)]
            masses.append([(a.erfc() - b.erfc()) / 2 for a, b in itertools.pairwise(edges)])
        found = {}
        for i, one in enumerate(masses[0]):
            for j, two in enumerate(masses[1]):
                found[i - j] = found.get(i - j, arb(0)) + one * two
        return found

    with ctx.workprec(500):
        here, there = law((1, 0)), law((0, 0))
        total = arb(0)
        for gap, mass in here.items():
            if gap in there and bool(there[gap] > 0) and bool(mass > 0):
                total += mass**order * there[gap] ** (1 - order)
        return float(total.log().mid()) / (order - 1)


@pytest.mark.parametrize("sigma", [0.15, 0.2])
def test_margins_are_scaled_before_they_are_rounded(sigma):
    """With the factor the exact law keeps its price; without it rounding adds to it."""
    price = 0.5 / (2 * sigma**2) * 2.0  # p / (2 sigma^2) at order 2
    assert rounded_divergence(2, sigma) <= price * (1 + 1e-9)
    assert rounded_divergence(1, sigma) > 1.15 * price


def crosstab(**options):
    """A table of two axes."""
    levels = {"x": ["a", "b", "c"], "y": [1, 2]}
    return Crosstab(("x", "y"), levels=levels, **options)


def asked(statistic, price, **hints):
    """The default mechanism."""
    return next(iter(Margins.offers(statistic, price, Hints(**hints))))


DATA = {"x": ["a"] * 40 + ["b"] * 7 + ["?"] * 5 + ["c"], "y": [1, 2] * 26 + [1]}


@pytest.mark.few(8)
@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 10)), Approx(1, Fraction(1, 10**6))])
@pytest.mark.parametrize("relation", list(Neighbors)[:2])
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("negative", ["kept", "projected"])
def test_margins_add_up_exactly(price, relation, other, negative):
    """As doubles, without rounding; a public total is the number of rows."""
    statistic = crosstab(neighbors=relation, other=other, negative=negative)
    made = asked(statistic, price)
    assert made.refusal(statistic) is None
    source = Memory(DATA)
    answer = made.answer(statistic, lambda request: source.summary(request)[0], Lattice(), bits=SeededBits(5))
    total, values = answer.value[0], list(answer.value)
    rows, columns = 3 + other, 2 + other
    table = np.array(values[1 + rows + columns :]).reshape(rows, columns)
    assert (table.sum(axis=1) == values[1 : 1 + rows]).all()
    assert (table.sum(axis=0) == values[1 + rows : 1 + rows + columns]).all()
    assert table.sum() == total
    if negative == "projected":
        assert min(values) >= 0
    if other and relation is Neighbors.REPLACE_ONE:
        assert total == len(DATA["x"])


def test_noise_for_another_table_is_refused():
    """The split is checked against the statistic in rational arithmetic before anything is spent."""
    small = crosstab(neighbors=Neighbors.ADD_REMOVE_ONE)
    made = asked(small, Concentrated(1))
    assert made.refusal(small) is None
    assert made.refusal(crosstab(neighbors=Neighbors.REPLACE_ONE)) is not None
    cheap = Margins(
        price=made.price, gaussian=True, amounts=tuple((a, v * Fraction(999, 1000)) for a, v in made.amounts)
    )
    assert cheap.refusal(small) is not None
    less = Margins(price=made.price, gaussian=True, amounts=made.amounts[1:])
    assert less.refusal(small) is not None


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 5))])
def test_bars_cover_and_half_as_wide_ones_do_not(price):
    """Coverage over 120 draws of a table; all cells by themselves."""
    statistic = crosstab(neighbors=Neighbors.ADD_REMOVE_ONE)
    made = asked(statistic, price, interval=Sample(0.9))
    source, bits = Memory(DATA), SeededBits(6)
    truth = np.array(statistic.open(source.summary(statistic.request())[0]).value)
    inside, near = [], []
    for _ in range(120):
        answer = made.answer(statistic, lambda request: source.summary(request)[0], Lattice(), bits=bits)
        low, high = np.array(answer.public["low"]), np.array(answer.public["high"])
        inside.append((low <= truth) & (truth <= high))
        near.append(np.abs(np.array(answer.value) - truth) <= (np.array(answer.value) - low) / 2)
    assert np.mean(inside) >= 0.885
    assert np.mean(near) < 0.8


def test_no_negative_cells_are_optimal():
    """The conditions of Karush, Kuhn and Tucker; an unbiased table without negative cells stays as it is."""
    random = np.random.default_rng(3)
    sizes = (4, 3, 2)
    table = random.normal(1.0, 2.0, sizes)
    parts = {part: part_of(table, part) for part in subsets(range(3))}
    variances = {part: 0.5 + random.random() for part in parts}
    found = nonnegative(parts, variances, sizes)
    gradient = np.zeros(sizes)
    for part, variance in variances.items():
        gap = (part_of(found, part) - parts[part]) / variance
        shape = [size if axis in part else 1 for axis, size in enumerate(sizes)]
        gradient = gradient + np.broadcast_to(gap.reshape(shape), sizes)
    assert found.min() >= 0
    assert gradient.min() > -1e-6
    assert np.abs(gradient[found > 1e-6]).max() < 1e-6
    fine = {part: part_of(np.abs(table), part) for part in parts}
    assert np.allclose(nonnegative(fine, variances, sizes), np.abs(table))


@pytest.mark.parametrize(
    "wrong",
    [
        {"levels": {"x": ["a", "a"], "y": [1]}},
        {"levels": {"x": ["a", 1], "y": [1]}},
        {"levels": {"x": ["a"]}},
        {"levels": {"x": "abc", "y": [1]}},
        {"levels": {"x": list(range(5000)), "y": list(range(5000))}},
        {"levels": {"x": ["a"], "y": [1]}, "margins": [("z",)]},
        {"levels": {"x": ["a"], "y": [1]}, "margins": [("x",), ("x",)]},
        {"levels": {"x": ["a"], "y": [1]}, "weights": (1.0,)},
        {"levels": {"x": ["a"], "y": [1]}, "negative": "dropped"},
    ],
)
def test_bad_levels_are_refused(wrong):
    """Before anything is asked."""
    with pytest.raises(ParameterError):
        Crosstab(("x", "y"), **wrong)
