"""StaircasePolyPlace noise: its law, its exact sampler."""

from sordino.noise.staircase_polyplace.law import StaircasePolyPlace

__all__ = ["StaircasePolyPlace"]
