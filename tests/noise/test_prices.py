"""Prices and calibrations are inverses of each other, whatever is asked for."""

import pytest

from sordino.catalogue import noise_family
from sordino.errors import Unsupported
from sordino.privacy import Approx, Concentrated, Geo, Pure, TruncatedConcentrated
from sordino.testing.noise_pairs import worst_log_ratio


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("smoothing", [0, 0.01, 0.03])
def test_an_approximate_price_by_delta_finds_the_epsilon_again(name, smoothing):
    found = noise_family(name).calibrate(Approx(1, 1e-6), smoothing=smoothing)
    price = found.noise.price(scale=found.scale, smoothing=smoothing, as_=Approx, delta=1e-6)
    assert float(price.epsilon) == pytest.approx(1, rel=3e-6)
    by_epsilon = found.noise.price(scale=found.scale, smoothing=smoothing, as_=Approx, epsilon=price.epsilon)
    assert by_epsilon.delta <= price.delta


def test_a_noise_without_a_theorem_of_its_own_is_priced_through_one_that_it_has():
    noise = noise_family("polyplace")(10)
    pure = noise.price(scale=10, smoothing=0.1)
    assert noise.price(scale=10, smoothing=0.1, as_=Approx, delta=1e-6) == pure.to(Approx, delta=1e-6)
    law = noise_family("arsinh-normal")(0.5)
    rho = law.price(scale=1, smoothing=0.1, as_=Concentrated)
    assert law.price(scale=1, smoothing=0.1, as_=Approx, delta=1e-6) == rho.to(Approx, delta=1e-6)
    assert law.price(scale=1, smoothing=0.1, as_=TruncatedConcentrated, omega=9).rho == rho.rho
    with pytest.raises(Unsupported):
        law.price(scale=1, smoothing=0.1, as_=Pure)
    with pytest.raises(Unsupported):
        law.price(scale=1, smoothing=0.1, as_=Geo)


def test_no_epsilon_is_enough_where_the_smoothing_is_too_large():
    with pytest.raises(Unsupported, match="no epsilon pays"):
        noise_family("gaussian")().price(scale=1e-4, smoothing=30, as_=Approx, delta=1e-9)


@pytest.mark.parametrize("name", ["student-t", "polyplace", "arsinh-normal", "uniform-log-normal"])
def test_a_certified_price_undoes_the_calibration(name):
    found = noise_family(name).calibrate(Concentrated(0.5), smoothing=0.2)
    price = found.noise.price(scale=found.scale, smoothing=0.2, as_=Concentrated)
    assert float(price.rho) == pytest.approx(0.5, rel=2e-3)


@pytest.mark.parametrize("smoothing", [0.001, 0.02, 0.1])
@pytest.mark.parametrize("scale", [1, 3, 10, 40])
@pytest.mark.parametrize(
    ("name", "shape"), [("polyplace", 10), ("polyplace", 1.5), ("student-t", 3), ("student-t", 0.7)]
)
def test_a_pure_price_is_the_worst_loss_away_from_calibrated_scales_too(name, shape, scale, smoothing):
    noise = noise_family(name)(shape)
    claimed = float(noise.price(scale=scale, smoothing=smoothing).epsilon)
    found = worst_log_ratio(noise, smoothing, 1 / scale)
    assert found <= claimed * (1 + 1e-9)
    if claimed <= 2:  # there both formulas are equalities
        assert found >= claimed * 0.995
