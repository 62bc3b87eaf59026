"""How many records must be held back for (epsilon, delta)?

Holding back more never adds to delta: publishing fewer records is post-processing of publishing more. So bisection
over the number held back is exact. In the number of records delta is not monotone, because shares are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sordino.checks import between, non_negative
from sordino.smoothed.bounds import least_held_back
from sordino.smoothed.electorate import Electorate
from sordino.smoothed.leak import Leak, power

if TYPE_CHECKING:
    from sordino.smoothed.tally import Tally


@dataclass(frozen=True, slots=True)
class Holdback:
    """The least number of records to hold back, and the figures on both sides of it.

    Attributes:
        held_back: The least number, or None when even publishing a single record leaks more.
        epsilon: The privacy parameter asked for.
        delta: The delta asked for.
        leak: The figure when that many are held back.
        one_fewer: The figure with one record fewer held back; None at zero.
        floor: What must be held back at any epsilon, from the rarest type alone; None for a single tally.
    """

    held_back: int | None
    epsilon: float
    delta: float
    leak: Leak
    one_fewer: Leak | None
    floor: int | None

    def lines(self) -> list[tuple[str, str]]:
        """Return the figures for printing."""
        n = self.leak.records
        if self.held_back is None:
            return [
                ("hold back", f"all: no number of the {n:,} records is enough for delta {self.delta:g}"),
                ("publishing one", self.leak.statement),
                (
                    "worst case",
                    f"delta = {power(self.leak.log_worst)} even then (ordinary differential privacy)",
                ),
            ]
        share = self.held_back / n
        result = [
            ("hold back", f"{self.held_back:,} of {n:,} records ({share:.3%}), drawn at random"),
            ("worst case", f"delta = {power(self.leak.log_worst)} even then (ordinary differential privacy)"),
            (self.leak.about, f"{self.leak.statement}, {self.leak.method}"),
        ]
        if self.one_fewer is not None:
            result.append(("one fewer", self.one_fewer.statement))
        if self.floor is not None:
            result.append(
                (
                    "at any epsilon",
                    f"at least {self.floor:,}: with fewer, the rarest type alone leaks too much",
                )
            )
        return result

    def explain(self) -> str:
        """Return the answer in words."""
        width = max(len(name) for name, _ in self.lines())
        return "\n".join(
            [*(f"{name.ljust(width)}  {value}" for name, value in self.lines()), self.leak.reading]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "holdback",
            "held_back": self.held_back,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "floor_at_any_epsilon": self.floor,
            "leak": self.leak.to_dict(),
        }


def holdback(source: Tally | Electorate, *, epsilon: float, delta: float) -> Holdback:
    """Return the least number of records to hold back so that delta(epsilon) is at most ``delta``.

    Args:
        source: A tally or an electorate; how much it publishes now does not matter.
        epsilon: The privacy parameter.
        delta: The largest acceptable delta.

    Example:
        >>> from sordino import smoothed
        >>> model = smoothed.sampling(size=120, electorates=[0.4], published=1)
        >>> holdback(model, epsilon=0.1, delta=0.05).held_back
        51
    """
    price = float(non_negative("holdback", epsilon=epsilon))
    target = float(between("holdback", 0, 1, delta=delta, hint="delta=1e-9"))
    limit = math.log(target)
    n = source.records
    largest = n - 1  # at least one record is published

    def figure(held: int) -> Leak:
        return replace(source, published=n - held).delta(epsilon=price)

    floor = None
    if isinstance(source, Electorate) and source.rarest > 0.0:
        floor = least_held_back(delta=target, rarest=source.rarest)
    if replace(source, published=n - largest).log_delta(price) > limit:
        return Holdback(None, price, target, figure(largest), None, floor)

    def enough(held: int) -> bool:
        return replace(source, published=n - held).log_delta(price) <= limit

    held = _least(enough, largest, start=floor or 1)
    return Holdback(held, price, target, figure(held), figure(held - 1) if held else None, floor)


def _least(enough: Callable[[int], bool], largest: int, *, start: int) -> int:
    """Return the least number for which a monotone test holds, given that it holds at the largest."""
    if enough(0):
        return 0
    low, step = 0, max(1, min(start, largest))
    high = step
    while high < largest and not enough(high):
        low, high = high, min(largest, high * 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
