"""What several releases about the same records cost together.

Proposition 5 of Liu, Wang and Xia 2023 (epsilons add, deltas add) holds when the releases are fixed beforehand. When a
later release is chosen after seeing an earlier one it fails for smoothed privacy, and badly:
docs/proofs/smoothed_claims.md has an example where 0.13 becomes 1. So adaptive use is refused here.
For independent tallies of one database the cost is bracketed in :mod:`sordino.smoothed.repeated`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sordino.errors import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable


def compose(releases: Iterable[tuple[float, float]], *, adaptive: bool = False) -> tuple[float, float]:
    """Add up (epsilon, delta) pairs of releases that were fixed beforehand (Proposition 5).

    Example:
        >>> compose([(0.5, 1e-6), (0.25, 1e-6)])
        (0.75, 2e-06)
        >>> compose([(0.5, 1e-6)], adaptive=True)
        Traceback (most recent call last):
        ...
        sordino.errors.Unsupported: smoothed composition: adaptive releases are not covered.
            Smoothed delta is an average over databases; a release that reacts to an earlier one can wait for the bad...
            Hint: fix all releases beforehand, or use ordinary differential privacy for the adaptive part
    """
    if adaptive:
        raise Unsupported(
            "smoothed composition",
            "adaptive releases are not covered",
            why="Smoothed delta is an average over databases; a release that reacts to an earlier one can wait for "
            "the bad databases. Training by gradient steps is adaptive.",
            hint="fix all releases beforehand, or use ordinary differential privacy for the adaptive part",
        )
    pairs = list(releases)
    return math.fsum(epsilon for epsilon, _ in pairs), min(1.0, math.fsum(delta for _, delta in pairs))
