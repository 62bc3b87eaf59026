"""Differences of groups from their error bars: which group is higher. Made of published numbers alone.

Groups have different rows and independent noise, so two bars that cover with a probability of ``level`` each cover
together with its square; simultaneous bars keep their level.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from sordino.errors import ParameterError
from sordino.labels import shown
from sordino.session.release import Interval

if TYPE_CHECKING:
    from sordino.session.release import Release


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Interval):
    """By how much the first of two groups is higher than the second.

    Attributes:
        first: The key of the one group.
        second: That of the other.
    """

    first: Any = None
    second: Any = None

    @property
    def higher(self) -> Any:
        """The group that is higher, so far as the interval tells; None where it does not."""
        assert isinstance(self.low, float | int)
        assert isinstance(self.high, float | int)
        return self.first if self.low > 0 else self.second if self.high < 0 else None

    def __str__(self) -> str:
        whose = "the population" if self.covers == "population" else "these rows"
        told = "which of them is higher is not told" if self.higher is None else f"{self.higher} is higher"
        surely = f"{'about ' if self.approximate else ''}{100 * self.level:.4g}"
        cut = "" if self.cut is None else f", values cut to {shown(self.cut[0])} to {shown(self.cut[1])}"
        return (
            f"{self.first} less {self.second}: {shown(self.low)} to {shown(self.high)} "
            f"({surely} % interval for {whose}{cut}); {told}"
        )

    def __repr__(self) -> str:
        return f"<Difference {self}>"


def difference(release: Release, first: Any, second: Any) -> Difference:
    """How much larger the answer of one group is than that of another.

    Args:
        release: One number for every group, with error bars.
        first: A key of the split.
        second: Another one; where the interval is above 0, the first group is higher.

    Example:
        >>> import sordino as sd
        >>> people = sd.open({"x": [5.0] * 40 + [1.0] * 40, "g": ["a"] * 40 + ["b"] * 40}, budget=sd.Pure(50))
        >>> found = people.release_by("g", ["a", "b"], sd.Median("x", low=0, high=10, step=1), sd.Pure(40),
        ...                           interval=0.95)
        >>> gap = found.difference("a", "b")
        >>> gap
        <Difference a less b: 4 to 4 (90.25 % interval for these rows); a is higher>
    """
    keys = list(release.groups)
    if first == second or first not in keys or second not in keys:
        raise ParameterError(
            "difference",
            "needs two keys of the split",
            got={"first": first, "second": second},
            hint=f"release.difference({keys[0]!r}, {keys[-1]!r})",
        )
    bars = release.interval if isinstance(release.interval, tuple) else ()
    if len(bars) != len(keys):
        raise ParameterError(
            "difference",
            "needs one statistic with error bars",
            hint="release_by(..., interval=sd.Sample(0.95))",
        )
    one, other = bars[keys.index(first)], bars[keys.index(second)]
    ends: list[Any] = [getattr(bar, name, None) for bar in (one, other) for name in ("low", "high")]
    if one is None or not all(isinstance(end, int | float) for end in ends):
        raise ParameterError(
            "difference",
            "is about a single number per group",
            hint='release_by(..., sd.Median("income", low=0, high=500_000), ...)',
        )
    if one.cut != getattr(other, "cut", None):
        raise ParameterError(
            "difference",
            "is about numbers of values that were cut alike",
            got={str(first): one.cut, str(second): getattr(other, "cut", None)},
            why="The bar of each group covers the mean of its values cut to its own published interval.",
            hint="release_by(..., interval=0.95, tight=True) cuts nothing beyond the declared bounds",
        )
    level = one.level if one.simultaneous else one.level**2
    known = {field.name: getattr(one, field.name) for field in fields(Interval)}
    known |= {
        "low": ends[0] - ends[3],
        "high": ends[1] - ends[2],
        "level": level,
        "added": None,
        "hidden": None,
    }
    return Difference(**known, first=first, second=second)
