"""Laws for authors: run over the catalogue, and they notice what is wrong."""

import dataclasses
import os
import subprocess
import sys
from fractions import Fraction

import pytest
from click.testing import CliRunner

from sordino.cli import main, program
from sordino.errors import ParameterError
from sordino.exact.recipe import Fast
from sordino.noise.laplace import Laplace
from sordino.noise.laplace.sampler import LaplaceRecipe
from sordino.statistics.count import Count
from sordino.statistics.median import Median
from sordino.testing import check
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
