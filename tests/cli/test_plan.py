"""The verb `plan`: a ranked table, JSON, a picture; no way to give it data."""

import json
import re
import shlex

import pytest

from sordino.catalogue import statistics

MEDIAN = "plan median --low 0 --high 500000 --epsilon 0.5 --rows 2000 --tables 2"


@pytest.fixture
def run(call):
    """Run the command line: exit code, stdout, stderr."""
    return lambda line: call(*shlex.split(line))


def test_a_plan_is_a_ranked_table_that_says_what_was_assumed(run):
    code, out, err = run(MEDIAN)
    assert (code, err) == (0, "")
    assert "generated (log-normal" in out
    assert "no private data was read" in " ".join(out.split())
    lines = [line for line in out.splitlines() if "exact" in line]
    assert any(line.strip().startswith("*  quantile") for line in lines[:3])
    assert "laplace (global)" in lines[-1]
    assert "sampling error without privacy" in out


def test_the_command_line_that_it_prints_gives_the_same_plan(run):
    _, out, _ = run(MEDIAN + " --json")
    first = json.loads(out)
    line = first["command"].removeprefix("sordino ") + " --tables 2 --json"
    _, again, _ = run(line)
    second = json.loads(again)
    assert second["options"] == first["options"]
    assert second["command"] == first["command"]
    assert first["private_data_read"] is False
    assert sorted(one["rms"] for one in first["options"]) == [one["rms"] for one in first["options"]]
    assert sum(one["default"] for one in first["options"]) == 1


def test_hints_neighbours_and_shapes_reach_the_plan(run):
    line = "plan mean pay --low -50 --high 1050 --rho 0.5 --rows 500 --tables 2 --draws 4 --json"
    plain = json.loads(run(line)[1])
    hinted = json.loads(run(f"{line} --centre 500 --spread 55 --assume normal:spread=10")[1])
    assert hinted["assumed"]["spread"] == 10
    assert hinted["hints"] == {"centre": "500", "spread": "55"}
    assert hinted["options"] != plain["options"]
    other = json.loads(run(f"{line} --neighbors add-remove-one")[1])
    assert other["neighbors"] == "add-remove-one"
    assert "--neighbors add-remove-one" in other["command"]


def test_asking_back_gives_a_price_and_rows(run):
    code, out, _ = run("plan count --epsilon 1 --rows 100 --error 14.2")
    assert code == 0
    assert "needed price for an rms error of 14.2: Pure(epsilon=0.099" in out


@pytest.mark.thorough
def test_a_picture_is_written(run, tmp_path):
    code, _, err = run(f"plan count --epsilon 1 --rows 100 --tables 1 --plot {tmp_path}/plan.svg")
    assert code == 0
    assert "wrote" in err
    drawn = (tmp_path / "plan.svg").read_text()
    assert drawn.count("<path") > 20


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("plan median --low 0 --high 10 --rows 100", "There is no default price"),
        ("plan median --low 0 --high 10 --epsilon 1", "rows must be given"),
        (
            "plan median --low 0 --high 10 --epsilon 1 --rows 100 --assume people.csv",
            "never reads private data",
        ),
        ("plan median --low 10 --high 10 --epsilon 1 --rows 100", "high must be greater than low"),
        ("plan median --low 0 --high 10 --epsilon 1 --rows 100 --data people.csv", "No such option"),
        ("plan edges --vertices 4 --epsilon 1 --rows 100", "leave rows out"),
        ("plan medan --low 0 --high 10 --epsilon 1 --rows 100", "median"),
    ],
)
def test_refusals_say_what_to_do(run, line, words):
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert words in err


def test_every_statistic_has_help(run):
    code, out, _ = run("plan --help")
    assert code == 0
    for name in statistics():
        if name != "vector":
            assert name in out
    assert "--assume" in run("plan trimmed-mean --help")[1]
    assert "--data" not in run("plan trimmed-mean --help")[1]


def test_tables_of_budgets_and_sweeps_fit_a_narrow_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    ask = "--ask 'count income --error 20' --ask 'median income --low 0 --high 500000'"
    for line in (
        f"plan budget --epsilon 3 --rows 300 --tables 1 {ask}",
        "plan median pay --low 0 --high 500000 --epsilon 1 --rows 200 --tables 1 --widest-bounds 2",
    ):
        _, out, _ = run(line)
        lines = [
            line for line in out.splitlines() if not re.match(r"\s*(in Python|people|sordino|on the)", line)
        ]
        assert max(map(len, lines)) <= 80, max(lines, key=len)
        assert "rms" in out
