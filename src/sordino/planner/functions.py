"""The plan of any function: how many blocks, how large, and how much privacy adds to the error of the function itself.

How far the function is off on its own depends on the function, so errors are given as factors, or, with public rows
(``assume=``), as what blocks of such rows say.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino import checks
from sordino.errors import Unsupported
from sordino.mechanisms.blocks.plan import BlockPlan, blocks_needed, error_factor, output_share
from sordino.privacy import Guarantee, Neighbors, Unit
from sordino.session.quote import prepare

if TYPE_CHECKING:
    from sordino.statistics.function import Function


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """What to expect of a function at a price; public.

    Attributes:
        statistic: What would be asked.
        price: What it may cost.
        blocks: How many blocks.
        needed: How many it takes to find the answer in its range.
        rows: The public or declared number of rows, or of people; of each group.
        rows_per_block: About so many are in a block.
        debias: Parts of the jackknife inside a block.
        factor: About how many times the error of the function on all rows an answer has.
        least_rows: From so many rows on it is not refused.
        interval: Probability of an interval for the population, when one is asked for.
        groups: Of how many groups it is asked, each with so many rows.
    """

    statistic: Function
    price: Guarantee
    blocks: int
    needed: int
    rows: int
    rows_per_block: int
    debias: int
    factor: float
    least_rows: int
    interval: float | None = None
    groups: int | None = None

    @property
    def evaluations(self) -> int:
        """How often the function is run."""
        return self.blocks * (1 + self.debias) * (self.groups or 1)

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """The plan as text.

        Args:
            width: How wide a line may be; as wide as needed where nothing is said.
        """
        parts = "" if self.groups is None else f" in each of {self.groups:,} groups"
        jackknife = f" (1 + {self.debias} each, for the jackknife)" if self.debias else ""
        lines = [
            f"function {self.statistic.label} at {self.price!r}, {self.rows:,} rows{parts}",
            f"  {self.blocks:,} blocks of about {self.rows_per_block:,} rows; {self.evaluations:,} runs{jackknife}",
            f"  error: about {self.factor:.2f} times that of the function on all rows"
            + ("" if self.groups is None else " of a group"),
        ]
        if self.interval is not None:
            lines.append(f"  with an interval for the population, {100 * self.interval:g} times in 100")
        if self.blocks < self.needed:
            lines.append(
                f"  the range may be missed: {self.needed:,} blocks are needed to find the answer in it"
            )
        lines.append(f"  at this price {self.least_rows:,} rows would do{parts}")
        lines.append(
            "  rehearse on public rows first: Function.rehearse(example) shows failures, times and spread"
        )
        if width is None:
            return "\n".join(lines)
        return "\n".join(textwrap.fill(line, max(width, 40), subsequent_indent="    ") for line in lines)

    def plot(self) -> Any:
        """Refuse: how far a function is off by itself is not known beforehand, so there is nothing to draw."""
        raise Unsupported(
            "plan", "of a function has no picture",
            why="Its errors are factors of the function's own error, which only the data know.",
            hint="Function.rehearse(example) on public rows shows the spread over blocks",
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """A plain record."""
        return {
            "statistic": self.statistic.to_dict(),
            "price": self.price.to_dict(),
            "blocks": self.blocks,
            "needed": self.needed,
            "rows": self.rows,
            "rows_per_block": self.rows_per_block,
            "debias": self.debias,
            "evaluations": self.evaluations,
            "factor": self.factor,
            "least_rows": self.least_rows,
            "interval": self.interval,
            "groups": self.groups,
        }


def plan_function(
    statistic: Function,
    price: Guarantee,
    *,
    rows: int | None,
    neighbors: Neighbors,
    hints: dict[str, Any],
    groups: int | None = None,
) -> FunctionPlan:
    """Plan a function from public numbers; whatever a release would refuse is refused here.

    Args:
        statistic: What would be asked.
        price: What it may cost.
        rows: The public or declared number of rows, or of people, in all groups together.
        neighbors: The relation.
        hints: As of a release.
        groups: How many groups it will be asked of: each has its part of the rows.
    """
    named = {name: value for name, value in hints.items() if name != "interval"}
    by = None
    if groups is not None:
        by = ("group", tuple(range(checks.whole("plan", at_least=1, hint="groups=4", groups=groups))))
        if rows is not None:
            rows = max(1, rows // groups)
            named["rows"] = rows  # a release by groups is told how many a group has, roughly
    question = prepare(
        statistic, price, neighbors=neighbors, unit=Unit(), rows=None if by else rows,
        interval=hints.get("interval"), hints=named, by=by,
    )  # fmt: skip
    paid = price if groups is None else price.per_row(question.event.contribution)
    mechanism: Any = question.parts[0].mechanism
    barred = mechanism.level is not None
    found = BlockPlan.of(statistic, paid, rows, interval=barred)
    each = paid.share(output_share(statistic))
    needed = blocks_needed(statistic, each, interval=barred)
    size = max(statistic.block_rows, 60 if barred and not statistic.unbiased else 1)
    return FunctionPlan(
        statistic=statistic,
        price=price,
        blocks=found.blocks,
        needed=needed,
        rows=found.rows,
        rows_per_block=found.rows_per_block,
        debias=found.debias,
        factor=error_factor(each, found.blocks),
        least_rows=(statistic.blocks or needed) * size,
        interval=mechanism.level,
        groups=groups,
    )
