"""The harness: a fake library is asked through the real protocol, answers are kept, and a run resumes."""

import ast
import json
import re
import shutil
import subprocess
import sys

import pytest

from benchmarks.peers import __main__ as door
from benchmarks.peers import environments, libraries, running
from benchmarks.peers.answers import Answers, meaning
from benchmarks.peers.cells import Cell, cells, truth
from benchmarks.peers.columns import COLUMNS, REAL

FAKE = '''
"""A library that knows the mean, raises at every third median and has no variance."""
import itertools
from protocol import Unsupported, serve
turns = itertools.count(1)
def prepare(task, column):
    if task["query"] == "variance":
        raise Unsupported("variance")
    if task["query"] == "q10":
        raise ValueError("no\\nquantiles   here")
    def ask():
        if task["query"] == "median" and next(turns) % 3 == 0:
            raise RuntimeError("unlucky")
        return column.mean() + task["epsilon"]
    return ask
serve(prepare)
'''
CELLS = [Cell("fit", query, "uniform", 201, 1) for query in ("mean", "median", "variance", "q10")]


@pytest.fixture
def fake(tmp_path, monkeypatch):
    folder = tmp_path / "adapters"
    folder.mkdir()
    shutil.copy(libraries.ADAPTERS / "protocol.py", folder)
    (folder / "ask_fake.py").write_text(FAKE)
    monkeypatch.setattr(libraries, "ADAPTERS", folder)
    library = libraries.Library(
        name="fake", requirements=(), variants={"plain": ("replace-one",)}, module="fake", repeats={201: 9}
    )
    place = environments.Environment(library="fake", python=sys.executable, version="fake 1")
    return library, place, tmp_path / "cache"


def ask(fake, chosen=CELLS, **options):
    library, place, cache = fake
    return running.ask(library, place, cache, chosen, ["replace-one"], **options)


def name(cell):
    return cell.name("fake", "plain", "replace-one")


def test_answers_exceptions_and_gaps_come_back(fake):
    kept = ask(fake)
    mean, median, variance, q10 = (kept.get(name(cell)) for cell in CELLS)
    right = truth("mean", CELLS[0].values(), 0.7) + 1
    assert mean["values"] == pytest.approx([right] * 9)
    assert len(median["values"]) == 6
    assert median["raised"] == {"RuntimeError: unlucky": 3}
    assert variance["unsupported"]
    assert q10["raised"] == {"ValueError: no quantiles here": 9}
    assert mean["seconds"] >= 0


def test_a_run_resumes_where_it_stopped(fake):
    assert len(ask(fake, share=0.34).get(name(CELLS[0]))["values"]) == 4
    asked = []
    kept = ask(fake, progress=lambda *told: asked.append(told))
    assert len(kept.get(name(CELLS[0]))["values"]) == 9
    assert [told[2] for told in asked] == [3] * 3  # the unsupported question is not asked again
    assert ask(fake, progress=lambda *_: pytest.fail("nothing is left to ask")).get(name(CELLS[0]))


def test_a_line_cut_by_a_crash_is_forgotten(fake):
    library, place, cache = fake
    kept = ask(fake)
    with kept.path.open("a") as file:
        file.write('{"id": "half')
    again = Answers(cache, library, place.version)
    assert again.get(name(CELLS[0])) == kept.get(name(CELLS[0]))


def test_a_new_version_or_adapter_starts_anew_but_a_comment_does_not(fake):
    library, place, cache = fake
    first = Answers(cache, library, place.version).path
    assert Answers(cache, library, "fake 2").path != first
    library.adapter.write_text(FAKE + "\n# a remark\n")
    assert Answers(cache, library, place.version).path == first
    library.adapter.write_text(FAKE.replace('+ task["epsilon"]', ""))
    assert Answers(cache, library, place.version).path != first


def test_an_adapter_that_dies_is_told(fake):
    fake[0].adapter.write_text("import sys; sys.exit('no such library')")
    with pytest.raises(RuntimeError, match="no such library"):
        ask(fake)


def test_ours_may_not_raise(fake, monkeypatch):
    monkeypatch.setattr(running, "OURS", fake[0])
    with pytest.raises(RuntimeError, match="unlucky"):
        ask(fake, [CELLS[1]])


def test_a_slow_cell_stops_after_three(fake):
    fake[0].adapter.write_text(
        FAKE.replace("return column.mean()", "sum(range(10**6)); return column.mean()")
    )
    assert len(ask(fake, [CELLS[0]], seconds=0.0).get(name(CELLS[0]))["values"]) == 3


