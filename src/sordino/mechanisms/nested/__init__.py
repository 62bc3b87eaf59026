"""Mechanisms on nested intervals of reachable values: piecewise Laplace and inverse sensitivity."""
