"""Gaussian noise: its law, its exact sampler."""

from sordino.noise.gaussian.law import Gaussian

__all__ = ["Gaussian"]
