"""What bounds D_a/a beyond the last order that is computed (the end of Lemma 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sordino.certification.shape import LOG_TWO, CertifiedShape, LogNormalTail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.certification.cells import LossCells
    from sordino.certification.shape import FloatArray


@dataclass(frozen=True, slots=True)
class Far:
    """A nonincreasing bound of D_a/a for large orders, over all pairs between the given nodes.

    A bounded family has D_a <= D_inf. For the others cut the line at X: inside, the loss is at most what the
    cells say, outside it is of Gaussian kind, so K <= log 2 + max((a-1) loss inside, outer moment).

    Attributes:
        shape: The law.
        smoothing: The largest |t|.
        shift: The largest |s|.
        inside: Bounds of the loss inside each cut, or everywhere for a bounded family.
        limit: Per cut, the A of a bound A + B/a + C/(a(a-1)) of D_a/a from outside.
        first: Per cut, the B.
        second: Per cut, the C.
        forward: Per cut, a bound of the loss of a dilation outside.
    """

    shape: CertifiedShape
    smoothing: float
    shift: float
    inside: FloatArray
    limit: FloatArray
    first: FloatArray
    second: FloatArray
    forward: FloatArray

    @classmethod
    def of(
        cls, shape: CertifiedShape, smoothing: float, shift: float, pairs: list[tuple[LossCells, float]]
    ) -> Far:
        """Read the losses off the cells; a slack pays for the pairs between two nodes (Lemma 3, a to infinity)."""
        none = np.zeros(0)
        if not isinstance(shape, LogNormalTail):
            loss = np.array([max(c.largest_loss + extra for c, extra in pairs)])
            return cls(shape, smoothing, shift, loss, none, none, none, none)
        edge = min(cells.edge for cells, _ in pairs)
        # beyond the last knot the score falls
        start = max(shape.core(), 2 * shift, *shape.knots())
        cuts = np.geomspace(start, edge, 24) if start < edge else none
        inside = [max(float(np.max(c.high[_reaching(c, x)])) + extra for c, extra in pairs) for x in cuts]
        parts = np.array([shape.outer_far(float(x), smoothing, shift) for x in cuts]).reshape(-1, 3)
        forward = smoothing + shift * shape.score(cuts)
        return cls(shape, smoothing, shift, np.array(inside), parts[:, 0], parts[:, 1], parts[:, 2], forward)

    @property
    def max_divergence(self) -> float:
        """A bound of D_inf."""
        return math.inf if isinstance(self.shape, LogNormalTail) else float(self.inside[0])

    def bound(self, order: float) -> float:
        """The bound of D_b/b for all b >= order."""
        if not isinstance(self.shape, LogNormalTail):
            return float(self.inside[0]) / order
        pair = order * (order - 1)
        outside = self.limit + self.first / order + self.second / pair
        cut = np.maximum(np.maximum(self.inside, self.forward) / order, outside) + LOG_TWO / pair
        whole = self.shape.far(order, self.smoothing, self.shift)
        return float(min(whole, np.min(cut, initial=math.inf)))

    def order_for(self, rho: float, largest: float) -> float:
        """About the smallest order beyond which the bound is within rho.

        Where rho is below the limit of the bound, one percent above the limit has to do.
        """
        if not isinstance(self.shape, LogNormalTail):
            return min(max(float(self.inside[0]) / rho, 1.5), largest) if rho > 0 else largest
        goal = max(rho, 1.01 * self.smoothing**2 / (2 * self.shape.parameter**2))
        order = 1.5
        while self.bound(order) > goal and order < largest:
            order *= 1.1
        return min(order, largest)


def _reaching(cells: LossCells, x: float) -> NDArray[np.bool_]:
    """Cells that meet |y| <= x: those whose far end is within x, and the first beyond on either side."""
    inside = cells.reach <= x
    return np.asarray(inside | np.roll(inside, 1) | np.roll(inside, -1))
