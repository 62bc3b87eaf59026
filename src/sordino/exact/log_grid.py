"""Smooth bounds with integer exponents, so that smoothness holds exactly and with the full parameter.

K = max_j (ceil(log(LS_j)/kappa) - m j) with kappa = gamma/m; the bound is exp(kappa K).
Claim and proof: docs/proofs/exact_log_grid.md. Local sensitivities themselves come from `statistics/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sordino import checks
from sordino.exact.balls import Undecided, floor, precision, rational
from sordino.exact.functions import ARRAYS
from sordino.exact.scale import ExpScale

# |float log - log| <= 2^-46 (|log| + 1) is generous: 2^-47 relative, plus the rounding of the argument.
_RELATIVE = 2.0**-45


@dataclass(frozen=True, slots=True)
class LogGrid:
    """The lattice exp(kappa Z) of scales for a smoothing parameter gamma = m kappa.

    Args:
        gamma: The smoothing parameter, used in full.
        m: Lattice points per factor e^gamma; the bound exceeds the smooth sensitivity by at most e^(gamma/m).

    Example:
        >>> grid = LogGrid(gamma=Fraction(1, 8), m=64)
        >>> scale = grid.bound([3, 5, 9])
        >>> scale.step, scale.exponent
        (Fraction(1, 512), 997)
    """

    gamma: Fraction
    m: int = 64

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", checks.positive("log grid", gamma=self.gamma))
        checks.whole("log grid", at_least=1, m=self.m)

    @property
    def step(self) -> Fraction:
        """kappa: the logarithm of the ratio of neighbouring scales."""
        return self.gamma / self.m

    def ceiling(self, value: Fraction) -> int:
        """Return ceil(log(value)/kappa) exactly, for a positive rational.

        log of a rational other than 1 is transcendental, so the quotient is an integer only for value 1
        and refinement ends.
        """
        if value == 1:
            return 0
        bits = 96
        while True:
            with precision(bits):
                try:
                    return -floor(-(rational(value).log() / rational(self.step)))
                except Undecided:
                    bits *= 2

    def bound(self, sensitivities: Any, distances: Any = None, *, unit: Fraction | int = 1) -> ExpScale:
        """Return a gamma-smooth upper bound of the local sensitivities.

        Args:
            sensitivities: LS_j as integers, in multiples of `unit` (or exact rationals).
            distances: The distances j, by default 0, 1, 2, ...
            unit: An exact public factor.

        Returns:
            exp(kappa K) as an exact scale; the scale zero if every sensitivity is zero.
        """
        unit = Fraction(unit)
        values = np.asarray(sensitivities)
        if values.dtype.kind not in "iu":
            values = np.asarray(sensitivities, dtype=object)
        ahead = np.arange(values.size) if distances is None else np.asarray(distances, dtype=np.int64)
        some = np.asarray(values > 0, dtype=bool)
        if not some.any():
            return ExpScale(Fraction(0), self.step, 0)
        values, ahead = values[some], ahead[some] * self.m
        logs = ARRAYS.log(values.astype(np.float64))
        # log(unit) may be large when the unit is a tiny lattice step; it is one number.
        with precision(128):
            shift = float((rational(unit).log()).mid())
        slack = _RELATIVE * (np.abs(logs) + abs(shift) + 1.0) / float(self.step)
        height = (logs + shift) / float(self.step) - ahead
        slack += _RELATIVE * (np.abs(height) + ahead)
        low, high = np.ceil(height - slack), np.ceil(height + slack)
        best = int(low.max())
        # Only an undecided ceiling that could exceed the best proved one is worked out exactly.
        for i in np.flatnonzero((high > low) & (high > best)):
            best = max(best, self.ceiling(Fraction(values.item(i)) * unit) - int(ahead[i]))
        return ExpScale(Fraction(1), self.step, best)
