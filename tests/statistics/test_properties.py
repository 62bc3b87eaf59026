"""Between random neighbours too large to enumerate: intervals interlock, profiles are smooth, windows suffice."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.data.memory import Memory
from sordino.privacy import Neighbors
from sordino.reading.profile import Profile, Reach
from sordino.statistics import Numeric, kinds
from sordino.statistics.maximum_degree import MaximumDegree
from sordino.statistics.median import Median
from sordino.statistics.theil_sen import TheilSen
from sordino.statistics.triangles import Triangles
from sordino.statistics.trimmed_mean import TrimmedMean
from sordino.statistics.variance import Variance
from sordino.statistics.vector import Vector


def descriptions():
    """Every distinct parameter set of the laws, on a range of 0..40."""
    for name, kind in kinds().items():
        if not issubclass(kind, Numeric) or kind.vector:
            continue
        for number, case in enumerate(kind.cases()):
            low = 0 if name != "sum" else -10
            statistic = dataclasses.replace(case.statistic, low=low, high=40)
            yield pytest.param(statistic, id=f"{name}-{statistic.neighbors.value}-{number}")


def read(statistic, rows, depth):
    """Open the reading of a list of rows."""
    return statistic.read(
        *Memory({"x": np.array(rows, float)}).summary(statistic.request(depth=depth))
    ).open()


def interlocked(one, other, depth):
    """The laws between two neighbours."""
    for l in range(depth + 2):
        assert one.profile.at(l) <= other.profile.at(l + 1)
        (low, high), (lower, higher) = one.reach.at(l), other.reach.at(l + 1)
        assert lower <= low
        assert high <= higher
    assert abs(one.value - other.value) <= min(one.profile.at(0), other.profile.at(0))


ROWS = st.lists(st.integers(0, 40), min_size=1, max_size=45)


@pytest.mark.few(43)
@pytest.mark.parametrize("statistic", list(descriptions()))
@given(rows=ROWS, place=st.integers(0, 44), new=st.integers(0, 40), depth=st.sampled_from([0, 1, 3, 12]))
@settings(max_examples=12, deadline=None)
def test_neighbours_interlock_at_every_depth(statistic, rows, place, new, depth):
    """Also where windows are much shorter than the data."""
    place %= len(rows)
    if statistic.neighbors is Neighbors.REPLACE_ONE:
        other = [*rows[:place], new, *rows[place + 1 :]]
    else:
        other = [*rows[:place], *rows[place + 1 :]]
    one, two = read(statistic, rows, depth), read(statistic, other, depth)
    interlocked(one, two, depth)
    interlocked(two, one, depth)
    assert one.value == statistic.define(statistic.grid.codes(np.array(rows, float)).tolist())


@pytest.mark.parametrize("statistic", list(descriptions()))
def test_a_deeper_request_agrees_with_a_shallow_one(statistic):
    """Depth decides how far a statistic looks, not what it sees."""
    rows = np.random.default_rng(2).integers(0, 41, 60)
    deep, shallow = read(statistic, rows, 20), read(statistic, rows, 6)
    for l in range(7):
        assert deep.reach.at(l) == shallow.reach.at(l)
        assert deep.profile.at(min(l, 5)) == shallow.profile.at(min(l, 5))


@pytest.mark.parametrize("trim", [0, 0.1, 0.499])
def test_deep_and_shallow_profiles_agree(trim):
    """Small depths try all splits in one array, large ones distance by distance."""
    rows = np.random.default_rng(6).integers(0, 10**6, 1500)
    statistic = TrimmedMean("x", trim=trim, low=0, high=10**6, step=1)
    deep, shallow = read(statistic, rows, 400).profile, read(statistic, rows, 200).profile
    assert [deep.at(k) for k in range(201)] == [shallow.at(k) for k in range(201)]


def test_theil_sen_interlocks_where_smaller_steps_of_ranks_would_not():
    """Ranks M + C(n,2) - C(n-l,2) look sufficient and fail for a leverage point that moves; n - 1 per step holds."""
    rng = np.random.default_rng(11)
    statistic = TheilSen("t", "y", x_low=0, x_high=100, y_low=-200, y_high=200, low=-50, high=50)
    found = 0
    for _ in range(60):
        n = 12
        x = np.append(rng.uniform(0, 1, n - 1), 100.0)
        y = np.append(rng.normal(0, 1, n - 1), -100.0)
        moved = np.append(y[:-1], 100.0)
        one, two = (
            statistic.read(*Memory({"t": x, "y": column}).summary(statistic.request(depth=4))).open()
            for column in (y, moved)
        )
        interlocked(one, two, 4)
        interlocked(two, one, 4)
        slopes = [
            statistic.slopes(*Memory({"t": x, "y": column}).summary(statistic.request(depth=4))[0].codes)
            for column in (y, moved)
        ]
        middle = -(-len(slopes[0]) // 2)

        def high(codes, l, middle=middle, n=n):
            return codes[min(middle + n * (n - 1) // 2 - (n - l) * (n - l - 1) // 2, len(codes)) - 1]

        found += any(high(a, l) > high(b, l + 1) for a, b in (slopes, slopes[::-1]) for l in range(5))
    assert found > 0  # the tempting envelope breaks, so the test can tell


@given(st.integers(0, 2**31), st.integers(0, 9), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_graphs_that_differ_in_one_edge_interlock(seed, a, b):
    """Triangles and degrees of random graphs on ten vertices."""
    if a == b:
        return
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((10, 10)) < rng.uniform(0.1, 0.9), 1)
    flipped = upper.copy()
    flipped[min(a, b), max(a, b)] ^= True
    for statistic in (Triangles(vertices=10), MaximumDegree(vertices=10)):
        one, two = (
            statistic.read(
                *Memory(dict(zip(("left", "right"), np.nonzero(g), strict=True))).summary(
                    statistic.request(depth=6)
                )
            ).open()
            for g in (upper, flipped)
        )
        interlocked(one, two, 6)
        interlocked(two, one, 6)


def test_a_complete_graph_can_only_lose_triangles_and_an_empty_one_only_gain():
    """One-sided radii: a joined pair must part before it can gain, and the other way round."""
    left, right = np.triu_indices(6, 1)
    plan = Triangles(vertices=6)
    full = plan.read(*Memory({"left": left, "right": right}).summary(plan.request(depth=3))).open()
    none = plan.read(*Memory({"left": left[:0], "right": right[:0]}).summary(plan.request(depth=3))).open()
    assert [full.reach.at(l) for l in range(2)] == [(20, 20), (16, 20)]
    assert [none.reach.at(l) for l in range(4)] == [(0, 0), (0, 0), (0, 0), (0, 1)]


@given(st.integers(0, 2**31), st.integers(2, 14), st.sampled_from([0.05, 0.2, 0.5, 0.9]))
@settings(max_examples=80, deadline=None)
def test_the_pairs_that_are_kept_decide_every_distance(seed, vertices, share):
    """The profile from the few kept pairs is the maximum over all pairs of a dense count."""
    joined = np.triu(np.random.default_rng(seed).random((vertices, vertices)) < share, 1)
    left, right = np.nonzero(joined)
    plan = Triangles(vertices=vertices)
    profile = (
        plan.read(*Memory({"left": left, "right": right}).summary(plan.request(depth=25))).open().profile
    )
    graph = (joined | joined.T).astype(int)
    common, degrees = graph @ graph, graph.sum(axis=1)
    single = degrees[:, None] + degrees - 2 * common - 2 * graph
    pairs = np.triu(np.ones_like(graph), 1) > 0
    for s in range(26):
        best = np.max(common + (s + np.minimum(s, single)) // 2, where=pairs, initial=0)
        assert profile.at(s) == min(best, vertices - 2)


@given(st.lists(st.fractions(0, 1000, max_denominator=50), min_size=1, max_size=5))
def test_the_length_of_a_vector_is_rounded_up(sides):
    """Exactly: the square of the root is not below the sum of squares, and hardly above."""
    plan = Vector((Median("x", low=0, high=1),), order=2)
    pace = Fraction(1000, 2**40)
    length = plan.length(sides, pace)
    square = sum(side**2 for side in sides)
    assert length**2 >= square
    assert max(length - pace, 0) ** 2 <= square


@given(st.lists(st.integers(0, 30), min_size=3, max_size=40), st.sampled_from([0.05, 0.3, 1.0]))
@settings(max_examples=60, deadline=None)
def test_the_windowed_smooth_bound_is_the_full_one(rows, smoothing):
    """Distances that cannot matter need no window: a depth of ln(range / LS_0) / smoothing suffices."""
    statistic = TrimmedMean("x", trim=0.2, low=0, high=30, step=1)
    full = read(statistic, rows, len(rows) + 2).profile
    depth = int(np.log(float(full.ceiling / full.at(0))) / smoothing) + 1 if full.at(0) else len(rows)
    windowed = read(statistic, rows, min(depth, len(rows) + 2)).profile
    assert windowed.smooth(smoothing) == pytest.approx(full.smooth(smoothing), rel=1e-12)


@given(ROWS)
@settings(max_examples=40, deadline=None)
def test_the_exact_envelope_of_the_variance_lies_inside_the_one_from_moments(rows):
    """Two ways to the same promise."""
    for relation in Variance.relations:
        common = {"low": 0, "high": 40, "step": 1, "neighbors": relation}
        exact = read(Variance("x", envelope="exact", **common), rows, 5)
        moments = read(Variance("x", **common), rows, 5)
        assert exact.value == moments.value
        for l in range(6):
            assert moments.reach.at(l)[0] <= exact.reach.at(l)[0]
            assert exact.reach.at(l)[1] <= moments.reach.at(l)[1]
            assert exact.profile.at(l) <= moments.profile.at(l)


def test_an_interval_too_short_is_noticed():
    """The comparison of this file rejects a reach that is one distance late."""
    rows = [3, 9, 14, 20, 33]
    statistic = TrimmedMean("x", trim=0.2, low=0, high=40, step=1)
    one = read(statistic, rows, 3)
    late = dataclasses.replace(
        one, reach=Reach((0, 1, 2), (one.value, *one.reach.low[:2]), (one.value, *one.reach.high[:2]))
    )
    with pytest.raises(AssertionError):
        interlocked(read(statistic, [*rows[:-1], 1], 3), late, 3)
    small = dataclasses.replace(one, profile=Profile.constant(0))
    with pytest.raises(AssertionError):
        interlocked(one, small, 3)
