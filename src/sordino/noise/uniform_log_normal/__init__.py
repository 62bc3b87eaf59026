"""UniformLogNormal noise: its law, its exact sampler, its certified concentrated price."""

from sordino.noise.uniform_log_normal.law import UniformLogNormal

__all__ = ["UniformLogNormal"]
