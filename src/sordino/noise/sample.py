"""Draws for simulations, from the very sampler that releases use; marked when they were seeded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.exact.bits import Bits, SeededBits
from sordino.exact.sampler import draw_many
from sordino.lattice import Lattice

if TYPE_CHECKING:
    from sordino.noise import Noise

FINE = -32  # draws are multiples of 2^-32 of the unit scale


class NoiseSample(np.ndarray[Any, np.dtype[np.float64]]):
    """Draws at unit scale: an array that knows whether it may be called private.

    Attributes:
        private: False for seeded draws, which anybody can repeat.
    """

    private: bool = True

    def __array_finalize__(self, parent: Any) -> None:
        self.private = getattr(parent, "private", True)

    def __repr__(self) -> str:
        return ("" if self.private else "NOT PRIVATE ") + super().__repr__()


def sample(noise: Noise, size: int, *, seed: int | None = None) -> NoiseSample:
    """So many draws of the noise at unit scale, each the exact rounding of the law to a multiple of 2^-32."""
    count = checks.whole("sample", at_least=0, hint="size=1000", size=size)
    bits = Bits() if seed is None else SeededBits(checks.whole("sample", seed=seed))
    grid = Lattice.dyadic(FINE)
    drawn = draw_many(noise.recipe(), locations=0, scales=1, grid=grid, size=count, bits=bits)
    found = grid.numbers(drawn).view(NoiseSample)
    found.private = seed is None
    return found
