"""Statistics that weigh the sorted rows (order statistics, quantiles, means, trimmed and winsorized means).

All are symmetric and non-decreasing in every row, so one theorem gives both envelopes exactly
(docs/proofs/statistics_ordered.md): under replace-one the l smallest rows move to the upper bound, or the l
largest to the lower; under add/remove-one the best of all splits of l into additions and removals.
The files of the single statistics only say which ranks they weigh.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.privacy import Neighbors
from sordino.reading.profile import Exact, Opened, Profile, Reach
from sordino.reading.requests import Request
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Numeric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.reading.requests import Rank, Run, Summary


_SQUARE = 256
"""Up to this depth all splits of a distance are tried in one array."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Public weights on the sorted rows: each piece is (first rank, last rank, weight); divide by ``over``."""

    pieces: tuple[tuple[int, int, int], ...]
    over: int


class Sorted:
    """Sums of sorted codes by rank, from rank windows; 0 before the first row, ``top`` after the last."""

    def __init__(self, summary: Summary, top: int, *, room: int) -> None:
        self.rows = summary.rows
        self.top = top
        self.total = summary.total
        small = (self.rows + room) * (top + 1) < 2**62
        self.dtype: Any = np.int64 if small else object
        ranks, sums = [np.zeros(0, np.int64)], [np.zeros(0, self.dtype)]
        for run in summary.runs:
            length = len(run.codes)
            ranks.append(np.arange(run.first - 1, run.first + length))
            steps = np.concatenate([np.array([run.below], self.dtype), run.codes.astype(self.dtype)])
            sums.append(np.cumsum(steps))
        self._ranks, order = np.unique(np.concatenate(ranks), return_index=True)
        self._sums = np.concatenate(sums)[order]
        # Windows that meet are one stretch of ranks: a rank inside a stretch is found by subtraction.
        begins = [0, *(np.flatnonzero(np.diff(self._ranks) != 1) + 1).tolist(), len(self._ranks)]
        self._stretches = [
            (int(self._ranks[begin]), int(self._ranks[end - 1]), begin)
            for begin, end in itertools.pairwise(begins)
            if begin < end
        ]

    def prefix(self, ranks: NDArray[np.int64]) -> NDArray[Any]:
        """Sum of the codes of rank 1..r for every r, with rows beyond the last counted as ``top``."""
        if len(ranks) and (lowest := ranks.min()) > 0 and (highest := ranks.max()) < self.rows:
            for first, last, place in self._stretches:
                if first <= lowest and highest <= last:
                    found: NDArray[Any] = self._sums[ranks - (first - place)]
                    return found
        sums = np.zeros(ranks.shape, self.dtype)
        after = ranks >= self.rows
        sums[after] = self.total + (ranks[after] - self.rows).astype(self.dtype) * self.top
        inside = (ranks > 0) & ~after
        wanted = ranks[inside]
        if len(wanted):
            places = np.searchsorted(self._ranks, wanted)
            if places.max() >= len(self._ranks) or (self._ranks[places] != wanted).any():
                raise IndexError("rank outside the requested window")
            sums[inside] = self._sums[places]
        return sums


