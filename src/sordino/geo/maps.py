"""Heat maps from point reports: densities at every place and bandwidth, with errors taken from the reports.

The unbiased map has the true kernel density as its mean, whatever the points are. The smallest-error map, from the same
reports, gives up being unbiased at fine detail for less noise (`shrinkage.py`). Everything here is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino import checks
from sordino.errors import DataError, ParameterError
from sordino.geo.deconvolution import _refuse_narrow, factor, kernel, tabulated
from sordino.geo.points import PointReports
from sordino.geo.window import MapWindow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sordino.geo.reference import Reference

    Floats = NDArray[np.float64]

UNBIASED = (
    "unbiased: each value's mean is the true kernel density, however few the people; the noise is on top"
)
#: Reports near a place from which on their own spread gives intervals that cover as they say: on generated cities
#: 95 % intervals cover 0.94 to 0.95 from here on and 0.89 between 5 and 10 (docs/proofs/geo_points.md).
_ENOUGH = 40.0
SMALLEST = "smallest error: fine detail that the reports cannot show is left out, so peaks may be too low"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Reports of one mechanism, and the share with which each counts.

    The share is one if every person sent one report, and the weights of a person's reports add up to one if they sent
    several about the same point.
    """

    reports: PointReports
    share: float = 1.0

    @property
    def people(self) -> float:
        """How many people these reports stand for."""
        return self.share * len(self.reports)

    @property
    def unit_loss(self) -> float:
        """U of the mechanism."""
        return self.reports.mechanism.unit_loss


def groups_of(reports: Any, shares: Sequence[float] | None = None) -> tuple[Group, ...]:
    """Take reports of one mechanism or of several, with the shares of each."""
    several = [reports] if isinstance(reports, PointReports) else list(reports)
    if not several or not all(isinstance(part, PointReports) for part in several):
        raise DataError("map", "reports must be point reports, or a list of them")
    given = [1.0] * len(several) if shares is None else [float(share) for share in shares]
    if len(given) != len(several) or any(not 0 < share <= 1 for share in given):
        raise ParameterError(
            "map", "shares must be one number in (0, 1] for each set of reports", got={"shares": shares}
        )
    return tuple(Group(part, share) for part, share in zip(several, given, strict=True))


def same_reference(groups: Sequence[Group]) -> Reference:
    """The one reference of all groups, or raise: metres of different maps are different metres."""
    kinds = {str(group.reports.mechanism.reference.to_dict()) for group in groups}
    if len(kinds) > 1:
        raise DataError(
            "map",
            "the reports have different coordinate references",
            got={"references": len(kinds)},
            why="The same number of metres is another place on each of these maps.",
            hint="one map per reference; answers about places in degrees can be added",
        )
    return groups[0].reports.mechanism.reference


