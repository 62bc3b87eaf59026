"""Promises of privacy, whom they protect, and how they add up and convert.

Exact amounts, data-free, and nothing here knows of mechanisms.
"""

from sordino.privacy.composition import compose, replace_one_from_add_remove
from sordino.privacy.concentrated import Concentrated, TruncatedConcentrated
from sordino.privacy.guarantee import Guarantee
from sordino.privacy.kinds import KINDS, Approx, BoundedRange, Geo, Pure
from sordino.privacy.purse import Purse
from sordino.privacy.unit import Neighbors, Unit

__all__ = [
    "KINDS",
    "Approx",
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
