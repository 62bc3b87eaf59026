"""The interval of a clipped mean for the population: noise and sampling together, by the central limit theorem.

Rows are independent draws. The mean of the rows, cut to the published interval, is normal about that of the population
for many rows; its variance is bounded by a released second moment. Its law is convolved with that of the noise; where the
noise has a flat top of private width, with every one, weighed by how rare it is. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.clip.clipped_bar import JointTail
from sordino.mechanisms.parts.population import Limits
from sordino.mechanisms.parts.public_noise import PublicNoise

if TYPE_CHECKING:
    from sordino.mechanisms.clip.clipped_bar import ClippedBar
    from sordino.mechanisms.clip.cut_tails import Rarity
    from sordino.noise import Noise

SLACK = 0.3
"""Of the probability of a miss, for outcomes whose noise has a flat top."""
COUNT_MISS = 0.1
"""Of the probability of a miss, for a noisy number of rows."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)
FLATTEST = 60.0  # nats of a flat top beyond which no interval of the finest level is likely
REACH = 9.0  # deviations of the normal law that are integrated


def _tail(sf: Callable[[Any], Any], scale: float, deviation: float) -> Callable[[float], Any]:
    """``P(|N + scale Z| > w)`` as a function of w, for normal N and noise Z with a symmetric survival function.

    Whichever of both is narrower is integrated exactly; the other is cut into short pieces.
    """
    from scipy.special import ndtr

    if scale <= deviation:
        edges = np.concatenate([np.linspace(0.0, 80.0, 1601), [np.inf]])
        above = sf(edges)
        masses = above[..., :-1] - above[..., 1:]
        places = np.append((edges[:-2] + edges[1:-1]) / 2, edges[-2]) * scale / deviation
        return lambda width: 2 * masses @ (
            ndtr(places - width / deviation) + ndtr(-places - width / deviation)
        )
    points = REACH * deviation * _NODES
    normal = _WEIGHTS * np.exp(-((REACH * _NODES) ** 2) / 2)
    normal = normal / normal.sum()
    return lambda width: 2 * sf((width - points) / scale) @ normal


def _smallest(covers: Callable[[float], bool], start: float) -> float:
    """The smallest width that covers."""
    low, high = 0.0, start
    while not covers(high):
        low, high = high, 2 * high
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high


@lru_cache(maxsize=512)
def convolved_quantile(noise: Noise, scale: float, deviation: float, miss: float) -> float:
    """The w with ``P(|N + scale Z| > w) = miss`` for normal N of a deviation and noise Z.

    Example:
        >>> from sordino.noise.laplace import Laplace
        >>> [round(convolved_quantile(Laplace(), scale, 1.0, 0.05), 2) for scale in (0.001, 1, 100)]
        [1.96, 3.45, 299.58]
    """
    if scale <= 0:
        return deviation * NormalDist().inv_cdf(1 - miss / 2)
    beyond = _tail(noise.sf, scale, deviation)
    return _smallest(lambda width: float(beyond(width)) <= miss, deviation + scale)


@lru_cache(maxsize=512)
def flat_topped_quantile(rarity: Rarity, scale: float, deviation: float, miss: float) -> float:
    """A width that is exceeded rarely however flat the top of the noise is, because flat tops are rare.

    With x nats of flat top the outcome is at most ``min(1, weight (1 + x) exp(-x))`` likely; what it then adds to
    ``miss`` may be no more than it is allowed.

    Example:
        >>> from sordino.mechanisms.clip.cut_tails import Rarity
        >>> [round(flat_topped_quantile(Rarity(10.0, 0.001), scale, 1.0, 0.035), 2) for scale in (0.001, 0.1, 10)]
        [2.11, 2.28, 88.41]
    """
    flats = np.linspace(0.0, FLATTEST, 121)[:, None]
    likely = np.minimum(1.0, rarity.weight * (1 + flats[:, 0]) * np.exp(-flats[:, 0]))
    likely[0] = 1.0

    def sf(x: Any) -> Any:
        away = np.abs(x)[None, :]
        tail = np.exp(-np.maximum(away - flats, 0.0)) / (2 * (1 + flats))
        above = np.where(away >= flats, tail, 0.5 - away / (2 * (1 + flats)))
        return np.where(x[None, :] >= 0, above, 1 - above)

    beyond = _tail(sf, scale, deviation)

    def covers(width: float) -> bool:
        added = np.maximum(beyond(width) - miss, 0.0)
        return bool((likely * added).max() <= rarity.allowed)

    return _smallest(covers, deviation + scale)


@dataclass(frozen=True, slots=True)
class PopulationBar:
    """What an interval for the mean of the population, of values cut to the published interval, is made of.

    Attributes:
        sample: The bar for the rows at hand.
        spread: The released second moment about the answer, in squared units.
        most: An upper limit of it.
    """

    sample: ClippedBar
    spread: Fraction
    most: Fraction

    def limits(self, value: Fraction, miss: float) -> Limits:
        """The interval around a published answer."""
        sample, left = self.sample, miss
        off = 0.0
        if sample.count is not None and sample.counting is not None:
            left -= COUNT_MISS * miss
            half = float(sample.counting.half(COUNT_MISS * miss))
            off = abs(float(value - sample.origin)) * half / float(sample.rows_between(COUNT_MISS * miss)[0])
        rows = float(sample.rows_between(COUNT_MISS * miss)[0])
        deviation = math.sqrt(max(float(self.most), 0.0) / rows)
        tail = sample.tail
        scale = float(tail.scale) / (rows if sample.count is not None else 1.0)  # type: ignore[attr-defined]
        if isinstance(tail, JointTail):
            found = flat_topped_quantile(
                tail.rarity(SLACK * left), scale, max(deviation, scale / 1000), (1 - SLACK) * left
            )
        else:
            assert isinstance(tail, PublicNoise)
            assert tail.noise is not None
            found = convolved_quantile(tail.noise, scale, deviation, left)
        width = found + float(tail.step) + off
        bottom, top = map(float, sample.cut)
        low, high = max(float(value) - width, bottom), min(float(value) + width, top)
        plain = 2 * NormalDist().inv_cdf(1 - miss / 2) * math.sqrt(max(float(self.spread), 0.0) / rows)
        return Limits(low, high, plain)
