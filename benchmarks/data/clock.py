"""Processor time of a piece of work, as the benchmarks of this folder measure it."""

import time


def seconds(work, repeats=3):
    """The best of a few runs, in processor seconds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best
