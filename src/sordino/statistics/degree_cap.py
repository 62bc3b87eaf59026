"""The edges that count where a vertex may count so many: a maximum flow, exactly, in halves of an edge.

Every edge gets a weight from 0 to 1 so that the weights at each vertex add up to the cap at most; what counts is the
largest total. All edges of one vertex together move it by the cap at most (Kasiviswanathan, Nissim, Raskhodnikova and
Smith 2013; docs/proofs/statistics_graphs.md). Nothing here knows a statistic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def capped_edges(links: NDArray[np.int64], vertices: int, cap: int) -> int:
    """The largest total weight, rounded down to a whole number.

    Vertices with no more edges than the cap bind nobody, and an edge to one of them is worth as much as any other and
    takes less room: such edges are counted first, and only what is left of the caps is shared by a flow.

    Args:
        links: Canonical edges, one per row.
        vertices: How many vertices there are.
        cap: How much the edges of one vertex may weigh together.

    Example:
        >>> star = np.array([(0, 1), (0, 2), (0, 3), (1, 2)])
        >>> [capped_edges(star, 4, cap) for cap in (1, 2, 3)]
        [2, 3, 4]
    """
    degrees = np.bincount(links.ravel(), minlength=vertices)
    heavy = degrees > cap
    both = heavy[links].sum(axis=1)
    counted = int((both == 0).sum())
    mixed = links[both == 1]
    light = np.bincount(mixed[heavy[mixed]], minlength=vertices)
    counted += int(np.minimum(light, cap).sum())
    room = np.where(heavy, np.maximum(cap - light, 0), 0)
    shared = links[(both == 2) & (room[links] > 0).all(axis=1)]
    return counted + _twice_shared(shared, room) // 2


def _twice_shared(links: NDArray[np.int64], room: NDArray[np.int64]) -> int:
    """Twice the largest total weight of these edges: the flow through the graph and its mirror image.

    An edge is an arc from either end to the mirror image of the other. The mean of a flow and of its reverse weighs
    edges, half as much in all as the flow; weights are a flow of twice their total.
    """
    if not len(links):
        return 0
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    members, ends = np.unique(links, return_inverse=True)
    ends = ends.reshape(links.shape)
    count = len(members)
    source, sink, inner = 2 * count, 2 * count + 1, np.arange(count)
    from_, to = ends.T
    tails = np.concatenate([np.full(count, source), from_, to, inner + count])
    heads = np.concatenate([inner, to + count, from_ + count, np.full(count, sink)])
    ones = np.ones(2 * len(links), np.int64)
    capacities = np.concatenate([room[members], ones, room[members]]).astype(np.int32)
    network: Any = csr_array((capacities, (tails, heads)), shape=(2 * count + 2, 2 * count + 2))
    network.indices, network.indptr = network.indices.astype(np.int32), network.indptr.astype(np.int32)
    return int(maximum_flow(network, source, sink).flow_value)
