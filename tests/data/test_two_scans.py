"""Two scans of a cluster: the numpy kernel's answers for every group, short answers, and data that change are noticed.

The queries are narwhals': here polars answers them, in `test_servers` Spark.
"""

from __future__ import annotations

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import sordino as sd
from sordino.data import kernel, lazy, open_source, two_scans
from sordino.data.passes import CODE
from sordino.errors import DataError
from sordino.lattice import FINE_BITS, RowLattice
from sordino.reading.requests import FIRST, LAST, Rank, Request, Window
from sordino.reading.split import Split
from tests.data.test_passes import WINDOWS, alike, loose

KEYS = ("a", "b", "nobody")


def asked(bits):
    grid = RowLattice(0, 1e6, bits=bits)
    squares, middle = bits < 32, grid.last // 10**6
    return (
        Request("x", grid, WINDOWS, squares=squares, cuts=(1, middle)),
        Request("x", grid, (Window(FIRST, 700), Window(LAST, 700))),
        Request("x", grid, within=(middle, 2 * middle + 1), squares=squares),
    )


def _by_kernel(values, request):
    return kernel.summarise_together(kernel.coded(values, request.grid), (request,))[request]


def coded(values, keys, grid):
    codes = np.asarray(kernel.coded(values, grid), np.float64)
    return nw.from_native(
        pl.LazyFrame({"sordino_key0": list(keys), CODE: codes}, schema_overrides={"sordino_key0": pl.String})
    )


@pytest.mark.parametrize("bits", [3, 13, 31, FINE_BITS, 50])
@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_every_group_is_answered_as_the_kernel_does(bits, rows):
    values, keys, requests = loose(rows), np.array(KEYS[:2])[np.arange(rows) % 2], asked(bits)
    frame = coded(values, keys, requests[0].grid)
    found = two_scans.summaries(frame, Split(("g",), (KEYS,)), requests, "table")
    for key, answers in zip(KEYS, found, strict=True):
        for request, answer in zip(requests, answers, strict=True):
            expected = _by_kernel(values[keys == key], request)
            alike(answer, expected)
            assert answer.squares == expected.squares
    whole = two_scans.summarise(frame.select(CODE), requests, "table")
    for request in requests:
        alike(whole[request], _by_kernel(values, request))


def scans(monkeypatch, fault=None):
    """The lengths of what an engine sends, in turn; a fault of the second answer."""
    lengths, plain = [], two_scans.collected

    def watched(frame):
        found = {name: values.copy() for name, values in plain(frame).items()}
        lengths.append(max(map(len, found.values())))
        if fault is not None and len(lengths) == 2:
            fault(found)
        return found

    monkeypatch.setattr(two_scans, "collected", watched)
    return lengths


def test_two_answers_whose_length_the_rows_do_not_change(monkeypatch):
    """All rows lie in one bucket of the first scan; what comes back of the second are the windows."""
    lengths, request = scans(monkeypatch), Request("x", RowLattice(0, 1e6, bits=FINE_BITS), WINDOWS[1:3])
    most = sum(2 * window.reach + 1 for window in request.windows)
    for rows in (2_000, 60_000):
        lengths.clear()
        two_scans.summarise(coded(loose(rows), ["a"] * rows, request.grid).select(CODE), (request,), "table")
        assert len(lengths) == 2
        assert lengths[0] <= 2 ** two_scans.bucket_bits(1)
        assert lengths[1] <= most


def one_row_less(found):
    found[two_scans.ALL] -= 1


def nothing(found):
    for name in found:
        found[name] = found[name][:0]


def a_code_less(found):
    for name in found:
        found[name] = found[name][1:]


@pytest.mark.parametrize("fault", [one_row_less, nothing, a_code_less])
def test_a_second_scan_that_does_not_fit_is_noticed(fault, monkeypatch):
    scans(monkeypatch, fault)
    request = Request("x", RowLattice(0, 1e6, bits=FINE_BITS), (Window(Rank(1, 2), 5),))
    with pytest.raises(DataError, match="changed while"):
        two_scans.summarise(coded(loose(500), ["a"] * 500, request.grid).select(CODE), (request,), "table")


def test_what_one_group_sends_shrinks_with_their_number():
    assert [two_scans.bucket_bits(groups) for groups in (1, 128, 129, 4096, 10**9)] == [13, 13, 12, 8, 6]


def test_sums_of_each_group_between_codes_of_its_own():
    values, keys = loose(900), np.array(KEYS[:2])[np.arange(900) % 2]
    grid = RowLattice(0, 1e6, bits=31)
    requests = tuple(
        Request("x", grid, within=ends, squares=squares)
        for ends, squares in (((2000, 4000), True), ((0, 3000), False), ((5, 9), True))
    )
    found = two_scans.sums_of_each(coded(values, keys, grid), Split(("g",), (KEYS,)), requests)
    for key, request, answer in zip(KEYS, requests, found, strict=True):
        expected = _by_kernel(values[keys == key], request)
        assert (answer.rows, answer.total, answer.squares) == (
            expected.rows,
            expected.total,
            expected.squares,
        )


@pytest.mark.parametrize(
    ("statistic", "most"), [(sd.Median("x", low=0, high=1e6), 2), (sd.Mean("x", low=0, high=1e6), 3)]
)
def test_a_release_by_group_takes_so_many_scans_whatever_the_groups(statistic, most, monkeypatch):
    """A mean asks again for sums between cuts of each group: of all groups together."""
    monkeypatch.setattr("sordino.session.groups.CODES", 1 << 12)  # what is answered from memory at a time
    groups, rows = 60, 500
    table = {
        "x": np.random.default_rng(3).lognormal(7, 1, groups * rows),
        "g": np.repeat(range(groups), rows),
    }
    source = open_source(pl.DataFrame(table).lazy())
    source._nearby, source._name = False, lazy.SPARK
    lengths = scans(monkeypatch)
    people = sd.open(source, budget=sd.Pure(10))
    people.release_by("g", tuple(range(groups)), statistic, sd.Pure(5))
    assert len(lengths) == most
    monkeypatch.setattr("sordino.session.groups.FAR_CODES", 1 << 13)  # as if more could not be sent
    lengths.clear()
    people.release_by("g", tuple(range(groups)), statistic, sd.Pure(5))
    assert len(lengths) > most
