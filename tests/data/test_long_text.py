"""Long CSV files: the same answers as those of short ones, in memory that does not grow with the file."""

from __future__ import annotations

import csv
import tracemalloc

import pytest

import sordino as sd
from sordino.data import open_source, records, text_file
from sordino.data.long_text import LongText
from sordino.lattice import RowLattice
from sordino.reading.requests import Blocks, Bundle, Cells, Columns, Condition, Rank, Request, Window
from sordino.testing.source_laws import differences
from sordino.testing.source_reading import shown
from tests.data.test_law import COMBINED, people
from tests.support.data_rows import long_files

GRIDS = RowLattice(0, 10, missing="drop"), RowLattice(0, 10, step=1, missing=2), RowLattice(0, 10, bits=45)
MEDIAN = Window(Rank(1, 2), 5)
REQUESTS = (
    *(Request("x", grid, (MEDIAN,), cuts=(3, 10**6)) for grid in GRIDS),
    Request("x", GRIDS[0], squares=True, within=(5, 90)),
    Request("t", GRIDS[0], (MEDIAN,)),
    Request("(x / k)", GRIDS[0], (MEDIAN,)),
)
GROUPS = (("g", ("b", "a", "nobody", "c é")), ("k", (3, 2**60, 1, 9)), ("t", (5, 1)), *COMBINED)
CONDITIONS = (
    (),
    (Condition("x", ">", 1), Condition("x", "!=", 3.5)),
    (Condition("g", "in", ("a", "b")), Condition("(x / k)", ">", 0.5)),
    (Condition("x", ">", 1e9),),
)


@pytest.fixture
def path(tmp_path):
    """Rows of people, some without a number, a group or a person, and a record that is too short."""
    table = people()
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        rows = (["" if one is None else one for one in row.values()] for row in table.to_pylist())
        writer.writerows(
            [" ".join(one.split()) if isinstance(one, str) else one for one in row] for row in rows
        )
        file.write('3.5,"a\n')
    return tmp_path / "people.csv"


@pytest.mark.parametrize("unit", [None, sd.Unit("u", 3)])
def test_long_files_are_read_as_short_ones(path, unit):
    short = open_source(path, unit=unit)
    with long_files(1 << 13):
        long = open_source(path, unit=unit)
        assert isinstance(long, LongText)
        for conditions in CONDITIONS:
            one, two = short.where(*conditions), long.where(*conditions)
            assert isinstance(two, LongText)
            assert one.rows == two.rows
            assert list(differences(one, two, REQUESTS, GROUPS)) == []
            bundle = Bundle((REQUESTS[0], Cells("g", ("a", "b"))))
            (left,), (right,) = one.summary(bundle), two.summary(bundle)
            assert (left.rows, left.parts[1].counts) == (right.rows, right.parts[1].counts)
            assert shown(left.parts[0]) == shown(right.parts[0])
            for whole in (Columns(("x", "row"), (GRIDS[0], GRIDS[0])), Blocks(("x", "g"))):
                (left,), (right,) = one.summary(whole), two.summary(whole)
                assert left.rows == right.rows
                assert repr(left.codes) == repr(right.codes)


def test_a_stretch_that_is_forgotten_is_noticed(path, monkeypatch):
    short, honest = open_source(path), text_file.TextFile.parts
    monkeypatch.setattr(text_file.TextFile, "parts", lambda self, names: list(honest(self, names))[1:])
    with long_files(1 << 13):
        assert list(differences(short, open_source(path), REQUESTS[:1], ()))


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Of a file of 6 MB a column of doubles alone would take 4."""
    path = tmp_path / "long.csv"
    path.write_text("x,text\n" + "".join(f"{place % 97},abc\n" for place in range(500_000)))

    def peak(source):
        tracemalloc.start()
        summary = source.summary(Request("x", RowLattice(0, 96, step=1), (MEDIAN,)))[0]
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most, summary.rows, summary.total

    short = peak(open_source(path))
    with long_files(1 << 16):
        long = peak(open_source(path))
    assert short[1:] == long[1:] == (500_000, sum(place % 97 for place in range(500_000)))
    assert short[0] > 4e6
    assert long[0] < 3e6


def test_only_the_columns_of_a_question_are_read(path, monkeypatch):
    """Each once; those of one question in one pass."""
    seen, honest = [], text_file.read_stretch

    def watched(raw, **options):
        seen.append(options["places"])
        return honest(raw, **options)

    monkeypatch.setattr(text_file, "read_stretch", watched)
    source = open_source(path)
    assert seen == []
    for _ in range(2):
        source.summary(REQUESTS[0])
        assert seen == [(0,)]
    both = Columns(("k", "row"), (GRIDS[0], GRIDS[0]))
    for _ in range(2):
        source.summary(both)
        assert seen == [(0,), (3, 5)]


@pytest.mark.parametrize(("bits", "scans"), [(12, 1), (31, 2), (44, 2), (50, 3)])
def test_a_rank_in_the_middle_is_found_in_few_scans(path, bits, scans):
    seen, asked = [], Request("x", RowLattice(0, 10, bits=bits), (MEDIAN,), cuts=(3, 700))
    with records.watching(lambda done, size: seen.append(done == size)), long_files(1 << 10):
        source = open_source(path)
        seen.clear()
        source.summary(asked)
    assert seen.count(True) == scans


def test_whoever_watches_sees_bytes(path):
    seen = []
    with records.watching(lambda *told: seen.append(told)), long_files(1 << 10):
        open_source(path).summary(REQUESTS[1])
    size = path.stat().st_size
    done = [one for one, _ in seen]
    assert {of for _, of in seen} == {size}
    assert done.count(size) == 2  # counted, and read in one scan
    assert done[: done.index(size)] == sorted(done[: done.index(size)])
    assert len(done) > 2 * size / 1024
