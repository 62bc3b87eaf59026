"""One pass over weighted keys whose noise and threshold do not share delta: each takes all of it.

A key that a person alone has, and one that others have too, are shown or hidden independently: what the person risks is
the largest of finitely many numbers, each certified in balls (docs/proofs/mechanism_discovery.md, Theorem 4).
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import Any

from sordino.mechanisms.discovery.threshold import UNIT, WeightThreshold, weights, with_noise
from sordino.privacy import Approx, Concentrated
from sordino.privacy.conversion import ball, evaluate, lower, upper

LARGEST = 32
"""Up to so many keys per person all cases are certified; beyond, noise and threshold share delta."""

PARTS = tuple(
    Fraction(part) for part in ("1", "0.9999", "0.999", "0.99", "0.98", "0.96", "0.9", "0.8", "0.6")
)
"""Parts of delta with which a threshold is tried, the largest first."""


@functools.lru_cache(maxsize=256)
def one_pass(
    epsilon: Fraction, delta: Fraction, most: int, *, replaced: bool
) -> tuple[WeightThreshold, Concentrated, Fraction] | None:
    """Noise and threshold of one pass, the concentrated price of its noise, its delta; None where none is certified.

    Example:
        >>> law, _, _ = one_pass(Fraction(1), Fraction(1, 10**6), 10, replaced=False)
        >>> law.even
        23
    """
    from sordino.noise.gaussian import Gaussian

    if not 1 < most <= LARGEST:
        return None
    rest = lower(evaluate(lambda: ball(epsilon) + (1 - ball(delta)).log()), 40)
    sigma = Gaussian.calibrate(Approx(rest, delta), smoothing=0).scale
    wide = upper(evaluate(lambda: ball(sigma) * ball(Fraction(2 if replaced else 1)).sqrt()))
    for part in PARTS:
        law = with_noise(wide, part * delta, most)
        if largest_delta(law, epsilon, most, replaced=replaced) <= delta:
            return law, Concentrated(1 / (2 * sigma * sigma)), delta
    return None


def largest_delta(law: WeightThreshold, epsilon: Fraction, most: int, *, replaced: bool) -> Fraction:
    """A bound for the delta of one pass at an epsilon, for people with up to so many keys each; rounded up.

    A person has t keys, s of which nobody else has: these are hidden together with probability ``h = (1 - p)^s``, and
    the others are moved by ``mu`` in deviations of the noise. With the person one of the s is shown, or all are hidden
    and the rest is a Gaussian shift: ``1 - h + h G(epsilon - log h, mu)``. The other way round: ``G(epsilon + log h)``.
    """
    return upper(evaluate(lambda: _largest(law, epsilon, most, replaced=replaced)), 40)


def _largest(law: WeightThreshold, epsilon: Fraction, most: int, *, replaced: bool) -> Any:
    sigma = ball(law.sigma)
    hidden = []
    for amount in weights(most):
        away = ball(Fraction(2 * law.above + 1, 2) - amount) / (sigma * ball(Fraction(2)).sqrt())
        hidden.append(1 - away.erfc() / 2)
    least = functools.reduce(lambda one, two: one.min(two), (c**t for t, c in enumerate(hidden, start=1)))
    # The other person of a replaced one: their keys move the centre by one at most, and are hidden at least so often.
    moved, other = (UNIT * UNIT, least.log()) if replaced else (0, ball(Fraction(0)))
    found = _stick(ball(epsilon) + least.log(), ball(Fraction(UNIT * UNIT + moved)).sqrt() / sigma)
    for t, (chance, amount) in enumerate(zip(hidden, weights(most), strict=True), start=1):
        for s in range(t + 1):
            kept = chance**s
            length = ball(Fraction((t - s) * amount * amount + moved)).sqrt() / sigma
            one = 1 - kept
            if (t - s) * amount + moved:
                one += kept * _stick(ball(epsilon) + other - kept.log(), length)
            found = found.max(one)
    return found


def _stick(epsilon: Any, length: Any) -> Any:
    """The hockey stick of two Gaussians so many deviations apart, as a ball."""
    root = ball(Fraction(2)).sqrt()

    def above(x: Any) -> Any:
        return (x / root).erfc() / 2

    return above(epsilon / length - length / 2) - epsilon.exp() * above(epsilon / length + length / 2)
