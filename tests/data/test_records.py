"""Records of CSV files: whatever one record holds, it is one row, and the rows of the others stay as they are."""

from __future__ import annotations

import csv
import gzip
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sordino.data import open_source, records
from sordino.errors import DataError
from sordino.privacy import Unit
from sordino.reading.requests import Cells, Columns, Condition, Grid, Request

GRID = Grid(0, 1000, step=1, missing=999)
OTHERS = [[str(i % 90), ["north", 'sou"th', "east, or west", "two\nlines", ""][i % 5]] for i in range(60)]

HOSTILE = {
    "bytes that are no UTF-8": b"1,\x80\xff\xc0\x80\xed\xa0\x80",
    "such bytes in the number": b"\xff\xfe,a",
    "every byte": b"1," + bytes(byte for byte in range(256) if byte not in b'\n",'),
    "NUL": b"\x00,\x00",
    "nothing": b"",
    "only a carriage return": b"\r",
    "carriage returns": b"1\r2,a\rb\r\r",
    "short": b"1",
    "long": b"1,a,b,c,d,e",
    "only separators": b",,,,",
    "a mark of byte order": b"\xef\xbb\xbf1,a",
    "a quote that is not closed": b'1,"a',
    "a quote at the end": b'1,"',
    "a quote closed too early": b'1,"a"b"c',
    "a quote inside": b'1,a"b',
    "a backslash before a quote": b'1,"a\\"b"',
    "only quotes": b'"""',
    "line breaks in quotes": b'1,"a\r\nb\n\n"',
    "separators in quotes": b'1,"a,b;c"',
    "three million bytes": b"1," + b"a" * 3_000_000,
    "three million bytes of lines in quotes": b'1,"' + b"a\n" * 1_500_000 + b'"',
    "twenty million bytes": b"7" * 20_000_000 + b",a",
}


def written(rows):
    """As a writer of CSV files writes them."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def opened(folder, record, ending="csv", place=30, others=OTHERS, unit=None):
    """A table of others with one record among them."""
    content = b"x,g\n" + written(others[:place]) + record + b"\n" + written(others[place:])
    path = folder / f"t.{ending}"
    with gzip.open(path, "wb", 1) if ending.endswith("gz") else path.open("wb") as file:
        file.write(content)
    return open_source(path, unit=unit)


def codes(source):
    """The numbers of all rows in order."""
    return source.summary(Columns(("x",), (GRID,)))[0].codes[0].tolist()


PLACES = [
    (name, place, ending)
    for name, record in HOSTILE.items()
    for place, ending in ((30, "csv"), (30, "csv.gz"), (0, "csv"), (60, "csv"))
    if place == 30 or len(record) < 10**6
]


@pytest.mark.parametrize(("name", "place", "ending"), PLACES)
def test_one_record_is_one_row_whatever_it_holds(name, place, ending, tmp_path):
    """For every set of columns that is read, with conditions, groups and counts; others are read alike."""
    source = opened(tmp_path, HOSTILE[name], ending, place)
    assert source.rows == 61
    assert source.summary(Request("x", GRID))[0].rows == 61
    assert source.summary(Cells("g", ("north",)))[0].rows == 61
    read = codes(source)
    assert read[:place] + read[place + 1 :] == [int(x) for x, _ in OTHERS]
    assert source.counts("g", ("north", 'sou"th', "east, or west", "two\nlines")) == (12, 12, 12, 12)
    assert source.where(Condition("g", "==", "two\nlines")).rows == 12


def test_what_a_hostile_record_says_itself(tmp_path):
    """Its fields as far as they can be read."""
    numbers = {name: codes(opened(tmp_path, record))[30] for name, record in HOSTILE.items()}
    missing = {
        "such bytes in the number", "NUL", "nothing", "only a carriage return", "carriage returns",
        "only separators", "a mark of byte order", "only quotes",
    }  # fmt: skip
    assert {name for name, number in numbers.items() if number == 999} == missing
    assert numbers.pop("twenty million bytes") == 1000
    assert {number for name, number in numbers.items() if name not in missing} == {1}


@given(st.lists(st.binary(max_size=30), min_size=0, max_size=4), st.integers(0, 60))
def test_a_record_of_any_fields_is_one_row(tmp_path_factory, fields, place):
    """As long as a writer of CSV files wrote it, whatever bytes the fields hold."""
    quoted = b",".join(b'"' + field.replace(b'"', b'""') + b'"' for field in (fields * 2)[:2])
    source = opened(tmp_path_factory.mktemp("records"), quoted, place=place)
    assert source.rows == 61
    read = codes(source)
    assert read[:place] + read[place + 1 :] == [int(x) for x, _ in OTHERS]


@given(st.binary(max_size=40).map(lambda some: some.replace(b"\n", b"")), st.integers(0, 60))
@example(b'1,"', 0)
@example(b'""",', 60)
def test_a_line_of_any_bytes_is_one_row(tmp_path_factory, line, place):
    """Also when no writer of CSV files would write it."""
    others = [[x, g.replace("\n", " ")] for x, g in OTHERS]
    source = opened(tmp_path_factory.mktemp("lines"), line, place=place, others=others)
    read = codes(source)
    assert len(read) == source.rows == 61
    assert read[:place] + read[place + 1 :] == [int(x) for x, _ in others]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_records_do_not_depend_on_how_the_file_is_cut(size, tmp_path, monkeypatch):
    """Nor on which of the two ways of parsing a stretch takes."""
    whole = codes(opened(tmp_path, HOSTILE["line breaks in quotes"]))
    monkeypatch.setattr(records, "BLOCK", size)
    assert codes(opened(tmp_path, HOSTILE["line breaks in quotes"])) == whole
    monkeypatch.setattr(records, "_plainly", lambda *_: None)
    assert codes(opened(tmp_path, HOSTILE["line breaks in quotes"])) == whole


