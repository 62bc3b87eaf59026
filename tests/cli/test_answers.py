"""Formats, files, pictures, dry runs and named mechanisms on the command line; every line fits the terminal."""

import csv
import json

import numpy as np
import pytest

from sordino.ledger import Ledger
from sordino.privacy import Pure, Unit

EDGES = "0,100,200,300,400,500,600,1000"
DATA = ["--data", "people.npz", "--ledger", "people.ledger", "--yes"]
HISTOGRAM = ["release", "histogram", "income", "--edges", EDGES, "--epsilon", "0.5", *DATA]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(5)
    np.savez(
        "people.npz",
        income=rng.uniform(50, 950, 2000),
        household=np.arange(2000) // 2,
        region=rng.choice(["north", "south"], 2000),
    )
    with Ledger.create("people.ledger", Pure(30), reason="tests"):
        pass
    return tmp_path


@pytest.fixture
def run(place, call):
    return call


def test_a_histogram_is_whole_and_its_cells_have_edges(run):
    code, out, _ = run(*HISTOGRAM)
    assert code == 0
    assert out.count(" to ") == 7
    shown = run("ledger", "show", "people.ledger")[1] + run("explain", "1", "--ledger", "people.ledger")[1]
    for line in out.splitlines():
        assert line.strip() in shown


def test_every_format_and_file_holds_the_same_numbers(run, place):
    token = ["--token", "t", "--csv", "answers.csv", "--plot", "answers.svg"]
    _, out, err = run(*HISTOGRAM, *token, "--format", "json")
    values = json.loads(out)["value"]
    assert "wrote answers.csv" in err
    assert "<svg" in (place / "answers.svg").read_text()
    read = list(csv.DictReader((place / "answers.csv").read_text().splitlines()))
    assert [float(line["value"]) for line in read] == values
    _, printed, _ = run(*HISTOGRAM, "--token", "t", "--format", "csv")
    assert printed == (place / "answers.csv").read_text()
    _, marked, _ = run("explain", "1", "--ledger", "people.ledger", "--format", "markdown")
    assert [
        float(line.split("|")[2].replace(",", "")) for line in marked.splitlines()[4:] if "|" in line
    ] == values
    assert "carry every digit" in marked


@pytest.mark.parametrize(
    "file", [("--csv", "nowhere/a.csv"), ("--plot", "a.gif"), ("--plot", "nowhere/a.svg")]
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(run, file):
    code, out, _ = run(*HISTOGRAM, *file)
    assert (code, out) == (2, "")
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(0)


@pytest.mark.parametrize("columns", ["80", "200"])
def test_every_table_fits_the_terminal(run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    groups = ["--by", "region", "--by-keys", "north,south", "--and", "median income --low 0 --high 1000"]
    lines = [
        [
            *HISTOGRAM,
            *groups,
            "--user",
            "someone",
            "--purpose",
            "a long purpose that has to be wrapped somewhere",
        ],
        ["ledger", "show", "people.ledger"],
        ["explain", "1", "--ledger", "people.ledger"],
        ["show", "statistics"],
        ["show", "mechanisms"],
    ]
    for line in lines:
        code, out, _ = run(*line)
        assert code == 0
        assert max(map(len, out.splitlines())) <= int(columns)


def test_a_dry_run_speaks_of_the_ledgers_own_unit_and_gives_the_error(run):
    with Ledger.create("homes.ledger", Pure(3), reason="tests", unit=Unit("household", max_rows=2)):
        pass
    line = ["release", "mean", "income", "--low", "0", "--high", "1000", "--epsilon", "1", "--dry-run"]
    code, out, _ = run(*line, "--data", "people.npz", "--ledger", "homes.ledger", "--rows", "2000")
    assert code == 0
    assert "one household (at most 2 rows each)" in out
    assert "rms" in out
    assert "leaves" in out
    record = json.loads(run(*line, "--ledger", "people.ledger", "--data", "people.npz", "--json")[1])
    assert record["rows"] == 2000
    assert 0 < record["expected_error"][0]["rms"] < 10
    with Ledger("homes.ledger") as ledger:
        assert ledger.spent == Pure(0)


def test_a_mechanism_is_taken_by_the_name_that_a_plan_gives_it(run):
    line = [
        "release",
        "trimmed-mean",
        "income",
        "--trim",
        "0.1",
        "--low",
        "0",
        "--high",
        "1000",
        "--epsilon",
        "1",
    ]
    _, out, _ = run(*line, *DATA, "--mechanism", "student-t", "--json")
    assert json.loads(out)["event"]["mechanism"]["calibration"]["noise"]["kind"] == "student-t"
    code, _, err = run(*line, *DATA, "--mechanism", "magic")
    assert code == 2
    assert "'student-t'" in err


def test_an_interval_never_changes_the_mechanism_silently(run):
    line = [
        "release",
        "mean",
        "income",
        "--low",
        "0",
        "--high",
        "1e9",
        "--epsilon",
        "1",
        "--dry-run",
        "--rows",
        "2000",
    ]
    code, out, _ = run(*line)
    assert code == 0
    assert "plain-or-cut" in out
    code, out, _ = run(*line, "--interval", "0.9")
    assert code == 0
    assert "plain-or-cut" in out


def test_groups_are_planned_with_their_part_of_the_rows(run):
    line = ["plan", "count", "--epsilon", "1", "--rows", "4000"]
    one = json.loads(run(*line, "--json")[1])
    some = json.loads(run(*line, "--by", "region", "--by-keys", "a,b,c,d", "--json")[1])
    assert (some["rows"], some["groups"]) == (1000, 4)
    assert some["options"][0]["rms"] > 1.5 * one["options"][0]["rms"]  # each row has half of the price
