"""The researcher's door: one's own value and bound, simulations, checked bounds, variants from outside."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.errors import BudgetExceeded, ParameterError, Unsupported
from sordino.lattice import Lattice

CANARY = 7777.25


@pytest.fixture
def people():
    return sd.open({"x": [1.0, 4.0, 2.0]}, budget=sd.Pure(5))


def smooth(price=1):
    return sd.PolyPlace.calibrate(sd.Pure(price), smoothing=0.1)


def test_a_value_and_a_bound_are_one_release_in_the_ledger(people):
    answer = smooth().release(CANARY, 0.5, grid=2**-20, session=people, label="my own", purpose="a test")
    assert people.remaining == sd.Pure(4)
    assert float(answer) * 2**20 == int(float(answer) * 2**20)
    assert people.history[-1] == answer
    assert answer.event.statistic["label"] == "my own"
    words = answer.to_json() + answer.explain() + repr(answer)
    assert str(CANARY) not in words
    assert "0.5" not in answer.to_json()  # the bound is private
    assert "the caller vouches" in answer.explain()
    assert sd.Release.from_json(answer.to_json()) == answer


def test_a_token_returns_the_same_answer_for_nothing(people):
    first = sd.add_noise(2.0, 0.5, smooth(), grid=2**-20, session=people, token="one")
    second = sd.add_noise(2.0, 0.5, smooth(), grid=2**-20, session=people, token="one")
    assert first == second
    assert people.remaining == sd.Pure(4)


@pytest.mark.parametrize(
    ("value", "bound"), [(math.nan, 1), (math.inf, 1), ("7777.25", math.nan), (CANARY, -CANARY), (None, 1), (1, "x")]
)  # fmt: skip
def test_what_is_no_number_is_refused_unseen_and_unspent(people, value, bound):
    with pytest.raises(ParameterError) as refused:
        sd.add_noise(value, bound, smooth(), grid=2**-20, session=people)
    assert str(CANARY) not in str(refused.value)
    assert people.remaining == sd.Pure(5)


def test_the_ledger_and_the_calibration_are_insisted_on(people):
    with pytest.raises(ParameterError, match="session must be given"):
        sd.add_noise(1.0, 1.0, smooth(), grid=2**-20, session=None)
    with pytest.raises(BudgetExceeded):
        sd.add_noise(1.0, 1.0, smooth(6), grid=2**-20, session=people)
    from dataclasses import replace

    cheap = replace(smooth(), scale=smooth().scale / 2)
    with pytest.raises(Unsupported, match="does not keep"):
        sd.add_noise(1.0, 1.0, cheap, grid=2**-20, session=people)
    with pytest.raises(ParameterError, match="power of two"):
        sd.add_noise(1.0, 1.0, smooth(), grid=0.1, session=people)
    assert people.remaining == sd.Pure(5)


@pytest.mark.statistical
def test_the_noise_has_the_size_that_was_calibrated():
    people = sd.open({"x": [1.0]}, budget=sd.Pure(10_000))
    noise = sd.Laplace.calibrate(sd.Pure(1), smoothing=0)
    drawn = [abs(float(noise.release(0, 3, grid=Lattice.dyadic(-20), session=people))) for _ in range(300)]
    assert abs(np.mean(drawn) / 3 - 1) < 0.25
    assert abs(np.mean(drawn) / 2 - 1) > 0.25  # another sensitivity would be noticed


def test_a_profile_is_smoothed_exactly():
    people = sd.open({"x": [1.0]}, budget=sd.Pure(100))
    profile = sd.Profile.dense([Fraction(1, 10), 4], 100)
    answer = smooth(50).release(2, profile, grid=2**-20, session=people, low=0, high=4)
    assert 0 <= float(answer) <= 4
    bound = sd.smooth_bound(profile, 0.1)
    worst = max(0.1, 4 * math.exp(-0.1), 100 * math.exp(-0.2))
    assert worst <= bound <= worst * (1 + 1e-9)


@pytest.mark.statistical
def test_samples_are_of_the_law_and_marked_when_seeded():
    noise = smooth().noise
    seeded, fresh = noise.sample(4000, seed=3), noise.sample(4000)
    assert not seeded.private
    assert "NOT PRIVATE" in repr(seeded)
    assert "NOT PRIVATE" in repr(seeded[:3] * 2)
    assert fresh.private
    assert (seeded == noise.sample(4000, seed=3)).all()
    assert not (fresh == noise.sample(4000)).all()
    for drawn in (seeded, fresh):
        places = np.sort(noise.cdf(np.asarray(drawn)))
        gap = np.abs(places - (np.arange(4000) + 0.5) / 4000).max() * math.sqrt(4000)
        assert gap < 2.0
        wrong = np.sort(noise.cdf(1.1 * np.asarray(drawn)))  # a tenth too wide is noticed
        assert np.abs(wrong - (np.arange(4000) + 0.5) / 4000).max() * math.sqrt(4000) > gap


def middle(rows):
    return sorted(rows)[(len(rows) - 1) // 2]


def exact_smooth(gamma, *, low=0, high=10):
    """The smooth sensitivity of the lower median, by the textbook."""

    def bound(rows):
        ordered, n = sorted(rows), len(rows)
        at = lambda place: low if place < 0 else high if place >= n else ordered[place]  # noqa: E731
        m = (n - 1) // 2
        return max(
            math.exp(-gamma * k) * max(at(m + t) - at(m + t - k - 1) for t in range(k + 2))
            for k in range(n + 1)
        )

    return bound


@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_a_smooth_sensitivity_passes_and_one_at_another_smoothing_does_not(gamma):
    world = (0, 1, 5, 10)
    assert sd.check_bound(middle, exact_smooth(gamma), world, smoothing=gamma, sizes=(1, 3, 4))
    steeper = sd.check_bound(middle, exact_smooth(2 * gamma), world, smoothing=gamma, sizes=(3,))
    assert not steeper
    assert "not smooth" in str(steeper)
    half = sd.check_bound(
        middle, lambda rows: exact_smooth(gamma)(rows) / 2, world, smoothing=gamma, sizes=(3,)
    )
    assert "below the local sensitivity" in str(half)
    moved = abs(middle(half.first) - middle(half.second))
    assert exact_smooth(gamma)(half.first) / 2 < moved  # the counterexample is one


def test_rows_that_come_and_go_are_checked_too():
    count = sd.check_bound(len, lambda rows: 1, (0, 1), neighbors="add-remove-one")
    assert count
    assert count.pairs > 20
    assert not sd.check_bound(sum, lambda rows: 1, (0, 2), neighbors="add-remove-one")


def test_variants_from_outside_are_taken_in_or_told_what_is_missing():
    from sordino.catalogue import statistic
    from sordino.statistics.mean import Mean

    @sd.register
    class Doubled(Mean):
        """The mean, from outside."""

        name = "doubled-from-outside"

    assert statistic("doubled-from-outside") is Doubled
    people = sd.open({"x": [1.0, 2.0, 3.0]}, budget=sd.Pure(5))
    assert 0 <= float(people.release(Doubled("x", low=0, high=10), sd.Pure(1))) <= 10
    with pytest.raises(ParameterError, match="is not complete"):
        sd.register(type("Nameless", (Mean,), {}))
    with pytest.raises(ParameterError, match="takes a class"):
        sd.register(3)
    from sordino.statistics import REGISTER

    del REGISTER.known["doubled-from-outside"]
