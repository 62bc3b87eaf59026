"""The collector's end: unbiased estimates with errors taken from the reports themselves.

A `ReportTally` keeps counts and sums, so reports can come in any number of pieces. Everything here is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import DataError
from sordino.geo.kernel_density import KernelDensity

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sordino.geo.query import Query
    from sordino.geo.reporting import Reports
    from sordino.geo.space_function import SpaceFunction
    from sordino.privacy import Geo


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The mean answer of the population that reported: a number, or an array with one entry per place.

    Attributes:
        value: The unbiased estimate; it may lie outside the range of answers.
        standard_error: Of the estimate, noise and sampling together.
        low: Lower end of the confidence interval.
        high: Upper end.
        count: Reports behind it.
        confidence: Of the interval.
        query: The question.
    """

    value: Any
    standard_error: Any
    low: Any
    high: Any
    count: Any
    confidence: float
    query: Query | SpaceFunction = field(repr=False)

    @property
    def density(self) -> Any:
        """For a kernel density: people per square metre and per person asked (times 10^6: per square kilometre)."""
        if not isinstance(self.query, KernelDensity):
            raise DataError("estimate", "only a kernel density is a density", got={"query": self.query.name})
        return self.value / self.query.normaliser

    def to_dict(self) -> dict[str, Any]:
        """Give a record."""
        return {
            "query": self.query.to_dict(),
            "value": _listed(self.value),
            "standard_error": _listed(self.standard_error),
            "low": _listed(self.low),
            "high": _listed(self.high),
            "count": _listed(self.count),
            "confidence": self.confidence,
        }


class ReportTally:
    """Counts and sums of reports, in pieces.

    Example:
        >>> from sordino.geo import Threshold, report
        >>> from sordino.privacy import Geo
        >>> query = Threshold(at=100, width=20)
        >>> tally = ReportTally(query)
        >>> tally.add(report([10.0, 250.0, 90.0], query, Geo(1, per=50)))
        >>> int(tally.estimate().count)
        3
    """

    __slots__ = ("_count", "_mechanism", "_square", "_total", "query")

    def __init__(self, query: Query | SpaceFunction) -> None:
        self.query = query
        places = len(query.at) if isinstance(query, KernelDensity) else getattr(query, "outputs", 1)
        self._count = np.zeros(places, dtype=np.int64)
        self._total = np.zeros(places)
        self._square = np.zeros(places)
        self._mechanism: str | None = None

    def add(self, reports: Reports) -> None:
        """Count in more reports of the same query, by the same mechanism."""
        made = reports.mechanism
        if made.query.id != self.query.id:
            raise DataError("estimate", "the reports answer another query", got={"query": made.query})
        if self._mechanism not in {None, made.id}:
            raise DataError(
                "estimate",
                "the reports come from different mechanisms",
                why="Each kind has its own error.",
                hint="one ReportTally for each price and noise",
            )
        self._mechanism = made.id
        values = reports.values
        if reports.block is None:
            for place, column in enumerate(values.reshape(len(values), self._count.size).T):
                self._put(place, column)
            return
        for b, members in enumerate(made.blocks):  # type: ignore[union-attr]
            rows = values[reports.block == b]
            for part, j in enumerate(members):
                self._put(j, rows[:, part])

    def _put(self, place: int, values: NDArray[np.float64]) -> None:
        self._count[place] += values.size
        self._total[place] += values.sum()
        self._square[place] += np.square(values).sum()

    def estimate(self, *, confidence: float = 0.95) -> Estimate:
        """Mean, standard error and a normal interval; not-a-number where fewer than two reports came."""
        level = float(checks.between("estimate", 0, 1, confidence=confidence))
        n = np.maximum(self._count, 1)
        mean = np.where(self._count > 0, self._total / n, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = np.maximum(self._square / n - mean**2, 0.0) / (self._count - 1)
            error = np.where(self._count > 1, np.sqrt(spread), np.nan)
        reach = NormalDist().inv_cdf(0.5 + level / 2) * error
        parts: tuple[Any, ...] = (mean, error, mean - reach, mean + reach, self._count.copy())
        if mean.size == 1:
            parts = tuple(part[0].item() for part in parts)
        value, error, low, high, count = parts
        return Estimate(value, error, low, high, count, level, self.query)


def estimate(reports: Reports, query: Query | SpaceFunction, *, confidence: float = 0.95) -> Estimate:
    """Estimate the mean answer from reports, with an error taken from the reports themselves.

    Args:
        reports: What devices sent.
        query: The question they were asked; other reports are refused.
        confidence: Of the interval, which rests on the central limit theorem: the noise has a finite variance but
            heavy tails, so use some hundreds of reports at least.

    Example:
        >>> import numpy as np
        >>> from sordino.geo import Threshold, report
        >>> from sordino.privacy import Geo
        >>> query = Threshold(at=100, width=20)
        >>> found = estimate(report(np.arange(0.0, 200.0), query, Geo(1, per=20)), query)
        >>> abs(found.value - 0.5) < 6 * found.standard_error
        True
    """
    tally = ReportTally(query)
    tally.add(reports)
    return tally.estimate(confidence=confidence)


def survey(
    points: Any,
    query: Query | SpaceFunction,
    price: Geo,
    *,
    confidence: float = 0.95,
    chunk: int = 1 << 16,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Estimate:
    """Report and estimate in one go, chunk by chunk: for an internal gateway, with bounded memory.

    Each point still gets its own report with the full promise; only the sums are kept. With `reference=` the points are
    rows of longitude and latitude in degrees.
    """
    from sordino.geo.reporting import mechanism_for, stream

    made = mechanism_for(query, price, **options)
    if made.reference is not None:
        points = made.reference.to_metres(points)
    tally = ReportTally(query)
    for part in stream(made, points, chunk=chunk, progress=progress):
        tally.add(part)
    return tally.estimate(confidence=confidence)


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
