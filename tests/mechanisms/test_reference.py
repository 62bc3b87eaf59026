"""Densities, masses and moments against high-precision reference values."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from sordino.mechanisms.additive.radial_law import RadialLaw
from sordino.mechanisms.nested.intervals import Interpolation, Intervals, line_pieces
from sordino.mechanisms.parts.law import PieceLaw
from tests.support.places import SHARED

FULL = SHARED / "reference" / "piecewise.json"
COPIED = Path(__file__).parent / "piecewise.json"
SOURCE = FULL if FULL.exists() else COPIED
CASES = json.loads(SOURCE.read_text())["cases"]
INTERPOLATIONS = {
    "plm": lambda case: Interpolation.linear(),
    "inverse_sensitivity": lambda case: Interpolation.step(0),
    "staircase": lambda case: Interpolation.step(Fraction(case["tau"])),
}


def exact(text):
    return Fraction(text)


def law_of(case):
    low, high = Fraction(case["a"]), Fraction(case["b"])
    family = Intervals.of(
        [exact(end) for end in case["lower"]], [exact(end) for end in case["upper"]], first=low, last=high
    ).widened(exact(case["rho"]))
    return PieceLaw(line_pieces(family, INTERPOLATIONS[case["kind"]](case)), Fraction(case["epsilon"]) / 2)


def near(value, text, *, floor=1e-14):
    return value == pytest.approx(float(text), rel=1e-11, abs=floor)


LINE = [case for case in CASES if case["kind"] in INTERPOLATIONS]
RADIAL = [case for case in CASES if case["kind"] == "radial"]


def test_the_reference_holds_every_kind():
    assert {case["kind"] for case in CASES} >= {"plm", "inverse_sensitivity", "staircase", "radial"}


@pytest.mark.parametrize("case", LINE, ids=lambda case: case["id"])
def test_line_laws_match_the_reference(case):
    law = law_of(case)
    # The reference counts the flat top of the inverse sensitivity as -1, ours as 0: one level of normaliser.
    shift = float(Fraction(case["epsilon"])) / 2 if case["kind"] == "inverse_sensitivity" else 0.0
    assert near(law.log_normalizer + shift, case["log_normalizer"])
    for point in case["points"]:
        assert near(law.pdf(Fraction(point["y"])), point["pdf"])
        assert near(law.cdf(Fraction(point["y"])), point["cdf"], floor=2e-15)
    centre = exact(case["center"])
    assert near(law.mean_squared_error(centre), case["mean_squared_error"])
    assert near(law.mean() - float(centre), case["mean_error"], floor=1e-13)
    for interval in case["intervals"]:
        left, right = exact(interval["left"]), exact(interval["right"])
        assert near(law.cdf(right) - law.cdf(left), interval["mass"], floor=1e-15)


@pytest.mark.parametrize("case", RADIAL, ids=lambda case: case["id"])
def test_radial_laws_match_the_reference(case):
    law = RadialLaw(
        [Fraction(radius) for radius in case["radii"]],
        tail=Fraction(case["tail_radius"]),
        dimension=case["d"],
        slope=Fraction(case["epsilon"]) / 2,
    )
    for mass, expected in zip(law.masses, case["shell_mass"], strict=True):
        assert near(float(mass), expected)
    assert near(law.log_normalizer, case["log_radial_normalizer"])
    for point in case["radius_cdf"]:
        assert near(law.cdf(float(point["r"])), point["cdf"])
    assert near(law.mean_squared_radius(), case["mean_squared_radius"])
