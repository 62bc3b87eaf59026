"""Sordino: differential privacy whose noise is fitted to the data at hand."""

__version__ = "0.1.0"
