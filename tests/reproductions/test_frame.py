"""The frame: discovery, files, records, and going on after an interruption."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reproductions import chosen, experiments
from reproductions.experiment import Experiment
from reproductions.runner import run
from sordino.errors import ParameterError

pytestmark = pytest.mark.thorough

CALLS: list[int] = []
BROKEN: set[int] = set()


def parts(scale, data):
    return [{"seed": seed, "top": 2 if scale == "smoke" else 4} for seed in range(3)]


def compute(part):
    if part["seed"] in BROKEN:
        raise KeyboardInterrupt
    CALLS.append(part["seed"])
    return [[part["seed"], x, float("inf") if x == 0 else 1 / x] for x in range(part["top"])]


def draw(result):
    from sordino import plots

    return plots.curves({"a": (result.column("x"), result.column("y"))}, xlabel="x", ylabel="y")


TOY = Experiment(
    "999-toy",
    "999",
    "a toy",
    "it works",
    ("seed", "x", "y"),
    parts,
    compute,
    lambda r: f"{len(r.rows)} rows",
    draw,
)


@pytest.fixture(autouse=True)
def _fresh():
    CALLS.clear()
    BROKEN.clear()


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path):
    BROKEN.add(2)
    with pytest.raises(KeyboardInterrupt):
        run(TOY, scale="smoke", out=tmp_path)
    assert CALLS == [0, 1]
    BROKEN.clear()
    steps = []
    kept = run(TOY, scale="smoke", out=tmp_path, progress=steps.append)
    assert CALLS == [0, 1, 2]
    assert kept.resumed == 2
    assert sum(steps) == 3
    assert kept.result.rows == TOY.run("smoke").rows


def test_another_scale_is_another_part(tmp_path):
    run(TOY, scale="smoke", out=tmp_path)
    assert run(TOY, scale="full", out=tmp_path).resumed == 0
    assert run(TOY, scale="full", out=tmp_path).resumed == 3


def test_a_torn_part_is_not_taken_for_finished(tmp_path):
    run(TOY, scale="smoke", out=tmp_path)
    files = sorted((tmp_path / "parts" / TOY.name).iterdir())
    assert [path.suffix for path in files] == [".json"] * 3
    files[0].rename(files[0].with_suffix(".1.partial"))
    assert run(TOY, scale="smoke", out=tmp_path).resumed == 2


def test_files_and_record(tmp_path):
    kept = run(TOY, scale="smoke", out=tmp_path)
    assert {path.name for path in kept.files} == {f"999-toy.{end}" for end in ("csv", "json", "svg", "png")}
    with (tmp_path / "999-toy.csv").open(newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == ["seed", "x", "y"]
    assert len(table) == 7
    record = json.loads((tmp_path / "999-toy.json").read_text(), parse_constant=pytest.fail)
    assert record["settings"] == parts("smoke", None)
    assert record["seeds"] == [0, 1, 2]
    assert record["rows"][0] == [0, 0, "inf"]
    assert {"version", "started", "seconds", "finding", "scale", "claim"} <= set(record)


def test_a_result_is_read_by_column():
    result = TOY.run("smoke")
    assert result.column("y", x=1) == [1.0, 1.0, 1.0]
    assert result.one("y", x=1, seed=2) == 1.0
    assert result.values("seed") == [0, 1, 2]
    with pytest.raises(ValueError, match="unpack"):
        result.one("y", x=1)


def test_two_processes_give_the_same_rows(tmp_path):
    one = experiments()["hladik-2022-figure-2"]
    assert run(one, scale="smoke", out=tmp_path, jobs=2).result.rows == one.run("smoke").rows


def test_refusals(tmp_path):
    with pytest.raises(ParameterError, match="scale must be one of smoke, full"):
        TOY.run("huge")
    with pytest.raises(ParameterError, match="folder for the results must exist"):
        run(TOY, scale="smoke", out=tmp_path / "nowhere")
    with pytest.raises(ParameterError, match="an experiment, a paper or all"):
        chosen("005-figure-1")


def test_names_are_unique_and_carry_the_paper():
    found = experiments()
    assert list(found) == sorted(found)
    assert all(
        name.startswith(item.paper + "-") and item.claim and item.title for name, item in found.items()
    )
    assert {item.paper for item in chosen("hladik-2022")} == {"hladik-2022"}
    assert len(chosen("all")) == len(found)


def test_command_line(tmp_path):
    from sordino.cli import program

    listed = CliRunner().invoke(program, ["paper", "list", "--json"])
    assert {row["name"] for row in json.loads(listed.stdout)} == set(experiments())
    words = ["paper", "run", "hladik-2022-figure-2", "--out", str(tmp_path / "new"), "--json"]
    (record,) = json.loads(CliRunner().invoke(program, words).stdout)
    assert all(Path(path).stat().st_size > 0 for path in record["files"])
    assert record["parts_resumed"] == 0
    again = CliRunner().invoke(program, [word for word in words if word != "--json"])
    assert "5 of 5 parts were there" in again.stdout
    assert "we find" in again.stdout
