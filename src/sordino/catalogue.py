"""Finds what can be asked for by name: noise families, statistics, mechanisms; own folders and plug-ins.

A new file in one of the folders, or an installed entry point, appears here by itself. Nothing is imported before
it is asked for.
"""

from __future__ import annotations

import importlib
import re
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from sordino.mechanisms import Mechanism
    from sordino.noise import Noise
    from sordino.statistics import Statistic

T = TypeVar("T")

NAMED = re.compile(
    r'^class ([A-Z]\w*)\(.*?\):\n(?:(?!class ).*\n)*?    name(?:: ClassVar\[str\])? = "[a-z]', re.MULTILINE
)
"""A class that gives itself a catalogue name."""

LISTED = {
    "statistic": "sordino show statistics", "mechanism": "sordino show mechanisms",
    "noise family": "sordino show noise",
}  # fmt: skip
"""What lists the names of a kind."""


def noise_families() -> dict[str, type[Noise]]:
    """List the noise families by name.

    Example:
        >>> sorted(noise_families())[:3]
        ['arsinh-normal', 'gaussian', 'generalized-cauchy']
    """
    from sordino.noise import families

    return families()


def noise_family(name: str) -> type[Noise]:
    """Find one noise family, or say which names there are.

    Example:
        >>> noise_family("polyplace").__name__
        'PolyPlace'
    """
    return find("noise family", name, noise_families())


def statistics() -> dict[str, type[Statistic]]:
    """List the statistics by name.

    Example:
        >>> sorted(statistics())[:3]
        ['categories', 'count', 'count-above']
    """
    from sordino.statistics import kinds

    return kinds()


def statistic(name: str) -> type[Statistic]:
    """Find one statistic, or say which names there are.

    Example:
        >>> statistic("trimmed-mean").__name__
        'TrimmedMean'
    """
    from sordino.statistics import REGISTER

    return REGISTER.get(name) or find("statistic", name, statistics())


def mechanisms() -> dict[str, type[Mechanism]]:
    """List the mechanisms by name.

    Example:
        >>> "inverse-sensitivity" in mechanisms()
        True
    """
    from sordino.mechanisms import kinds

    return kinds()


def mechanism(name: str) -> type[Mechanism]:
    """Find one mechanism, or say which names there are.

    Example:
        >>> mechanism("selection").__name__
        'Selection'
    """
    return find("mechanism", name, mechanisms())


def find(kind: str, name: str, known: dict[str, T]) -> T:
    """Look a name up, or raise naming the nearest."""
    if name in known:
        return known[name]
    near = get_close_matches(str(name).replace("_", "-").lower(), known, n=1)
    raise ParameterError(
        kind,
        f"the name must be one of {', '.join(known)}",
        got={"name": name},
        hint=near[0] if near else LISTED.get(kind, ""),
    )


def register(variant: type[T]) -> type[T]:
    """Take in a statistic, a noise family or a mechanism of one's own; also a decorator.

    A class with a ``name`` registers by being defined. This says what is missing where it is not complete. The entry
    points of an installed package are found by themselves.

    Example:
        >>> from sordino.statistics.median import Median
        >>> register(Median).name
        'median'
    """
    rooms: tuple[tuple[type, Any], ...] = tuple(
        (getattr(home, contract), home.REGISTER)
        for home, contract in (
            (importlib.import_module("sordino.statistics"), "Statistic"),
            (importlib.import_module("sordino.noise"), "Noise"),
            (importlib.import_module("sordino.mechanisms"), "Mechanism"),
        )
    )
    for contract, known in rooms:
        if not (isinstance(variant, type) and issubclass(variant, contract)):
            continue
        missing = [
            name
            for name in dir(variant)
            if getattr(getattr(variant, name, None), "__isabstractmethod__", False)
        ]
        name = variant.__dict__.get("name")
        if missing or not name:
            raise ParameterError(
                "register", f"{variant.__name__} is not complete",
                got={"missing": missing or ["name"]}, hint='name: ClassVar[str] = "my-statistic"',
            )  # fmt: skip
        known.add(name, variant)
        return variant
    raise ParameterError(
        "register", "takes a class of a statistic, a noise family or a mechanism",
        got={"class": getattr(variant, "__name__", type(variant).__name__)},
        hint="class MyStatistic(sd.statistics.Statistic): ...",
    )  # fmt: skip


@lru_cache(maxsize=1)
def own_names() -> dict[str, str]:
    """Where the library's own statistics, noise families and mechanisms live, by class name; nothing is imported.

    One noun, one file: a file that names a variant is found by its class.

    Example:
        >>> own_names()["Median"], own_names()["PolyPlace"]
        ('sordino.statistics.median', 'sordino.noise.polyplace.law')
    """
    root, found = Path(__file__).parent, {}
    for folder in ("statistics", "noise", "mechanisms"):
        for path in sorted((root / folder).rglob("*.py")):
            module = ".".join(("sordino", *path.relative_to(root).with_suffix("").parts))
            for match in NAMED.finditer(path.read_text(encoding="utf-8")):
                found[match.group(1)] = module
    return found


def public(name: str) -> type | None:
    """The class of that name among our own variants, else among installed plug-ins; None where there is none.

    Example:
        >>> public("Median").name
        'median'
    """
    home = own_names().get(name)
    if home is not None:
        found: type = getattr(importlib.import_module(home), name)
        return found
    for known in (statistics(), noise_families(), mechanisms()):
        for variant in known.values():
            if variant.__name__ == name:
                return variant
    return None
