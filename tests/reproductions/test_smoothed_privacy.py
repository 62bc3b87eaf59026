"""Liu, Wang and Xia 2023: numbers of both figures; exact ones to their digits, simulated ones within their error."""

import math

import pytest

from reproductions import experiments, smoothed_privacy
from reproductions.smoothed_privacy import explained

# year: log10 delta, utility over delta
ELECTIONS = {
    1920: (-7.79, 0.93), 1924: (-7.49, 0.93), 1928: (-10.12, 0.93), 1932: (-10.50, 0.93), 1936: (-11.31, 0.90),
    1960: (-16.31, 1.00), 1964: (-15.94, 0.86), 1984: (-19.99, 0.85), 2000: (-22.33, 0.99), 2020: (-31.92, 0.93),
}  # fmt: skip


def test_figure_one_has_the_stored_numbers():
    result = experiments()["liu-2023-figure-1"].run("smoke")
    for year, (delta, ratio) in ELECTIONS.items():
        # Sources of the popular vote differ by up to a percent; delta moves with the votes.
        assert result.one("log10 delta", year=year) == pytest.approx(delta, rel=0.01)
        utility = result.one("log10 utility", year=year) - result.one("log10 delta", year=year)
        assert 10**utility == pytest.approx(ratio, abs=0.012)
    assert "26 of 26" in result.finding


@pytest.mark.parametrize(("name", "value"), [("LOST", 0.0021), ("EPSILON", math.log(0.5103 / 0.4897))])
def test_changed_constants_of_the_figures_are_noticed(monkeypatch, name, value):
    monkeypatch.setattr(smoothed_privacy, name, value)
    result = experiments()["liu-2023-figure-1"].run("smoke")
    for year, (delta, _) in ELECTIONS.items():
        assert result.one("log10 delta", year=year) != pytest.approx(delta, rel=0.01)
    if name == "LOST":
        left = experiments()["liu-2023-figure-2-left"].run("smoke")
        for size in (50_000, 200_000):
            found = left.column("log10 delta", records=size)
            assert all(abs(a - b) > 6e-4 for a, b in zip(found, LEFT[size], strict=True))


LEFT = {
    1_000: (-0.049, -0.049, -0.049, -0.049),
    10_000: (-0.494, -0.494, -0.494, -0.494),
    50_000: (-2.472, -2.472, -1.759, -1.242),
    100_000: (-4.944, -4.219, -2.721, -1.776),
    200_000: (-9.888, -7.550, -4.360, -2.526),
}


def test_figure_two_left_has_the_stored_numbers():
    result = experiments()["liu-2023-figure-2-left"].run("smoke")
    for size, stored in LEFT.items():
        for epsilon, value in zip((7.0, 2.0, 1.0, 0.5), stored, strict=True):
            assert result.one("log10 delta", records=size, epsilon=epsilon) == pytest.approx(value, abs=6e-4)
    assert "0.32" in result.finding


# records: delta at epsilon 0.1, 0.5, 1, 2
RIGHT = {
    64: (0.120, 0.114, 0.108, 0.0982),
    256: (0.0473, 0.0330, 0.0243, 0.0140),
    625: (0.0212, 0.00944, 0.00484, 0.00149),
}


@pytest.mark.thorough
@pytest.mark.statistical
def test_figure_two_right_is_within_its_simulation_error_and_a_planted_change_is_not():
    result = experiments()["liu-2023-figure-2-right"].run("smoke")
    for size, stored in RIGHT.items():
        for epsilon, value in zip((0.1, 0.5, 1.0, 2.0), stored, strict=True):
            found = 10 ** result.one("log10 delta", records=size, epsilon=epsilon)
            half = found - 10 ** result.one("log10 low", records=size, epsilon=epsilon)
            # Half of a 99 % interval is 2.6 standard errors; 2 of them, and 3 percent for the stored number's own.
            allowed = 2 * half + 0.03 * value
            assert abs(found - value) < allowed
            assert abs(1.3 * found - value) > allowed or epsilon == 2.0
    root, plain = explained(result, 1.0)
    assert root > plain
    assert math.isclose(10 ** result.one("log10 worst case", records=64, epsilon=0.1), 1 / 8)
