"""Cases of mechanisms: built for every statistic of the catalogue that they suit, at every kind of price.

The laws and the replay (`sordino.testing`) are run on them. A mechanism that offers itself needs no line for them;
one that is only ever built by hand says in its own `cases` how.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.coverage import Sample
from sordino.errors import SordinoError
from sordino.hints import Hints
from sordino.privacy import Approx, BoundedRange, Concentrated, Neighbors, Pure, TruncatedConcentrated
from sordino.statistics import Case, kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sordino.mechanisms import Mechanism
    from sordino.privacy import Guarantee

    Offered = tuple[Case, Guarantee, dict[str, Any], list[Mechanism]]

PRICES: tuple[Guarantee, ...] = (
    Pure(1),
    Concentrated(Fraction(1, 2)),
    Approx(1, Fraction(1, 1000)),
    TruncatedConcentrated(Fraction(1, 2), 12),
    BoundedRange(1),
)
"""One of every kind of price that a mechanism may take."""

ROWS = 1000
"""The declared number of rows: more than a tiny table has, so that every step of a search happens."""

HINTS: tuple[dict[str, Any], ...] = (
    {"rows": ROWS},
    {},
    {"rows": ROWS, "interval": Sample(0.9)},
    {"rows": ROWS, "tight": True},
    {"rows": ROWS, "loose": True},
    {"rows": ROWS, "centre": 3.0, "spread": 2.0},
    {"rows": 4000, "symmetric": True},
    {"rows": 80},
)
"""What a caller may say; the first two make the defaults."""

WIDE = (0, 3, 5, 8, 21, 500, 999, 1000)
"""Rows of a column whose bounds are far too wide for most of it."""


@dataclass(frozen=True, slots=True)
class MechanismCase:
    """A mechanism and a world of tables that it answers about.

    Attributes:
        mechanism: What answers.
        world: The statistic, and what a row may be.
        hints: What was said when it was built; empty where it was built by hand.
        default: Whether it is what a release takes when nothing but the rows is known.
    """

    mechanism: Mechanism
    world: Case
    hints: tuple[tuple[str, Any], ...] = ()
    default: bool = False

    @property
    def label(self) -> str:
        """In a few words."""
        statistic = self.world.statistic
        said = "".join(f", {name}" for name, _ in self.hints)
        kind = self.mechanism.guarantee.kind
        return f"{self.mechanism.name} of {statistic.name}, {statistic.neighbors.value}, {kind}{said}"


def worlds() -> Iterator[Case]:
    """One tiny world for every statistic, relation, norm and set of traits, and a wide one of every numeric column."""
    seen = set()
    for name, kind in sorted(kinds().items()):
        for case in kind.cases():
            statistic = case.statistic
            if statistic.neighbors is Neighbors.REPLACE_ONE and getattr(statistic, "missing", None) == "drop":
                continue  # read in its add/remove form, which is a case of its own
            key = name, statistic.neighbors, statistic.norm, statistic.traits
            if key in seen:
                continue
            seen.add(key)
            yield case
            wide = widened(case)
            if wide is not None:
                yield wide


def widened(case: Case) -> Case | None:
    """The same statistic of a column from 0 to 1000; None where it has no bounds."""
    statistic: Any = case.statistic
    names = {field.name for field in dataclasses.fields(statistic)}
    if not {"low", "high", "step", "column"} <= names or len(case.columns) != 1:
        return None
    try:
        wide = dataclasses.replace(statistic, low=0, high=1000, step=Fraction(1, 2**20))
    except SordinoError:
        return None
    return Case(wide, tuple((float(value),) for value in WIDE), case.sizes, case.columns)


def offered(kind: type[Mechanism], *, shows: bool = True) -> Iterator[MechanismCase]:
    """All that a mechanism offers and, unless they are left out, what it shows as alternatives, once each."""
    from sordino.mechanisms import kinds as mechanisms

    seen = set()
    for world, price, hints, offers in _offers(tuple(mechanisms().items()), tuple(kinds().items())):
        statistic, first, shown = world.statistic, hints in HINTS[:2], shows and hints is HINTS[0]
        for mechanism in (*offers, *(_alternatives(kind, statistic, price, hints) if shown else ())):
            default, first = first, False
            if type(mechanism) is not kind or mechanism.refusal(statistic) is not None:
                continue
            key = repr(mechanism), repr(statistic)
            if key not in seen:
                seen.add(key)
                yield MechanismCase(mechanism, world, tuple(hints.items()), default)


@functools.lru_cache(maxsize=1)
def _offers(
    known: tuple[tuple[str, type[Mechanism]], ...], statistics: tuple[tuple[str, Any], ...]
) -> list[Offered]:
    """What the mechanisms of every statistic offer in every world: worked out once, and anew for another catalogue."""
    del statistics  # the worlds are theirs
    named = dict(known)
    return [
        (world, price, hints, [*_built(named, world.statistic, price, Hints(**hints))])
        for world in worlds()
        for price in PRICES
        for hints in HINTS
    ]


def _built(
    known: dict[str, type[Mechanism]], statistic: Any, price: Guarantee, hints: Hints
) -> Iterator[Mechanism]:
    """What the statistic's own mechanisms offer."""
    for name in statistic.suited:
        with contextlib.suppress(SordinoError):  # a price or a hint that it does not take
            yield from known[name].offers(statistic, price, hints)


def _alternatives(
    kind: type[Mechanism], statistic: Any, price: Guarantee, hints: dict[str, Any]
) -> Iterator[Mechanism]:
    """What a mechanism shows beside what is offered."""
    with contextlib.suppress(SordinoError):
        yield from kind.alternatives(statistic, price, Hints(**hints))
