"""One pass over a column answers as the kernel does: every kind of request, lattice and column."""

import math

import numpy as np
import pytest

from sordino.data import one_pass
from sordino.data.kernel import coded, summarise_together
from sordino.lattice import RowLattice
from sordino.reading.requests import FIRST, LAST, Rank, Request, Window

ROWS = one_pass.BLOCK + 4321
RNG = np.random.default_rng(5)
SPREAD = RNG.lognormal(3, 2, ROWS)
COLUMNS = {
    "spread": SPREAD,
    "sorted": np.sort(SPREAD),
    "zeros": np.where(RNG.random(ROWS) < 0.7, 0.0, SPREAD),
    "one value": np.full(ROWS, 2.5),
    "heap at the top": np.minimum(SPREAD, 30.0),
    "missing": np.where(RNG.random(ROWS) < 0.3, np.nan, SPREAD),
    "infinite": np.where(RNG.random(ROWS) < 0.001, np.inf, -SPREAD),
    "whole numbers": RNG.integers(-5, 2000, ROWS),
}
GRIDS = {
    "fine": RowLattice(0, 1000, bits=44),
    "usual": RowLattice(-10, 1000),
    "whole": RowLattice(0, 1000, step=1),
    "dropping": RowLattice(0, 1000, missing="drop"),
    "above": RowLattice(30, math.nextafter(30, 31), bits=0, missing=30),
    "above nothing": RowLattice(0, 2e-290, bits=0, missing=0),
}


def same(ours, theirs):
    for request, mine in ours.items():
        other = theirs[request]
        assert (mine.rows, mine.total, mine.squares, mine.below) == (
            other.rows,
            other.total,
            other.squares,
            other.below,
        )
        for run, twin in zip(mine.runs, other.runs, strict=True):
            assert (run.first, run.below, run.rows, run.top) == (twin.first, twin.below, twin.rows, twin.top)
            assert run.codes.dtype == twin.codes.dtype
            assert run.codes.tolist() == twin.codes.tolist()


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("lattice", GRIDS)
def test_one_pass_answers_as_the_kernel_does(column, lattice):
    values, grid = COLUMNS[column], GRIDS[lattice]
    middle = grid.last // 3
    ends = (Window(FIRST, 40), Window(LAST, 700), Window(Rank(1, 1, offset=-60), 50))
    asked = [
        (Request("x", grid),),
        (Request("x", grid, windows=ends),),
        (Request("x", grid, cuts=(middle, 1)), Request("x", grid, within=(middle // 2, middle + 1))),
        (Request("x", grid, windows=ends[:2], squares=True, depth=3),),
    ]
    for requests in asked:
        wanted = summarise_together(coded(values, grid), requests)
        same(one_pass.summarise_column(values, grid, requests), wanted)


def test_what_lies_in_the_middle_goes_to_the_kernel(monkeypatch):
    used = []
    monkeypatch.setattr(one_pass, "coded", lambda *parts: used.append(1) or coded(*parts))
    grid = GRIDS["usual"]
    one_pass.summarise_column(SPREAD, grid, (Request("x", grid, windows=(Window(FIRST, 40),), squares=True),))
    assert not used
    median = Request("x", grid, windows=(Window(Rank(1, 2), 40),))
    found = one_pass.summarise_column(SPREAD, grid, (median,))[median]
    assert used
    assert found.runs[0].codes[40] == np.sort(coded(SPREAD, grid))[-(-ROWS // 2) - 1]


def test_a_sample_that_misleads_costs_a_second_pass_and_no_row(monkeypatch):
    values = np.zeros(ROWS)
    values[1::2] = 1 + np.arange(len(values[1::2]))  # every row of the sample is a zero
    monkeypatch.setattr(one_pass, "SAMPLE", ROWS // 2)
    grid = RowLattice(0, 100_000, step=1)
    requests = (Request("x", grid, windows=(Window(LAST, 100),)),)
    same(
        one_pass.summarise_column(values, grid, requests), summarise_together(coded(values, grid), requests)
    )
