"""Clocks count what a library starts elsewhere; Spark is timed once and then read."""

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.peers import __main__ as door
from benchmarks.peers import environments, libraries, speed

BUSY = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True)\ninput()"


@pytest.fixture
def clock():
    described = importlib.util.spec_from_file_location("clock", libraries.ADAPTERS / "clock.py")
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="CPU of others is read from /proc"
)


@needs_proc
def test_a_process_that_lives_on_is_counted(clock):
    started = []

    def start():
        child = subprocess.Popen(
            [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(child)
        assert child.stdout.readline() == "done\n"

    before = time.process_time()
    spent = clock.timed(start)
    assert 0.4 < spent < 2.0
    assert time.process_time() - before < 0.4  # this process did little of it
    assert clock.memory() > clock.resource.getrusage(clock.resource.RUSAGE_SELF).ru_maxrss
    started[0].communicate("\n", timeout=30)


@needs_proc
def test_a_process_that_has_ended_is_counted(clock):
    script = BUSY.replace("input()", "")
    assert (
        0.4
        < clock.timed(lambda: subprocess.run([sys.executable, "-c", script], check=True, capture_output=True))
        < 2
    )


def test_looking_around_costs_an_answer_nothing(clock):
    assert min(clock.timed(lambda: None) for _ in range(5)) < 0.002


def test_an_answer_that_takes_too_long_is_told(tmp_path, monkeypatch):
    (tmp_path / "clock.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(speed, "ADAPTERS", tmp_path)
    place = environments.Environment(library="slow", python=sys.executable, version="1")
    assert speed.clocked(place, "slow", {}, 0.3) == {"failed": "no answer within 0.3 s"}


def test_spark_is_timed_once_for_a_version(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(speed, "on_spark", lambda *_: asked.append(1) or [{"library": "tmlt_spark"}])
    options = door.parse(["speed", "--cache", str(tmp_path)])

    def times(version, *, wanted):
        place = environments.Environment(library="tmlt", python="python", version=version)
        return door.spark_times(options, {"tmlt": place}, wanted=wanted)

    assert times("tmlt 1", wanted=False) is None
    assert times("tmlt 1", wanted=True) == times("tmlt 1", wanted=True) == [{"library": "tmlt_spark"}]
    assert len(asked) == 1
    times("tmlt 2", wanted=True)
    assert len(asked) == 2
    assert json.loads((tmp_path / "spark-full.json").read_text())["version"] == "tmlt 2"
    assert door.spark_times(options, {}, wanted=True) is None
