"""Promises of privacy, whom they protect, and how they add up and convert.

Exact amounts, data-free, and nothing here knows of mechanisms.
"""

from sordino.privacy.approximate_concentrated import ApproxConcentrated
from sordino.privacy.composition import replace_one_from_add_remove
from sordino.privacy.concentrated import Concentrated, TruncatedConcentrated
from sordino.privacy.guarantee import Guarantee, Unit
from sordino.privacy.kinds import KINDS as _KINDS
from sordino.privacy.kinds import Approx, BoundedRange, Geo, Pure, compose
from sordino.privacy.neighbors import Neighbors
from sordino.privacy.purse import Purse

KINDS: tuple[type[Guarantee], ...] = (*_KINDS, ApproxConcentrated)
"""Every kind of promise."""

__all__ = [
    "KINDS",
    "Approx",
    "ApproxConcentrated",
    "BoundedRange",
    "Concentrated",
    "Geo",
    "Guarantee",
    "Neighbors",
    "Pure",
    "Purse",
    "TruncatedConcentrated",
    "Unit",
    "compose",
    "replace_one_from_add_remove",
]
