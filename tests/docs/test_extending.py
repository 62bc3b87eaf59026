"""The examples of the extension guide run: a stranger's file each, put through every law that ours go through."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import sordino as sd
from sordino import mechanisms, noise, statistics
from sordino.mechanisms.additive.additive import Additive
from sordino.testing import check

FOLDER = Path(__file__).parents[2] / "docs" / "howto" / "extending"


@pytest.fixture(scope="module")
def example():
    """Load a file of the guide as a module of its own; names that it registers are given back afterwards."""
    known = {one: dict(one.load()) for one in (statistics.REGISTER, mechanisms.REGISTER, noise.REGISTER)}
    loaded = []

    def load(name):
        title = f"extending_{name}"
        if title not in sys.modules:
            spec = importlib.util.spec_from_file_location(title, FOLDER / f"{name}.py")
            module = importlib.util.module_from_spec(spec)
            sys.modules[title] = module
            loaded.append(title)
            spec.loader.exec_module(module)
        return sys.modules[title]

    yield load
    for title in loaded:
        del sys.modules[title]
    for register, names in known.items():
        register.known.clear()
        register.known.update(names)


def broken(kind):
    return {verdict.law: verdict.problems for verdict in check(kind) if not verdict.holds}


def test_every_file_of_the_guide_is_shown_and_tried():
    page = (FOLDER.parent / "extend.md").read_text(encoding="utf-8")
    here = Path(__file__).read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert f"extending/{path.name}" in page
        assert f'example("{path.stem}")' in here


def test_a_statistic_keeps_every_law_and_gets_the_mechanism_that_suits_it(example):
    kind = example("mid_range").MidRange
    assert broken(kind) == {}
    asked = kind("x", low=0, high=5000)
    people = sd.open({"x": list(range(1000))}, budget=sd.Pure(10))
    assert people.quote(asked, sd.Pure(1)).mechanism["kind"] == "piecewise-laplace"
    assert 0 <= people.release(asked, sd.Pure(1)).value <= 5000
    assert sd.MidRange is kind
    found = sd.plan(asked, sd.Pure(1), rows=200, tables=2)
    best = min(option.rms for option in found.options)
    assert found.default.rms <= 1.2 * best
    assert 'sd.MidRange("x", low=0, high=5000)' in str(found)


def test_a_noise_family_keeps_every_law_its_sampler_included(example):
    module = example("logistic")
    assert broken(module.Logistic) == {}
    assert broken(module.LogisticRecipe) == {}
    calibration = module.Logistic.calibrate(sd.Pure(1), smoothing=0)
    people = sd.open({"x": [1.0] * 50}, budget=sd.Pure(10))
    answer = people.release(sd.Count("x"), sd.Pure(1), mechanism=Additive(calibration=calibration))
    assert answer.value == round(answer.value)


def test_a_noise_family_without_a_recipe_is_told_the_name_that_is_missing(example, monkeypatch):
    module = example("logistic")
    monkeypatch.delattr(module, "LogisticRecipe")
    (problem,) = broken(module.Logistic)["the exact sampler keeps its tolerance"]
    assert f"there is no LogisticRecipe in {module.__name__}" in problem
    assert "Hint: class LogisticRecipe(Recipe)" in problem


def test_a_mechanism_keeps_its_promise_and_refuses_what_it_does_not_cover(example):
    kind = example("coarse_count").CoarseCount
    people = sd.open({"x": list(range(1000))}, budget=sd.Pure(10))
    assert people.release(sd.Count("x"), sd.Pure(5), mechanism=kind(price=sd.Pure(5))).value == 1000
    with pytest.raises(sd.Unsupported, match="not covered"):
        people.release(sd.Median("x", low=0, high=9), sd.Pure(1), mechanism=kind(price=sd.Pure(1)))


def test_a_source_reads_every_line_by_itself(example, tmp_path):
    path = tmp_path / "people.jsonl"
    lines = [json.dumps({"age": age}) for age in range(20, 60)]
    path.write_text("\n".join([*lines, "no object", "[1]", '{"age": "old"}']))
    source = example("json_lines").JsonLines(path, ["age"])
    people = sd.open(source, budget=sd.Pure(200))
    assert people.release(sd.Count("age"), sd.Pure(100)).value == 40


def test_a_source_keeps_every_law(example):
    assert broken(example("json_lines").JsonLines) == {}


def test_a_verb_prints_what_is_left(example, tmp_path):
    place = str(tmp_path / "people.ledger")
    sd.Ledger.create(place, sd.Pure(3), reason="an example").close()
    done = CliRunner().invoke(example("budget").command, [place])
    assert done.exit_code == 0
    assert "Pure(epsilon=3)" in done.output
