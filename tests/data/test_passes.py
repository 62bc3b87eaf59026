"""The passes of an engine: the numpy kernel's answers on lattices of any size, and no long answer between them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sordino.data import kernel, open_source, passes
from sordino.errors import DataError
from sordino.lattice import BITS, FINE_BITS, RowLattice
from sordino.reading.requests import FIRST, LAST, Rank, Request, Window

WINDOWS = (
    Window(FIRST, 3),
    Window(Rank(1, 10), 40),
    Window(Rank(1, 2), 5),
    Window(Rank(1, 2), 0),
    Window(LAST, 2),
)


def loose(rows, seed=5):
    """A column that lies in a millionth of its bounds, with ties."""
    rng = np.random.default_rng(seed)
    values = 1 + rng.pareto(2.5, rows)
    values[: rows // 20] = 1.25
    return values


def request(bits):
    return Request("x", RowLattice(0, 1e6, bits=bits), WINDOWS, cuts=(1, 2**bits // 10**6))


def alike(one, other):
    assert (one.rows, one.total, one.below) == (other.rows, other.total, other.below)
    for left, right in zip(one.runs, other.runs, strict=True):
        assert (left.first, left.below, left.rows, left.top) == (
            right.first,
            right.below,
            right.rows,
            right.top,
        )
        assert left.codes.tolist() == right.codes.tolist()


@pytest.mark.parametrize("bits", [3, 12, 31, 33, FINE_BITS, 50])
@pytest.mark.parametrize("rows", [0, 1, 7, 3000])
def test_passes_answer_as_the_kernel_does(bits, rows):
    asked = request(bits)
    (found,) = open_source(pl.LazyFrame({"x": loose(rows)})).summary(asked)
    alike(found, kernel.summarise(kernel.coded(loose(rows), asked.grid), asked))


@pytest.mark.parametrize("bits", range(1, 51))
def test_every_pass_groups_by_few_bits(bits):
    shifts = passes.shifts(2**bits)
    steps = [(2**bits).bit_length() - shifts[0], *(a - b for a, b in zip(shifts, shifts[1:], strict=False))]
    assert shifts[-1] == 0
    assert steps[0] <= 12
    assert all(0 < step <= 20 for step in steps)
    assert len(shifts) == 1 + (bits >= 12) + (bits >= 32)


def test_no_answer_of_an_engine_grows_with_the_rows(monkeypatch):
    """All rows lie in one bucket of the first pass; two passes alone would fetch every distinct code."""
    lengths = []
    plain = passes.collected

    def counted(frame):
        found = plain(frame)
        lengths.append(max(map(len, found.values())))
        return found

    monkeypatch.setattr(passes, "collected", counted)
    rows, asked = 60_000, Request("x", RowLattice(0, 1e6, bits=FINE_BITS), (Window(Rank(1, 2), 5),))
    source = open_source(pl.LazyFrame({"x": loose(rows)}))
    (fine,) = source.summary(asked)
    assert max(lengths) < rows / 10
    assert len(lengths) == 3
    monkeypatch.setattr(passes, "CODE_BITS", 50)
    lengths.clear()
    (coarse,) = source.summary(asked)
    alike(fine, coarse)
    assert max(lengths) > rows / 2


@pytest.mark.parametrize("call", [2, 3])
@pytest.mark.parametrize("fault", ["one row less", "another bucket", "nothing"])
def test_a_later_pass_that_does_not_fit_is_noticed(call, fault, monkeypatch):
    calls = 0
    plain = passes.collected

    def faulty(frame):
        nonlocal calls
        calls += 1
        found = {name: values.copy() for name, values in plain(frame).items()}
        if calls == call and fault == "nothing":
            return {name: values[:0] for name, values in found.items()}
        if calls == call:
            found[passes.ROWS if fault == "one row less" else passes.BUCKET][0] -= (
                1 if fault == "one row less" else 2**40
            )
        return found

    monkeypatch.setattr(passes, "collected", faulty)
    with pytest.raises(DataError, match="changed while"):
        open_source(pl.LazyFrame({"x": loose(500)})).summary(
            Request("x", RowLattice(0, 1e6, bits=FINE_BITS), (Window(Rank(1, 2), 5),))
        )
    assert calls == call


def test_what_is_summed_keeps_the_integers_of_engines():
    assert RowLattice(0, 1).last == 2**BITS < 2**32
    assert 2**FINE_BITS < 2**45  # groups beside it: 19 bits of a signed integer
