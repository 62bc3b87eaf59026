"""The default mechanism for every statistic and price, from public numbers alone.

`choose` never sees data: the same question always gets the same mechanism. Every option overrides a rule; the rules and
what they cost are in docs/explanation/which_mechanism.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError, Unsupported
from sordino.exact.grid import Grid
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.additive_vector import AdditiveVector
from sordino.mechanisms.additive.error_bar import WithErrorBar
from sordino.mechanisms.additive.geometric import Geometric
from sordino.mechanisms.additive.radial import RadialLaplace
from sordino.mechanisms.additive.smoothing import noise_at, smooth_noise
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.symmetric_mean import SymmetricMean
from sordino.mechanisms.clip.variance_clip import VarianceClip
from sordino.mechanisms.extreme.extreme import Extreme
from sordino.mechanisms.nested.inverse_sensitivity import InverseSensitivity
from sordino.mechanisms.nested.piecewise_laplace import PiecewiseLaplace
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.quantile.order_interval import OrderInterval
from sordino.mechanisms.quantile.plan import Lattice
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.quantile.recursive_quantiles import RecursiveQuantiles
from sordino.mechanisms.selection.selection import Selection
from sordino.privacy import Guarantee, Neighbors, Pure
from sordino.reading.requests import BITS

if TYPE_CHECKING:
    from sordino.mechanisms import Mechanism
    from sordino.mechanisms.parts.measure import Measure
    from sordino.statistics import Statistic

ROOT_TWO = Fraction(1414213563, 10**9)  # rounded up
STAIRCASE = (
    3  # bounded range above which the staircase beats the linear interpolation by more than a few per cent
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the caller may add; all public, all optional.

    Attributes:
        rows: Number of rows (public under replace-one), or a declared rough one.
        centre: Guess of the centre of the column.
        spread: Guess of its spread.
        tight: The bounds fit the column.
        loose: For minimum and maximum: rather far inside the data than outside.
        symmetric: The distribution is symmetric, so a trimmed mean may answer for the mean.
        occupied: Guess of the share of rows that differ from the usual value.
        smoothing: Smoothing parameter of a smooth bound.
        interval: Probability of an error bar; None for none.
        measure: The caller's own base measure for a quantile.
    """

    rows: int | None = None
    centre: float | None = None
    spread: float | None = None
    tight: bool = False
    loose: bool = False
    symmetric: bool = False
    occupied: float | None = None
    smoothing: Fraction | None = None
    interval: float | None = None
    measure: Measure | None = None


def choose(statistic: Statistic, price: Guarantee, **options: Any) -> Mechanism:
    """Choose the mechanism for a statistic at a price, without looking at data.

    Args:
        statistic: What is asked.
        price: What the answer may cost.
        options: The fields of `Hints`.

    Example:
        >>> from sordino.statistics.median import Median
        >>> from sordino.statistics.trimmed_mean import TrimmedMean
        >>> choose(Median("x", low=0, high=100), Pure(1), rows=1000).name
        'quantile'
        >>> choose(TrimmedMean("x", trim=0.05, low=0, high=100), Pure(1), rows=1000).calibration.noise.name
        'polyplace'
    """
    try:
        hints = Hints(**options)
    except TypeError:
        known = ", ".join(Hints.__dataclass_fields__)
        unknown = sorted(set(options) - set(Hints.__dataclass_fields__))
        raise ParameterError("choose", f"has no option {unknown[0]!r}", hint=f"options are {known}") from None
    rule = _RULES.get(statistic.name, _smooth if not statistic.vector else _vector)
    mechanism = rule(statistic, price, hints)
    if hints.interval is not None and not isinstance(mechanism, WithErrorBar | OrderInterval):
        raise Unsupported(
            statistic.name,
            "has no error bar with this mechanism",
            why="The exact pivot needs additive noise.",
            hint="a quantile, a trimmed mean, a count or a graph statistic has one",
        )
    return mechanism


def output_grid(statistic: Statistic) -> Grid:
    """The public lattice of answers with noise: whole numbers for counts, a fine power of two otherwise.

    No finer by default, although rows may be: the sampler decides in floats what is not too small beside the noise.

    Example:
        >>> from sordino.statistics.median import Median
        >>> output_grid(Median("x", low=0, high=100))
        Grid(exponent=-25)
    """
    units = statistic.units
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    if low is not None and high is not None:
        if statistic.name == "sum":
            return Grid.for_range(0, max(abs(Fraction(low)), abs(Fraction(high))))
        return Grid.for_range(low, high)
    parts = getattr(statistic, "parts", None)
    if parts:
        return min((output_grid(part) for part in parts), key=lambda grid: grid.exponent)
    return Grid(math.floor(math.log2(units.step)) if units.step < 1 else 0)


def _lattice(statistic: Any) -> Lattice:
    units = statistic.grid.units
    return Lattice(units.origin, units.step, statistic.grid.top)


