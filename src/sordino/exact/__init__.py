"""From random bits to exactly rounded draws: the numerics policy lives here and nowhere else.

Names are loaded on first use, so that importing one does not import FLINT.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sordino.exact.bits import Bits, SeededBits
    from sordino.exact.choice import CellWeights, choose, choose_candidate
    from sordino.exact.compare import NoisyReal, noisy_argmax, permute_and_flip
    from sordino.exact.log_grid import LogGrid
    from sordino.exact.pieces import Pieces
    from sordino.exact.recipe import Recipe
    from sordino.exact.sampler import draw, draw_many
    from sordino.exact.scale import ExpScale, ExpScales

_HOMES = {
    "Bits": "bits",
    "ExpScale": "scale",
    "ExpScales": "scale",
    "LogGrid": "log_grid",
    "NoisyReal": "compare",
    "Pieces": "pieces",
    "Recipe": "recipe",
    "SeededBits": "bits",
    "CellWeights": "choice",
    "choose": "choice",
    "choose_candidate": "choice",
    "draw": "sampler",
    "draw_many": "sampler",
    "noisy_argmax": "compare",
    "permute_and_flip": "compare",
}

__all__ = [
    "Bits",
    "CellWeights",
    "ExpScale",
    "ExpScales",
    "LogGrid",
    "NoisyReal",
    "Pieces",
    "Recipe",
    "SeededBits",
    "choose",
    "choose_candidate",
    "draw",
    "draw_many",
    "noisy_argmax",
    "permute_and_flip",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