def test_every_library_has_an_adapter_that_parses():
    for library in (libraries.OURS, *libraries.PEERS.values()):
        assert ast.parse(library.adapter.read_text())
        assert meaning(library.adapter)
        for variant in library.variants:
            assert f"{library.name} {variant}" in libraries.LABELS


def test_a_library_that_cannot_be_installed_is_told_and_not_skipped(tmp_path):
    wrong = libraries.Library(
        name="wrong", requirements=(), variants={}, module="x", needs="a-program-that-is-not-there"
    )
    with pytest.raises(environments.EnvironmentFailed, match="a-program-that-is-not-there"):
        environments.make(wrong, tmp_path)


def test_failures_are_collected(tmp_path, monkeypatch):
    monkeypatch.setattr(environments.shutil, "which", lambda _: None)
    heard = []
    made, failed = environments.every(tmp_path, ["tmlt", "pydp"], say=heard.append)
    assert made == {}
    assert set(failed) == {"tmlt", "pydp"}
    assert "java" in failed["tmlt"]
    assert any("not available" in text for text in heard)


@pytest.mark.skipif(not (environments.REPOSITORY / ".git").exists(), reason="the copy is taken from git")
def test_ours_is_measured_from_a_copy(tmp_path):
    place = environments.ours(tmp_path)
    assert place.path.startswith(str(tmp_path))
    assert (tmp_path / "snapshots").exists()
    key = place.version.split("(")[1].rstrip(")")
    assert environments.ours(tmp_path, key).version == place.version


def test_all_cells_are_there():
    full = cells("full")
    sizes = len(COLUMNS) * 3 + len(REAL)
    assert len(full) == sizes * 2 * (3 * 9 + 1)  # a count does not depend on the bounds
    assert len({cell.name("a", "b", "c") for cell in full}) == len(full)
    assert {cell.rows for cell in cells("smoke")} == {201}


def test_laws_are_checked_in_a_few_cells_and_nothing_is_drawn_elsewhere():
    grid = libraries.PEERS["opendp"]
    assert running.wanted(grid, Cell("fit", "median", "gauss", 201, 1), 1.0) == running.CHECKED
    assert running.wanted(grid, Cell("10x", "median", "gauss", 201, 1), 1.0) == 0
    assert running.wanted(libraries.PEERS["pydp"], Cell("10x", "median", "gauss", 201, 1), 1.0) == 100


def test_what_a_caller_says_is_true():
    asked = set(running.questions(libraries.OURS, cells("full"), ["replace-one"]))
    assert all(cell.regime == "fit" for cell, variant, _ in asked if variant == "tight")
    assert all(cell.regime != "fit" for cell, variant, _ in asked if variant in ("loose", "rough"))
    boundless = set(running.questions(libraries.PEERS["pydp"], cells("full"), ["add/remove"]))
    assert {cell.regime for cell, _, _ in boundless if cell.query == "mean_auto"} == {"fit"}


def test_an_unknown_step_is_refused(capsys):
    with pytest.raises(SystemExit):
        door.parse(["acuracy"])
    assert "accuracy" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("peer", libraries.PEERS)
def test_a_real_peer_answers_near_the_truth(peer, tmp_path):
    ready = environments.cache_folder() / "environments" / peer / "ready.json"
    if not ready.exists():
        pytest.skip(f"{peer} is not installed; python -m benchmarks.peers environments")
    library = libraries.PEERS[peer]
    place = environments.make(library, environments.cache_folder())
    relation = next(iter(library.variants.values()))[0]
    query = "median" if "median" in library.queries else "mean"
    cell = Cell("fit", query, "uniform", 1001, 1)
    kept = running.ask(library, place, tmp_path, [cell], [relation], share=0.05)
    values = kept.get(cell.name(peer, next(iter(library.variants)), relation))["values"]
    assert json.dumps(values)
    assert abs(sorted(values)[len(values) // 2] - truth(query, cell.values(), 0.7)) < 0.1


@pytest.mark.slow
def test_the_page_for_those_who_come_from_tumult_runs():
    place = environments.make(
        libraries.PEERS["tmlt"], environments.cache_folder()
    )  # installs it where it is missing
    page = environments.REPOSITORY / "docs" / "howto" / "coming_from_tumult.md"
    command = place.command(libraries.ADAPTERS / "page_tmlt.py", str(page))
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=place.variables(), timeout=600
    )
    assert done.returncode == 0, done.stderr[-500:]
    medians = [float(word) for word in re.findall(r"\d+\.\d+", done.stdout)]
    assert len(medians) == 2
    assert all(abs(median - 36_316) < 3_000 for median in medians)  # the median of the law is e^10.5
