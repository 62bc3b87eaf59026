"""Reading tables by precinct: what is counted, what is hidden, what is refused, and the verdict that follows."""

from __future__ import annotations

import itertools
import json
import math

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.cli import program
from sordino.errors import DataError, ParameterError
from sordino.smoothed.files import read_precincts
from sordino.smoothed.histogram import log_delta_precinct
from sordino.smoothed.precinct_table import PrecinctTable
from sordino.smoothed.precincts import precincts


@pytest.fixture
def write(tmp_path):
    def written(text, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return written


WIDE = "precinct,A,B,C\n01,600,400,{}\n02,500,450,60\n03,700,650,80\n"


@pytest.mark.parametrize("mark", ["", "n/a", "N/A", "*", "-", "<5", "1-4", "suppressed", "."])
def test_a_hidden_count_is_refused_with_its_precinct_and_column(write, mark):
    with pytest.raises(DataError) as caught:
        read_precincts(write(WIDE.format(mark)))
    assert caught.value.got["precinct"] == "01"
    assert caught.value.got["category"] == "C"
    assert "--suppressed unknown" in str(caught.value)


def test_a_hidden_count_is_read_as_declared(write):
    path = write(WIDE.format("*"))
    zero = precincts(read_precincts(path, suppressed="zero"), epsilon=1.0, held_back=0.1, delta=0.03)
    unknown = precincts(read_precincts(path, suppressed="unknown"), epsilon=1.0, held_back=0.1, delta=0.03)
    for report in (zero, unknown):
        assert [p.safe for p in report.precincts] == [False, True, True]
        # one voter may be the only one: the worst case there is
        assert math.exp(report.precincts[0].log_delta) == pytest.approx(0.9, abs=0.002)
    assert unknown.precincts[0].hidden
    assert not unknown.certain
    assert "hidden" in unknown.explain()
    json.dumps(unknown.to_dict())
    # what the mark says bounds the count; so does a declared limit, the row's total, or the largest count shown
    assert read_precincts(path, suppressed="unknown", hidden_at_most=9).cells["01"]["C"] == (0, 9)
    assert read_precincts(path, suppressed="unknown").cells["01"]["C"] == (0, 700)
    assert read_precincts(write(WIDE.format("<5")), suppressed="unknown").cells["01"]["C"] == (0, 4)
    assert read_precincts(write(WIDE.format("2-4")), suppressed="unknown").cells["01"]["C"] == (2, 4)
    total = "precinct,A,B,C,total\n01,600,400,*,1030\n02,500,450,60,1010\n"
    assert read_precincts(write(total), suppressed="unknown").cells["01"]["C"] == (0, 30)


@pytest.mark.thorough
@settings(max_examples=25)
@given(
    st.lists(st.tuples(*[st.tuples(st.integers(0, 6), st.integers(0, 3))] * 2), min_size=1, max_size=3),
    st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    st.sampled_from([{"held_back": 2}, {"published": 3}, {"held_back": 0.3}]),
)
def test_hidden_counts_are_bounded_by_every_table_they_may_be(rows, epsilon, how):
    cells = {
        str(i): {name: (low, low + more) for name, (low, more) in zip("AB", row, strict=True)}
        for i, row in enumerate(rows)
    }
    if sum(low for row in cells.values() for low, _ in row.values()) < 4:
        return
    report = precincts(PrecinctTable(cells), epsilon=epsilon, **how)
    ranges = [range(low, high + 1) for row in cells.values() for low, high in row.values()]
    exact = [-math.inf] * len(cells)
    for flat in itertools.product(*ranges):
        table = {name: flat[2 * i : 2 * i + 2] for i, name in enumerate(cells)}
        one = precincts(table, epsilon=epsilon, **how)
        exact = [max(a, p.log_delta) for a, p in zip(exact, one.precincts, strict=True)]
    for precinct, value in zip(report.precincts, exact, strict=True):
        assert precinct.log_delta >= value - 1e-12
    if not report.certain:
        return
    assert [p.log_delta for p in report.precincts] == pytest.approx(exact)


@pytest.mark.thorough
def test_more_ballots_elsewhere_hide_less_and_more_held_back_hides_more():
    # the two facts behind hidden counts, on all small worlds
    for counts in ((3, 1), (2, 2), (4, 3), (1, 5)):
        for epsilon in (0.0, 0.4, 1.5):
            size = sum(counts)
            for n in range(size, 12):
                for held in range(1, n):
                    here = log_delta_precinct(counts, n, n - held, epsilon)
                    assert log_delta_precinct(counts, n + 1, n + 1 - held, epsilon) >= here - 1e-12
                    assert log_delta_precinct(counts, n + 1, n - held, epsilon) <= here + 1e-12


OPEN = "county,precinct,office,district,party,candidate,votes\n"


def test_precincts_of_one_name_in_two_counties_are_two(write):
    lines = [f"{county},01,Governor,,X,{name},{votes}" for county, name, votes in
             (("Ash", "A", 60), ("Ash", "B", 40), ("Oak", "A", 55), ("Oak", "B", 45))]  # fmt: skip
    table = read_precincts(write(OPEN + "\n".join(lines)))
    assert table.key == ("county", "precinct")
    assert dict(table) == {"Ash": {"A": 60, "B": 40}, "Oak": {"A": 55, "B": 45}}
    assert ("a precinct is", "county + precinct") in table.lines()
    with pytest.raises(DataError, match="two lines") as caught:
        read_precincts(write(OPEN + "\n".join(lines)), unit="precinct")
    assert caught.value.got["key"] == "precinct"
    added = read_precincts(write(OPEN + "\n".join(lines)), sum_over=["county"])
    assert dict(added) == {"01": {"A": 115, "B": 85}}


def test_the_same_line_twice_is_refused(write):
    line = "Ash,01,Governor,,X,A,60\n"
    with pytest.raises(DataError, match="two lines"):
        read_precincts(write(OPEN + line + line + "Ash,01,Governor,,Y,B,3\n"))


def test_vote_modes_are_precincts_of_their_own(write):
    rows = [
        ("01", "mail", "A", 50),
        ("01", "mail", "B", 2),
        ("01", "polls", "A", 500),
        ("01", "polls", "B", 400),
    ]
    text = "precinct,mode,candidate,votes\n" + "\n".join(",".join(map(str, row)) for row in rows)
    table = read_precincts(write(text))
    assert table.key == ("precinct", "mode")
    assert dict(table) == {"mail": {"A": 50, "B": 2}, "polls": {"A": 500, "B": 400}}
    assert dict(read_precincts(write(text), sum_over=["mode"])) == {"01": {"A": 550, "B": 402}}
    columns = "precinct,candidate,votes,election_day,absentee\n01,A,550,500,50\n01,B,402,400,2\n"
    split = read_precincts(write(columns))
    assert dict(split) == {
        "01 / election_day": {"A": 500, "B": 400},
        "01 / absentee": {"A": 50, "B": 2},
    }
    assert dict(read_precincts(write(columns), sum_over=["mode"])) == {"01": {"A": 550, "B": 402}}


def test_contests_districts_and_lines_of_several_parties(write):
    text = (
        OPEN + "Ash,01,House,1,X,A,60\nAsh,01,House,1,Y,B,30\nAsh,02,House,2,X,C,40\nAsh,02,House,2,Y,D,35\n"
    )
    with pytest.raises(DataError, match="several districts"):
        read_precincts(write(text))
    assert dict(read_precincts(write(text), district="2")) == {"02": {"C": 40, "D": 35}}
    fusion = OPEN + "Ash,01,Gov,,DEM,A,60\nAsh,01,Gov,,WFP,A,7\nAsh,01,Gov,,REP,B,30\n"
    assert dict(read_precincts(write(fusion))) == {"01": {"A (DEM)": 60, "A (WFP)": 7, "B (REP)": 30}}


def test_columns_that_follow_are_no_key_and_others_are(write):
    text = (
        "state,county,precinct,polling_site,colour,candidate,party,votes\n"
        "XX,Ash,01,School,red,A,P,60\nXX,Ash,01,School,red,B,Q,40\n"
        "XX,Ash,02,Hall,red,A,P,50\nXX,Ash,02,Hall,red,B,Q,45\n"
        "XX,Ash,02,Hall,blue,A,P,5\nXX,Ash,02,Hall,blue,B,Q,4\n"
    )
    table = read_precincts(write(text))
    assert table.key == ("state", "county", "precinct", "polling_site", "colour")
    assert list(table) == ["01 / School / red", "02 / Hall / red", "02 / Hall / blue"]


def test_names_that_sound_like_totals_but_are_small_count_ballots(write):
    table = read_precincts(write("precinct,A,B,All others,Invalid votes,Total,Registered\n"
                                 "01,600,400,9,3,1012,2000\n02,500,450,4,7,961,1900\n"))  # fmt: skip
    assert table.categories == ("A", "B", "All others", "Invalid votes")
    assert {name for name, _ in table.left_out} == {"Total", "Registered"}


REFUSED = [
    ("precinct;A;B\n01;600;400\n02;500;450\n", "semicolons", "--separator ';'"),
    ("precinct\tA\tB\n01\t600\t400\n", "tabs", "--separator 'tab'"),
    ("Wahlbezirk,CDU,SPD,Wahlberechtigte\n01,600,400,2000\n", "another language", '--unit "Wahlbezirk"'),
    ("bureau,candidat,voix\n1,A,600\n1,B,400\n", "another language", '--votes-column "voix"'),
    ("xx,A,B\n01,600,400\n", "known to name", '--unit "xx"'),
    ("precinct,A,B\n01,600,400\n02,500,450\nTotal,1100,850\n", "totals", '--without "Total"'),
    ("precinct,A,B\n01,600,400\n02,500,450\n03,1100,850\n", "totals", '--without "03"'),
    ("precinct,A,B\n01,55.3%,44.7%\n02,50%,50%\n", "percentages", ""),
    ("precinct,A,B\n01,55,45\n02,50,50\n03,61,39\n", "percentages", ""),
    ("precinct,A,B\n01,55.3,44.7\n02,50.1,49.9\n", "percentages", ""),
    ("precinct,A,B\n01,0.55,0.45\n02,0.5,0.5\n", "percentages", ""),
    ('precinct,A,B\n01,"12,5",45\n02,50,50\n', "decimal comma", ""),
    ("precinct,A,B\n01,1.234.567,45\n02,50,50\n", "points between", ""),
    ("precinct,A,B\n01,600,four\n02,500,450\n", "whole numbers", ""),
    ("precinct,A,B,C\n01,600,400,1000\n02,500,450,950\n", "sum of the others", '--category "A"'),
    ("precinct,A,A\n01,600,400\n", "same name", ""),
    ("precinct,A,B\n01,600,400,3\n", "more cells", ""),
    ("1,600,400\n2,500,300\n", "name the columns", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words", "hint"), REFUSED)
def test_what_cannot_be_read_is_named(write, text, words, hint):
    with pytest.raises((DataError, ParameterError), match=words) as caught:
        read_precincts(write(text))
    lines = str(caught.value).split("\n")
    assert len(lines) == 3
    assert hint in lines[2]


def test_the_hints_lead_on(write):
    semicolons = write("precinct;A;B\n01;600;400\n02;500;450\n")
    assert len(read_precincts(semicolons, separator=";")) == 2
    foreign = write("Wahlbezirk,CDU,SPD,Wahlberechtigte\n01,600,400,2000\n02,500,450,1900\n")
    assert read_precincts(foreign, unit="Wahlbezirk")["01"] == {"CDU": 600, "SPD": 400}
    long = write("bureau,candidat,voix\n1,A,600\n1,B,400\n")
    read = read_precincts(long, unit="bureau", candidate_column="candidat", votes_column="voix")
    assert read["1"] == {"A": 600, "B": 400}
    totals = write("precinct,A,B\n01,600,400\n02,500,450\nTotal,1100,850\n")
    assert list(read_precincts(totals, without=["Total"])) == ["01", "02"]
    hundred = write("precinct,A,B\n01,55,45\n02,50,50\n03,61,39\n")
    assert len(read_precincts(hundred, categories=("A", "B"))) == 3
    with pytest.raises(DataError, match="UTF-8"):
        read_precincts(write("precinct,Müller,B\n01,600,400\n", encoding="latin-1"))


@pytest.mark.thorough
def test_the_real_tables_are_read_and_answered_at_once(elections_folder):
    states = read_precincts(elections_folder / "us_president_2020_states.csv")
    assert (len(states), states.categories, states.key) == (56, ("dem", "rep"), ("unit",))
    assert dict(states.left_out) == {"total": "totals or numbers of voters", "dem_two_party": "shares"}
    report = precincts(states, epsilon=0.5, held_back=0.002)
    assert [p.name for p in report.unsafe] == ["DC", "NE-3", "WY"]
    assert report.advice().options() == '--pool "WY + NE-3 + DC"'
    popular = elections_folder / "us_president_popular_1920_2020.csv"
    with pytest.raises(DataError, match="known to name the precincts") as caught:
        read_precincts(popular)
    assert "language" not in str(caught.value)
    years = read_precincts(popular, unit="year", categories=("dem_votes", "rep_votes"))
    assert years["2020"]["dem_votes"] > 81_000_000
    arguments = ["smoothed", "precincts", str(elections_folder / "us_president_2020_districts.csv")]
    result = CliRunner().invoke(program, [*arguments, "--held-back", "0.2%", "--epsilon", "0.5", "--advice"])
    assert result.exit_code == 0, result.output
    assert "76 of 435 precincts" in result.output
    assert "every precinct and every group may be published" in result.output
    assert "sordino release categories" in result.output


@pytest.mark.thorough
def test_advice_is_checked_by_its_own_verdict(example_county):
    read = read_precincts(example_county)
    for delta in (1e-3, 0.03, 0.2):
        found = precincts(read, epsilon=1.0, held_back=0.1, delta=delta).advice()
        merged = read_precincts(
            example_county, other=found.other, pool=[" + ".join(group) for group in found.pools]
        )
        report = precincts(merged, epsilon=1.0, held_back=0.1, delta=delta)
        assert len(report.unsafe) == found.remaining == 0
        assert report.records == sum(sum(row.values()) for row in read.values())
    two = read_precincts(example_county, categories=("Alma Birchwood", "Casper Dunmore"))
    found = precincts(two, epsilon=1.0, held_back=0.1, delta=1e-3).advice()
    assert not precincts(two, epsilon=1.0, held_back=found.share, delta=1e-3).unsafe
    assert precincts(two, epsilon=1.0, held_back=found.share * 0.98, delta=1e-3).unsafe
    assert precincts(two, epsilon=1.0, held_back=0.6, delta=1e-2).advice().lines() == []


def test_the_command_shows_how_it_read_before_the_verdict(example_county, tmp_path):
    ballots = tmp_path / "ballots.csv"
    arguments = ["smoothed", "precincts", str(example_county), "--held-back", "10%", "--epsilon", "1"]
    result = CliRunner().invoke(program, [*arguments, "--ballots", str(ballots)])
    assert result.exit_code == 0, result.output
    assert result.output.index("county + precinct") < result.output.index("answer")
    assert "ask again with --advice" in result.output
    assert "sordino release categories vote" in result.output
    assert len(ballots.read_text().splitlines()) == 1 + 11_310
    advised = CliRunner().invoke(program, [*arguments, "--delta", "0.001", "--advice", "--json"])
    answer = json.loads(advised.output)
    assert answer["read_as"][0][0] == "read as"
    assert answer["way_forward"]["remaining_too_small"] == 0
    # counts with noise of scale 2 / epsilon: root mean square sqrt(2 a) / (1 - a), a = e^(-1/2)
    noisy = answer["way_forward"]["noisy_tally"]
    assert noisy["rms_error"] == pytest.approx(math.sqrt(2 * math.exp(-0.5)) / (1 - math.exp(-0.5)), rel=0.05)
