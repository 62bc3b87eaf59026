"""The Theil-Sen slope: the median slope of all pairs of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sordino.lattice import RowLattice
from sordino.privacy import Neighbors
from sordino.reading.profile import Opened, Profile, Reach
from sordino.reading.requests import Columns
from sordino.reading.traits import Trait
from sordino.statistics import DEPTH, NESTED, Case, Statistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sordino.lattice import Lattice
    from sordino.reading.requests import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class TheilSen(Statistic):
    """The median of the slopes ``(y_j - y_i) / (x_j - x_i)`` over all pairs, by the lower rule.

    Slopes are clipped to public bounds; pairs with equal x count as a slope of 0 (or the bound nearer to it).
    Replacing one row changes n - 1 slopes, so the ranks move in steps of n - 1 (docs/proofs/statistics_slope.md).
    All pairs are held in memory, 4 bytes times n^2 / 2, so more than 20,000 rows are refused.

    Args:
        x: Name of the column of the explaining variable.
        y: Name of the column of the explained one.
        x_low: Public lower bound of x; rows below it are clamped to it.
        x_high: Public upper bound of x.
        y_low: Public lower bound of y.
        y_high: Public upper bound of y.
        low: Public lower bound of the slope; smaller slopes are clamped to it.
        high: Public upper bound of the slope; larger slopes are clamped to it.

    Example:
        >>> slope = TheilSen("t", "y", x_low=0, x_high=8, y_low=0, y_high=8, low=-4, high=4)
        >>> float(slope.units.real(slope.define([(0, 1), (1, 3), (2, 5)])))
        2.0
    """

    name: ClassVar[str] = "theil-sen"
    suits: ClassVar[tuple[str, ...]] = NESTED
    relations: ClassVar[tuple[Neighbors, ...]] = (Neighbors.REPLACE_ONE,)
    most_rows: ClassVar[int] = 20_000  # 200 million slopes: a gigabyte and four seconds

    x: str = field(kw_only=False)
    y: str = field(kw_only=False)
    x_low: float
    x_high: float
    y_low: float
    y_high: float
    low: float
    high: float
    neighbors: Neighbors = Neighbors.REPLACE_ONE

    def __post_init__(self) -> None:
        self.check_relation()
        self.grids  # noqa: B018  grids check themselves
        self.grid  # noqa: B018

    def shows(self) -> tuple[Trait, ...]:
        """Reachable intervals between public bounds."""
        return Trait.REACH, Trait.RANGE

    @property
    def grids(self) -> tuple[RowLattice, RowLattice]:
        """The lattices of the two columns."""
        return RowLattice(self.x_low, self.x_high), RowLattice(self.y_low, self.y_high)

    @property
    def grid(self) -> RowLattice:
        """The lattice of the slopes."""
        return RowLattice(self.low, self.high)

    @property
    def units(self) -> Lattice:
        """Steps of the slope."""
        return self.grid.endless

    def request(self, *, depth: int = DEPTH) -> Columns:
        """All rows of both columns."""
        return Columns((self.x, self.y), self.grids, depth=depth)

    def slopes(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[Any]:
        """The sorted codes of the slopes of all pairs: a function of each pair alone."""
        n, grid = len(x), self.grid
        grid_x, grid_y = self.grids
        ratio = float(grid_y.step / grid_x.step)
        codes = np.empty(n * (n - 1) // 2, np.uint32)
        filled = 0
        for i in range(n - 1):
            across, up = (x[i + 1 :] - x[i]).astype(np.float64), (y[i + 1 :] - y[i]).astype(np.float64)
            slopes = np.full(n - 1 - i, np.nan)
            np.divide(up, across, out=slopes, where=across != 0)
            codes[filled : filled + n - 1 - i] = grid.codes(slopes * ratio)
            filled += n - 1 - i
        codes.sort()
        return codes

    def define(self, rows: Sequence[tuple[float, float]]) -> int:
        """The middle slope of a few rows."""
        grid_x, grid_y = self.grids
        codes = [(grid_x.code(float(a)), grid_y.code(float(b))) for a, b in rows]
        ratio = float(grid_y.step / grid_x.step)
        slopes = sorted(
            self.grid.code((codes[j][1] - codes[i][1]) / (codes[j][0] - codes[i][0]) * ratio)
            if codes[j][0] != codes[i][0]
            else self.grid.code(float("nan"))
            for i in range(len(codes))
            for j in range(i)
        )
        return slopes[-(-len(slopes) // 2) - 1] if slopes else self.grid.code(float("nan"))

    def open(self, summary: Summary) -> Opened:
        """Order statistics of the slopes in steps of n - 1."""
        assert summary.codes is not None
        n, depth, top = summary.rows, summary.request.depth, self.grid.last
        if n < 2:
            value = self.grid.code(float("nan"))
            reach = Reach.dense([value], [value], bottom=0, top=top)
            return Opened(value, self.units, Profile.constant(top), reach, n, bottom=0, top=top)
        slopes = self.slopes(*summary.codes)
        rank, step = -(-len(slopes) // 2), n - 1
        most = min(depth + 1, len(slopes) // step + 1)  # beyond it every rank is at an end
        far = (most + 1) * step
        ranks = np.arange(rank - far, rank + far + 1)
        codes = np.where(
            ranks < 1, 0, np.where(ranks > len(slopes), top, slopes[np.clip(ranks - 1, 0, len(slopes) - 1)])
        )
        codes = codes.astype(np.int64)
        up, down = codes[far:], codes[far::-1]
        reach = Reach.dense(
            [int(down[l * step]) for l in range(most)],
            [int(up[l * step]) for l in range(most)],
            bottom=0,
            top=top,
        )
        bounds = []
        for k in range(most):
            width = (k + 1) * step  # an order statistic after width replaced slopes
            bounds.append(int(np.max(up[: width + 1] - down[width::-1])))
        profile = Profile.dense(bounds, top).meet(Profile.from_reach(reach, top))
        return Opened(int(up[0]), self.units, profile, reach, n, bottom=0, top=top)

    @classmethod
    def cases(cls) -> Iterable[Case]:
        """Nine points in the plane."""
        rows = tuple((float(a), float(b)) for a in (0, 1, 2) for b in (0, 1, 4))
        statistic = cls("t", "y", x_low=0, x_high=2, y_low=0, y_high=4, low=-8, high=8)
        yield Case(statistic, rows, (1, 2, 3), columns=("t", "y"))
