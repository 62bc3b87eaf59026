"""Reports: what leaves a device. Lattice integers, the name of the mechanism that made them, and nothing else.

`report` is the device's end (or an internal gateway's); `estimation.py` is the collector's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.errors import Unsupported
from sordino.geo.blocks import BlockMechanism
from sordino.geo.function_mechanism import FunctionMechanism
from sordino.geo.kernel_density import KernelDensity
from sordino.geo.mechanism import QueryMechanism
from sordino.geo.space_function import SpaceFunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from sordino.exact.bits import Bits
    from sordino.geo.logarithm import Logarithmic
    from sordino.geo.query import Query
    from sordino.geo.reference import Sphere
    from sordino.privacy import Geo

Made = QueryMechanism | BlockMechanism | FunctionMechanism
"""What makes reports: about a query, about many places, or about a function of one's own."""


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """Privatised answers of many devices, safe to store and to send.

    Attributes:
        mechanism: What made them: public.
        codes: Answers in steps of the mechanism's grid; shape (n,), or (n, widest) with blocks or several outputs.
        block: Which block of places each report answers, or None.
    """

    mechanism: Made
    codes: NDArray[np.int64] = field(repr=False)
    block: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.codes.shape[0])

    @property
    def values(self) -> NDArray[np.float64]:
        """The answers as numbers."""
        return self.mechanism.grid.numbers(self.codes)

    @property
    def guarantee(self) -> Geo:
        """What one device's report promises."""
        return self.mechanism.price

    def __repr__(self) -> str:
        return f"Reports({len(self)} from {self.mechanism!r})"


def mechanism_for(query: Query | SpaceFunction, price: Geo, **options: Any) -> Made:
    """Choose the mechanism of a query: by blocks for a kernel density at many places, else one answer per report."""
    if isinstance(query, SpaceFunction):
        given = {name: value for name, value in options.items() if value not in (None, 0)}
        others = set(given) - {"noise", "smoothing"}
        if others:
            raise Unsupported(
                query.name,
                "takes a choice of noise and smoothing only",
                got={name: given[name] for name in others},
            )
        return FunctionMechanism.choose(query, price, **given)
    if isinstance(query, KernelDensity) and len(query.at) > 1:
        reference = options.pop("reference", None)
        given = {name: value for name, value in options.items() if value not in (None, 0)}
        if given:
            raise Unsupported(
                query.name,
                "at many places takes no choice of noise",
                got=given,
                hint="query.each() gives one query per place, each with its own price",
            )
        return BlockMechanism.choose(query, price, reference=reference)
    return QueryMechanism.choose(query, price, **options)


def report(
    points: Any,
    query: Query | SpaceFunction,
    price: Geo,
    *,
    noise: str | None = None,
    smoothing: Any = None,
    scope: str | None = None,
    delta: Any = 0,
    reference: Sphere | Logarithmic | None = None,
    bits: Bits | None = None,
) -> Reports:
    """Turn points into reports, one per point, each with the promise of the price.

    Args:
        points: Private points, shape (n,) or (n, dimension), in the unit of the query (metres on a map); with a
            reference, rows of longitude and latitude in degrees, or positive numbers for a logarithmic one.
        query: The question; `FunctionOnSet` and `FunctionOnBox` are questions of one's own.
        price: What one report may reveal.
        noise: A noise family, if not the default.
        smoothing: Smoothing of the bound, if not the default.
        scope: local or global bound.
        delta: Positive for an approximate promise.
        reference: Where the map lies on the ground; the points are then degrees and are projected. Or `Logarithmic`.
        bits: A source of random words for tests; by default a fresh key.

    Example:
        >>> from sordino.geo import Threshold
        >>> from sordino.privacy import Geo
        >>> len(report([10.0, 250.0, 90.0], Threshold(at=100, width=20), Geo(1, per=50)))
        3
    """
    made = mechanism_for(
        query, price, noise=noise, smoothing=smoothing, scope=scope, delta=delta, reference=reference
    )
    return draw(made, points if reference is None else reference.to_metres(points), bits=bits)


def draw(made: Made, points: Any, *, bits: Bits | None = None) -> Reports:
    """Turn points into reports with a mechanism chosen before."""
    if isinstance(made, BlockMechanism):
        block, codes = made.draw(points, bits=bits)
        return Reports(made, codes, block)
    return Reports(made, made.draw(points, bits=bits))


def stream(
    made: Made,
    points: Any,
    *,
    chunk: int = 1 << 16,
    progress: Callable[[int], None] | None = None,
    bits: Bits | None = None,
) -> Iterator[Reports]:
    """Turn points into reports chunk by chunk, so that memory stays bounded whatever their number."""
    at = points if isinstance(made, FunctionMechanism) else made.query.points(points)
    for begin in range(0, len(at), chunk):
        part = at[begin : begin + chunk]
        yield draw(made, part, bits=bits)
        if progress is not None:
            progress(len(part))
