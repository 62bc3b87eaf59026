"""The papers' experiments, run by the product's own public functions.

A module of this folder that defines ``EXPERIMENTS`` adds them to ``sordino paper``; there is no list to edit.
What an experiment is stands in experiment.py, how it is run and kept in runner.py.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from reproductions.experiment import Experiment


def experiments() -> dict[str, Experiment]:
    """Find every experiment of the folder, by name in the order of the papers.

    Example:
        >>> "hladik-2022-figure-1" in experiments()
        True
    """
    found: list[Experiment] = []
    for module in pkgutil.iter_modules(__path__):
        found += getattr(importlib.import_module(f"{__name__}.{module.name}"), "EXPERIMENTS", ())
    return {experiment.name: experiment for experiment in sorted(found, key=lambda item: item.name)}


def chosen(name: str) -> list[Experiment]:
    """Give the experiment of that name, those of a paper (``hladik-2022``), or all (``all``).

    Example:
        >>> [experiment.name for experiment in chosen("hladik-2022")]
        ['hladik-2022-figure-1', 'hladik-2022-figure-2']
    """
    known = experiments()
    if name in known:
        return [known[name]]
    several = [item for item in known.values() if name in ("all", item.paper)]
    if not several:
        raise ParameterError(
            "paper",
            "name must be an experiment, a paper or all",
            got={"name": name},
            hint="sordino paper list",
        )
    return several