@dataclass(frozen=True, slots=True, kw_only=True)
class Ordered(Numeric):
    """A weighted sum of sorted rows; subclasses say the weights and the ranks at which they change."""

    def shows(self) -> tuple[Trait, ...]:
        """A weighted sum of sorted rows stays between the bounds of the rows."""
        return Trait.REACH, Trait.RANGE, Trait.COLUMN

    @property
    def exact(self) -> tuple[str, ...]:
        """The envelopes are exact; so is the profile of a single piece under replace-one."""
        if self.neighbors is not Neighbors.REPLACE_ONE or len(self.weights(9).pieces) > 1:
            return ("low", "high")
        return ("profile", "low", "high")

    @abstractmethod
    def weights(self, rows: int) -> Weights:
        """The weights for this many rows (at least one); public."""

    @abstractmethod
    def ranks(self) -> tuple[Rank, ...]:
        """The ranks at which the weights change, as public functions of the number of rows."""

    def request(self, *, depth: int = DEPTH) -> Request:
        """Rank windows wide enough for every distance up to ``depth``."""
        return Request.around(self.column, self.grid, self.ranks(), depth)

    def define(self, rows: Sequence[int]) -> Exact:
        """Weigh the sorted rows."""
        if not rows:
            return 0
        ordered, weights = sorted(rows), self.weights(len(rows))
        total = sum(weight * sum(ordered[first - 1 : last]) for first, last, weight in weights.pieces)
        return Fraction(total, weights.over)

    def open(self, summary: Summary) -> Opened:
        """Value, reach and profile from the windows."""
        depth, top, rows = summary.request.depth, self.grid.last, summary.rows
        if self.neighbors is Neighbors.REPLACE_ONE:
            if rows == 0:  # the number of rows is public: an empty column has no neighbour but itself
                reach = Reach.dense([0], [0], bottom=0, top=top)
                return Opened(0, self.units, Profile.constant(top), reach, 0, bottom=0, top=top)
            reach, profile = self._replace(summary, depth, top)
        else:
            reach, profile = self.add_remove(summary, depth, top)
        return Opened(reach.low[0], self.units, profile, reach, rows, windows=summary.runs, bottom=0, top=top)

    def _replace(self, summary: Summary, depth: int, top: int) -> tuple[Reach, Profile]:
        """Envelopes and profile when the number of rows is public."""
        weights = self.weights(summary.rows)
        ordered = Sorted(summary, top, room=max(2 * depth + 8, weights.over - summary.rows))
        shift = np.arange(depth + 1)
        reach = Reach.dense(
            exacts(weigh(ordered, weights, -shift), weights.over),
            exacts(weigh(ordered, weights, shift), weights.over),
            bottom=0,
            top=top,
        )
        share = sum(w for *_, w in weights.pieces)
        ceiling: Exact = top if share >= weights.over else Fraction(share * top, weights.over)
        bounds = self.replace_bounds(summary, weights, depth, ordered.dtype)
        profile = Profile.dense(exacts(bounds, weights.over), ceiling)
        if len(weights.pieces) > 1:
            profile = profile.meet(Profile.from_reach(reach, ceiling))
        return reach, profile

    def replace_bounds(self, summary: Summary, weights: Weights, depth: int, dtype: Any) -> NDArray[Any]:
        """Local sensitivity at distance 0..depth under replace-one, still to be divided by ``over``.

        Bun and Steinke 2019, Prop. 40, for each piece; a sum of valid profiles is a valid profile.
        """
        bounds: NDArray[Any] = np.zeros(depth + 1, dtype)
        for first, last, weight in weights.pieces:
            bounds = bounds + weight * block_profile(summary.runs, first, last, depth).astype(dtype)
        return bounds

    def add_remove(self, summary: Summary, depth: int, top: int) -> tuple[Reach, Profile]:
        """Envelopes and profile when rows come and go."""
        reach = add_remove_reach(self, summary, depth, top)
        profile = Profile.from_reach(reach, top)
        better = self.add_remove_profile(summary, depth, top)
        return reach, profile if better is None else profile.meet(better)

    def add_remove_profile(self, summary: Summary, depth: int, top: int) -> Profile | None:  # noqa: ARG002
        """A sharper profile than the one that follows from the reach, where a proof gives one."""
        return None


def exacts(numerators: NDArray[Any], over: int) -> list[Exact]:
    """Python integers or Fractions from an array of numerators."""
    if over == 1:
        return [int(a) for a in numerators]
    return [Fraction(int(a), over) for a in numerators]


def weigh(ordered: Sorted, weights: Weights, shift: NDArray[np.int64]) -> NDArray[Any]:
    """The weighted sum with all ranks shifted, for every shift; still to be divided by ``over``."""
    total: NDArray[Any] = np.zeros(shift.shape, ordered.dtype)
    for first, last, weight in weights.pieces:
        total = total + weight * (ordered.prefix(last + shift) - ordered.prefix(first - 1 + shift))
    return total


def codes_between(runs: Sequence[Run], first: int, last: int) -> NDArray[np.int64]:
    """The codes of the ranks first..last from whichever window holds them."""
    for run in runs:
        try:
            return run.ranks(first, last)
        except IndexError:
            continue
    raise IndexError("rank outside the requested windows")


def block_profile(runs: Sequence[Run], first: int, last: int, depth: int) -> NDArray[np.int64]:
    """Local sensitivity at distance 0..depth of the plain sum of the ranks first..last, replace-one.

    ``max_{t=0..k+1} x_(last+k+1-t) - x_(first-t)`` (Bun and Steinke 2019, Prop. 40).
    """
    up = codes_between(runs, last, last + depth + 1)
    down = codes_between(runs, first - depth - 1, first)[::-1]
    if depth > _SQUARE:
        return np.array([(up[k + 1 :: -1] - down[: k + 2]).max() for k in range(depth + 1)], np.int64)
    # All splits of all distances as one small square; what is not a split is far below.
    ahead = np.concatenate([np.full(depth + 1, -(2**62), np.int64), up])
    splits = np.lib.stride_tricks.sliding_window_view(ahead, depth + 2)[1:, ::-1]
    largest: NDArray[np.int64] = (splits - down).max(axis=1)
    return largest


