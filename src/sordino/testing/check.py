"""`check`: run every law of one class, ours or a plug-in's, and say which hold.

The class decides the laws: a statistic, a noise family, a mechanism, a recipe, a source.
"""

from __future__ import annotations

import importlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
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
        try:
            found = getattr(importlib.import_module(module), last)
        except (ImportError, AttributeError) as problem:
            raise ParameterError(
                "check",
                "there is no such class",
                got={"name": name},
                hint="sordino check my_package.MyStatistic",
            ) from problem
        if isinstance(found, type):
            return found
    known: dict[str, type[Any]] = {
        **catalogue.mechanisms(),
        **catalogue.noise_families(),
        **catalogue.statistics(),
    }
    return catalogue.find("class to check", name, known)


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
