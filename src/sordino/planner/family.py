"""`Span`: the error of the default mechanism over a family of columns, because nobody knows the real one.

The scale of the column goes from a millionth of the range to all of it, with and without zeros, heaps and a top code.
Generated from public bounds; the family was chosen before any real column was looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.planner.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sordino.planner.candidate import Candidate
    from sordino.planner.report import Option

SCALES = (1e-6, 1e-4, 1e-2, 1e-1, 1.0)
FORMS = ("zeros", "heaps", "top code")
MIDDLE = 1e-2  # at this scale the forms are tried
DRAWS = 24
LARGE = 300_000  # rows beyond which the forms are left out, so that a plan takes seconds
NARROW = 1.5  # a span within this factor is not news


@dataclass(frozen=True, slots=True)
class Member:
    """One column of the family: log-normal above a bound of at least 0, normal about the middle otherwise.

    Attributes:
        scale: Its median, or its spread, as a share of the range.
        form: ``"zeros"`` (half of the rows), ``"heaps"`` (rounded to tenths of the scale), ``"top code"`` (the upper
            tenth at one value), or nothing.
        low: Lower end of the public range.
        high: Upper end of the public range.
    """

    scale: float
    form: str = ""
    low: float = 0.0
    high: float = 1.0

    @property
    def of(self) -> str:
        """What it draws."""
        return "column"

    def on(self, low: float, high: float) -> Member:
        """The same column in another public range."""
        return Member(self.scale, self.form, low, high)

    def draw(self, size: int, random: np.random.Generator) -> NDArray[np.float64]:
        """Draw so many rows."""
        width = self.high - self.low
        if self.low >= 0:
            start, unit = self.low, self.scale * width
            column = start + unit * np.exp(random.normal(0, 0.7, size))
        else:
            start, unit = self.low + width / 2, self.scale * width
            column = start + unit * random.normal(0, 0.5, size)
        if self.form == "zeros":
            column = np.where(random.uniform(size=size) < 0.5, max(self.low, 0.0), column)
        elif self.form == "heaps":
            column = np.rint(column / (unit / 10)) * (unit / 10)
        elif self.form == "top code":
            column = np.minimum(column, np.quantile(column, 0.9))
        return np.clip(column, self.low, self.high)

    @property
    def words(self) -> str:
        """What it is, in a few words."""
        share = "the whole range" if self.scale == 1 else f"{self.scale:g} of the range"
        return f"scale {share}" + (f", {self.form}" if self.form else "")


@dataclass(frozen=True, slots=True)
class Span:
    """From the best to the worst column of the family.

    Attributes:
        errors: Root mean square error of the default mechanism on every member.
    """

    errors: tuple[tuple[Member, float], ...]

    @property
    def best(self) -> tuple[Member, float]:
        """The column with the least error."""
        return min(self.errors, key=lambda one: one[1])

    @property
    def worst(self) -> tuple[Member, float]:
        """The column with the largest error."""
        return max(self.errors, key=lambda one: one[1])

    @property
    def depends_on(self) -> tuple[str, ...]:
        """What the error depends on: ``"scale"``, ``"form"``, both, or nothing much."""
        plain = [error for member, error in self.errors if not member.form]
        forms = [error for member, error in self.errors if member.scale == MIDDLE]
        found = {"scale": _factor(plain), "form": _factor(forms)}
        return tuple(name for name, factor in found.items() if factor >= NARROW)

    def lines(self, short: Callable[[float], str]) -> list[str]:
        """The span in words, and the hints that would narrow it."""
        (low, least), (high, most) = self.best, self.worst
        if not self.depends_on:
            return [
                f"over {len(self.errors)} other columns the rms is about the same: {short(least)} to {short(most)}"
            ]
        told = f"over other columns the rms is {short(least)} ({low.words}) to {short(most)} ({high.words})"
        middle = (high.high - high.low) / 100
        shape = "log-normal:median=" if high.low >= 0 else "normal:spread="
        hints = {
            "scale": f"how much of the range the column fills (narrower bounds, or --assume {shape}{middle:.3g})",
            "form": "zeros, heaps and top codes (--assume heaped-pay)",
        }
        causes = " and on ".join(hints[name] for name in self.depends_on)
        return [told, f"it depends on {causes}; a public sample narrows it most"]

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "depends_on": list(self.depends_on),
            "columns": [
                {"scale": one.scale, "form": one.form or None, "rms": error} for one, error in self.errors
            ],
        }


def span(candidate: Candidate, trial: Trial, try_one: Callable[..., Option]) -> Span | None:
    """Try the default mechanism on the family; None where the subject is not one column of numbers.

    Args:
        candidate: The default.
        trial: Says how many rows there are, and the seed.
        try_one: Tries a candidate (`planning.tried`).
    """
    if trial.subject.kind != "column" or trial.subject.paired or trial.rows is None:
        return None
    (ends,) = trial.subject.ranges
    members = [Member(scale) for scale in SCALES]
    if trial.rows <= LARGE:
        members += [Member(MIDDLE, form) for form in FORMS]
    found = []
    for member in members:
        placed: Any = member.on(*ends)
        one = Trial(trial.statistic, placed, rows=trial.rows, seed=trial.seed)
        found.append((placed, try_one(candidate, one, tables=1, draws=DRAWS).rms))
    return Span(tuple(found))


def _factor(errors: list[float]) -> float:
    least = min(errors, default=0.0)
    if least <= 0:
        return float("inf") if max(errors, default=0.0) > 0 else 1.0
    return max(errors) / least
