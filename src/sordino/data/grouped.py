"""Groups: the summaries of every public key at once, from a frame with a key and a code per row.

An engine in this process hands out both columns, stretch by stretch, and numpy sorts them once. An engine elsewhere
numbers the codes of each key itself, by window functions, and sends sums and counted codes: no row leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sordino.data.counted_groups import CountedGroups
from sordino.data.cut_groups import LOW_BITS, CutGroups
from sordino.data.grouped_sums import HALF, plain_key, sum_columns, totals, whole
from sordino.data.keyed import KeyedRows, groups_of
from sordino.data.passes import CODE, ROWS, changed, collected, integers
from sordino.reading.requests import Rank, Request, Run, Summary, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.reading.split import Split

    Frame = nw.LazyFrame[Any]

KEY, ONE, COUNT, RANK = (f"sordino_{word}" for word in ("key", "one", "count", "rank"))

NEAR = 1 << 15
"""Keys whose rows are held in memory at a time; a public number, so how often a table is scanned tells nothing."""

FAR = 1 << 12
"""Keys that an engine elsewhere is sent at a time, as a list."""


def key_names(split: Split) -> list[str]:
    """What the key columns are called in a frame of keys and codes."""
    return [f"{KEY}{place}" for place in range(len(split.columns))]


def counted_codes(frame: Frame, split: Split, top: int) -> CountedGroups:
    """How often each code of a short grid occurs in each group, from a frame in which an engine has counted them."""
    counts = np.zeros((len(split), top + 1), np.int64)
    group_of = groups_of(split)
    for table in _stretches(frame):
        place, code = group_of([table[name] for name in key_names(split)]), table[f"{CODE}0"].to_numpy()
        mine = (place >= 0) & (code >= 0)
        np.add.at(counts, (place[mine], code[mine]), integers(table[ROWS].to_numpy())[mine])
    return CountedGroups(counts)


def cut_codes(frame: Frame, split: Split, cuts: Sequence[int], top: int) -> CutGroups:
    """Rows of each group, the sum of their codes and how many lie below each cut, counted by an engine in this process.

    Codes are summed in halves: 64 bits hold the sums of 2^32 rows.
    """
    code, keys = nw.col(f"{CODE}0"), key_names(split)
    high = (code.cast(nw.Float64) * 2.0**-LOW_BITS).floor().cast(nw.Int64)
    columns = {f"cut{place}": (code < cut).cast(nw.Int64) for place, cut in enumerate(cuts)}
    if top:
        columns |= {"high": high, "low": code - high * 2**LOW_BITS}
    each = [one.alias(name) for name, one in columns.items()]
    sums = (nw.col(name).sum().cast(nw.Int64) for name in columns)
    frame = frame.select(*map(nw.col, keys), *each).group_by(*keys).agg(nw.len().alias(ROWS), *sums)
    found = {name: np.zeros(len(split), np.int64) for name in (ROWS, "high", "low", *columns)}
    group_of = groups_of(split)
    for table in _stretches(frame):
        place = group_of([table[name] for name in keys])
        mine = place >= 0
        for name in (ROWS, *columns):
            np.add.at(found[name], place[mine], integers(table[name].to_numpy())[mine])
    below = {cut: found[f"cut{place}"] for place, cut in enumerate(cuts)}
    return CutGroups(found[ROWS], np.stack([found["high"], found["low"]]), below)


def coded_rows(frame: Frame, split: Split, tops: Sequence[int]) -> KeyedRows:
    """Groups and codes of the rows of a frame that an engine in this process hands out."""
    codes = {f"{CODE}{place}": top for place, top in enumerate(tops)}
    return KeyedRows.of_tables(_stretches(frame), split, key_names(split), codes)


def counted(frame: Frame, split: Split) -> dict[tuple[Any, ...], int]:
    """How many rows of a frame of keys are in each group."""
    keys = key_names(split)
    found = collected(frame.group_by(*keys).agg(nw.len().alias(ROWS)))
    known: dict[tuple[Any, ...], int] = {}
    for key, many in zip(_combinations(found, keys), integers(found[ROWS]).tolist(), strict=True):
        known[key] = known.get(key, 0) + many
    return {one: known.get(tuple(map(plain_key, one)), 0) for one in split.combinations}


def _stretches(frame: Frame) -> Iterator[Any]:
    """The rows as Arrow tables, not all at once where the engine can do so."""
    native: Any = nw.to_native(frame)
    if hasattr(native, "to_arrow_reader"):
        import pyarrow as pa

        for batch in native.to_arrow_reader(1 << 20):
            yield pa.Table.from_batches([batch])
    else:
        yield frame.collect(backend="pyarrow").to_native()


def numbered(requests: tuple[Request, ...]) -> bool:
    """Whether an engine can compute the ranks of all windows: doubles must hold ``n num + plus`` exactly."""
    ranks = [window.at for request in requests for window in request.windows]
    return all(max(abs(rank.num), abs(rank.plus), rank.den) < 2**20 for rank in ranks)


def summaries(
    frame: Frame, split: Split, requests: tuple[Request, ...], subject: str
) -> Iterator[tuple[Summary, ...]]:
    """Answer requests on one grid for every key of a frame of keys and codes (doubles), with two queries in all."""
    grid = requests[0].grid
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    cutting = tuple(dict.fromkeys((request.within, request.squares) for request in requests))
    keys = key_names(split)
    sums = _sums(_ranked(frame, keys, windows), keys, windows, cuts, cutting)
    codes = _windows(_ranked(frame, keys, windows), keys, windows) if windows else {}
    nothing = np.zeros(0, np.int64)
    for combination in split.combinations:
        key = tuple(map(plain_key, combination))
        found = sums.get(key)
        rows = 0 if found is None else found[ROWS]
        runs = {}
        for place, window in enumerate(windows):
            first, last = window.ranks(rows)
            if first > last:
                runs[window] = Run(1, nothing, 0, rows, grid.last)
                continue
            assert found is not None
            value, count = codes.get(key, {}).get(place, (nothing, nothing))
            if int(count.sum()) != last - first + 1:
                raise changed(subject)
            runs[window] = Run(first, np.repeat(value, count), whole(found, f"below{place}"), rows, grid.last)
        yield tuple(
            Summary(
                request,
                rows,
                *totals(found, cutting.index((request.within, request.squares)), squares=request.squares),
                tuple(runs[window] for window in request.windows),
                tuple(0 if found is None else found[f"cut{cuts.index(cut)}"] for cut in request.cuts),
            )
            for request in requests
        )


def _ranked(frame: Frame, keys: list[str], windows: tuple[Window, ...]) -> Frame:
    """Number the codes of each key. Which of equal codes comes first is open, and changes no code of any rank."""
    frame = frame.with_columns(nw.lit(1).cast(nw.Int64).alias(ONE))
    if not windows:
        return frame
    return frame.with_columns(
        nw.col(ONE).cum_sum().over(*keys, order_by=CODE).cast(nw.Float64).alias(RANK),
        nw.col(ONE).sum().over(*keys).cast(nw.Float64).alias(COUNT),
    )


def _ends(window: Window) -> tuple[nw.Expr, nw.Expr]:
    """First and last rank of a window among COUNT rows, as `Window.ranks` has them."""
    rank: Rank = window.at
    count = nw.col(COUNT)
    # ceil(t / den) = -floor(-t / den); exact, since whole numbers below 2^52 are not within an ulp of a quotient
    middle = (((count * -float(rank.num)) - float(rank.plus)) / float(rank.den)).floor() * -1.0 + float(
        rank.offset
    )
    middle = nw.when(middle < 1.0).then(nw.lit(1.0)).otherwise(middle)
    middle = nw.when(middle > count).then(count).otherwise(middle)
    return middle - float(window.reach), middle + float(window.reach)


def _sums(
    frame: Frame,
    keys: list[str],
    windows: tuple[Window, ...],
    cuts: tuple[int, ...],
    cutting: tuple[tuple[tuple[int, int] | None, bool], ...],
) -> dict[tuple[Any, ...], dict[str, int]]:
    """Per key: rows, the sum of all codes, of those below each window, of squares, and the counts below cuts."""
    high = (nw.col(CODE) * (1 / HALF)).floor()
    low = nw.col(CODE) - high * HALF
    columns = sum_columns(cuts, cutting)
    for place, window in enumerate(windows):
        below = nw.col(RANK) < _ends(window)[0]
        columns[f"below{place}_high"] = nw.when(below).then(high).otherwise(nw.lit(0.0))
        columns[f"below{place}_low"] = nw.when(below).then(low).otherwise(nw.lit(0.0))
    frame = frame.select(
        *map(nw.col, keys), *(one.cast(nw.Int64).alias(name) for name, one in columns.items())
    )
    sums = (nw.col(name).sum().cast(nw.Int64) for name in columns)
    found = collected(frame.group_by(*keys).agg(nw.len().alias(ROWS), *sums))
    names = [ROWS, *columns]
    values = zip(*(integers(found[name]).tolist() for name in names), strict=True)
    pairs = zip(_combinations(found, keys), values, strict=True)
    return {key: dict(zip(names, each, strict=True)) for key, each in pairs}


def _combinations(found: dict[str, NDArray[Any]], keys: list[str]) -> list[tuple[Any, ...]]:
    """The keys of each row of an answer, as they are looked up."""
    return list(zip(*(map(plain_key, found[name].tolist()) for name in keys), strict=True))


def _windows(
    frame: Frame, keys: list[str], windows: tuple[Window, ...]
) -> dict[tuple[Any, ...], dict[int, tuple[Any, Any]]]:
    """Per key and window: its codes in order, and how often each occurs."""
    marks = []
    for place, window in enumerate(windows):
        first, last = _ends(window)
        inside = (nw.col(RANK) >= first) & (nw.col(RANK) <= last)
        marks.append(
            nw.when(inside).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int64).alias(f"window{place}")
        )
    names = [f"window{place}" for place in range(len(windows))]
    wanted: Any = nw.col(names[0]) > 0
    for name in names[1:]:
        wanted = wanted | (nw.col(name) > 0)
    frame = frame.select(*map(nw.col, keys), nw.col(CODE).cast(nw.Int64), *marks).filter(wanted)
    found = collected(frame.group_by(*keys, CODE).agg(*(nw.col(name).sum().cast(nw.Int64) for name in names)))
    code, combinations = integers(found[CODE]), _combinations(found, keys)
    numbers: dict[tuple[Any, ...], int] = {}
    group = np.fromiter((numbers.setdefault(one, len(numbers)) for one in combinations), np.intp, len(code))
    order = np.lexsort((code, group))
    counts = [integers(found[name])[order] for name in names]
    code, group, known = code[order], group[order], list(numbers)
    starts = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(group)]
    return {
        known[group[start]]: {
            place: (code[start:stop], count[start:stop]) for place, count in enumerate(counts)
        }
        for start, stop in pairwise(starts)
    }
