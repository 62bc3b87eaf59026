"""Loads a folder of variants and the plug-ins that extend it. What registers where is the variants' own business."""

from __future__ import annotations

import importlib
import pkgutil
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def load(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, then the installed entry points of the group with its name.

    Example:
        >>> import sordino.noise
        >>> load("sordino.noise", sordino.noise.__path__)
    """
    for module in pkgutil.walk_packages(path, f"{package}."):
        importlib.import_module(module.name)
    for plugin in entry_points(group=package):
        plugin.load()
