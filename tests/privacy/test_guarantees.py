"""Amounts are exact, composition adds, conversions are theorems and round to the safe side."""

import json
import math
import pickle
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import ParameterError, Unsupported
from sordino.privacy import (
    KINDS,
    Approx,
    BoundedRange,
    Concentrated,
    Geo,
    Guarantee,
    Neighbors,
    Pure,
    TruncatedConcentrated,
    Unit,
    compose,
    replace_one_from_add_remove,
)

EXAMPLES = (
    Pure(0.3),
    Approx(0.3, 1e-6),
    Concentrated(0.1),
    TruncatedConcentrated(0.1, 9),
    BoundedRange(0.3),
    Geo(1, 200),
)
amounts = st.fractions(min_value=Fraction(1, 1000), max_value=10)
sizeable = st.fractions(
    min_value=Fraction(1, 20), max_value=10
)  # where the floats of a test keep their digits


def test_ten_times_a_tenth_is_one():
    assert Pure(0.1).times(10) == Pure(1)
    assert compose([Concentrated(0.1)] * 10) == Concentrated(1)
    assert sum([Pure(0.1)] * 9, start=Pure(0.1)) == Pure(1)


@pytest.mark.parametrize("promise", EXAMPLES, ids=lambda promise: promise.kind)
def test_records_survive_json_and_pickle(promise):
    assert Guarantee.from_dict(json.loads(json.dumps(promise.to_dict()))) == promise
    assert pickle.loads(pickle.dumps(promise)) == promise
    assert promise.within(promise)
    assert promise.times(3).within(promise) is False
    assert promise.words
    assert eval(repr(promise)) == promise


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("bad", (-1, math.nan, math.inf, True, "1", None, [1]), ids=repr)
def test_bad_amounts_are_parameter_errors(kind, bad):
    good = dict.fromkeys((field.name for field in fields(kind)), 2)
    if kind is Approx:
        good["delta"] = 0.5
    for name in good:
        with pytest.raises(ParameterError, match=f"{name} must"):
            kind(**{**good, name: bad})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize(
    "huge",
    (10**400, -(10**400), Fraction(10**400, 3), Decimal("1e400"), Decimal("1e99999999"), Decimal("1e-99999999")),
    ids=lambda huge: f"{type(huge).__name__}-{huge < 1}",
)  # fmt: skip
def test_amounts_beyond_all_floats_are_parameter_errors_of_three_lines(kind, huge):
    good = dict.fromkeys((field.name for field in fields(kind)), 2)
    if kind is Approx:
        good["delta"] = 0.5
    for name in good:
        with pytest.raises(ParameterError, match="ordinary size") as caught:
            kind(**{**good, name: huge})
        lines = str(caught.value).splitlines()
        assert len(lines) == 3
        assert lines[2].startswith("    Hint: ")
        assert max(map(len, lines)) < 120


def test_amounts_below_all_floats_are_spelled():
    """A delta of e^-1000 is a fine delta: it is kept exactly and shown."""
    assert repr(Approx(1, Fraction(1, 10**400))) == "Approx(epsilon=1, delta=1e-400)"
    assert repr(Approx(1, Fraction(2, 3 * 10**400))) == "Approx(epsilon=1, delta=6.66667e-401)"
    for odd in ("nan", "snan", "inf", "-inf"):
        with pytest.raises(ParameterError, match="finite"):
            Pure(Decimal(odd))


def test_amounts_out_of_their_range():
    for make in (lambda: Approx(1, 1.5), lambda: TruncatedConcentrated(1, 1), lambda: Geo(1, 0)):
        with pytest.raises(ParameterError):
            make()


@given(amounts, amounts)
def test_composition_adds_exactly(a, b):
    assert Pure(a) + Pure(b) == Pure(a + b)
    assert Concentrated(a) + Concentrated(b) == Concentrated(a + b)
    assert BoundedRange(a) + Pure(b) == Pure(a + b)
    assert BoundedRange(a) + BoundedRange(b) == Pure(a + b)
    assert BoundedRange(a).times(3) == Pure(3 * a)
    assert (TruncatedConcentrated(a, 5) + TruncatedConcentrated(b, 7)) == TruncatedConcentrated(a + b, 5)
    assert Geo(a, 100) + Geo(b, 200) == Geo(a + b / 2, 100)


