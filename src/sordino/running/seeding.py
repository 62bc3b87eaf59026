"""Random numbers that a function draws without being asked: the same for the same block.

numpy's generators are a dozen libraries, which make every fork dearer, so they are loaded only when a function wants
them; they are seeded then. For the same reason the finder below derives from nothing: `importlib.abc` loads archives.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_NUMPY = "numpy.random"


def seed_all(seed: int) -> None:
    """Seed Python's random numbers, and numpy's now or as soon as they are loaded."""
    random.seed(seed)
    loaded = sys.modules.get(_NUMPY)
    if loaded is not None:
        loaded.seed(seed % 2**32)
        return
    _LATER.seed = seed % 2**32
    if _LATER not in sys.meta_path:
        sys.meta_path.insert(0, _LATER)


class _SeedsNumpy:
    """Finds numpy's random numbers where they are, and seeds them when they are loaded."""

    def __init__(self) -> None:
        self.seed = 0
        self.inner: Any = None

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Step in for one module."""
        del path, target
        if fullname != _NUMPY:
            return None
        sys.meta_path[:] = [one for one in sys.meta_path if one is not self]
        spec = importlib.util.find_spec(fullname)
        if spec is not None:
            self.inner, spec.loader = spec.loader, self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the module's own loader does."""
        made: ModuleType | None = self.inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """As the module's own loader does, then seed."""
        self.inner.exec_module(module)
        module.__loader__ = self.inner
        module.seed(self.seed)


_LATER = _SeedsNumpy()
