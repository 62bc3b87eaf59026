"""Records of CSV files: whatever bytes a record holds, it is one row, and the rows of others stay as they are.

Readers that skip what they cannot read make the number of rows depend on what one person wrote. This one skips nothing:
bytes that are no UTF-8 become U+FFFD, short records are filled with nothing, long ones are cut, an empty line is a
record without fields. What a field means as a number is in `sordino.data.numbers`.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 22
"""Bytes read at a time."""

LONGEST = 1 << 24
"""Bytes of a record that are read: what is beyond them is cut off, and a quoted field holds line breaks up to here."""

BATCH = 1 << 16
"""Records that are handed on at a time."""

SEPARATORS = (",", ";", "\t", "|")
"""What may separate fields; which one it is follows from the header, which is public."""


def blocks(path: str) -> Iterator[bytes]:
    """The bytes of a file, gzipped or not, piece by piece."""
    opened: Any = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        while block := file.read(BLOCK):
            yield block


def stretches(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""The same bytes, cut where lines end; lines that are too long lose what is in their middle.

    Example:
        >>> list(stretches([b"x,y\r\n1,a", b"b\n2,c\n3", b",d"]))
        [b'x,y\r\n', b'1,ab\n2,c\n', b'3,d']
    """
    rest = b""
    for piece in pieces:
        whole, end, after = piece.rpartition(b"\n")
        if end:
            yield rest + whole + end
            rest = after
        else:
            rest = (rest + after)[:LONGEST]
    if rest:
        yield rest


def lines(stretch: bytes) -> list[str]:
    r"""Lines without their ends; only ``\n`` and ``\r\n`` end a line, any other ``\r`` becomes a space.

    Example:
        >>> lines(b"1,a\r\n\n2\r3,c\n") == ["1,a", "", "2 3,c"]
        True
    """
    text = stretch.decode("utf-8", "replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r").replace("\r", " ")
    return text.removesuffix("\n").split("\n")


class Records:
    r"""The records in lists of lines: fields as texts, quoted where they say so.

    A field is quoted when it begins with a double quote; two of them stand for one. A quoted field may hold line breaks
    when it is closed as it should be, before a separator or the end of a line, and its record then has as many fields
    as the header. Otherwise its line is a record of its own: a quote that is never closed swallows nobody else's rows.

    Args:
        more: Further lists of lines, asked for when a record goes on.
        separator: What stands between fields.
        width: Number of fields of a record that goes over several lines.

    Example:
        >>> text = ['1,"a', 'b"', '2,"open', '3,c"d', '', '4,e,f']
        >>> list(Records(iter([text]), separator=",", width=2))
        [['1', 'a\nb'], ['2', 'open'], ['3', 'c"d'], [], ['4', 'e', 'f']]
    """

    def __init__(self, more: Iterator[list[str]], *, separator: str, width: int) -> None:
        self._more, self._separator, self._width = more, separator, width
        self._ahead: list[str] = []  # the next line last
        self._taken: list[str] = []  # lines of the record at hand

    def within(self, some: list[str]) -> Iterator[list[str]]:
        """The records that begin in a list of lines; the last may go on in further ones."""
        self._ahead = some[::-1]
        reader = self._reader()
        while self._ahead:
            self._taken.clear()
            try:
                fields = next(reader)
                fine = len(self._taken) == 1 or len(fields) == self._width
            except (csv.Error, StopIteration):
                fine = False
            if not fine:
                alone, *others = self._taken
                self._ahead += reversed(others)
                fields = loosely(alone, self._separator)
                reader = self._reader()
            yield fields

    def __iter__(self) -> Iterator[list[str]]:
        for some in self._more:
            yield from self.within(some)

    def _reader(self) -> Iterator[list[str]]:
        return csv.reader(self._lines(), delimiter=self._separator, strict=True)

    def _lines(self) -> Iterator[str]:
        """Lines one by one, with their breaks; none any more once a record is longer than it may be."""
        length = 0
        while True:
            if not self._ahead:
                self._ahead = next(self._more, [])[::-1]
            if not self._ahead:
                return
            length = length + len(self._ahead[-1]) + 1 if self._taken else 0
            if length > LONGEST:
                return
            self._taken.append(self._ahead.pop())
            yield self._taken[-1] + "\n"