def test_a_record_that_is_too_long_ends_where_it_should(tmp_path, monkeypatch):
    """What is beyond the limit is cut off; a quoted field that goes on beyond it ends with its line."""
    monkeypatch.setattr(records, "LONGEST", 100)
    monkeypatch.setattr(records, "BLOCK", 50)
    assert opened(tmp_path, b"1," + b"a" * 5000).rows == 61
    assert opened(tmp_path, b'1,"' + b"a\n" * 40 + b'"').rows == 61
    assert opened(tmp_path, b'1,"' + b"a\n" * 400 + b'"').rows == 61 + 400
    limit = csv.field_size_limit()
    assert limit == 131072  # as it was


def test_a_quote_that_meets_one_of_another_record_is_told_by_the_number_of_fields(tmp_path):
    """Somebody else's field begins with a separator, so its quote looks like the end of the open one."""
    others = [["5", ",x"], ["6", "y"]]
    source = opened(tmp_path, b'1,"a', place=0, others=others)
    assert codes(source) == [1, 5, 6]
    assert source.counts("g", ("a", ",x", "y")) == (1, 1, 1)


def test_units_keep_the_order_of_the_file_and_broken_names_are_people_too(tmp_path):
    """Of a person whose name is no UTF-8 as many rows are used as of others."""
    source = opened(tmp_path, b"1,\xff\n2,\xff\n3,\xff", unit=Unit("g", 2))
    assert source.summary(Request("x", GRID))[0].rows == 2 * 5


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_follows_from_the_header(separator, tmp_path):
    """Which is public; records that hold other separators do not change it."""
    path = tmp_path / "t.csv"
    other = ",;|".replace(separator, "")
    path.write_text(
        separator.join(("name", "x", "y")) + "\n" + separator.join((f"a{other}", "5", "6")) + "\n"
    )
    assert open_source(path).summary(Request("y", GRID))[0].total == 6


def test_decimal_commas_are_read_where_they_are_said_to_be(tmp_path):
    """And a point is then no decimal point: 1.234 may be a thousand."""
    path = tmp_path / "t.csv"
    path.write_text('x;g\n1,5;a,b\n"2,5";1,5\n1.234;c\n1.234,5;d\n7;e\n,5;\n-1,5e1;\n')
    grid = Grid(-100, 100, step=0.5, missing="drop")
    (summary,) = open_source(path, decimal=",").summary(Request("x", grid))
    assert summary.rows == 5
    assert summary.total == 2 * (500 + 1.5 + 2.5 + 7 + 0.5 - 15)
    (summary,) = open_source(path).summary(Request("x", grid))
    assert (summary.rows, summary.total) == (2, 202 + 214)
    assert open_source(path, decimal=",").counts("g", ("a,b", "e")) == (1, 1)
    with pytest.raises(DataError, match="decimal"):
        open_source({"x": [1.5]}, decimal=",")
    with pytest.raises(ValueError, match="decimal must be one of"):
        open_source(path, decimal=":")
