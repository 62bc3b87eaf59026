"""`KeyedRows`: the group and the codes of each row, block by block, and what is gathered from them for all groups.

The columns come from an engine in this process, which has computed the codes, or in batches of files, whose codes numpy
computes while a block is in the cache: a fraction of the time, since an engine evaluates the same expression in steps.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.counted_groups import CountedGroups
from sordino.data.cut_groups import LOW_BITS, CutGroups
from sordino.data.kernel import BLOCK, RAISED_BITS, fits_joined, joined, key_index, parted
from sordino.data.sorted_groups import SortedGroups
from sordino.data.table import column_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.lattice import RowLattice
    from sordino.reading.split import Split

    Numbers = NDArray[np.int64]
    Stretch = tuple[Numbers, list[Numbers]]

COMPARED = 16
"""Up to so many cuts a comparison each is faster than a search in their list."""


class KeyPlaces:
    """The place of each row's key in a public list, which is prepared once.

    Args:
        keys: Different texts or different whole numbers.

    Example:
        >>> import pyarrow
        >>> KeyPlaces((3, 4, 5))(pyarrow.array([5, 9, None, 3])).tolist()
        [2, -1, -1, 0]
        >>> KeyPlaces(("b", "a"))(pyarrow.array(["a", None, "c"]).dictionary_encode()).tolist()
        [1, -1, -1]
    """

    def __init__(self, keys: tuple[str | int, ...]) -> None:
        self._keys, self._texts = keys, isinstance(keys[0], str)
        self._lists: dict[Any, Any] = {}

    def __call__(self, column: Any) -> Numbers:
        """The places of an Arrow array, -1 where its key is not in the list."""
        import pyarrow as pa

        if isinstance(column, pa.DictionaryArray):
            place = np.append(self(column.dictionary), -1)
            return place[column.indices.fill_null(len(place) - 1).to_numpy(zero_copy_only=False)]
        if self._texts:
            return self._listed(column, column.type)
        if not pa.types.is_integer(column.type) or pa.types.is_uint64(column.type):
            return key_index(column_of(column.to_numpy(zero_copy_only=False)), self._keys)
        if self._dense is None:
            return self._listed(column.cast(pa.int64()), pa.int64())
        values = column.fill_null(0) if column.null_count else column
        place = self._near(values.to_numpy(zero_copy_only=False).astype(np.int64, copy=False))
        if column.null_count:
            place = np.where(column.is_null().to_numpy(zero_copy_only=False), -1, place)
        return place

    def _listed(self, column: Any, kind: Any) -> Numbers:
        """By Arrow's hash table."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if kind not in self._lists:  # keys that no column of 64 bits holds are in no row
            fit = [one if self._texts or -(2**63) <= int(one) < 2**63 else None for one in self._keys]
            self._lists[kind] = pa.array(fit, kind)
        found = pc.index_in(column, self._lists[kind], skip_nulls=True)
        places: Numbers = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        return places

    @cached_property
    def _dense(self) -> tuple[int, int, Numbers | None] | None:
        """The least of whole-number keys that lie close together, how far they reach, and a table of places."""
        low, high = int(min(self._keys)), int(max(self._keys))
        width = high - low + 1
        if width > 4 * len(self._keys) + BLOCK or low < -(2**63) or high >= 2**63:
            return None
        offsets = np.array(self._keys, np.int64) - low
        if np.array_equal(offsets, np.arange(width)):
            return low, width, None
        table = np.full(width + 1, -1, np.int64)
        table[offsets] = np.arange(len(offsets))
        return low, width, table

    def _near(self, values: Numbers) -> Numbers:
        """By a table, or by nothing but the distance from the least. Differences modulo 2^64 tell what is outside."""
        assert self._dense is not None
        low, width, table = self._dense
        place = values - low if low else values
        if len(place) and place.view(np.uint64).max() >= width:
            place = np.where(place.view(np.uint64) >= width, -1 if table is None else width, place)
        return place if table is None else table[place]


