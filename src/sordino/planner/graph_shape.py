"""Named random graphs for plans: pairs of vertices drawn from a public law. Nothing about a real graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Random = np.random.Generator
    Pairs = NDArray[np.int64]


def random_graph(random: Random, vertices: int, p: Mapping[str, float]) -> Pairs:
    """Every pair is joined with the same probability (Erdos and Renyi 1959), so that ``degree`` is the mean degree."""
    return _joined(random, vertices, p["degree"] / max(vertices - 1, 1))


def communities(random: Random, vertices: int, p: Mapping[str, float]) -> Pairs:
    """Groups of ``size`` whose members are joined with chance ``inside``, others with chance ``outside``."""
    size = max(round(p["size"]), 1)
    across = _joined(random, vertices, p["outside"])
    found = [across[across[:, 0] // size != across[:, 1] // size]]
    firsts = range(0, vertices, size)
    found.extend(first + _joined(random, min(size, vertices - first), p["inside"]) for first in firsts)
    return np.concatenate(found)


def scale_free(random: Random, vertices: int, p: Mapping[str, float]) -> Pairs:
    """Every new vertex is joined to ``attach`` old ones, in proportion to their degrees (Barabasi and Albert 1999)."""
    attach = min(max(round(p["attach"]), 1), max(vertices - 1, 1))
    ends = list(range(attach))
    found: list[tuple[int, int]] = []
    shares: Iterator[float] = iter(())
    for vertex in range(attach, vertices):
        chosen: set[int] = set(range(attach)) if vertex == attach else set()
        while len(chosen) < attach:
            share = next(shares, None)
            if share is None:  # many at once: one by one they take most of the time
                shares = iter(random.random(2 * attach * vertices).tolist())
                continue
            chosen.add(ends[int(share * len(ends))])
        for other in sorted(chosen):
            found.append((other, vertex))
            ends += [other, vertex]
    return np.array(found, np.int64).reshape(-1, 2)


def _joined(random: Random, vertices: int, chance: float) -> Pairs:
    """Join each pair of vertices with one chance."""
    pairs = vertices * (vertices - 1) // 2
    if pairs == 0:
        return np.empty((0, 2), np.int64)
    count = random.binomial(pairs, min(max(chance, 0.0), 1.0))
    place = random.choice(pairs, count, replace=False, shuffle=False).astype(np.int64)
    # Pairs (a, b) with a < b are numbered b (b - 1) / 2 + a.
    upper = ((1 + np.sqrt(1 + 8 * place.astype(np.float64))) / 2).astype(np.int64)
    upper -= upper * (upper - 1) // 2 > place
    upper += upper * (upper + 1) // 2 <= place
    return np.stack([place - upper * (upper - 1) // 2, upper], axis=1)