def loosely(line: str, separator: str) -> list[str]:
    """The fields of one line, whatever its quotes: those that are wrong are part of the text.

    Example:
        >>> loosely('1,"a"b,"c', ",")
        ['1', 'ab', 'c']
    """
    return next(csv.reader([line], delimiter=separator), [])


def header(path: str) -> tuple[str, list[str]]:
    """The separator and the names in the first line of a file; no names when it is empty."""
    line = lines(next(stretches(blocks(path)), b""))[0].removeprefix("\ufeff")
    separator = max(SEPARATORS, key=lambda one: len(loosely(line, one)))
    return separator, loosely(line, separator)


def batches(
    paths: list[str], names: list[str], separator: str, *, row: str, decimal: str = "."
) -> Iterator[pa.RecordBatch]:
    """All records of several files as columns of text, nothing where a field is empty, and the number of the row."""
    import pyarrow as pa

    kept = csv.field_size_limit(2 * LONGEST)
    count = 0
    try:
        for path in paths:
            for columns in _columns(path, names, separator):
                texts = [_texts(column, decimal) for column in columns]
                number = pa.array(range(count, count + len(texts[0])), pa.int64())
                count += len(number)
                yield pa.RecordBatch.from_arrays([*texts, number], names=[*names, row])
    finally:
        csv.field_size_limit(kept)


def _columns(path: str, names: list[str], separator: str) -> Iterator[list[Any]]:
    """The columns of stretch after stretch, the header left out."""
    import pyarrow as pa

    pieces = stretches(blocks(path))
    _, _, first = next(pieces, b"").partition(b"\n")
    pieces = chain((first,) if first else (), pieces)
    records = Records(map(lines, pieces), separator=separator, width=len(names))
    for stretch in pieces:
        columns = _plainly(stretch, names, separator)
        if columns is not None:
            yield columns
            continue
        here = records.within(lines(stretch))
        while some := list(islice(here, BATCH)):
            yield [pa.array(column, pa.string()) for column in zip(*_fitted(some, len(names)), strict=True)]


def _plainly(stretch: bytes, names: list[str], separator: str) -> list[Any] | None:
    """The columns of a stretch without quotes whose records are all of one length, read by Arrow; else None."""
    import pyarrow as pa
    from pyarrow import csv as fast

    stretch = stretch.replace(b"\r\n", b"\n")
    if b'"' in stretch or b"\r" in stretch or b"\0" in stretch or len(stretch) >= LONGEST:
        return None
    records = stretch.count(b"\n") + (not stretch.endswith(b"\n"))
    try:
        table = fast.read_csv(
            pa.BufferReader(stretch),
            read_options=fast.ReadOptions(use_threads=False, block_size=len(stretch) + 1, column_names=names),
            parse_options=fast.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            convert_options=fast.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    return None if len(table) != records else [column.combine_chunks() for column in table.columns]


def _fitted(records: list[list[str]], width: int) -> list[list[str]]:
    """Records of one length: cut, or filled with nothing."""
    if all(len(fields) == width for fields in records):
        return records
    nothing = [""] * width
    return [fields[:width] + nothing[len(fields) :] for fields in records]


def _texts(column: Any, decimal: str) -> Any:
    """Null for empty fields; where numbers have a decimal comma, write it as a point, and let a point be no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if decimal == ",":
        column = pc.replace_substring_regex(column, r"^([ 0-9eE+-]*)\.([ 0-9eE+-]*)$", "\\1\u00b7\\2")
        column = pc.replace_substring_regex(column, r"^([ 0-9eE+-]*),([ 0-9eE+-]*)$", r"\1.\2")
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
