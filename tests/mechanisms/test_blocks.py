"""Any function by blocks: the promise on tiny worlds by brute force, the dealing, the number of blocks, the errors."""

import hashlib
import itertools
import math

import numpy as np
import pytest

from sordino.errors import ParameterError
from sordino.exact.bits import Bits, SeededBits
from sordino.lattice import Lattice
from sordino.mechanisms.blocks.blocks import FunctionBlocks
from sordino.mechanisms.blocks.centre import Centre, _asking, located, shares
from sordino.mechanisms.blocks.dealing import _in_order, deal
from sordino.mechanisms.blocks.pivot import half_width
from sordino.mechanisms.blocks.plan import BlockPlan
from sordino.privacy import Concentrated, Neighbors, Pure
from sordino.reading.requests import Summary
from sordino.running.block import Plain, Rows
from sordino.running.evaluate import Task, value
from sordino.statistics.function import Function

BLOCKS = 3
PRICE = Pure(1)


class Words:
    """Words that put people into given blocks: the only thing that a dealing takes from its bits."""

    private = False

    def __init__(self, blocks, shift=0):
        self._words = [((2 * block + 1) << 64) // (2 * BLOCKS) + place for place, block in enumerate(blocks)]

    def words(self, count):
        assert count == len(self._words)
        return np.array(self._words, np.uint64).view(np.int64)


def nasty(salt):
    """A function that is different on every block, and fails on some."""

    def f(block):
        rows = sorted(block["x"].tolist())
        digest = hashlib.sha256(repr((salt, rows)).encode()).digest()
        if digest[0] < 30:
            raise ValueError(rows)
        return digest[1] % 5 - 2.0

    return f


def values_of(f, people, blocks, *, count=None):
    """Block values for one dealing, by the library's own dealing, blocks and rule of failures."""
    units = np.array([place for place, rows in enumerate(people) for _ in rows], np.int64)
    table = Rows({"x": Plain(np.array([x for rows in people for x in rows], float))}, units)
    if len(people) == 0:
        return (-2.0, 2.0, -2.0)
    dealt = deal(len(table), units, BLOCKS, Words(blocks), fixed=False)
    found = []
    for place in range(BLOCKS):
        one = value(f, table.block(dealt.rows(place)), Task("numpy"), 1)
        failure = -2.0 if place % 2 == 0 else 2.0
        found.append(
            failure if one is None else min(max(one[0] + (0 if count is None else count), -2.0), 2.0)
        )
    return tuple(found)


POINTS = np.linspace(-2.6, 2.6, 27)
KNOWN = {}


def density(values):
    """The law of the centre of three block values at some points."""
    key = tuple(sorted(values))
    if key not in KNOWN:
        statistic, mechanism = Centre(PRICE, BLOCKS, -2.0, 2.0).parts
        law = mechanism.law(mechanism.reading(statistic, _asking(np.array(values)), 1))
        KNOWN[key] = np.array([math.exp(law.logpdf(float(point))) for point in POINTS])
    return KNOWN[key]


def released(f, people, *, names=None, salt=None, count=False):
    """The law of a release: averaged over all secret dealings, or for the one that a public salt fixes."""
    total = len(people) % 3 - 1.0 if count else None
    if salt is not None:
        blocks = [hashlib.sha256(f"{salt}/{name}".encode()).digest()[0] % BLOCKS for name in names]
        return density(values_of(f, people, blocks, count=total))
    dealings = list(itertools.product(range(BLOCKS), repeat=len(people)))
    return sum(density(values_of(f, people, blocks, count=total)) for blocks in dealings) / len(dealings)


def loss(first, second):
    return float(np.abs(np.log(first) - np.log(second)).max())


PERSONS = [(0.0,), (1.0,), (2.0, 0.0), (1.0, 1.0, 2.0)]
TABLES = [list(people) for people in itertools.combinations_with_replacement(PERSONS, 3)][::4]


@pytest.mark.parametrize("salt", range(6))
def test_one_person_moves_one_block_whatever_the_relation(salt):
    f, epsilon = nasty(salt), float(PRICE.epsilon)
    for people in TABLES:
        law = released(f, people)
        assert loss(law, released(f, people[:-1])) <= epsilon + 1e-9  # removed
        for other in PERSONS:
            assert loss(law, released(f, [other, *people[1:]])) <= epsilon + 1e-9  # replaced, rows or name


def test_the_law_notices_a_public_salt_and_a_function_that_knows_the_number_of_rows():
    salted = known = 0.0
    for salt in range(40):
        f = nasty(salt)
        for people in TABLES[:3]:
            before = released(f, people, names="abc", salt=salt)
            after = released(f, [(2.0, 2.0), *people[1:]], names="zbc", salt=salt)
            salted = max(salted, loss(before, after))
    for salt in range(6):
        f = nasty(salt)
        for people in TABLES[:3]:
            known = max(known, loss(released(f, people, count=True), released(f, people[:-1], count=True)))
    assert salted > 1
    assert known > 1


def test_rows_of_one_person_are_in_one_block_and_the_rest_is_dealt_alike():
    sizes = [1, 3, 1000, 2, 7]
    units = np.repeat(np.arange(5), sizes)
    dealt = deal(len(units), units, BLOCKS, Words([2, 0, 1, 1, 0]), fixed=False)
    assert [sorted(set(units[dealt.rows(block)])) for block in range(3)] == [[1, 4], [2, 3], [0]]
    fewer = np.repeat([0, 1, 3, 4], [sizes[place] for place in (0, 1, 3, 4)])
    again = deal(len(fewer), fewer, BLOCKS, Words([2, 0, 1, 1, 0]), fixed=False)
    assert [sorted(set(fewer[again.rows(block)])) for block in range(3)] == [[1, 4], [3], [0]]


def test_blocks_of_public_tables_are_of_one_size_and_every_row_is_in_one():
    dealt = deal(1003, None, 20, Bits(), fixed=True)
    assert sorted(dealt.order.tolist()) == list(range(1003))
    assert set(np.diff(dealt.starts)) == {50, 51}
    free = deal(1003, None, 20, Bits(), fixed=False)
    assert sorted(free.order.tolist()) == list(range(1003))
    assert len(set(np.diff(free.starts).tolist())) > 2


@pytest.mark.statistical
def test_words_are_put_in_order_and_drawn_again_where_two_are_alike():
    random = np.random.default_rng(3)
    for count in (0, 1, 2, 1000):
        words = random.integers(0, 2**64, count, dtype=np.uint64)
        words[: count // 2] &= np.uint64(2**9 - 1)  # many differ in their lowest bits only
        words[: count // 2] = random.permutation(len(words[: count // 2]))
        found = _in_order(words)
        assert found is not None
        assert found.tolist() == np.argsort(words).tolist()
    words[7] = words[900]
    assert _in_order(words) is None


def test_every_block_is_as_likely_for_everybody():
    counts = np.zeros(5)
    bits = SeededBits(5)
    for _ in range(400):
        dealt = deal(10, None, 5, bits, fixed=False)
        counts += [3 in dealt.rows(block) for block in range(5)]
    assert ((counts - 80) ** 2 / 80).sum() < 18.5  # 0.999 of chi-square with 4 degrees of freedom


def asked(**options):
    return Function(len, columns=["x"], low=-100, high=100, frame="numpy", **options)


@pytest.mark.parametrize(
    ("price", "point", "interval"),
    [(Pure(3), 34, 67), (Pure(1), 100, 199), (Pure(0.3), 332, 664), (Pure(0.1), 995, 1990),
     (Concentrated(0.5), 100, 100), (Concentrated(0.005), 995, 995)],
)  # fmt: skip
def test_the_number_of_blocks_that_find_an_answer(price, point, interval):
    assert abs(BlockPlan.of(asked(), price, 10**6, interval=False).needed - point) <= 1
    assert abs(BlockPlan.of(asked(), price, 10**6, interval=True).needed - interval) <= 1


def test_too_few_rows_are_refused_with_the_number_that_would_do():
    with pytest.raises(ParameterError, match="1,500 rows make blocks of 15, and 20 are needed") as refused:
        BlockPlan.of(asked(), Pure(1), 1500, interval=False)
    assert "2,000 rows would do" in str(refused.value)
    assert BlockPlan.of(asked(), Pure(1), 2000, interval=False).rows_per_block == 20
    with pytest.raises(ParameterError, match="60 are needed"):
        BlockPlan.of(asked(), Pure(1), 10_000, interval=True)
    assert BlockPlan.of(asked(spread=10), Pure(1), 1500, interval=False).blocks < 75
    with pytest.raises(ParameterError, match="rough public number of rows"):
        BlockPlan.of(asked(), Pure(1), None, interval=False)
    large = BlockPlan.of(
        asked(block_rows=100), Pure(1), 12_000, interval=False
    )  # larger blocks before a refusal
    assert (large.blocks, large.rows_per_block) == (120, 100)
    several = Function(len, columns=["x"], low=0, high=1, frame="numpy", outputs=("a", "b"))
    assert BlockPlan.of(several, Pure(1), 10**6, interval=False).needed == 199  # half the price each
    assert BlockPlan.of(several, Concentrated(0.5), 10**6, interval=False).needed == 141


def test_an_interval_needs_the_clipped_mean():
    with pytest.raises(ParameterError, match="clipped mean"):
        FunctionBlocks(price=Pure(1), blocks=200, level=0.95, aggregate="median")
    first, second, third = shares(Pure(1), 200)
    assert first + second + third == 1


def scaled_error(price, blocks, draws, *, aggregate="trimmed"):
    """k MSE: 1 is the mean of the block values without privacy."""
    random, bits = np.random.default_rng(9), SeededBits(9)
    centre, grid = Centre(price, blocks, -1000.0, 1000.0, aggregate), Lattice.for_range(-1000, 1000)
    errors = [
        float(centre.release(37 + random.standard_normal(blocks), grid, bits)) - 37 for _ in range(draws)
    ]
    return blocks * float(np.mean(np.square(errors)))


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize(("price", "most"), [(Pure(1), 1.9), (Concentrated(0.5), 1.9)])
def test_a_range_of_two_thousand_spreads_costs_little(price, most):
    assert 0.7 < scaled_error(price, 200, 120) < most
    assert scaled_error(price.share(0.09), 200, 20) > most  # a tenth of the price is noticed


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("price", [Pure(1), Concentrated(0.5)])
def test_intervals_cover_normal_values_and_not_with_the_pivot_of_more_blocks(price):
    random, bits, blocks = np.random.default_rng(77), SeededBits(77), 300
    centre, grid = Centre(price, blocks, -1000.0, 1000.0), Lattice.for_range(-1000, 1000)
    covered = narrow = 0
    for values in random.standard_normal((400, blocks)):
        middle, spread = located(values + 37, centre, grid, bits)
        half = half_width(0.95, price=price, blocks=blocks, width=2000, spread=spread)
        covered += abs(float(middle) - 37) <= half * float(spread)
        more = half_width(0.95, price=price, blocks=4 * blocks, width=2000, spread=spread)
        narrow += abs(float(middle) - 37) <= more * float(spread)
    assert covered >= 0.925 * 400
    assert narrow < 0.9 * 400


def test_cases_cover_both_relations_and_run_without_processes():
    cases = list(FunctionBlocks.cases())
    assert {case.world.statistic.neighbors for case in cases} == set(Neighbors) & set(Function.relations)
    assert {case.mechanism.aggregate for case in cases} == {"trimmed", "median", "mean"}
    assert {case.mechanism.failures for case in cases} == {False, True}
    table = Rows({"x": Plain(np.array([0.0, 1, 3, 3]))})
    for case in cases:
        ask = lambda request: Summary(request, 4, table=table)  # noqa: E731
        grid = Lattice.dyadic(-20)
        answer = case.mechanism.answer(case.world.statistic, ask, grid, bits=SeededBits(2))
        assert 0 <= answer.value <= 7
        assert ("failed_blocks" in answer.public) is case.mechanism.failures


def test_failures_are_counted_by_block():
    """One person more or less changes the number by one at most: it is a number of blocks."""
    everybody = [0.0, 1, 3, 4, 7]
    for count in range(6):
        table = Rows({"x": Plain(np.array(everybody[:count]))}, np.arange(count))
        numbers = []
        for blocks in itertools.product(range(BLOCKS), repeat=count):
            dealt = deal(count, np.arange(count), BLOCKS, Words(blocks), fixed=False)
            found = [
                value(nasty(3), table.block(dealt.rows(place)), Task("numpy"), 1) for place in range(BLOCKS)
            ]
            failed = [one is None for one in found]
            numbers.append(sum(failed))
            if count:
                fewer = Rows({"x": Plain(np.array(everybody[: count - 1]))}, np.arange(count - 1))
                left = deal(count - 1, np.arange(count - 1), BLOCKS, Words(blocks[:-1]), fixed=False)
                others = [
                    value(nasty(3), fewer.block(left.rows(place)), Task("numpy"), 1)
                    for place in range(BLOCKS)
                ]
                assert abs(sum(failed) - sum(one is None for one in others)) <= 1
        assert max(numbers) <= BLOCKS