def _quantile(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    rank = shift = None
    lattice = _lattice(statistic)
    if hints.rows:
        rank = statistic.weights(hints.rows).pieces[0][0]
    if statistic.name in ("minimum", "maximum") and not statistic.shift:
        if hints.rows and not hints.loose and hints.measure is None:
            return Extreme(
                price=price, lattice=lattice, upper=statistic.name == "maximum", rows=hints.rows,
                centre=hints.centre, spread=hints.spread, tight=hints.tight,
            )  # fmt: skip
        shift = extreme_shift(
            lattice,
            price,
            upper=statistic.name == "maximum",
            rows=hints.rows,
            loose=hints.loose,
            tight=hints.tight,
        )
        if rank is not None and hints.rows:
            rank = min(max(rank - shift if statistic.name == "maximum" else rank + shift, 1), hints.rows)
    barred = hints.interval is not None and statistic.name in ("median", "quantile")
    part = price.share(Fraction(1, 2)) if barred else price
    point = PrivateQuantile(
        price=part, lattice=lattice, rows=hints.rows, rank=rank, centre=hints.centre, spread=hints.spread,
        tight=hints.tight, shift=shift, measure=hints.measure, neighbors=statistic.neighbors,
    )  # fmt: skip
    if not barred or hints.interval is None:
        return point
    # Without a guess of the spread the ends may be off by what nobody can see of the range: near points save ranks.
    blur = Fraction(hints.spread) / 50 if hints.spread else lattice.step * (lattice.last >> BITS)
    return OrderInterval(
        price=part, lattice=lattice, level=hints.interval, radius=blur, rows=hints.rows, point=point
    )


def extreme_shift(
    lattice: Lattice, price: Guarantee, *, upper: bool, rows: int | None, loose: bool, tight: bool = False
) -> int:
    """How many rows inside the data to aim for a minimum or maximum: ``2/epsilon`` where the range runs away.

    Nothing towards an anchor at the end of the range, with too few rows, or when the bounds are tight; ``loose`` aims
    ``(3/epsilon) ln n`` rows inside, where the answer is inside the data with probability above 1 - 1/n.
    """
    epsilon = float(price.bounded_range)
    if loose and rows:
        return min(round(3 / epsilon * math.log(max(rows, 2))), rows // 4)
    towards = lattice.anchor == (lattice.last if upper else 0)
    if towards or tight or not rows or rows * epsilon < 64:
        return 0
    return round(2 / epsilon)


def _quantiles(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    return RecursiveQuantiles(
        price=price, qs=statistic.qs, lattice=_lattice(statistic), rows=hints.rows, tight=hints.tight,
        centre=hints.centre, neighbors=statistic.neighbors,
    )  # fmt: skip


def _mean(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    fits = hints.rows is None or _fits(statistic, hints)
    total = statistic.name == "sum"
    replace_one = statistic.neighbors is Neighbors.REPLACE_ONE
    if replace_one and (fits or hints.interval is not None):
        return _global(statistic, price, hints)
    rows = hints.rows or 0
    if hints.symmetric and replace_one and not total and rows * price.strength >= 60:
        return SymmetricMean.planned(
            price=price, rows=rows, low=statistic.low, high=statistic.high, spread=hints.spread
        )
    return AutoClip(
        price=price, rows=rows, low=statistic.low, high=statistic.high, step=statistic.step,
        centre=hints.centre, spread=hints.spread, occupied=hints.occupied, total=total, tight=fits,
        neighbors=statistic.neighbors,
    )  # fmt: skip


def _fits(statistic: Any, hints: Hints) -> bool:
    """Whether the caller says so, or says that the bounds are no more than ten spreads apart."""
    width = Fraction(statistic.high) - Fraction(statistic.low)
    return hints.tight or (hints.spread is not None and width <= 10 * Fraction(hints.spread))


def _variance(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    """Clipped squares where the bounds may be loose; smooth noise where they fit or rows are too few to search.

    Moving k rows moves the mean by k/n of the range, and it lies at least half the range from the farther end, so the
    local sensitivity grows by at most ``(1 + 2k/n)^2 <= exp(4k/n)``: a smoothing of 4/n does not feel the bounds.
    Where rows come and go the whole table is n rows from nothing, and its bound, n times as large, must count little.
    """
    replace_one = statistic.neighbors is Neighbors.REPLACE_ONE
    root = statistic.name == "standard-deviation"
    fits = _fits(statistic, hints)
    if hints.rows and (not fits or (root and replace_one)):
        clip = VarianceClip(
            price=price, rows=hints.rows, low=statistic.low, high=statistic.high, step=statistic.step,
            centre=hints.centre, spread=hints.spread, tight=fits, root=root, neighbors=statistic.neighbors,
        )  # fmt: skip
        if (root and replace_one) or clip.searches or hints.spread is not None:
            return clip
    if root or not hints.rows:
        return _nested(statistic, price, hints)
    strength = price.strength
    wanted = 4.0 if replace_one else math.log(hints.rows) + 2
    ratio = min(max(wanted / (hints.rows * strength), 0.05), 0.2 if replace_one else 0.3)
    smoothing = hints.smoothing or Fraction(f"{ratio * strength:.4g}")
    calibration = noise_at(price, smoothing)
    look = min(Additive(calibration=calibration).depth, 2 * hints.rows + 64)
    return Additive(calibration=calibration, look=look)


def _second_moment(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    """Clipped squares about the public point; plain noise where the bounds fit and the number of rows is public."""
    replace_one = statistic.neighbors is Neighbors.REPLACE_ONE
    fits = not hints.rows or _fits(statistic, hints)
    clip = VarianceClip(
        price=price, rows=hints.rows or 0, low=statistic.low, high=statistic.high, step=statistic.step,
        tight=fits, about=statistic.centre, neighbors=statistic.neighbors,
    )  # fmt: skip
    if hints.interval is not None or (replace_one and not clip.searches):
        return _global(statistic, price, hints)
    return clip


def _trimmed(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    if hints.rows is None and hints.smoothing is None:
        raise ParameterError(
            statistic.name,
            "needs the public number of rows or a smoothing",
            why="How far the bounds are away decides how smooth the bound must be.",
            hint="rows=1000, or smoothing=0.1",
        )
    width = float(Fraction(statistic.high) - Fraction(statistic.low))
    decades = math.log(width / (hints.spread or width / 1000))
    trimmed = float(statistic.trim) * (hints.rows or 0)

    def additive(cost: Guarantee) -> Additive:
        calibration = smooth_noise(cost, decades=decades, trimmed=trimmed, smoothing=hints.smoothing)
        whole = Additive(calibration=calibration)
        if hints.rows is None or whole.depth <= 2 * hints.rows + 64:
            return whole
        return Additive(
            calibration=calibration, look=2 * hints.rows + 64
        )  # beyond all rows: the global bound

    return _barred(additive, price, hints)


def _smooth(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:  # noqa: ARG001
    """Graph statistics and other profiles without a range that runs away: smoothing of a tenth of the strength."""
    smoothing = hints.smoothing or Fraction(f"{0.1 * price.strength:.4g}")
    return _barred(lambda cost: Additive(calibration=noise_at(cost, smoothing)), price, hints)


def _whole(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    """Counts: geometric noise; a concentrated price and an error bar use the continuous families."""
    if hints.interval is not None or price.gaussian:
        return _global(statistic, price, hints)
    return Geometric(price=price)


def _global(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:  # noqa: ARG001
    additive = Additive(calibration=noise_for(price))
    if hints.interval is None:
        return additive
    return WithErrorBar(mechanism=additive, level=hints.interval)  # the scale is public: the bar is free


def _barred(build: Callable[[Guarantee], Additive], price: Guarantee, hints: Hints) -> Mechanism:
    """Add an error bar: four fifths for the answer, one fifth for its scale."""
    if hints.interval is None:
        return build(price)
    if not isinstance(price, Pure):
        raise Unsupported("error bar", "is priced in pure epsilon", got={"price": price}, hint="Pure(1)")
    answer, scale = price.share(Fraction(4, 5)), price.share(Fraction(1, 5))
    assert isinstance(scale, Pure)
    return WithErrorBar(mechanism=build(answer), price=scale, level=hints.interval)


def _nested(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:  # noqa: ARG001
    """Exact envelopes: piecewise Laplace, or the staircase where the price is high."""
    look = None if hints.rows is None else 2 * hints.rows + 64
    if price.bounded_range > STAIRCASE:
        return InverseSensitivity(price=price, look=look)
    return PiecewiseLaplace(price=price, look=look)


def _selection(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:  # noqa: ARG001
    return Selection(price=price, neighbors=statistic.neighbors)


def _cells(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:  # noqa: ARG001
    return AdditiveVector(
        price=price, euclidean=ROOT_TWO if statistic.neighbors is Neighbors.REPLACE_ONE else None
    )


def _vector(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:  # noqa: ARG001
    return RadialLaplace(price=price, norm=statistic.norm, dimension=statistic.dimension)


def _triangles(statistic: Any, price: Guarantee, hints: Hints) -> Mechanism:
    if price.gaussian and hints.interval is None:
        return PiecewiseLaplace(price=price, radii=True)
    return _smooth(statistic, price, hints)


_RULES: dict[str, Any] = {
    "median": _quantile,
    "quantile": _quantile,
    "minimum": _quantile,
    "maximum": _quantile,
    "quantiles": _quantiles,
    "mean": _mean,
    "sum": _mean,
    "variance": _variance,
    "standard-deviation": _variance,
    "trimmed-mean": _trimmed,
    "output-trimmed-mean": _trimmed,
    "winsorized-mean": _nested,
    "interquantile-range": _nested,
    "theil-sen": _nested,
    "second-moment": _second_moment,
    "count": _whole,
    "count-above": _whole,
    "mode-count": _whole,
    "edges": _whole,
    "maximum-degree": _whole,
    "histogram": _cells,
    "categories": _cells,
    "mode": _selection,
    "triangles": _triangles,
    "minimum-spanning-tree": _smooth,
}
