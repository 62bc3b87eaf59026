"""`sordino serve` itself: TLS beyond this machine, public times that are measured, no secrets on the command line."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

import sordino as sd
from sordino.cli.serve import command
from tests.support.web import organisation


def test_beyond_this_machine_tls_is_needed(tmp_path):
    organisation(tmp_path).close()
    answer = CliRunner().invoke(command, [str(tmp_path), "--bind", "0.0.0.0", "--host", "dp.example.org"])
    assert "TLS is needed" in str(answer.exception)


def test_the_public_time_is_measured_on_generated_data(tmp_path, monkeypatch):
    organisation(tmp_path, statistics=("median", "categories")).close()
    declaration = tmp_path / "households.dataset.toml"
    before = declaration.read_text() + "# kept\n"
    declaration.write_text(before)
    asked = []
    monkeypatch.setattr("sordino.web.calibrate.time.perf_counter", lambda: float(len(asked)))
    whole = sd.Session.release
    monkeypatch.setattr(sd.Session, "release", lambda *given: asked.append(given) or whole(*given))
    answer = CliRunner().invoke(command, [str(tmp_path), "--calibrate"])
    assert (
        answer.output
        == "households: answers are handed out after 4 s, written into households.dataset.toml\n"
    )
    assert declaration.read_text() == before.replace("answer_after = 0.02", "answer_after = 4.0")
    assert {question.column for _, question, _ in asked} == {"income", "region"}
    assert all(people.rows == 400 for people, *_ in asked)
    with sd.Ledger(tmp_path / "survey.ledger") as ledger:
        assert ledger.releases == 0


@pytest.mark.thorough
def test_a_secret_on_the_command_line_is_refused_and_the_process_ends(tmp_path):
    """Nobody who lists the processes of the machine sees one of a running service."""
    organisation(tmp_path).close()
    words = [sys.executable, "-m", "sordino", "serve", str(tmp_path), "--port", "0", "--desk"]
    for secret in (
        "postgresql://me:hunter2@host/db",
        "postgresql://host/db?password=hunter2",
    ):
        made = subprocess.run([*words, secret], capture_output=True, text=True, timeout=60, check=False)
        assert made.returncode == 2
        assert "not taken from the command line" in made.stderr
        assert "hunter2" not in made.stderr + made.stdout
    running = subprocess.Popen(
        [*words, str(tmp_path / "desk.db")], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "SORDINO_TOKEN": "sdn_hidden", "SORDINO_PROXY_SECRET": "hunter2hunter2hunter2"},
    )  # fmt: skip
    try:
        running.stdout.readline()
        shown = subprocess.run(
            ["ps", "-ww", "-o", "args=", "-p", str(running.pid)], capture_output=True, text=True, check=True
        )
        assert "serve" in shown.stdout
        assert not any(word in shown.stdout for word in ("hunter2", "sdn_"))
    finally:
        running.kill()
        running.wait()
        running.stdout.close()
