"""Noise whose density is flat for so many private nats, of one number, of two or of three: what it weighs.

A joint draw of plain-or-cut has density ``~ exp(-max(r |t|, x))``, where ``|t|`` is the sum of the distances of all
numbers that are published with the outcome. Proof: docs/proofs/mechanism_plain_or_cut.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def top_weight(flat: Any, numbers: int) -> Any:
    """The mass of such noise over that of plain noise, times ``exp(flat)``: ``1 + x + ... + x^numbers / numbers!``.

    Example:
        >>> top_weight(2.0, 1), top_weight(2.0, 2), round(top_weight(2.0, 3), 9)
        (3.0, 5.0, 6.333333333)
    """
    found = 1 + 0 * flat
    for power in range(numbers, 0, -1):
        found = 1 + found * flat / power
    return found


def whole_top_weight(flat: int, unit: int, numbers: int) -> int:
    """The same as a whole number, for ``flat / unit`` nats: over `unit_weight`.

    Example:
        >>> [whole_top_weight(20, 10, numbers) / unit_weight(10, numbers) for numbers in (1, 2, 3)]
        [3.0, 5.0, 6.333333333333333]
    """
    return sum(term_weights(flat, unit, numbers))


def term_weights(flat: int, unit: int, numbers: int) -> tuple[int, ...]:
    """The terms of that sum: so heavy is a radius of ``flat / unit`` and one, two, ... exponential numbers more.

    Example:
        >>> term_weights(2, 1, 1), term_weights(2, 1, 2), term_weights(2, 1, 3)
        ((2, 1), (4, 4, 2), (8, 12, 12, 6))
    """
    return tuple(
        math.perm(numbers, more) * flat ** (numbers - more) * unit**more for more in range(numbers + 1)
    )


def unit_weight(unit: int, numbers: int) -> int:
    """What stands for a weight of 1; without a joint draw (no numbers) that is 1."""
    return math.factorial(numbers) * unit**numbers


def log_weight(flat: float, numbers: int) -> float:
    """The logarithm of `top_weight`.

    Example:
        >>> log_weight(0.0, 2)
        0.0
    """
    return math.log(top_weight(flat, numbers))


def beyond(flat: Any, distance: Any, numbers: int) -> Any:
    """Probability that the distances add up to more than so many nats.

    Example:
        >>> [round(float(beyond(flat, 1.0, numbers)), 4) for flat, numbers in ((0.0, 1), (0.0, 2), (3.0, 2), (0.0, 3))]
        [0.3679, 0.7358, 0.9412, 0.9197]
    """
    far = np.maximum(distance, flat)
    own = np.exp(flat - far) * top_weight(far, numbers - 1) / top_weight(flat, numbers)
    inside = np.minimum(distance, flat) ** numbers / math.factorial(numbers) / top_weight(flat, numbers)
    return np.where(distance >= flat, own, 1 - inside)
