"""Privacy by replay: the code of a mechanism is run on two tables with the same outcomes, and its losses are added up.

`replay` follows paths of outcomes through a release: the ones that tell the tables apart best, and random ones. On
every path it checks the loss of everything published against the price, every choice against its own part of it, that
both tables are asked the same questions in the same order, and that the answer is a function of the path alone.
A replay can refute a promise. What it does not refute is not thereby proved, but in a tiny world every pair was seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.memory import Memory
from sordino.mechanisms.choose import output_grid
from sordino.privacy import (
    Approx,
    ApproxConcentrated,
    BoundedRange,
    Concentrated,
    Guarantee,
    Pure,
    TruncatedConcentrated,
    Unit,
)
from sordino.reading.traits import Trait
from sordino.testing.forced import ForcedDraws, Pending
from sordino.testing.joint import joint_stick
from sordino.testing.loss import conditioned, orders, ratio, renyi
from sordino.testing.noise_steps import ThresholdStep
from sordino.testing.steps import Parts, Step

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms import Answer, Mechanism
    from sordino.reading.profile import Reading
    from sordino.reading.requests import Ask, Summary
    from sordino.statistics import Statistic

SLACK = 1 + 1e-7  # floats: losses are differences of logarithms of size up to a few hundred
BRANCHES = 24  # parts of one choice that a complete walk follows, where there are many
YES_OR_NO = 2
PERSON = "person"  # the column that says whose a row is
Table = Mapping[str, Sequence[Any]]


@dataclass(slots=True)
class Replay:
    """What was seen.

    Attributes:
        worst: Largest loss of a whole path, as a part of the price.
        step: Largest loss of one choice, as a part of its own part of the price.
        path: The outcomes of the worst path.
        paths: How many paths were walked.
        choices: How many choices were looked at.
        problems: Every breach in words; none where nothing was refuted.
        least: Smallest signed loss of a path.
        most: Largest signed loss of a path.
    """

    worst: float = 0.0
    step: float = 0.0
    path: tuple[Any, ...] = ()
    paths: int = 0
    choices: int = 0
    problems: list[str] = field(default_factory=list)
    least: float = math.inf
    most: float = -math.inf

    @property
    def kept(self) -> bool:
        """Whether no promise was refuted."""
        return not self.problems

    def merge(self, other: Replay) -> None:
        """Take in another replay of the same mechanism."""
        if other.worst > self.worst:
            self.worst, self.path = other.worst, other.path
        self.step = max(self.step, other.step)
        self.paths += other.paths
        self.choices += other.choices
        self.problems += other.problems


@dataclass(frozen=True, slots=True)
class _Node:
    """A place of the tree of outcomes: a choice to be made, or the answer."""

    step: Step | None
    parts: Parts | None
    answer: Answer | None
    problems: tuple[str, ...] = ()


class _Side:
    """One of the two tables, and what it was asked."""

    def __init__(self, table: Table, unit: Unit | None = None, person: int = 0, others: int = 0) -> None:
        columns = {name: np.asarray(column, None if len(column) else float) for name, column in table.items()}
        if (
            person and unit is None
        ):  # the rows after the others are one person's, each of the others is somebody's
            size = len(next(iter(columns.values())))
            columns[PERSON] = np.minimum(np.arange(size), others)
            unit = Unit(PERSON, max_rows=person)
        self.source = Memory(columns, unit=unit)
        self.asked: list[Ask] = []
        self.reading: Reading | None = None
        self._known: dict[Any, Summary] = {}

    def ask(self, request: Ask) -> Summary:
        """Answer a request, remembering it."""
        self.asked.append(request)
        try:
            if request not in self._known:
                self._known[request] = self.source.summary(request)[0]
            return self._known[request]
        except TypeError:  # a request that cannot be remembered
            return self.source.summary(request)[0]


class _Tree:
    """The outcomes of a mechanism on two tables, explored as they are asked for."""

    def __init__(
        self,
        mechanism: Mechanism,
        statistic: Statistic,
        sides: tuple[_Side, _Side],
        grid: Lattice,
        contribution: int,
        seed: int,
    ) -> None:
        self.mechanism, self.statistic, self.grid = mechanism, statistic, grid
        self.sides, self.contribution, self.seed = sides, contribution, seed
        self._nodes: dict[tuple[Any, ...], _Node] = {}

    def node(self, path: tuple[Any, ...]) -> _Node:
        """What stands at the end of a path."""
        if path not in self._nodes:
            self._nodes[path] = self._look(path)
        return self._nodes[path]

    def _run(self, side: _Side, path: tuple[Any, ...]) -> tuple[Any, list[Ask]]:
        draws = ForcedDraws(path, self.seed)
        try:
            found: Any = self._answer(side, draws)
        except Pending as pending:
            found = pending.step
        return found, side.asked

    def _answer(self, side: _Side, draws: ForcedDraws) -> Answer:
        """What `Mechanism.answer` does; where it is one draw from one reading, that is read once."""
        if self.mechanism.reads_once:
            if side.reading is None:
                side.reading = self.mechanism.reading(self.statistic, side.ask, self.contribution)
            return self.mechanism.draw(side.reading, self.grid, bits=draws.bits)
        side.asked = []
        return self.mechanism.answer(
            self.statistic, side.ask, self.grid, contribution=self.contribution, bits=draws.bits
        )

    def _look(self, path: tuple[Any, ...]) -> _Node:
        (here, asked), (there, asked_there) = (self._run(side, path) for side in self.sides)
        problems = []
        if asked != asked_there:
            problems.append(f"after {len(path)} choices the tables are asked different questions")
        if isinstance(here, Step) != isinstance(there, Step):
            problems.append(f"after {len(path)} choices one table is answered and the other is not")
            return _Node(None, None, None, tuple(problems))
        if not isinstance(here, Step):
            if (here.value, dict(here.public)) != (there.value, dict(there.public)):
                problems.append("the answer is not a function of the outcomes alone")
            return _Node(None, None, here, tuple(problems))
        if type(here) is not type(there) or here.question != there.question or here.price != there.price:
            problems.append(f"choice {len(path) + 1} is another on the neighbour ({here.kind}, {there.kind})")
            return _Node(None, None, None, tuple(problems))
        return _Node(here, here.parts(there), None, tuple(problems))


def replay(
    mechanism: Mechanism,
    statistic: Statistic,
    table: Table,
    neighbour: Table,
    *,
    contribution: int = 1,
    grid: Lattice | None = None,
    walks: int = 2,
    seed: int = 0,
    complete: int = 0,
    unit: Unit | None = None,
) -> Replay:
    """Run a mechanism on two tables with the same outcomes and hold the losses against its price.

    Args:
        mechanism: What answers.
        statistic: What is asked, in the relation in which the two tables are neighbours.
        table: Columns by name; known data.
        neighbour: The same columns with the rows of one person changed. Rows that only one of them has come last.
        contribution: How many rows one person may move.
        grid: The public lattice of answers; the statistic's own by default.
        walks: Random paths, besides those that choose the outcome with the largest loss in either direction.
        seed: Of the random paths.
        complete: Walk every path of parts instead, up to so many; for tiny worlds.
        unit: To whom rows belong, where a person has several.

    Example:
        >>> from sordino.mechanisms.additive.geometric import Geometric
        >>> from sordino.statistics.count import Count
        >>> from sordino.privacy import Neighbors
        >>> count = Count("x", neighbors=Neighbors.ADD_REMOVE_ONE)
        >>> seen = replay(Geometric(price=Pure(1)), count, {"x": [1.0]}, {"x": [1.0, 2.0]})
        >>> round(seen.worst, 9), seen.problems
        (1.0, [])
    """
    # A mechanism that is given whole people must know whose a row is; all others are told how many one may move.
    person = contribution if Trait.BLOCKS in statistic.traits and contribution > 1 else 0
    rows = [len(next(iter(side.values()))) for side in (table, neighbour)]
    others = min(rows) if rows[0] != rows[1] else max(rows[0] - person, 0)
    sides = _Side(table, unit, person, others), _Side(neighbour, unit, person, others)
    lattice = output_grid(statistic) if grid is None else grid
    tree = _Tree(mechanism, statistic, sides, lattice, contribution, seed)
    seen, price, random = Replay(), mechanism.guarantee, np.random.default_rng(seed)
    before: set[tuple[Any, ...]] = set()
    if complete:
        _everything(tree, price, seen, complete)
    for walk in range(2 + walks):
        _walk(tree, price, seen, walk, random, before)
    for branch in _branches(tree, several=bool(walks)):  # whatever it costs, each leads to other choices
        for walk in range(2):
            _walk(tree, price, seen, walk, random, before, branch)
    if isinstance(price, Approx) and price.delta and seen.worst > SLACK:
        seen.worst = max(joint_stick(tree.node, float(price.epsilon), sign) for sign in (1, -1)) / float(
            price.delta
        )
    if seen.worst > SLACK:
        seen.problems.append(f"a path costs {seen.worst:.6f} of the price {price}")
    return seen


def first_parts(
    mechanism: Mechanism, statistic: Statistic, table: Table, neighbour: Table, contribution: int = 1
) -> Parts | None:
    """The two laws of the first choice; None where none is made."""
    sides = _Side(table), _Side(neighbour)
    return _Tree(mechanism, statistic, sides, output_grid(statistic), contribution, 0).node(()).parts


class _Account:
    """Losses along one path."""

    def __init__(self, price: Guarantee) -> None:
        self.price, self.orders = price, orders(price)
        self.loss = 0.0
        self.count = 0
        self.divergences = np.zeros((2, len(self.orders)))
        self.failing = np.zeros(2)

    def add(self, parts: Parts, place: int) -> None:
        """One more outcome."""
        self.loss += float(parts.loss[place])
        self.count += 1
        self.parts = parts
        if isinstance(self.price, ApproxConcentrated):
            certain, failing = conditioned(parts)
            self.failing += failing
            self.divergences[0] += renyi(certain, self.orders)
            self.divergences[1] += renyi(certain.flipped(), self.orders)
        if isinstance(self.price, Concentrated | TruncatedConcentrated):
            self.divergences[0] += renyi(parts, self.orders)
            self.divergences[1] += renyi(parts.flipped(), self.orders)

    def used(self) -> float:
        """The part of the price that the path uses."""
        price = self.price
        if isinstance(price, Pure | Approx):
            return abs(self.loss) / float(price.epsilon)
        if isinstance(price, BoundedRange):  # of single draws; of several, from the losses of all paths
            return ratio(self.parts, price) if self.count == 1 else 0.0
        assert isinstance(price, Concentrated | TruncatedConcentrated | ApproxConcentrated)
        if isinstance(price, ApproxConcentrated) and self.failing.max() > float(price.delta) * SLACK:
            return float(self.failing.max() / float(price.delta))
        return float(np.max(self.divergences / (float(price.rho) * np.array(self.orders))))


def _observe(
    node: _Node, seen: Replay, path: tuple[Any, ...], known: set[tuple[Any, ...]], tested: bool
) -> None:
    """Check one choice against its own part of the price, once; not after a test, whose delta pays where it errs."""
    if path in known:
        return
    known.add(path)
    seen.problems += node.problems
    if node.step is None or node.parts is None:
        return
    seen.choices += 1
    given = node.step.price
    if isinstance(given, Mapping) and len(set(given.values())) == 1:
        given = next(iter(given.values()))
    if isinstance(given, Mapping):  # every outcome has its own price
        used = max(
            abs(float(loss)) / float(node.step.paid(outcome).bounded_range)
            for outcome, loss in zip(node.parts.outcomes, node.parts.loss, strict=True)
        )
    else:
        used = ratio(node.parts, given)
    seen.step = max(seen.step, used) if not tested else seen.step
    if used > SLACK and not tested:
        seen.problems.append(
            f"choice {len(path) + 1} ({node.step.kind}) costs {used:.6f} of its part {given}"
        )


def _walk(
    tree: _Tree,
    price: Guarantee,
    seen: Replay,
    walk: int,
    random: np.random.Generator,
    known: set[tuple[Any, ...]],
    branch: tuple[Any, ...] = (),
) -> None:
    """Follow one path to its end: the largest losses, the smallest, or at random; along a branch if one is given."""
    path: tuple[Any, ...] = ()
    account, tested = _Account(price), False
    while True:
        node = tree.node(path)
        _observe(node, seen, path, known, tested)
        if node.step is None or node.parts is None:
            break
        tested = node.step.kind == ThresholdStep.kind
        parts, kept = node.parts, None
        if branch and not path:
            kept = [k for k, one in enumerate(parts.outcomes) if node.step.branch(one) == branch[0]]
        place = _place(parts, walk, random, kept)
        account.add(parts, place)
        path = (*path, parts.outcomes[place])
    seen.paths += 1
    seen.least, seen.most = min(seen.least, account.loss), max(seen.most, account.loss)
    used = account.used() if account.count else 0.0
    if isinstance(price, BoundedRange):
        used = max(used, (seen.most - seen.least) / float(price.epsilon))
    if used > seen.worst:
        seen.worst, seen.path = used, path


def _branches(tree: _Tree, *, several: bool) -> list[tuple[Any, ...]]:
    """The outcomes of a first choice of yes or no; of others, where they have prices of their own."""
    node = tree.node(())
    if node.step is None or node.parts is None:
        return []
    if len(node.parts.outcomes) == YES_OR_NO:
        return [(outcome,) for outcome in node.parts.outcomes]
    if several and isinstance(node.step.price, Mapping):
        return [(branch,) for branch in node.step.price]
    return []


def _place(parts: Parts, walk: int, random: np.random.Generator, kept: list[int] | None = None) -> int:
    if kept:
        best = np.argmax if walk == 0 else np.argmin
        return kept[int(best(parts.loss[kept]))]
    if walk < 2:
        return int(np.argmax(parts.loss) if walk == 0 else np.argmin(parts.loss))
    law = parts.here if walk % 2 else parts.there
    if law is None or random.random() < 0.3:  # rare outcomes lead to rare questions
        return int(random.integers(len(parts.loss)))
    chances = np.exp(law - law.max())
    return int(random.choice(len(chances), p=chances / chances.sum()))


def _everything(tree: _Tree, price: Guarantee, seen: Replay, most: int) -> None:
    """Walk every path of parts, depth first, as long as there are not too many of them."""
    known: set[tuple[Any, ...]] = set()
    pending: list[tuple[tuple[Any, ...], tuple[tuple[Parts, int], ...]]] = [((), ())]
    while pending and seen.paths < most:
        path, taken = pending.pop()
        node = tree.node(path)
        before = tree.node(path[:-1]).step if path else None
        _observe(node, seen, path, known, before is not None and before.kind == ThresholdStep.kind)
        if node.parts is not None:
            pending += [
                ((*path, node.parts.outcomes[k]), (*taken, (node.parts, k))) for k in _extremes(node.parts)
            ]
            continue
        seen.paths += 1
        account = _Account(price)
        for parts, place in taken:
            account.add(parts, place)
        used = account.used() if taken else 0.0
        if used > seen.worst:
            seen.worst, seen.path = used, path


def _extremes(parts: Parts) -> list[int]:
    """All parts of a short choice; of a long one the extreme losses and a spread of the others."""
    size = len(parts.loss)
    if size <= 2 * BRANCHES:
        return list(range(size))
    order = np.argsort(parts.loss)
    chosen = {int(order[k]) for k in np.linspace(0, size - 1, BRANCHES).astype(int)}
    return sorted(chosen | set(np.linspace(0, size - 1, BRANCHES).astype(int).tolist()))


__all__ = ["Replay", "replay"]
