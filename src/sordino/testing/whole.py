"""The worst of all paths of outcomes, worked out from their ends: no path is walked alone.

Losses along a path add up, and so do Renyi divergences order by order. The largest sum over all paths is therefore the
largest of what an outcome adds and what is the largest beyond it, place by place, however many paths there are. Parts
that lead on with the same outcome are one branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.testing.account import Account

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.privacy import Guarantee
    from sordino.testing.steps import Parts
    from sordino.testing.tree import Tree, TreeNode

    Floats = NDArray[np.float64]
    Path = tuple[Any, ...]
    Observe = Callable[[TreeNode, Path, float | None], None]

LINE = 6
"""More outcomes of noise on a line than this are not followed one by one."""
PATHS = 400
"""Outcomes of one choice that are followed at most, divided by the number of paths to places like it."""
LEAST = 4
"""Outcomes of a choice that are always followed: those of the extreme losses, and the likeliest on either table."""
PLACES = 20_000
"""Choices and answers of one pair that are looked at; beyond them it is not whole, which is a problem."""


@dataclass(frozen=True, slots=True)
class Beyond:
    """What the paths from a place to the answers add up to at most.

    Attributes:
        account: The sums of divergences, each the largest of all paths.
        most: Largest signed loss, and the outcomes that lead to it.
        least: Smallest signed loss, and the outcomes that lead to it.
        paths: How many paths there are.
    """

    account: Account
    most: tuple[float, Path]
    least: tuple[float, Path]
    paths: int


class NotWhole(Exception):
    """There are more places than are looked at."""


class Whole:
    """All that happens on two tables.

    Args:
        tree: Their outcomes.
        price: What the answer costs.
        observe: Is shown every place once, with the path to it and the chance of a threshold test before it.

    Attributes:
        places: How many were looked at.
        narrowed: Whether outcomes of a choice other than noise on a line were left out.
    """

    def __init__(self, tree: Tree, price: Guarantee, observe: Observe) -> None:
        self.tree, self.price, self.observe = tree, price, observe
        self.places, self.narrowed = 0, False

    def beyond(self, path: Path = (), tested: float | None = None, breadth: int = 1) -> Beyond:
        """What follows a path; `breadth` is the number of paths to places like it."""
        node, account = self.tree.node(path), Account(self.price)
        self.places += 1
        if self.places > PLACES:
            raise NotWhole
        self.observe(node, path, tested)
        if node.parts is None:
            return Beyond(account, (0.0, ()), (0.0, ()), 1)
        parts = node.parts
        most: tuple[float, Path] = (-math.inf, ())
        least: tuple[float, Path] = (math.inf, ())
        paths, found = 0, []
        room = max(PATHS // breadth, LEAST)
        leading = branches(parts, followed(parts, room))
        self.narrowed |= _left_out(parts, room, len(leading))
        for outcome, places in leading.items():
            chances = [chance for chance in map(node.passed, places) if chance is not None]
            later = self.beyond((*path, outcome), max(chances, default=None), breadth * len(leading))
            highest, lowest = float(parts.loss[places].max()), float(parts.loss[places].min())
            most = max(most, (_sum(highest, later.most[0]), (outcome, *later.most[1])), key=_loss)
            least = min(least, (_sum(lowest, later.least[0]), (outcome, *later.least[1])), key=_loss)
            paths += later.paths
            found.append(later.account)
        account.gather(parts, found)
        return Beyond(account, most, least, paths)


def _loss(found: tuple[float, Path]) -> float:
    return found[0]


def _sum(own: float, later: float) -> float:
    """What cannot be said at all on one table needs nothing more."""
    return own if math.isinf(own) else own + later


def branches(parts: Parts, places: list[int]) -> dict[Any, list[int]]:
    """The parts that are followed, by the outcome that leads on: of noise a round one, which other pairs have too."""
    near = getattr(parts.outcomes, "near", parts.outcomes.__getitem__)
    found: dict[Any, list[int]] = {}
    for place in places:
        found.setdefault(near(place), []).append(place)
    return found


def followed(parts: Parts, room: int = PATHS) -> list[int]:
    """All parts of a choice; where they are more than there is room for the extreme losses and a spread of the others.

    Of noise on the line, whose outcomes lead to alike choices, the extreme losses, what is likeliest, and two others;
    where an interval may be chosen instead, of the noise as well, and of the intervals as of any choice.
    """
    line = _line(parts)
    if line <= LINE:
        return _spread(parts, 0, room)
    others = {line // 3, 2 * line // 3} if room >= LINE else set()
    return sorted({*_telling(parts, slice(0, line)), *others, *_spread(parts, line, room)})


def _left_out(parts: Parts, room: int, led: int) -> bool:
    """Whether there are outcomes that are no noise on a line and were not followed."""
    line = _line(parts)
    line = 0 if line <= LINE else line
    if len(parts.loss) - line <= room:
        return False
    return len({parts.outcomes[place] for place in range(line, len(parts.loss))}) > led


def _line(parts: Parts) -> int:
    """How many of the parts are cells of noise on a line; they come first."""
    return getattr(parts.outcomes, "line", 0)


def _telling(parts: Parts, some: slice) -> set[int]:
    """The places of the largest and the smallest loss, and the likeliest on either table."""
    laws = [parts.loss, -parts.loss, *(law for law in (parts.here, parts.there) if law is not None)]
    return {some.start + int(np.argmax(law[some])) for law in laws}


def _spread(parts: Parts, first: int, room: int) -> list[int]:
    """All places from the first on, or as many as there is room for."""
    size = len(parts.loss) - first
    if size <= room:
        return list(range(first, first + size))
    telling = _telling(parts, slice(first, None))
    half = (room - len(telling)) // 2
    if half <= 0:
        return sorted(telling)
    order, even = np.argsort(parts.loss[first:]), np.linspace(0, size - 1, half).astype(int)
    return sorted({*telling, *(first + int(place) for place in (*order[even], *even))})
