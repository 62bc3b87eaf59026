"""The generated columns are the very ones of the published tables, and are what their descriptions say."""

import numpy as np
import pytest

from benchmarks.peers import columns
from benchmarks.peers.cells import Cell, useful

SUMS = {
    "gauss": "8b227dab8f8a57c3",
    "incomes": "9bcd9f33559e352e",
    "uniform": "4df0600939011268",
    "two bumps": "798143a27e40a668",
    "pareto": "3a2e3d4be98356ec",
    "wages": "a34141b86ae4d47a",
    "benefits": "4adf114835f206e9",
    "pay": "a359caec5442e7b3",
    "cut incomes": "e3aa7a79bfac078b",
    "ages": "1c5b6d119bea74c0",
    "visits": "6da3856776dd7a65",
    "dates": "234a4de028a4f642",
    "weights": "8b87c8b91cd6e42f",
}


def test_columns_are_the_same_bytes_on_every_machine():
    assert {name: columns.checksum(columns.draw(name, 201)) for name in SUMS} == SUMS
    assert set(SUMS) == set(columns.COLUMNS) == set(columns.SHAPES)


def test_a_checksum_notices_one_changed_bit():
    values = columns.draw("gauss", 201)
    other = values.copy()
    other[17] = np.nextafter(other[17], 2)
    assert columns.checksum(values) != columns.checksum(other)


@pytest.mark.parametrize("name", columns.COLUMNS)
def test_columns_lie_between_bounds_that_fit_them(name):
    values, known = columns.draw(name, 5001), columns.COLUMNS[name]
    assert known.low <= values.min()
    assert values.max() <= known.high
    assert 3 < (known.high - known.low) / values.std() < 60


def test_columns_have_what_textbook_shapes_lack():
    drawn = {name: columns.draw(name, 5001) for name in columns.COLUMNS}
    assert 0.4 < (drawn["wages"] == 0).mean() < 0.5
    assert 0.8 < (drawn["benefits"] == 0).mean() < 0.9
    assert 0.25 < (drawn["pay"] == 65_000).mean() < 0.4
    assert 0.05 < (drawn["cut incomes"] == columns.COLUMNS["cut incomes"].high).mean() < 0.15
    assert all((drawn[name] == np.rint(drawn[name])).all() for name in ("ages", "visits", "dates"))
    assert drawn["weights"].mean() > 10_000 * drawn["weights"].std()


def test_regimes_widen_the_bounds_and_keep_a_lower_bound_of_zero():
    for known in columns.COLUMNS.values():
        for regime, times in columns.REGIMES.items():
            wide = known.in_regime(regime)
            assert wide.high - wide.low == pytest.approx(times * (known.high - known.low))
            assert wide.low <= known.low
            assert wide.high >= known.high
            assert (wide.low == 0) == (known.low == 0)
    assert Cell("10x", "median", "uniform", 201, 1).public.high == 10


def test_rough_hints_are_wrong_by_about_three_and_within_the_bounds():
    for name, known in columns.COLUMNS.items():
        people = columns.draw(name, columns.POPULATION)
        centre, spread = columns.rough_hint(name)
        assert spread == pytest.approx(3 * people.std())
        assert known.low - spread <= centre <= known.high
        off = abs(centre - np.median(people))
        assert off > 0.2 * people.std()


def test_beyond_the_spread_an_answer_is_useless():
    values = np.array([0.0, 2.0, 4.0])
    assert useful("median", values) == pytest.approx(2)
    assert useful("variance", values) == pytest.approx(4)
    assert useful("count", values) == float("inf")


def test_a_real_column_that_is_absent_is_told_and_not_invented(tmp_path):
    assert columns.real("city salaries", 100, data=tmp_path) is None


def test_the_number_of_rows_is_told_as_a_magnitude_only():
    assert [columns.magnitude(rows) for rows in columns.ROWS] == [100, 1000, 10_000]
