"""Where we stand, in a few sentences made from the numbers; the first thing on the page."""

from benchmarks.peers import board
from benchmarks.peers.accuracy_tables import number
from benchmarks.peers.board import WORDS
from benchmarks.peers.libraries import REPLACE_ONE
from benchmarks.peers.speed import SAFE, seconds


def split(found):
    """The sentence that leads: what the bounds decide."""
    now = {
        regime: one for (relation, regime), one in board.standings(found).items() if relation == REPLACE_ONE
    }
    if not now:
        return []
    parts = [f"**{number(one.middle)}** with {WORDS[regime]}" for regime, one in now.items()]
    means = [f"{number(one.mean.value)}" for one in now.values()]
    sentence = (
        f"The bounds decide. Knowing nothing but them, replace-one, our error is in the middle cell "
        f"{', '.join(parts)} of the best peer's; in the geometric mean {', '.join(means)}. Every statistic counts "
        f"once: a mean is set against the better of the two ways in which the peers can be asked for it."
    )
    return [sentence]


def losses(found):
    """How often a peer is better, under either relation."""
    told = []
    for relation in board.RELATIONS:
        now = [one for (kept, _), one in board.standings(found).items() if kept == relation]
        if now:
            cells, better, over, hopeless = (
                sum(len(getattr(one, name)) for one in now) for name in ("rows", "better", "over", "hopeless")
            )
            told.append(
                f"{relation.capitalize()}: a peer is better in {better} of {cells} cells, by more than "
                f"{board.WORST:g} in {over}; our answer is useless (its error exceeds the column's spread) and a "
                f"peer's is not in {hopeless}."
            )
    return told


def speed(measured):
    """One sentence about time."""
    words = []
    for query in ("median", "mean"):
        safe = [cost for name in SAFE if (cost := seconds(measured, query, 10**6, name, "fresh"))]
        mine = seconds(measured, query, 10**6, "sordino", "fresh")
        if safe and mine:
            words.append(f"a {query} of a million floats takes **{number(min(safe) / mine)}** times less CPU")
    if not words:
        return []
    return [f"Against the fastest float-safe peer {' and '.join(words)} from the array to the answer."]


def lines(found):
    """All of it as a list."""
    return "\n".join(f"- {sentence}" for sentence in split(found) + losses(found)) + "\n"