@dataclass(frozen=True, eq=False)
class DensityMap:
    """A map of people per unit of area at even places; arrays are indexed by the first coordinate, then the second.

    Attributes:
        density: The estimate, in people per square unit of the map; it may be negative where nobody is.
        variance: Of the estimate as an estimate about people like these: privacy and sampling together.
        noise_variance: Of the estimate as one about these very people: privacy alone.
        near: How many reports lie within about a bandwidth of each place (2 pi h^2 times their own density).
        low: First place.
        high: Last place.
        bandwidth: Of the kernel.
        people: Whom the map stands for.
        confidence: Of the intervals.
        meaning: What the map is, in words.
        groups: The reports it was made from, by mechanism.
    """

    density: Floats = field(repr=False)
    variance: Floats = field(repr=False)
    noise_variance: Floats = field(repr=False)
    near: Floats = field(repr=False)
    low: tuple[float, ...]
    high: tuple[float, ...]
    bandwidth: float
    people: float
    confidence: float
    meaning: str
    groups: tuple[Group, ...] = field(repr=False)

    @property
    def reference(self) -> Reference:
        """What the coordinates mean."""
        return self.groups[0].reports.mechanism.reference

    @property
    def unbiased(self) -> bool:
        """Whether intervals apply."""
        return self.meaning == UNBIASED

    @property
    def standard_error(self) -> Floats:
        """Of the density, privacy and sampling together."""
        return np.sqrt(self.variance)

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """A confidence interval at each place by itself.

        Where few reports lie the spread of the reports says too little: the variance there is at least that of the
        neighbourhood.
        """
        from sordino.geo.bands import smoothed

        self._needs_unbiased()
        variance = np.where(
            self.near >= _ENOUGH, self.variance, np.maximum(self.variance, smoothed(self.variance, self))
        )
        reach = NormalDist().inv_cdf(0.5 + self.confidence / 2) * np.sqrt(variance)
        return self.density - reach, self.density + reach

    @cached_property
    def band(self) -> tuple[Floats, Floats]:
        """Intervals that hold at all places at once, with the confidence."""
        from sordino.geo.bands import simultaneous

        self._needs_unbiased()
        reach = simultaneous(self)
        return self.density - reach, self.density + reach

    def hot(self, threshold: float) -> NDArray[np.bool_]:
        """Places whose density exceeds a threshold; that any of them is false has at most the chance 1 - confidence."""
        spots: NDArray[np.bool_] = self.band[0] > float(checks.non_negative("hot", threshold=threshold))
        return spots

    def non_negative(self) -> Floats:
        """The density without negative places and with the same sum: the nearest such map."""
        from sordino.geo.shrinkage import non_negative

        return non_negative(self.density)

    @property
    def axes(self) -> tuple[Floats, Floats]:
        """Coordinates of the places along each axis."""
        first, second = (
            np.linspace(a, b, n) for a, b, n in zip(self.low, self.high, self.density.shape, strict=True)
        )
        return first, second

    def _needs_unbiased(self) -> None:
        if not self.unbiased:
            raise DataError(
                "map",
                "an interval belongs to the unbiased map",
                why="The smallest-error map leaves out detail by an amount that nobody knows.",
                hint="map_of(..., best=False)",
            )


def map_of(
    reports: Any,
    *,
    bandwidth: float,
    low: Any,
    high: Any,
    shape: Any,
    best: bool = False,
    shares: Sequence[float] | None = None,
    confidence: float = 0.95,
) -> DensityMap:
    """Estimate the density of people at even places from point reports.

    Args:
        reports: Point reports, or a list of them with different prices.
        bandwidth: Of the Gaussian kernel, in the unit of the map.
        low: First place on the map.
        high: Last place.
        shape: How many places along each axis.
        best: The map with the smallest squared error in place of the unbiased one.
        shares: For each set of reports what one report counts; 1/2 each if everybody reported twice.
        confidence: Of the intervals.

    Example:
        >>> from sordino.geo import Points, Reference
        >>> from sordino.privacy import Geo
        >>> made = Points(Reference.around(longitude=4.9, latitude=52.4, radius=20_000), Geo(1, per=200))
        >>> people = np.random.default_rng(0).normal(0.0, 800.0, (20_000, 2))
        >>> reports, low, high = made.report(metres=people), (-2000, -2000), (2000, 2000)
        >>> found = map_of(reports, bandwidth=400, low=low, high=high, shape=(21, 21))
        >>> true = 20_000 / (2 * np.pi * (800**2 + 400**2))  # people per square metre in the middle
        >>> bool(abs(found.density[10, 10] - true) < 5 * found.standard_error[10, 10])
        True
    """
    groups = groups_of(reports, shares)
    if same_reference(groups).dimension != 2:
        raise DataError("map", "a map needs two coordinates", hint="answer(reports, KernelDensity(...))")
    h = float(checks.positive("map", bandwidth=bandwidth))
    level = float(checks.between("map", 0, 1, confidence=confidence))
    bottom, top = tuple(map(float, low)), tuple(map(float, high))
    counts = tuple(checks.whole("map", at_least=2, shape=n) for n in shape)
    if (
        len(bottom) != 2
        or len(top) != 2
        or len(counts) != 2
        or any(a >= b for a, b in zip(bottom, top, strict=True))
    ):
        raise ParameterError(
            "map", "high must be greater than low in both coordinates, with one count each", got={"low": low}
        )
    if not best:
        for group in groups:
            _refuse_narrow((h / group.unit_loss) ** 2)
    window = window_for(groups, h, bottom, top, counts)
    density, variance, noise, near = fields_on(window, groups, h, best=best)
    return DensityMap(
        density,
        variance,
        noise,
        near,
        bottom,
        top,
        h,
        sum(group.people for group in groups),
        level,
        SMALLEST if best else UNBIASED,
        groups,
    )


