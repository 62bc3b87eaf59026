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

from sordino.errors import ParameterError
from sordino.mechanisms.choose import output_grid
from sordino.privacy import Approx, BoundedRange, Guarantee, Neighbors, Pure, Unit
from sordino.reading.traits import Trait
from sordino.testing.account import SLACK, Account
from sordino.testing.joint import GRID, joint_stick
from sordino.testing.loss import hockey, ratio
from sordino.testing.runs import Side
from sordino.testing.tree import Tree, TreeNode
from sordino.testing.whole import NotWhole, Whole

if TYPE_CHECKING:
    from sordino.lattice import Lattice
    from sordino.mechanisms import Mechanism
    from sordino.statistics import Statistic
    from sordino.testing.steps import Parts

YES_OR_NO = 2
CHORDS = 1.02
"""Beyond this a joint hockey stick is more than its chords lie above it; below it is worked out again, more finely."""
FINER = (1, 4, 16)
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
        narrowed: Whether a choice had more outcomes than were followed, where all were to be.
        used: The loss of each path, as a part of the price.
    """

    worst: float = 0.0
    step: float = 0.0
    path: tuple[Any, ...] = ()
    paths: int = 0
    choices: int = 0
    problems: list[str] = field(default_factory=list)
    least: float = math.inf
    most: float = -math.inf
    narrowed: bool = False
    used: list[float] = field(default_factory=list)

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
        self.used += other.used
        self.problems += other.problems


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
    complete: bool = False,
    unit: Unit | None = None,
) -> Replay:
    """Run a mechanism on two tables with the same outcomes and hold the losses against its price.

    Args:
        mechanism: What answers.
        statistic: What is asked, in the relation in which the two tables are neighbours.
        table: Columns by name; known data.
        neighbour: The same columns with the rows of one person changed. Rows that only one of them has come last. That
            they are neighbours is not looked at, beyond their numbers of rows: of two tables that are none nothing was
            promised, and `kept` would be false.
        contribution: How many rows one person may move.
        grid: The public lattice of answers; the statistic's own by default.
        walks: Random paths, besides those that choose the outcome with the largest loss in either direction.
        seed: Of the random paths.
        complete: Look at every place of the tree of outcomes instead; for tiny worlds.
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
    _neighbours(statistic, table, neighbour, contribution, unit)
    person, others = people_of(statistic, table, neighbour, contribution)
    lattice = output_grid(statistic) if grid is None else grid
    with Side(table, unit, person, others) as here, Side(neighbour, unit, person, others) as there:
        tree = Tree(mechanism, statistic, (here, there), lattice, contribution, seed)
        return replayed(tree, walks=walks, complete=complete)


def _neighbours(
    statistic: Statistic, table: Table, neighbour: Table, contribution: int, unit: Unit | None
) -> None:
    """Refuse what are no tables, and tables whose numbers of rows no person accounts for."""
    for side in (table, neighbour):
        if not isinstance(side, Mapping):
            raise ParameterError(
                "replay", "a table is a dict of columns", got={"table": f"a {type(side).__name__}"},
                why="A statistic asks for its columns by name.",
                hint=f'{{"{getattr(statistic, "column", "x")}": [0, 0, 0, 0, 0]}}',
            )  # fmt: skip
    rows = [len(next(iter(side.values()), ())) for side in (table, neighbour)]
    relation, moved = statistic.neighbors, abs(rows[0] - rows[1])
    if unit is not None or relation is Neighbors.NODE:
        return
    if moved > (0 if relation is Neighbors.REPLACE_ONE else contribution):
        replaced = relation is Neighbors.REPLACE_ONE
        raise ParameterError(
            "replay", f"the tables are no neighbours under {relation.value}",
            got={"rows": rows[0], "rows of the neighbour": rows[1], "contribution": contribution},
            why="A person is replaced by another with as many rows." if replaced
            else f"A person has {contribution} row{'s' * (contribution > 1)} at most.",
            hint='neighbors="add-remove-one" in the statistic' if replaced else f"contribution={moved}",
        )  # fmt: skip


def people_of(statistic: Statistic, table: Table, neighbour: Table, contribution: int) -> tuple[int, int]:
    """How many rows one person has, and how many rows before those are others'; none where people are not told apart.

    A mechanism that is given whole people must know whose a row is; all others are told how many one may move.
    """
    person = contribution if Trait.BLOCKS in statistic.traits and contribution > 1 else 0
    rows = [len(next(iter(side.values()))) for side in (table, neighbour)]
    return person, min(rows) if rows[0] != rows[1] else max(rows[0] - person, 0)


