"""Any smooth question, asked after the reports are in: sums of a function g over reports, with errors from the same.

Kernels and edges have closed forms (`deconvolution.py`); regions and functions of one's own go through a window of
cells. The answer is a number of people; `share` is that of all who reported. Everything here is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import DataError, Unsupported
from sordino.geo.deconvolution import edge, kernel, tabulated
from sordino.geo.kernel_density import KernelDensity
from sordino.geo.line import Range, Threshold
from sordino.geo.maps import groups_of, same_reference
from sordino.geo.region import Box, Disc, Geofence, TwoWayThreshold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sordino.geo.maps import Group

    Floats = NDArray[np.float64]

#: Edges are softened over this many U by default; over the wider one if the noise would exceed a tenth of the count.
EDGE, WIDER_EDGE, LEAST_EDGE = 0.7, 1.0, 0.5
REGIONS = (Box, Disc, Geofence, TwoWayThreshold)
_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class ReportAnswer:
    """People who satisfy a question, estimated from point reports: a number, or one per place or region.

    Attributes:
        value: The unbiased estimate of the sum of f over people; it may be negative where nobody is.
        standard_error: Of it, privacy and sampling together.
        low: Lower end of the confidence interval.
        high: Upper end.
        people: Who reported.
        confidence: Of the interval.
        edge_width: Standard deviation over which edges are softened, or None.
        question: What was asked.
    """

    value: Any
    standard_error: Any
    low: Any
    high: Any
    people: float
    confidence: float
    edge_width: float | None = None
    question: Any = field(default=None, repr=False)

    @property
    def share(self) -> Any:
        """The mean answer: the value per person who reported."""
        return self.value / self.people

    @property
    def density(self) -> Any:
        """For a kernel density: people per unit of area or volume."""
        if not isinstance(self.question, KernelDensity):
            raise DataError("answer", "only a kernel density is a density")
        return self.value / self.question.normaliser

    def to_dict(self) -> dict[str, Any]:
        """Give a record."""
        named = {
            "value": self.value,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
        }
        return {
            **{name: value.tolist() if hasattr(value, "tolist") else value for name, value in named.items()},
            "people": self.people,
            "confidence": self.confidence,
            "edge_width": self.edge_width,
        }


def answer(
    reports: Any,
    question: Any,
    *,
    shares: Sequence[float] | None = None,
    edge_width: float | None = None,
    confidence: float = 0.95,
) -> ReportAnswer:
    """Answer a question from point reports, without bias.

    Args:
        reports: Point reports, or a list of them with different prices.
        question: A threshold or range on a line; a box, disc, polygon or corner in the plane, or a list of them; a
            kernel density; or a function of the points (an array of shape (n, dimension) in, n numbers out).
        shares: For each set of reports what one report counts.
        edge_width: Over which length edges are softened, as the standard deviation of a Gaussian; by default 0.7 U,
            or U if the noise would exceed a tenth of the count. A question with a band of width b asks for b/sqrt(12).
        confidence: Of the interval.

    Example:
        >>> from sordino.geo import Points, Reference, Threshold
        >>> from sordino.privacy import Geo
        >>> made = Points(Reference.flat(low=0, high=10**6, unit="dollar"), Geo(1, per=12_000))
        >>> incomes = np.exp(np.random.default_rng(0).normal(11.5, 0.8, 20_000))
        >>> rich = answer(made.report(metres=incomes), Threshold(at=100_000, width=40_000))
        >>> bool(abs(rich.share - (incomes > 100_000).mean()) < 0.03)
        True
    """
    groups = groups_of(reports, shares)
    dimension = same_reference(groups).dimension
    level = float(checks.between("answer", 0, 1, confidence=confidence))
    many = isinstance(question, (list, tuple))
    if isinstance(question, KernelDensity):
        _same_dimension(question.dimension, dimension)
        return _packed(_kernels(groups, question), groups, level, None, question)
    if isinstance(question, (Threshold, Range)):
        _same_dimension(1, dimension)
        width = _edge_of(question, groups, edge_width)
        return _packed(_on_line(groups, *_line(question, width)), groups, level, width, question)
    regions = list(question) if many else [question]
    if regions and all(isinstance(region, REGIONS) for region in regions):
        from sordino.geo.fields import regions_total

        _same_dimension(2, dimension)
        return _regions(groups, regions, edge_width, level, regions_total, question)
    if callable(question):
        from sordino.geo.fields import function_total

        if dimension == 1:
            parts = _on_line(groups, None, lambda x: np.asarray(question(x), dtype=np.float64))
            return _packed(parts, groups, level, None, question)
        _same_dimension(2, dimension)
        width = LEAST_EDGE * max(group.unit_loss for group in groups) if edge_width is None else edge_width
        return _packed(function_total(groups, question, width), groups, level, width or None, question)
    raise Unsupported(
        "answer",
        "this question cannot be asked of point reports",
        got={"question": type(question).__name__},
        hint="Threshold, Range, Box, Disc, Geofence, TwoWayThreshold, KernelDensity, or a smooth function",
    )


def _regions(
    groups: Any, regions: list[Any], asked: float | None, level: float, total: Any, question: Any
) -> ReportAnswer:
    """Regions by the default edge, once more with the wider one if the noise asks for it."""
    width = _edge_of(regions[0], groups, asked)
    found = _packed(total(groups, regions, width), groups, level, width, question)
    explicit = asked is not None or any(getattr(region, "width", 0.0) > 0 for region in regions)
    widest = max(group.unit_loss for group in groups)
    if not explicit and np.any(found.standard_error > 0.1 * np.abs(found.value)):
        width = WIDER_EDGE * widest
        found = _packed(total(groups, regions, width), groups, level, width, question)
    return found


def _edge_of(question: Any, groups: Sequence[Group], asked: float | None) -> float:
    """The width that was asked for, by name or through a band of equal spread; never below half of U."""
    unit = max(group.unit_loss for group in groups)
    if asked is not None:
        width = float(checks.positive("answer", edge_width=asked))
        if width < LEAST_EDGE * unit * (1 - 1e-9):
            raise Unsupported(
                "answer",
                "an edge cannot be sharper than half the distance of loss one",
                got={"edge_width": width, "distance": round(unit, 3)},
                why="A sharp edge has no unbiased answer from moved points.",
                hint=f"edge_width={LEAST_EDGE * unit:.4g}, or a mechanism for this one question",
            )
        return width
    band = float(getattr(question, "width", 0.0) or 0.0)
    return max(LEAST_EDGE * unit, band / 12**0.5) if band else EDGE * unit


def _same_dimension(asked: int, given: int) -> None:
    if asked != given:
        raise DataError(
            "answer",
            f"the question has {asked} coordinates, the reports have {given}",
            got={"question": asked, "reports": given},
        )


def _kernels(groups: Sequence[Group], query: KernelDensity) -> tuple[Any, Any, Any, Any]:
    """Sums of g, of w^2 (g^2 - g2) and of w g2 at each place."""
    h, places = query.bandwidth, query.places
    sums = np.zeros((4, len(places)))
    for group in groups:
        a, w, d = (h / group.unit_loss) ** 2, group.share, query.dimension
        kernel(np.zeros(1), a, d)  # refuses what is too narrow
        points = group.reports.metres
        rows = max(1, (1 << 22) // len(places))
        for begin in range(0, len(points), rows):
            part = points[begin : begin + rows]
            rho = np.sqrt(sum((part[:, None, i] - places[None, :, i]) ** 2 for i in range(d))) / h
            g = tabulated(rho, a, d)
            square = (g * g).sum(axis=0)
            sums[:2] += [w * g.sum(axis=0), w * w * square]
            if w != 1:
                second = kernel(rho * 2**0.5, 0.5 * a, d).sum(axis=0)
                sums[2:] += [w * w * second, w * second]
    return sums[0], sums[1], sums[2], sums[3]


def _line(question: Any, width: float) -> tuple[Callable[[Any, float], Any], Callable[[Any], Any]]:
    """G and f of a threshold or a range."""
    from scipy.special import ndtr

    ends = (
        [(question.at, 1.0)]
        if isinstance(question, Threshold)
        else [(question.low, 1.0), (question.high, -1.0)]
    )

    def g(x: Any, unit: float) -> Any:
        return sum(sign * edge((x - at) / width, (width / unit) ** 2, 1) for at, sign in ends)

    def f(x: Any) -> Any:
        return sum(sign * ndtr((x - at) / width) for at, sign in ends)

    return g, f


def _on_line(
    groups: Sequence[Group], g: Callable[[Any, float], Any] | None, f: Callable[[Any], Any]
) -> tuple[Any, Any, Any, Any]:
    """Sums over reports on a line; without a closed form by the lattice's own inverse, exact for every f.

    g(y) = f(y) - (f(y+1) - 2 f(y) + f(y-1))/(4 sinh^2(1/(2T))), in lattice steps.
    """
    from sordino.geo.planar_laplace import T

    sums = np.zeros(4)
    bend = 4 * np.sinh(0.5 / T) ** 2
    for group in groups:
        step, w = float(group.reports.mechanism.step), group.share

        def inverse(function: Callable[[Any], Any], x: Floats, step: float = step) -> Floats:
            middle = function(x)
            whole: Floats = middle - (function(x + step) - 2 * middle + function(x - step)) / bend
            return whole

        x = group.reports.metres[:, 0]
        values = inverse(f, x) if g is None else g(x, group.unit_loss)
        second = 0.0 if w == 1 else inverse(lambda y: f(y) ** 2, x).sum()
        sums += [w * values.sum(), w * w * (values**2).sum(), w * w * second, w * second]
    return sums[0], sums[1], sums[2], sums[3]


def _packed(
    sums: tuple[Any, Any, Any, Any], groups: Sequence[Group], level: float, width: float | None, question: Any
) -> ReportAnswer:
    """Put sums together: variance of noise and of sampling, as in `maps.fields_on`."""
    total, squares, seconds, mixed = sums
    n = sum(group.people for group in groups)
    m = max(n, 2.0)
    variance = np.maximum(m / (m - 1) * (squares - seconds + mixed - total**2 / m), 0.0)
    error = np.sqrt(variance)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * error
    parts = (total, error, total - reach, total + reach)
    single = np.size(total) == 1 and not isinstance(question, (list, tuple))
    named = tuple(np.asarray(part).ravel()[0].item() if single else np.asarray(part) for part in parts)
    value, deviation, low, high = named
    return ReportAnswer(value, deviation, low, high, n, level, width, question)
