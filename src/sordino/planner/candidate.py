"""Which mechanisms could answer a statistic at a price: the default first, then every other that public rules allow.

Data-free. Each candidate is a question that a session would accept, so a plan speaks of what a release would do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.catalogue import mechanisms
from sordino.errors import SordinoError
from sordino.hints import Hints
from sordino.privacy import Unit
from sordino.session.quote import Part, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.mechanisms import Mechanism
    from sordino.privacy import Guarantee, Neighbors
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to answer.

    Attributes:
        name: What the table calls it.
        part: The question as a session would put it.
        default: Whether `choose` takes it.
    """

    name: str
    part: Part
    default: bool = False

    @property
    def mechanism(self) -> Mechanism:
        """What answers."""
        return self.part.mechanism

    @property
    def adaptive(self) -> bool:
        """Whether the noise follows the data at hand; a global bound does not."""
        return self.mechanism.adaptive


def candidates(
    statistic: Statistic,
    price: Guarantee,
    *,
    rows: int | None,
    neighbors: Neighbors,
    hints: dict[str, Any],
    only_default: bool = False,
    groups: int | None = None,
) -> list[Candidate]:
    """All ways to answer; the first is the default.

    Args:
        statistic: What is asked.
        price: What it may cost.
        rows: How many rows there are; None where the statistic says how large its data are.
        neighbors: Which datasets the promise compares.
        hints: Public options of a release.
        only_default: Look for no other.
        groups: How many groups it is asked of, when it is asked by a column.

    Example:
        >>> from sordino.privacy import Neighbors, Pure
        >>> from sordino.statistics.median import Median
        >>> found = candidates(Median("x", low=0, high=100), Pure(1), rows=1000,
        ...                    neighbors=Neighbors.REPLACE_ONE, hints={})
        >>> found[0].name, "laplace (global)" in [one.name for one in found]
        ('quantile', True)
    """

    def asked(mechanism: Mechanism | None, given: dict[str, Any]) -> Part:
        rest = {name: value for name, value in given.items() if name != "interval"}
        question = prepare(
            statistic, price, neighbors=neighbors, unit=Unit(), rows=rows if rows is None else rows * (groups or 1),
            interval=given.get("interval"), mechanism=mechanism, hints=rest,
            by=None if groups is None else ("group", tuple(range(groups))),
        )  # fmt: skip
        moved.append(question.event.contribution)
        return question.parts[0]

    moved: list[int] = []

    first = asked(None, hints)
    found = [Candidate(first.mechanism.label, first, default=True)]
    if only_default:
        return found
    paid = price if groups is None else price.per_row(moved[0])
    smoothness = {name: hints[name] for name in ("smoothing", "spread") if hints.get(name) is not None}
    known = Hints(rows=rows, **smoothness)
    others: list[tuple[str, Mechanism | None]] = [
        *((one.label, one) for one in _others(first.statistic, paid, known)),
        *([("", None)] if hints else []),
    ]
    for name, mechanism in others:
        try:
            part = asked(mechanism, {})
        except SordinoError:
            continue  # no theorem, or not for this statistic: then it is not a way to answer
        called = name or f"{part.mechanism.label}, no hints"
        if all(part.mechanism != other.mechanism and called != other.name for other in found):
            found.append(Candidate(called, part))
    return found


def _others(statistic: Statistic, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
    """Mechanisms that can be built from public numbers and answer this very statistic."""
    for kind in mechanisms().values():
        try:
            yield from kind.alternatives(statistic, price, hints)
        except SordinoError:
            continue  # no theorem at this price
