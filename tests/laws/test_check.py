"""Laws for authors: run over the catalogue, and they notice what is wrong."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import sordino as sd
from sordino.cli import main, program
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.exact.recipe import Fast
from sordino.noise.laplace import Laplace
from sordino.noise.laplace.sampler import LaplaceRecipe
from sordino.statistics.categories import Categories
from sordino.statistics.count import Count
from sordino.statistics.median import Median
from sordino.statistics.sparse_table import SparseTable
from sordino.testing import audit_plan, check
from sordino.testing.audit import audit_default
from sordino.testing.check import find
from sordino.testing.recipe_laws import recipes, tolerance


@pytest.mark.parametrize("recipe", list(recipes()), ids=repr)
def test_every_recipe_keeps_its_tolerance(recipe):
    assert list(tolerance(recipe, 120)) == []


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ["median", "mode", "laplace", "selection", "sordino.exact.exponential.ExponentialRecipe"]
)
def test_our_own_classes_keep_their_laws(name):
    assert [verdict.problems for verdict in check(name) if not verdict.holds] == []


class Hasty(LaplaceRecipe):
    """A recipe that claims to be exact in floats."""

    def fast(self, f, *x):
        return Fast(LaplaceRecipe.fast(self, f, *x).value, 0.0)


class Narrow(Median):
    """A median that hides half of its sensitivity."""

    name = ""

    def open(self, summary):
        opened = Median.open(self, summary)
        profile = opened.profile
        less = dataclasses.replace(
            profile, bound=tuple(b // 2 for b in profile.bound), ceiling=profile.ceiling
        )
        return dataclasses.replace(opened, profile=less)

    @classmethod
    def cases(cls):
        for case in Median.cases():
            fields = {f.name: getattr(case.statistic, f.name) for f in dataclasses.fields(case.statistic)}
            yield dataclasses.replace(case, statistic=cls(**fields))


class Loud(Laplace):
    """Laplace noise that promises twice what it keeps."""

    name = ""

    @classmethod
    def cases(cls):
        yield cls()

    @classmethod
    def _calibrate_pure(cls, target, smoothing, method):
        found = Laplace._calibrate_pure.__func__(cls, target, smoothing, method)
        return dataclasses.replace(found, scale=found.scale / Fraction(2))


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Hasty, "the tolerance holds for every completion"),
        (Narrow, "envelopes of every dataset"),
        (Loud, "calibrations keep their promise"),
    ],
)
def test_a_wrong_plug_in_is_told(kind, law):
    assert law in {verdict.law for verdict in check(kind) if not verdict.holds}


def test_the_verb_has_exit_codes():
    run = CliRunner()
    good = run.invoke(program, ["check", "sordino.statistics.count.Count"])
    assert good.exit_code == 0, good.output
    assert "holds" in good.output
    assert find("count") is Count
    for name in ("no.such.Class", "median-of-nothing"):
        with pytest.raises(ParameterError):
            find(name)


def test_a_broken_law_ends_with_exit_code_4(tmp_path):
    """A plug-in whose noise is half of what it promises, checked by its place."""
    (tmp_path / "loud_plug_in.py").write_text(
        "import dataclasses\n"
        "from sordino.noise.laplace import Laplace\n"
        "class Loud(Laplace):\n"
        "    name = ''\n"
        "    @classmethod\n"
        "    def cases(cls):\n"
        "        yield cls()\n"
        "    @classmethod\n"
        "    def _calibrate_pure(cls, price, smoothing, method):\n"
        "        found = Laplace._calibrate_pure.__func__(cls, price, smoothing, method)\n"
        "        return dataclasses.replace(found, scale=found.scale / 2)\n"
    )
    places = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "sordino", "check", "loud_plug_in.Loud"]
    broken = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True, check=False
    )
    assert broken.returncode == 4, broken.stderr
    assert "BROKEN" in broken.stdout


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A package in the working folder, where a console script does not look by itself."""
    package = tmp_path / "newcomer"
    package.mkdir()
    files = {
        "__init__": "",
        "modes": "from sordino.statistics.mode import Mode\nclass MyMode(Mode):\n    name = ''\nNUMBER = 1\n",
        "empty": "",
        "needy": "\nimport nonexistent_mod\n",
        "typed": "x = 1\ndef wrong(:\n    pass\n",
        "fails": "import numpy as np\n\ndef broken():\n    return np.zeros('a')\n\nbroken()\n",
        "leaves": "import sys\nsys.exit(3)\n",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place and place != str(tmp_path)])
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == "newcomer"]:
        del sys.modules[name]


