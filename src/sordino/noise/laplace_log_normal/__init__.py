"""LaplaceLogNormal noise: its law, its exact sampler."""

from sordino.noise.laplace_log_normal.law import LaplaceLogNormal

__all__ = ["LaplaceLogNormal"]