def window_for(
    groups: Sequence[Group], bandwidth: float, low: Any, high: Any, shape: Any, *, finest: float = 0.25
) -> MapWindow:
    """Cells of a quarter bandwidth, with a border beyond which reports weigh nothing."""
    widest = max(group.unit_loss for group in groups)
    pad = max(6 * bandwidth, 3 * bandwidth + 12 * widest)
    return MapWindow.over(low=low, high=high, shape=shape, finest=finest * bandwidth, pad=pad)


def fields_on(
    window: MapWindow, groups: Sequence[Group], bandwidth: float, *, best: bool = False
) -> tuple[Floats, Floats, Floats, Floats]:
    """Density, its variance, the part of the noise and the reports near by, at the inner nodes of a window.

    With shares w the noise variance is sum w^2 (g^2 - g2), g2 the deconvolution of the squared kernel, and the
    sampling variance sum w g2 - (sum w g)^2/n; with w = 1 they add up to the plain n/(n-1)(sum g^2 - (sum g)^2/n).
    """
    h = bandwidth
    peak = 1.0 / (2 * np.pi * h * h)
    n = max(sum(group.people for group in groups), 2.0)
    density, squares, seconds, mixed, near = (np.zeros(window.shape) for _ in range(5))
    smooth = np.exp(-0.5 * h * h * window.waves)
    half = np.exp(-0.25 * h * h * window.waves)
    r = window.distances() / h
    for group in groups:
        u, a, w = group.unit_loss, (h / group.unit_loss) ** 2, group.share
        spectrum, inside = window.spread([group.reports.metres])
        undo = factor(window.waves, u, 2)
        filtered = smooth * undo / window.area
        if best:
            from sordino.geo.shrinkage import weights_by_wave

            filtered *= weights_by_wave(window, spectrum, inside, u)
        density += w * window.back(spectrum * filtered)
        if best:
            continue
        near += window.back(spectrum * smooth) / (window.area * peak)
        table = (peak * tabulated(r, a, 2)) ** 2 if a >= 1 / 16 else np.zeros_like(r)
        square = window.back(spectrum * window.forward(table))
        second = (peak * window.back(spectrum * (half * undo) / window.area)) * 0.5
        squares += w * w * square
        seconds += w * w * second
        mixed += w * second
    inner = window.inner
    density, squares, seconds, mixed, near = (
        part[inner] for part in (density, squares, seconds, mixed, near)
    )
    if best:
        unknown = np.full(density.shape, np.nan)
        return density, unknown, unknown, unknown
    sampling = mixed - seconds - density**2 / n
    variance = np.maximum(n / (n - 1) * (squares + sampling), 0.0)
    noise = squares - seconds
    # The difference of two estimates can fall to zero or below where hardly anybody is: then the larger one is taken.
    return density, variance, np.where(noise > 0, np.minimum(noise, variance), variance), near


def largest_weight(group: Group, bandwidth: float) -> float:
    """What one report can move a density by, at most: G(0)/(2 pi h^2)."""
    peak = float(kernel(np.zeros(1), (bandwidth / group.unit_loss) ** 2, 2)[0])
    return group.share * peak / (2 * np.pi * bandwidth**2)
