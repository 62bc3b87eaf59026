"""The verbs of `sordino geo` for point reports: head, report, collect, estimate, map, plan, check-client."""

import csv
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sordino.cli import program
from sordino.errors import AuditFailed, DataError, ParameterError
from sordino.geo import Reference

CENTRE = "--centre=4.9,52.4"
SPHERE = Reference.around(longitude=4.9, latitude=52.4, radius=15_000)
CLIENT = Path(__file__).parents[2] / "clients" / "js"


def run(*arguments):
    done = CliRunner().invoke(program, ["geo", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def points_file(path, count=3000, seed=1):
    metres = np.random.default_rng(seed).normal((500, 0), 1200, (count, 2))
    rows = [f"d{i},{lon:.7f},{lat:.7f}\n" for i, (lon, lat) in enumerate(SPHERE.to_degrees(metres))]
    path.write_text("id,lon,lat\n" + "".join(rows))
    return metres


@pytest.fixture
def world(tmp_path):
    """A head, points and their reports."""
    metres = points_file(tmp_path / "points.csv")
    run("head", "--epsilon", 1, "--per", "200m", CENTRE, "--radius", "15km", "--out", tmp_path / "head.json")
    run("report", tmp_path / "points.csv", "--head", tmp_path / "head.json", "--columns", "lon,lat", "--devices", "id",
        "--out", tmp_path / "r.jsonl")  # fmt: skip
    return tmp_path, metres


def test_the_head_is_the_same_from_words_and_from_a_file(world):
    folder, _ = world
    shown = json.loads(run("head", "--epsilon", 1, "--per", "200m", CENTRE, "--radius", "15km").stdout)
    assert shown == json.loads((folder / "head.json").read_text())
    first = json.loads((folder / "r.jsonl").read_text().splitlines()[0])
    assert first == {"sordino": shown}
    other = json.loads(
        run("head", "--epsilon", 1, "--per", "200m", "--centre=4.91,52.4", "--radius", "15km").stdout
    )
    assert other["id"] != shown["id"]
    timed = run("head", "--epsilon", 1, "--per", "1", "--between", "0,100", "--unit", "dollar", "--rounds-from",
                "2026-01-01T00:00:00Z", "--round-seconds", 86400)  # fmt: skip
    assert json.loads(timed.stdout)["rounds"]["seconds"] == 86400


def test_questions_are_asked_after_the_reports(world):
    folder, metres = world
    lon, lat = SPHERE.to_degrees([[500.0, 0.0]])[0]
    disc = json.loads(
        run(
            "estimate", folder / "r.jsonl", "disc", f"centre={lon}deg,{lat}deg", "radius=1500m", "--json"
        ).stdout
    )
    true = (np.hypot(metres[:, 0] - 500, metres[:, 1]) < 1500).sum()
    assert abs(disc["value"] - true) < 5 * disc["standard_error"] + 30
    assert disc["accepted"] == 3000
    same = json.loads(
        run("estimate", folder / "r.jsonl", "disc", "centre=500,0", "radius=1.5km", "--json").stdout
    )
    assert same["value"] == pytest.approx(disc["value"], rel=1e-3)
    assert (
        "softened over" in run("estimate", folder / "r.jsonl", "box", "low=-1km,-1km", "high=1km,1km").output
    )
    mean = json.loads(run("estimate", folder / "r.jsonl", "mean", "--json").stdout)
    assert abs(mean["mean"][0] - 500) < 6 * mean["standard_error"][0]
    assert "the mean is at longitude 4.9" in run("estimate", folder / "r.jsonl", "mean").output
    places = run("estimate", folder / "r.jsonl", "kernel-density", "at=500,0;9km,9km", "bandwidth=400m")
    assert "share" in places.output


def test_outlines_are_projected_like_the_points(world):
    """GeoJSON is in degrees; the same square in metres gives the same answer, and without a reference it is refused."""
    folder, metres = world
    corners = SPHERE.to_degrees([[-500, -900], [1500, -900], [1500, 900], [-500, 900], [-500, -900]]).tolist()
    feature = {
        "type": "Feature", "properties": {"name": "square"}, "geometry": {"type": "Polygon", "coordinates": [corners]},
    }  # fmt: skip
    (folder / "o.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    true = ((metres > [-500, -900]) & (metres < [1500, 900])).all(axis=1).sum()
    out = folder / "regions.csv"
    run("estimate", folder / "r.jsonl", "--regions", folder / "o.geojson", "--out", out)
    (row,) = csv.DictReader(out.read_text().splitlines())
    assert row["name"] == "square"
    assert abs(float(row["people"]) - true) < 4 * float(row["standard_error"]) + 40
    box = json.loads(
        run("estimate", folder / "r.jsonl", "box", "low=-500,-900", "high=1500,900", "--json").stdout
    )
    assert float(row["people"]) == pytest.approx(box["value"], rel=5e-3)
    # The same for a question that devices answer themselves.
    run("report", folder / "points.csv", "geofence", f"outline={folder / 'o.geojson'}", "width=400m", "--epsilon", 1,
        "--per", "200m", "--columns", "lon,lat", CENTRE, "--radius", "15km", "--out", folder / "q.jsonl")  # fmt: skip
    found = json.loads(run("estimate", folder / "q.jsonl", "--json").stdout)
    assert abs(found["value"] - true / 3000) < 5 * found["standard_error"] + 0.02
    with pytest.raises(ParameterError, match="degrees need a coordinate reference"):
        run(
            "plan",
            "geofence",
            f"outline={folder / 'o.geojson'}",
            "width=400m",
            "--epsilon",
            1,
            "--per",
            "200m",
        )


@pytest.mark.few(2)
@pytest.mark.parametrize("ending", ["html", "png", "svg", "geojson", "csv"])
def test_maps_in_every_form(world, ending):
    folder, metres = world
    out = folder / f"map.{ending}"
    done = run("map", folder / "r.jsonl", "--out", out, "--cells", 30, "--size", "6km", "--joint")
    assert "smallest-error map" in done.output
    text = out.read_bytes()
    if ending == "html":
        assert b"Unbiased" in text
        assert b"http" not in text.replace(b"https://www.w3.org", b"")  # no tiles, no network
    elif ending == "geojson":
        features = json.loads(text)["features"]
        assert len(features) == 900
        ring = np.array(features[0]["geometry"]["coordinates"][0])
        assert (abs(ring - [4.9, 52.4]) < 0.1).all()
        assert {"density", "standard_error", "joint_low", "smallest_error_density"} <= set(
            features[0]["properties"]
        )
    elif ending == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert len(rows) == 900
        people = sum(float(row["density"]) for row in rows) * (6 / 29) ** 2
        assert people == pytest.approx(3000, rel=0.15)
        assert float(rows[0]["joint_low"]) <= float(rows[0]["low"])
    elif ending == "png":
        assert text[:4] == b"\x89PNG"
    assert len(metres) == 3000


def test_a_map_says_what_is_odd(world):
    """Narrow bandwidths, hot places, and points that were all sent from outside the region."""
    folder, _ = world
    narrow = run("map", folder / "r.jsonl", "--out", folder / "m.csv", "--bandwidth", "40m", "--cells", 10)
    assert "left out" in narrow.output
    record = json.loads(
        run(
            "map", folder / "r.jsonl", "--out", folder / "m.csv", "--hot", "50", "--cells", 20, "--json"
        ).stdout
    )
    assert record["hot_places"] > 0
    assert record["at_the_border"] < 0.05
    lines = (folder / "points.csv").read_text().splitlines()
    swapped = ["id,east,north", *(f"{i},{b},{a}" for i, a, b in (line.split(",") for line in lines[1:]))]
    (folder / "swapped.csv").write_text("\n".join(swapped))
    run("report", folder / "swapped.csv", "--head", folder / "head.json", "--columns", "east,north", "--out",
        folder / "s.jsonl")  # fmt: skip
    done = run("map", folder / "s.jsonl", "--out", folder / "m.csv", "--cells", 10)
    assert "swapped" in done.output


def test_collecting_survives_repeats_and_keeps_bad_lines(world):
    folder, _ = world
    store, aside = folder / "store.sqlite", folder / "aside.jsonl"
    with (folder / "r.jsonl").open("a") as file:
        file.write("garbage\n")
    done = run("collect", folder / "r.jsonl", "--into", store, "--quarantine", aside)
    assert "3,000 reports" in done.output
    assert "1 malformed" in done.output
    entry = json.loads(aside.read_text())
    assert entry == {"file": str(folder / "r.jsonl"), "line": 3002, "reason": "malformed", "text": "garbage"}
    again = json.loads(run("collect", folder / "r.jsonl", "--into", store, "--json").stdout)
    assert again["rejected"] == {"malformed": 1, "replayed": 3000}
    found = json.loads(run("estimate", store, "box", "low=-1km,-1km", "high=2km,1km", "--json").stdout)
    assert found["accepted"] == 3000
    assert run("map", store, "--out", folder / "m.csv", "--cells", 10).exit_code == 0


def test_rounds_are_told_apart(world):
    folder, _ = world
    run("report", folder / "points.csv", "--head", folder / "head.json", "--columns", "lon,lat", "--devices", "id",
        "--round", 1, "--out", folder / "r1.jsonl")  # fmt: skip
    store = folder / "rounds.sqlite"
    run("collect", folder / "r.jsonl", folder / "r1.jsonl", "--into", store)
    asked = ("box", "low=-1km,-1km", "high=2km,1km")
    both = run("estimate", store, *asked)
    assert "2 rounds" in both.output
    one = json.loads(run("estimate", store, *asked, "--round", 1, "--json").stdout)
    assert one["accepted"] == 3000


def test_old_files_and_other_heads_are_refused_by_name(world):
    folder, _ = world
    (folder / "old.jsonl").write_text(
        json.dumps({"sordino": {"format": "sordino.geo.report", "version": 1, "mechanism": {}}}) + "\n"
    )
    with pytest.raises(DataError, match="version 1"):
        run("map", folder / "old.jsonl", "--out", folder / "m.csv")
    run(
        "head",
        "--epsilon",
        1,
        "--per",
        "200m",
        "--centre=4.91,52.4",
        "--radius",
        "15km",
        "--out",
        folder / "h2.json",
    )
    other = json.loads(
        run(
            "collect",
            folder / "r.jsonl",
            "--head",
            folder / "h2.json",
            "--into",
            folder / "s2.sqlite",
            "--json",
        ).stdout
    )
    assert other["rejected"] == {"foreign": 3000}
    (folder / "none.json").write_text("[]")
    (folder / "headless.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match="describes no mechanism"):
        run(
            "report",
            folder / "points.csv",
            "--head",
            folder / "none.json",
            "--columns",
            "lon,lat",
            "--out",
            "x.jsonl",
        )
    with pytest.raises(ParameterError, match="no head"):
        run("estimate", folder / "headless.jsonl", "mean")


def test_incomes_on_a_line(tmp_path):
    path = tmp_path / "incomes.csv"
    incomes = np.exp(np.random.default_rng(1).normal(11.0, 0.6, 3000))
    path.write_text("income\n" + "".join(f"{v:.2f}\n" for v in incomes))
    out = tmp_path / "r.parquet"
    run("report", path, "--epsilon", 1, "--per", 5000, "--between", "0,500000", "--unit", "dollar", "--columns",
        "income", "--out", out)  # fmt: skip
    found = json.loads(run("estimate", out, "threshold", "at=60000", "--json").stdout)
    assert abs(found["value"] - (incomes > 60_000).sum()) < 5 * found["standard_error"] + 30
    assert "dollars" in run("estimate", out, "threshold", "at=60000").output


@pytest.mark.thorough
def test_plans_of_maps_and_of_questions(tmp_path):
    picture = tmp_path / "plan.png"
    done = run("plan", "--users", 5000, "--epsilon", 1, "--per", "200m", "--size", "8km", "--bandwidth", "300m",
               "--plot", picture)  # fmt: skip
    assert "no private point was read" in done.output
    assert "smallest-error map wins among what costs one price" in done.output
    assert picture.stat().st_size > 1000
    record = json.loads(
        run("plan", "--users", 5000, "--epsilon", 1, "--per", "200m", "--size", "8km", "--json").stdout
    )
    assert record["people_per_km2"] == pytest.approx(5000 / 64)
    assert len({row["bandwidth"] for row in record["expected"]}) == 4
    price = ["--epsilon", 1, "--per", "200m", "--json"]
    wide = json.loads(run("plan", "kernel-density", "at=0,0", "bandwidth=600m", *price).stdout)
    assert wide["verdict"].startswith("One report of the point wins")
    sharp = json.loads(run("plan", "disc", "centre=0,0", "radius=1km", "width=400m", *price).stdout)
    assert sharp["verdict"].startswith("Asked alone, laplace-pareto")


def test_a_client_is_held_to_the_vectors(tmp_path):
    if shutil.which("node"):
        done = run(
            "check-client",
            "--vectors",
            CLIENT / "vectors.json",
            "--",
            "node",
            CLIENT / "vectors.js",
            "--answer",
        )
        assert "noise" in done.output
    silent = tmp_path / "silent.py"
    silent.write_text("")
    with pytest.raises(AuditFailed, match="must send nothing"):
        run("check-client", "--vectors", CLIENT / "vectors.json", "--", sys.executable, silent)
    with pytest.raises(DataError, match="no vectors"):
        run("check-client", "--vectors", silent, "--", "true")
    with pytest.raises(DataError, match="cannot be started"):
        run("check-client", "--vectors", CLIENT / "vectors.json", "--", tmp_path / "nothing")
