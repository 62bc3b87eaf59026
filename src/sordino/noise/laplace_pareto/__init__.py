"""LaplacePareto noise: its law, its exact sampler."""

from sordino.noise.laplace_pareto.law import LaplacePareto

__all__ = ["LaplacePareto"]
