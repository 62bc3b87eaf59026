"""Smoothed delta: the worst average of delta over databases drawn from a set of distributions (Definition 3).

Which algorithm answers depends on the size: all mixes exactly for two types up to twenty thousand records, certified
brackets beyond; enumeration for more types and small n, beyond that a certified upper end with Monte Carlo for the
lower. Where nothing is proved (with replacement), the answer says "found".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.checks import between, non_negative, one_of
from sordino.errors import Unsupported
from sordino.smoothed.hull import vertices
from sordino.smoothed.leak import Leak
from sordino.smoothed.tally import log_worst_case, smallest_epsilon

if TYPE_CHECKING:
    from sordino.smoothed.holdback import Holdback

EXACT_TWO = 20_000
BRACKET_TWO = 3_000_000
ENUMERATE = 4e8
FEW = 200
LARGE = 1_000_000
METHODS = ("auto", "exact", "bracket", "ends", "montecarlo")


@dataclass(frozen=True, slots=True)
class Electorate:
    """Records drawn independently, each from some distribution of a set; a random part is published as a tally.

    Made by :func:`sordino.smoothed.sampling`. The set stands for its convex hull.

    Attributes:
        records: How many records there are.
        published: How many of them are published.
        distributions: The chances of every type, one tuple for each distribution of the set.
        replacement: Whether the sample is drawn with replacement.
    """

    records: int
    published: int
    distributions: tuple[tuple[float, ...], ...] = field(repr=False)
    replacement: bool = False

    def __repr__(self) -> str:
        many = len(self.distributions)
        return (
            f"<{self.records:,} records from {many} electorate{'s' if many > 1 else ''} of {self.types} types; "
            f"{self.published:,} published{' with replacement' if self.replacement else ''}>"
        )

    @property
    def types(self) -> int:
        """How many types a record can have."""
        return len(self.distributions[0])

    @property
    def held_back(self) -> int:
        """How many records are not published."""
        return max(0, self.records - self.published)

    @property
    def rarest(self) -> float:
        """The smallest chance of any type in any of the distributions."""
        return min(min(row) for row in self.distributions)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say what makes the figures large whatever epsilon is."""
        result = []
        if self.held_back == 0 and not self.replacement:
            result.append(
                "everything is published (the share rounds up to all records): nothing is hidden, delta is 1"
            )
        if self.rarest == 0.0:
            result.append(
                "a type that may not occur at all gives its only record away: delta is the worst case for every size"
            )
        elif self.rarest * self.held_back < 10:
            result.append(
                f"the rarest type has a chance of {self.rarest:.3g}, so fewer than ten of its records are held back on "
                "average; no epsilon helps there"
            )
        return tuple(result)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "electorate",
            "records": self.records,
            "published": self.published,
            "distributions": [list(row) for row in self.distributions],
            "replacement": self.replacement,
        }

    def delta(self, *, epsilon: float, method: str = "auto", samples: int = 400, seed: int = 1) -> Leak:
        """Return the smoothed delta at epsilon, with the worst case beside it.

        Args:
            epsilon: The privacy parameter.
            method: "auto", or one of exact, bracket, ends, montecarlo.
            samples: Databases drawn for Monte Carlo.
            seed: Of the Monte Carlo draws; the figure is about no real data.

        Example:
            >>> from sordino import smoothed
            >>> model = smoothed.sampling(size=1_000, electorates=[0.94467, 0.228571], published=0.998)
            >>> model.delta(epsilon=1.0)
            <delta(1) = 0.892 for electorates like these; worst case 0.998; 998 of 1,000 records published; exact>
        """
        price = float(non_negative("smoothed", epsilon=epsilon))
        choice = one_of("smoothed", METHODS, method=method)
        upper, lower, words, certified = self._log(price, choice, samples, seed)
        worst = log_worst_case(self.records, self.published, replacement=self.replacement)
        upper, lower = min(upper, worst), min(lower, worst)  # an average is no more than the largest
        return Leak(
            price,
            upper,
            worst,
            self.records,
            self.published,
            "electorates like these",
            words,
            lower,
            self.warnings,
            self.replacement,
            certified,
        )

    def _log(self, epsilon: float, method: str, samples: int, seed: int) -> tuple[float, float, str, bool]:
        """Return ln of the upper and lower figure, how they were found, and whether the upper one is proved."""
        hull = vertices(self.distributions)
        if method == "montecarlo":
            return self._drawn(hull, epsilon, samples, seed)
        if self.types == 2:
            return self._two(float(hull[0, 0]), float(hull[-1, 0]), epsilon, method)
        from sordino.smoothed.simplex import cells, cost, delta_table, largest_mean

        n, T = self.records, self.published
        affordable = cells(n, self.types) <= 2e6 and cost(n, self.types, len(hull)) <= ENUMERATE and n <= FEW
        if method in ("bracket", "ends"):
            raise Unsupported(
                "smoothed",
                f"the method {method!r} is for two types",
                got={"types": self.types},
                why="Its proof uses the order of the counts.",
                hint='method="montecarlo"',
            )
        if method == "exact" or (method == "auto" and affordable):
            if not affordable:
                raise Unsupported(
                    "smoothed",
                    "too many databases to enumerate",
                    got={"records": n, "types": self.types},
                    why="Exact averages over three or more types are for small numbers of records.",
                    hint='method="montecarlo"',
                )
            value, _ = largest_mean(
                delta_table(n, self.types, T, epsilon, replacement=self.replacement), hull
            )
            found = math.log(value) if value > 0.0 else -math.inf
            return found, found, "exact", True
        return self._many(hull, epsilon, samples, seed)

    def _many(self, hull: Any, epsilon: float, samples: int, seed: int) -> tuple[float, float, str, bool]:
        """Answer for many types and records: a proved upper end, and what was found below it."""
        large = (
            samples if self.records <= LARGE else min(samples, 24)
        )  # one database of 1e8 takes a tenth of a second
        high, low, words, _ = self._drawn(hull, epsilon, large, seed)
        if self.replacement:
            return high, low, words, False
        from sordino.smoothed.certificate import log_certificate_many

        proved = log_certificate_many(self.records, self.published, epsilon, np.asarray(hull))
        if proved >= log_worst_case(self.records, self.published) - 1e-12:
            return high, low, words, False
        drawn = (
            f"the upper end is proved; the lower end is found by Monte Carlo over {large} databases (99 %)"
        )
        if low == -math.inf:
            drawn += "; not resolved: the interval reaches 0"
        return proved, min(low, proved), drawn, True

    def _two(self, p1: float, p2: float, epsilon: float, method: str) -> tuple[float, float, str, bool]:
        """Answer for two types; p1 and p2 are the ends of the set."""
        from sordino.smoothed.bracket import bracket, log_mean_window
        from sordino.smoothed.casteljau import log_means
        from sordino.smoothed.two_types import log_delta_all

        n, T = self.records, self.published
        if p1 == p2 and method in ("auto", "ends"):
            found = log_mean_window(n, T, epsilon, p1, replacement=self.replacement)
            return found, found, "exact", True
        if method == "exact" or (method == "auto" and n <= EXACT_TWO):
            means = log_means(log_delta_all(n, T, epsilon, replacement=self.replacement), p1, p2)
            found = float(means.max())
            return found, found, "exact", True
        if method == "bracket" or (method == "auto" and n <= BRACKET_TWO):
            between_ends = bracket(n, T, epsilon, p1, p2, replacement=self.replacement)
            words = f"certified bracket of relative width {between_ends.width:.1g}"
            return between_ends.upper, between_ends.lower, words, True
        found = max(log_mean_window(n, T, epsilon, p, replacement=self.replacement) for p in (p1, p2))
        if method == "ends" or self.replacement or found == -math.inf:
            return found, found, "the larger of the two ends; mixes of them were not tried", False
        from sordino.smoothed.certificate import log_certificate_two

        upper = max(found, log_certificate_two(n, T, epsilon, p1, p2, lower=found))
        return upper, found, f"certified bracket of relative width {math.expm1(upper - found):.1g}", True

    def _drawn(self, hull: Any, epsilon: float, samples: int, seed: int) -> tuple[float, float, str, bool]:
        """Estimate at every vertex and at their even mix."""
        from sordino.smoothed.montecarlo import estimate

        n = self.records
        # delta does not depend on the order of the types: vertices that are rearrangements of each other count once
        different = {tuple(sorted(row.round(12))): index for index, row in enumerate(hull)}
        mixes = [tuple(n if i == j else 0 for i in range(len(hull))) for j in different.values()]
        if len(hull) > 1:
            even = [n // len(hull)] * len(hull)
            even[0] += n - sum(even)
            mixes.append(tuple(even))
        found = [
            estimate(
                hull, mix, self.published, epsilon, samples=samples, seed=seed, replacement=self.replacement
            )
            for mix in mixes
        ]
        best = max(found, key=lambda one: one.mean)
        words = (
            f"Monte Carlo over {samples} databases, upper end of a {best.confidence:.0%} interval, "
            f"the largest of {len(mixes)} mixes tried"
        )
        if best.low == -math.inf < best.mean:
            words += "; not resolved (the interval reaches 0): rarer databases than were drawn carry the mean"
        if best.mean == -math.inf:
            best = max(found, key=lambda one: one.high)
            words = f"none of {samples} databases drawn leaks anything; bounded by Hoeffding's inequality"
        return best.high, best.low, words, False

    def log_delta(self, epsilon: float) -> float:
        """Return ln of the smoothed delta (its upper figure), for loops: without drawing where a bound is proved."""
        if self.types > 2 and not self.replacement and self.records > FEW:
            from sordino.smoothed.certificate import log_certificate_many

            worst = log_worst_case(self.records, self.published)
            proved = log_certificate_many(self.records, self.published, epsilon, vertices(self.distributions))
            if proved < worst - 1e-12:
                return proved
        return self.delta(epsilon=epsilon).log_delta

    def epsilon_for(self, *, delta: float | None = None) -> float:
        """Return the smallest epsilon with smoothed delta at most ``delta``, by default one over the records.

        Example:
            >>> from sordino import smoothed
            >>> round(smoothed.sampling(size=5_000, electorates=[0.4], published=0.9).epsilon_for(), 2)
            0.22
        """
        target = 1.0 / self.records if delta is None else float(between("smoothed", 0, 1, delta=delta))
        quick = self.types == 2 and self.records <= EXACT_TWO
        return smallest_epsilon(self.log_delta, target, digits=1e-6 if quick else 1e-3)

    def holdback(self, *, epsilon: float, delta: float) -> Holdback:
        """Return how many records must be held back for (epsilon, delta); what is published now plays no part.

        Example:
            >>> from sordino import smoothed
            >>> model = smoothed.sampling(size=100, electorates=[0.2], published=1)
            >>> model.holdback(epsilon=1.0, delta=0.001).held_back
            46
        """
        from sordino.smoothed.holdback import holdback

        return holdback(self, epsilon=epsilon, delta=delta)

    def profile(self, epsilons: Any) -> list[Leak]:
        """Return smoothed delta at several epsilons."""
        return [self.delta(epsilon=float(epsilon)) for epsilon in epsilons]

    def average_and_worst(self, *, epsilon: float) -> tuple[float, float, float]:
        """Return ln of the mean under the even mix, of the smoothed figure, and of the worst case, in rising order."""
        weights = np.full(len(self.distributions), 1.0 / len(self.distributions))
        middle = tuple(float(p) for p in weights @ np.asarray(self.distributions))
        single = Electorate(self.records, self.published, (middle,), self.replacement)
        figure = self.delta(epsilon=epsilon)
        return single.delta(epsilon=epsilon).log_delta, figure.log_delta, figure.log_worst
