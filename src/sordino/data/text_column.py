"""`TextColumn`: a column of a CSV file, which is read as texts or as numbers when asked, each once.

Numbers are those of `sordino.data.numbers`, to the bit; short plain ones (digits, a sign, a point) are read by numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.numbers import number
from sordino.data.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sordino.data.stretch import Stretch

    Numbers = NDArray[np.float64]
    Words = NDArray[np.uint64]

BLOCK = 1 << 14
"""Rows that are read as numbers at a time: their working arrays stay in the cache."""

DIGITS = 15
"""Whole numbers of so many digits and powers of ten up to 10^22 are doubles: a quotient of the two is rounded once."""

POWERS = np.array([float(10**power) for power in range(DIGITS + 1)])

LONGEST = 16
"""Bytes of a plain number: what two words hold."""

ZERO, ONE, EIGHT, BYTE = (np.uint64(one) for one in (0, 1, 8, 0xFF))
ONES, TOPS, PAIRS = (np.uint64(one) for one in (0x0101010101010101, 0x8080808080808080, 0x000000FF000000FF))
ZEROS, ABOVE = ONES * np.uint64(ord("0")), ONES * np.uint64(0x7F - ord("9"))
DIGIT, MINUS, PLUS = (np.uint64(ord(sign)) for sign in "0-+")
PLACES = np.uint64(0x0706050403020100)
"""Bytes of words: each of them, their top bits, every fourth; the digit 0 in each, and what takes 9 to 127."""


class TextColumn(Column):
    r"""One column of a CSV file; private.

    Args:
        stretches: The records of the file, which may be read anew whenever they are gone through.
        place: The number of the column in them.
        decimal: What separates the decimals of its numbers: a point or a comma.
        count: How many records there are; without it they are counted.
        of: The column of which this one holds some rows.
        rows: Which rows of it.

    Example:
        >>> from sordino.data.stretch import read_stretch
        >>> column = TextColumn([read_stretch(b"1.5,a\n,b\n x,a\n", width=2, separator=b",")], 0)
        >>> column.values.tolist(), column.numeric().tolist()
        (['1.5', None, ' x'], [1.5, nan, nan])
    """

    __slots__ = ("_count", "_decimal", "_numbers", "_of", "_place", "_rows", "_stretches", "_texts")
    _count: int | None
    _decimal: str
    _numbers: Numbers | None
    _of: TextColumn | None
    _place: int
    _rows: Any
    _stretches: Iterable[Stretch]
    _texts: NDArray[Any] | None

    def __init__(
        self,
        stretches: Iterable[Stretch],
        place: int,
        decimal: str = ".",
        *,
        count: int | None = None,
        of: TextColumn | None = None,
        rows: Any = None,
    ) -> None:
        fixed = object.__setattr__  # a column is frozen; what is computed once is kept
        fixed(self, "kind", "text")
        fixed(self, "absent", None)
        for name, value in (
            ("_stretches", stretches), ("_place", place), ("_decimal", decimal), ("_of", of), ("_rows", rows),
            ("_texts", None), ("_numbers", None), ("_count", count),
        ):  # fmt: skip
            fixed(self, name, value)

    @property
    def values(self) -> NDArray[Any]:
        """The texts, None where a field is empty."""
        texts = self._texts
        if texts is None:
            texts = _texts(self._stretches, self._place) if self._of is None else self._of.values[self._rows]
            object.__setattr__(self, "_texts", texts)
        return texts

    def numeric(self, *, text: bool = True) -> Numbers:  # noqa: ARG002
        """Numbers, NaN where there is none: all that a CSV file holds is text."""
        found = self._numbers
        if found is None:
            if self._of is None:
                (found,) = numbers_of(self._stretches, (self._place,), self._decimal, len(self))
            else:
                found = self._of.numeric()[self._rows]
            object.__setattr__(self, "_numbers", found)
        return found

    def told(self, numbers: Numbers) -> None:
        """Its numbers, which were read together with those of other columns."""
        object.__setattr__(self, "_numbers", numbers)

    @property
    def read(self) -> bool:
        """Whether its numbers were read."""
        return self._numbers is not None

    def __getitem__(self, rows: Any) -> TextColumn:
        return TextColumn(self._stretches, self._place, self._decimal, of=self, rows=rows)

    def __len__(self) -> int:
        if self._of is not None:
            return len(np.empty(len(self._of), bool)[self._rows])
        if self._count is None:
            object.__setattr__(self, "_count", sum(map(len, self._stretches)))
        assert self._count is not None
        return self._count


def numbers_of(
    stretches: Iterable[Stretch], places: tuple[int, ...], decimal: str, rows: int
) -> list[Numbers]:
    """The numbers of some columns, NaN where there is none, in one pass over so many records."""
    found, start = [np.empty(rows) for _ in places], 0
    for stretch in stretches:
        stop = start + len(stretch)
        for place, numbers in zip(places, found, strict=True):
            numbers[start:stop] = _numbers(stretch, place, decimal)
        start = stop
    return found


def _texts(stretches: Iterable[Stretch], place: int) -> NDArray[Any]:
    """The texts of a column; equal ones are one object."""
    known: dict[str, str] = {}
    texts: list[str | None] = []
    for stretch in stretches:
        starts, lengths = stretch.starts[:, place].astype(np.int64), stretch.lengths[:, place]
        data = stretch.data.tobytes()
        pairs = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        if data.isascii():
            text = data.decode()
            found = [text[start:end] for start, end in pairs]
        else:
            found = [data[start:end].decode() for start, end in pairs]
        texts += [known.setdefault(one, one) if one else None for one in found]
    values = np.empty(len(texts), object)
    values[:] = texts
    return values


def _numbers(stretch: Stretch, place: int, decimal: str) -> Numbers:
    """The numbers of a column."""
    found = np.full(len(stretch), np.nan)
    words = np.zeros(len(stretch.data) // 8 + 3, "<u8")
    words.view(np.uint8)[: len(stretch.data)] = stretch.data
    for start in range(0, len(stretch), BLOCK):
        rows = slice(start, start + BLOCK)
        starts, lengths = stretch.starts[rows, place].astype(np.int64), stretch.lengths[rows, place]
        plain = _plain(words, starts, lengths.astype(np.int64), ord(decimal), found[rows])
        for row in np.flatnonzero(~plain & (lengths > 0)).tolist():
            field = stretch.data[starts[row] : starts[row] + lengths[row]].tobytes().decode()
            found[start + row] = _number(field, decimal)
    return found


def _number(field: str, decimal: str) -> float:
    if decimal == ",":
        return float("nan") if "." in field else number(field.replace(",", "."))
    return number(field)


def _plain(
    words: Words, starts: NDArray[Any], lengths: NDArray[Any], point: int, found: Numbers
) -> NDArray[np.bool_]:
    """Write the numbers of at most 15 digits with at most a sign before and a point among them; say which they are.

    Eight bytes of a field are a word, the first byte the lowest. A field is put at the top of a word or two, the digit
    0 below it; the point is taken out by moving what stands before it up by a byte; digits are added up by pairs.
    """
    plain = np.zeros(len(starts), bool)
    for long, mine in enumerate(((lengths > 0) & (lengths <= 8), (lengths > 8) & (lengths <= LONGEST))):
        rows = np.flatnonzero(mine)
        if not len(rows):
            continue
        sizes = lengths[rows]
        field = _top(words, starts[rows] + (sizes - 8 if long else 0), np.minimum(sizes, 8))
        ahead = _top(words, starts[rows], sizes - 8) if long else np.full(len(rows), ZEROS)
        shift = (8 * (-sizes % 8)).astype(np.uint64)
        top = ahead if long else field
        first = (top >> shift) & BYTE
        signed = (first == MINUS) | (first == PLUS)
        if signed.any():
            top ^= np.where(signed, first ^ DIGIT, ZERO) << shift
        digits, decimals = sizes - signed, np.zeros(len(rows), np.intp)
        mark = _first(field, point)
        if mark.any():
            here = mark != ZERO
            field = np.where(here, _without(field, mark, ahead >> np.uint64(56) if long else DIGIT), field)
            ahead = np.where(here, (ahead << EIGHT) | DIGIT, ahead) if long else ahead
            digits, decimals = digits - here, _after(mark)
        if long and (mark := _first(ahead, point)).any():  # a second point stays, and is no digit
            here = (mark != ZERO) & (digits == sizes - signed)
            ahead = np.where(here, _without(ahead, mark, DIGIT), ahead)
            digits, decimals = digits - here, np.where(here, 8 + _after(mark), decimals)
        fits = (digits > 0) & (digits <= DIGITS) & _all_digits(field)
        value = _added_up(field)
        if long:
            fits &= _all_digits(ahead)
            value += _added_up(ahead) * np.uint64(10**8)
        exact = value / POWERS[np.minimum(decimals, DIGITS)]
        exact = np.where(first == MINUS, -exact, exact)
        plain[rows], found[rows] = fits, np.where(fits, exact, found[rows])
    return plain


def _top(words: Words, starts: NDArray[Any], lengths: NDArray[Any]) -> Words:
    """From each place on one to eight bytes, at the top of a word below which the digit 0 stands."""
    place, inner = starts >> 3, ((starts & 7) << 3).astype(np.uint64)
    loaded = (words[place] >> inner) | ((words[place + 1] << ONE) << (np.uint64(63) - inner))
    shift = (64 - 8 * lengths).astype(np.uint64)
    return (loaded << shift) | (ZEROS & ((ONE << shift) - ONE))


def _first(word: Words, byte: int) -> Words:
    """The top bit of the first byte of a word that is a given one; nothing where none is."""
    other = word ^ (ONES * np.uint64(byte))
    marks = (other - ONES) & ~other & TOPS
    return marks & (~marks + ONE)


def _after(mark: Words) -> NDArray[np.intp]:
    """How many bytes come after the one with such a bit: a byte of a word that holds its own places."""
    return (((mark >> np.uint64(7)) * PLACES) >> np.uint64(56)).astype(np.intp)


def _without(word: Words, mark: Words, before: Any) -> Words:
    """Take one byte out: those below it move up, and another comes below them."""
    below = (mark >> np.uint64(7)) - ONE
    return (word & ~((mark << ONE) - ONE)) | ((word & below) << EIGHT) | before


def _all_digits(word: Words) -> NDArray[np.bool_]:
    return (((word + ABOVE) | (word - ZEROS) | word) & TOPS) == ZERO


def _added_up(word: Words) -> Words:
    """The number of eight digits: pairs, pairs of pairs, and the two of those."""
    word = word - ZEROS
    word = word * np.uint64(10) + (word >> EIGHT)
    pairs, others = word & PAIRS, (word >> np.uint64(16)) & PAIRS
    return (pairs * np.uint64(0x000F424000000064) + others * np.uint64(0x0000271000000001)) >> np.uint64(32)
