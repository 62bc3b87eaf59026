"""Liu, Wang and Xia 2023, Table 1: numbers, the limit of the rate, the price of noise by brute force, a file."""

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from reproductions import experiments, smoothed_table
from reproductions.smoothed_table import (
    BUILT_IN,
    COUNT,
    EPSILONS,
    NOISY,
    SMOOTHED,
    WORST,
    attained,
    falling_rate,
)

# voters: log10 of smoothed delta at epsilon 0.04, 0.5, 1, 2, 7; those of 0.5 to 7 are also in Figure 2 left
STORED = {
    10_000: (-0.4408, -0.4944, -0.4944, -0.4944, -0.4944),
    1_000_000: (-1.6367, -6.8065, -15.4556, -31.7517, -49.4402),
}


@pytest.fixture(scope="module")
def result():
    return experiments()["liu-2023-table-1"].run("smoke")


def test_the_numbers_are_the_stored_ones(result):
    for voters, stored in STORED.items():
        found = result.column("log10 delta", notion=SMOOTHED, electorates=BUILT_IN, voters=voters)
        assert found == pytest.approx(stored, abs=6e-5)
    assert result.one("log10 delta", notion=COUNT, epsilon=0.04) == pytest.approx(-31.914, abs=2e-3)
    for voters in STORED:
        assert [10**x for x in result.column("log10 delta", notion=WORST, voters=voters)] == pytest.approx(
            [0.998] * 5
        )
    assert "cost 0.620, not 0.5" in result.finding


@pytest.mark.parametrize("lost", [0.0021, 0.0019])
def test_another_share_of_lost_ballots_is_noticed(monkeypatch, lost):
    monkeypatch.setattr(smoothed_table, "LOST", lost)
    found = experiments()["liu-2023-table-1"].run("smoke")
    got = found.column("log10 delta", notion=SMOOTHED, electorates=BUILT_IN, voters=1_000_000)
    assert all(abs(a - b) > 0.01 for a, b in zip(got, STORED[1_000_000], strict=True))


def test_the_rate_falls_to_its_limit(result):
    """-ln(delta)/n differs from its limit by terms of order ln(n)/n."""
    for epsilon in (1.0, 2.0):
        limit = result.one("limit", electorates=BUILT_IN, voters=1_000_000, epsilon=epsilon)
        log_delta = math.log(10) * result.one(
            "log10 delta", electorates=BUILT_IN, voters=1_000_000, epsilon=epsilon
        )
        assert 0 < -log_delta - limit * 1e6 < 3 * math.log(1e6)
        assert -log_delta - 0.5 * limit * 1e6 > 3 * math.log(1e6) / 4


def test_where_only_an_empty_loss_counts_the_limit_is_closed():
    """A huge epsilon leaves the chance that no ballot of the minority is lost: (1 - p)^(lost n)."""
    assert falling_rate(0.0553, 0.002, 40.0) == pytest.approx(-0.002 * math.log1p(-0.0553), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_no_small_database_costs_more_than_the_lone_vote(epsilon):
    """All neighbouring tallies of six ballots, three kept, with Laplace noise: the lone vote is the worst."""
    n, kept = 6, 3
    y = np.linspace(-2.0, kept + 2.0, 601)
    counts = np.arange(kept + 1)
    noise = np.exp(-epsilon * np.abs(y[:, None] - counts))
    law = [np.log(noise @ hypergeom(n, k, kept).pmf(counts)) for k in range(n + 1)]
    found = [np.abs(law[k + 1] - law[k]).max() for k in range(n)]
    price = math.log1p(0.5 * math.expm1(epsilon))
    assert max(found) == pytest.approx(price, rel=1e-12)
    assert attained(0.5, epsilon) == pytest.approx(price, rel=1e-12)
    assert price > 0.5 * epsilon * 1.05


def test_the_files_of_units_are_used_when_given(tmp_path):
    folder = tmp_path / "elections"
    folder.mkdir()
    for name in ("us_president_2020_states.csv", "us_president_2020_districts.csv"):
        lines = ["unit,dem,rep,total", "A,900,100,1000", "B,500,500,1000", "C,300,700,1000"]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    experiment = experiments()["liu-2023-table-1"]
    parts = experiment.parts("smoke", tmp_path)
    files = [part for part in parts if part.get("electorates") in smoothed_table.FILES]
    assert len(files) == 4
    assert all(part["shares"] == [0.9, 0.3] for part in files)
    rows = experiment.compute(files[0])
    # Twenty lost ballots of ten thousand: at a large epsilon, none of the minority's tenth among them.
    assert rows[-1][6] == pytest.approx(20 * math.log10(0.9), abs=1e-6)
    assert [row[4] for row in rows] == list(EPSILONS)


def test_the_table_has_a_row_for_every_notion(result):
    head, rows = smoothed_table.table(result)
    assert all(len(row) == len(head) for row in rows)
    assert [row[0] for row in rows] == [SMOOTHED, COUNT, WORST, *["DP, noise 1/epsilon"] * 2]
    assert len(result.column("found epsilon", notion=NOISY)) == 10
    assert rows[-1][5] == "0.6201 (0.5)"