def add_remove_reach(statistic: Ordered, summary: Summary, depth: int, top: int) -> Reach:
    """Exact envelopes under add/remove-one: the best of all splits of l into additions and removals.

    With j of the smallest rows removed and i rows added at ``top`` the row of rank p is the row p + j of the
    data; with i rows added at 0 and j of the largest removed it is the row p - i. The empty dataset counts as 0.
    """
    n = summary.rows
    sizes = range(max(0, n - depth), n + depth + 1)
    table = [statistic.weights(size) if size else None for size in sizes]
    count = max(len(w.pieces) for w in table if w is not None) if any(table) else 0
    first, last, weight = (np.zeros((count, len(table)), np.int64) for _ in range(3))
    over = np.ones(len(table), np.int64)
    for index, weights in enumerate(table):
        if weights is None:
            continue
        over[index] = weights.over
        # Where there are fewer pieces the first one stands in, without weight, so that no other rank is looked up.
        spare = [(*weights.pieces[0][:2], 0)] * (count - len(weights.pieces))
        for place, (a, b, w) in enumerate((*weights.pieces, *spare)):
            first[place, index], last[place, index], weight[place, index] = a, b, w
    ordered = Sorted(summary, top, room=max(4 * depth + 8, int(over.max()) - n))
    lows: list[Exact] = []
    highs: list[Exact] = []
    for l in range(depth + 1):
        removed = np.arange(max(0, min(l, n)) + 1)
        added = l - removed
        column = n + added - removed - sizes[0]
        filled = (n + added - removed > 0).nonzero()[0]
        up: NDArray[Any] = np.zeros(len(filled), ordered.dtype)
        down: NDArray[Any] = np.zeros(len(filled), ordered.dtype)
        column, i, j = column[filled], added[filled], removed[filled]
        for place in range(count):
            a, b, w = first[place, column], last[place, column], weight[place, column]
            up = up + w * (ordered.prefix(b + j) - ordered.prefix(a - 1 + j))
            down = down + w * (ordered.prefix(b - i) - ordered.prefix(a - 1 - i))
        empty = len(filled) < len(removed)
        highest = largest_ratio(up, over[column])
        lowest = None if empty else largest_ratio(-down, over[column])
        highs.append(highest if highest is not None else 0)
        lows.append(-lowest if lowest is not None else 0)
        if l:
            highs[-1], lows[-1] = max(highs[-1], highs[-2]), min(lows[-1], lows[-2])
        if lows[-1] == 0 and highs[-1] == top:
            break  # both ends are reached: nothing is farther
    return Reach.dense(lows, highs, bottom=0, top=top)


def largest_ratio(numerators: NDArray[Any], over: NDArray[np.int64]) -> Exact | None:
    """The largest of exact fractions: floats select the candidates, integers decide."""
    if not len(over):
        return None
    if (over == over[0]).all():
        best = numerators.max()
        return Fraction(int(best), int(over[0])) if over[0] != 1 else int(best)
    ratios = numerators.astype(np.float64) / over
    most = ratios.max()
    near = (ratios >= most - abs(most) * 1e-12).nonzero()[0]
    top, bottom = int(numerators[near[0]]), int(over[near[0]])
    for place in near[1:]:
        a, b = int(numerators[place]), int(over[place])
        if a * bottom > top * b:
            top, bottom = a, b
    return Fraction(top, bottom)


def block_add_remove_profile(statistic: Ordered, summary: Summary, depth: int, top: int) -> Profile:
    """Profile of the mean of one block of ranks that is trimmed by shares of the rows, add/remove-one.

    One row more or less moves the mean of the block by at most ``(x_(last+1) - x_(first-1)) / c`` with c the
    length of the block in the larger dataset, and every step moves an end of the block by at most one rank
    (docs/proofs/statistics_ordered.md).
    """
    n = summary.rows
    if n == 0:
        return Profile.constant(top)
    ((first, last, _),) = statistic.weights(n).pieces
    upper = codes_between(summary.runs, last + 2, last + depth + 2)
    lower = codes_between(summary.runs, first - depth - 2, first - 2)[::-1]
    bounds: list[Exact] = []
    shortest = statistic.weights(n).over
    for k in range(depth + 1):
        if n - k <= 1:  # the empty dataset is near, and counts as the lower bound
            bounds.append(top)
            break
        shortest = min(shortest, statistic.weights(n - k).over, statistic.weights(n + k + 1).over)
        bounds.append(Fraction(int(upper[k] - lower[k]), shortest))
    return Profile.dense(bounds, top)
