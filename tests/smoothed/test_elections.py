"""Election facts against the stored tables, and the figures of the paper."""

from __future__ import annotations

import csv
import math

import pytest

from reproductions import election_figures, elections
from reproductions import election_findings as findings
from sordino.smoothed import figures
from sordino.smoothed.precincts import precincts

LN10 = math.log(10)
# log10 delta(x) by year from the specification, whose totals differ slightly
SPECIFIED = {1920: -7.79, 1924: -7.49, 1948: -12.18, 1964: -15.94, 1984: -19.99, 2000: -22.33, 2020: -31.92}


def test_popular_votes_are_those_of_the_stored_table(elections_folder):
    with (elections_folder / "us_president_popular_1920_2020.csv").open() as stream:
        rows = {int(row["year"]): row for row in csv.DictReader(stream)}
    assert {election.year for election in elections.POPULAR_VOTES} == set(rows)
    for election in elections.POPULAR_VOTES:
        row = rows[election.year]
        assert election.democratic_votes == int(row["dem_votes"])
        assert election.republican_votes == int(row["rep_votes"])
        assert (election.democrat, election.republican) == (row["dem_candidate"], row["rep_candidate"])
        # the second source differs by at most one percent, where a candidate stood on two lines
        assert election.democratic_votes == pytest.approx(int(row["dem_votes_alt"]), rel=0.0101)
        assert election.republican_votes == pytest.approx(int(row["rep_votes_alt"]), rel=0.0101)


def test_units_of_2020_are_those_of_the_stored_table(elections_folder):
    units = elections.read_units(elections_folder / "us_president_2020_states.csv")
    assert len(units) == 56
    for name, votes in elections.UNITS_2020.items():
        assert units[name] == votes
    assert elections.ends(units) == ("DC", "NE-3")
    one, two = units["NE-2"]
    assert 0.53 < one / (one + two) < 0.54
    districts = elections.read_units(elections_folder / "us_president_2020_districts.csv")
    assert len(districts) == 435


def test_facts_are_plausible_without_the_tables():
    assert [e.year for e in elections.POPULAR_VOTES] == list(range(1920, 2021, 4))
    assert elections.POPULAR_VOTES[-1].votes == 155_507_476
    assert all(0.3 < e.democratic_votes / e.votes < 0.7 for e in elections.POPULAR_VOTES)


def test_figure_one():
    points = elections.figure_one()
    assert all(point.below_one_over_n for point in points)
    for point in points:
        if point.election.year in SPECIFIED:
            assert point.log_delta / LN10 == pytest.approx(SPECIFIED[point.election.year], abs=0.06)
        assert 0.83 < math.exp(point.log_utility - point.log_delta) <= 1.003
    found = findings.figure_one(points, lost=0.002, epsilon=elections.EPSILON)
    assert len(found.tables[0][2]) == 26
    assert "worst case" in found.tables[0][1]


def test_figure_two_left():
    expected = {  # specification, DC with NE-2; the maximum is at all-DC either way
        (1_000, 7.0): -0.049,
        (10_000, 0.5): -0.494,
        (20_000, 0.5): -0.761,
        (100_000, 1.0): -2.721,
        (200_000, 2.0): -7.550,
    }
    for (n, epsilon), log10 in expected.items():
        (point,) = elections.figure_two_left(sizes=[n], epsilons=[epsilon])
        assert point.log_delta / LN10 == pytest.approx(log10, abs=0.001)
        named = {name: elections.UNITS_2020[name] for name in ("DC", "NE-2")}
        (paper,) = elections.figure_two_left(named, sizes=[n], epsilons=[epsilon])
        assert paper.log_delta == pytest.approx(point.log_delta, abs=1e-9)


def test_up_to_ten_thousand_voters_delta_is_the_same_at_every_epsilon():
    dem, rep = elections.UNITS_2020["DC"]
    share = rep / (dem + rep)
    for point in elections.figure_two_left(sizes=[1_000, 10_000]):
        lost = round(0.002 * point.records)
        assert point.log_delta == pytest.approx(lost * math.log1p(-share), abs=1e-6)


@pytest.mark.thorough
@pytest.mark.statistical
def test_figure_two_right_falls_with_the_square_root_of_n():
    points = elections.figure_two_right(sizes=(64, 256, 625, 1600), epsilons=(1.0,), samples=6)
    expected = {64: 0.108, 256: 0.0243, 625: 0.00484, 1600: 2.96e-4}
    for point in points:
        assert math.exp(point.log_delta) == pytest.approx(expected[point.records], rel=0.25)
        assert point.log_low < point.log_delta < point.log_worst
    root, plain = findings.square_root_law(points)["1"]
    assert root > 0.99 > plain


@pytest.mark.thorough
def test_every_picture_is_drawn_with_its_worst_case(tmp_path, example_county):
    pytest.importorskip("matplotlib")
    from sordino import smoothed
    from sordino.plots import save
    from sordino.smoothed.files import read_precincts

    vote = smoothed.sampling(records=[600, 400], published=0.9)
    report = precincts(read_precincts(example_county), epsilon=1.0, held_back=0.1)
    many = precincts({f"p{i}": [50 + i, 40 + 3 * i] for i in range(60)}, epsilon=1.0, held_back=0.2)
    left = elections.figure_two_left(sizes=[1_000, 2_000, 5_000], epsilons=[1.0])
    right = elections.figure_two_right(sizes=(16, 25, 36), epsilons=(1.0,), samples=3)
    pictures = {
        "profile": figures.profile({"this tally": vote.profile([0.0, 0.5, 1.0])}),
        "held": figures.held_back(
            [0, 10, 20], {"a": [0.0, -3.0, -math.inf]}, records=100, delta=1e-3, chosen=10
        ),
        "names": figures.precincts(report),
        "sizes": figures.precincts(many),
        "one": election_figures.elections(elections.figure_one(), lost=0.002, epsilon=0.04),
        "two": election_figures.figure_two(left, right, lost=0.002),
    }
    for name, figure in pictures.items():
        axes = figure.axes[0]
        labels = [line.get_label() for line in axes.get_lines()]
        assert any("worst case" in label for label in labels), name
        assert axes.get_xlabel()
        assert save(figure, tmp_path / f"{name}.png").stat().st_size > 5_000
