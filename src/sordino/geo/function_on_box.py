"""Any function on a box of one to three dimensions: the generic procedure for a function of a user's own.

Section 3.3 of Liang and Yi (2024) without its critical points. The function is released as its multilinear interpolant,
so nothing is assumed about it; its Lipschitz constant is bounded cell by cell, and the smooth bound is the maximum over
all cells of that constant times e^(-smoothing times the distance to the cell). Proof: docs/proofs/geo_functions.md.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import DataError, ParameterError
from sordino.geo.curve import EXP_ERROR, Slack, exponential
from sordino.geo.lattice import PointLattice
from sordino.geo.space_function import FLOOR, ROUND_UP, SpaceFunction, finite_heights
from sordino.lattice import ceil_log2

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CELLS = 1 << 16
_AT_ONCE = 1 << 22  # numbers in memory while a bound is computed
_KNOTS = {1: 1025, 2: 65, 3: 17}


@dataclass(frozen=True, eq=False, repr=False)
class FunctionOnBox(SpaceFunction):
    """Any function on a box of one to three dimensions, constant beyond it along the nearest point; Euclidean distance.

    Args:
        low: Lower corner.
        high: Upper corner.
        heights: Values at even knots, one axis per dimension, and one more for several outputs;
            `FunctionOnBox.of` samples them.

    Example:
        >>> wave = FunctionOnBox.of(lambda x, y: np.sin(x) * np.cos(y), low=(-3, -3), high=(3, 3))
        >>> wave.value([[1.0, 0.5]]).round(2), round(wave.lipschitz, 1)
        (array([0.74]), 1.0)
    """

    name = "function-on-box"
    low: tuple[float, ...]
    high: tuple[float, ...]
    heights: Floats = field(repr=False)

    def __post_init__(self) -> None:
        low, high = _corner(self.name, "low", self.low), _corner(self.name, "high", self.high)
        if (
            len(low) != len(high)
            or not 1 <= len(low) <= 3
            or any(a >= b for a, b in zip(low, high, strict=True))
        ):
            raise ParameterError(
                self.name, "low and high are corners of a box of one to three dimensions",
                got={"low": low, "high": high}, hint="low=(0, 0), high=(1000, 1000)",
            )  # fmt: skip
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        given = np.array(self.heights, dtype=np.float64)
        if given.ndim == len(low):
            given = given[..., None]
        if given.ndim != len(low) + 1 or min(given.shape[:-1]) < 2:
            raise ParameterError(
                self.name, "the function must give a number, or a row of numbers, at every knot",
                got={"shape": given.shape}, hint="FunctionOnBox.of(lambda x, y: numpy.hypot(x, y), low=..., high=...)",
            )  # fmt: skip
        knots = given.shape[:-1]
        if np.prod([count - 1 for count in knots]) > CELLS:
            raise ParameterError(self.name, f"a box has at most {CELLS} cells", got={"knots": knots})
        flat = finite_heights(self.name, given.reshape(-1, given.shape[-1]), int(np.prod(knots)))
        object.__setattr__(self, "heights", flat.reshape(given.shape))

    @classmethod
    def of(
        cls, function: Callable[..., Any], *, low: Any, high: Any, knots: int | None = None
    ) -> FunctionOnBox:
        """Sample a function of one array per coordinate at even knots; it may give a tuple of several arrays."""
        first, last = _corner(cls.name, "low", low), _corner(cls.name, "high", high)
        count = (
            _KNOTS.get(len(first), 2) if knots is None else checks.whole(cls.name, at_least=2, knots=knots)
        )
        axes = [np.linspace(a, b, count) for a, b in zip(first, last, strict=True)]
        found = function(*np.meshgrid(*axes, indexing="ij"))
        several = isinstance(found, (tuple, list))
        shape = (count,) * len(first)
        parts = [
            np.broadcast_to(np.asarray(one, dtype=np.float64), shape)
            for one in (found if several else (found,))
        ]
        return cls(first, last, np.stack(parts, axis=-1))

    def __repr__(self) -> str:
        knots = " x ".join(map(str, self.heights.shape[:-1]))
        return f"FunctionOnBox(low={self.low}, high={self.high}, {knots} knots, outputs={self.outputs})"

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.low)

    @property
    def outputs(self) -> int:
        """Numbers per point."""
        return int(self.heights.shape[-1])

    @property
    def extremes(self) -> tuple[Floats, Floats]:
        """Over all knots: an interpolant has no others."""
        axes = tuple(range(self.dimension))
        return self.heights.min(axis=axes), self.heights.max(axis=axes)

    @property
    def widths(self) -> Floats:
        """Sides of a cell."""
        counts = np.array(self.heights.shape[:-1]) - 1
        return (np.array(self.high) - np.array(self.low)) / counts

    @cached_property
    def slopes(self) -> Floats:
        """A Lipschitz constant of each cell, from the Euclidean to the sum norm.

        Along an axis the interpolant's slope is a mean of those of the cell's edges, so it is at most the steepest; of
        the rows |df_j/dx_k| the norm is at most the length of the vector of column sums.
        """
        square: Any = 0.0
        for axis, width in enumerate(self.widths):
            steep = np.abs(np.diff(self.heights, axis=axis)) / width
            for other in range(self.dimension):
                if other != axis:
                    lower = np.take(steep, range(steep.shape[other] - 1), axis=other)
                    upper = np.take(steep, range(1, steep.shape[other]), axis=other)
                    steep = np.maximum(lower, upper)
            square = square + steep.sum(axis=-1) ** 2
        found: Floats = np.sqrt(square) * ROUND_UP
        return found

    @property
    def lipschitz(self) -> float:
        """Of the steepest cell."""
        return float(self.slopes.max())

    def points(self, points: ArrayLike) -> Floats:
        """Rows of coordinates."""
        at = np.asarray(points, dtype=np.float64)
        if self.dimension == 1 and at.ndim < 2:
            at = at.reshape(-1, 1)
        at = at[None, :] if at.ndim == 1 else at
        if at.ndim != 2 or at.shape[1] != self.dimension:
            raise DataError(
                self.name, f"points must have {self.dimension} coordinates each", got={"shape": at.shape}
            )
        return at

    def lattice(self, rate: Fraction) -> PointLattice:
        """Fine against the distance of loss one, and as wide as the box."""
        unit = ceil_log2(1 / rate)
        exponent = unit - 17
        step = 2.0**exponent
        middle = [0.5 * (a + b) for a, b in zip(self.low, self.high, strict=True)]
        anchor = tuple(float(np.rint(m / step) * step) for m in middle)
        reach = 2.0**unit
        while reach < max(b - a for a, b in zip(self.low, self.high, strict=True)):
            reach *= 2.0
        if max(map(abs, anchor)) + reach > 2.0**52 * step:
            raise ParameterError(
                self.name, "the box is too far from the origin for so fine a privacy distance",
                got={"anchor": anchor, "distance": float(1 / rate)}, hint="move the origin nearer to the box",
            )  # fmt: skip
        return PointLattice.around(anchor, exponent=exponent, reach=reach)

    def value_and_bound(self, at: Floats, smoothing: float) -> tuple[Floats, Floats]:
        """The interpolant at the nearest points of the box, and the largest decayed constant of all cells."""
        inside = np.clip(np.nan_to_num(at, nan=-np.inf), self.low, self.high)
        place = (inside - np.array(self.low)) / self.widths
        cell = np.minimum(np.floor(place).astype(np.intp), np.array(self.heights.shape[:-1]) - 2)
        share = place - cell
        value = np.zeros((len(at), self.outputs))
        for corner in itertools.product((0, 1), repeat=self.dimension):
            weight = np.prod(np.where(np.array(corner) == 1, share, 1.0 - share), axis=1)
            value += weight[:, None] * self.heights[tuple((cell + np.array(corner)).T)]
        return value, self._bounds(inside, smoothing)

    def _bounds(self, inside: Floats, smoothing: float) -> Floats:
        steep = self.slopes.ravel()
        kept = np.flatnonzero(steep > FLOOR * self.lipschitz)
        first = np.array(self.low) + np.stack(np.unravel_index(kept, self.slopes.shape), axis=1) * self.widths
        found = np.full(len(inside), FLOOR * self.lipschitz)
        for begin in range(0, len(inside), size := max(1, _AT_ONCE // max(1, len(kept)))):
            part = inside[begin : begin + size]
            square = np.zeros((len(part), len(kept)))
            for axis in range(self.dimension):
                low = first[None, :, axis]
                out = np.maximum(low - part[:, axis, None], part[:, axis, None] - (low + self.widths[axis]))
                square += np.maximum(out, 0.0) ** 2
            decayed = steep[kept][None, :] * exponential(-smoothing * np.sqrt(square))
            np.maximum(found[begin : begin + size], decayed.max(axis=1), out=found[begin : begin + size])
        return found

    def slack(self, smoothing: float) -> Slack:
        """Rounding of the interpolation against the floor of the bound, and of places inside cells."""
        far = 2.0 * max(map(abs, (*self.low, *self.high)))
        size = float(np.abs(self.heights).sum(axis=-1).max())
        placed = 2.0**-48 * far
        return Slack(placed + 2.0**-47 * size / (FLOOR * self.lipschitz), placed + 2 * EXP_ERROR / smoothing)

    def to_dict(self) -> dict[str, Any]:
        """Corners, knots and a digest of the values."""
        return {
            "kind": self.name,
            "low": list(self.low),
            "high": list(self.high),
            "knots": list(self.heights.shape[:-1]),
            "values": hashlib.sha256(self.heights.tobytes()).hexdigest(),
        }


def _corner(subject: str, name: str, value: Any) -> tuple[float, ...]:
    listed = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
    return tuple(float(checks.exact(subject, **{name: number})) for number in listed)
