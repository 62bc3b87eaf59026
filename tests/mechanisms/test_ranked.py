"""Codes by rank without sorting all of them say what a sorted array says; so do long products in arrays."""

import numpy as np
import pytest

from sordino.mechanisms.clip.long_codes import shifted_products, shifted_quotients
from sordino.mechanisms.quantile import ranked
from sordino.mechanisms.quantile.ranked import Ranked, RankedPart


def columns(rng, rows, last):
    """Spread, heaped at an end and in the middle, and far below the bounds."""
    yield rng.integers(0, last + 1, rows)
    yield np.full(rows, last)
    yield np.where(rng.random(rows) < 0.6, last // 3, rng.integers(0, last + 1, rows))
    yield rng.integers(0, max(last >> 20, 1) + 1, rows)


def disagreements(rows, last):
    """Windows and counts that differ from those of a sorted array."""
    rng, found = np.random.default_rng(rows), 0
    for codes in columns(rng, rows, last):
        ordered, column = np.sort(codes), Ranked(codes, 0, last)
        assert len(column) == rows
        for _ in range(12):
            start, stop = np.sort(rng.integers(0, rows + 1, 2)).tolist()
            near = min(start + 5, rows)
            found += column.between(start, stop).tolist() != ordered[start:stop].tolist()
            found += column.between(start, near).tolist() != ordered[start:near].tolist()
            point = int(rng.choice([rng.integers(-1, last + 2), rng.choice(ordered) if rows else 0]))
            found += column.until(point) != np.searchsorted(ordered, point, side="right")
            below, above = RankedPart(column, start, stop).split(point)
            split = int(np.searchsorted(ordered[start:stop], point, side="right"))
            found += below[:].tolist() != ordered[start:stop][:split].tolist()
            found += above[1:3].tolist() != ordered[start:stop][split:][1:3].tolist()
    return found


@pytest.mark.parametrize("last", [1, 100, 2**40, 2**60])
@pytest.mark.parametrize("rows", [0, 1, 50, 700])
def test_ranks_are_those_of_a_sorted_column(monkeypatch, rows, last):
    """Few rows are sorted at once, so that small columns go the way of large ones."""
    monkeypatch.setattr(ranked, "FEW", 8)
    monkeypatch.setattr(ranked, "CELL_BITS", 3)
    assert disagreements(rows, last) == 0


def test_a_long_column_is_not_sorted_whole():
    codes = np.random.default_rng(1).lognormal(20, 1, 200_000).astype(np.int64)
    column, ordered = Ranked(codes, 0, 2**44), np.sort(codes)
    assert column.between(99_000, 101_000).tolist() == ordered[99_000:101_000].tolist()
    assert column.until(int(ordered[99_500])) == np.searchsorted(ordered, ordered[99_500], side="right")


def test_a_planted_error_is_noticed(monkeypatch):
    """Rows of a cell in the order of the table."""
    monkeypatch.setattr(ranked, "FEW", 8)
    monkeypatch.setattr(ranked, "CELL_BITS", 3)
    monkeypatch.setattr(Ranked, "_sorted", Ranked._gathered)
    assert disagreements(700, 2**40)


def test_products_and_quotients_of_any_length_are_exact():
    rng = np.random.default_rng(2)
    for bits in (10, 31, 45, 55):
        factors = rng.integers(-(2**bits), 2**bits, 40)
        times, shifts = rng.integers(1, 2 ** rng.integers(2, 61, 40)), rng.integers(bits + 1, 62, 40)
        triples = list(zip(factors.tolist(), times.tolist(), shifts.tolist(), strict=True))
        assert shifted_products(factors, times, shifts).tolist() == [f * t >> s for f, t, s in triples]
        divisors, left = times + 2**bits, rng.integers(0, 60, 40)
        triples = list(zip(factors.tolist(), divisors.tolist(), left.tolist(), strict=True))
        fits = [abs((f << s) // d) < 2**63 for f, d, s in triples]
        found = shifted_quotients(factors, left, divisors).tolist()
        assert all(found[at] == (f << s) // d for at, (f, d, s) in enumerate(triples) if fits[at])
        assert sum(fits) > 20
