"""GeneralizedCauchy noise: its law, its exact sampler."""

from sordino.noise.generalized_cauchy.law import GeneralizedCauchy

__all__ = ["GeneralizedCauchy"]
