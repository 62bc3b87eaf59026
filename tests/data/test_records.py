"""Records of CSV files: whatever one record holds, it is one row, and the rows of the others stay as they are."""

from __future__ import annotations

import csv
import gzip
import io
import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sordino as sd
from sordino.data import open_source, records
from sordino.data.numbers import number
from sordino.data.records import fields, whole_records
from sordino.data.stretch import read_stretch
from sordino.data.text_column import TextColumn
from sordino.errors import DataError
from sordino.lattice import RowLattice
from sordino.privacy import Unit
from sordino.reading.requests import Cells, Columns, Condition, Request

GRID = RowLattice(0, 1000, step=1, missing=999)
OTHERS = [[str(i % 90), ["north", 'sou"th', "east, or west", "two lines", ""][i % 5]] for i in range(60)]
KEYS = ("north", 'sou"th', "east, or west", "two lines")

HOSTILE = {
    "bytes that are not UTF-8": b"1,\x80\xff\xc0\x80\xed\xa0\x80",
    "such bytes in the number": b"\xff\xfe,a",
    "half a character at the end": b"1,a\xe2\x82",
    "every byte": b"1," + bytes(byte for byte in range(256) if byte not in b'\n",'),
    "NUL": b"\x00,\x00",
    "nothing": b"",
    "only a carriage return": b"\r",
    "carriage returns": b"1\r2,a\rb\r\r",
    "short": b"1",
    "long": b"1,a,b,c,d,e",
    "only separators": b",,,,",
    "a mark of byte order": b"\xef\xbb\xbf1,a",
    "only a mark of byte order": b"\xef\xbb\xbf",
    "a quote that is not closed": b'1,"a',
    "the other half of it": b'1,a",',
    "a quote at the end": b'1,"',
    "a quote closed too early": b'1,"a"b"c',
    "a quote inside": b'1,a"b',
    "inches": b'1,72",z',
    "a backslash before a quote": b'1,"a\\"b"',
    "only quotes": b'"""',
    "separators in quotes": b'1,"a,b;c"',
    "three million bytes": b"1," + b"a" * 3_000_000,
    "nine million bytes": b"7" * 9_000_000 + b",a",
}


