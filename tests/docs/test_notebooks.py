"""The notebooks run as they stand, keep what they printed, and say nothing of the machine they were run on."""

import json
import os
import re

import pytest

from docs.notebooks.run import notebooks
from tests.support.servers import postgres_server  # noqa: F401

NOTEBOOKS = notebooks()


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def run(path):
    names = {}
    for cell in read(path):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(path), "exec"), names)
    return names


@pytest.fixture
def alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SORDINO_NOTEBOOK_POSTGRES", raising=False)


def test_there_are_five_and_the_tutorial():
    assert [path.stem for path in NOTEBOOKS] == [
        "first_release", "map_of_visits", "nightly_pipeline", "office_tables", "own_bound", "precinct_tallies",
    ]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, alone):
    assert run(path)


@pytest.mark.thorough
def test_the_pipeline_runs_on_a_real_server(postgres_server, tmp_path, monkeypatch, capsys):  # noqa: F811
    (path,) = [path for path in NOTEBOOKS if path.stem == "nightly_pipeline"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SORDINO_NOTEBOOK_POSTGRES", postgres_server)
    assert run(path)["visits"].startswith("postgresql://")
    assert "the data are in PostgreSQL" in capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_it_printed_is_kept(path):
    cells = read(path)
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert len(outputs) >= 4
    assert not [output for output in outputs if output["output_type"] == "error"]
    pictures = [output for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert pictures or path.stem == "nightly_pipeline", "no picture"
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"/(?:home|root|work|tmp)/", text)
    assert os.environ.get("HOSTNAME", "nowhere") not in text
