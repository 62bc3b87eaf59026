"""The hockey stick of everything that a mechanism publishes: over all outcomes of all its choices together.

Outcomes of one choice are put together by their losses, with a representative whose later choices are followed; all
masses and losses are kept finely. The last choice counts exactly (loss.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.testing.loss import beyond, hockey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.testing.steps import Parts

    Floats = NDArray[np.float64]
    Node = Callable[[tuple[Any, ...]], Any]
    Width = Callable[[tuple[Any, ...]], int]

FOLLOWED = (6, 2, 1)  # representatives of the first choice, of the second, of later ones
MOST = 60  # places of the tree that are looked at; beyond them one representative of each choice is followed
FEW_PARTS = 6  # so many outcomes are followed one by one
FINE = 240  # masses of one choice that are kept apart
LARGEST = 700.0  # nats: no probability is further from another and not zero
RARE = 1e-9  # probability of losses so extreme that they need not be told apart
GRID = 256  # values of epsilon at which a later stick is worked out; it is convex, so chords lie above it
FEW = 6  # values of epsilon at which densities are integrated one by one


def joint_stick(node: Node, epsilon: float, sign: int, grid: int = GRID) -> float:
    """Mass of the table beyond ``e^epsilon`` times that of the neighbour; with ``sign=-1`` the other way round.

    Args:
        node: What stands at the end of a path: its choice, or the answer.
        epsilon: Of the price.
        sign: Which of the two laws comes first.
        grid: Values of epsilon at which a later stick is worked out: chords between more of them lie less above it.
    """
    seen: set[tuple[Any, ...]] = set()

    def counted(path: tuple[Any, ...]) -> Any:
        seen.add(path)
        return node(path)

    def width(path: tuple[Any, ...]) -> int:
        return 1 if len(seen) > MOST else FOLLOWED[min(len(path), len(FOLLOWED) - 1)]

    return float(_sticks(counted, (), np.array([epsilon]), sign, width, grid)[0])


def _sticks(
    node: Node, path: tuple[Any, ...], epsilons: Floats, sign: int, width: Width, most: int
) -> Floats:
    """The sticks of what follows a path, at several values of epsilon."""
    found = node(path)
    if found.parts is None:
        return np.maximum(0.0, -np.expm1(epsilons))
    if len(epsilons) > most:
        grid = np.linspace(float(epsilons.min()), float(epsilons.max()), most)
        return np.interp(epsilons, grid, _sticks(node, path, grid, sign, width, most))
    parts: Parts = found.parts if sign > 0 else found.parts.flipped()
    if parts.here is None or _last(node, path, parts):
        return last_sticks(parts, epsilons)
    assert parts.there is not None
    order = np.argsort(parts.loss)
    order = order[~np.isneginf(parts.here[order])]
    groups = min(width(path), len(order))
    total = np.zeros(len(epsilons))
    apart = len(order) <= FEW_PARTS  # each leads to choices of its own
    mass = np.cumsum(np.exp(parts.here[order]) + np.exp(parts.there[order]))
    ends = np.searchsorted(mass, [RARE, mass[-1] - RARE])  # beyond these nothing need be told apart
    # What only one of the two can say has an infinite loss, and is counted apart below.
    lowest, highest = np.clip(parts.loss[order[np.minimum(ends, len(order) - 1)]], -LARGEST, LARGEST)
    edges = np.linspace(0.0, mass[-1], groups + 1)[1:-1]
    for group in np.split(order, np.arange(1, len(order))) if apart else _split(order, mass, edges):
        leader = int(group[np.argmax(parts.here[group])])
        bins = _split(group, parts.loss[group], np.linspace(lowest, highest, FINE))
        here = np.array([np.logaddexp.reduce(parts.here[one]) for one in bins])
        there = np.array([np.logaddexp.reduce(parts.there[one]) for one in bins])
        never = np.isneginf(there)
        total += float(np.exp(here[never]).sum())  # the neighbour cannot say this at all
        here, loss = here[~never], (here - there)[~never]
        if len(here):
            left = (epsilons[:, None] - loss).ravel()
            later = _sticks(node, (*path, parts.outcomes[leader]), left, sign, width, most)
            total += later.reshape(len(epsilons), -1) @ np.exp(here)
    return total


def _split(places: Any, by: Floats, edges: Floats) -> list[Any]:
    """Places in parts, cut where a number that grows along them passes the edges."""
    return [one for one in np.split(places, np.searchsorted(by, edges, side="right")) if len(one)]


def _last(node: Node, path: tuple[Any, ...], parts: Parts) -> bool:
    """Whether nothing is chosen after this, by a few of its outcomes."""
    sample = set(range(len(parts.loss)))
    if len(sample) > FEW_PARTS:
        sample = {int(np.argmax(parts.here)), int(np.argmax(parts.loss))}  # type: ignore[arg-type]
    return all(node((*path, parts.outcomes[place])).parts is None for place in sample)


def last_sticks(parts: Parts, epsilons: Floats) -> Floats:
    """The sticks of one choice: by integrals for a few values of epsilon, by its fine cells for many.

    Example:
        >>> import math
        >>> from sordino.testing.steps import Parts
        >>> here, there = np.log([0.75, 0.25]), np.log([0.25, 0.75])
        >>> parts = Parts([0, 1], here, there, here - there)
        >>> last_sticks(parts, np.array([0.0, math.log(2)])).round(9).tolist()
        [0.5, 0.25]
    """
    if parts.here is None or parts.there is None or len(epsilons) <= FEW:
        return np.array([hockey(parts, float(epsilon)) for epsilon in epsilons])
    return np.asarray(beyond(parts.here, parts.there, epsilons[:, None]).sum(axis=1))
