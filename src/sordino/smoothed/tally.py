"""A tally of which a random part is published: its privacy profile and the questions about it.

``Tally`` is about one database, ``Electorate`` (next file) about all that a set of distributions may produce.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sordino.checks import between, non_negative, whole
from sordino.errors import ParameterError
from sordino.smoothed.counts import published_of, tally
from sordino.smoothed.histogram import log_delta_counts
from sordino.smoothed.leak import Leak

if TYPE_CHECKING:
    from sordino.smoothed.holdback import Holdback
    from sordino.smoothed.table import TableAnswer

LARGEST_EPSILON = 700.0


def log_worst_case(n: int, T: int, *, replacement: bool = False) -> float:
    """Return ln delta of ordinary differential privacy at any finite epsilon: the chance that a record is seen.

    T/n without replacement (Theorem 3(iii) of Liu, Wang and Xia 2023, with equality), 1 - (1 - 1/n)^T with.

    Example:
        >>> round(math.exp(log_worst_case(500, 499)), 6)
        0.998
    """
    if not replacement:
        return math.log(T / n)
    return 0.0 if n == 1 else math.log(-math.expm1(T * math.log1p(-1.0 / n)))


def smallest_epsilon(log_delta: Any, target: float, *, digits: float = 1e-6) -> float:
    """Return the smallest epsilon at which a falling function log_delta(epsilon) is at most ln target.

    Infinite when even a huge epsilon is not enough.
    """
    limit = math.log(target)
    if log_delta(0.0) <= limit:
        return 0.0
    high = 1.0
    while log_delta(high) > limit:
        if high >= LARGEST_EPSILON:
            return math.inf
        high = min(high * 4.0, LARGEST_EPSILON)
    low = 0.0 if high == 1.0 else high / 4.0
    while high - low > digits * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if log_delta(middle) <= limit else (middle, high)
    return high


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts by category, of which ``published`` records, drawn at random, are published as a tally.

    Made by :func:`sordino.smoothed.sampling`.

    Attributes:
        categories: The names of the types.
        counts: How many records each type has; private until published.
        published: How many records are published.
        replacement: Whether the sample is drawn with replacement.
    """

    categories: tuple[str, ...]
    counts: tuple[int, ...] = field(repr=False)
    published: int
    replacement: bool = False

    def __repr__(self) -> str:
        parts = ", ".join(f"{n} {c:,}" for n, c in zip(self.categories[:6], self.counts[:6], strict=True))
        more = f", ... {len(self.counts)} categories" if len(self.counts) > 6 else ""
        how = " with replacement" if self.replacement else ""
        return f"<tally of {self.records:,} records ({parts}{more}); {self.published:,} published{how}>"

    @property
    def records(self) -> int:
        """How many records there are."""
        return sum(self.counts)

    @property
    def held_back(self) -> int:
        """How many records are not published."""
        return max(0, self.records - self.published)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Say what makes the figures large whatever epsilon is."""
        result = []
        if not self.replacement and self.held_back == 0:
            result.append("everything is published: nothing is hidden, delta is 1")
        rare = [
            name
            for name, count in zip(self.categories, self.counts, strict=True)
            if count * self.held_back < 10 * self.records
        ]
        if rare and self.held_back:
            listed = ", ".join(rare[:5]) + (" and others" if len(rare) > 5 else "")
            result.append(
                f"too few records to hide behind in: {listed}; fewer than ten of such a category are held back on "
                "average, so its records may show"
            )
        return tuple(result)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "kind": "tally",
            "counts": dict(zip(self.categories, self.counts, strict=True)),
            "published": self.published,
            "replacement": self.replacement,
        }

    def log_delta(self, epsilon: float) -> float:
        """Return ln delta at one epsilon, for loops."""
        return log_delta_counts(self.counts, self.published, epsilon, replacement=self.replacement)

    def delta(self, *, epsilon: float) -> Leak:
        """Return delta at epsilon for this tally, exactly, with the worst case beside it.

        Example:
            >>> from sordino import smoothed
            >>> smoothed.sampling(records=[81_283_501, 74_223_975], published=0.998).delta(epsilon=0.04)
            <delta(0.04) = 1.22e-32 for this tally; worst case 0.998; 155,196,462 of 155,507,476 records ...; exact>
        """
        price = float(non_negative("smoothed", epsilon=epsilon))
        worst = log_worst_case(self.records, self.published, replacement=self.replacement)
        log_delta = min(self.log_delta(price), worst)
        return Leak(
            epsilon=price,
            log_delta=log_delta,
            log_lower=log_delta,
            log_worst=worst,
            records=self.records,
            published=self.published,
            about="this tally",
            method="exact",
            warnings=self.warnings,
            replacement=self.replacement,
        )

    def epsilon_for(self, *, delta: float | None = None) -> float:
        """Return the smallest epsilon with delta(epsilon) at most ``delta``, by default one over the records.

        Infinite when no epsilon reaches it, because a rare record may simply be seen.

        Example:
            >>> from sordino import smoothed
            >>> round(smoothed.sampling(records=[60_000, 40_000], published=0.98).epsilon_for(), 3)
            0.145
        """
        target = 1.0 / self.records if delta is None else float(between("smoothed", 0, 1, delta=delta))
        return smallest_epsilon(self.log_delta, target)

    def profile(self, epsilons: Any) -> list[Leak]:
        """Return delta at several epsilons."""
        return [self.delta(epsilon=float(epsilon)) for epsilon in epsilons]

    def holdback(self, *, epsilon: float, delta: float) -> Holdback:
        """Return how many records must be held back for (epsilon, delta); what is published now plays no part.

        Example:
            >>> from sordino import smoothed
            >>> smoothed.sampling(records=[5_200, 4_800], published=0.9).holdback(epsilon=0.5, delta=1e-6).held_back
            265
        """
        from sordino.smoothed.holdback import holdback

        return holdback(self, epsilon=epsilon, delta=delta)

    def table(self, *, epsilon: float, delta: float | None = None) -> TableAnswer:
        """Say whether the table may show all its categories; see :func:`sordino.smoothed.table.table`."""
        from sordino.smoothed.table import table

        return table(self, epsilon=epsilon, delta=delta)

    def utility(self, *, epsilon: float) -> float:
        """Return ln of the utility of an adversary who knows all records but one (two categories).

        For more categories :meth:`sordino.smoothed.Anonymous.utility` enumerates small databases and
        :func:`sordino.smoothed.utility_bound` bounds it.
        """
        from sordino.smoothed.utility import log_utility_two

        if len(self.counts) != 2 or self.replacement:
            raise ParameterError(
                "adversary's utility",
                "the fast form needs two categories and sampling without replacement",
                got={"categories": len(self.counts)},
                why="With more, the guess depends on all counts at once.",
                hint="smoothed.utility_bound(delta, epsilon=..., types=...)",
            )
        price = float(non_negative("smoothed", epsilon=epsilon))
        return log_utility_two(self.records, self.counts[0], self.published, price)

    def group(self, size: int, *, epsilon: float) -> Leak:
        """Return delta when up to ``size`` people of a two-category tally are protected together.

        Example:
            >>> from sordino import smoothed
            >>> vote = smoothed.sampling(records=[6_000, 4_000], published=0.9)
            >>> vote.group(1, epsilon=0.5).delta == vote.delta(epsilon=0.5).delta
            True
            >>> vote.group(5, epsilon=0.5).delta > vote.delta(epsilon=0.5).delta
            True
        """
        from sordino.smoothed.groups import log_group_delta

        people = whole("smoothed", at_least=1, size=size)
        if people == 1:
            return self.delta(epsilon=epsilon)
        if len(self.counts) != 2 or self.replacement:
            raise ParameterError(
                "groups",
                "exact figures need two categories and sampling without replacement",
                got={"categories": len(self.counts)},
                why="With more, a group can spread over many categories.",
                hint="smoothed.generic_group(log_delta, epsilon=..., size=...)",
            )
        price = float(non_negative("smoothed", epsilon=epsilon))
        found = log_group_delta(self.records, self.counts[0], people, self.published, price)
        worst = _log_any_seen(self.records, self.published, people)
        return Leak(
            price,
            found,
            worst,
            self.records,
            self.published,
            "this tally",
            f"exact, for groups of up to {people}",
            found,
            self.warnings,
        )

    def repeat(self, times: int, *, epsilon: float, adaptive: bool = False) -> Leak:
        """Return delta of publishing tallies of several independent samples, fixed beforehand.

        Example:
            >>> from sordino import smoothed
            >>> twice = smoothed.sampling(records=[600, 400], published=0.9).repeat(2, epsilon=1.0)
            >>> twice.width < 0.01
            True
        """
        from sordino.smoothed.composition import compose
        from sordino.smoothed.repeated import log_repeated_counts

        count = whole("smoothed", at_least=1, times=times)
        price = float(non_negative("smoothed", epsilon=epsilon))
        if adaptive:
            compose([], adaptive=True)
        n, T = self.records, self.published
        seen = log_worst_case(n, T, replacement=self.replacement)
        worst = math.log(-math.expm1(count * math.log1p(-math.exp(seen)))) if seen < 0.0 else 0.0
        if self.replacement:
            # the totals of all draws say as much as the tallies one by one: one release of so many draws
            low = high = log_delta_counts(self.counts, T * count, price, replacement=True)
            method = f"{count} releases, exact"
        else:
            low, high = log_repeated_counts(self.counts, T, count, price)
            method = f"{count} releases" + (", certified bracket" if count > 1 else ", exact")
        low, high = min(low, worst), min(high, worst)
        return Leak(price, high, worst, n, T, "this tally", method, low, self.warnings, self.replacement)


def _log_any_seen(n: int, T: int, size: int) -> float:
    """Return ln of the chance that at least one of ``size`` records is among the T published."""
    if n - T < size:
        return 0.0
    missed = sum(math.log1p(-T / (n - i)) if n - i > T else -math.inf for i in range(size))
    return math.log(-math.expm1(missed)) if missed < 0.0 else -math.inf


def sampling(
    *,
    records: Any = None,
    published: Any = None,
    held_back: Any = None,
    size: int | None = None,
    electorates: Any = None,
    replacement: bool = False,
) -> Any:
    """Describe publishing a random part of the records as a tally.

    Args:
        records: Counts by category (a list, or names with counts), for the figures of this one tally.
        published: How much is published: a whole number of records, or a share of all (rounded up).
        held_back: The other way to say it.
        size: How many records there will be, for smoothed figures before there is a tally.
        electorates: The distributions a record may come from; a number p stands for (p, 1 - p).
        replacement: Whether the published records are drawn with replacement.

    Returns:
        A :class:`Tally`, or an :class:`~sordino.smoothed.Electorate` when ``size`` and ``electorates`` are given.

    Example:
        >>> sampling(records={"yes": 5_200, "no": 4_800}, held_back=0.05)
        <tally of 10,000 records (yes 5,200, no 4,800); 9,500 published>
        >>> sampling(size=10_000, electorates=[0.55, 0.45], published=500)
        <10,000 records from 2 electorates of 2 types; 500 published>
    """
    if (records is None) == (size is None or electorates is None):
        raise ParameterError(
            "smoothed",
            "give either the records of one tally, or a size and electorates",
            why="The first asks about one database, the second about all that the electorates may produce.",
            hint="sampling(records=[5200, 4800], published=0.998)",
        )
    if records is not None:
        names, counts = tally(records)
        T = published_of(sum(counts), published=published, held_back=held_back, replacement=replacement)
        return Tally(names, counts, T, replacement)
    from sordino.smoothed.electorate import Electorate
    from sordino.smoothed.hull import distributions

    n = whole("smoothed", at_least=1, size=size, hint="size=10000")
    T = published_of(n, published=published, held_back=held_back, replacement=replacement)
    table = distributions(electorates)
    return Electorate(n, T, tuple(tuple(float(p) for p in row) for row in table), replacement)
