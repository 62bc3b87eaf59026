"""`Sample` and `Population`: what an error bar is to cover. Public, and asked for by name: it is never guessed.

A bar for the sample covers the number that the rows at hand would give without noise. A bar for the population covers
the number of the population from which the rows were drawn independently: sampling and privacy together.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from sordino import checks
from sordino.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a bar promises.

    Attributes:
        level: Probability that a bar covers.
        simultaneous: Whether the level holds for all bars of the release at once, not for each by itself.
        target: ``"sample"`` or ``"population"``.
    """

    level: float
    simultaneous: bool = False

    target: ClassVar[str]

    def __post_init__(self) -> None:
        checks.between("interval", 0, 1, hint="interval=0.95", level=self.level)
        object.__setattr__(self, "level", float(self.level))

    @classmethod
    def of(cls, asked: Any) -> Coverage | None:
        """Read what a caller wrote: a bare number means the sample.

        Example:
            >>> Coverage.of(0.95)
            Sample(level=0.95, simultaneous=False)
        """
        if asked is None or isinstance(asked, Coverage):
            return asked
        if isinstance(asked, bool | str) or not hasattr(asked, "__float__"):
            raise ParameterError(
                "interval",
                "must be a probability, sd.Sample(...) or sd.Population(...)",
                got={"interval": asked},
                hint="interval=sd.Sample(0.95)",
            )
        return Sample(asked)

    def to_dict(self) -> dict[str, Any]:
        """A plain record, for events."""
        return {"covers": self.target, **{field.name: getattr(self, field.name) for field in fields(self)}}

    @property
    def miss(self) -> float:
        """How often a bar may fail to cover."""
        return 1 - self.level

    def each_of(self, bars: int) -> Self:
        """The level for each of so many independent bars that together keep this one."""
        if not self.simultaneous or bars < 2:
            return self
        return replace(self, level=self.level ** (1 / bars))


@dataclass(frozen=True, slots=True)
class Sample(Coverage):
    """A bar for the rows at hand: the probability is over the noise alone.

    Args:
        level: Probability with which a bar covers, such as 0.95.
        simultaneous: Whether that holds for all bars of the release at once, not for each by itself.

    Example:
        >>> Sample(0.95).each_of(7).level, round(Sample(0.95, simultaneous=True).each_of(7).level, 6)
        (0.95, 0.992699)
    """

    target: ClassVar[str] = "sample"


@dataclass(frozen=True, slots=True)
class Population(Coverage):
    """A bar for the population from which the rows were drawn: the probability is over the sample and the noise.

    Args:
        level: As for `Sample`.
        simultaneous: As for `Sample`.
        inclusion: For counts: every member of the population is in the data with this probability, independently.
            Without it rows are independent draws, and their number is fixed.

    Example:
        >>> Population(0.95).target
        'population'
    """

    inclusion: float | None = None

    target: ClassVar[str] = "population"

    def __post_init__(self) -> None:
        Coverage.__post_init__(self)
        if self.inclusion is not None:
            share = checks.between("interval", 0, 1, hint="inclusion=0.01", inclusion=self.inclusion)
            object.__setattr__(self, "inclusion", float(share))
