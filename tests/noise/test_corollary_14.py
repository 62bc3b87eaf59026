"""Corollary 14 of the PolyPlace paper: how the variance leaves that of Laplace noise when the smoothing grows."""

import math
from fractions import Fraction

import pytest

import sordino as sd


def excess(smoothing, epsilon):
    """(Var / (2 / epsilon^2) - 1) epsilon / gamma, with the paper's scale."""
    found = sd.PolyPlace.calibrate(sd.Pure(epsilon), smoothing=smoothing, method="published")
    return (found.std**2 * float(epsilon) ** 2 / 2 - 1) * float(epsilon) / float(smoothing)


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(3)])
def test_the_first_order_constant_is_seventeen_over_e_minus_three(epsilon):
    constant = 17 / math.e - 3
    near, nearer = (excess(epsilon * share, epsilon) for share in (Fraction(1, 500), Fraction(1, 4000)))
    assert nearer == pytest.approx(constant, rel=0.004)
    # the rest is of second order: eight times the distance, eight times the gap
    assert (near - constant) / (nearer - constant) == pytest.approx(8, rel=0.1)


def test_an_explicit_constant_up_to_a_fifth():
    for share in range(1, 21):
        assert excess(Fraction(share, 100), Fraction(1)) <= 6
    assert excess(Fraction(22, 100), Fraction(1)) > 6
