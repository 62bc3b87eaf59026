"""`check`: run every law of one class, ours or a plug-in's, and say which hold.

The class decides the laws: a statistic, a noise family, a mechanism, a recipe, a source.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from sordino import catalogue
from sordino.errors import ParameterError
from sordino.exact.recipe import Recipe
from sordino.mechanisms import Mechanism
from sordino.noise import Noise
from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one law said.

    Attributes:
        law: Its name.
        problems: What it found; none where it holds.
        seconds: How long it took.
    """

    law: str
    problems: tuple[str, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


def find(name: str | type[Any]) -> type[Any]:
    """A class by ``package.module.Class``, by its catalogue name, or itself.

    Example:
        >>> find("median").__name__, find("sordino.noise.laplace.Laplace").name
        ('Median', 'laplace')
    """
    if isinstance(name, type):
        return name
    module, _, last = name.rpartition(".")
    if module:
        home = _imported(module, name)
        found = getattr(home, last, None)
        if found is None and hasattr(home, "__path__") and importlib.util.find_spec(name):
            found = _imported(name, name)  # a module of the package, without its class
        if isinstance(found, type):
            return found
        raise _no_class(home, last, found)
    known: dict[str, type[Any]] = {
        **catalogue.mechanisms(),
        **catalogue.noise_families(),
        **catalogue.statistics(),
    }
    return catalogue.find("class to check", name, known)


def _imported(module: str, name: str) -> ModuleType:
    """The module of a class, or what keeps it from being imported: all of that is its author's to mend."""
    try:
        return importlib.import_module(module)
    except (Exception, SystemExit) as problem:
        missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
        if missing is not None and f"{module}.".startswith(f"{missing}."):
            raise ParameterError(
                "check", f"the module {module!r} cannot be imported", got={"name": name},
                why=f"Python says: {problem}.",
                hint="run it in the folder that holds the package, or: pip install -e .",
            ) from problem  # fmt: skip
        raise ParameterError(
            "check", f"the module {module!r} fails when it is imported", got={"at": _place(problem)},
            why=f"{type(problem).__name__}: {' '.join(str(problem).split())}",
            hint=f'python -c "import {module}" shows it whole',
        ) from problem  # fmt: skip


def _place(problem: BaseException) -> str:
    """The line of its author's files at which a module failed: what they call fails for what they say there."""
    if isinstance(problem, SyntaxError) and problem.filename:
        return f"{_from_here(problem.filename)}:{problem.lineno}"
    frames = [
        frame
        for frame in traceback.extract_tb(problem.__traceback__)
        if frame.filename not in (__file__, importlib.__file__) and not frame.filename.startswith("<")
    ]
    if not frames:
        return "?"
    folder = Path(frames[0].filename).parent
    theirs = [frame for frame in frames if Path(frame.filename).is_relative_to(folder)]
    theirs = [one for one in theirs if "site-packages" not in Path(one.filename).relative_to(folder).parts]
    return f"{_from_here(theirs[-1].filename)}:{theirs[-1].lineno}"


def _from_here(file: str) -> str:
    """A file as it is called in the working folder."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _no_class(home: ModuleType, last: str, found: object) -> ParameterError:
    """What a module has instead of a class of that name."""
    home = found if isinstance(found, ModuleType) else home
    own = [
        name for name, one in vars(home).items() if isinstance(one, type) and one.__module__ == home.__name__
    ]
    near = get_close_matches(last, own, n=1) or own or ["MyStatistic"]
    rule = f"the module {home.__name__!r} has no class {last!r}"
    if found is home:
        rule = f"{home.__name__!r} is a module and not a class"
    return ParameterError(
        "check", rule,
        why=f"Its own classes are {', '.join(own)}." if own else "It defines no class.",
        hint=f"sordino check {home.__name__}.{near[0]}",
    )  # fmt: skip


def laws(kind: type[Any]) -> dict[str, Callable[[Any], Iterable[str]]]:
    """The laws of a class by name."""
    from sordino.testing import mechanism_laws, noise_laws, recipe_laws, source_laws, statistic_laws

    if issubclass(kind, Statistic) and kind.suits == ("blocks",):
        raise ParameterError(
            "check", "a function by blocks has no envelopes to check", got={"class": kind.__name__},
            why="Its promise rests on the dealing alone (docs/proofs/mechanism_blocks.md).",
            hint="Function.rehearse(example) tries one on public rows",
        )  # fmt: skip
    if issubclass(kind, Statistic):
        return dict(statistic_laws.LAWS)
    if issubclass(kind, Noise):
        return dict(noise_laws.LAWS)
    if issubclass(kind, Mechanism):
        return dict(mechanism_laws.LAWS)
    if issubclass(kind, Recipe):
        return {name: _over_cases(law) for name, law in recipe_laws.LAWS.items()}
    if source_laws.source_like(kind):
        return dict(source_laws.laws(kind))
    raise ParameterError(
        "check",
        "has laws for statistics, noise families, mechanisms, recipes and sources",
        got={"class": kind.__name__},
        hint="sordino check median",
    )


def _over_cases(law: Callable[[Any], Iterable[str]]) -> Callable[[Any], Iterable[str]]:
    """A law of single recipes, for all cases of their class."""
    return lambda kind: itertools.chain.from_iterable(law(one) for one in kind.cases())


def check(name: str | type[Any]) -> Iterator[Verdict]:
    """Run the laws of a class one after another.

    Example:
        >>> [verdict.holds for verdict in check("mode")]
        [True, True, True, True, True]
    """
    kind = find(name)
    for law, run in laws(kind).items():
        start = time.perf_counter()
        try:
            problems = tuple(itertools.islice(run(kind), 5))
        except Exception as problem:  # noqa: BLE001 - a law that cannot be run does not hold
            problems = (f"{type(problem).__name__}: {problem}",)
        yield Verdict(law, problems, time.perf_counter() - start)