def written(rows):
    """As a writer of CSV files writes them."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def stored(folder, content, ending="csv"):
    """A file."""
    path = folder / f"t.{ending}"
    with gzip.open(path, "wb", 1) if ending.endswith("gz") else path.open("wb") as file:
        file.write(content)
    return path


def opened(folder, record, ending="csv", place=30, others=OTHERS, **options):
    """A table of others with one record among them."""
    content = b"x,g\n" + written(others[:place]) + record + b"\n" + written(others[place:])
    return open_source(stored(folder, content, ending), **options)


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
    assert source.counts("g", KEYS) == (12, 12, 12, 12)
    assert source.where(Condition("g", "==", "two lines")).rows == 12


def test_what_a_hostile_record_says_itself(tmp_path):
    """Its fields as far as they can be read."""
    numbers = {name: codes(opened(tmp_path, record))[30] for name, record in HOSTILE.items()}
    missing = {
        "such bytes in the number", "NUL", "nothing", "only a carriage return", "carriage returns",
        "only separators", "a mark of byte order", "only a mark of byte order", "only quotes",
    }  # fmt: skip
    assert {name for name, number in numbers.items() if number == 999} == missing
    assert numbers.pop("nine million bytes") == 1000
    assert {number for name, number in numbers.items() if name not in missing} == {1}


def texts(content, ending="csv", folder=None, **options):
    """What is read of a file: the text of every field of every row, and every column as numbers, in two columns."""
    table = open_source(stored(folder, content, ending), **options)._table
    return [
        (*row, *map(repr, numbers))
        for row, numbers in zip(
            zip(*(table[name].values.tolist() for name in table), strict=True),
            zip(*(table[name].numeric().tolist() for name in table), strict=True),
            strict=True,
        )
    ]


def others_stay(read, content, record, changed, place):
    """Whether all rows but one read the same when its record is another."""
    one = read(b"x,g\n" + b"".join(line + b"\n" for line in [*content[:place], record, *content[place:]]))
    two = read(b"x,g\n" + b"".join(line + b"\n" for line in [*content[:place], changed, *content[place:]]))
    before, after = one[:place], one[place + 1 :]
    return len(one) == len(two) and before == two[:place] and after == two[place + 1 :]


PIECES = [
    b'"', b'"', b'""', b",", b",", b"\r", b"\0", b"\xef\xbb\xbf", b"\xff", b"\xe2\x82", b"1", b"2.5", b"abc", b" ",
    b";", "é".encode(),
]  # fmt: skip
LINE = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=7).map(b"".join),
    st.binary(max_size=12).map(lambda some: some.replace(b"\n", b"")),
)


@given(st.lists(LINE, max_size=5), LINE, LINE, st.integers(0, 5), st.sampled_from([1, 2, 3, 7, 64, 1 << 22]))
@example([b'72",z'], b'"5', b"5", 0, 1 << 22)
@example([b'x"'], b'1,"a', b"", 0, 3)
@example([b"\xef\xbb\xbf1,a", b"2"], b"1", b"1,a", 2, 1 << 22)
def test_changing_one_record_changes_the_reading_of_no_other(tmp_path_factory, lines, one, two, place, size):
    """Two records of any bytes among others of any bytes, however the file is cut into blocks; gzipped as well."""
    place = min(place, len(lines))
    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", size)
        for ending in ("csv", "csv.gz"):

            def read(content, ending=ending):
                return texts(content, ending, folder)

            assert others_stay(read, lines, one, two, place)
            content = b"x,g\n" + b"".join(line + b"\n" for line in [*lines, one])
            assert len(read(content)) == len(lines) + 1


BALANCED = st.one_of(
    LINE,
    st.lists(st.sampled_from([*PIECES, b"\n", b"\r\n"]), max_size=8).map(b"".join),
    st.lists(st.lists(st.sampled_from([*PIECES, b"\n", b"\r\n"]), max_size=5).map(b"".join), max_size=3).map(
        lambda some: b",".join(b'"' + one.replace(b'"', b'""') + b'"' for one in some)
    ),
).filter(lambda some: list(whole_records([some + b"\n"], quoted=True)) == [some + b"\n"] and ends_once(some))


def ends_once(record):
    """Whether it is one record by the declared rule: no line break in it has an even number of quotes before it."""
    inner = [record[:place].count(b'"') % 2 for place, byte in enumerate(record) if byte == 10]
    return all(inner) and record.count(b'"') % 2 == 0


@given(
    st.lists(BALANCED, max_size=4), BALANCED, BALANCED, st.integers(0, 4), st.sampled_from([1, 3, 1 << 22])
)
def test_with_line_breaks_in_quotes_records_of_closed_quotes_do_not_touch_each_other(
    tmp_path_factory, lines, one, two, place, size
):
    """The assumption that every such release states: an even number of quotes in each record."""
    place = min(place, len(lines))
    folder = tmp_path_factory.mktemp("records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", size)

        def read(content):
            return texts(content, folder=folder, quoted_line_breaks=True)

        assert others_stay(read, lines, one, two, place)
        assert len(read(b"x,g\n" + b"".join(line + b"\n" for line in [*lines, one]))) == len(lines) + 1


def test_the_fuzz_finds_readers_in_which_records_touch_each_other():
    """Planted: quotes that go on over lines, a mark of byte order that is dropped at a line, lines at any CR."""

    def quoting(content):
        return list(csv.reader(io.StringIO(content.decode("latin1"), newline="")))[1:]

    def marked(content):
        lines = content.split(b"\n")[1:-1]
        ragged = any(line.count(b",") != 1 for line in lines)
        return [line if ragged else line.removeprefix(b"\xef\xbb\xbf") for line in lines]

    def returning(content):
        return content.replace(b"\r", b"\n").split(b"\n")[1:-1]

    assert not others_stay(quoting, [b'72",z', b"1,a"], b'5,"', b"5,a", 0)
    assert not others_stay(marked, [b"\xef\xbb\xbf1,a"], b"1", b"1,a", 1)
    assert not others_stay(returning, [b"1,a"], b"1\r", b"1", 0)


@pytest.mark.parametrize("quoted", [False, True])
def test_all_records_at_once_are_read_as_each_by_itself(quoted):
    """Every record of up to six of the bytes that matter, alone and among all others."""
    alphabet = [b",", b'"', b"a", b"\r"]
    every = [b"".join(some) for size in range(7) for some in itertools.product(alphabet, repeat=size)]
    every += (
        [b"\n".join(some) for some in itertools.product([b'"', b'a,"b', b'"",'], repeat=3)] if quoted else []
    )
    every = [record for record in every if not quoted or ends_once(record)]

    def found(raw):
        stretch = read_stretch(raw, width=3, separator=b",", quoted=quoted)
        data = stretch.data.tobytes()
        return [
            tuple(data[start : start + length] for start, length in zip(row, sizes, strict=True))
            for row, sizes in zip(stretch.starts.tolist(), stretch.lengths.tolist(), strict=True)
        ]

    rule = [tuple([*fields(record.removesuffix(b"\r"), b","), b"", b"", b""][:3]) for record in every]
    assert found(b"".join(record + b"\n" for record in every)) == rule
    alone = every[:: 7 if quoted else 13]
    assert [found(record + b"\n")[0] for record in alone] == rule[:: 7 if quoted else 13]


@given(st.lists(st.text(alphabet='ab,;"\n\r é\0', max_size=8), min_size=1, max_size=3))
def test_what_a_writer_of_csv_files_wrote_is_read_back(row):
    """Fields of any text, by Python's own writer; CRLF within them is read as LF."""
    rows = [[one.replace("\r", "") for one in row], ["z"] * len(row)]
    content = written(rows)
    (stretch,) = (
        read_stretch(some, width=len(row), separator=b",", quoted=True)
        for some in whole_records([content], quoted=True)
    )
    for place, one in enumerate(rows[0]):
        assert TextColumn([stretch], place).values.tolist() == [one or None, "z"]


