"""`Stretch`: many records of a CSV file, and where each field of each of them lies in their bytes.

The rule is `sordino.data.records.fields`, record by record. Here numpy applies it to all records at once whose quotes
are as a writer of CSV files sets them (or that have none), and the others are given to that function one by one; both
are the same function of one record's bytes, which a test compares on every short record there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.records import LINE_BREAK, QUOTE, fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bytes = NDArray[np.uint8]
    Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Stretch:
    """Fields of many records; private.

    Attributes:
        data: Bytes of UTF-8.
        starts: Where each field begins, one row per record, one column per name of the header, or per column asked for.
        lengths: How many bytes it has; nothing where a record is too short.
    """

    data: Bytes
    starts: NDArray[Any]
    lengths: NDArray[Any]

    def __len__(self) -> int:
        return len(self.starts)


def read_stretch(
    raw: bytes,
    *,
    width: int,
    separator: bytes,
    quoted: bool = False,
    places: tuple[int, ...] | None = None,
) -> Stretch:
    r"""Find the fields of whole records: short records are filled with nothing, long ones are cut.

    Args:
        raw: Records with their line breaks.
        width: Number of names in the header.
        separator: What stands between fields.
        quoted: Whether quoted fields may hold line breaks.
        places: The columns whose fields are kept; None for all.

    Example:
        >>> read_stretch(b'1,a\r\n\n2,"b,c",d\n', width=2, separator=b",").lengths.tolist()
        [[1, 1], [0, 0], [1, 3]]
    """
    # A byte that is not UTF-8 becomes U+FFFD; line breaks, quotes and separators end every such sequence, so what
    # is replaced in one record does not depend on another.
    text = raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
    if not text.isascii():
        text = text.decode("utf-8", "replace").encode()
    data = np.frombuffer(text, np.uint8)
    breaks, stops = data == LINE_BREAK, data == separator[0]
    strange: dict[int, list[bytes]] = {}
    if b'"' in text:
        data, breaks, stops, strange = _unquoted(text, data, breaks, stops, separator, quoted=quoted)
    ends = np.flatnonzero(stops | breaks)
    kept = tuple(range(width)) if places is None else places
    closing = ends[width - 1 :: width]
    if len(ends) == int(np.count_nonzero(breaks)) * width and bool(breaks[closing].all()):
        found = _as_the_header(ends, width, kept)
    else:
        starts = np.concatenate([[0], ends[:-1] + 1])
        found = _by_record(starts, ends - starts, breaks[ends], width, kept)
    if not strange:
        return Stretch(data, *found)
    return _with_strange(data, *found, strange, kept)


def _as_the_header(
    ends: NDArray[Any], width: int, kept: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Starts and lengths in rows of one record each, where every record has as many fields as the header."""
    kind = np.uint32 if int(ends[-1]) < 2**32 else np.int64
    shape = (len(ends) // width, len(kept))
    starts, lengths = np.empty(shape, kind), np.empty(shape, kind)
    for index, place in enumerate(kept):
        if place:
            starts[:, index] = ends[place - 1 :: width] + 1
        else:
            starts[0, index] = 0
            starts[1:, index] = ends[width - 1 : -1 : width] + 1
        lengths[:, index] = ends[place::width] - starts[:, index]
    return starts, lengths


def _by_record(
    starts: Any, lengths: Any, last: Marks, width: int, kept: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Starts and lengths in rows of one record each, given those of all fields in order and which end a record."""
    kind = np.uint32 if int(starts[-1]) + int(lengths[-1]) < 2**32 else np.int64
    closing = np.flatnonzero(last)
    first = np.concatenate([[0], closing[:-1] + 1])
    some = list(kept)
    record = np.repeat(np.arange(len(closing)), closing - first + 1)
    place = np.arange(len(starts)) - first[record]
    column = np.full(
        max(int(place.max()), width - 1) + 1, -1
    )  # where a field goes, by its place in its record
    column[some] = range(len(some))
    goes = column[place]
    mine = goes >= 0
    rows = np.zeros((len(closing), len(some)), kind), np.zeros((len(closing), len(some)), kind)
    for target, values in zip(rows, (starts, lengths), strict=True):
        target[record[mine], goes[mine]] = values[mine]
    return rows


def _unquoted(
    text: bytes, data: Bytes, breaks: Marks, stops: Marks, separator: bytes, *, quoted: bool
) -> tuple[Bytes, Marks, Marks, dict[int, list[bytes]]]:
    """Take quotes off: bytes without them, the line breaks and separators that count, and the records that are strange.

    Count the quotes of a record 0, 1, 2, ... It is regular when their number is even, each even one follows a
    separator, the beginning of the record or a quote, and each odd one stands before a separator, the end of the record
    or a quote. Then even quotes open a field or are the second of a pair, odd ones close it or are the first of a pair.
    """
    quotes, ends = np.flatnonzero(data == QUOTE), np.flatnonzero(breaks)
    if quoted:
        inside = np.searchsorted(quotes, ends) % 2 == 1
        inside[-1] = False  # a quote that is never closed: its record ends with the file
        breaks[ends[inside]] = False
        ends = ends[~inside]
    record = np.searchsorted(ends, quotes)
    begins = np.concatenate([[0], ends[:-1] + 1])
    before = np.searchsorted(quotes, begins)
    odd = (np.arange(len(quotes)) - before[record]) % 2 == 1
    beside = data[
        np.where(odd, quotes + 1, quotes - 1)
    ]  # before the first byte stands the last, a line break
    fits = (beside == separator[0]) | (beside == LINE_BREAK) | (beside == QUOTE)
    strange = np.diff(before, append=len(quotes)) % 2 == 1
    strange[record[~fits]] = True
    found = {}
    for place in np.flatnonzero(strange).tolist():
        begin, end = int(begins[place]), int(ends[place])
        found[place] = fields(text[begin:end], separator)
        stops[begin:end] = False
    regular = ~strange[record]
    quotes, odd = quotes[regular], odd[regular]
    between = np.flatnonzero(stops)
    stops[between[np.searchsorted(quotes, between) % 2 == 1]] = False
    keep = np.ones(len(data), bool)
    keep[quotes[~(odd & (data[quotes + 1] == QUOTE))]] = False  # of a pair one stays
    return data[keep], breaks[keep], stops[keep], found


def _with_strange(
    data: Bytes,
    starts: NDArray[Any],
    lengths: NDArray[Any],
    strange: dict[int, list[bytes]],
    kept: tuple[int, ...],
) -> Stretch:
    """Write the fields of strange records behind all others."""
    added, end = [data], len(data)
    wanted = {
        place: [(index, found[column]) for index, column in enumerate(kept) if column < len(found)]
        for place, found in strange.items()
    }
    sizes = [len(one) for some in wanted.values() for _, one in some]
    if end + sum(sizes) >= 2**32:
        starts, lengths = starts.astype(np.int64), lengths.astype(np.int64)
    for place, some in wanted.items():
        lengths[place] = 0
        for index, one in some:
            starts[place, index], lengths[place, index] = end, len(one)
            added.append(np.frombuffer(one, np.uint8))
            end += len(one)
    return Stretch(np.concatenate(added), starts, lengths)
