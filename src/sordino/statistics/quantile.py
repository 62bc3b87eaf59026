"""Any quantile of a column, by the lower, the upper or the interpolated rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino import checks
from sordino.errors import ParameterError
from sordino.lattice import FINE_BITS
from sordino.privacy import Neighbors
from sordino.reading.profile import Exact, Profile, Reach
from sordino.reading.requests import Rank, Request
from sordino.reading.summaries import Summaries
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, Case
from sordino.statistics.ordered import Ordered, Weights, codes_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sordino.reading.requests import Summary
    from sordino.reading.summaries import GroupColumns

    Codes = NDArray[np.int64]


_NEVER = -(2**62)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Reaches:
    """``low[group, l] .. high[group, l]`` holds the values within distance l; the last column is the whole range.

    Attributes:
        low: Non-increasing along a row.
        high: Non-decreasing along a row.
        rows: The number of rows of each group.
    """

    low: Codes
    high: Codes
    rows: Codes

    @classmethod
    def at(cls, found: GroupColumns, lowest: Codes, highest: Codes, *, top: int) -> Reaches:
        """The codes at the lowest and the highest rank of every distance, from the first window of each group.

        Ranks before the first row stand for the code 0, ranks after the last for ``top``. A group without rows holds
        the code 0, and any code one row away.
        """
        rows, window = found.rows, found.windows[0]
        first, start, length = window.first[:, None], window.start[:, None], window.length[:, None]
        empty = rows == 0

        def code(ranks: Codes) -> Codes:
            places = np.clip(ranks, 1, rows[:, None]) - first
            ends = places[:, [0, -1]]  # ranks are monotone along a row
            if ((ends < 0) | (ends >= length))[~empty].any():
                raise IndexError("rank outside the requested window")
            places += start
            places[empty] = 0
            codes: Codes = found.codes[places]
            codes[ranks < 1] = 0
            codes[ranks > rows[:, None]] = top
            return codes

        low, high = code(lowest), code(highest)
        low[:, -1], high[:, -1] = 0, top
        low[empty], high[empty], high[empty, 0] = 0, top, 0
        return cls(low, high, rows)

    def by(self, rows: int) -> Reaches:
        """The intervals for persons with up to ``rows`` rows each."""
        if rows == 1:
            return self
        last = self.low.shape[1] - 1
        places = np.minimum(np.arange(-(-last // rows) + 1) * rows, last)
        return Reaches(self.low[:, places], self.high[:, places], self.rows)


def reachable_ranks(rank: Rank, rows: Codes, depth: int) -> tuple[Codes, Codes]:
    """Lowest and highest rank that the answer can take after 0..depth rows came or went, for every number of rows.

    With d rows more in the end, l steps leave ``(l - |d|) / 2`` pairs of an addition and a removal, each of which
    moves the rank by one; so the best d needs one running maximum (docs/proofs/statistics_ordered.md).

    Example:
        >>> from sordino.reading.requests import LAST
        >>> [ranks.tolist() for ranks in reachable_ranks(LAST, np.array([5]), 2)]
        [[[5, 4, 3]], [[5, 6, 7]]]
    """
    steps = np.arange(depth + 1)
    low = np.full((len(rows), depth + 1), _NEVER)
    high = low.copy()
    for change in (steps, -steps):
        size = rows[:, None] + change
        some = size > 0
        ranks = ranks_among(rank, np.maximum(size, 1))
        added, gone = np.maximum(change, 0), np.maximum(-change, 0)
        np.maximum(high, np.where(some, 2 * (gone + ranks) - steps, _NEVER), out=high)
        np.maximum(low, np.where(some, 2 * (added - ranks) - steps, _NEVER), out=low)
    highest = (steps + np.maximum.accumulate(high, axis=1)) // 2
    lowest = -((steps + np.maximum.accumulate(low, axis=1)) // 2)
    return lowest, highest


def ranks_among(rank: Rank, sizes: Codes) -> Codes:
    """The rank among so many rows (at least one), cut to the rows that there are; exact for any fraction."""
    largest = int(sizes.max(initial=1))
    if largest * max(abs(rank.num), 1) + abs(rank.plus) + abs(rank.offset) >= 2**62:
        exact = [min(max(rank.of(size), 1), size) for size in sizes.ravel().tolist()]
        return np.array(exact, np.int64).reshape(sizes.shape)
    found: Codes = np.minimum(np.maximum(rank.of(sizes), 1), sizes)  # type: ignore[arg-type]
    return found


RULES = ("lower", "upper", "interpolated")


def rank_of(q: Fraction, rule: str) -> Rank:
    """The rank of a quantile as a public function of the number of rows, before it is cut to 1..n.

    Example:
        >>> [rank_of(Fraction(1, 2), rule).of(4) for rule in RULES]
        [2, 3, 2]
    """
    num, den = q.numerator, q.denominator
    if rule == "lower":  # ceil(q n)
        return Rank(num, den)
    if rule == "upper":  # floor(q n) + 1
        return Rank(num, den, plus=1 - den, offset=1)
    return Rank(num, den, plus=1 - den - num, offset=1)  # floor(q (n - 1)) + 1, type 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Ordered):
    """The q-quantile of a column.

    Args:
        q: Which quantile, from 0 to 1: 0.5 is the median, 0.25 the lower quartile.
        rule: ``"lower"`` takes the row of rank ``ceil(q n)``, ``"upper"`` the row of rank ``floor(q n) + 1``,
            ``"interpolated"`` lies between two rows (numpy's default, type 7).
        shift: Public number of rows by which the rank is moved up (or, negative, down); not with interpolation.

    Example:
        >>> Quantile("income", q=0.9, low=0, high=500_000).weights(10).pieces
        ((9, 9, 1),)
    """

    name: ClassVar[str] = "quantile"
    suits: ClassVar[tuple[str, ...]] = ("quantile-interval", "counted", "anchored", "quantile")
    extreme: ClassVar[bool] = False
    only: ClassVar[Fraction | None] = None
    """The one q that there is, for statistics that are a quantile by another name."""

    q: Fraction | float
    rule: str = "lower"
    shift: int = 0
    bits: int = FINE_BITS

    def shows(self) -> tuple[Trait, ...]:
        """A quantile, and one row unless it is interpolated."""
        row = () if self.rule == "interpolated" else (Trait.ROW,)
        return Trait.REACH, Trait.RANGE, Trait.COLUMN, Trait.QUANTILE, *row

    def check(self) -> None:
        """The quantile lies in [0, 1] and the rule is known."""
        Ordered.check(self)
        low, high = (0, 1) if self.only is None else (self.only, self.only)
        object.__setattr__(self, "q", checks.between(self.name, low, high, closed=True, q=self.q))
        checks.one_of(self.name, RULES, rule=self.rule)
        checks.whole(self.name, at_least=-(2**40), shift=self.shift)
        if self.shift and self.rule == "interpolated":
            raise ParameterError(self.name, "shift must be 0 with interpolation", got={"shift": self.shift})

    @property
    def exact(self) -> tuple[str, ...]:
        """The profile is exact under replace-one, the envelopes always."""
        fixed = self.neighbors is Neighbors.REPLACE_ONE
        return ("profile", "low", "high") if fixed else ("low", "high")

    def ranks(self) -> tuple[Rank, ...]:
        """The one rank (or the lower of the two) that counts."""
        rank = rank_of(Fraction(self.q), self.rule)
        return (Rank(rank.num, rank.den, rank.plus, rank.offset + self.shift),)

    def request(self, *, depth: int = DEPTH) -> Request:
        """A window around the one rank."""
        return Request.around(self.column, self.grid, self.ranks(), depth)

    def weights(self, rows: int) -> Weights:
        """One row, or two neighbours."""
        rank = min(max(self.ranks()[0].of(rows), 1), rows)
        if self.rule != "interpolated":
            return Weights(((rank, rank, 1),), 1)
        q = Fraction(self.q)
        part = (rows - 1) * q.numerator - (rank - 1) * q.denominator
        if part == 0:
            return Weights(((rank, rank, q.denominator),), q.denominator)
        return Weights(((rank, rank, q.denominator - part), (rank + 1, rank + 1, part)), q.denominator)

    def replace_bounds(self, summary: Summary, weights: Weights, depth: int, dtype: Any) -> NDArray[Any]:
        """Between two rows the local sensitivity is a mixture of two neighbouring gaps, opened by k rows.

        With the lower row weighing (1 - w) a step up gains ``(1-w)(y_(r+1) - y_r) + w (y_(r+2) - y_(r+1))``; k rows
        moved out of the way make y_r the row r - i and y_(r+2) the row r + 2 + j with i + j = k, and the row
        between goes to the side that its weight 1 - 2w favours (docs/proofs/statistics_ordered.md). A step down
        is the same one rank lower.
        """
        if len(weights.pieces) == 1:
            return Ordered.replace_bounds(self, summary, weights, depth, dtype)
        (rank, _, lower), (_, _, upper) = weights.pieces
        bounds: NDArray[Any] = np.zeros(depth + 1, dtype)
        for start in (rank - 1, rank):
            codes = codes_between(summary.runs, start - depth, start + 2 + depth).astype(dtype)
            below, above = codes[depth::-1], codes[depth + 2 :]
            if lower >= upper:
                left, right = -lower * below, (lower - upper) * codes[depth + 1 : -1] + upper * above
            else:
                left, right = (lower - upper) * codes[depth + 1 : 0 : -1] - lower * below, upper * above
            gains = [np.max(left[: k + 1] + right[k::-1]) for k in range(depth + 1)]
            bounds = np.maximum(bounds, np.array(gains, dtype))
        return bounds

    def add_remove(self, summary: Summary, depth: int, top: int) -> tuple[Reach, Profile]:
        """Reachable ranks give the reach; the profile is the widest gap of k + 2 rows between those of k + 1 steps."""
        if self.rule == "interpolated":
            return Ordered.add_remove(self, summary, depth, top)
        n = summary.rows
        lowest, highest = self.reachable(n, depth + 1)
        near = min(
            depth + 1, n
        )  # from distance n on the empty dataset is near, and counts as the lower bound
        codes = codes_between(summary.runs, lowest[-1], highest[-1])
        lows = [*(int(codes[rank - lowest[-1]]) for rank in lowest[:near]), *[0] * (depth + 1 - near)]
        highs = [int(codes[rank - lowest[-1]]) for rank in highest[: depth + 1]] if n else [0, *[top] * depth]
        reach = Reach.dense(lows, highs, bottom=0, top=top)
        bounds: list[Exact] = []
        for k in range(depth + 1):
            if n - k <= 1:
                bounds.append(top)
                break
            part = codes[lowest[k + 1] - lowest[-1] : highest[k + 1] - lowest[-1] + 1]
            width = min(k + 1, len(part) - 1)
            bounds.append(int(np.max(part[width:] - part[: len(part) - width])))
        return reach, Profile.dense(bounds, top).meet(Profile.from_reach(reach, top))

    def reachable(self, rows: int, depth: int) -> tuple[list[int], list[int]]:
        """Lowest and highest rank of the data that the answer can take after 0..depth rows came or went.

        Example:
            >>> Quantile("x", q=1, low=0, high=1).reachable(5, 2)
            ([5, 4, 3], [5, 6, 7])
        """
        lowest, highest = reachable_ranks(self.ranks()[0], np.array([rows]), depth)
        return lowest[0].tolist(), highest[0].tolist()

    def reaches(self, summaries: Sequence[Summary], *, short: bool = False) -> Reaches | None:
        """The reachable intervals of many groups at once, equal to those of `read`; None for the interpolated rule.

        Args:
            summaries: One per group, all answering one request; at least one.
            short: End at the first distance from which every code of every group is within reach.
        """
        if self.rule == "interpolated":
            return None
        self.check_rows()
        together = Summaries.of(summaries)
        found = together.columns
        depth = together.request.depth
        distances = np.arange(depth + 2)  # the last one is the whole range
        rows, place = np.unique(found.rows, return_inverse=True)
        rank = self.ranks()[0]
        if self.neighbors is Neighbors.REPLACE_ONE:
            middle = ranks_among(rank, np.maximum(rows, 1))[:, None]
            lowest, highest = middle - distances, middle + distances
        else:
            lowest, highest = reachable_ranks(rank, rows, depth + 1)
            # From distance n on the empty dataset is near, and counts as the lower bound.
            lowest = np.where(distances >= rows[:, None], 0, lowest)
        if short:
            inside = (lowest >= 1) | (highest <= rows[:, None])
            needed = int(np.max(np.flatnonzero(inside.any(axis=0)), initial=0)) + 2
            lowest, highest = lowest[:, :needed], highest[:, :needed]
        return Reaches.at(found, lowest[place], highest[place], top=self.grid.last)

    @property
    def breakdown(self) -> float:
        """The share of rows on the shorter side."""
        return min(float(self.q), 1 - float(self.q))

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Every rule at several quantiles over five points, both relations."""
        rows = tuple((x,) for x in (0, 1, 4))
        for relation in cls.relations:
            for rule in RULES:
                for q in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
                    statistic = cls("x", q=q, rule=rule, low=0, high=4, step=1, neighbors=relation)
                    yield Case(statistic, rows, sizes=(1, 2, 3, 4))
