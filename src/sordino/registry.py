"""One register, one rule: who may be called what among statistics, noise families and mechanisms.

A variant registers by being defined. A name belongs to the class that has it first, and the names of the library's own
variants are taken from the start: a plug-in cannot have one, whichever is imported first.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from pathlib import Path
from typing import Any, Generic, TypeVar

from sordino.errors import ParameterError

T = TypeVar("T")

PLAIN = re.compile(r"[a-z][a-z0-9-]*")
"""How the library's own variants are called."""


class Register(Generic[T]):
    """Variants of one kind by catalogue name: those of a package's own folder, and plug-ins.

    Args:
        kind: What is registered, in one word for messages.
        package: The package whose modules hold the library's own variants; also the group of entry points.

    Example:
        >>> fruits = Register("fruit", "orchard")
        >>> fruits.add("apple", type("Apple", (), {}))
        >>> list(fruits.known), "apple" in fruits
        (['apple'], True)
    """

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self.known: dict[str, type[T]] = {}
        self._imported = self._plugged = False

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __getitem__(self, name: str) -> type[T]:
        return self.known[name]

    def add(self, name: str, variant: type[Any]) -> None:
        """Give a name to a class, or refuse: one that another class has is taken.

        A dataclass with slots builds its class twice, and a cell of a notebook is run again: a class of the same module
        and qualified name takes its own place again.
        """
        if not self._own(variant):
            self._own_names()
        holder = self.known.get(name)
        if holder is not None and _place(holder) != _place(variant):
            raise ParameterError(
                self.kind,
                f"the name {name!r} is taken",
                got={"class": ".".join(_place(variant)), "holder": ".".join(_place(holder))},
                why="A name says in every ledger and release what was run, so it stays with its first class.",
                hint=f'name = "my-{name}"',
            )
        self.known[name] = variant

    def get(self, name: str) -> type[T] | None:
        """One variant by name, or None: of the folder, only the file that gives itself the name is imported.

        A name that no file has may be a plug-in's, which takes the whole list.

        Example:
            >>> from sordino.statistics import REGISTER
            >>> REGISTER.get("median").__module__, REGISTER.get("mediam")
            ('sordino.statistics.median', None)
        """
        if name not in self.known and not self._imported and PLAIN.fullmatch(str(name)):
            for module in self._homes(name):
                importlib.import_module(module)
        return self.known.get(name) or self.load().get(name)

    def load(self) -> dict[str, type[T]]:
        """Import the folder and the installed entry points of its group; all variants, sorted by name."""
        self._own_names()
        if (
            not self._plugged
        ):  # looking for installed packages takes milliseconds, and a release asks several times
            from importlib.metadata import entry_points

            for plugin in entry_points(group=self.package):
                plugin.load()
            self._plugged = True
        return dict(sorted(self.known.items()))

    def _own(self, variant: type[Any]) -> bool:
        """Whether a class is the library's own."""
        return variant.__module__ == self.package or variant.__module__.startswith(self.package + ".")

    def _homes(self, name: str = "") -> list[str]:
        """The modules of the folder in which a class gives itself this name, or any; their text is read, not run."""
        named = re.escape(name) if name else '[^"]+'
        given = re.compile(rf'^    name(?:: ClassVar\[str\])? = "{named}"\r?$'.encode(), re.MULTILINE)
        package = sys.modules.get(self.package)
        return [
            ".".join((self.package, *path.relative_to(folder).with_suffix("").parts))
            for folder in getattr(package, "__path__", ())
            for path in sorted(Path(folder).rglob("*.py"))
            if given.search(path.read_bytes())
        ]

    def _own_names(self) -> None:
        """Let the library's own variants take their names; once, whatever is defined later registers by itself.

        What no class is named in (samplers, certificates, helpers) is not imported before it is used.
        """
        if self._imported:
            return
        package = sys.modules.get(self.package)
        walked = pkgutil.walk_packages(getattr(package, "__path__", ()), self.package + ".")
        for module in self._homes() or [
            one.name for one in walked
        ]:  # no text where modules are in an archive
            importlib.import_module(module)
        self._imported = package is not None


def _place(variant: type[Any]) -> tuple[str, str]:
    return variant.__module__, variant.__qualname__
