"""One register, one rule: a name belongs to the class that has it first, built-in names from the start."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from sordino import mechanisms, noise, statistics
from sordino.errors import ParameterError
from sordino.mechanisms import Mechanism
from sordino.noise import Noise
from sordino.registry import Register
from sordino.statistics import Statistic

KINDS = [
    (Statistic, statistics.REGISTER, "median", "Median"),
    (Noise, noise.REGISTER, "laplace", "Laplace"),
    (Mechanism, mechanisms.REGISTER, "additive", "Additive"),
]
ids = [register.kind for _, register, _, _ in KINDS]


@pytest.mark.parametrize(("base", "register", "name", "qualified"), KINDS, ids=ids)
def test_a_plug_in_cannot_take_the_name_of_a_built_in(base, register, name, qualified):
    """Neither under another class name nor under the same one in another module."""
    holder = register.load()[name]
    for called in ("Mine", qualified):
        with pytest.raises(ParameterError, match=f"the name '{name}' is taken"):
            type(called, (base,), {"name": name, "__slots__": (), "__module__": "somewhere.else"})
        assert register.load()[name] is holder


@pytest.mark.parametrize(("base", "register", "name", "qualified"), KINDS, ids=ids)
def test_a_plug_in_that_comes_first_cannot_take_it_either(base, register, name, qualified):
    """In a fresh process, before any built-in of the folder is imported."""
    program = (
        f"from {base.__module__} import {base.__name__}\n"
        "try:\n"
        f"    type({qualified!r}, ({base.__name__},), {{'name': {name!r}, '__slots__': (), '__module__': 'other'}})\n"
        "except ValueError as error:\n"
        "    print(str(error).splitlines()[0])\n"
        f"from {base.__module__} import REGISTER\n"
        f"print(REGISTER.load()[{name!r}].__module__)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    first, second = said.splitlines()
    assert f"the name '{name}' is taken" in first
    assert second.startswith(register.package + ".")


@pytest.mark.parametrize(("base", "register", "name", "qualified"), KINDS, ids=ids)
def test_a_variant_is_found_by_the_text_of_its_file(base, register, name, qualified):
    """Every name leads to the one module that registers it; what is not written in any file leads nowhere."""
    own = {
        name: kind for name, kind in register.load().items() if kind.__module__.startswith(register.package)
    }
    assert {name: register._homes(name) for name in own} == {
        name: [kind.__module__] for name, kind in own.items()
    }
    assert register._homes("no-such-name") == []
    assert register.get(name).__name__ == qualified
    assert register.get("no-such-name") is register.get("\udc80") is register.get(None) is None


def test_a_release_imports_the_one_statistic_that_is_asked_for():
    """Neither the other statistics, nor narwhals for a text file, nor error bars nobody wants."""
    program = (
        "import sys, sordino as sd\n"
        "from sordino import catalogue\n"
        "catalogue.statistic('median')\n"
        "people = sd.open({'x': [1, 2, 3] * 40}, budget=sd.Pure(1), reason='a test')\n"
        "people.release(sd.Median('x', low=0, high=10), sd.Pure(1))\n"
        "print([name for name in ('sordino.statistics.mean', 'sordino.session.bars',\n"
        "    'sordino.mechanisms.table.margins', 'sordino.mechanisms.quantile.quantile_interval',\n"
        "    'narwhals', 'numpy.ma', 'importlib.metadata') if name in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_a_class_may_be_defined_again_in_its_own_place():
    """A dataclass with slots builds its class twice; a notebook runs a cell again."""
    fruits = Register("fruit", "orchard")
    for _ in range(2):

        @dataclass(slots=True)
        class Apple:
            size: int = 1

        fruits.add("apple", Apple)
    assert fruits["apple"] is Apple
    with pytest.raises(ParameterError, match="taken"):
        fruits.add("apple", type("Pear", (), {}))
