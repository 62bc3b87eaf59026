"""The verb smoothed: answers in words with the worst case beside them, JSON for machines, refusals in three lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sordino.cli import program

COUNTY = str(Path(__file__).parents[1] / "smoothed" / "data" / "example_county.csv")


def run(*arguments: str):
    result = CliRunner().invoke(
        program, ["smoothed", *arguments], catch_exceptions=False, standalone_mode=False
    )
    assert result.exit_code == 0, result.output
    return result.stdout


ANSWERS = {
    "profile": ["profile", "yes=600", "no=400", "--held-back", "10%", "--epsilon", "0.5"],
    "curve": ["profile", "--size", "500", "--share", "0.4", "--share", "0.6", "--published", "90%"],
    "sampling": ["sampling", "--size", "60", "--share", "0.5,0.3,0.2", "--published", "30", "--epsilon", "1"],
    "candidates": [
        "sampling",
        "--voters",
        "60",
        "--candidates",
        "3",
        "--least",
        "20%",
        "--sample",
        "30",
        "--epsilon",
        "1",
    ],
    "replacement": ["sampling", "yes=60", "no=40", "--published", "120", "--replacement", "--epsilon", "1"],
    "holdback": ["holdback", "--size", "1000", "--share", "0.3", "--epsilon", "1", "--delta", "1e-4"],
    "table": ["table", "A=600", "B=395", "C=5", "--held-back", "10%", "--epsilon", "1"],
    "repeat": ["repeat", "yes=600", "no=400", "--held-back", "10%", "--times", "3", "--epsilon", "1"],
    "group": ["group", "yes=600", "no=400", "--held-back", "10%", "--people", "4", "--epsilon", "1"],
    "precincts": ["precincts", COUNTY, "--held-back", "10%", "--epsilon", "1", "--delta", "1e-3"],
    "elections": ["elections"],
    "column": ["profile", "--csv", COUNTY, "--column", "party", "--held-back", "10", "--epsilon", "1"],
    "csv": ["table", "--csv", COUNTY, "--held-back", "10%", "--epsilon", "1"],
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_prints_the_worst_case_and_how_to_read_it(name):
    words = " ".join(run(*ANSWERS[name]).split())
    assert "worst case" in words
    assert "promise" in words
    assert "e+" not in words


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_a_machine_form_with_the_worst_case(name):
    text = run(*ANSWERS[name], "--json")
    json.loads(text)
    assert "worst" in text


def test_precincts_name_those_that_are_too_small():
    candidates = ["--category", "Alma Birchwood", "--category", "Casper Dunmore"]
    words = " ".join(run(*ANSWERS["precincts"], *candidates).split())
    assert "3 of 13 precincts are above the limit (the largest of them has 229 ballots)" in words
    for precinct in ("06 57 26", "13 116 56", "09 229 105"):
        assert f"{precinct} 0." in words
    assert words.count("ABOVE THE LIMIT") == 3


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ["profile", "holdback", "table", "repeat", "group", "precincts", "elections"]
)
def test_pictures_are_written(name, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "picture.svg"
    run(*ANSWERS[name], "--plot", str(target))
    assert "<svg" in target.read_text()[:600]


def test_figure_two_says_what_differs_from_the_paper(monkeypatch):
    from reproductions import elections

    monkeypatch.setattr(elections, "SIZES", (1_000, 2_000))
    small = {"sizes": (1_000, 2_000), "epsilons": (1.0,)}
    left = elections.figure_two_left
    monkeypatch.setattr(elections, "figure_two_left", lambda units, **_: left(units, **small))
    words = " ".join(run("elections", "--figure", "2", "--samples", "2", "--largest", "625").split())
    assert "NE-3" in words
    assert "sqrt n" in words
    assert "training is not" in words


REFUSED = [
    (["profile", "yes=5", "--held-back", "1", "--epsilon", "1"], "two categories"),
    (["profile", "yes=5", "no=-2", "--held-back", "1", "--epsilon", "1"], "negative"),
    (["profile", "yes=5", "no=2.5", "--held-back", "1", "--epsilon", "1"], "whole"),
    (["profile", "yes=5", "no=2", "--held-back", "9", "--epsilon", "1"], "held back"),
    (["profile", "yes=5", "no=2", "--published", "9", "--epsilon", "1"], "larger"),
    (["profile", "yes=5", "no=2", "--published", "many", "--epsilon", "1"], "number of records"),
    (["profile", "yes=5", "yes=2", "--published", "3", "--epsilon", "1"], "twice"),
    (["profile", "--published", "3", "--epsilon", "1"], "exactly one way"),
    (["profile", "--size", "5", "--published", "3", "--epsilon", "1"], "both"),
    (["profile", "--size", "5", "--candidates", "3", "--published", "3", "--epsilon", "1"], "least share"),
    (["table", "--size", "5", "--share", "0.5", "--published", "3", "--epsilon", "1"], "one tally"),
    (
        ["repeat", "a=5", "b=5", "--published", "3", "--epsilon", "1", "--times", "2", "--adaptive"],
        "adaptive",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_refusals_are_three_lines_on_stderr(arguments, words, capsys):
    from sordino.cli import main

    with pytest.raises(SystemExit) as stop:
        main(["smoothed", *arguments])
    shown = capsys.readouterr()
    assert stop.value.code == 2
    assert shown.out == ""
    assert words in shown.err
    assert len(shown.err.strip().split("\n")) == 3
