"""One interval for the values of all groups: found in all rows, then every group is answered within it.

The open room: what is decided here is decided before anything is spent, or from numbers that were published. What finds
the interval is a release of two quantiles of all rows; the prices add up (docs/proofs/shared_interval.md).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino import labels
from sordino.errors import ParameterError, Unsupported
from sordino.mechanisms.tuned_tables import ForShared
from sordino.privacy import Guarantee, compose
from sordino.session.quote import Part, Question, prepare
from sordino.statistics import Statistic
from sordino.statistics.mean import Mean
from sordino.statistics.quantiles import Quantiles
from sordino.statistics.sum import Sum

if TYPE_CHECKING:
    from sordino.mechanisms import Answer
    from sordino.reading.split import Split

SCALES = ("own", "shared")


@dataclass(frozen=True, slots=True)
class SharedInterval:
    """How groups are answered once the interval is known; public.

    Attributes:
        finding: The question that finds it.
        statistic: What is asked of every group.
        price: What is left for the groups.
        options: The arguments of `prepare`.
    """

    finding: Part
    statistic: Any
    price: Guarantee
    options: dict[str, Any]

    def within(self, question: Question, answer: Answer) -> Question:
        """The question about groups, within the interval that was published."""
        assert isinstance(answer.value, tuple)
        low, high = self._ends(*(float(end) for end in answer.value))
        narrow = dataclasses.replace(self.statistic, low=low, high=high)
        asked = prepare(narrow, self.price, **self.options)
        assert question.event.by is not None
        told = {**question.event.by["shared"], "low": low, "high": high}
        event = replace(question.event, by={**question.event.by, "shared": told})
        line = (
            f"The values of all groups were cut to {labels.shown(low)} to {labels.shown(high)}: an answer is that of "
            "the values so cut."
        )
        return replace(asked, event=event, assumptions=(*question.assumptions, line))

    def _ends(self, low: float, high: float) -> tuple[float, float]:
        """The interval, which has a length whatever was drawn."""
        first, last = float(self.statistic.low), float(self.statistic.high)
        shortest = (last - first) / 2**20
        low, high = max(first, min(low, high)), min(last, max(low, high))
        if high - low < shortest:
            low = max(first, min(low, last - shortest) - shortest)
            high = min(last, low + 2 * shortest)
        return low, high


def prepare_shared(statistics: Any, price: Any, *, by: Split, **options: Any) -> Question:
    """The question of a release by groups whose values are cut to one interval; arguments as for `prepare`."""
    statistic, rows = _checked(statistics, price, by, options)
    groups = len(by)
    beyond = max(ForShared.BEYOND, ForShared.ROWS / (ForShared.MOST * groups))
    share = max(ForShared.ROWS / (beyond * groups), ForShared.LEAST)
    rest = price.share(1 - share)
    tail = min(beyond * groups / (Fraction(f"{rest.strength:.4g}") * max(rows, 1)), ForShared.OUTER)
    fields = {name: getattr(statistic, name) for name in ("low", "high", "step", "missing")}
    ends = Quantiles(statistic.column, qs=(tail, 1 - tail), **fields)
    common = {name: options[name] for name in ("neighbors", "unit", "rows", "where") if name in options}
    first = prepare(ends, price.share(share), **common)
    (finding,) = first.parts
    hints = {**(options.get("hints") or {}), "tight": True}
    told = {**options, "by": by, "hints": hints}
    then = prepare(statistic, rest, **told)
    drawn = {"quantiles": [float(tail), float(1 - tail)], "drawn_by": finding.mechanism.to_dict()}
    said = [line for line in first.assumptions if line not in then.assumptions]
    return replace(
        then,
        event=replace(
            then.event,
            guarantee=compose([first.event.guarantee, then.event.guarantee]),
            by={**by.record, "shared": drawn},
        ),
        assumptions=(*then.assumptions, *said),
        shared=SharedInterval(finding, statistic, rest, told),
    )


def _checked(statistics: Any, price: Any, by: Split, options: dict[str, Any]) -> tuple[Any, int]:
    """Refuse what an interval for all groups does not go with, before anything is spent."""
    asked = (statistics,) if isinstance(statistics, Statistic) else tuple(statistics)
    if len(asked) != 1 or type(asked[0]) not in (Mean, Sum) or not isinstance(statistics, Statistic):
        raise Unsupported(
            "release_by", 'scale="shared" is for one mean or sum', got={"statistics": [one.name for one in asked]},
            why="Values beyond an interval are cut to it, which leaves other statistics without a meaning.",
            hint='release_by("region", keys, sd.Mean("income", low=0, high=500_000), sd.Pure(1), scale="shared")',
        )  # fmt: skip
    if by.discover is not None or options.get("mechanism") is not None or options.get("interval") is not None:
        raise Unsupported(
            "release_by", 'scale="shared" takes known keys, no interval= and no mechanism=',
            why="How many groups share the interval decides where it ends, and a bar would not cover what was cut.",
            hint='leave the others out, or scale="own"',
        )  # fmt: skip
    if not isinstance(price, Guarantee):
        raise ParameterError("release_by", 'scale="shared" takes one price in all', hint="sd.Pure(1)")
    rows = options.get("rows")
    if rows is None:
        raise ParameterError(
            "release_by", 'scale="shared" needs the number of rows, roughly',
            why="How many of them may be cut decides where the interval ends.", hint="sd.open(..., rows=50_000)",
        )  # fmt: skip
    return asked[0], int(rows)
