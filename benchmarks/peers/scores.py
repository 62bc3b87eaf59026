"""From answers to errors, ratios and geometric means, each with its simulation error. Reads no files."""

import math
from dataclasses import dataclass

import numpy as np

ANSWERED = 0.9  # a library that raises more often than one time in ten is no choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Errors of one way of asking in one cell.

    Attributes:
        who: Library and variant.
        rmse: Root mean square error against the sample's own statistic, over the answers given.
        median: Median absolute error.
        doubt: Standard error of the logarithm of `rmse` (delta method).
        answered: Answers given.
        raised: Times an exception came instead.
    """

    who: str
    rmse: float
    median: float
    doubt: float
    answered: int
    raised: int

    @property
    def usable(self):
        """It answers, as a rule."""
        return self.answered > 0 and self.answered >= ANSWERED * (self.answered + self.raised)


def score(who, values, truth, raised=0):
    """Score answers against the truth.

    The error of log RMSE is half the relative error of the mean square: sd(e²) / (2 √m mean(e²)).
    """
    found = np.asarray(values, dtype=float)
    found = found[np.isfinite(found)]
    if not len(found):
        return Score(who=who, rmse=math.nan, median=math.nan, doubt=math.nan, answered=0, raised=raised)
    squares = np.square(found - truth)
    mean = float(squares.mean())
    doubt = float(squares.std() / math.sqrt(len(found)) / (2 * mean)) if mean > 0 else 0.0
    return Score(
        who=who, rmse=math.sqrt(mean), median=float(np.median(np.abs(found - truth))), doubt=doubt,
        answered=len(found), raised=raised + len(values) - len(found),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """Our error over the best peer's in one cell."""

    value: float
    doubt: float

    def above(self, bar, sigmas=2.0):
        """Greater than a bar by more than the simulation error."""
        return self.value > 0 and math.log(self.value / bar) > sigmas * self.doubt


def ratio(ours, peer):
    """The ratio of two root mean square errors; independent runs, so the errors of the logarithms add in squares."""
    if peer.rmse == 0:
        return Ratio(value=1.0 if ours.rmse == 0 else math.inf, doubt=0.0)
    return Ratio(value=ours.rmse / peer.rmse, doubt=math.hypot(ours.doubt, peer.doubt))


def best(scores):
    """The usable score with the least error, or None."""
    usable = [one for one in scores if one.usable]
    return min(usable, key=lambda one: one.rmse) if usable else None


def geometric(ratios):
    """Geometric mean of ratios, and the standard error of its logarithm from the cells' simulation errors."""
    finite = [one for one in ratios if 0 < one.value < math.inf]
    if not finite:
        return Ratio(value=math.nan, doubt=math.nan)
    logs = [math.log(one.value) for one in finite]
    doubt = math.sqrt(sum(one.doubt**2 for one in finite)) / len(finite)
    return Ratio(value=math.exp(sum(logs) / len(logs)), doubt=doubt)
