"""The replay of whole mechanisms: every case, both relations, one and several rows per person, every kind of price.

`survey` walks the cases of a mechanism (`Mechanism.cases`) over hostile pairs of tables; `tiny_world` has every pair of
the tiny world of a case. What is seen is kept by statistic, relation, rows per person and price.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.errors import SordinoError, Unsupported
from sordino.mechanisms.choose import output_grid
from sordino.privacy import Neighbors
from sordino.reading.traits import Trait
from sordino.session.form import rehearse
from sordino.testing.replay import Replay, replay
from sordino.testing.tables import TablePair, filled, hostile, sparse
from sordino.testing.tiny import TinyWorld

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sordino.mechanisms import Mechanism
    from sordino.mechanisms.parts.cases import MechanismCase

WIDEST = 1000
"""The upper bound of wide worlds."""
PEOPLE = (1, 3)
"""Rows per person that are tried."""
SIZES = (24, 3, 80)
"""Rows of hostile tables, in turn: about as many as were declared, far fewer, far more."""
LONG = (24, 3, 200)
"""The same for mechanisms that search: some of their choices see nothing of a short table."""
BORDER = 255
"""One row more is a power of two: what is planned for a class of private numbers of rows is planned for another."""
FEW = 7
"""Rows of hostile tables for what is no default."""
OTHERS = 400
"""Pairs of a mechanism that its cases share, where they are no default: at least one each."""
QUICK = 120
"""The same where cases are taken pairwise."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the replay saw of one case at one number of rows per person."""

    case: MechanismCase
    contribution: int
    replay: Replay

    @property
    def key(self) -> tuple[Any, ...]:
        """Mechanism, statistic, relation, rows per person and kind of price."""
        statistic = self.case.world.statistic
        mechanism = self.case.mechanism
        return (
            mechanism.name,
            statistic.name,
            statistic.neighbors.value,
            self.contribution,
            mechanism.guarantee.kind,
        )


def _key(case: MechanismCase) -> tuple[Any, ...]:
    """What makes a case another one: statistic, relation, price, width, noise, and what was said."""
    statistic: Any = case.world.statistic
    noise = getattr(getattr(case.mechanism, "calibration", None), "noise", None)
    said = () if case.mechanism.reads_once else case.hints  # what was said decides what is searched
    price, wide = case.mechanism.guarantee.kind, getattr(statistic, "high", None) == WIDEST
    return statistic.name, statistic.neighbors, price, wide, case.default, type(noise), said


def chosen(kind: type[Mechanism], *, thorough: bool = False) -> Iterator[MechanismCase]:
    """The cases of a mechanism; one for each statistic, relation, price and width unless all are wanted."""
    seen, found = set(), False
    for case in kind.cases():
        found = True
        key = _key(case)
        wide = key[3]
        aside = (
            wide and not case.default and len(case.hints) == 1 and case.mechanism.reads_once
        )  # an alternative: its tiny world will do
        if thorough or (key not in seen and not aside):
            seen.add(key)
            yield case
    if not found:
        raise Unsupported(
            kind.name,
            "has no cases",
            why="A mechanism whose promise nobody has held against its own code is not checked at all.",
            hint="def cases(cls): yield MechanismCase(mechanism, world)",
        )


def _pairwise(cases: Iterable[MechanismCase]) -> Iterator[MechanismCase]:
    """Those that show two things together for the first time: a statistic at a price, a relation with a hint, ..."""
    shown: set[tuple[Any, ...]] = set()
    for case in cases:
        pairs = {(*one, *other) for one, other in itertools.combinations(enumerate(_key(case)), 2)}
        if not pairs <= shown:
            shown |= pairs
            yield case


def people(case: MechanismCase) -> tuple[int, ...]:
    """Rows per person for which the case has a meaning."""
    world = case.world
    alone = bool(world.places) or world.statistic.neighbors.of_graphs
    alone |= Trait.KEYS in world.statistic.traits  # people are counted, and without a unit every row is one
    return PEOPLE[:1] if alone else PEOPLE


