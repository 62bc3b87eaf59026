"""The questions people have: answers, the worst case beside them, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import runpy
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino import smoothed
from sordino.errors import DataError, ParameterError, SordinoError
from sordino.smoothed.files import count_column, read_precincts
from sordino.smoothed.histogram import log_delta_precinct
from sordino.smoothed.holdback import holdback
from sordino.smoothed.leak import power
from sordino.smoothed.precincts import precincts
from sordino.smoothed.table import table


def three_lines(error: SordinoError) -> bool:
    lines = str(error).split("\n")
    return len(lines) == 3 and lines[1].startswith("    ") and lines[2].startswith("    Hint: ")


BAD_TALLIES = [
    ({"records": [10, -1], "published": 5}, "negative"),
    ({"records": [10.5, 3], "published": 5}, "whole numbers"),
    ({"records": {"a": "ten", "b": 3}, "published": 5}, "whole numbers"),
    ({"records": [], "published": 5}, "empty"),
    ({"records": {}, "published": 5}, "empty"),
    ({"records": [0, 0], "published": 5}, "no records"),
    ({"records": [10], "published": 5}, "two categories"),
    ({"records": [10, 5], "published": 16}, "larger than the population"),
    ({"records": [10, 5], "held_back": 16}, "held back"),
    ({"records": [10, 5], "held_back": 1.5}, "held back"),
    ({"records": [10, 5], "published": 1.5}, "share"),
    ({"records": [10, 5], "published": 0}, "at least one"),
    ({"records": [10, 5], "held_back": 15}, "at least one"),
    ({"records": [10, 5]}, "either"),
    ({"records": [10, 5], "published": 3, "held_back": 3}, "either"),
    ({"records": "10,5", "published": 3}, "list of counts"),
    ({"records": [10**9, 5], "published": 3}, "1,000,000,000"),
    ({"published": 3}, "either the records"),
    ({"records": [3, 4], "size": 7, "electorates": [0.5], "published": 3}, "either the records"),
    ({"size": 10, "electorates": [], "published": 3}, "at least one distribution"),
    ({"size": 10, "electorates": [(0.5, 0.6)], "published": 3}, "sum to 1"),
    ({"size": 10, "electorates": [(0.5, 0.5), (0.2, 0.3, 0.5)], "published": 3}, "same number of types"),
    ({"size": 10, "electorates": [(1.0,)], "published": 3}, "two types"),
    ({"size": 10, "electorates": 7, "published": 3}, "list of distributions"),
]


@pytest.mark.parametrize(("options", "words"), BAD_TALLIES)
def test_bad_tallies_are_refused_in_three_lines(options, words):
    with pytest.raises(SordinoError, match=re.escape(words)) as caught:
        smoothed.sampling(**options)
    assert three_lines(caught.value), str(caught.value)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf, "one"])
def test_bad_epsilons_are_refused(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        smoothed.sampling(records=[3, 4], published=5).delta(epsilon=epsilon)


def test_counts_may_come_as_numpy_floats_and_text():
    for records in (np.array([3, 4]), [3.0, 4.0], ["3", "4"], {"a": "1,000", "b": 4}):
        assert smoothed.sampling(records=records, published=2).published == 2


def test_shares_are_exact_and_rounded_up():
    # 0.998 of 500 is 499 exactly; floating point says 499.00000000000006 or less
    assert smoothed.sampling(records=[250, 250], published=0.998).published == 499
    assert smoothed.sampling(records=[250, 249], published=0.998).published == 499
    assert smoothed.sampling(records=[3, 4], published=1).published == 1
    assert smoothed.sampling(records=[3, 4], published=1.0).published == 7
    assert smoothed.sampling(records=[3, 4], published=20, replacement=True).published == 20


def test_every_answer_carries_the_worst_case_and_the_caveat():
    tally = smoothed.sampling(records={"yes": 600, "no": 400}, published=0.9)
    model = smoothed.sampling(size=1_000, electorates=[0.4, 0.6], published=0.9)
    answers = [
        tally.delta(epsilon=0.5),
        model.delta(epsilon=0.5),
        tally.group(3, epsilon=0.5),
        tally.repeat(3, epsilon=0.5),
    ]
    for leak in answers:
        words = leak.explain()
        assert "worst case" in words
        assert "promised" in words
        assert leak.to_dict()["worst_case_delta"] == leak.worst_case >= 0.9
        json.dumps(leak.to_dict())
        assert "worst case" in repr(leak)
        assert "worst case" in leak._repr_html_()
    assert "average" in model.delta(epsilon=0.5).explain()
    answer = holdback(model, epsilon=0.5, delta=1e-6)
    assert "worst case" in answer.explain()
    json.dumps(answer.to_dict())


def test_reading_does_not_use_the_wrong_interpretation():
    # delta is not the chance that the odds move by more than e^eps (eq. (2) of the paper is false)
    words = smoothed.sampling(records=[60, 40], published=0.9).delta(epsilon=0.5).reading
    assert "any set of outcomes" in words
    assert "odds" not in words


@given(st.floats(-1e7, 0.0), st.integers(2, 6))
def test_power_writes_what_it_is_given(log_value, digits):
    text = power(log_value, digits)
    if text.startswith("1 - "):
        assert -math.expm1(log_value) == pytest.approx(float(text[4:]), rel=0.6)
        return
    mantissa, _, exponent = text.partition("e")
    back = math.log(float(mantissa)) + int(exponent or 0) * math.log(10)
    assert back == pytest.approx(log_value, abs=5 * 10.0 ** (1 - digits))


def test_the_smallest_epsilon_is_the_smallest():
    tally = smoothed.sampling(records=[60_000, 40_000], published=0.98)
    epsilon = tally.epsilon_for(delta=1e-7)
    assert tally.delta(epsilon=epsilon).delta <= 1e-7
    assert tally.delta(epsilon=epsilon * (1 - 1e-5)).delta > 1e-7
    assert tally.epsilon_for() == tally.epsilon_for(delta=1e-5)
    # a category with one record is seen with the chance of being published, whatever epsilon
    assert smoothed.sampling(records=[999, 1], published=0.9).epsilon_for(delta=0.5) == math.inf
    assert smoothed.sampling(records=[999, 1], published=0.9).epsilon_for(delta=0.95) == 0.0


def test_appendix_claim_about_a_ten_thousandth_lost_does_not_hold():
    from reproductions.elections import POPULAR_VOTES

    needed = {e.year: e.sampled(lost=0.0001).epsilon_for() for e in POPULAR_VOTES}
    assert needed[2020] == pytest.approx(0.07, abs=0.01)
    assert needed[1924] == pytest.approx(0.19, abs=0.01)
    figures = [e.sampled(lost=0.0001).delta(epsilon=0.04).delta for e in POPULAR_VOTES]
    assert 3e-5 < min(figures) < max(figures) < 5e-3


def test_holdback_is_the_least_and_never_below_its_floor():
    for p, epsilon, delta in ((0.3, 0.5, 1e-4), (0.05, 2.0, 1e-3), (0.45, 0.1, 1e-2)):
        model = smoothed.sampling(size=2_000, electorates=[p], published=1)
        answer = holdback(model, epsilon=epsilon, delta=delta)
        assert answer.leak.delta <= delta < answer.one_fewer.delta
        assert answer.held_back >= answer.floor - 1
    tally = smoothed.sampling(records=[1_200, 800], published=1)
    answer = holdback(tally, epsilon=1.0, delta=1e-6)
    assert (
        smoothed.sampling(records=[1_200, 800], held_back=answer.held_back).delta(epsilon=1.0).delta <= 1e-6
    )
    nothing = holdback(smoothed.sampling(records=[99, 1], published=1), epsilon=1.0, delta=1e-3)
    assert nothing.held_back is None
    assert "no number" in nothing.explain()


def test_planning_table_of_the_specification():
    found = [
        holdback(
            smoothed.sampling(size=100_000, electorates=[0.467], published=1), epsilon=e, delta=1e-9
        ).held_back
        for e in (0.5, 1.0, 2.0, 7.0)
    ]
    assert found == pytest.approx([480, 142, 53, 33], abs=1)


def test_write_ins_of_the_specification():
    # n = 1e6, 0.2 % lost, epsilon 1
    expected = {0: 0.998, 5: 0.990, 50: 0.905, 500: 0.367, 5_000: 0.0028, 20_000: 1.7e-7}
    for votes, delta in expected.items():
        vote = smoothed.sampling(records=[500_000, 500_000 - votes, votes], published=0.998)
        answer = table(vote, epsilon=1.0)
        assert answer.leak.delta == pytest.approx(delta, rel=0.02)
        assert answer.safe == (delta < 1e-6)
        assert [c.safe for c in answer.categories[:2]] == [True, True]
        # the table's figure is the largest of its categories'
        assert max(c.log_delta for c in answer.categories) == pytest.approx(answer.leak.log_delta, abs=1e-12)


def test_table_says_which_count_is_enough_and_what_merging_does():
    vote = smoothed.sampling(records={"A": 50_000, "B": 49_000, "C": 300, "D": 200}, published=0.95)
    answer = table(vote, epsilon=1.0, delta=1e-5)
    assert [c.name for c in answer.categories if not c.safe] == ["C", "D"]
    for count, safe in ((answer.smallest_safe, True), (answer.smallest_safe - 1, False)):
        pair = smoothed.sampling(records=[99_500 - count, count], published=0.95)
        assert (pair.delta(epsilon=1.0).delta <= 1e-5) is safe
    assert answer.merged_names == ("C", "D")
    assert answer.merged.log_delta < answer.leak.log_delta
    json.dumps(answer.to_dict())


def test_precincts_of_the_specification():
    # 45 % minority, 0.2 % lost, epsilon 1; each precinct a small part of a large state
    expected = {500: -0.19, 5_000: -1.35, 20_000: -3.34, 100_000: -11.1}
    state = 10_000_000
    for size, log10 in expected.items():
        minority = round(0.45 * size)
        found = log_delta_precinct([minority, size - minority], state, math.ceil(0.998 * state), 1.0)
        assert found / math.log(10) == pytest.approx(log10, abs=0.06)


def test_precinct_report_equals_one_by_one(example_county):
    read = read_precincts(example_county, categories=("Alma Birchwood", "Casper Dunmore"))
    report = precincts(read, epsilon=1.0, held_back=0.1, delta=1e-3)
    assert len(report.precincts) == 13
    assert report.records == sum(sum(row.values()) for row in read.values())
    for precinct in report.precincts:
        counts = list(read[precinct.name].values())
        alone = log_delta_precinct(counts, report.records, report.published, 1.0)
        assert precinct.log_delta == pytest.approx(alone, abs=1e-12)
        assert precinct.safe == (math.exp(alone) <= 1e-3)
    assert [p.name for p in report.unsafe] == ["06", "13", "09"]
    assert "worst case" in report.explain()
    json.dumps(report.to_dict())


def test_a_single_vote_in_a_precinct_is_given_away(example_county):
    report = precincts(read_precincts(example_county), epsilon=5.0, held_back=0.002)
    given_away = [precinct for precinct in report.precincts if precinct.smallest <= 1]
    assert {precinct.smallest for precinct in given_away} == {0, 1}
    for precinct in given_away:
        assert math.exp(precinct.log_delta) == pytest.approx(report.published / report.records, rel=1e-9)
    assert len(report.unsafe) == 13


def test_precinct_tables_that_make_no_sense_are_refused():
    for bad in (
        {},
        {"a": [0, 0]},
        {"a": [1]},
        {"a": [1, -2]},
        {"a": [1, 2.5]},
        {"a": {"x": 1, "y": 2}, "b": {"x": 1, "z": 2}},
    ):
        with pytest.raises((DataError, ParameterError)):
            precincts(bad, epsilon=1.0, held_back=0.1)
    empty_one = precincts({"a": [500, 400], "empty": [0, 0]}, epsilon=1.0, held_back=0.1)
    assert [p.safe for p in empty_one.precincts if p.name == "empty"] == [True]


def test_the_invented_county_is_what_its_script_writes(example_county):
    written = runpy.run_path(str(example_county.with_name("make_precincts.py")))["text"]()
    assert example_county.read_text(encoding="utf-8") == written
    ballots = Counter()
    for row in csv.DictReader(io.StringIO(written)):
        ballots[row["precinct"]] += int(row["votes"])
    assert len(ballots) == 13
    assert min(ballots.values()) < 60
    assert max(ballots.values()) > 2_000


def test_files_in_wide_and_long_form_and_a_counted_column(tmp_path, example_county):
    long = read_precincts(example_county)
    assert long["01"]["Alma Birchwood"] == 1088
    assert "Under Votes" not in long["01"]
    wide = tmp_path / "wide.csv"
    names = list(long["01"])
    lines = ["precinct," + ",".join(names) + ",total votes"]
    lines += [
        f"{label}," + ",".join(str(row[n]) for n in names) + f",{sum(row.values())}"
        for label, row in long.items()
    ]
    wide.write_text("\n".join(lines))
    assert read_precincts(wide) == long
    merged = read_precincts(wide, other=names[2:])
    assert merged["01"] == {names[0]: 1088, names[1]: 387, "other": 55}
    table_file = tmp_path / "people.csv"
    table_file.write_text("name,answer\nA,yes\nB,no\nC,yes\nD,\n")
    assert count_column(table_file, "answer") == {"yes": 2, "no": 1, "(empty)": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rows"),
        ("precinct,A,B\n", "no rows"),
        ("precinct,A,B\n01,5,-3\n", "negative"),
        ("precinct,A,B\n01,5,2.5\n", "whole"),
        ("precinct,A\n01,5\n", "two categories"),
        ("precinct,A,B\n01,5,3\n01,4,4\n", "more than once"),
        ("precinct,office,candidate,votes\n1,X,a,3\n1,Y,b,2\n", "several contests"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, words):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises((DataError, ParameterError), match=words):
        read_precincts(path)


def test_missing_files_columns_and_categories_are_named(tmp_path, example_county):
    with pytest.raises(DataError, match="does not exist"):
        read_precincts(tmp_path / "none.csv")
    with pytest.raises(DataError, match="no such category"):
        read_precincts(example_county, categories=("Nobody", "Alma Birchwood"))
    with pytest.raises(DataError, match="no such category"):
        read_precincts(example_county, other=("Nobody",))
    with pytest.raises(DataError, match="no column"):
        read_precincts(example_county, unit="ward number")
    with pytest.raises(DataError, match="no such contest"):
        read_precincts(example_county, office="Dog catcher")


def test_hulls_of_all_shapes():
    assert smoothed.vertices([0.5]).tolist() == [[0.5, 0.5]]
    assert len(smoothed.vertices([(0.2, 0.3, 0.5)] * 3)) == 1
    line = [(0.1, 0.2, 0.7), (0.2, 0.2, 0.6), (0.3, 0.2, 0.5), (0.25, 0.2, 0.55)]
    assert sorted(map(tuple, smoothed.vertices(line).round(6).tolist())) == [(0.1, 0.2, 0.7), (0.3, 0.2, 0.5)]
    corners = np.eye(4)[:3] * 0.7 + 0.1 * np.array([1, 1, 1, 0])
    corners = corners / corners.sum(axis=1, keepdims=True)
    inside = corners.mean(axis=0)
    assert len(smoothed.vertices([*corners.tolist(), inside.tolist()])) == 3


def test_points_inside_the_hull_change_nothing():
    outer = [(0.6, 0.3, 0.1), (0.2, 0.3, 0.5), (0.3, 0.5, 0.2)]
    inner = [tuple(np.mean(outer, axis=0)), tuple(np.array(outer[0]) * 0.25 + np.array(outer[1]) * 0.75)]
    one = smoothed.sampling(size=9, electorates=outer, published=7).delta(epsilon=0.4)
    two = smoothed.sampling(size=9, electorates=[*inner, *outer], published=7).delta(epsilon=0.4)
    assert one.log_delta == pytest.approx(two.log_delta, abs=1e-12)


def test_methods_agree_and_unsuitable_ones_are_refused():
    model = smoothed.sampling(size=3_000, electorates=[0.6, 0.45], published=0.97)
    exact = model.delta(epsilon=0.4, method="exact")
    bracketed = model.delta(epsilon=0.4, method="bracket")
    assert bracketed.log_lower <= exact.log_delta <= bracketed.log_delta
    assert bracketed.width < 1e-6
    assert model.delta(epsilon=0.4, method="ends").log_delta == pytest.approx(exact.log_delta, abs=1e-9)
    three = smoothed.sampling(size=500, electorates=[(0.4, 0.3, 0.3)], published=0.9)
    for method in ("bracket", "ends", "exact"):
        with pytest.raises(SordinoError, match=r"two types|enumerate"):
            three.delta(epsilon=1.0, method=method)
    with pytest.raises(ParameterError, match="method"):
        model.delta(epsilon=1.0, method="guess")
    assert "Monte Carlo" in model.delta(epsilon=0.4, method="montecarlo").method


def test_more_than_two_categories_send_the_exact_group_question_elsewhere():
    three = smoothed.sampling(records=[50, 40, 10], published=0.9)
    with pytest.raises(ParameterError, match="two categories"):
        three.group(2, epsilon=1.0)
    with pytest.raises(ParameterError, match="two categories"):
        three.utility(epsilon=1.0)
    assert three.repeat(2, epsilon=1.0).width < 0.01


def test_sampling_with_replacement_is_said_to_be_that():
    leak = smoothed.sampling(records=[60, 40], published=120, replacement=True).delta(epsilon=1.0)
    assert dict(leak.lines())["published"] == "120 draws with replacement from 100 records"
    json.dumps(smoothed.sampling(records=[60, 40], published=20).to_dict())
    json.dumps(smoothed.sampling(size=60, electorates=[0.4], published=20).to_dict())


def test_an_interval_that_reaches_zero_is_not_called_resolved():
    model = smoothed.sampling(size=10_000, electorates=[(0.9, 0.05, 0.05)], published=500)
    leak = model.delta(epsilon=1.0, samples=30)
    assert leak.width == math.inf
    assert "not resolved" in leak.method or "Hoeffding" in leak.method
