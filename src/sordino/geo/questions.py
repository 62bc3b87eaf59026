"""Questions to point reports that are not queries of a single device: nearest centres, means and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import DataError
from sordino.geo.answers import EDGE, _packed
from sordino.geo.maps import groups_of, same_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.geo.answers import ReportAnswer


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and covariance of the points of those who reported.

    Attributes:
        mean: One number per coordinate.
        mean_error: Its standard errors.
        mean_low: Lower ends of the confidence intervals.
        mean_high: Upper ends.
        covariance: Of the points, not of the reports; unbiased, so it need not be positive for few people.
        covariance_error: Standard errors of its entries.
        people: Who reported.
    """

    mean: Any
    mean_error: Any
    mean_low: Any
    mean_high: Any
    covariance: Any
    covariance_error: Any
    people: int


def moments(reports: Any, *, confidence: float = 0.95) -> Moments:
    """Estimate the mean and the covariance of points: the noise has mean zero and (d + 1) U^2 per axis.

    Example:
        >>> from sordino.geo import Points, Reference
        >>> from sordino.privacy import Geo
        >>> made = Points(Reference.flat(low=(-9000, -9000), high=(9000, 9000)), Geo(1, per=100))
        >>> people = np.random.default_rng(0).normal((500.0, 0.0), 1000.0, (50_000, 2))
        >>> found = moments(made.report(metres=people))
        >>> bool(abs(found.mean[0] - 500) < 5 * found.mean_error[0])
        True
    """
    groups = groups_of(reports)
    if len(groups) != 1:
        raise DataError(
            "moments", "one mechanism at a time", hint="moments(part) for each, then weigh by people"
        )
    (group,) = groups
    level = float(checks.between("moments", 0, 1, confidence=confidence))
    y = group.reports.metres
    n, d = y.shape
    if n < 2:
        raise DataError("moments", "at least two reports are needed", got={"reports": n})
    mean = y.mean(axis=0)
    centred = y - mean
    covariance = centred.T @ centred / (n - 1)
    error = np.sqrt(np.diag(covariance) / n)
    products = np.einsum("ni,nj->nij", centred, centred)
    spread = products.std(axis=0, ddof=1) / np.sqrt(n)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    known = (d + 1) * group.unit_loss**2 * np.eye(d)
    return Moments(mean, error, mean - reach, mean + reach, covariance - known, spread, n)


def nearest_shares(
    reports: Any,
    centres: Any,
    *,
    shares: Sequence[float] | None = None,
    edge_width: float | None = None,
    confidence: float = 0.95,
) -> ReportAnswer:
    """How many people are nearest to each of some centres; the borders between them are softened over `edge_width`.

    Example:
        >>> from sordino.geo import Points, Reference
        >>> from sordino.privacy import Geo
        >>> made = Points(Reference.flat(low=(-4000, -4000), high=(4000, 4000)), Geo(1, per=200))
        >>> people = np.random.default_rng(0).normal((900.0, 0.0), 500.0, (20_000, 2))
        >>> found = nearest_shares(made.report(metres=people), [(-1000.0, 0.0), (1000.0, 0.0)])
        >>> found.value.round(-3).tolist()
        [1000.0, 19000.0]
    """
    from sordino.geo.fields import shares_total

    groups = groups_of(reports, shares)
    places = np.asarray(centres, dtype=np.float64)
    if same_reference(groups).dimension != 2 or places.ndim != 2 or places.shape[1] != 2 or len(places) < 2:
        raise DataError(
            "shares", "at least two centres with two coordinates each", got={"shape": places.shape}
        )
    level = float(checks.between("shares", 0, 1, confidence=confidence))
    width = EDGE * max(group.unit_loss for group in groups) if edge_width is None else float(edge_width)
    return _packed(shares_total(groups, places, width), groups, level, width, list(places))
