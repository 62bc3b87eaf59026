"""Least processor time of several runs that take turns, and the ratio of two: what a shared machine can tell."""

import time

TURNS = 7


def least(*works, turns=TURNS):
    """The least processor seconds of each piece of work; all threads of this process count."""
    best = [float("inf")] * len(works)
    for _ in range(turns):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best


def ratio(ours, theirs, turns=TURNS):
    """How many times as long ours takes as theirs."""
    mine, other = least(ours, theirs, turns=turns)
    return mine / other
