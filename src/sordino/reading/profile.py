"""How far a statistic can move: local sensitivity by distance, reachable intervals, and the sealed reading.

Everything is exact (integers and Fractions) and counted in the steps of a public lattice (`Lattice`).
No statistic, no noise and no mechanism lives here. A Reading is private: it does not print, pickle or compare.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.lattice import Lattice
    from sordino.reading.requests import Run

Exact = int | Fraction


def _ascending(subject: str, numbers: Sequence[int]) -> None:
    """Distances start at zero and increase."""
    if not numbers or numbers[0] != 0 or any(a >= b for a, b in pairwise(numbers)):
        raise ParameterError(subject, "distances must start at 0 and increase")


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """Local sensitivity by distance; as private as the data.

    ``bound[i]`` is at least the local sensitivity of every dataset within ``distance[i]``; a distance that is
    not listed takes the bound of the next listed one, and beyond the last the ``ceiling`` (the global
    sensitivity) holds. For neighbours ``at(k)`` of one is at most ``at(k + 1)`` of the other.

    Args:
        distance: Increasing, from 0.
        bound: Non-decreasing, in steps of the statistic's `Lattice`.
        ceiling: A public bound for every dataset.
    """

    distance: tuple[int, ...]
    bound: tuple[Exact, ...]
    ceiling: Exact

    def __post_init__(self) -> None:
        _ascending("profile", self.distance)
        if len(self.bound) != len(self.distance):
            raise ParameterError("profile", "there must be one bound per distance")
        if any(a > b for a, b in zip(self.bound, (*self.bound[1:], self.ceiling), strict=True)):
            raise ParameterError("profile", "bounds must not decrease, and end below the ceiling")

    @classmethod
    @functools.lru_cache(maxsize=256)  # a public number
    def constant(cls, ceiling: Exact) -> Profile:
        """The profile that knows nothing but the global sensitivity."""
        return cls((0,), (ceiling,), ceiling)

    @classmethod
    def dense(cls, bounds: Sequence[Exact], ceiling: Exact) -> Profile:
        """Bounds at the distances 0, 1, 2, ..., cut to the ceiling and shortened where they stay on it."""
        kept: list[Exact] = []
        largest: Exact = 0
        for bound in bounds:
            largest = max(largest, min(bound, ceiling))
            kept.append(largest)
            if largest == ceiling:
                break
        kept = kept or [ceiling]
        return cls(tuple(range(len(kept))), tuple(kept), ceiling)

    @classmethod
    def from_reach(cls, reach: Reach, ceiling: Exact) -> Profile:
        """A valid profile for any reach, exact at distance 0 (docs/proofs/statistics_ground.md).

        Two neighbours within k and k + 1 differ by at most ``max(U_{k+1} - L_k, U_k - L_{k+1})``.
        """
        bounds: list[Exact] = []
        for k in range(reach.distance[-1]):
            (low, high), (lower, higher) = reach.at(k), reach.at(k + 1)
            bounds.append(max(higher - low, high - lower))
        return cls.dense(bounds, ceiling)

    def at(self, k: int) -> Exact:
        """The bound at distance k."""
        index = bisect_left(self.distance, k)
        return self.bound[index] if index < len(self.bound) else self.ceiling

    def meet(self, other: Profile) -> Profile:
        """The smaller of two valid profiles, which is valid."""
        last = max(self.distance[-1], other.distance[-1])
        ceiling = min(self.ceiling, other.ceiling)
        return Profile.dense([min(self.at(k), other.at(k)) for k in range(last + 1)], ceiling)

    def scaled(self, factor: Exact) -> Profile:
        """The profile of the statistic times a positive public factor."""
        return Profile(self.distance, tuple(b * factor for b in self.bound), self.ceiling * factor)

    def by(self, rows: int) -> Profile:
        """The profile for persons with up to ``rows`` rows each: k persons are ``rows * k`` rows."""
        if rows == 1:
            return self
        last = self.distance[-1] // rows + 1
        sums = [sum(self.at(k * rows + i) for i in range(rows)) for k in range(last + 1)]
        return Profile.dense(sums, self.ceiling * rows)

    def smooth(self, smoothing: float) -> float:
        """The smooth bound ``max_k exp(-smoothing k) at(k)``; as private as the data.

        Between neighbours it changes by a factor of at most ``exp(smoothing)`` (Nissim, Raskhodnikova and Smith
        2007, Def. 2.1). Releases use the integer form of `sordino.exact` instead of this float.

        Example:
            >>> Profile((0, 1), (1, 4), 100).smooth(2.0)
            1.8315638888734178
        """
        gamma = float(smoothing)
        worst = max(math.exp(-gamma * k) * float(b) for k, b in zip(self.distance, self.bound, strict=True))
        # Between listed distances the bound jumps right after the earlier one.
        for before, bound in zip(self.distance, (*self.bound[1:], self.ceiling), strict=True):
            worst = max(worst, math.exp(-gamma * (before + 1)) * float(bound))
        return worst


@dataclass(frozen=True, slots=True, repr=False)
class Reach:
    """The nested intervals of values that are reachable within each distance; as private as the data.

    ``[low[i], high[i]]`` holds the statistic of every dataset within ``distance[i]``; for neighbours the
    interval of one at l lies inside the interval of the other at l + 1 (Durfee, Cor. 3.1). A distance that is not
    listed takes the next listed one. Beyond the last, the interval stays (it is then the whole range) or, with
    a ``tail``, grows by ``tail`` on both sides with every step.

    Args:
        distance: Increasing, from 0; ``low[0] <= value <= high[0]``.
        low: Non-increasing, in steps of the statistic's `Lattice`.
        high: Non-decreasing.
        tail: Growth beyond the last distance, or None where the last interval is the whole range.
    """

    distance: tuple[int, ...]
    low: tuple[Exact, ...]
    high: tuple[Exact, ...]
    tail: Exact | None = None

    def __post_init__(self) -> None:
        _ascending("reach", self.distance)
        if not len(self.low) == len(self.high) == len(self.distance):
            raise ParameterError("reach", "there must be one interval per distance")
        widening = all(a >= b for a, b in zip(self.low, self.low[1:], strict=False)) and all(
            a <= b for a, b in zip(self.high, self.high[1:], strict=False)
        )
        if not widening or self.low[0] > self.high[0]:
            raise ParameterError("reach", "intervals must be nested")

    @classmethod
    def dense(cls, low: Sequence[Exact], high: Sequence[Exact], *, bottom: Exact, top: Exact) -> Reach:
        """Intervals at 0, 1, 2, ..., then the whole public range ``[bottom, top]`` at the distance after them."""
        lows: list[Exact] = []
        highs: list[Exact] = []
        for below, above in zip(low, high, strict=True):
            lows.append(min(max(below, bottom), lows[-1] if lows else top))
            highs.append(max(min(above, top), highs[-1] if highs else bottom))
            if lows[-1] == bottom and highs[-1] == top:
                break
        if lows[-1] != bottom or highs[-1] != top:
            lows.append(bottom)
            highs.append(top)
        return cls(tuple(range(len(lows))), tuple(lows), tuple(highs))

    @classmethod
    def from_profile(
        cls, value: Exact, profile: Profile, *, bottom: Exact | None = None, top: Exact | None = None
    ) -> Reach:
        """Radii ``R_l = at(l - 1)`` around the value (Durfee, Cor. 5.1 with the index of Cor. 5.2)."""
        return cls.from_sides(value, profile, profile, bottom=bottom, top=top)

    @classmethod
    def from_sides(
        cls,
        value: Exact,
        fall: Profile,
        rise: Profile,
        *,
        bottom: Exact | None = None,
        top: Exact | None = None,
    ) -> Reach:
        """Radii of their own for both sides: the asymmetric relaxation (proof: mechanism_nested).

        Args:
            value: The statistic.
            fall: By distance, how far one changed row can lower the statistic at most.
            rise: How far one can raise it.
            bottom: Lower end of the public range.
            top: Upper end.

        Example:
            >>> ends = Reach.from_sides(3, Profile.dense([1, 1], 2), Profile.dense([0, 4], 9), bottom=0, top=20)
            >>> [ends.at(l) for l in range(3)]
            [(3, 3), (2, 3), (1, 7)]
        """
        lows: list[Exact] = [value]
        highs: list[Exact] = [value]
        for k in range(max(fall.distance[-1], rise.distance[-1]) + 1):
            lows.append(lows[-1] - fall.at(k))
            highs.append(highs[-1] + rise.at(k))
        if bottom is None or top is None:
            tail = max(fall.ceiling, rise.ceiling)
            return cls(tuple(range(len(lows))), tuple(lows), tuple(highs), tail)
        return cls.dense(lows, highs, bottom=bottom, top=top)

    def at(self, l: int) -> tuple[Exact, Exact]:
        """The interval at distance l."""
        index = bisect_left(self.distance, l)
        if index < len(self.distance):
            return self.low[index], self.high[index]
        if self.tail is None:
            return self.low[-1], self.high[-1]
        beyond = self.tail * (l - self.distance[-1])
        return self.low[-1] - beyond, self.high[-1] + beyond

    def by(self, rows: int) -> Reach:
        """The reach for persons with up to ``rows`` rows each."""
        if rows == 1:
            return self
        last = -(-self.distance[-1] // rows)
        intervals = [self.at(l * rows) for l in range(last + 1)]
        return Reach(
            tuple(range(last + 1)),
            tuple(low for low, _ in intervals),
            tuple(high for _, high in intervals),
            None if self.tail is None else self.tail * rows,
        )


@dataclass(frozen=True, slots=True, repr=False)
class Opened:
    """What a mechanism works with after `Reading.open`; private.

    Attributes:
        value: The statistic in steps of ``units`` (a tuple for a vector).
        units: The public lattice.
        profile: Local sensitivity by distance (in the statistic's norm for a vector).
        reach: Reachable intervals; None for a vector.
        rows: The number of rows, public only under replace-one without dropped rows.
        windows: The sorted codes around the requested ranks.
        below: For each requested cut, the number of rows with a smaller code.
        counts: Counts of public cells or categories.
    """

    value: Any
    units: Lattice
    profile: Profile
    reach: Reach | None
    rows: int
    windows: tuple[Run, ...] = ()
    below: tuple[int, ...] = ()
    counts: tuple[int, ...] = ()
    bottom: Exact | None = field(default=None)
    top: Exact | None = field(default=None)

    def by(self, rows: int) -> Opened:
        """The same reading for persons with up to ``rows`` rows each."""
        if rows == 1:
            return self
        return Opened(
            self.value,
            self.units,
            self.profile.by(rows),
            None if self.reach is None else self.reach.by(rows),
            self.rows,
            self.windows,
            self.below,
            self.counts,
            self.bottom,
            self.top,
        )


class Reading:
    """A value and how far it could move, sealed: only mechanisms and tests may `open` it.

    Example:
        >>> from sordino.lattice import Lattice
        >>> reading = Reading(Opened(3, Lattice(), Profile.constant(1), None, rows=5))
        >>> reading
        <sealed reading>
        >>> reading.open().value
        3
    """

    __slots__ = ("__opened",)

    def __init__(self, opened: Opened) -> None:
        self.__opened = opened

    def open(self) -> Opened:
        """For mechanisms and tests only: what comes out is private."""
        return self.__opened

    def by(self, rows: int) -> Reading:
        """The reading for persons with up to ``rows`` rows each."""
        return self if rows == 1 else Reading(self.__opened.by(rows))

    def __repr__(self) -> str:
        return "<sealed reading>"

    def _sealed(self, *_: object) -> NoReturn:
        message = "a reading is sealed: it is private and does not compare, hash, copy or serialise"
        raise TypeError(message)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _sealed
    __reduce__ = __reduce_ex__ = __copy__ = __deepcopy__ = __getstate__ = _sealed
    __bool__ = __int__ = __float__ = __len__ = __iter__ = _sealed
    __hash__ = None  # type: ignore[assignment]

    def __format__(self, specification: str) -> str:
        return format(repr(self), specification)