def test_what_an_open_quote_does(tmp_path):
    """By default it ends with its line; where quotes may hold line breaks, it goes on to the next quote or the end."""
    content = b'x,g\n1,"a\n2,b\n3,c"\n4,d\n5,"e\n6,f\n'
    assert codes(open_source(stored(tmp_path, content))) == [1, 2, 3, 4, 5, 6]
    declared = open_source(stored(tmp_path, content), quoted_line_breaks=True)
    assert codes(declared) == [1, 4, 5]
    assert declared.counts("g", ("a\n2,b\n3,c", "d", "e\n6,f\n")) == (1, 1, 1)


def test_line_breaks_in_quotes_are_declared_and_the_release_says_so(tmp_path):
    """Without the declaration every line is a record, and nothing is assumed."""
    path = stored(tmp_path, b'x,g\r\n1,"two\r\nlines"\r\n2,one\r\n')
    declared = sd.open(path, budget=sd.Pure(10**4), quoted_line_breaks=True)
    answer = declared.where(("g", "==", "two\nlines")).release(sd.Count("x"), sd.Pure(1000))
    assert round(answer.value) == 1
    assert any("even number of quotes" in sentence for sentence in answer.assumptions)
    plain = sd.open(path, budget=sd.Pure(10**4)).release(sd.Count("g"), sd.Pure(1000))
    assert not any("quotes" in sentence for sentence in plain.assumptions)
    assert open_source(path).rows == 3
    with pytest.raises(DataError, match="quoted_line_breaks"):
        open_source({"x": [1]}, quoted_line_breaks=True)


@pytest.mark.parametrize("header", [b'x,"g\n1,2\n', b"x,g\r1,2\r3,4\r", b"x\0,g\n1,2\n"])
def test_a_header_is_one_line_with_closed_quotes(header, tmp_path):
    """It is public, and refused as a whole."""
    with pytest.raises(DataError, match="name its columns"):
        open_source(stored(tmp_path, header))


PLAIN = st.from_regex(r"\A ?[+-]?[0-9]{0,17}[.,]?[0-9]{0,17}([eE][+-]?[0-9]{1,3})? ?\Z")
STRANGE = st.text(alphabet="0123456789+-.,eE x", max_size=20)


@given(st.lists(st.one_of(PLAIN, STRANGE, st.floats().map(repr), st.integers().map(str)), min_size=1))
@example(
    ["-0", "0", "+.5", "5.", ".", "-", "", "1.2.3", "123456789012345678", "0.1", "1e400", "96.48064786969077"]
)
def test_numbers_are_those_of_the_grammar(found):
    """To the bit, for decimal points and commas."""
    raw = "".join(f"{one}\n" for one in found).encode()
    stretch = read_stretch(raw, width=1, separator=b"\t")
    points = [number(one) for one in found]
    np.testing.assert_array_equal(TextColumn([stretch], 0).numeric(), points)
    np.testing.assert_array_equal(np.signbit(TextColumn([stretch], 0).numeric()), np.signbit(points))
    swapped = [number(one.translate(str.maketrans(",.", ".,"))) for one in found]
    np.testing.assert_array_equal(TextColumn([stretch], 0, ",").numeric(), swapped)


def test_some_rows_of_a_column_are_those_rows():
    """As `where` and groups take them, also of some rows of some rows."""
    column = TextColumn([read_stretch(b"1\nb\n\n4\n", width=1, separator=b",")], 0)
    some = column[np.array([3, 2, 1])]
    assert len(some) == 3
    assert some.values.tolist() == ["4", None, "b"]
    assert some[np.array([0])].numeric().tolist() == [4.0]
    assert some.identities().tolist() == [0, -1, 1]


def test_units_keep_the_order_of_the_file_and_broken_names_are_people_too(tmp_path):
    """Of a person whose name is not UTF-8 as many rows are used as of others."""
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
    grid = RowLattice(-100, 100, step=0.5, missing="drop")
    (summary,) = open_source(path, decimal=",").summary(Request("x", grid))
    assert summary.rows == 5
    assert summary.total == 2 * (500 + 1.5 + 2.5 + 7 + 0.5 - 15)
    (summary,) = open_source(path).summary(Request("x", grid))
    assert (summary.rows, summary.total) == (2, 202 + 214)
    assert open_source(path, decimal=",").counts("g", ("a,b", "e", "1,5")) == (1, 1, 1)
    with pytest.raises(DataError, match="decimal"):
        open_source({"x": [1.5]}, decimal=",")
    with pytest.raises(ValueError, match="decimal must be one of"):
        open_source(path, decimal=":")
