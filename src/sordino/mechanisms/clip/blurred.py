"""How far a noisy number can be off when something else of a known law is off too: the sample, or a noisy count.

Both are convolved. Where the noise has a flat top of private width (a joint draw of plain-or-cut), every width is
weighed by how rare it is. Floats, for ends of bars alone. Proof: docs/proofs/mean_bars.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sordino.mechanisms.clip.cut_tails import Rarity
    from sordino.noise import Noise

FLATTEST = (
    110.0  # nats of a flat top beyond which no interval of the finest level is likely: squares lead by 83
)
_EDGES = np.concatenate([np.linspace(0.0, 12.0, 241), np.linspace(12.25, 130.0, 472), [np.inf]])
_PLACES = np.append((_EDGES[:-2] + _EDGES[1:-1]) / 2, _EDGES[-2])
_FLATS = np.linspace(0.0, FLATTEST, 221)[:, None]


@dataclass(frozen=True, slots=True)
class Blur:
    """A normal law and a Laplace law, added.

    Attributes:
        deviation: Of the normal one.
        scale: Of the Laplace one.

    Example:
        >>> one = Blur(1.0, 0.5)
        >>> round(float(one.sf(np.array(0.0))), 6), round(float(one.sf(np.array(2.0))), 4)
        (0.5, 0.0502)
    """

    deviation: float
    scale: float

    @property
    def size(self) -> float:
        """About how wide it is."""
        return max(self.deviation, self.scale)

    def sf(self, x: Any) -> Any:
        """Probability of more."""
        from scipy.special import log_ndtr, ndtr

        x = np.asarray(x, dtype=np.float64)
        away = np.abs(x)
        if self.scale <= 0 or self.deviation > 1000 * self.scale:
            above = ndtr(-away / math.hypot(self.deviation, math.sqrt(2) * self.scale))
        elif self.deviation <= self.scale / 1000:
            above = np.exp(-away / self.scale) / 2
        else:
            ratio = self.deviation / self.scale
            with np.errstate(invalid="ignore"):
                near, far = away / self.deviation - ratio, -away / self.deviation - ratio
                first = np.exp(ratio * ratio / 2 - away / self.scale + log_ndtr(near))
                second = np.exp(ratio * ratio / 2 + away / self.scale + log_ndtr(far))
            above = ndtr(-away / self.deviation) + (first - np.nan_to_num(second)) / 2
        above = np.where(np.isinf(away), 0.0, above)
        return np.where(x >= 0, above, 1 - above)


def _exceeded(sf: Callable[[Any], Any], scale: float, blur: Blur) -> Callable[[float], Any]:
    """``P(|B + scale Z| > w)`` as a function of w; the wider of both laws is cut into short pieces."""
    if scale <= blur.size:
        above = sf(_EDGES)
        masses, places = above[..., :-1] - above[..., 1:], _PLACES * scale
        return lambda width: 2 * masses @ (blur.sf(width - places) + blur.sf(width + places))
    above = blur.sf(_EDGES * blur.size)
    masses, places = above[:-1] - above[1:], _PLACES * blur.size
    return lambda width: 2 * (sf((width - places) / scale) + sf((width + places) / scale)) @ masses


def _up(ratio: float) -> float:
    """A ratio rounded up by at most a part in 140, so that few of them are ever asked for; none below a 2000th."""
    return 0.0 if ratio <= 0 else 2.0 ** (math.ceil(100 * math.log2(max(ratio, 1 / 2000))) / 100)


def _smallest(covers: Callable[[float], bool], start: float) -> float:
    """The smallest width that covers, to a part in a million."""
    low, high = 0.0, start
    while not covers(high):
        low, high = high, 2 * high
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high


def blurred_quantile(noise: Noise, scale: float, blur: Blur, miss: float) -> float:
    """The w with ``P(|B + scale Z| > w) = miss`` for noise Z, rounded up.

    Example:
        >>> from sordino.noise.laplace import Laplace
        >>> [round(blurred_quantile(Laplace(), scale, Blur(1.0, 0.0), 0.05), 2) for scale in (0.001, 1, 100)]
        [1.97, 3.5, 299.58]
    """
    if scale <= 0:
        return _plain(blur, miss)
    return scale * _blurred(noise, Blur(_up(blur.deviation / scale), _up(blur.scale / scale)), miss)


@lru_cache(maxsize=1024)
def _blurred(noise: Noise, blur: Blur, miss: float) -> float:
    if not blur.size:
        blur = Blur(1 / 2000, 0.0)
    exceeded = _exceeded(noise.sf, 1.0, blur)
    return _smallest(lambda width: float(exceeded(width)) <= miss, blur.size + 1)


def _plain(blur: Blur, miss: float) -> float:
    """Without noise of its own."""
    if not blur.size:
        return 0.0
    return _smallest(lambda width: 2 * float(blur.sf(np.array(width))) <= miss, blur.size)


def _flat_topped(x: Any) -> Any:
    """Probability of more than x scales, for every width of a flat top."""
    away = np.abs(x)[None, :]
    tail = np.exp(-np.maximum(away - _FLATS, 0.0)) / (2 * (1 + _FLATS))
    above = np.where(away >= _FLATS, tail, 0.5 - away / (2 * (1 + _FLATS)))
    return np.where(x[None, :] >= 0, above, 1 - above)


def flat_topped_quantile(rarity: Rarity, scale: float, blur: Blur, miss: float) -> float:
    """A width that is exceeded rarely however flat the top of the noise is, because flat tops are rare.

    With x nats of flat top the outcome is at most ``min(1, weight (1 + x) exp(-x))`` likely; what it then adds to
    ``miss`` may be no more than it is allowed.

    Example:
        >>> from sordino.mechanisms.clip.cut_tails import Rarity
        >>> rarity, blur = Rarity(10.0, 0.001), Blur(1.0, 0.0)
        >>> [round(flat_topped_quantile(rarity, scale, blur, 0.035), 2) for scale in (0.001, 0.1, 10)]
        [2.1, 2.23, 88.4]
    """
    if scale <= 0:
        return _plain(blur, miss)
    return scale * _widest(rarity, Blur(_up(blur.deviation / scale), _up(blur.scale / scale)), miss)


@lru_cache(maxsize=1024)
def _widest(rarity: Rarity, blur: Blur, miss: float) -> float:
    if not blur.size:
        blur = Blur(1 / 2000, 0.0)
    likely = np.minimum(1.0, rarity.weight * (1 + _FLATS[:, 0]) * np.exp(-_FLATS[:, 0]))
    likely[0] = 1.0
    exceeded = _exceeded(_flat_topped, 1.0, blur)

    def covers(width: float) -> bool:
        return bool((likely * np.maximum(exceeded(width) - miss, 0.0)).max() <= rarity.allowed)

    return _smallest(covers, blur.size + 1)


_BEYOND = np.concatenate([np.linspace(0.0, 12.0, 97), np.linspace(12.5, 40.0, 56)])[None, :]


def paired_quantile(rarity: Rarity, scale: float, counted: float, deviation: float, miss: float) -> float:
    """The same for ``scale d - counted s`` and a normal number, with s and d the noise of a count and of a sum.

    Both are drawn together with the density ``~ exp(-max(|d|, |s|, x))``: evenly in a square of half side R, with R of
    density ``~ R^2 exp(-R)`` beyond x. The outcome is at most ``min(1, weight (1 + x + x^2 / 2) exp(-x))`` likely.

    Example:
        >>> from sordino.mechanisms.clip.cut_tails import Rarity
        >>> [round(paired_quantile(Rarity(10.0, 0.001), 1.0, far, 0.0, 0.035), 2) for far in (0.0, 0.5, 1.0)]
        [10.66, 12.62, 16.46]
    """
    return scale * _widest_paired(rarity, max(_up(counted / scale), 1e-3), _up(deviation / scale), miss)


@lru_cache(maxsize=1024)
def _widest_paired(rarity: Rarity, counted: float, deviation: float, miss: float) -> float:
    flats, radii = _FLATS, _FLATS + _BEYOND
    left = (radii * radii + 2 * radii + 2) * np.exp(-_BEYOND)
    left = left / left[:, :1]
    masses = np.append(left[:, :-1] - left[:, 1:], left[:, -1:], axis=1)
    sides = np.append((radii[:, :-1] + radii[:, 1:]) / 2, radii[:, -1:], axis=1)
    likely = np.minimum(1.0, rarity.weight * (1 + flats + flats**2 / 2) * np.exp(-flats))[:, 0]
    likely[0] = 1.0

    def covers(width: float) -> bool:
        corners = (
            sign * _twice_above(width + sides * (1 + sign * counted), deviation)
            + sign * _twice_above(width - sides * (1 + sign * counted), deviation)
            for sign in (1, -1)
        )
        missed = (masses * sum(corners) / (2 * counted * sides**2)).sum(axis=1)
        return bool((likely * np.maximum(missed - miss, 0.0)).max() <= rarity.allowed)

    return _smallest(covers, 1.0)


def _twice_above(x: Any, deviation: float) -> Any:
    """The second integral of the probability that a normal number exceeds x: half of ``E (N - x)_+^2``."""
    if not deviation:
        return np.minimum(x, 0.0) ** 2 / 2
    from scipy.special import ndtr

    away = x / deviation
    density = np.exp(-away * away / 2) / math.sqrt(2 * math.pi)
    return deviation**2 * ((1 + away * away) * ndtr(-away) - away * density) / 2
