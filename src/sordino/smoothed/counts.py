"""Checking what people hand in: tallies, and how much of them is published.

Everything that is refused is refused here, in the three-line form. A tally is what somebody means to publish, so its
numbers may be named in a message; a database is never read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from sordino.checks import exact
from sordino.errors import ParameterError
from sordino.smoothed.mass import LARGEST

_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.0+)?")
Tallied = Mapping[str, int] | Sequence[int]


def tally(records: Any, *, subject: str = "smoothed") -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Check a tally and return its category names and counts.

    Example:
        >>> tally({"yes": 3, "no": 2})
        (('yes', 'no'), (3, 2))
        >>> tally([3, -1])
        Traceback (most recent call last):
        ...
        sordino.errors.ParameterError: smoothed: counts must not be negative, got category='2', count=-1.
            A tally counts records.
            Hint: records=[81283501, 74223975]
    """
    hint = "records=[81283501, 74223975]"
    if isinstance(records, Mapping):
        names, raw = tuple(str(name) for name in records), list(records.values())
    elif isinstance(records, Sequence | np.ndarray) and not isinstance(records, str):
        raw = list(records)
        names = tuple(str(index + 1) for index in range(len(raw)))
    else:
        raise ParameterError(
            subject,
            "records must be a list of counts, or categories with counts",
            got={"records": records},
            why="The analysis needs how many records each category has.",
            hint=hint,
        )
    if not raw:
        raise ParameterError(subject, "the tally is empty", why="There is nothing to publish.", hint=hint)
    counts = [whole_count(name, value, subject, hint) for name, value in zip(names, raw, strict=True)]
    if len(counts) < 2:
        raise ParameterError(
            subject,
            "a tally needs at least two categories",
            got={"categories": len(counts)},
            why="With one category everybody's record is known beforehand. A category without records counts.",
            hint='records={"yes": 120, "no": 80}',
        )
    total = sum(counts)
    if total == 0:
        raise ParameterError(
            subject, "the tally has no records", why="There is nothing to publish.", hint=hint
        )
    if total > LARGEST:
        raise ParameterError(
            subject,
            f"at most {LARGEST:,} records are supported",
            got={"records": total},
            why="Products of two counts must be exact in 64-bit integers.",
            hint="split the table",
        )
    return names, tuple(counts)


def whole_count(name: str, value: Any, subject: str, hint: str) -> int:
    """Check one count."""
    number = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    if isinstance(number, str):
        text = number.strip()
        if _GROUPED.fullmatch(text):  # 1,234 is a count, 12,5 is a decimal of another country
            text = text.replace(",", "")
        try:
            number = int(text)
        except ValueError:
            try:
                number = float(text)
            except ValueError:
                number = None
    if isinstance(number, float) and math.isfinite(number) and number == int(number):
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise ParameterError(
            subject,
            "counts must be whole numbers",
            got={"category": name, "count": value},
            why="A tally counts records; a share or an estimate cannot be analysed as one.",
            hint=hint,
        )
    if number < 0:
        raise ParameterError(
            subject,
            "counts must not be negative",
            got={"category": name, "count": int(number)},
            why="A tally counts records.",
            hint=hint,
        )
    return int(number)


def published_of(
    n: int,
    *,
    published: Any = None,
    held_back: Any = None,
    replacement: bool = False,
    subject: str = "smoothed",
) -> int:
    """Return how many of n records are published; a share is rounded up to records (T = ceil(share n)).

    A whole number is a number of records, anything else a share of all.

    Example:
        >>> published_of(1001, published=0.5), published_of(1001, held_back=20), published_of(1001, held_back=0.002)
        (501, 981, 999)
    """
    if (published is None) == (held_back is None):
        raise ParameterError(
            subject,
            "say either how much is published or how much is held back",
            got={"published": published, "held_back": held_back},
            why="One follows from the other.",
            hint="published=0.998  or  held_back=300000",
        )
    if published is not None:
        value = exact(subject, published=published)
        if _is_number_of_records(published):
            if value > n and not replacement:
                raise ParameterError(
                    subject,
                    "the sample cannot be larger than the population",
                    got={"published": int(value), "records": n},
                    why="Records are drawn without replacement.",
                    hint=f"published={n}, or replacement=True",
                )
            T = int(value)
        else:
            if not 0 < value <= 1:
                raise ParameterError(
                    subject,
                    "a published share must be above 0 and at most 1",
                    got={"published": published},
                    why="It is the share of the records that is published; a whole number means records.",
                    hint="published=0.998",
                )
            T = math.ceil(value * n)
    else:
        value = exact(subject, held_back=held_back)
        held = value if _is_number_of_records(held_back) else Fraction(math.floor(value * n))
        if value < 0 or held > n or (not _is_number_of_records(held_back) and value > 1):
            raise ParameterError(
                subject,
                "not more can be held back than there is",
                got={"held_back": held_back, "records": n},
                why="A whole number means records, anything else a share of all.",
                hint=f"held_back={max(1, n // 100)}  or  held_back=0.01",
            )
        T = n - int(held)
    if T < 1:
        raise ParameterError(
            subject,
            "at least one record must be published",
            got={"published": T},
            why="Publishing nothing leaks nothing.",
            hint="published=0.998",
        )
    return T


def _is_number_of_records(value: Any) -> bool:
    """Tell a number of records from a share by its type: 1 is one record, 1.0 is all of them."""
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    return isinstance(plain, Integral)