def test_a_class_beside_the_caller_is_found(beside):
    told = CliRunner().invoke(program, ["check", "newcomer.modes.MyMode"])
    assert told.exit_code == 0, told.output
    assert "holds" in told.output


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere.MyMode", ["'nowhere' cannot be imported", "No module named 'nowhere'", "pip install -e ."]),
        ("newcomer.nowhere.MyMode", ["'newcomer.nowhere' cannot be imported", "in the folder that holds"]),
        ("newcomer.needy.X", ["No module named 'nonexistent_mod'", "needy.py:2"]),
        ("newcomer.typed.X", ["SyntaxError: ", "typed.py:2"]),
        ("newcomer.fails.X", ["TypeError: ", "fails.py:4"]),
        ("newcomer.leaves.X", ["SystemExit: 3", "leaves.py:2"]),
        ("newcomer.modes.MyMod", ["no class 'MyMod'", "classes are MyMode", "sordino check newcomer.modes.MyMode"]),
        ("newcomer.modes.NUMBER", ["no class 'NUMBER'", "sordino check newcomer.modes.MyMode"]),
        ("newcomer.empty.MyMode", ["It defines no class"]),
        ("newcomer.modes", ["is a module and not a class", "sordino check newcomer.modes.MyMode"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_module_is_said(name, words, beside, capsys):
    with pytest.raises(SystemExit) as left:
        main(["check", name])
    said = capsys.readouterr().err
    assert left.value.code == 2
    assert "bug of ours" not in said
    assert "Hint: " in said
    for word in words:
        assert word in said


def test_an_audit_says_not_refuted_and_how_much_it_would_notice():
    run = CliRunner()
    told = run.invoke(program, ["audit", "count", "--epsilon", "1", "--runs", "2000"])
    assert told.exit_code == 0, told.output
    assert "not refuted" in told.output
    assert "would refute" in told.output
    assert "private" not in told.output
    assert "releasing" not in told.output  # progress is for terminals


def test_an_audit_takes_the_hints_of_a_release(monkeypatch):
    asked = []
    honest = audit_plan.choose
    monkeypatch.setattr(
        audit_plan, "choose", lambda *given, **hints: asked.append(hints) or honest(*given, **hints)
    )
    told = CliRunner().invoke(
        program, ["audit", "variance", "--epsilon", "2", "--rows", "80", "--loose", "--runs", "200"]
    )
    assert told.exit_code == 0, told.output
    assert "plain-or-cut-squares" in told.output
    assert asked
    assert all(hints == {"rows": 80, "loose": True} for hints in asked)


def refused_audit(capsys, words):
    with pytest.raises(SystemExit) as left:
        main(["audit", *words.split()])
    assert left.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "rule", "hint"),
    [
        ("count --epsilon 1 --confidence 95", "confidence must be between 0 and 1", "--confidence 0.95"),
        ("count --epsilon 1 --runs 0", "runs must be a whole number of at least 100", "--runs 4000"),
        ("count --epsilon 1 --runs 3", "runs must be a whole number of at least 100", "--runs 4000"),
        ("count --epsilon 1 --rows 0", "rows must be a whole number of at least 1", "--rows 80"),
        ("count --epsilon 0", "epsilon must be positive", "--epsilon 1"),
        ("count --epsilon nan", "epsilon must be a finite number", "--epsilon 1"),
        ("count --epsilon 1 --delta 3", "delta must be at least 0 and below 1", "--delta 1e-6"),
        ("triangles --epsilon 1 --neighbors replace-one", "must be edge,", "--neighbors edge"),
        ("function --epsilon 1", "no tables of its own", "sd.audit"),
    ],
)
def test_an_audit_refuses_numbers_that_cannot_be_meant(words, rule, hint, capsys):
    said = refused_audit(capsys, words)
    assert rule in said
    assert hint in said


@pytest.mark.parametrize(
    ("named", "rule"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": 1, "delta": 3}, "delta must be at least 0 and below 1"),
        ({"epsilon": 1, "runs": 3}, "runs must be a whole number of at least 100"),
        ({"epsilon": 1, "confidence": 95}, "confidence must be between 0 and 1"),
        ({}, "epsilon must be given"),
        ({"epsilon": 1, "release": sd.Count("x")}, "can be called with a table"),
        ({"epsilon": 1, "release": lambda table: "north"}, "an answer must be a number or several"),
        ({"epsilon": 1, "release": lambda table: ("3", 1)}, "keys.index(answer)"),
        ({"epsilon": 1, "release": lambda table: {"north": 1}}, "keys.index(answer)"),
        ({"epsilon": 1, "release": lambda table: ()}, "an answer must be a number or several"),
        ({"epsilon": 1, "release": lambda table: table["x"]}, "as many numbers"),
    ],
)
def test_an_audit_of_something_else_refuses_the_same(named, rule):
    named = {"release": lambda table: len(table["x"]), **named}
    with pytest.raises(ParameterError, match=re.escape(rule)) as refused:
        sd.audit(table={"x": [1]}, neighbour={"x": [1, 2]}, **named)
    assert refused.value.hint


