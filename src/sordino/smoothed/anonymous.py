"""Any anonymous mechanism, given by the law of its output for every histogram: profile, utility, smoothed delta.

For small databases, by enumeration; this is the reference for the fast paths and the way to ask about mechanisms
that are not a tally (the winner only, a rounded tally, a quantised sum). Outputs are anything hashable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sordino.checks import non_negative, whole
from sordino.errors import ParameterError
from sordino.smoothed.hull import vertices as hull_vertices
from sordino.smoothed.simplex import largest_mean, table_of

Law = Mapping[Hashable, float]
Counts = tuple[int, ...]


def hockey_stick(first: Law, second: Law, epsilon: float) -> float:
    """Return the largest P(S) - e^eps Q(S) over sets of outputs.

    Example:
        >>> hockey_stick({"a": 0.75, "b": 0.25}, {"a": 0.5, "b": 0.5}, 0.0)
        0.25
    """
    factor = math.exp(epsilon)
    return math.fsum(max(0.0, p - factor * second.get(output, 0.0)) for output, p in first.items())


@dataclass(frozen=True, slots=True)
class Anonymous:
    """A mechanism whose output law depends on the histogram alone.

    Args:
        types: How many types a record can have.
        law: Maps a histogram (a tuple of counts) to the probabilities of the outputs.
        name: What it is called in messages.

    Example:
        >>> winner = Anonymous(2, lambda counts: {counts[0] > counts[1]: 1.0}, name="the winner")
        >>> winner.delta((3, 3), epsilon=1.0), winner.delta((5, 1), epsilon=1.0)
        (1.0, 0.0)
    """

    types: int
    law: Callable[[Counts], Law] = field(repr=False)
    name: str = "anonymous mechanism"

    def __post_init__(self) -> None:
        whole(self.name, at_least=2, types=self.types, why="With one type nobody has anything to hide.")

    def _law(self, counts: Counts) -> Law:
        law = self.law(counts)
        total = math.fsum(law.values())
        if abs(total - 1.0) > 1e-9 or any(p < 0 for p in law.values()):
            raise ParameterError(
                self.name,
                "the law must be a probability distribution for every histogram",
                got={"histogram": counts, "total": total},
                why="Privacy compares probabilities of outputs.",
                hint="return {output: probability, ...} that sum to 1",
            )
        return law

    def _neighbours(self, counts: Counts) -> list[Counts]:
        result = []
        for i in range(self.types):
            for j in range(self.types):
                if i != j and counts[i] > 0:
                    moved = list(counts)
                    moved[i] -= 1
                    moved[j] += 1
                    result.append(tuple(moved))
        return result

    def delta(self, counts: Counts, *, epsilon: float) -> float:
        """Return the profile of one database: the worst one-record replacement, both directions (Definition 2)."""
        price = float(non_negative(self.name, epsilon=epsilon))
        own = self._law(tuple(counts))
        worst = 0.0
        for other in self._neighbours(tuple(counts)):
            law = self._law(other)
            worst = max(worst, hockey_stick(own, law, price), hockey_stick(law, own, price))
        return worst

    def utility(self, others: Counts, *, epsilon: float) -> float:
        """Return the adjusted utility of an adversary who knows all records but one, eq. (3).

        The threshold is t = e^eps / (1 + e^eps); ``others`` are the n - 1 known records.
        """
        price = float(non_negative(self.name, epsilon=epsilon))
        t = 1.0 / (1.0 + math.exp(-price))
        laws = []
        for i in range(self.types):
            counts = list(others)
            counts[i] += 1
            laws.append(self._law(tuple(counts)))
        outputs = {output for law in laws for output in law}
        result = 0.0
        for truth in laws:
            gain = 0.0
            for output in outputs:
                masses = [law.get(output, 0.0) for law in laws]
                total = math.fsum(masses)
                if total > 0.0:
                    gain += truth.get(output, 0.0) * max(0.0, max(masses) / total - t)
            result = max(result, gain / (1.0 - t))
        return result

    def smoothed_delta(self, electorates: Any, *, records: int, epsilon: float) -> float:
        """Return the smoothed delta over a set of distributions (Definition 3), by Algorithm 1."""
        n = whole(self.name, at_least=1, records=records)
        table = table_of(n, self.types, lambda counts: self.delta(counts, epsilon=epsilon))
        return largest_mean(table, hull_vertices(electorates, subject=self.name))[0]

    def then(self, function: Callable[[Any], Any], *, name: str | None = None) -> Anonymous:
        """Return the mechanism followed by a function of its output, deterministic or giving a law.

        Post-processing never adds to delta (Proposition 4), neither for one database nor smoothed.
        """

        def law(counts: Counts) -> Law:
            result: dict[Hashable, float] = {}
            for output, mass in self._law(counts).items():
                image = function(output)
                parts = image if isinstance(image, Mapping) else {image: 1.0}
                for value, share in parts.items():
                    result[value] = result.get(value, 0.0) + mass * share
            return result

        return Anonymous(self.types, law, name=name or f"{self.name}, processed")


def sampled_tally(types: int, published: int, *, replacement: bool = False) -> Anonymous:
    """Return the sampling-histogram mechanism in this slow form, for comparison and for post-processing.

    Example:
        >>> round(sampled_tally(3, 46).delta((32, 5, 18), epsilon=0.0), 12)
        0.437269143117
    """

    def law(counts: Counts) -> Law:
        n = sum(counts)
        result: dict[Hashable, float] = {}

        def fill(chosen: Counts, left: int, weight: int) -> None:
            index = len(chosen)
            if index == types - 1:
                if replacement or left <= counts[index]:
                    result[(*chosen, left)] = weight * _ways(counts[index], left)
                return
            for take in range(left + 1 if replacement else min(left, counts[index]) + 1):
                fill((*chosen, take), left - take, weight * _ways(counts[index], take))

        def _ways(available: int, take: int) -> int:
            return available**take if replacement else math.comb(available, take)

        fill((), published, 1)
        if replacement:
            for output in list(result):
                assert isinstance(output, tuple)
                orders = math.factorial(published) // math.prod(math.factorial(part) for part in output)
                result[output] = result[output] * orders / n**published
            return result
        return {output: ways / math.comb(n, published) for output, ways in result.items()}

    return Anonymous(types, law, name="sampled tally")
