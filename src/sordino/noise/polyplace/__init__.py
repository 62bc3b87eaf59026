"""PolyPlace noise: its law, its exact sampler, its certified concentrated price."""

from sordino.noise.polyplace.law import PolyPlace

__all__ = ["PolyPlace"]
