"""Noise whose density is flat for so many private nats, of one number or of a pair: what it weighs.

A joint draw of plain-or-cut has density ``~ exp(-max(r |t|, x))``, where ``|t|`` is the sum of the distances of all
numbers that are published with the outcome. Proof: docs/proofs/mechanism_plain_or_cut.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def top_weight(flat: Any, numbers: int) -> Any:
    """The mass of such noise over that of plain noise, times ``exp(flat)``: ``1 + x`` or ``1 + x + x^2 / 2``.

    Example:
        >>> top_weight(2.0, 1), top_weight(2.0, 2)
        (3.0, 5.0)
    """
    return 1 + flat if numbers == 1 else 1 + flat + flat * flat / 2


def whole_top_weight(flat: int, unit: int, numbers: int) -> int:
    """The same as a whole number, for ``flat / unit`` nats: over `unit_weight`.

    Example:
        >>> whole_top_weight(20, 10, 1) / unit_weight(10, 1), whole_top_weight(20, 10, 2) / unit_weight(10, 2)
        (3.0, 5.0)
    """
    return unit + flat if numbers == 1 else 2 * unit * unit + 2 * unit * flat + flat * flat


def unit_weight(unit: int, numbers: int) -> int:
    """What stands for a weight of 1; without a joint draw (no numbers) that is 1."""
    return (1, unit, 2 * unit * unit)[numbers]


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
        >>> [round(float(beyond(flat, 1.0, numbers)), 4) for flat, numbers in ((0.0, 1), (0.0, 2), (3.0, 2))]
        [0.3679, 0.7358, 0.9412]
    """
    far = np.maximum(distance, flat)
    tail = top_weight(far, numbers - 1) if numbers > 1 else 1.0
    own = np.exp(flat - far) * tail / top_weight(flat, numbers)
    near = np.minimum(distance, flat)
    inside = near / (1 + flat) if numbers == 1 else near * near / 2 / top_weight(flat, 2)
    return np.where(distance >= flat, own, 1 - inside)
