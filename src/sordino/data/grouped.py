"""Groups: the summaries of every public key at once, from a frame with a key and a code per row.

An engine in this process hands out both columns, stretch by stretch, and numpy sorts them once. An engine elsewhere
numbers the codes of each key itself, by window functions, and sends sums and counted codes: no row leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sordino.data.kernel import key_index, sorted_by_group
from sordino.data.passes import CODE, ROWS, changed, collected, integers
from sordino.data.table import column_of
from sordino.reading.requests import Rank, Request, Run, Summary, Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = nw.LazyFrame[Any]
    Keys = tuple[str | int, ...]

KEY, ONE, COUNT, RANK = (f"sordino_{word}" for word in ("key", "one", "count", "rank"))

NEAR = 1 << 15
"""Keys whose rows are held in memory at a time; a public number, so how often a table is scanned tells nothing."""

FAR = 1 << 12
"""Keys that an engine elsewhere is sent at a time, as a list."""

_HALF = 2.0**20
"""Codes are summed in halves, so that 64 bits hold the sums of 2^32 rows."""


def chunks(keys: Keys, size: int) -> Iterator[Keys]:
    """The keys, so many at a time."""
    return (keys[start : start + size] for start in range(0, len(keys), size))


def sorted_codes(frame: Frame, keys: Keys, top: int) -> tuple[NDArray[Any], list[int]]:
    """Codes in the order of key and code, and where each key starts; rows with other keys are left out."""
    places: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    codes: list[NDArray[Any]] = [np.zeros(0, np.uint32 if top < 2**32 else np.int64)]
    for table in _stretches(frame):
        place = _places(table[KEY], keys)
        mine = place >= 0
        places.append(place[mine].astype(np.int32))
        codes.append(table[CODE].to_numpy()[mine].astype(codes[0].dtype))
    return sorted_by_group(np.concatenate(places), np.concatenate(codes), len(keys), top)


def _stretches(frame: Frame) -> Iterator[Any]:
    """The rows as Arrow tables, not all at once where the engine can do so."""
    native: Any = nw.to_native(frame)
    if hasattr(native, "to_arrow_reader"):
        import pyarrow as pa

        for batch in native.to_arrow_reader(1 << 20):
            yield pa.Table.from_batches([batch])
    else:
        yield frame.collect(backend="pyarrow").to_native()


def _places(column: Any, keys: Keys) -> NDArray[Any]:
    """The place of each row's key in the list, -1 where it is not in it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    exact = isinstance(keys[0], str) or (
        pa.types.is_signed_integer(column.type) and all(-(2**63) <= int(one) < 2**63 for one in keys)
    )
    if not exact:
        return key_index(column_of(column.to_numpy()), keys)
    # Arrow's hash table is faster than a search in a list.
    kind = column.type if isinstance(keys[0], str) else pa.int64()
    found: NDArray[Any] = pc.fill_null(pc.index_in(column.cast(kind), pa.array(keys, kind)), -1).to_numpy()
    return found


def numbered(requests: tuple[Request, ...]) -> bool:
    """Whether an engine can compute the ranks of all windows: doubles must hold ``n num + plus`` exactly."""
    ranks = [window.at for request in requests for window in request.windows]
    return all(max(abs(rank.num), abs(rank.plus), rank.den) < 2**20 for rank in ranks)


def summaries(
    frame: Frame, keys: Keys, requests: tuple[Request, ...], subject: str
) -> Iterator[tuple[Summary, ...]]:
    """Answer requests on one grid for every key of a frame of keys and codes (doubles), with two queries in all."""
    grid = requests[0].grid
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    squares = any(request.squares for request in requests)
    sums = _sums(_ranked(frame, windows), windows, cuts, squares=squares)
    codes = _windows(_ranked(frame, windows), windows) if windows else {}
    nothing = np.zeros(0, np.int64)
    for key in keys:
        found = sums.get(_plain(key))
        rows = 0 if found is None else found[ROWS]
        runs = {}
        for place, window in enumerate(windows):
            first, last = window.ranks(rows)
            if first > last:
                runs[window] = Run(1, nothing, 0, rows, grid.last)
                continue
            assert found is not None
            value, count = codes.get(_plain(key), {}).get(place, (nothing, nothing))
            if int(count.sum()) != last - first + 1:
                raise changed(subject)
            runs[window] = Run(
                first, np.repeat(value, count), _whole(found, f"below{place}"), rows, grid.last
            )
        yield tuple(
            Summary(
                request,
                rows,
                0 if found is None else _whole(found, "total"),
                _squares(found) if request.squares and found is not None else 0,
                tuple(runs[window] for window in request.windows),
                tuple(0 if found is None else found[f"cut{cuts.index(cut)}"] for cut in request.cuts),
            )
            for request in requests
        )


