"""Keys that nobody lists: the price by enumeration, the best rule, people with several keys, and what is not said."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sordino.errors import ParameterError, Unsupported
from sordino.exact.bits import SeededBits
from sordino.mechanisms.discovery.discovery import Discovery
from sordino.mechanisms.discovery.joint_delta import largest_delta, one_pass
from sordino.mechanisms.discovery.mixed_cut import WORD, MixedCut
from sordino.mechanisms.discovery.threshold import (
    WeightThreshold,
    for_approx,
    for_concentrated,
    weights,
    with_noise,
)
from sordino.privacy import Approx, ApproxConcentrated, Concentrated, Neighbors, Pure, Unit
from sordino.statistics.keys import Keys
from sordino.testing.replay import replay


def hockey(one, other, epsilon):
    """Mass of one law beyond e^epsilon times the other, over what is shown and nothing."""
    (shown, hidden), (shown_there, hidden_there) = one, other
    total = max(hidden - math.exp(epsilon) * hidden_there, 0.0)
    for value, chance in shown.items():
        total += max(chance - math.exp(epsilon) * shown_there.get(value, 0.0), 0.0)
    return total


def worst(law, most):
    """The largest hockey stick over all counts and both directions."""
    epsilon = float(law.epsilon)
    pairs = [(law.law(c), law.law(c + 1)) for c in range(most)]
    return max(max(hockey(a, b, epsilon), hockey(b, a, epsilon)) for a, b in pairs)


@pytest.mark.parametrize("epsilon", ["0.3", "1", "3"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6"])
def test_delta_is_spent_to_the_last_and_no_further(epsilon, delta):
    """Every count up to twice the cut and beyond, both directions."""
    law = MixedCut.of(Fraction(epsilon), Fraction(delta))
    used = worst(law, 2 * law.cut + 10) / float(delta)
    assert 0.999999 <= used <= 1 + 1e-9


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-6"), ("1", "1e-6"), ("1", "1e-9"), ("3", "1e-6")])
def test_no_rule_shows_keys_more_often(epsilon, delta):
    """The recursion of Desfontaines, Voss and Gipson, equal below twice the cut and within delta at it."""
    law, best = MixedCut.of(Fraction(epsilon), Fraction(delta)), 0.0
    rate, slack = float(epsilon), float(delta)
    for people in range(1, 2 * law.cut + 5):
        best = min(math.exp(rate) * best + slack, 1 - math.exp(-rate) * (1 - best - slack), 1.0)
        tolerance = 1e-12 if people < 2 * law.cut else slack
        assert best - tolerance <= law.kept(people) <= best + 1e-12


def test_from_how_many_people_a_key_is_shown_half_the_time():
    """The table of the documentation."""
    asked = itertools.product(("0.1", "0.3", "1", "3"), ("1e-6", "1e-9"))
    found = [MixedCut.of(Fraction(e), Fraction(d)).even for e, d in asked]
    assert found == [109, 178, 41, 64, 14, 21, 6, 8]


def test_planted_errors_are_seen():
    """A cut that is too small by one, one shown at the cut itself, and a mixture that is off by a per cent."""
    law = MixedCut.of(Fraction(1), Fraction(1, 1000))
    assert worst(dataclasses.replace(law, cut=law.cut - 1), 30) > 1.5e-3
    off = dataclasses.replace(law, smaller=min(WORD - 1, law.smaller + WORD // 100))
    assert worst(off, 30) > 1.001e-3

    class Loose(MixedCut):
        """Shows what reaches the cut, not only what exceeds it."""

        def law(self, people):
            shown, hidden = {}, 0.0
            for cut, chance in ((self.cut, 1 - self.smaller / WORD), (self.cut - 1, self.smaller / WORD)):
                for noise in range(-cut, cut + 1):
                    mass = chance * self._truncated(noise, cut)
                    if people and people + noise >= cut:
                        shown[people + noise] = shown.get(people + noise, 0.0) + mass
                    else:
                        hidden += mass
            return shown, hidden

    assert worst(Loose(law.epsilon, law.cut, law.smaller), 30) > 2e-3


def test_draws_follow_the_law():
    """Counts around the cut, against the probabilities; a law for one person more is rejected."""
    law, many = MixedCut.of(Fraction(1), Fraction(1, 1000)), 20_000
    bits = SeededBits(4)
    for people in (1, 6, 9):
        drawn = law.draw([people] * many, bits)
        shown, hidden = law.law(people)
        for value, chance in {**shown, None: hidden}.items():
            seen = sum(one == value for one in drawn)
            assert abs(seen - many * chance) < 5 * math.sqrt(many * chance + 1)
    kept = sum(one is not None for one in law.draw([7] * many, bits)) / many
    assert abs(kept - law.kept(8)) > 0.02
    assert law.draw([0] * 50, bits) == [None] * 50


def people_with_keys(lists):
    """One row per person and key."""
    return {
        "who": [f"p{who}" for who, keys in enumerate(lists) for _ in keys],
        "x": [key for keys in lists for key in keys],
    }


@pytest.mark.few(8)
@pytest.mark.parametrize(
    "price", [Approx(1, Fraction(1, 1000)), ApproxConcentrated(Fraction(1, 2), Fraction(1, 1000))]
)
@pytest.mark.parametrize(("most", "passes"), [(2, 2), (3, 2), (3, 1)])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("relation", [Neighbors.ADD_REMOVE_ONE, Neighbors.REPLACE_ONE])
def test_people_with_several_keys_by_replay(price, most, passes, counted, relation):
    """A person with keys of their own, shared ones and both; passes that depend on what was found."""
    mechanism = Discovery(price=price, counted=counted, passes=passes)
    unit = Unit("who", max_rows=most)
    statistic = Keys(("x",), max_keys=most, neighbors=relation)
    crowd = [["a", "b"]] * 3 + [["b", "c"]] * 2 + [["a"]]
    alone, shared, none = ["d", "e", "f"][:most], ["a", "b", "c"][:most], ["b"]
    pairs = [(crowd, [*crowd, alone]), (crowd, [*crowd, shared])]
    if relation is Neighbors.REPLACE_ONE:
        pairs = [([*crowd, none], [*crowd, alone]), ([*crowd, shared], [*crowd, ["d"]])]
    for here, there in pairs:
        seen = replay(
            mechanism,
            statistic,
            people_with_keys(here),
            people_with_keys(there),
            contribution=most,
            unit=unit,
            walks=3,
        )
        assert seen.kept, seen.problems


def test_a_threshold_for_the_wrong_number_of_keys_is_refuted():
    """Keys that one person alone has are shown too often when the threshold is for one key of full weight."""
    delta = Fraction(1, 1000)
    right = for_concentrated(Fraction(1, 2), delta, 3, replaced=False)

    def alone(law, t):
        return 1 - (1 - law.chance(weights(3)[t - 1])) ** t

    assert max(alone(right, t) for t in (1, 2, 3)) <= float(delta)
    assert max(alone(right, t) for t in (1, 2, 3)) > 0.99 * float(delta)
    low = WeightThreshold(right.sigma, right.above - int(right.sigma / 10))
    assert max(alone(low, t) for t in (1, 2, 3)) > float(delta)


def test_two_passes_pay_for_what_was_conditioned_on():
    """Epsilon is a little smaller than the price, since nothing shown is likelier without the person."""
    (first, one, _), (second, two, _) = for_approx(Fraction(1), Fraction(1, 1000), 3, 2, replaced=False)
    from sordino.noise.gaussian import Gaussian

    plain = Gaussian.calibrate(Approx(1, Fraction(1, 2000)), smoothing=0).scale
    assert one.rho + two.rho < 1 / (2 * plain**2)
    assert first.sigma > second.sigma
    assert abs(float(one.rho / (one.rho + two.rho)) - 0.1) < 1e-9


def shown_sets(law, amounts):
    """The chance of every set of keys that may be shown."""
    chances = [law.chance(amount) for amount in amounts]
    return np.array([
        math.prod(p if key in some else 1 - p for key, p in enumerate(chances))
        for size in range(len(amounts) + 1)
        for some in itertools.combinations(range(len(amounts)), size)
    ])  # fmt: skip


def largest_stick(law, epsilon, most, *, replaced):
    """By brute force over small worlds: a person's keys are shared with crowds of several sizes, or nobody's."""
    unit, found = weights(most), 0.0
    crowds = [0, *(round(law.above + k * float(law.sigma)) for k in (-1, 0, 1, 2))]
    for t in range(1, most + 1):
        for rest in itertools.combinations_with_replacement(crowds, t):
            here = [one + unit[t - 1] for one in rest]
            pairs = [(here, list(rest))]
            if replaced:  # by somebody with one key, among these or elsewhere
                pairs = [
                    (here, [rest[0] + unit[0], *rest[1:]]),
                    ([*here, 0], [*rest, unit[0]]),
                    ([*here, law.above], [*rest, law.above + unit[0]]),
                ]
            for one, other in pairs:
                with_, without = shown_sets(law, one), shown_sets(law, other)
                for a, b in ((with_, without), (without, with_)):
                    found = max(found, float(np.maximum(a - math.exp(epsilon) * b, 0).sum()))
    return found


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_noise_and_threshold_of_one_pass_need_not_share_delta(epsilon, replaced):
    """Keys of one person alone take all of delta; a lower threshold is refuted, by brute force and by the bound."""
    delta = Fraction(1, 1000)
    law, _, _ = one_pass(Fraction(epsilon), delta, 3, replaced=replaced)
    ((shared, _, _),) = for_approx(Fraction(epsilon), delta, 3, 1, replaced=replaced)
    assert law.sigma < shared.sigma
    assert law.above < shared.above
    assert 0.95 * float(delta) < largest_stick(law, float(epsilon), 3, replaced=replaced) <= float(delta)
    low = WeightThreshold(law.sigma, law.above - int(law.sigma / 10))
    assert largest_stick(low, float(epsilon), 3, replaced=replaced) > float(delta)
    assert largest_delta(low, Fraction(epsilon), 3, replaced=replaced) > delta
    narrow = WeightThreshold(law.sigma * Fraction(9, 10), law.above)
    assert largest_delta(narrow, Fraction(epsilon), 3, replaced=replaced) > delta


def test_counts_of_a_concentrated_price():
    """With one key per person the noisy weight is the count, and its threshold is for one person."""
    law = with_noise(Fraction(2), Fraction(1, 1000), 1)
    assert law.counts
    assert law.chance(1) <= 1e-3 < WeightThreshold(law.sigma, law.above - 1, counts=True).chance(1)
    shown, hidden = law.logs(5, 5)
    assert math.isclose(math.fsum(map(math.exp, shown.values())) + math.exp(hidden), 1, rel_tol=1e-12)


@pytest.mark.parametrize("price", [Pure(1), Concentrated(Fraction(1, 2)), Approx(1, 0)])
def test_prices_without_a_delta_are_refused_with_the_reason(price):
    """Nothing may be shown under them."""
    with pytest.raises(Unsupported, match="needs a price with a delta"):
        Discovery(price=price)
    with pytest.raises(ParameterError, match="at most 1/1000"):
        Discovery(price=Approx(1, Fraction(1, 10)))


def test_bars_hold_for_certain_where_a_key_may_have_been_lucky():
    """Small numbers get the whole cut, large ones the usual quantile."""
    law = MixedCut.of(Fraction(1), Fraction(1, 10**6))
    assert law.limits(15, 0.05) == (1, 29)
    assert law.limits(500, 0.05) == (497, 503)
    counts = np.repeat([3, 14, 28, 60], 500)
    for people, shown in zip(counts.tolist(), law.draw(counts.tolist(), SeededBits(2)), strict=True):
        if shown is not None and shown <= 3 * law.cut:
            low, high = law.limits(shown, 0.05)
            assert low <= people <= high
