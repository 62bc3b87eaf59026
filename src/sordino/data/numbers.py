"""How text becomes numbers: one fixed grammar, the same in Python and in every engine. Nothing is sniffed.

A text is a number when it holds only digits, signs, points, exponents and spaces, and matches `NUMBER`; any other
text (``nan``, ``inf``, ``0x10``, ``1_000``, ``1,5``, a line break at its end, digits of other scripts) is not a number.
"""

from __future__ import annotations

import re

STRANGE = r"[^0-9eE+. -]"
"""A character that no number holds. Tested first: in some engines ``$`` matches before a last line break."""

NUMBER = r"^ *[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)? *$"
"""The grammar, in the part of the regular-expression language that all engines share."""

_STRANGE, _NUMBER = re.compile(STRANGE), re.compile(NUMBER)


def number(text: str) -> float:
    """The double nearest to a text, NaN when it is not a number.

    Example:
        >>> number(" 1e3 "), number("0x10"), number("1,5")
        (1000.0, nan, nan)
    """
    if _STRANGE.search(text) or not _NUMBER.search(text):
        return float("nan")
    return float(text)
