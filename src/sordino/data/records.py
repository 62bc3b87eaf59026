r"""Records of CSV files: by default a record is a line, whatever bytes it holds.

A line ends with LF or CRLF; every other CR, every NUL and every byte-order mark but the one at the first byte of the
file is text like any other. What a record says follows from its own bytes and the header, which is public, so no
record changes how another is read (docs/proofs/csv_records.md). With ``quoted``, which is declared, a record ends at
the first line break before which it holds an even number of quotes.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from itertools import chain
from typing import Any

import numpy as np

BLOCK = 1 << 19
"""Bytes read at a time: what is worked out of them stays in the cache."""

MARK = b"\xef\xbb\xbf"
"""The byte-order mark; at the first byte of a file it is not part of the text."""

SEPARATORS = (b",", b";", b"\t", b"|")
"""What may separate fields; which one it is follows from the header."""

LINE_BREAK, QUOTE = b"\n"[0], b'"'[0]


def blocks(path: str) -> Iterator[bytes]:
    """The bytes of a file, gzipped or not, piece by piece, without the byte-order mark at its beginning."""
    with open(path, "rb") as raw:  # noqa: PTH123
        file: Any = gzip.GzipFile(fileobj=raw) if path.endswith(".gz") else raw
        size, watcher = os.fstat(raw.fileno()).st_size, _WATCHER.get()
        first = file.read(len(MARK))
        if first and first != MARK:
            yield first
        while block := file.read(BLOCK):
            if watcher is not None:
                watcher(min(raw.tell(), size), size)
            yield block


@contextlib.contextmanager
def watching(watcher: Callable[[int, int], None]) -> Iterator[None]:
    r"""Tell somebody how far the reading of files has come, in bytes on the disk and of how many: never in records.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder, watching(lambda done, size: print(done, size)):
        ...     path = pathlib.Path(folder) / "people.csv"
        ...     _ = path.write_bytes(b"age\n31\n")
        ...     _ = list(records(str(path)))
        7 7
    """
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


_WATCHER: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher", default=None)


def count(path: str, *, quoted: bool = False) -> int:
    r"""The number of records of a file, the header left out.

    Example:
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "people.csv"
        ...     _ = path.write_bytes(b'name\n"a\n\nb"\nc')
        ...     count(str(path)), count(str(path), quoted=True)
        (4, 2)
    """
    if quoted:
        return sum(_ends(some) for some in records(path, quoted=True))
    return sum(some.count(b"\n") for some in records(path))


def _ends(whole: bytes) -> int:
    """How many whole records there are: line breaks with an even number of quotes before them, or the last byte."""
    if b'"' not in whole:
        return whole.count(b"\n")
    data = np.frombuffer(whole, np.uint8)
    breaks = np.flatnonzero(data == LINE_BREAK)
    before = np.searchsorted(np.flatnonzero(data == QUOTE), breaks)
    return int(np.count_nonzero(before[:-1] % 2 == 0)) + 1


def whole_records(pieces: Iterable[bytes], *, quoted: bool = False) -> Iterator[bytes]:
    r"""The same bytes, cut where records end; the last record is given its line break.

    Args:
        pieces: Bytes of a file, or of what comes after its header.
        quoted: Whether quoted fields may hold line breaks.

    Example:
        >>> list(whole_records([b'1,"a\r\nb', b'"\n2,c\n3', b",d"]))
        [b'1,"a\r\n', b'b"\n2,c\n', b'3,d\n']
        >>> list(whole_records([b'1,"a\r\nb', b'"\n2,c\n3', b",d"], quoted=True))
        [b'1,"a\r\nb"\n2,c\n', b'3,d\n']
    """
    rest: list[bytes] = []
    quotes = 0
    for piece in pieces:
        if quoted:
            cut = _last_end(piece, quotes)
            quotes += piece.count(b'"')
        else:
            cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join((*rest, piece[:cut]))
            rest = []
        if cut < len(piece):
            rest.append(piece[cut:])
    if rest:
        yield b"".join((*rest, b"\n"))


def _last_end(piece: bytes, quotes: int) -> int:
    """After the last line break of a piece with an even number of quotes before it, of which so many came earlier."""
    data = np.frombuffer(piece, np.uint8)
    breaks = np.flatnonzero(data == LINE_BREAK)
    before = quotes + np.searchsorted(np.flatnonzero(data == QUOTE), breaks)
    ends = breaks[before % 2 == 0]
    return int(ends[-1]) + 1 if len(ends) else 0


def fields(record: bytes, separator: bytes) -> list[bytes]:
    """The fields of one record, whatever its quotes.

    A field that begins with a quote goes on until the next quote that is not doubled, or to the end of the record;
    what then stands before the next separator belongs to it as it is. In all other fields quotes are text.

    Example:
        >>> fields(b'1,"a,""b",c"d,"e"f,"g,', b",")
        [b'1', b'a,"b', b'c"d', b'ef', b'g,']
    """
    if b'"' not in record:
        return record.split(separator)
    found: list[bytes] = []
    place, pattern = 0, _field(separator)
    while place <= len(record):
        match = pattern.match(record, place)
        assert match is not None
        inner, after, plain = match.groups()
        found.append(plain if inner is None else inner.replace(b'""', b'"') + after)
        place = match.end() + 1
    return found


@functools.cache
def _field(separator: bytes) -> re.Pattern[bytes]:
    """One field. Nothing is tried twice, so a record is read in linear time."""
    other = b"[^" + re.escape(separator) + b"]*+"
    return re.compile(rb'"((?:[^"]++|"")*+)"?(' + other + b")|(" + other + b")", re.DOTALL)


def header(path: str) -> tuple[bytes, list[str]]:
    """The separator and the names in the first line of a file; no names when it is empty."""
    line = _first_line(blocks(path))[0]
    separator = max(SEPARATORS, key=lambda one: len(fields(line, one)))
    if line.count(b'"') % 2:
        return separator, []
    return separator, [name.decode("utf-8", "replace").strip() for name in fields(line, separator)]


def records(path: str, *, quoted: bool = False) -> Iterator[bytes]:
    """All records of a file, many at a time, the header left out."""
    pieces = blocks(path)
    _, after = _first_line(pieces)
    return whole_records(chain((after,), pieces), quoted=quoted)


def _first_line(pieces: Iterator[bytes]) -> tuple[bytes, bytes]:
    """The first line without its end, and what has been read of the others."""
    parts = []
    for piece in pieces:
        line, end, after = piece.partition(b"\n")
        parts.append(line)
        if end:
            return b"".join(parts).removesuffix(b"\r"), after
    return b"".join(parts).removesuffix(b"\r"), b""
