"""The verb `sordino geo`: plan, report, estimate, map, and what it says when something is wrong."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from sordino.cli import program
from sordino.errors import ParameterError, SordinoError

QUERY = ["threshold", "at=100000", "width=20000"]
PRICE = ["--epsilon", "1", "--per", "12000"]


def run(*arguments):
    done = CliRunner().invoke(program, ["geo", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture
def incomes(tmp_path):
    path = tmp_path / "incomes.csv"
    values = np.exp(np.random.default_rng(1).normal(11.494, 0.829, 3000))
    path.write_text("id,income\n" + "".join(f"d{i},{v:.2f}\n" for i, v in enumerate(values)))
    return path


def test_plan_ranks_mechanisms_and_says_what_it_assumed(tmp_path):
    picture = tmp_path / "plan.svg"
    done = run(
        "plan", *QUERY, *PRICE, "--users", 1000, "--assume", "log-normal", "--around", "11.5", "--spread", "0.8",
        "--plot", picture,
    )  # fmt: skip
    assert done.exit_code == 0
    assert "no private point was read" in done.output
    assert "indistinguishable within a factor 2.72" in done.output
    assert done.output.index("laplace-pareto  ") < done.output.index("laplace (M2)")
    assert picture.stat().st_size > 1000


def test_plan_of_a_log_normal_density_has_natural_defaults_and_refuses_distances():
    done = run("plan", *QUERY, *PRICE, "--assume", "log-normal", "--json")
    errors = [row["error"] for row in json.loads(done.stdout)["expected"]]
    assert len(errors) >= 6
    assert all(0 < float(error) < 1 for error in errors)
    with pytest.raises(ParameterError, match="those of the logarithms"):
        run("plan", *QUERY, *PRICE, "--assume", "log-normal", "--spread", "120000")


def test_plan_in_json():
    done = run(
        "plan", "kernel-density", "at=0,0", "bandwidth=1km", "--epsilon", "1", "--per", "500m", "--json"
    )
    record = json.loads(done.stdout)
    errors = [row["error"] for row in record["expected"]]
    assert errors == sorted(errors)
    assert record["price"] == {"kind": "geo", "epsilon": "1", "per": "500"}


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_reports_go_out_and_come_back(tmp_path, incomes, ending):
    out = tmp_path / f"reports.{ending}"
    sent = run("report", incomes, *QUERY, *PRICE, "--columns", "income", "--devices", "id", "--out", out)
    assert sent.exit_code == 0
    assert "3,000 reports" in sent.output
    believed = json.loads(run("estimate", out, "--json").stdout)
    checked = json.loads(run("estimate", out, *QUERY, *PRICE, "--json").stdout)
    assert believed["value"] == checked["value"]
    assert believed["count"] == 3000
    assert believed["low"] < 0.49 < believed["high"]
    foreign = json.loads(run("estimate", out, *QUERY, "--epsilon", "2", "--per", "12000", "--json").stdout)
    assert foreign["rejected"] == {"foreign": 3000}


def test_bad_lines_are_counted(tmp_path, incomes):
    out = tmp_path / "reports.jsonl"
    run("report", incomes, *QUERY, *PRICE, "--columns", "income", "--out", out)
    lines = out.read_text().splitlines()
    out.write_text("\n".join([*lines, "garbage", lines[-1]]))
    done = run("estimate", out)
    assert "1 malformed, 1 duplicated" in done.output


def test_the_canary_is_nowhere(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("income\n987654.321\n")
    out = tmp_path / "reports.jsonl"
    done = run("report", path, *QUERY, *PRICE, "--columns", "income", "--out", out)
    told = done.output + out.read_text() + run("estimate", out).output
    assert "987654" not in told


def test_a_map_of_many_places(tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "places.csv"
    rows = "".join(f"{lon:.5f},{lat:.5f}\n" for lon, lat in rng.normal([-73.97, 40.74], 0.02, (400, 2)))
    path.write_text("lon,lat\n" + rows)
    centre = ["--centre=-73.97,40.74"]
    out = tmp_path / "map.png"
    done = run(
        "map", "--epsilon", 1, "--per", "500m", "--points", path, *centre, "--size", "8km", "--cells", 6, "--out", out,
        "--json",
    )  # fmt: skip
    record = json.loads(done.stdout)
    assert record["people"] == 400
    assert out.read_bytes()[:4] == b"\x89PNG"
    reports = tmp_path / "reports.jsonl"
    places = "at=0,0;1km,0;0,1km"
    run("report", path, "kernel-density", places, "bandwidth=1km", "--epsilon", 1, "--per", "500m",
        "--columns", "lon,lat", *centre, "--out", reports)  # fmt: skip
    table = tmp_path / "places_out.csv"
    done = run("estimate", reports, "--out", table)
    assert "largest of all places" in done.output
    assert len(table.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "--epsilon", "1"),
        ("plan", "nonsense", *PRICE),
        ("plan", "threshold", "at=1", *PRICE),
        ("plan", *QUERY, "--epsilon", "x", "--per", "1"),
        ("plan", *QUERY, "--epsilon", "1", "--per", "far"),
        ("plan", *QUERY, *PRICE, "--assume", "guess"),
        ("report", "none.csv", *QUERY, *PRICE, "--columns", "x", "--out", "r.jsonl"),
        ("report", "none.csv", *QUERY, *PRICE, "--noise", "gaussian", "--columns", "x", "--out", "r.jsonl"),
        ("estimate", "none.jsonl"),
        ("map", "--epsilon", 1, "--out", "m.png"),
        ("map", "--epsilon", 1, "--per", "1km", "--out", "m.xls"),
        ("map", "none.jsonl", "--out", "m.png"),
        ("report", "none.csv", *PRICE, "--columns", "lon,lat", "--out", "r.jsonl"),
        ("report", "none.csv", *PRICE, "--centre=4.9,52.4", "--columns", "lat,lon", "--out", "r.jsonl"),
        ("report", "none.csv", *PRICE, "--centre=4.9", "--columns", "lon,lat", "--out", "r.jsonl"),
        ("head", "--centre=4.9,52.4", *PRICE, "--delta", "0.1"),
        ("collect", "none.jsonl", "--into", "s.sqlite"),
    ],
)
def test_mistakes_are_explained(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SordinoError) as caught:
        run(*arguments)
    assert len(str(caught.value)) > 20
    assert list(tmp_path.iterdir()) == []
