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

BLOCK = 1 << 14
"""Rows that are read as numbers at a time: their working arrays stay in the cache."""

DIGITS = 15
"""Whole numbers of so many digits and powers of ten up to 10^22 are doubles: a quotient of the two is rounded once."""

POWERS = np.array([float(10**power) for power in range(DIGITS + 1)])

LONGEST = DIGITS + 2
"""Bytes of a plain number: its digits, a sign and a point."""


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
    for start in range(0, len(stretch), BLOCK):
        rows = slice(start, start + BLOCK)
        starts, lengths = stretch.starts[rows, place].astype(np.int64), stretch.lengths[rows, place]
        plain = _plain(stretch.data, starts, lengths, ord(decimal), found[rows])
        for row in np.flatnonzero(~plain & (lengths > 0)).tolist():
            field = stretch.data[starts[row] : starts[row] + lengths[row]].tobytes().decode()
            found[start + row] = _number(field, decimal)
    return found


def _number(field: str, decimal: str) -> float:
    if decimal == ",":
        return float("nan") if "." in field else number(field.replace(",", "."))
    return number(field)


def _plain(
    data: NDArray[np.uint8], starts: Any, lengths: Any, point: int, found: Numbers
) -> NDArray[np.bool_]:
    """Write the numbers of at most 15 digits with at most a sign before and a point among them; say which they are."""
    plain = (lengths > 0) & (lengths <= LONGEST)
    longest = int(lengths[plain].max(initial=0))
    value = np.zeros(len(starts), np.int64)
    digits, decimals, points = (np.zeros(len(starts), np.int8) for _ in range(3))
    first = data[np.minimum(starts, len(data) - 1)]
    signed = (first == ord("-")) | (first == ord("+"))
    for place in range(longest):
        live = lengths > place
        here = data[np.minimum(starts + place, len(data) - 1)]
        digit = here - np.uint8(ord("0"))
        is_digit, is_point = live & (digit < 10), live & (here == point)
        plain &= ~live | is_digit | is_point | (signed if place == 0 else False)
        value = np.where(is_digit, value * 10 + digit, value)
        digits += is_digit
        decimals += is_digit & (points > 0)
        points += is_point
    plain &= (digits > 0) & (digits <= DIGITS) & (points <= 1)
    exact = value[plain] / POWERS[decimals[plain]]
    found[plain] = np.where(first[plain] == ord("-"), -exact, exact)
    return plain