def replayed(tree: Tree, *, walks: int = 0, complete: bool = False) -> Replay:
    """Walk the paths of two tables whose choices may be known from other pairs."""
    seen, price, random = Replay(), tree.mechanism.guarantee, np.random.default_rng(tree.seed)
    before: set[tuple[Any, ...]] = set()
    if complete:
        _everything(tree, price, seen)
    for walk in () if complete else range(2 + walks):
        _walk(tree, price, seen, walk, random, before)
    for branch in () if complete else _branches(tree, several=bool(walks)):  # each leads to other choices
        for walk in range(2):
            _walk(tree, price, seen, walk, random, before, branch)
    if isinstance(price, Approx) and price.delta and seen.worst > SLACK:
        for finer in FINER:
            sticks = [joint_stick(tree.node, float(price.epsilon), sign, finer * GRID) for sign in (1, -1)]
            seen.worst = max(sticks) / float(price.delta)
            if not SLACK < seen.worst < CHORDS:
                break
    if seen.worst > SLACK:
        seen.problems.append(f"a path costs {seen.worst:.6f} of the price {price}")
    return seen


def _observe(
    node: TreeNode,
    seen: Replay,
    path: tuple[Any, ...],
    known: set[tuple[Any, ...]],
    price: Guarantee,
    tested: float | None,
) -> None:
    """Check one choice against its own part of the price, once.

    After a threshold test it may cost more, where the test has erred: then what it costs beyond its part, times the
    chance to come there on either table, is held against delta.
    """
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
        branches = np.array(node.step.branches(node.parts.outcomes))
        used = max(
            float(np.abs(node.parts.loss[branches == one]).max(initial=0.0))
            / float(node.step.paid(one).bounded_range)
            for one in given
        )
    else:
        used = ratio(node.parts, given)
    if tested is not None and used > SLACK and isinstance(given, Pure) and isinstance(price, Approx):
        sticks = [hockey(parts, float(given.epsilon)) for parts in (node.parts, node.parts.flipped())]
        used = math.exp(tested) * max(sticks) / float(price.delta)
    seen.step = max(seen.step, used)
    if used > SLACK:
        seen.problems.append(
            f"choice {len(path) + 1} ({node.step.kind}) costs {used:.6f} of its part {given}"
        )


def _walk(
    tree: Tree,
    price: Guarantee,
    seen: Replay,
    walk: int,
    random: np.random.Generator,
    known: set[tuple[Any, ...]],
    branch: tuple[Any, ...] = (),
) -> None:
    """Follow one path to its end: the largest losses, the smallest, or at random; along a branch if one is given."""
    path: tuple[Any, ...] = ()
    account, tested = Account(price), None
    while True:
        node = tree.node(path)
        _observe(node, seen, path, known, price, tested)
        if node.step is None or node.parts is None:
            break
        parts, kept = node.parts, None
        if branch and not path:
            kept = [k for k, one in enumerate(node.step.branches(parts.outcomes)) if one == branch[0]]
        place = _place(parts, walk, random, kept)
        tested = node.passed(place)
        account.add(parts, place)
        path = (*path, parts.outcomes[place])
    seen.paths += 1
    seen.least, seen.most = min(seen.least, account.loss), max(seen.most, account.loss)
    used = account.used() if account.count else 0.0
    if isinstance(price, BoundedRange):
        used = max(used, (seen.most - seen.least) / float(price.epsilon))
    seen.used.append(used)
    if used > seen.worst:
        seen.worst, seen.path = used, path


def _branches(tree: Tree, *, several: bool) -> list[tuple[Any, ...]]:
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


def _everything(tree: Tree, price: Guarantee, seen: Replay) -> None:
    """The worst of all paths."""
    known: set[tuple[Any, ...]] = set()
    whole = Whole(tree, price, lambda node, path, tested: _observe(node, seen, path, known, price, tested))
    try:
        found = whole.beyond()
    except NotWhole:
        seen.problems.append("has too many places to look at all of them")
        return
    seen.narrowed = whole.narrowed
    seen.paths, seen.most, seen.least = found.paths, found.most[0], found.least[0]
    seen.worst = found.account.used_between(seen.least, seen.most)
    seen.path = max(found.most, found.least, key=lambda end: abs(end[0]))[1]


__all__ = ["Replay", "replay"]
