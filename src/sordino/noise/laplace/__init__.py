"""Laplace noise: its law, its exact sampler."""

from sordino.noise.laplace.law import Laplace

__all__ = ["Laplace"]
