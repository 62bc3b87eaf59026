"""What a test can achieve that tries to tell whether one record is of one type or another: the trade-off of its errors.

Somebody who knows every other record sees the publication and decides. P(a false alarm) = alpha and P(a miss) = beta
cannot both be small: e^eps alpha + beta >= 1 - delta(eps) and alpha + e^eps beta >= 1 - delta(eps) at every epsilon
(Justification 1 of Liu, Wang and Xia 2023, where the two divergences are exchanged, which does no harm because delta
covers both). The best of these bounds over all epsilons is the curve given here. The paper's "both errors are close to
one half" is wrong: a test that never rejects has errors 0 and 1. docs/proofs/smoothed_errors.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.checks import between
from sordino.smoothed.leak import power

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sordino.smoothed.electorate import Electorate
    from sordino.smoothed.tally import Tally

_PLACES = 61


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The least chance of a miss for every chance of a false alarm.

    Attributes:
        false_alarms: Chances of deciding wrongly that the record is of the other type.
        misses: The least chances of not noticing that it is, guaranteed.
        worst_misses: The same when ordinary differential privacy must be assumed.
        epsilons: The epsilon that decided each.
        about: What it is about.
        certified: Whether the underlying deltas are proved.
    """

    false_alarms: tuple[float, ...]
    misses: tuple[float, ...]
    worst_misses: tuple[float, ...]
    epsilons: tuple[float, ...]
    about: str
    certified: bool = True

    @property
    def advantage(self) -> float:
        """The most that a test gains over guessing: the largest 1 - alpha - beta among the listed ones."""
        return max(1.0 - a - b for a, b in zip(self.false_alarms, self.misses, strict=True))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return one row per false-alarm rate: it, the least miss rate, the worst case, and what guessing gives."""
        return [
            (f"{a:.3g}", f"{b:.6g}", f"{w:.3g}", f"{1.0 - a:.6g}")
            for a, b, w in zip(self.false_alarms, self.misses, self.worst_misses, strict=True)
        ]

    @property
    def reading(self) -> str:
        """Say what the curve means."""
        alpha, beta = next(
            (pair for pair in zip(self.false_alarms, self.misses, strict=True) if pair[0] >= 0.05),
            (self.false_alarms[-1], self.misses[-1]),
        )
        about = "For this tally, " if self.about == "this tally" else "On average over the databases, "
        return (
            f"{about}whoever wants to find out one record, knowing all others, and accepts a false alarm in "
            f"{alpha:.3g} of the cases misses the truth in at least {power(math.log(max(beta, 1e-300)), 6)} of them; "
            f"guessing without looking misses it in {1.0 - alpha:.3g}. No test gains more than {self.advantage:.3g} "
            f"over guessing at the rates listed."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "error-rates",
            "about": self.about,
            "certified": self.certified,
            "false_alarms": list(self.false_alarms),
            "least_misses": list(self.misses),
            "worst_case_misses": list(self.worst_misses),
            "advantage": self.advantage,
            "reading": self.reading,
        }


def error_rates(source: Tally | Electorate, *, false_alarms: Sequence[float] = ()) -> ErrorRates:
    """Return the least chance of a miss of any test about one record, for given chances of a false alarm.

    Args:
        source: A tally or an electorate.
        false_alarms: Chances between 0 and 1; by default some over the whole range.

    Example:
        >>> from sordino import smoothed
        >>> curve = error_rates(smoothed.sampling(records=[60, 40], held_back=0.5), false_alarms=[0.05])
        >>> [round(beta, 4) for beta in curve.misses]
        [0.924]
    """
    wanted = [float(between("errors", 0, 1, false_alarm=a, closed=True)) for a in false_alarms] or _DEFAULT
    # delta falls with epsilon; beyond ln 1/alpha a bound of the first kind is negative
    epsilons = np.concatenate([[0.0], np.geomspace(1e-4, 20.0, _PLACES - 1)])
    if getattr(source, "types", 2) > 2 and source.records > 200:
        epsilons = epsilons[::6]
    leaks = source.profile(epsilons)
    deltas = np.asarray([leak.delta for leak in leaks])
    worst = leaks[0].worst_case
    misses, chosen, ordinary = [], [], []
    for alpha in wanted:
        first = 1.0 - deltas - np.exp(epsilons) * alpha
        second = np.exp(-epsilons) * (1.0 - deltas - alpha)
        both = np.maximum(first, second)
        best = int(np.argmax(both))
        misses.append(max(0.0, float(both[best])))
        chosen.append(float(epsilons[best]))
        ordinary.append(max(0.0, 1.0 - worst - alpha))
    certified = all(leak.certified for leak in leaks)
    return ErrorRates(tuple(wanted), tuple(misses), tuple(ordinary), tuple(chosen), leaks[0].about, certified)


_DEFAULT = [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0]


def plot(curve: ErrorRates) -> Any:
    """Draw the trade-off: what no test can beat, what guessing gives, what ordinary differential privacy leaves."""
    from sordino.plots import COLOURS, style

    with style() as plt:
        figure, axes = plt.subplots(figsize=(7.6, 4.6))
        x = list(curve.false_alarms)
        axes.plot([0, 1], [1, 0], color="#666666", linestyle=(0, (1, 2)), linewidth=1.2, label="guessing")
        axes.plot(
            x,
            curve.misses,
            color=COLOURS[0],
            marker="o",
            markersize=4,
            label=f"{curve.about}: no test is below",
        )
        axes.fill_between(x, 0, curve.misses, color=COLOURS[0], alpha=0.08)
        axes.plot(
            x,
            curve.worst_misses,
            color="#000000",
            linestyle=(0, (4, 2)),
            linewidth=1.4,
            label="worst case (ordinary DP)",
        )
        axes.set(
            xlabel="chance of a false alarm", ylabel="chance of a miss", xlim=(0, 1), ylim=(0, 1),
            title="What a test about one record can achieve",
        )  # fmt: skip
        figure.legend(loc="outside lower center", ncols=3)
        return figure
