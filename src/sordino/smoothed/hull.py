"""Sets of distributions, reduced to the vertices of their convex hull (Proposition 7 of Liu, Wang and Xia 2023).

A point is dropped only when it is a mix of the others to rounding; keeping one too many changes no result. Single,
repeated, collinear and flat sets need no special case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.smoothed.mass import Floats

_INSIDE = 1e-12


def distributions(given: Any, *, subject: str = "smoothed") -> Floats:
    """Check a set of distributions and return it as rows; a number p stands for (p, 1 - p).

    Example:
        >>> distributions([0.25, 0.5]).tolist()
        [[0.25, 0.75], [0.5, 0.5]]
    """
    hint = "electorates=[(0.94, 0.06), (0.23, 0.77)]"
    try:
        listed = list(given)
        rows = [[float(p), 1.0 - float(p)] if np.ndim(p) == 0 else [float(q) for q in p] for p in listed]
    except (TypeError, ValueError):
        raise ParameterError(
            subject,
            "electorates must be a list of distributions",
            why="Each gives the chance of every type for one record.",
            hint=hint,
        ) from None
    if not rows:
        raise ParameterError(
            subject,
            "electorates must hold at least one distribution",
            why="The smoothed figure is the worst average over this set.",
            hint=hint,
        )
    if len({len(row) for row in rows}) != 1:
        raise ParameterError(
            subject,
            "all distributions must have the same number of types",
            got={"types": sorted({len(row) for row in rows})},
            why="A record has one of a fixed list of types.",
            hint=hint,
        )
    table = np.asarray(rows, dtype=np.float64)
    if table.shape[1] < 2:
        raise ParameterError(
            subject,
            "a distribution needs at least two types",
            got={"types": int(table.shape[1])},
            why="With one type a tally says nothing about anybody.",
            hint=hint,
        )
    if not np.isfinite(table).all() or (table < 0.0).any() or (np.abs(table.sum(axis=1) - 1.0) > 1e-6).any():
        raise ParameterError(
            subject,
            "each distribution must be non-negative and sum to 1",
            why="They are chances of one record.",
            hint=hint,
        )
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def vertices(given: Any, *, subject: str = "smoothed") -> Floats:
    """Return the vertices of the convex hull of a set of distributions, in the order given.

    Example:
        >>> vertices([(0.2, 0.8), (0.5, 0.5), (0.8, 0.2), (0.2, 0.8)]).tolist()
        [[0.8, 0.2], [0.2, 0.8]]
    """
    table = distributions(given, subject=subject)
    keep = list(range(len(table)))
    if table.shape[1] == 2:
        ends = sorted({int(np.argmin(table[:, 0])), int(np.argmax(table[:, 0]))})
        if table[ends[0], 0] == table[ends[-1], 0]:
            return table[ends[:1]]
        # the last of equal points, as the loop below would keep
        last = [max(np.flatnonzero(table[:, 0] == table[end, 0])) for end in ends]
        return table[sorted(int(index) for index in last)]
    for index in range(len(table)):
        others = [other for other in keep if other != index]
        if others and is_mix(table[index], table[others]):
            keep = others
    return table[keep]


def is_mix(point: Floats, others: Floats) -> bool:
    """Say whether a distribution is a mix of others, by non-negative least squares.

    Example:
        >>> is_mix(np.array([0.5, 0.5, 0.0]), np.array([[1.0, 0, 0], [0, 1.0, 0]]))
        True
    """
    from scipy.optimize import nnls

    system = np.vstack([others.T, np.ones(len(others))])
    _, residual = nnls(system, np.append(point, 1.0))
    return bool(residual <= _INSIDE)


def recode(given: Any, kernel: Sequence[Sequence[float]]) -> Floats:
    """Map a set of distributions through a record-wise recoding (Proposition 6, with its missing condition).

    Row i of the kernel is the distribution of the new type of a record of type i; zeros and ones for a deterministic
    recoding such as "these three parties are other". A function of the whole database is not covered: copying the
    first record to all places turns 3e-7 into 1. docs/proofs/smoothed_claims.md.

    Example:
        >>> recode([(0.5, 0.3, 0.2)], [(1, 0), (0, 1), (0, 1)]).tolist()
        [[0.5, 0.5]]
    """
    table = distributions(given)
    matrix = np.asarray(kernel, dtype=np.float64)
    if (
        matrix.ndim != 2
        or matrix.shape[0] != table.shape[1]
        or (matrix < 0).any()
        or (np.abs(matrix.sum(axis=1) - 1.0) > 1e-9).any()
    ):
        raise ParameterError(
            "recode",
            "the kernel must have one row per type, each a distribution over the new types",
            got={"types": int(table.shape[1])},
            why="Pre-processing is safe when every record is recoded by itself.",
            hint="recode(electorates, [(1, 0), (0, 1), (0, 1)])",
        )
    return np.asarray(table @ matrix)
