"""The default mechanism for every statistic and price, from public numbers alone.

`choose` never sees data: the same question always gets the same mechanism. A statistic names what suits it, a mechanism
says how it would answer; no statistic or mechanism is known here by name. What the rules cost is in
docs/explanation/which_mechanism.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.coverage import Coverage
from sordino.errors import ParameterError, Unsupported
from sordino.hints import Hints
from sordino.lattice import Lattice
from sordino.mechanisms import REGISTER, kinds
from sordino.reading.traits import Trait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sordino.mechanisms import Mechanism
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic

CUT = {Trait.MEAN, Trait.TOTAL, Trait.VARIANCE, Trait.DEVIATION, Trait.MOMENT}
"""Statistics whose values may be cut to an interval that is found in the data."""
FOR_BARS = ("mean-interval", "quantile-interval", "quantiles-interval")
"""Our own that are offered only with an error bar: without one they are not even imported."""


def choose(statistic: Statistic, price: Guarantee, **options: Any) -> Mechanism:
    """Choose the mechanism for a statistic at a price, without looking at data.

    Args:
        statistic: What is asked.
        price: What the answer may cost.
        options: The fields of `Hints`.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.median import Median
        >>> from sordino.statistics.trimmed_mean import TrimmedMean
        >>> choose(Median("x", low=0, high=100), Pure(1), rows=1000).name
        'quantile'
        >>> choose(TrimmedMean("x", trim=0.05, low=0, high=100), Pure(1), rows=1000).calibration.noise.name
        'polyplace'
    """
    check_options(options)
    if options.get("interval") is not None:
        options["interval"] = Coverage.of(options["interval"])
    hints = Hints(**options)
    _sensible(statistic, hints)
    offered = (
        offer
        for kind in (
            REGISTER.known.get(name) or REGISTER.get(name) or kinds()[name]
            for name in statistic.suited
            if hints.interval is not None or name not in FOR_BARS
        )
        if statistic.neighbors in kind.relations and (hints.interval is not None or not kind.for_bars)
        for offer in kind.offers(statistic, price, hints)
    )
    mechanism = next(iter(offered), None)
    if mechanism is None:
        raise Unsupported(
            statistic.name,
            "no mechanism answers it at this kind of price",
            got={"price": price},
            hint="sd.Pure(1), or mechanism=",
        )
    return mechanism


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse what no release knows, whether or not the mechanism would have looked at it."""
    unknown = sorted(set(options) - set(Hints.__dataclass_fields__))
    if unknown:
        known = f"options are {', '.join(Hints.__dataclass_fields__)}"
        filtered = 'people.where("age < 40").release(...) asks about some rows'
        hint = filtered if unknown[0] == "where" else known
        raise ParameterError("choose", f"has no option {unknown[0]!r}", hint=hint)


def _sensible(statistic: Statistic, hints: Hints) -> None:
    """Refuse hints that say nothing, contradict each other, or could not be followed."""
    for name in ("centre", "spread"):
        guess = getattr(hints, name)
        if guess is not None and not math.isfinite(guess):
            raise ParameterError("choose", f"{name} must be a number", got={name: guess}, hint=f"{name}=100")
    if hints.occupied is not None:
        checks.between("choose", 0, 1, closed=True, occupied=hints.occupied)
    if hints.tight and hints.loose:
        raise ParameterError(
            "choose",
            "tight and loose say opposite things about the bounds",
            hint="leave one of them out, or both",
        )
    if hints.loose and not hints.rows and CUT & statistic.traits:
        raise ParameterError(
            statistic.name,
            "loose=True needs the number of rows, roughly",
            why="How short an interval can be found depends on it; what is declared here is public.",
            hint="sd.open(..., rows=1000), or --rows 1000",
        )


def output_grid(statistic: Statistic) -> Lattice:
    """The public lattice of answers with noise: whole numbers for counts, a fine power of two otherwise.

    No finer by default, although rows may be: the sampler decides in floats what is not too small beside the noise.

    Example:
        >>> from sordino.statistics.median import Median
        >>> output_grid(Median("x", low=0, high=100)).exponent
        -25
    """
    units = statistic.units
    low, high = getattr(statistic, "low", None), getattr(statistic, "high", None)
    if isinstance(low, tuple) or isinstance(high, tuple):  # several outputs, each between bounds of its own
        grids = (Lattice.for_range(one.low, one.high) for one in statistic.grids)  # type: ignore[attr-defined]
        return min(grids, key=lambda grid: grid.exponent)
    if low is not None and high is not None:
        if statistic.name == "sum":
            return Lattice.for_range(0, max(abs(Fraction(low)), abs(Fraction(high))))
        return Lattice.for_range(low, high)
    parts = getattr(statistic, "parts", None)
    if parts:
        return min((output_grid(part) for part in parts), key=lambda grid: grid.exponent)
    return Lattice.dyadic(math.floor(math.log2(units.step)) if units.step < 1 else 0)
