"""Streams of codes answer as the kernel does: buckets that are dense or rare, fine lattices, heaps, missing rows."""

import numpy as np
import pytest

from sordino.data import streamed
from sordino.data.kernel import coded, summarise_together
from sordino.data.passes import summarise_frame
from sordino.lattice import RowLattice
from sordino.reading.requests import FIRST, LAST, Rank, Request, Window
from tests.data.test_one_pass import same

RNG = np.random.default_rng(6)
VALUES = np.concatenate([RNG.lognormal(2, 1, 900), np.full(300, 5.0), [np.nan, np.inf, -np.inf, 0.0]])


def batches():
    yield VALUES[:700]
    yield VALUES[:0]
    yield VALUES[700:].astype(np.float64)


@pytest.mark.parametrize("bits", [3, 12, 31, 44, 50])
@pytest.mark.parametrize("missing", [0, "drop"])
@pytest.mark.parametrize("dense", [1 << 4, 1 << 22])
def test_a_stream_answers_as_the_kernel_does(bits, missing, dense, monkeypatch):
    monkeypatch.setattr(streamed, "DENSE", dense)
    grid = RowLattice(0, 100, bits=bits, missing=missing)
    ends, middle = (Window(FIRST, 5), Window(LAST, 70)), Window(Rank(1, 2), 9)
    some = (1, grid.last // 2, grid.last)
    asked = [
        (Request("x", grid),),
        (Request("x", grid, windows=ends, cuts=some),),
        (Request("x", grid, windows=(*ends, middle), cuts=some, squares=bits < 32),),
        (Request("x", grid, windows=(middle,)), Request("x", grid, within=(1, grid.last // 2 + 1))),
    ]
    for requests in asked:
        found = summarise_frame(streamed.StreamedCodes.of(batches, grid), requests, "file")
        same(found, summarise_together(coded(VALUES, grid), requests))
