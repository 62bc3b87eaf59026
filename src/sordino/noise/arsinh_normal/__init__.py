"""ArsinhNormal noise: its law, its exact sampler, its certified concentrated price."""

from sordino.noise.arsinh_normal.law import ArsinhNormal

__all__ = ["ArsinhNormal"]
