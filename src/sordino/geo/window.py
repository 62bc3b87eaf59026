"""A window of even cells over the map, on which reports are spread once and every question is a product of transforms.

Reports go to the nodes by cubic B-splines, whose own transform is divided out again, so that for any function phi
that is smooth over a few cells the sum of phi over reports is the sum of phi over nodes times what stands there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CHUNK = 1 << 18
#: More nodes than this would take minutes and gigabytes.
LARGEST = 3 * 10**7


@dataclass(frozen=True)
class MapWindow:
    """Nodes on an even grid; what was asked for is an inner part of it, the rest keeps its borders clean.

    Attributes:
        origin: The first node, in the unit of the map.
        cell: Distance of nodes along each axis.
        shape: Nodes along each axis.
        inner: For each axis, which nodes were asked for.
    """

    origin: tuple[float, float]
    cell: tuple[float, float]
    shape: tuple[int, int]
    inner: tuple[slice, slice]

    @staticmethod
    def over(*, low: Any, high: Any, shape: Any, finest: float, pad: float) -> MapWindow:
        """Lay a window over places on an even grid, ends included.

        Args:
            low: First place.
            high: Last place.
            shape: Number of places along each axis.
            finest: Cells must not be larger than this; whole numbers of them lie between places.
            pad: What to add on each side.

        Example:
            >>> window = MapWindow.over(low=(0, 0), high=(90, 90), shape=(10, 10), finest=4.0, pad=30.0)
            >>> [round(float(x), 1) for x in window.axis(0)[window.inner[0]][:3]]
            [0.0, 10.0, 20.0]
        """
        from scipy.fft import next_fast_len

        origin, cell, size, inner = [], [], [], []
        for a, b, n in zip(low, high, shape, strict=True):
            gap = (b - a) / (n - 1)
            refine = max(1, ceil(gap / finest * (1 - 1e-12)))
            c = gap / refine
            border = ceil(pad / c) + 2
            wanted = (n - 1) * refine + 1
            origin.append(a - border * c)
            cell.append(c)
            size.append(next_fast_len(wanted + 2 * border, real=True))
            inner.append(slice(border, border + wanted, refine))
        if size[0] * size[1] > LARGEST:
            raise Unsupported(
                "map",
                "too many cells for one transform",
                got={"cells": tuple(size)},
                why="Cells must be four times finer than the kernel, the border several times wider than the noise.",
                hint="a smaller part of the map, or a wider bandwidth",
            )
        return MapWindow(tuple(origin), tuple(cell), tuple(size), tuple(inner))  # type: ignore[arg-type]

    def axis(self, i: int) -> Floats:
        """Coordinates of the nodes along an axis."""
        nodes: Floats = self.origin[i] + self.cell[i] * np.arange(self.shape[i], dtype=np.float64)
        return nodes

    @property
    def area(self) -> float:
        """Of a cell."""
        return self.cell[0] * self.cell[1]

    @cached_property
    def waves(self) -> Floats:
        """Squared wave numbers of the half spectrum."""
        a = 2 * np.pi * np.fft.fftfreq(self.shape[0], self.cell[0])
        b = 2 * np.pi * np.fft.rfftfreq(self.shape[1], self.cell[1])
        return np.add.outer(a * a, b * b)

    @cached_property
    def _spline(self) -> tuple[Floats, Floats]:
        """Transform of the B-spline along each axis."""
        a = np.sinc(np.fft.fftfreq(self.shape[0])) ** 4
        b = np.sinc(np.fft.rfftfreq(self.shape[1])) ** 4
        return a, b

    def forward(self, field: Floats) -> Any:
        """The half spectrum of a field on the nodes."""
        from scipy.fft import rfft2

        return rfft2(field)

    def back(self, spectrum: Any) -> Floats:
        """The field of a half spectrum."""
        from scipy.fft import irfft2

        field: Floats = irfft2(spectrum, s=self.shape)
        return field

    def spread(self, parts: Iterable[Floats]) -> tuple[Any, int]:
        """Half spectrum of the reports, as if each were a point, and how many lie inside; the others are too far."""
        total = np.zeros(self.shape[0] * self.shape[1])
        count = 0
        for points in parts:
            for begin in range(0, len(points), _CHUNK):
                count += self._add(points[begin : begin + _CHUNK], total)
        spectrum = self.forward(total.reshape(self.shape))
        spectrum /= self._spline[0][:, None]
        spectrum /= self._spline[1][None, :]
        return spectrum, count

    def _add(self, points: Floats, total: Floats) -> int:
        at = [(points[:, i] - self.origin[i]) / self.cell[i] for i in (0, 1)]
        good = np.ones(len(points), dtype=bool)
        for i in (0, 1):
            good &= (at[i] >= 1) & (at[i] < self.shape[i] - 2)
        first, weights = [], []
        for i in (0, 1):
            p = at[i][good]
            floor = np.floor(p).astype(np.int64)
            first.append(floor - 1)
            weights.append(_bspline(p - floor))
        size = self.shape[0] * self.shape[1]
        corner = first[0] * self.shape[1] + first[1]
        for j in range(4):
            for k in range(4):
                total += np.bincount(corner + (j * self.shape[1] + k), weights[0][j] * weights[1][k], size)
        return int(good.sum())

    def counts(self, parts: Iterable[Floats]) -> NDArray[np.int64]:
        """How many reports are nearest to each node."""
        total = np.zeros(self.shape[0] * self.shape[1], dtype=np.int64)
        for points in parts:
            at = [np.rint((points[:, i] - self.origin[i]) / self.cell[i]) for i in (0, 1)]
            good = np.ones(len(points), dtype=bool)
            for i in (0, 1):
                good &= (at[i] >= 0) & (at[i] < self.shape[i])
            place = at[0][good].astype(np.int64) * self.shape[1] + at[1][good].astype(np.int64)
            total += np.bincount(place, minlength=total.size)
        return total.reshape(self.shape)

    def distances(self) -> Floats:
        """Distance of each node from the first one, around the ends: for kernels that are tabulated in space."""
        axes = [
            np.minimum(np.arange(n), n - np.arange(n)) * c for n, c in zip(self.shape, self.cell, strict=True)
        ]
        return np.sqrt(np.add.outer(axes[0] ** 2, axes[1] ** 2))


def _bspline(t: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Weights of the cubic B-spline at the four nodes around a fraction t of a cell."""
    s = 1.0 - t
    return (
        s * s * s / 6.0,
        (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0,
        (4.0 - 6.0 * s * s + 3.0 * s * s * s) / 6.0,
        t * t * t / 6.0,
    )
