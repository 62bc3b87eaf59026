"""What reading triangles costs beside a sparse-matrix count, and how much memory it takes.

Run `python benchmarks/statistics/graphs.py [edges.parquet]`. Without a file (or without a reader for it) a graph with
heavy-tailed degrees and about as many edges is drawn. Bar: five times the sparse count, no matrix of all pairs.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

from sordino.data.memory import Memory
from sordino.statistics.maximum_degree import MaximumDegree
from sordino.statistics.triangles import Triangles

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "graphs" / "soc_slashdot.parquet"


def edges(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of vertices, from a file or drawn."""
    try:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path)
        return table.column(0).to_numpy(), table.column(1).to_numpy()
    except (ImportError, FileNotFoundError):
        rng = np.random.default_rng(4)
        weights = rng.pareto(1.2, 80_000) + 1
        chosen = rng.choice(80_000, size=(2, 540_000), p=weights / weights.sum())
        return chosen[0], chosen[1]


def sparse_count(left: np.ndarray, right: np.ndarray, vertices: int) -> int:
    """The textbook count: the squared adjacency matrix, where it meets the matrix itself."""
    from scipy.sparse import csr_array

    apart = left != right
    ones = np.ones(int(apart.sum()), np.int64)
    graph = csr_array((ones, (left[apart], right[apart])), shape=(vertices, vertices))
    graph = ((graph + graph.T) > 0).astype(np.int64)
    return int((graph @ graph).multiply(graph).sum()) // 6


def main() -> int:
    """Print seconds, ratio and memory."""
    left, right = edges(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED)
    vertices = int(max(left.max(), right.max())) + 1
    source = Memory({"left": left, "right": right})
    start = time.process_time()
    count = sparse_count(left, right, vertices)
    theirs = time.process_time() - start
    plan = Triangles(vertices=vertices)
    start = time.process_time()
    opened = plan.read(*source.summary(plan.request(depth=1000))).open()
    ours = time.process_time() - start
    assert opened.value == count
    degree = MaximumDegree(vertices=vertices)
    start = time.process_time()
    degree.read(*source.summary(degree.request(depth=1000)))
    other = time.process_time() - start
    tracemalloc.start()
    plan.read(*source.summary(plan.request(depth=1000)))
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ratio = ours / theirs
    print(
        f"{vertices} vertices, {len(left)} rows: triangles with profile {ours:.2f} s, sparse count {theirs:.2f} s"
    )
    print(f"ratio {ratio:.2f} (bar 5), {memory / 1e6:.0f} MB (all pairs {8 * vertices**2 / 1e6:.0f} MB)")
    print(f"maximum degree with reach {other:.2f} s")
    return 0 if ratio <= 5 else 1


if __name__ == "__main__":
    sys.exit(main())
