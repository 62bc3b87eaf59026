"""How many blocks, and when there are too few rows; from public numbers alone.

Enough blocks to find the answer in its range at this price, and as large ones as can be had then: small blocks are
biased, few blocks are noisy. Rules and what they cost: docs/howto/any_function.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.errors import ParameterError
from sordino.mechanisms.tuned_tables import ForBlocks

if TYPE_CHECKING:
    from sordino.privacy import Guarantee
    from sordino.statistics.function import Function

FAILURES = Fraction(1, 20)  # of the price buys the number of blocks without a number


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """The number of blocks; public.

    Attributes:
        blocks: How many.
        needed: How many it takes to find the answer in its range.
        rows: The public or declared number of rows, or of people.
        debias: Parts of the jackknife.
    """

    blocks: int
    needed: int
    rows: int
    debias: int

    @property
    def rows_per_block(self) -> int:
        """About so many rows, or people, are in a block."""
        return self.rows // self.blocks

    @classmethod
    def of(cls, statistic: Function, price: Guarantee, rows: int | None, *, interval: bool) -> BlockPlan:
        """Plan, or refuse with the number of rows that would do."""
        if rows is None:
            raise ParameterError(
                "function", "needs a rough public number of rows",
                why="How many blocks there are must not depend on the private number of rows.",
                hint="release(..., rows=20_000); with unit= the number of people",
            )  # fmt: skip
        each = price.share(output_share(statistic))
        strength = each.strength
        needed = blocks_needed(statistic, each, interval=interval)
        least = max(statistic.block_rows, ForBlocks.SETTLED if interval and not statistic.unbiased else 1)
        if statistic.blocks is not None:
            blocks = statistic.blocks
        else:
            root = math.sqrt(rows)
            usual = min(max(root, min(400 / strength, 2 * root)), rows // max(100 if interval else 60, least))
            blocks = max(needed, int(usual))
        size = rows // blocks
        if size < least:
            raise _too_few(statistic, price, rows, blocks, least, interval=interval)
        debias = statistic.debias
        if debias is None:
            debias = ForBlocks.JACKKNIFE if size >= ForBlocks.DEBIASED else 0
        return cls(blocks, needed, rows, debias)


def output_share(statistic: Function) -> Fraction:
    """The part of a price that one output has.

    Example:
        >>> from sordino.statistics.function import Function
        >>> output_share(Function(len, columns=["x"], low=0, high=1, outputs=("a", "b"), failures=True))
        Fraction(19, 40)
    """
    left = 1 - FAILURES if statistic.failures else Fraction(1)
    return left / max(1, len(statistic.outputs))


def blocks_needed(statistic: Function, each: Guarantee, *, interval: bool) -> int:
    """Blocks that it takes to find one output in its range.

    Example:
        >>> from sordino.privacy import Pure
        >>> from sordino.statistics.function import Function
        >>> asked = Function(len, columns=["x"], low=-100, high=100)
        >>> blocks_needed(asked, Pure(1), interval=False), blocks_needed(asked, Pure(1), interval=True)
        (100, 199)
    """
    nats = 0.0
    for grid in statistic.grids:
        width = grid.high - grid.low
        nats = max(nats, math.log(width / (statistic.spread or width / ForBlocks.SPREADS)))
    effort = max(ForBlocks.LEAST, ForBlocks.NATS * nats) * (2 if interval and not each.gaussian else 1)
    return math.ceil(effort / each.strength)


def _too_few(
    statistic: Function, price: Guarantee, rows: int, blocks: int, least: int, *, interval: bool
) -> ParameterError:
    needed = blocks * least
    reason = f"{blocks:,} blocks are needed to find the answer in a range a thousand spreads wide"
    if statistic.spread is not None:
        reason = f"{blocks:,} blocks are needed to find the answer in its range"
    if statistic.blocks is not None:
        reason = f"{blocks:,} blocks were asked for"
    if interval:
        reason += " and its interval"
    hints = [f"{needed:,} rows would do", "a larger price"]
    if statistic.spread is None:
        hints.insert(1, "spread= (the standard deviation of f over such blocks)")
    if interval:
        hints.append("no interval")
    return ParameterError(
        "function", f"{rows:,} rows make blocks of {rows // blocks:,}, and {least} are needed",
        got={"price": price}, why=f"{reason}; nothing was spent.", hint=", or ".join(hints),
    )  # fmt: skip


def error_factor(price: Guarantee, blocks: int) -> float:
    """About how many times the error of f on all rows an answer has; fitted to simulations of normal block values.

    Example:
        >>> from sordino.privacy import Pure
        >>> round(error_factor(Pure(1), 200), 2)
        1.16
    """
    square = (
        1.15 + 15 / (blocks * price.strength**2)
        if price.gaussian
        else 1.1 + 48 / (blocks * price.strength**2)
    )
    return math.sqrt(square)