def _ranked(frame: Frame, windows: tuple[Window, ...]) -> Frame:
    """Number the codes of each key. Which of equal codes comes first is open, and changes no code of any rank."""
    frame = frame.with_columns(nw.lit(1).cast(nw.Int64).alias(ONE))
    if not windows:
        return frame
    return frame.with_columns(
        nw.col(ONE).cum_sum().over(KEY, order_by=CODE).cast(nw.Float64).alias(RANK),
        nw.col(ONE).sum().over(KEY).cast(nw.Float64).alias(COUNT),
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
    frame: Frame, windows: tuple[Window, ...], cuts: tuple[int, ...], *, squares: bool
) -> dict[Any, dict[str, int]]:
    """Per key: rows, the sum of all codes, of those below each window, of squares, and the counts below cuts."""
    high = (nw.col(CODE) * (1 / _HALF)).floor()
    low = nw.col(CODE) - high * _HALF
    columns = {"total_high": high, "total_low": low}
    for place, window in enumerate(windows):
        below = nw.col(RANK) < _ends(window)[0]
        columns[f"below{place}_high"] = nw.when(below).then(high).otherwise(nw.lit(0.0))
        columns[f"below{place}_low"] = nw.when(below).then(low).otherwise(nw.lit(0.0))
    for place, cut in enumerate(cuts):
        columns[f"cut{place}"] = nw.when(nw.col(CODE) < float(cut)).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    if squares:  # codes of at most 32 bits: 12 above the cut, so every product stays below 2^40
        columns |= {"high_high": high * high, "high_low": high * low, "low_low": low * low}
    frame = frame.select(nw.col(KEY), *(one.cast(nw.Int64).alias(name) for name, one in columns.items()))
    sums = (nw.col(name).sum().cast(nw.Int64) for name in columns)
    found = collected(frame.group_by(KEY).agg(nw.len().alias(ROWS), *sums))
    names = [ROWS, *columns]
    rows = zip(found[KEY].tolist(), *(integers(found[name]).tolist() for name in names), strict=True)
    return {_plain(key): dict(zip(names, values, strict=True)) for key, *values in rows}


def _windows(frame: Frame, windows: tuple[Window, ...]) -> dict[Any, dict[int, tuple[Any, Any]]]:
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
    frame = frame.select(nw.col(KEY), nw.col(CODE).cast(nw.Int64), *marks).filter(wanted)
    found = collected(frame.group_by(KEY, CODE).agg(*(nw.col(name).sum().cast(nw.Int64) for name in names)))
    code = integers(found[CODE])
    _, group = np.unique(found[KEY], return_inverse=True)
    order = np.lexsort((code, group))
    counts = [integers(found[name])[order] for name in names]
    code, group, key = code[order], group[order], found[KEY][order]
    starts = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(group)]
    return {
        _plain(key[start]): {
            place: (code[start:stop], count[start:stop]) for place, count in enumerate(counts)
        }
        for start, stop in pairwise(starts)
    }


def _plain(key: Any) -> Any:
    """A key as it is looked up: texts, and whole numbers however an engine sends them."""
    if isinstance(key, str):
        return key
    return int(key) if key == int(key) else float(key)


def _whole(found: dict[str, int], name: str) -> int:
    return (found[f"{name}_high"] << 20) + found[f"{name}_low"]


def _squares(found: dict[str, int]) -> int:
    """(h 2^20 + l)^2 = h^2 2^40 + 2 h l 2^20 + l^2."""
    return (found["high_high"] << 40) + (found["high_low"] << 21) + found["low_low"]
