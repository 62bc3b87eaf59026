"""`MixedCut`: a count and whether it may be shown at all, in one draw of truncated geometric noise.

With X two-sided geometric noise conditioned on ``|X| <= k``, a key of c people is shown as ``c + X`` if that exceeds k.
Mixing the cuts k and k - 1 spends delta to the last and shows every key as often as any (epsilon, delta) rule can
(Desfontaines, Voss and Gipson 2022). Proof: docs/proofs/mechanism_discovery.md, Theorem 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sordino.privacy.conversion import ball, evaluate, lower, upper

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sordino.exact.bits import Bits

WORD = 1 << 64
"""The probability of the smaller cut is a multiple of 2^-64, so that one word decides it exactly."""


@dataclass(frozen=True, slots=True)
class MixedCut:
    """The law of what is shown of a key.

    Attributes:
        epsilon: Nats per person.
        cut: The larger cut, k.
        smaller: How often, in units of 2^-64, the cut k - 1 is used instead.

    Example:
        >>> one = MixedCut.of(Fraction(1), Fraction(1, 10**6))
        >>> one.cut, round(one.kept(14), 3)
        (14, 0.7)
        >>> [round(one.kept(people), 6) for people in (0, 1, 2)]
        [0.0, 1e-06, 4e-06]
    """

    epsilon: Fraction
    cut: int
    smaller: int

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> MixedCut:
        """The cuts that spend (epsilon, delta) for a person who has one key."""
        return _mixed(epsilon, delta)

    def law(self, people: int) -> tuple[dict[int, float], float]:
        """Probabilities of the numbers that can be shown, and of nothing; for plans, laws and tests."""
        shown: dict[int, float] = {}
        part = self.smaller / WORD
        for cut, chance in ((self.cut, 1 - part), (self.cut - 1, part)):
            if not chance or not people:
                continue
            for value in range(max(cut + 1, people - cut), people + cut + 1):
                shown[value] = shown.get(value, 0.0) + chance * self._truncated(value - people, cut)
        # Summed from the small side: near one, what is missing must not be lost to rounding.
        hidden = 0.0 if people else 1.0
        for cut, chance in ((self.cut, 1 - part), (self.cut - 1, part)):
            if people:
                hidden += chance * math.fsum(self._truncated(x, cut) for x in range(-cut, cut - people + 1))
        return shown, hidden

    def logs(self, people: int, top: int) -> tuple[dict[int, float], float]:
        """The same as logarithms; there is no value that is left out."""
        del top
        shown, hidden = self.law(people)
        return {value: math.log(chance) for value, chance in shown.items()}, math.log(
            hidden
        ) if hidden else -math.inf

    def _truncated(self, away: int, cut: int) -> float:
        """The probability of a value of the truncated noise."""
        rate = float(self.epsilon)
        if abs(away) > cut:
            return 0.0
        norm = (1 + math.exp(-rate) - 2 * math.exp(-rate * (cut + 1))) / -math.expm1(-rate)
        return math.exp(-rate * abs(away)) / norm

    def kept(self, people: int) -> float:
        """How often a key of so many people is shown."""
        return math.fsum(self.law(people)[0].values())

    @property
    def even(self) -> int:
        """From how many people on a key is shown at least half the time."""
        people = 1
        while self.kept(people) < 0.5:
            people += 1
        return people

    def draw(self, counts: Sequence[int], bits: Bits) -> list[int | None]:
        """What is shown of each key, exactly; None for nothing."""
        many = len(counts)
        words = bits.words(many).view(np.uint64)
        cuts = np.where(words < np.uint64(min(self.smaller, WORD - 1)), self.cut - 1, self.cut)
        noise = np.zeros(many, np.int64)
        pending = np.arange(many)
        while len(pending):  # rejection is exact
            noise[pending] = two_sided_many(1 / self.epsilon, len(pending), bits)
            pending = pending[np.abs(noise[pending]) > cuts[pending]]
        values = np.asarray(counts, np.int64) + noise
        return [
            value if value > cut and people > 0 else None
            for value, cut, people in zip(values.tolist(), cuts.tolist(), counts, strict=True)
        ]

    def half_width(self, miss: float) -> int:
        """How far a number that is always shown is from the count, at most so often exceeded."""
        rate, half = float(self.epsilon), 0
        while half < self.cut and 2 * math.exp(-rate * (half + 1)) / (1 + math.exp(-rate)) > miss * (
            1 - 1e-9
        ):
            half += 1
        return half

    def limits(self, value: int, miss: float) -> tuple[int, int]:
        """A bar for the number of people of a key that was shown.

        A small one is shown only where noise was high: its bar is the one that holds for certain.
        """
        half = self.half_width(miss) if value > 3 * self.cut else self.cut
        return max(1, value - half), value + half


def two_sided_many(scale: Fraction, size: int, bits: Bits) -> Any:
    """Whole numbers k with probability ``~ exp(-|k| / scale)``, by the rule of additive/geometric.py."""
    from sordino.exact.sampler import draw_many
    from sordino.lattice import Lattice
    from sordino.noise.laplace.sampler import LaplaceRecipe

    found = np.zeros(size, np.int64)
    pending = np.arange(size)
    while len(pending):
        points = draw_many(
            LaplaceRecipe(),
            locations=Fraction(1, 2),
            scales=scale,
            grid=Lattice(),
            size=len(pending),
            bits=bits,
        )
        found[pending] = np.where(points > 0, points - 1, points)
        pending = pending[points == 0]
    return found


@lru_cache(maxsize=256)
def _mixed(epsilon: Fraction, delta: Fraction) -> MixedCut:
    if delta >= 1:
        return MixedCut(epsilon, 0, 0)
    rate = float(epsilon)
    guess = math.log(max(-math.expm1(-rate), 1e-300) / float(delta)) / rate
    cut = max(1, math.floor(guess) - 2)
    while cut > 1 and upper(evaluate(lambda: _mass(epsilon, cut - 1))) <= delta:  # noqa: B023
        cut -= 1
    while upper(evaluate(lambda: _mass(epsilon, cut))) > delta:  # noqa: B023
        cut += 1

    def share() -> Any:
        here, before = _mass(epsilon, cut), _mass(epsilon, cut - 1)
        return (ball(delta) - here) / (before - here)

    found = lower(evaluate(share), 40)
    smaller = min(max(0, math.floor(found * WORD)), WORD - 1)
    return MixedCut(epsilon, cut, smaller)


def _mass(epsilon: Fraction, cut: int) -> Any:
    """``P(X = k)``: what a person who is alone with a key risks, as a ball."""
    rate = ball(epsilon)
    gone = (-rate * cut).exp()
    return gone * rate.expm1() / (rate.exp() + 1 - 2 * gone)
