"""How each noise family is drawn exactly: one file per family, shape parameters as exact numbers."""

from sordino.exact.recipes.arsinh_normal import ArsinhNormal
from sordino.exact.recipes.exponential import Exponential
from sordino.exact.recipes.gaussian import Gaussian
from sordino.exact.recipes.generalized_cauchy import GeneralizedCauchy
from sordino.exact.recipes.laplace import Laplace
from sordino.exact.recipes.laplace_log_normal import LaplaceLogNormal
from sordino.exact.recipes.laplace_pareto import LaplacePareto
from sordino.exact.recipes.polyplace import PolyPlace
from sordino.exact.recipes.student_t import StudentT
from sordino.exact.recipes.uniform_log_normal import UniformLogNormal

__all__ = [
    "ArsinhNormal",
    "Exponential",
    "Gaussian",
    "GeneralizedCauchy",
    "Laplace",
    "LaplaceLogNormal",
    "LaplacePareto",
    "PolyPlace",
    "StudentT",
    "UniformLogNormal",
]
