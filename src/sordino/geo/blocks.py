"""One report about many places: the places are split into blocks of mutually distant ones, a report answers a block.

At any point only a few kernels of a block are steep, so the whole block costs little more than one place: its
price is that of the sum of slopes, not the number of places times the price (docs/proofs/geo_blocks.md). Which block
a device answers is a fair draw that knows nothing of the point.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError
from sordino.geo.gaussian import PEAK
from sordino.geo.head import Headed
from sordino.geo.lattice import PointLattice
from sordino.geo.mechanism import _LARGEST_MARGIN, _OUTPUT_BITS, _check, stretch_for
from sordino.geo.region import distance
from sordino.lattice import Lattice, ceil_log2

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sordino.exact.bits import Bits
    from sordino.geo.kernel_density import KernelDensity
    from sordino.geo.query import Floats
    from sordino.geo.reference import Sphere
    from sordino.privacy import Geo

_TOLERANCE = 2e-3
_ROWS = 2048  # reports worked on at a time
_WORK = 20_000_000  # evaluations after which the bound is taken as it stands
_SPACINGS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)  # candidates, in bandwidths


@dataclass(frozen=True, slots=True)
class BlockMechanism(Headed):
    """A kernel density at many places, answered block by block with Laplace noise; made by `choose`.

    Attributes:
        query: The question, about at least two places.
        price: The promise of one whole report.
        blocks: The places of each block, as indices.
        slope: Upper bound on the sum of slopes of a block's kernels, per metre.
        grid: The public lattice of reported values.
        lattice: The public lattice of points.
        margin: Share of the price set aside for the rounding of floats.
        reference: Where the map lies on the ground; None for numbers that are distances already.
    """

    query: KernelDensity
    price: Geo
    blocks: tuple[tuple[int, ...], ...]
    slope: float
    grid: Lattice
    lattice: PointLattice
    margin: Fraction
    reference: Sphere | None = None

    @classmethod
    def choose(cls, query: KernelDensity, price: Geo, *, reference: Sphere | None = None) -> BlockMechanism:
        """Choose the blocks with the smallest error, from public numbers alone.

        Example:
            >>> from sordino.geo import KernelDensity
            >>> from sordino.privacy import Geo
            >>> query = KernelDensity.grid(low=(0, 0), high=(9000, 9000), shape=(10, 10), bandwidth=1000)
            >>> made = BlockMechanism.choose(query, Geo(1, per=500))
            >>> len(made.blocks), round(made.slope / query.lipschitz, 2)
            (16, 1.07)
        """
        _check(query, price)
        stretch_for(query, reference)
        blocks, slope = _best_blocks(query)
        lattice = PointLattice.for_query(query, price.rate)
        largest = max(len(block) for block in blocks)
        far = lattice.reach
        # Laplace: the loss is the sum of the moves over the scale, so errors of the values add up.
        metres = 2.0**-46 * largest / slope + 2.0**-49 * min(far, 64 * query.bandwidth)
        floats = 2.0 * metres / lattice.step
        snapped = query.dimension**0.5 * lattice.step / float(price.per)
        margin = Fraction(ceil(1.01 * (floats + snapped) * 2**40), 2**40)
        if margin > _LARGEST_MARGIN:
            raise ParameterError(
                "geo", "the places are too many for this price", got={"places": len(query.at), "price": price}
            )
        grid = Lattice.dyadic(ceil_log2(max(Fraction(1), Fraction(slope) / price.rate)) - _OUTPUT_BITS)
        return cls(query, price, blocks, slope, grid, lattice, margin, reference)

    @property
    def noise(self) -> str:
        """The family's name."""
        return "laplace"

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: public, the same for all points."""
        stretch = Fraction(1) if self.reference is None else self.reference.stretch
        return Fraction(self.slope) * (1 + self.margin) * stretch / self.price.rate

    @property
    def widest(self) -> int:
        """Answers in a report: as many as the largest block has places; the rest is left empty."""
        return max(len(block) for block in self.blocks)

    @property
    def limit(self) -> int:
        """Largest |k| the collector accepts: an honest answer is beyond it with probability below 2^-60."""
        return int(min(2.0**61, ceil((1.0 + 84.0 * float(self.scale)) / float(self.grid.step))))

    def variance(self) -> float:
        """Variance of one answer's noise; an estimate for a place rests on a share 1/len(blocks) of the reports."""
        return 2.0 * float(self.scale) ** 2

    def draw(
        self, points: ArrayLike, *, bits: Bits | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw one report per point: the block of each, and its answers as exactly rounded lattice integers."""
        from sordino.exact.bits import Bits as Source
        from sordino.exact.sampler import draw_many
        from sordino.noise.laplace.sampler import LaplaceRecipe

        at = self.lattice.snap(self.query.points(points))
        source = Source() if bits is None else bits
        block = _fair(source, at.shape[0], len(self.blocks))
        answers = np.zeros((at.shape[0], self.widest), dtype=np.int64)
        curve, places, scale = self.query.curve, self.query.at, self.scale
        for b, members in enumerate(self.blocks):
            rows = np.flatnonzero(block == b)
            for begin in range(0, rows.size, _ROWS):
                some = rows[begin : begin + _ROWS]
                here = at[some]
                values = np.empty((len(members), some.size))
                for column, j in enumerate(members):
                    values[column] = curve.value(distance(here, places[j]))
                drawn = draw_many(
                    LaplaceRecipe(), locations=values.ravel(), scales=scale, grid=self.grid, bits=source
                )
                answers[some, : len(members)] = drawn.reshape(values.shape).T
        return block, answers

    def to_dict(self) -> dict[str, Any]:
        """Give a record of all public numbers."""
        return {
            "query": self.query.to_dict(),
            "price": self.price.to_dict(),
            "noise": "blocks",
            "reference": None if self.reference is None else self.reference.to_dict(),
        }

    def __repr__(self) -> str:
        return f"BlockMechanism({len(self.query.at)} places in {len(self.blocks)} blocks, {self.price!r})"


def _fair(source: Bits, count: int, sides: int) -> NDArray[np.int64]:
    """Fair draws from 0..sides-1: the top of a word, with words in the uneven remainder drawn again."""
    result = np.empty(count, dtype=np.int64)
    done = 0
    top = (1 << 62) - (1 << 62) % sides
    while done < count:
        words = source.words(count - done) & ((1 << 62) - 1)
        kept = words[words < top]
        result[done : done + kept.size] = kept % sides
        done += kept.size
    return result


@lru_cache(maxsize=16)
def _best_blocks(query: KernelDensity) -> tuple[tuple[tuple[int, ...], ...], float]:
    """Minimise blocks * slope^2, to which the variance of an estimate is proportional."""
    best: tuple[float, tuple[tuple[int, ...], ...], float] | None = None
    tried = set()
    for spacing in _SPACINGS:
        blocks, period = _split(query, spacing * query.bandwidth)
        if blocks in tried:
            continue
        tried.add(blocks)
        places = query.places
        judged = blocks if period is None else blocks[:1]
        slope = max(joint_slope(places[list(block)], query.bandwidth, period=period) for block in judged)
        cost = len(blocks) * slope**2
        if best is None or cost < best[0]:
            best = cost, blocks, slope
    assert best is not None
    return best[1], best[2]


def _split(query: KernelDensity, apart: float) -> tuple[tuple[tuple[int, ...], ...], Floats | None]:
    """Split places into blocks whose members are about `apart` from each other.

    On an even grid the blocks are residue classes, all parts of one endless grid, whose gaps are returned too.
    """
    places = query.places
    axes = [np.unique(column) for column in places.T]
    if np.prod([axis.size for axis in axes]) == len(places) and all(_even(axis) for axis in axes):
        strides = [
            1 if axis.size == 1 else max(1, min(axis.size, round(apart / (axis[1] - axis[0]))))
            for axis in axes
        ]
        index = [np.searchsorted(axis, column) for axis, column in zip(axes, places.T, strict=True)]
        label = np.zeros(len(places), dtype=np.int64)
        for i, stride in zip(index, strides, strict=True):
            label = label * stride + i % stride
        blocks = tuple(tuple(np.flatnonzero(label == b).tolist()) for b in range(int(np.prod(strides))))
        gaps = [1.0 if axis.size == 1 else axis[1] - axis[0] for axis in axes]
        wide = [40 * query.bandwidth if axis.size == 1 else 0.0 for axis in axes]
        return blocks, np.maximum(np.array(gaps) * np.array(strides), wide)
    listed: list[list[int]] = []
    for j, place in enumerate(places):  # greedy: the first block with no member too near
        for block in listed:
            if distance(places[block], tuple(place)).min() >= apart:
                block.append(j)
                break
        else:
            listed.append([j])
    return tuple(tuple(block) for block in listed), None


def _even(axis: Floats) -> bool:
    gaps = np.diff(axis)
    return gaps.size == 0 or bool(np.ptp(gaps) <= 1e-9 * gaps.max())


def joint_slope(places: Floats, bandwidth: float, *, period: Floats | None = None) -> float:
    """An upper bound on sup over x of the sum of |gradient| over the places; within 0.2 % if work allows.

    Branch and bound on boxes: a kernel's slope phi rises up to one bandwidth and falls beyond, so its largest value
    over a box follows from the nearest and farthest distance. Outside the places' bounding box widened by one bandwidth
    the sum only falls. Proof: docs/proofs/geo_blocks.md.

    Args:
        places: The places of a block.
        bandwidth: Of the kernel.
        period: If given, the places are part of the endless grid with these gaps, which bounds them all; then one cell
            of that grid is searched.

    Example:
        >>> round(joint_slope(np.array([[0.0, 0.0]]), 2.0), 4)
        0.3033
    """
    t = np.asarray(places, dtype=np.float64) / bandwidth
    if len(t) == 1:
        return PEAK / bandwidth * (1 + 1e-12)
    low, high = t.min(axis=0) - 1.0, t.max(axis=0) + 1.0
    if period is not None:
        gaps = np.minimum(period / bandwidth, 20.0)
        near = [np.arange(-ceil(9.0 / gap), ceil(9.0 / gap) + 2) * gap for gap in gaps]
        t = np.stack([axis.ravel() for axis in np.meshgrid(*near, indexing="ij")], axis=1)
        low, high = np.zeros(gaps.size), gaps / 2  # the rest of the cell is a mirror image
    dimension = t.shape[1]
    counts = np.maximum(1, np.ceil(4 * (high - low))).astype(int)
    axes = [a + (np.arange(n) + 0.5) * (b - a) / n for a, b, n in zip(low, high, counts, strict=True)]
    centre = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    half = 0.5 * (high - low) / counts
    corners = np.array(list(product((-0.5, 0.5), repeat=dimension)))
    best, sure, work = PEAK, 0.0, 0
    while True:
        below, above = _slopes(centre, t, float(np.linalg.norm(half)))
        best = max(best, below)
        work += above.size * len(t)
        if above.max() <= best * (1 + _TOLERANCE) or work > _WORK:
            sure = max(float(above.max()), best * (1 + _TOLERANCE))
            break
        centre = centre[above > best * (1 + _TOLERANCE)]
        centre = (centre[:, None, :] + corners * (2 * half)[None, :] / 2).reshape(-1, dimension)
        half = half / 2
    return sure * (1 + 1e-9) / bandwidth


def _slopes(centre: Floats, t: Floats, radius: float) -> tuple[float, Floats]:
    """The largest sum of slopes at the centres of boxes, and an upper bound over each box."""
    below, above = 0.0, np.empty(len(centre))
    rows = max(1, 1_000_000 // len(t))
    for begin in range(0, len(centre), rows):
        part = centre[begin : begin + rows]
        d = np.zeros((len(part), len(t)))
        for axis in range(t.shape[1]):
            d += (part[:, axis, None] - t[None, :, axis]) ** 2
        np.sqrt(d, out=d)
        below = max(below, float(_phi(d).sum(axis=1).max()))
        nearest, farthest = np.maximum(d - radius, 0.0), d + radius
        steep = np.where(nearest > 1.0, _phi(nearest), np.where(farthest < 1.0, _phi(farthest), PEAK))
        above[begin : begin + rows] = steep.sum(axis=1)
    return below, above


def _phi(d: Floats) -> Floats:
    slope: Floats = d * np.exp(-0.5 * d * d)
    return slope
