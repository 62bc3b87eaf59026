"""The outcomes of a mechanism on two tables as a tree: at every place a choice with its two laws, or the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.mechanisms.choose import output_grid
from sordino.testing.noise_steps import ThresholdStep
from sordino.testing.runs import ForcedRun, Side
from sordino.testing.steps import Parts, Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sordino.lattice import Lattice
    from sordino.mechanisms import Answer, Mechanism
    from sordino.statistics import Statistic


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A place of the tree: a choice to be made, or the answer.

    Attributes:
        step: The choice on the table.
        parts: Its two laws.
        answer: What is published where no choice is left.
        problems: In what the two tables differ although they must not.
    """

    step: Step | None
    parts: Parts | None
    answer: Answer | None
    problems: tuple[str, ...] = ()

    def passed(self, place: int) -> float | None:
        """The log of the chance of an outcome of a threshold test, on the likelier table; None of other choices."""
        if not isinstance(self.step, ThresholdStep) or self.parts is None:
            return None
        assert self.parts.here is not None
        assert self.parts.there is not None
        return float(max(self.parts.here[place], self.parts.there[place]))


class Tree:
    """The outcomes of a mechanism on two tables, explored as they are asked for.

    Args:
        mechanism: What answers.
        statistic: What is asked.
        sides: The two tables.
        grid: The public lattice of answers.
        contribution: How many rows one person may move.
        seed: Of the dither.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        statistic: Statistic,
        sides: tuple[Side, Side],
        grid: Lattice,
        contribution: int = 1,
        seed: int = 0,
    ) -> None:
        self.mechanism, self.statistic, self.grid = mechanism, statistic, grid
        self.sides, self.contribution, self.seed = sides, contribution, seed
        self._nodes: dict[tuple[Any, ...], TreeNode] = {}

    @property
    def depth(self) -> int:
        """How many choices there are before an answer, as far as was looked."""
        return max(map(len, self._nodes), default=0)

    def node(self, path: tuple[Any, ...]) -> TreeNode:
        """What stands at the end of a path."""
        if path not in self._nodes:
            self._nodes[path] = self._look(path)
        return self._nodes[path]

    def _work(self, side: Side) -> Any:
        """What `Mechanism.answer` does; where it is one draw from one reading, that is read once."""
        mechanism = self.mechanism

        def once(run: ForcedRun) -> Answer:
            if side.reading is None:
                side.reading = mechanism.reading(self.statistic, side.ask, self.contribution)
            return mechanism.draw(side.reading, self.grid, bits=run.bits)

        def asking(run: ForcedRun) -> Answer:
            def ask(request: Any) -> Any:
                run.asked_for.append(request)
                return side.ask(request)

            return mechanism.answer(
                self.statistic, ask, self.grid, contribution=self.contribution, bits=run.bits
            )

        return once if mechanism.reads_once else asking

    def _look(self, path: tuple[Any, ...]) -> TreeNode:
        (asked, here), (asked_there, there) = (
            side.look(path, self.seed, self._work(side)) for side in self.sides
        )
        problems = []
        if asked != asked_there:
            problems.append(f"after {len(path)} choices the tables are asked different questions")
        if isinstance(here, Step) != isinstance(there, Step):
            problems.append(f"after {len(path)} choices one table is answered and the other is not")
            return TreeNode(None, None, None, tuple(problems))
        if not isinstance(here, Step):
            if (here.value, dict(here.public)) != (there.value, dict(there.public)):
                problems.append("the answer is not a function of the outcomes alone")
            elif here.noise != there.noise:  # bars are made of it
                problems.append(
                    "the noise that the answer is said to have is not a function of the outcomes alone"
                )
            return TreeNode(None, None, here, tuple(problems))
        if type(here) is not type(there) or here.question != there.question or here.price != there.price:
            problems.append(f"choice {len(path) + 1} is another on the neighbour ({here.kind}, {there.kind})")
            return TreeNode(None, None, None, tuple(problems))
        parts = here.parts(there)
        if np.isnan(parts.loss).any():  # no comparison would notice
            problems.append(f"choice {len(path) + 1} ({here.kind}) has outcomes whose loss is not a number")
        return TreeNode(here, parts, None, tuple(problems))


def first_parts(
    mechanism: Mechanism,
    statistic: Statistic,
    table: Mapping[str, Sequence[Any]],
    neighbour: Mapping[str, Sequence[Any]],
    contribution: int = 1,
) -> Parts | None:
    """The two laws of the first choice; None where none is made."""
    with Side(table) as here, Side(neighbour) as there:
        return Tree(mechanism, statistic, (here, there), output_grid(statistic), contribution).node(()).parts
