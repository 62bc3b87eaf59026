"""The time of a release does not tell its noise, and threads do not disturb each other's exactness."""

import gc
import threading
import time

import numpy as np
import pytest
from scipy import stats

from sordino.exact import Bits, draw
from sordino.lattice import Lattice
from tests.support.exact_harness import FAMILIES, RECIPES, Scripted, near_edges


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", FAMILIES)
def test_noise_and_time_of_the_fast_path_are_uncorrelated(name):
    recipe, source, grid = RECIPES[name], Bits(), Lattice.dyadic(-20)
    scale = 1 / recipe.unit
    correlations = []
    gc.disable()
    try:
        # The machine is shared: the median of several runs is what the code does, the rest is weather.
        for _ in range(5):
            noise, seconds = np.empty(10_000), np.empty(10_000)
            for i in range(10_000):
                start = time.perf_counter_ns()
                k = draw(recipe, location=0, scale=scale, grid=grid, bits=source)
                seconds[i] = time.perf_counter_ns() - start
                noise[i] = abs(k)
            correlations.append(stats.spearmanr(noise, seconds).statistic)
    finally:
        gc.enable()
    assert abs(np.median(correlations)) < 0.05


def test_the_slow_path_is_exact_in_several_threads_at_once():
    """The precision of FLINT is a global setting; balls are valid at any."""
    recipe = RECIPES["gaussian"]
    cases = near_edges(recipe, 30, 20, 140, seed=61)
    wrong = []
    gate = threading.Barrier(4)

    def work():
        gate.wait()
        for words, more, location, expected in cases:
            k = draw(
                recipe, location=location, scale=1 << 20, grid=Lattice.dyadic(0), bits=Scripted(words + more)
            )
            if k != expected:
                wrong.append((k, expected))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
