"""`Discover`: stands where the keys of groups would, and says that they are to be found in the data, for a price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino import checks
from sordino.errors import ParameterError

MOST = 1000
"""Keys of one person beyond which no key could be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discover:
    """How keys that nobody lists beforehand are found; public.

    Attributes:
        share: The part of the price that finds keys; the rest answers. None for a quarter, or for all of it where the
            draw that finds a key also counts its people and nothing else is asked.
        max_keys: Of each person at most so many keys count.
        passes: One or two draws over the keys where people have more than two; None for two.
    """

    share: Fraction | None = None
    max_keys: int = 10
    passes: int | None = None

    def __post_init__(self) -> None:
        if self.share is not None:
            share = checks.between("discover", 0, 1, hint="share=0.25", share=self.share)
            object.__setattr__(self, "share", share)
        if checks.whole("discover", at_least=1, max_keys=self.max_keys) > MOST:
            raise ParameterError(
                "discover", f"max_keys must be at most {MOST}", got={"max_keys": self.max_keys},
                why="The more keys one person may add, the more people a key needs to be shown.", hint="max_keys=10",
            )  # fmt: skip
        if self.passes not in (None, 1, 2):
            raise ParameterError(
                "discover", "passes must be 1 or 2", got={"passes": self.passes}, hint="passes=1"
            )

    @property
    def record(self) -> dict[str, Any]:
        """How an event keeps it."""
        share = None if self.share is None else str(self.share)
        return {"share": share, "max_keys": self.max_keys, "passes": self.passes}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Discover:
        """Read what `record` wrote."""
        share = record.get("share")
        return cls(
            share=None if share is None else Fraction(share),
            max_keys=record["max_keys"],
            passes=record.get("passes"),
        )


def discover(
    *, share: checks.Number | None = None, max_keys: int = 10, passes: int | None = None
) -> Discover:
    """Find the keys of groups in the data: those that enough people have. Needs a price with a delta.

    Args:
        share: The part of the price that finds keys; a quarter by default, or all of it where only people are counted.
        max_keys: Of each person at most so many keys count.
        passes: One or two draws over the keys where people have more than two keys; two by default. One finds more
            where people have few keys each.

    Example:
        >>> import sordino as sd
        >>> towns = {"town": ["Ulm"] * 300 + ["Linz"] * 200, "age": [40] * 500}
        >>> people = sd.open(towns, budget=sd.Approx(3, 1e-5))
        >>> answer = people.release_by("town", sd.discover(), sd.Mean("age", low=0, high=100), sd.Approx(1, 1e-6))
        >>> list(answer.groups)
        ['Linz', 'Ulm']
    """
    return Discover(share=None if share is None else Fraction(str(share)), max_keys=max_keys, passes=passes)