def test_mixed_lists_become_the_loosest_kind_that_is_needed():
    assert isinstance(compose([Pure(1), Concentrated(1)]), Concentrated)
    assert isinstance(compose([Pure(1), TruncatedConcentrated(1, 4), Concentrated(1)]), TruncatedConcentrated)
    assert compose([Pure(1), Approx(1, 1e-6), BoundedRange(1)]) == Approx(3, 1e-6)
    total = compose([Concentrated(0.1), Approx(1, 1e-6), Concentrated(0.2)], delta=1e-6)
    assert total.delta == Fraction(2, 10**6)
    assert total.epsilon == 1 + Concentrated(0.3).to(Approx, delta=1e-6).epsilon
    with pytest.raises(ParameterError, match="need a delta"):
        compose([Concentrated(0.1), Approx(1, 1e-6)])
    with pytest.raises(Unsupported, match="only with Geo"):
        compose([Pure(1), Geo(1, 1)])
    with pytest.raises(ParameterError, match="at least one"):
        compose([])


def rdp_of_two_points(p, q, order):
    return math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


@given(sizeable)
def test_pure_to_concentrated_is_attained_by_randomised_response_and_never_exceeded(epsilon):
    e = float(epsilon)
    rho = float(Pure(epsilon).to(Concentrated).rho)
    keep = 1 / (1 + math.exp(-e))
    kl = (2 * keep - 1) * e
    assert kl <= rho * (1 + 1e-12)
    assert rho == pytest.approx(e * math.tanh(e / 2), rel=1e-14)
    for order in (1.01, 1.5, 2, 5, 30):
        assert rdp_of_two_points((keep, 1 - keep), (1 - keep, keep), order) <= rho * order * (1 + 1e-9)


@given(amounts)
def test_bounded_range_to_concentrated_is_tight(epsilon):
    e = float(epsilon)
    rho = float(BoundedRange(epsilon).to(Concentrated).rho)
    assert rho <= e * e / 8 * (1 + 1e-15)
    best = 0.0
    for t in np.linspace(0.02, 0.98, 97) * e:  # losses t and t - epsilon
        q = -math.expm1(t - e) / (math.exp(t) - math.exp(t - e))
        p = q * math.exp(t)
        best = max(best, p * t + (1 - p) * (t - e))
        for order in (1.5, 3.0, 20.0):
            value = (
                np.logaddexp(math.log(q) + order * t, math.log1p(-q) + order * (t - e)) / (order - 1) / order
            )
            assert value <= rho * (1 + 1e-9)
    assert best <= rho * (1 + 1e-12)
    assert best >= rho * 0.999  # a constant 0.1 % off is noticed


@given(sizeable, st.sampled_from([1e-6, 1e-3, 0.1]))
def test_pure_and_bounded_range_to_approximate_are_tight(epsilon, delta):
    e = float(epsilon)
    smaller = float(Pure(epsilon).to(Approx, delta=delta).epsilon)
    keep = 1 / (1 + math.exp(-e))
    left = keep - math.exp(smaller) * (1 - keep)
    assert left <= delta * (1 + 1e-6)
    if smaller > 0:
        assert left == pytest.approx(delta, rel=1e-6)
    smaller = float(BoundedRange(epsilon).to(Approx, delta=delta).epsilon)
    worst = 0.0
    for t in np.linspace(smaller, e, 1001)[1:-1]:
        q = -math.expm1(t - e) / (math.exp(t) - math.exp(t - e))
        worst = max(worst, q * (math.exp(t) - math.exp(smaller)))
    assert worst <= delta * (1 + 1e-6)
    if smaller > 0.01 * e:
        assert worst >= delta * 0.98


@pytest.mark.parametrize("rho", (0.001, 0.02, 0.1, 0.5, 2.0, 10.0))
@pytest.mark.parametrize("delta", (1e-12, 1e-6, 1e-3))
def test_concentrated_to_approximate_agrees_with_dp_accounting(rho, delta):
    from dp_accounting.rdp import rdp_privacy_accountant as oracle

    ours = float(Concentrated(rho).to(Approx, delta=delta).epsilon)
    orders = 1 + np.geomspace(1e-3, 1e5, 4000)
    theirs, _ = oracle.compute_epsilon(orders, rho * orders, delta)
    # Theirs searches a grid of orders, ours the minimum itself: never above, and no lower than a fine grid shows.
    assert ours <= theirs * (1 + 1e-9)
    assert ours >= theirs * (1 - 1e-4)
    # Any order at all is a theorem, so the minimum cannot be undercut by much:
    textbook = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    assert ours < textbook


