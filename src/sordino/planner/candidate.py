"""Which mechanisms could answer a statistic at a price: the default first, then every other that public rules allow.

Data-free. Each candidate is a question that a session would accept, so a plan speaks of what a release would do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Any

from sordino.catalogue import mechanisms, noise_families
from sordino.errors import SordinoError
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.additive.error_bar import WithErrorBar
from sordino.mechanisms.additive.smoothing import public_smoothing
from sordino.privacy import Unit
from sordino.session.quote import Part, prepare

if TYPE_CHECKING:
    from sordino.mechanisms import Mechanism
    from sordino.privacy import Guarantee, Neighbors
    from sordino.statistics import Statistic

GLOBAL = ("laplace", "gaussian")
SELECTIONS = ("selection",)
FIXED = ("additive-vector", "geometric")  # noise scaled to a global bound


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
        inner = self.mechanism.mechanism if isinstance(self.mechanism, WithErrorBar) else self.mechanism
        if isinstance(inner, Additive):
            return inner.calibration.smoothing > 0
        return inner.name not in FIXED


def candidates(
    statistic: Statistic,
    price: Guarantee,
    *,
    rows: int | None,
    neighbors: Neighbors,
    hints: dict[str, Any],
    only_default: bool = False,
) -> list[Candidate]:
    """All ways to answer; the first is the default.

    Args:
        statistic: What is asked.
        price: What it may cost.
        rows: How many rows there are; None where the statistic says how large its data are.
        neighbors: Which datasets the promise compares.
        hints: Public options of a release.
        only_default: Look for no other.

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
            statistic, price, neighbors=neighbors, unit=Unit(), rows=rows, interval=given.get("interval"),
            mechanism=mechanism, hints=rest,
        )  # fmt: skip
        return question.parts[0]

    first = asked(None, hints)
    found = [Candidate(label(first.mechanism), first, default=True)]
    if only_default:
        return found
    others: list[tuple[str, Mechanism | None]] = [
        *((label(one), one) for one in _others(first.statistic, price, rows, hints)),
        *([("", None)] if hints else []),
    ]
    for name, mechanism in others:
        try:
            part = asked(mechanism, {})
        except SordinoError:
            continue  # no theorem, or not for this statistic: then it is no way to answer
        called = name or f"{label(part.mechanism)}, no hints"
        if all(part.mechanism != other.mechanism and called != other.name for other in found):
            found.append(Candidate(called, part))
    return found


def label(mechanism: Mechanism) -> str:
    """The name of a mechanism in a table: additive noise goes by its family."""
    if isinstance(mechanism, WithErrorBar):
        return f"{label(mechanism.mechanism)} + error bar"
    if not isinstance(mechanism, Additive):
        return mechanism.name
    noise = mechanism.calibration.noise
    return f"{noise.name} (global)" if mechanism.calibration.smoothing == 0 else noise.name


def _others(statistic: Any, price: Guarantee, rows: int | None, hints: dict[str, Any]) -> Iterator[Mechanism]:
    """Mechanisms that can be built from public numbers and answer this very statistic."""
    look = None if rows is None else 2 * rows + 64
    for kind in mechanisms().values():
        fields = dataclasses.fields(kind)  # type: ignore[arg-type]
        needed = {one.name for one in fields if one.default is dataclasses.MISSING
                  and one.default_factory is dataclasses.MISSING}  # fmt: skip
        # A mechanism that asks rows by itself answers a statistic of its own; `choose` knows which.
        if needed != {"price"} or not set(kind.needs) <= {"profile", "reach", "counts"}:
            continue
        # A selection names one of the keys, which is what a mode asks for and nothing else does.
        if (kind.name in SELECTIONS) != (statistic.name == "mode"):
            continue
        more = {"look": look} if any(one.name == "look" for one in fields) else {}
        try:
            yield kind(price=price, **more)  # type: ignore[call-arg]
        except SordinoError:
            continue
    if statistic.vector:
        return
    smoothing = smoothing_for(statistic, price, rows, hints)
    for family in noise_families().values():
        if type(price) not in family.promises():
            continue
        for gamma in (smoothing, Fraction(0)):
            if gamma == 0 and family.name not in GLOBAL:
                continue
            try:
                mechanism = Additive(calibration=family.calibrate(price, smoothing=gamma))
            except SordinoError:
                continue
            far = look is not None and mechanism.depth > look
            yield dataclasses.replace(mechanism, look=look) if far else mechanism


def smoothing_for(statistic: Any, price: Guarantee, rows: int | None, hints: dict[str, Any]) -> Fraction:
    """The smoothing of the public rule (docs/explanation/which_mechanism.md), or the caller's."""
    if hints.get("smoothing") is not None:
        return Fraction(hints["smoothing"])
    share = _share(statistic)
    if share is None or rows is None:
        return Fraction(f"{0.1 * price.strength:.4g}")
    width = float(Fraction(statistic.high) - Fraction(statistic.low))
    return public_smoothing(
        price, decades=log(width / (hints.get("spread") or width / 1000)), trimmed=share * rows
    )


def _share(statistic: Any) -> float | None:
    """The share of rows that must change before the bounds are reached, where a field says it."""
    if getattr(statistic, "trim", None) is not None:
        return float(statistic.trim)
    q = getattr(statistic, "q", None)
    return None if q is None else min(float(q), 1 - float(q))
