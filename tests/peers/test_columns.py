"""The generated columns are the very ones of the published tables: checksums, and statistics to three digits."""

import numpy as np
import pytest

from benchmarks.peers import cells, columns

SUMS = {
    ("gauss", 201): "e92985402f179ee8",
    ("gauss", 1001): "114b88ef9c3eb0af",
    ("income", 201): "dad081ad456f3822",
    ("income", 1001): "d6d78253bcc74151",
    ("unif", 201): "bb2e560a569256b5",
    ("unif", 1001): "2051159fa50b7742",
    ("bimodal", 201): "d26ed2ec5ae5056b",
    ("bimodal", 1001): "d500373504f09112",
    ("bimodal50", 201): "86309d37aabeef72",
    ("bimodal50", 1001): "30f52143e459c20d",
    ("pareto", 201): "db1e0f99826dc63e",
    ("pareto", 1001): "532c6875ee671251",
    ("ages", 1001): "381b567be47e458b",
    ("mostly 40", 1001): "9c3f6a08c9c5cafd",
    ("constant 40", 1001): "e71a45e03e023b29",
    ("heaped pay", 1001): "e0786b41e7f86303",
}
# statistics of the samples as the earlier comparison printed them, to three digits
PRINTED = [
    ("median", "gauss", 201, "-0.0344"), ("min", "gauss", 1001, "-3.15"), ("mean", "gauss", 10_001, "0.00318"),
    ("median", "income", 201, "6.05e+04"), ("q99", "income", 1001, "5.4e+05"), ("count", "income", 1001, "290"),
    ("median", "unif", 1001, "0.486"), ("min", "unif", 10_001, "2.26e-05"), ("count", "unif", 201, "51"),
    ("median", "bimodal", 1001, "30.7"), ("count", "bimodal", 201, "79"), ("min", "bimodal", 10_001, "3.97"),
    ("median", "bimodal50", 10_001, "62.2"), ("max", "bimodal50", 10_001, "95.9"), ("mean", "bimodal50", 201, "49.7"),
    ("q99", "pareto", 201, "9.73"), ("median", "pareto", 1001, "1.36"), ("variance", "pareto", 10_001, "1.64"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "column", "rows", "printed"), PRINTED)
def test_columns_have_the_statistics_that_were_printed(query, column, rows, printed):
    values = columns.draw(column, rows)
    found = cells.truth(query, values, columns.COLUMNS[column].threshold)
    assert float(f"{found:.3g}") == float(printed)


def test_columns_are_the_same_bytes_on_every_machine():
    found = {(name, rows): columns.checksum(columns.draw(name, rows)) for name, rows in SUMS}
    assert found == SUMS


def test_a_checksum_notices_one_changed_bit():
    values = columns.draw("gauss", 201)
    other = values.copy()
    other[17] = np.nextafter(other[17], 2)
    assert columns.checksum(values) != columns.checksum(other)


def test_columns_lie_between_their_bounds_and_ties_are_tied():
    for name, known in (columns.COLUMNS | columns.TIES).items():
        values = columns.draw(name, 1001)
        assert known.low <= values.min()
        assert values.max() <= known.high
        if known.step:
            assert np.allclose(values / known.step, np.rint(values / known.step))
    assert (columns.draw("constant 40", 1001) == 40).all()
    assert 0.7 < (columns.draw("heaped pay", 1001) == 65_000).mean() < 0.9


def test_rough_hints_are_wrong_by_about_three():
    for name, known in columns.COLUMNS.items():
        values = columns.draw(name, 10_001)
        if name != "pareto":  # whose sample deviation is a matter of luck
            assert 2.5 < known.spread / values.std() < 3.6
        if name != "gauss":
            wrong = known.centre / np.median(values) if name != "bimodal50" else known.centre / 50
            assert max(wrong, 1 / wrong) == pytest.approx(3, rel=0.05)


def test_a_real_column_that_is_absent_is_told_and_not_invented(tmp_path):
    assert columns.real("city salaries", 100, data=tmp_path) is None


def test_the_number_of_rows_is_told_as_a_magnitude_only():
    assert [columns.magnitude(rows) for rows in columns.ROWS] == [100, 1000, 10_000]