@pytest.mark.parametrize("rho", (0.02, 0.5))
def test_epsilon_and_delta_invert_each_other(rho):
    there = Concentrated(rho).to(Approx, delta=1e-7)
    back = Concentrated(rho).to(Approx, epsilon=there.epsilon)
    assert float(back.delta) == pytest.approx(1e-7, rel=1e-6)
    assert back.delta <= Fraction(1, 10**7) * (1 + Fraction(1, 10**6))


def test_gaussian_mechanism_is_within_its_concentrated_promise():
    # N(0,1) against N(s,1) has rho = s^2/2 exactly and a known hockey stick.
    from scipy.special import ndtr

    for s in (0.1, 0.5, 2.0):
        for delta in (1e-9, 1e-5, 1e-2):
            epsilon = float(Concentrated(Fraction(s) ** 2 / 2).to(Approx, delta=delta).epsilon)
            real = ndtr(s / 2 - epsilon / s) - math.exp(epsilon) * ndtr(-s / 2 - epsilon / s)
            assert real <= delta
            assert real >= delta / 60


def test_truncated_conversion_uses_only_allowed_orders():
    wide, narrow = (TruncatedConcentrated(0.1, w).to(Approx, delta=1e-6).epsilon for w in (1000, 3))
    assert wide == pytest.approx(float(Concentrated(0.1).to(Approx, delta=1e-6).epsilon), rel=1e-12)
    a, r, d = 3.0, 0.1, 1e-6
    at_omega = r * a + math.log1p(-1 / a) - (math.log(d) + math.log(a)) / (a - 1)
    assert float(narrow) == pytest.approx(at_omega, rel=1e-12)
    assert float(narrow) >= at_omega * (1 - 1e-15)


def test_group_privacy():
    assert all(promise.for_group(1) == promise for promise in EXAMPLES)
    assert Pure(0.5).for_group(3) == Pure(1.5)
    assert Concentrated(0.5).for_group(3) == Concentrated(4.5)
    assert TruncatedConcentrated(0.5, 9).for_group(3) == TruncatedConcentrated(4.5, 3)
    assert BoundedRange(0.5).for_group(2) == BoundedRange(1)
    assert Geo(1, 10).for_group(2) == Geo(2, 10)
    assert replace_one_from_add_remove(Pure(0.5)) == Pure(1)
    pair = Approx(0.5, 1e-6).for_group(2)
    assert pair.epsilon == 1
    assert float(pair.delta) == pytest.approx(1e-6 * (1 + math.exp(0.5)), rel=1e-14)
    with pytest.raises(Unsupported, match="group as large as omega"):
        TruncatedConcentrated(0.5, 3).for_group(3)


def test_impossible_conversions_name_what_is_possible():
    with pytest.raises(Unsupported, match="Approx, TruncatedConcentrated"):
        Concentrated(1).to(Pure)
    with pytest.raises(Unsupported, match="unbounded privacy loss"):
        Approx(1, 1e-6).to(Pure)
    with pytest.raises(Unsupported, match="zero excluded"):
        Concentrated(1).to(Approx, delta=0)
    with pytest.raises(ParameterError, match="either delta or epsilon"):
        Concentrated(1).to(Approx)
    assert Approx(1, 0).to(Pure) == Pure(1)
    assert BoundedRange(1).to(Pure) == Pure(1)
    assert Pure(1).to(BoundedRange) == BoundedRange(2)


def test_conversions_round_up_never_down():
    from mpmath import mp

    with mp.workdps(60):
        for k in range(1, 200):
            epsilon = Fraction(k, 37)
            true = mp.mpf(k) / 37 * mp.tanh(mp.mpf(k) / 74)
            got = Pure(epsilon).to(Concentrated).rho
            assert mp.mpf(got.numerator) / got.denominator >= true
            assert mp.mpf(got.numerator) / got.denominator <= true * (1 + mp.mpf(10) ** -15)


def test_units_and_neighbours():
    assert Unit("person", 3).to_dict() == {"column": "person", "max_rows": 3}
    assert all(relation.words for relation in Neighbors)
    for make in (
        lambda: Unit("a", 0),
        lambda: Unit(3),
        lambda: Unit(None, 2),
        lambda: Unit("a", 1.5),
        lambda: Unit("a", True),
    ):
        with pytest.raises(ParameterError):
            make()
