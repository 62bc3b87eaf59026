"""The plan of a table or of keys to be found: their noise is public, so no data are drawn for it.

Deviations and bars of every margin beside plain noise on each; thresholds of sparse tables; from how many people on a
key is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.layout import aligned
from sordino.mechanisms.table.pure_split import geometric_variance
from sordino.privacy import Guarantee, Neighbors, Unit
from sordino.reading.traits import Trait
from sordino.session.quote import prepare

if TYPE_CHECKING:
    from sordino.session.quote import Part
    from sordino.statistics import Statistic

TRAITS = frozenset({Trait.MARGINS, Trait.LEVELS, Trait.CELLS, Trait.KEYS})
"""What is planned here."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What to expect of a table or of keys at a price; public.

    Attributes:
        statistic: What would be asked.
        price: What it may cost.
        mechanism: What would answer.
        header: Names of the columns below.
        lines: One line per margin, or one in all: what it is about, and numbers.
        notes: What else is known beforehand, in sentences.

    Example:
        >>> from sordino.privacy import Approx
        >>> from sordino.statistics.keys import Keys
        >>> print(plan_table(Keys(("town",)), Approx(1, 1e-6), neighbors=Neighbors.ADD_REMOVE_ONE))
        keys town at Approx(epsilon=1, delta=1e-06), add-remove-one: by discovery
          keys                                    people
          shown at least half the time, from on       14
    """

    statistic: Statistic
    price: Guarantee
    mechanism: str
    neighbors: Neighbors
    header: tuple[str, ...]
    lines: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self, width: int | None = None) -> str:
        """As text."""
        from sordino.labels import name

        rows = tuple(
            tuple(one if isinstance(one, str) else f"{one:.3g}" for one in line) for line in self.lines
        )
        head, body = aligned(self.header, rows, width=width, right=range(1, len(self.header)))
        title = (
            f"{name(self.statistic.to_dict())} at {self.price!r}, {self.neighbors.value}: by {self.mechanism}"
        )
        return "\n".join(
            [title, *(f"  {line}".rstrip() for line in (*head, *body)), *(f"  {note}" for note in self.notes)]
        )

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "statistic": self.statistic.to_dict(),
            "price": self.price.to_dict(),
            "mechanism": self.mechanism,
            "neighbors": self.neighbors.value,
            "lines": [dict(zip(self.header, line, strict=True)) for line in self.lines],
            "notes": list(self.notes),
        }


def plan_table(
    statistic: Statistic, price: Guarantee, *, neighbors: Neighbors, unit: Unit | None = None, **hints: Any
) -> TablePlan:
    """Plan a table or keys from public numbers; whatever a release would refuse is refused here."""
    question = prepare(statistic, price, neighbors=neighbors, unit=unit or Unit(), hints=hints)
    (part,) = question.parts
    made: Any = part.mechanism
    asked: Any = part.statistic
    if Trait.KEYS in asked.traits:
        header: tuple[str, ...] = ("keys", "people")
        lines: tuple[tuple[Any, ...], ...] = (
            ("shown at least half the time, from on", made.even(asked, part.contribution)),
        )
        return TablePlan(statistic, price, made.name, neighbors, header, lines)
    if Trait.CELLS in asked.traits:
        law = made.listing(asked, part.contribution)
        scale, gaussian = made.noise(asked, part.contribution)
        size = float(scale) if gaussian else math.sqrt(geometric_variance(float(1 / scale)))
        lines = ((f"{asked.cells:,} cells", size, law.threshold, law.empty * asked.cells),)
        header = ("table", "deviation", "listed from", "false cells")
        notes = (
            ("found from the noisy table instead, so that its squared error is small",)
            if made.chosen_by_risk(asked)
            else ()
        )
        return TablePlan(statistic, price, made.name, neighbors, header, lines, notes)
    return _margins(statistic, price, neighbors, part)


def _margins(statistic: Statistic, price: Guarantee, neighbors: Neighbors, part: Part) -> TablePlan:
    """Deviations of every margin, and of plain noise with an equal split."""
    made: Any = part.mechanism
    asked: Any = part.statistic
    plain = plain_deviation(asked, price, part.contribution)
    lines = tuple(
        (
            ", ".join(margin) or "total",
            own := made.deviation(asked, axes, part.contribution),
            1.96 * own,
            plain,
            own / plain,
        )
        for margin, axes in zip(asked.margins, asked.axes, strict=True)
    )
    header = ("margin", "deviation", "95 % bar +-", "plain noise", "ratio")
    root = math.sqrt(sum(line[1] ** 2 for line in lines) / len(lines))
    notes = (f"root mean square over margins {root:.3g}, plain noise {plain:.3g}",)
    return TablePlan(statistic, price, made.name, neighbors, header, lines, notes)


def plain_deviation(statistic: Any, price: Guarantee, contribution: int = 1) -> float:
    """Deviation of noise on every margin by itself, with equal parts of the price."""
    from sordino.mechanisms.table.margins import gaussian_price, pure_price

    many = len(statistic.margins)
    twice = 2 if statistic.neighbors is Neighbors.REPLACE_ONE else 1
    found = []
    epsilon, rho = pure_price(price), gaussian_price(price)
    if epsilon is not None:
        found.append(math.sqrt(geometric_variance(float(epsilon) / (many * twice * contribution))))
    if rho is not None:
        found.append(contribution * math.sqrt(twice * many / (2 * float(rho))))
    return min(found)
