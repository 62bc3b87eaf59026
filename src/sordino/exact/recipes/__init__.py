"""How each noise family is drawn exactly: one file per family, shape parameters as exact numbers."""

from sordino.exact.recipes.laplace import Laplace
from sordino.exact.recipes.polyplace import PolyPlace

__all__ = ["Laplace", "PolyPlace"]