def test_an_audit_takes_what_can_be_meant():
    """Arrays; and a delta that no event of so few runs exceeds."""
    found = sd.audit(lambda table: np.ones(2), {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=100, delta=0.9)
    assert not found.refuted
    assert found.lower == 0


def test_a_refuted_promise_has_no_more_to_say():
    random = np.random.default_rng(7)
    found = sd.audit(
        lambda table: 9 * len(table["x"]) + random.laplace(), {"x": []}, {"x": [1]}, epsilon=1, runs=200
    )
    assert not found.strong
    assert "would NOT refute" in str(dataclasses.replace(found, lower=0.0))
    assert str(found).startswith("REFUTED")
    assert "would" not in str(found)
    assert found.to_dict()["power"] is None


def test_an_audit_for_machines_says_what_it_would_have_noticed():
    told = CliRunner().invoke(program, ["audit", "triangles", "--epsilon", "1", "--runs", "300", "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.output)
    assert found["neighbors"] == "edge"  # the first that it has
    assert (found["epsilon"], found["delta"], found["confidence"], found["runs"]) == (1, 0, 0.95, 300)
    assert found["event"]
    assert found["mechanism"] == "additive"
    assert found["power"]["would_refute"] is False
    assert found["power"]["bound"] < 1


def test_numbers_that_tell_half_each_are_seen_together():
    random = np.random.default_rng(7)
    for scale, refuted in ((1.6, True), (2.0, False)):

        def noisy(table, scale=scale):
            moved = len(table["x"])
            return moved + random.laplace(scale=scale), random.laplace(scale=scale) - moved

        found = sd.audit(noisy, {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=6000, low_bits=False)
        assert found.refuted is refuted
        assert not refuted or "2 numbers" in found.event


@pytest.mark.thorough
@pytest.mark.statistical
def test_a_person_who_moves_two_counts_is_seen():
    """Each count alone tells half: the pair of tables and the event must be of both."""
    case = next(iter(Categories.cases()))
    assert case.statistic.neighbors is sd.Neighbors.REPLACE_ONE
    found = audit_default(case, sd.Pure(1), bits=SeededBits(1))
    assert found.strong
    assert found.runs <= 16000
    assert not found.refuted


def test_answers_that_say_their_keys_are_audited_key_by_key():
    """Of a different number of keys each time."""
    case = next(iter(SparseTable.cases()))
    found = audit_default(case, sd.Approx(1, 1e-3), runs=300, bits=SeededBits(1))
    assert not found.refuted


@pytest.mark.thorough
@pytest.mark.statistical
def test_the_default_audit_of_a_median_would_refute_a_fifth_less_noise():
    case = next(case for case in Median.cases() if case.statistic.neighbors is sd.Neighbors.REPLACE_ONE)
    found = audit_default(case, sd.Pure(1), bits=SeededBits(1))
    assert found.strong
    assert not found.refuted


def test_an_audit_refutes_noise_that_is_too_small():
    random = np.random.default_rng(7)
    for scale, refuted in ((0.8, True), (1.0, False)):

        def noisy(table, scale=scale):
            return len(table["x"]) + random.laplace(scale=scale)

        found = sd.audit(noisy, {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=6000, low_bits=False)
        assert found.refuted is refuted


def test_what_comes_with_an_answer_is_audited_too():
    """The answer is innocent and so is its by-product; both together tell the tables apart."""
    random = np.random.default_rng(7)

    def crossed(table):
        place = random.laplace()
        return place, place + len(table["x"]) if random.random() < 0.5 else random.laplace()

    found = sd.audit(crossed, {"x": []}, {"x": [1] * 4}, epsilon=1, runs=3000, low_bits=False)
    assert found.refuted

    def told(table):
        return random.laplace(), float(random.random() < 0.1 * len(table["x"]))

    found = sd.audit(told, {"x": [1]}, {"x": [1] * 9}, epsilon=1, runs=3000, low_bits=False)
    assert found.refuted
    assert "by-product" in found.event


def test_the_last_bits_of_float_noise_are_seen():
    """The size of the answers keeps the promise; which doubles come out does not (Mironov 2012)."""
    random = np.random.default_rng(7)

    def floats(table):
        return table["x"][0] + random.laplace()

    def on_a_lattice(table):  # the value is on the lattice, and so is the noise
        return (2**20 * table["x"][0] + np.rint(2**20 * random.laplace())) / 2**20

    zero, one = {"x": [0.0]}, {"x": [1.0]}
    found = sd.audit(floats, zero, one, epsilon=1, runs=3000)
    assert found.refuted
    assert found.lower > 3
    assert found.event == "no multiple of 2^-53"
    assert not sd.audit(floats, zero, one, epsilon=1, runs=3000, low_bits=False).refuted
    assert not sd.audit(on_a_lattice, zero, one, epsilon=1, runs=3000).refuted


@pytest.mark.statistical
def test_the_last_bits_of_our_answers_tell_nothing():
    people = {value: sd.open({"x": [value]}, budget=sd.Pure(10**6)) for value in (0.0, 1.0)}
    asked = sd.Mean("x", low=0, high=1)

    def released(table):
        return people[table["x"][0]].release(asked, sd.Pure(1)).value

    assert not sd.audit(released, {"x": [0.0]}, {"x": [1.0]}, epsilon=1, runs=300).refuted