class KeyedRows:
    """Rows with the place of their group and the codes of some columns, -1 where there is none; private.

    Args:
        stretches: Gives the rows, some at a time; what it gives lasts until the next.
        groups: The number of groups.
        tops: The largest code of each column.

    Example:
        >>> from sordino.lattice import RowLattice
        >>> from sordino.reading.requests import Request
        >>> rows = KeyedRows(iter([(np.array([0, 1, 0]), [np.array([7, 2, 5])])]), 2, [10])
        >>> found = rows.ordered()[0].summary(0, Request("x", RowLattice(0, 10, step=1)))
        >>> found.rows, found.total
        (2, 12)
    """

    def __init__(self, stretches: Iterable[Stretch], groups: int, tops: Sequence[int]) -> None:
        self._stretches, self._groups, self._tops = stretches, groups, tops

    @classmethod
    def of_tables(
        cls, tables: Iterable[Any], split: Split, keys: list[str], codes: dict[str, int]
    ) -> KeyedRows:
        """From Arrow tables of keys and codes, whose columns are named, with the largest code of each."""
        group_of = groups_of(split)

        def stretches() -> Iterator[Stretch]:
            for table in tables:
                place = group_of([table[name] for name in keys])
                yield place, [table[name].to_numpy() for name in codes]

        return cls(stretches(), len(split), list(codes.values()))

    @classmethod
    def of_batches(
        cls, batches: Iterable[Sequence[Any]], split: Split, grids: Sequence[RowLattice]
    ) -> KeyedRows:
        """From Arrow arrays of keys and of numbers, one for each key column and each grid."""
        group_of = groups_of(split)
        several = len(split.columns)

        def stretches() -> Iterator[Stretch]:
            rooms = [np.empty(0) for _ in grids]
            for batch in batches:
                rows = len(batch[0])
                if rows > len(rooms[0]):
                    rooms = [np.empty(rows) for _ in grids]
                place = group_of(batch[:several])
                pairs = zip(batch[several:], grids, rooms, strict=True)
                yield place, [_codes(column, grid, room[:rows]) for column, grid, room in pairs]

        return cls(stretches(), len(split), [grid.last for grid in grids])

    def ordered(self) -> list[SortedGroups]:
        """All codes of each column, in the order of group and code."""
        fits = [fits_joined(self._groups, top) for top in self._tops]
        found: list[list[Any]] = [[] for _ in self._tops]
        for place, columns in self._stretches:
            for codes, top, fit, parts in zip(columns, self._tops, fits, found, strict=True):
                group, code = _kept(place, codes)
                parts.append(joined(group, code, top) if fit else np.stack([group, code]))
        ordered = []
        for top, fit, parts in zip(self._tops, fits, found, strict=True):
            if fit:
                both = np.concatenate([np.zeros(0, np.int64), *parts])
                parts.clear()
                ordered.append(SortedGroups(*parted(both, self._groups, top), top))
            else:
                pairs = np.concatenate([np.zeros((2, 0), np.int64), *parts], axis=1)
                parts.clear()
                ordered.append(SortedGroups.of(pairs[0], pairs[1], self._groups, top))
        return ordered

    def counted(self) -> CountedGroups:
        """How often each code of one column, on a short grid, occurs in each group."""
        (top,) = self._tops
        tally = _CellTally(self._groups * (top + 1))
        for place, (codes,) in self._stretches:
            group, code = _kept(place, codes)
            tally.add(group * (top + 1) + code)
        return CountedGroups(tally.counts.reshape(self._groups, top + 1))

    def cuts(self, cuts: Sequence[int]) -> CutGroups:
        """Rows of each group, the sum of the codes of one column and how many lie below each cut."""
        levels = np.unique(np.asarray(cuts, np.int64))
        cells = len(levels) + 1
        tally = _CellTally(self._groups * cells)
        sums = np.zeros((2, self._groups), np.int64)
        for place, (codes,) in self._stretches:
            group, code = _kept(place, codes)
            tally.add(group * cells + _cells(code, levels) if len(levels) else group)
            if self._tops[0]:
                sums += _sums(group, code, self._groups)
        below = np.cumsum(tally.counts.reshape(self._groups, cells), axis=1)
        column = {level: below[:, place] for place, level in enumerate(levels.tolist())}
        return CutGroups(below[:, -1], sums, column)


class _CellTally:
    """Counts of places; private."""

    def __init__(self, size: int) -> None:
        self.counts = np.zeros(size, np.int64)

    def add(self, places: Numbers) -> None:
        """Count some more: by a new array of counts only where that is no longer than the places."""
        if len(self.counts) <= len(places):
            self.counts += np.bincount(places, minlength=len(self.counts))
        else:
            np.add.at(self.counts, places, 1)


def groups_of(split: Split) -> Callable[[Sequence[Any]], Numbers]:
    """Finds the group of each row, -1 where it is in none, from its key in each column."""
    known = [KeyPlaces(level) for level in split.levels]
    return lambda columns: split.places([one(column) for one, column in zip(known, columns, strict=True)])


def _kept(place: Numbers, codes: Numbers) -> tuple[Numbers, Numbers]:
    """Group and code of the rows that have both."""
    if len(place) and place.min() >= 0 and codes.min() >= 0:
        return place, codes
    mine = (place >= 0) & (codes >= 0)
    return place[mine], codes[mine]


def _sums(group: Numbers, codes: Numbers, groups: int) -> Numbers:
    """The sum of the codes of each group in two rows: without their low bits, and of the low bits.

    Floats hold them: the parts of codes below 2^51 in a block of 2^16 rows add up to less than 2^53.
    """
    found = np.zeros((2, groups), np.int64)
    for start in range(0, len(codes), BLOCK):
        some = slice(start, start + BLOCK)
        high = codes[some] >> LOW_BITS
        for row, part in enumerate((high, codes[some] - (high << LOW_BITS))):
            found[row] += np.bincount(group[some], part, groups).astype(np.int64)
    return found


def _codes(column: Any, grid: RowLattice, room: NDArray[np.float64]) -> Numbers:
    """The codes of an Arrow array of numbers, -1 where the grid drops a row; made in the room that is given."""
    values, codes = column.to_numpy(zero_copy_only=False), room.view(np.int64)
    if grid.last:
        values = grid.raised(values.astype(np.float64, copy=False), out=room)
    nothing = np.isnan(values) if len(values) and np.isnan(np.maximum.reduce(values)) else None
    if grid.last:
        codes -= RAISED_BITS  # the mantissa is the code
    else:
        codes[:] = 0
    if nothing is not None:
        codes[nothing] = -1 if grid.drops else grid.code(float(grid.missing or 0))
    return codes


def _cells(codes: Numbers, levels: Numbers) -> Numbers:
    """How many of some rising cuts are not above each code."""
    if len(levels) > COMPARED:
        return np.searchsorted(levels, codes, side="right")
    found = np.zeros(len(codes), np.int64)
    for level in levels.tolist():
        found += codes >= level
    return found
