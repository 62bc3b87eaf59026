"""The mechanism of any function: deal people into blocks, run it on each, release a centre of what they say.

Changing one person changes one block value, whatever the relation and however many rows the person has, so the
promise is that of a centre of k numbers of which one is replaced (docs/proofs/mechanism_blocks.md).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from sordino import checks
from sordino.errors import ParameterError
from sordino.exact.bits import Bits
from sordino.lattice import Lattice
from sordino.mechanisms import PERSONS, Answer, Mechanism
from sordino.mechanisms.blocks.centre import Centre, located
from sordino.mechanisms.blocks.dealing import checked, values_and_failures
from sordino.mechanisms.blocks.pivot import half_width
from sordino.mechanisms.blocks.plan import FAILURES, BlockPlan
from sordino.mechanisms.parts.conversing import Conversing
from sordino.mechanisms.parts.draws import Draws
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait
from sordino.running.evaluate import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from sordino.hints import Hints
    from sordino.mechanisms import Asking, Words
    from sordino.mechanisms.parts.cases import MechanismCase
    from sordino.privacy import Guarantee
    from sordino.statistics import Statistic


SHOWN = 6  # blocks of the cases: few, so that one of them matters


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionBlocks(Conversing):
    """A private centre of the values of a function on blocks of people.

    Args:
        price: What the answer costs, all outputs together.
        blocks: How many blocks.
        debias: Parts of the jackknife inside a block; 0 for none.
        aggregate: ``"trimmed"``, ``"median"`` or ``"mean"`` (of values clipped at a released spread).
        level: Probability of an interval for the population; None for none.
        spread: Public guess of the spread of block values.
        rows_per_block: About so many rows are in a block, by public numbers.
        failures: Whether the number of blocks without a number is released too, for a twentieth of the price.
        enough: Whether public numbers say that the answer is found in its range.

    Example:
        >>> from sordino.privacy import Pure
        >>> FunctionBlocks(price=Pure(1), blocks=200).guarantee
        Pure(epsilon=1)
    """

    price: Guarantee
    blocks: int
    debias: int = 0
    aggregate: str = "trimmed"
    level: float | None = None
    spread: float | None = None
    rows_per_block: int | None = None
    failures: bool = False
    enough: bool = True

    name: ClassVar[str] = "blocks"
    asks: ClassVar[tuple[Trait, ...]] = (Trait.BLOCKS,)
    law_is: ClassVar[str] = "none in closed form: the dealing is random"
    proof: ClassVar[str] = "mechanism_blocks"

    def __post_init__(self) -> None:
        checks.whole(self.name, at_least=2, blocks=self.blocks)
        if self.level is not None:
            checks.between(self.name, 0, 1, level=self.level)
            if self.aggregate != "mean":
                raise ParameterError(
                    self.name, "an interval comes with the clipped mean", got={"aggregate": self.aggregate},
                    why="A median or trimmed mean of skewed block values is off the population value.",
                    hint="leave aggregate= out",
                )  # fmt: skip

    @classmethod
    def offers(cls, statistic: Any, price: Guarantee, hints: Hints) -> Iterator[Mechanism]:
        """As many blocks as public numbers say."""
        interval = hints.interval is not None
        aggregate = statistic.aggregate or ("mean" if interval else "trimmed")
        plan = BlockPlan.of(statistic, price, hints.rows, interval=interval or aggregate == "mean")
        yield cls(
            price=price, blocks=plan.blocks, debias=plan.debias, aggregate=aggregate, level=hints.level,
            spread=statistic.spread or hints.spread, rows_per_block=plan.rows_per_block,
            failures=statistic.failures, enough=plan.blocks >= plan.needed,
        )  # fmt: skip

    @classmethod
    def cases(cls) -> Iterator[MechanismCase]:
        """A function that fails on some blocks: every aggregate, both relations, every price that it takes."""
        from sordino.mechanisms.parts.cases import PRICES, MechanismCase
        from sordino.statistics import Case
        from sordino.statistics.function import AGGREGATES, Function

        for relation, aggregate in itertools.product(PERSONS, AGGREGATES):
            asked = Function(
                uneven, columns=("x",), low=0, high=7, blocks=SHOWN, block_rows=1, aggregate=aggregate,
                frame="numpy", isolation="none", neighbors=relation, fixed=relation is Neighbors.REPLACE_ONE,
            )  # fmt: skip
            world = Case(asked, ((0.0,), (3.0,), (7.0,)))
            for price in PRICES[:-1]:  # centres have no theorem for a bare bounded range
                for failures in (False, True):
                    mechanism = cls(
                        price=price, blocks=SHOWN, aggregate=aggregate, spread=1.0, failures=failures
                    )
                    said = (("aggregate", aggregate), ("failures", failures))
                    yield MechanismCase(
                        mechanism, world, said, default=aggregate == "trimmed" and not failures
                    )

    @property
    def bar_covers(self) -> str:
        """The only interval that there is, however it was asked for."""
        return "population"

    @property
    def trusted(self) -> bool:
        """False when the blocks are too few to find the answer in its range."""
        return self.enough

    def refusal(self, statistic: Statistic) -> str | None:
        """A function by blocks, each person in one."""
        return Mechanism.refusal(self, statistic)

    def rests_on(self, statistic: Any) -> list[str]:
        """That a block value depends on its own block alone."""
        held = checked(statistic.pickled, self._task(statistic), statistic.limits)
        words = {"network": "no network", "files": "no file that could be written"}
        apart = [text for name, text in words.items() if name in held]
        how = (
            "The function looks at its own block only: you vouch for it."
            if statistic.isolation == "none"
            else "Each block ran in a process of its own, with limits of time and memory"
            + (f", {' and '.join(apart)}: nothing of one block can be seen in another." if apart else ".")
        )
        sizes = "" if self.rows_per_block is None else f" of about {self.rows_per_block:,} rows"
        dealt = (
            f"People were dealt into {self.blocks:,} blocks{sizes} by fresh random numbers that were not kept; what is "
            "released is about the value of the function on such blocks."
        )
        said = "said with noise" if self.failures else "not said"
        cut = (
            "Values outside the bounds are clamped to the nearer bound, and a block without a number counts as a "
            f"public one; how many there were is {said}. The bounds are public and were not taken from the data."
        )
        return [how, dealt, cut]

    def lattices(self, statistic: Any, grid: Lattice) -> dict[str, Lattice]:
        """The answer is a multiple of the grid's step; a median is a point of the lattice of block values."""
        whole = {"failed_blocks": Lattice.dyadic(0)} if self.failures else {}
        if self.aggregate != "median":
            return {"value": Lattice(Fraction(0), grid.step), **whole}
        return {"value": statistic.grids[0].endless, **whole}

    def _task(self, statistic: Any) -> Task:
        return Task(statistic.frame, statistic.outputs, self.debias, tuple(statistic.columns))

    def answer(
        self, statistic: Any, ask: Asking, grid: Lattice, *, contribution: int = 1, bits: Words = None
    ) -> Answer:
        """Deal, run, release. One person is one block: ``contribution`` changes nothing."""
        del contribution, grid  # each output has a lattice of its own, from its own bounds
        words = Bits() if bits is None else bits
        table = ask(statistic.request(depth=0)).table
        assert table is not None
        values, failed = values_and_failures(statistic, table, self.blocks, self.debias, Draws.of(words))
        left = 1 - FAILURES if self.failures else Fraction(1)
        each = self.price.share(left / len(values))
        found = [
            self._output(values[place], each, lattice, words) for place, lattice in enumerate(statistic.grids)
        ]
        extra: dict[str, Any] = {}
        if self.failures:  # one person changes one block, so the number by one at most
            noisy, _ = Draws.of(bits).noisy(
                Fraction(failed),
                sensitivity=Fraction(1),
                price=self.price.share(FAILURES),
                grid=Lattice.dyadic(0),
            )
            extra["failed_blocks"] = min(max(int(noisy), 0), self.blocks)
        if statistic.outputs:
            public: dict[str, Any] = dict(extra)
            if self.aggregate == "mean":
                public["spread"] = tuple(one["spread"] for _, one in found)
            if self.level is not None:
                public["intervals"] = tuple((one["low"], one["high"]) for _, one in found)
                public["probability"] = self.level
            return Answer(tuple(middle for middle, _ in found), public)
        return Answer(found[0][0], {**found[0][1], **extra})

    def _output(
        self, values: NDArray[np.float64], price: Guarantee, lattice: Any, bits: Bits
    ) -> tuple[Fraction, dict[str, Any]]:
        """One number, and what else its share of the price has paid for."""
        grid = Lattice.for_range(lattice.low, lattice.high)
        aggregate = "median" if self.aggregate == "median" else "trimmed"
        centre = Centre(price, self.blocks, lattice.low, lattice.high, aggregate, self.spread)
        if self.aggregate != "mean":
            return centre.release(values, grid, bits), {}
        middle, spread = located(values, centre, grid, bits)
        if self.level is None:
            return middle, {"spread": spread}
        width = Fraction(lattice.high) - Fraction(lattice.low)
        half = half_width(
            self.level,
            price=price,
            blocks=self.blocks,
            width=width,
            spread=spread,
            hinted=self.spread is not None,
        )
        reach = Fraction(half) * spread
        low, high = max(middle - reach, Fraction(lattice.low)), min(middle + reach, Fraction(lattice.high))
        return middle, {"low": low, "high": high, "level": self.level, "spread": spread}


def uneven(block: Any) -> float:
    """A function for the laws: unlike on most blocks, and without a number on some.

    Example:
        >>> import numpy as np
        >>> uneven({"x": np.array([1.0, 3.0])}), uneven({"x": np.array([0.0])})
        (-1.5, -1.75)
    """
    total, rows = float(block["x"].sum()), len(block["x"])
    if total == 3 * rows:
        raise ValueError
    return 3 * total % 4 - 2 + rows / 4