def survey(
    kind: type[Mechanism],
    *,
    thorough: bool = False,
    pairs: int = 4,
    defaults: bool = False,
    pairwise: bool = False,
    turns: int = 1,
) -> Iterator[Seen]:
    """Replay the cases of a mechanism.

    Args:
        kind: The mechanism.
        thorough: All hostile pairs of the cases of `pairwise`; long.
        pairs: Hostile pairs per case otherwise: defaults see so many, other cases one.
        defaults: Only what a release takes by default.
        pairwise: Every statistic, relation, price and hint beside every other, not all of them together; quick.
        turns: How many sizes of hostile tables a case sees; three are all.

    Example:
        >>> from sordino.mechanisms.selection.selection import Selection
        >>> rows = list(survey(Selection))
        >>> max(row.replay.worst for row in rows) <= 1 + 1e-7, sum((row.replay.problems for row in rows), [])
        (True, [])
    """
    places, cases = itertools.count(), list(chosen(kind))
    others = max((QUICK if pairwise else OTHERS) // max(len(cases), 1), 1)
    wanted = {id(case) for case in _pairwise(cases)} if pairwise or thorough else None
    for case in cases:
        if defaults and not case.default:
            continue
        for contribution in people(case):
            place = next(places)
            if wanted is not None and id(case) not in wanted:
                continue
            total = Replay()
            tables = itertools.chain.from_iterable(
                _pairs(case, contribution, place + turn, thorough=thorough, pairs=pairs, others=others)
                for turn in range(turns)
            )
            try:
                for pair in tables:
                    total.merge(_replayed(case, pair))
            except SordinoError:
                if asked(case, contribution):
                    raise
                continue
            if total.kept or asked(case, contribution):
                yield Seen(case, contribution, total)


def asked(case: MechanismCase, contribution: int) -> bool:
    """Whether a session would ask it at all: what cannot be answered is refused before anything is spent."""
    statistic = case.world.statistic
    try:
        rehearse(statistic, case.mechanism, output_grid(statistic), contribution)
    except SordinoError:
        return False
    return True


def tiny_cases(kind: type[Mechanism]) -> Iterator[MechanismCase]:
    """The cases whose worlds are walked completely: pairwise, and a wide range is no tiny world."""
    for case in _pairwise(chosen(kind)):
        if getattr(case.world.statistic, "high", None) != WIDEST:
            yield case


def tiny_world(case: MechanismCase, contribution: int) -> TinyWorld:
    """Every pair of neighbours."""
    return TinyWorld(case, contribution)


def _pairs(
    case: MechanismCase, contribution: int, turn: int, *, thorough: bool, pairs: int, others: int
) -> Iterator[TablePair]:
    alone = case.mechanism.reads_once
    sizes = SIZES if alone else LONG
    size = sizes[turn % len(sizes)]
    if Trait.KEYS in case.world.statistic.traits:
        size = max(sizes)  # a key of many people, and one that nobody else has
    if alone and not (case.default or thorough):
        size = FEW
    found = list(hostile(case.world, size, contribution, seed=turn))
    if thorough:
        yield from found
        return
    wanted = max(pairs // 2 if alone else pairs, others) if case.default else others
    step = max(len(found) // wanted, 1)
    yield from (found[(turn + k * step) % len(found)] for k in range(min(wanted, len(found))))
    if case.default and alone and contribution == 1:
        yield from sparse(case.world)
    if case.default and not alone:  # what only a search finds: many rows that fill a part of a wide range
        yield from list(filled(case.world, LONG[-1], contribution))[turn % 2 :: 2]
        if case.world.statistic.neighbors is Neighbors.ADD_REMOVE_ONE:
            yield from list(filled(case.world, BORDER, contribution))[turn % 2 :: 2]


def _replayed(case: MechanismCase, pair: TablePair) -> Replay:
    return replay(
        case.mechanism,
        case.world.statistic,
        pair.table,
        pair.neighbour,
        contribution=pair.contribution,
        walks=int(case.default),
    )
