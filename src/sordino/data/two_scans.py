"""Two scans: the summaries of every group of a table on a cluster, whatever the number of groups and of rows.

The first scan counts and sums rows by group and by the top bits of their codes. From it follows between which codes the
ranks of each window lie. The second scan counts the codes there, numbers them in the engine, and hands out those of the
windows alone. So what travels is bounded by public numbers: groups times buckets, and groups times the ranks that were
asked for. No row is sorted but the few between those codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sordino.data.grouped import key_names
from sordino.data.grouped_sums import HALF, plain_key, sum_columns, totals
from sordino.data.passes import BUCKET, CODE, ROWS, changed, collected, integers
from sordino.reading.requests import Request, Run, Summary, Window
from sordino.reading.split import Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Frame = nw.LazyFrame[Any]
    Codes = NDArray[np.int64]
    Key = tuple[Any, ...]

FIRST, AFTER, BASE, LOW, HIGH, SPAN, AHEAD = (
    f"sordino_{word}" for word in ("first", "after", "base", "low", "high", "span", "ahead")
)
WHOLE = ("sordino_whole_high", "sordino_whole_low")
"""The sum of all codes of a bucket, in halves."""

BEFORE = {ROWS: AHEAD, **{name: f"{name}_before" for name in WHOLE}}
"""Rows, and sums of codes, of all smaller codes between the same two."""

MOST_BITS, LEAST_BITS, ALL_BITS = 13, 6, 20
"""Of a code, the first scan keeps so many bits at most and at least; with those of the groups so many in all."""

TOGETHER = 1 << ALL_BITS - LEAST_BITS
"""Groups of which the first scan keeps so many bits; more of them are read one lot after the other."""

NO_BUCKETS = 60
"""Bits of which no code has more: all codes are in one bucket."""

ALL = "sordino_all"
"""All rows: the key where they are one group, and their number between some codes."""

LISTED = 1000
"""Buckets that are looked up in a list before groups are."""


def bucket_bits(groups: int) -> int:
    """How many top bits of a code the first scan keeps; public.

    Example:
        >>> bucket_bits(1), bucket_bits(1000), bucket_bits(10**6)
        (13, 10, 6)
    """
    return max(LEAST_BITS, min(MOST_BITS, ALL_BITS - (max(groups, 1) - 1).bit_length()))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Group:
    """What the first scan has found of one group, in the order of its buckets; private."""

    bucket: Codes
    rows: Codes
    totals: list[int]
    sums: dict[str, int]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Wanted:
    """Buckets of a group, which hold the ranks ``low .. high`` of a window; private.

    Attributes:
        buckets: Those that are not empty, in order.
        first: The first code of the first of them.
        rows: How many rows of the group come before.
        total: The sum of their codes.
        inside: How many rows are in these buckets.
    """

    group: Key
    window: Window
    buckets: Codes
    first: int
    low: int
    high: int
    rows: int
    total: int
    inside: int


def summarise(codes: Frame, requests: tuple[Request, ...], subject: str) -> dict[Request, Summary]:
    """Answer requests on one grid from a frame with the one column of codes (doubles that hold integers)."""
    everybody = Split((ALL,), ((0,),))
    (name,) = key_names(everybody)
    frame = codes.with_columns(nw.lit(0).cast(nw.Int64).alias(name))
    (answers,) = summaries(frame, everybody, requests, subject)
    return dict(zip(requests, answers, strict=True))


def summaries(
    frame: Frame, split: Split, requests: tuple[Request, ...], subject: str
) -> Iterator[tuple[Summary, ...]]:
    """Answer requests on one grid for every group of a frame of keys and codes (doubles).

    Args:
        frame: The rows that count.
        split: The groups, in the order of the answers.
        requests: What is asked, on one grid.
        subject: What messages call the source.
    """
    keys, groups, top = key_names(split), split.combinations, requests[0].grid.last
    windows = tuple(dict.fromkeys(window for request in requests for window in request.windows))
    cuts = tuple(dict.fromkeys(cut for request in requests for cut in request.cuts))
    cutting = tuple(dict.fromkeys((request.within, request.squares) for request in requests))
    shift = max(0, top.bit_length() - bucket_bits(len(groups))) if windows else NO_BUCKETS
    found, known = _first_scan(frame, keys, shift, cuts, cutting)
    plain = {key: tuple(map(plain_key, key)) for key in groups}
    wanted = [
        _between(plain[key], found[plain[key]], window, shift)
        for key in groups
        for window in windows
        if plain[key] in found and _asked(window, found[plain[key]])
    ]
    codes = (
        _counted(found, wanted) if shift == 0 else _second_scan(frame, keys, wanted, known, shift, subject)
    )
    runs = {
        (one.group, one.window): _run(one, *codes[place], found, top, subject)
        for place, one in enumerate(wanted)
    }
    for key in groups:
        group = found.get(plain[key])
        rows = 0 if group is None else int(group.rows.sum())
        sums = None if group is None else group.sums
        nothing = Run(1, np.zeros(0, np.int64), 0, rows, top)
        yield tuple(
            Summary(
                request,
                rows,
                *totals(sums, cutting.index((request.within, request.squares)), squares=request.squares),
                tuple(runs.get((plain[key], window), nothing) for window in request.windows),
                tuple(0 if sums is None else sums[f"cut{cuts.index(cut)}"] for cut in request.cuts),
            )
            for request in requests
        )


def sums_of_each(frame: Frame, split: Split, requests: tuple[Request, ...]) -> list[Summary]:
    """Answer one request of each group, which asks for sums alone, between codes of its own: one scan for all."""
    keys, groups = key_names(split), split.combinations
    ends = [request.within or (0, request.grid.last) for request in requests]
    edges = {
        **{name: [key[at] for key in groups] for at, name in enumerate(keys)},
        FIRST: [float(low) for low, _ in ends],
        AFTER: [float(high) for _, high in ends],
    }
    code, low, high = nw.col(CODE), nw.col(FIRST), nw.col(AFTER)
    cut = nw.when(code < low).then(low).otherwise(nw.when(code > high).then(high).otherwise(code)) - low
    rows = frame.join(_small(frame, edges), on=keys, how="inner").select(*map(nw.col, keys), cut.alias(CODE))
    squares = any(request.squares for request in requests)
    found, _ = _first_scan(rows, keys, NO_BUCKETS, (), ((None, squares),))
    answers = []
    for key, request in zip(groups, requests, strict=True):
        group = found.get(tuple(map(plain_key, key)))
        many = 0 if group is None else int(group.rows.sum())
        sums = totals(None if group is None else group.sums, 0, squares=request.squares)
        answers.append(Summary(request, many, *sums))
    return answers


def _asked(window: Window, group: _Group) -> bool:
    low, high = window.ranks(int(group.rows.sum()))
    return low <= high


def _first_scan(
    frame: Frame,
    keys: list[str],
    shift: int,
    cuts: tuple[int, ...],
    cutting: tuple[tuple[tuple[int, int] | None, bool], ...],
) -> tuple[dict[Key, _Group], dict[Key, list[Key]]]:
    """Rows and sums of every group and bucket; the keys of each group as the engine has them."""
    bucket = (nw.col(CODE) * 2.0**-shift).floor()
    columns = sum_columns(cuts, cutting)
    plain_sums = [place for place, (within, _) in enumerate(cutting) if within is None]
    if plain_sums:  # codes are summed as they are, for a request
        halves = tuple(f"total{plain_sums[0]}_{half}" for half in ("high", "low"))
    else:
        halves, high = WHOLE, (nw.col(CODE) * (1 / HALF)).floor()
        columns |= dict(zip(WHOLE, (high, nw.col(CODE) - high * HALF), strict=True))
    coded = frame.select(
        *map(nw.col, keys),
        bucket.cast(nw.Int64).alias(BUCKET),
        *(one.cast(nw.Int64).alias(name) for name, one in columns.items()),
    )
    sums = (nw.col(name).sum().cast(nw.Int64) for name in columns)
    table = collected(coded.group_by(*keys, BUCKET).agg(nw.len().alias(ROWS), *sums))
    numbers = {name: integers(table[name]) for name in (BUCKET, ROWS, *columns)}
    known: dict[Key, dict[Key, None]] = {}
    places: dict[Key, list[int]] = {}
    for place, raw in enumerate(zip(*(table[name].tolist() for name in keys), strict=True)):
        plain = tuple(map(plain_key, raw))
        known.setdefault(plain, {})[raw] = None  # 0.0 and -0.0, which engines group apart, are one
        places.setdefault(plain, []).append(place)
    found = {}
    for plain, some in places.items():
        mine = {name: one[some] for name, one in numbers.items()}
        bucket_of, inverse = np.unique(mine[BUCKET], return_inverse=True)
        added = {name: np.zeros(len(bucket_of), np.int64) for name in (ROWS, *halves)}
        for name, one in added.items():
            np.add.at(one, inverse, mine[name])
        whole = [(h << 20) + low for h, low in zip(*(added[name].tolist() for name in halves), strict=True)]
        sums_of = {name: sum(mine[name].tolist()) for name in columns}
        found[plain] = _Group(bucket_of, added[ROWS], whole, sums_of)
    return found, {plain: list(raws) for plain, raws in known.items()}


def _between(key: Key, group: _Group, window: Window, shift: int) -> _Wanted:
    """In which buckets the ranks of a window lie."""
    until = np.cumsum(group.rows)
    low, high = window.ranks(int(until[-1]))
    start, stop = np.searchsorted(until, [low, high]).tolist()
    return _Wanted(
        key,
        window,
        group.bucket[start : stop + 1],
        int(group.bucket[start]) << shift,
        low,
        high,
        int(until[start] - group.rows[start]),
        sum(group.totals[:start]),
        int(group.rows[start : stop + 1].sum()),
    )


def _counted(found: dict[Key, _Group], wanted: list[_Wanted]) -> list[tuple[Codes, Codes, int, int]]:
    """The same as `_second_scan`, where the first one has counted every code."""
    answers = []
    for one in wanted:
        group = found[one.group]
        start = int(np.searchsorted(group.bucket, one.buckets[0]))
        part = slice(start, start + len(one.buckets))
        answers.append((group.bucket[part], group.rows[part], one.rows, one.total))
    return answers


def _second_scan(
    frame: Frame,
    keys: list[str],
    wanted: list[_Wanted],
    known: dict[Key, list[Key]],
    shift: int,
    subject: str,
) -> list[tuple[Codes, Codes, int, int]]:
    """For each window its codes in order, how often each occurs, and number and sum of all rows before the first."""
    answers = [(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, 0)] * len(wanted)
    if not wanted:
        return answers
    bucket = (nw.col(CODE) * 2.0**-shift).floor().cast(nw.Int64)
    rows = frame.select(*map(nw.col, keys), nw.col(CODE), bucket.alias(BUCKET))
    listed = sorted({number for one in wanted for number in one.buckets.tolist()})
    if len(listed) <= LISTED:  # which spares most rows the rest
        rows = rows.filter(nw.col(BUCKET).is_in(listed))
    pairs = [
        (*raw, number, place)
        for place, one in enumerate(wanted)
        for raw in known[one.group]
        for number in one.buckets.tolist()
    ]
    edges = dict(zip((*keys, BUCKET, SPAN), map(list, zip(*pairs, strict=True)), strict=True))
    ranks = {
        SPAN: list(range(len(wanted))),
        BASE: [float(one.first) for one in wanted],
        LOW: [one.low - one.rows for one in wanted],
        HIGH: [one.high - one.rows for one in wanted],
    }
    inside = rows.join(_small(frame, edges), on=[*keys, BUCKET], how="inner")
    counted = inside.group_by(SPAN, CODE).agg(nw.len().cast(nw.Int64).alias(ROWS))
    counted = counted.join(_small(frame, ranks), on=SPAN, how="inner")
    above = nw.col(CODE) - nw.col(BASE)
    upper = (above * (1 / HALF)).floor()
    parts = dict(zip(WHOLE, (upper, above - upper * HALF), strict=True))
    counted = counted.with_columns(
        *((part.cast(nw.Int64) * nw.col(ROWS)).alias(name) for name, part in parts.items())
    )
    counted = counted.with_columns(
        nw.col(ROWS).sum().over(SPAN).cast(nw.Int64).alias(ALL),
        *(
            (nw.col(name).cum_sum().over(SPAN, order_by=CODE).cast(nw.Int64) - nw.col(name)).alias(before)
            for name, before in BEFORE.items()
        ),
    )
    last = nw.col(AHEAD) + nw.col(ROWS)
    chosen = counted.filter((last >= nw.col(LOW)) & (nw.col(AHEAD) < nw.col(HIGH)))
    chosen = chosen.select(SPAN, CODE, ROWS, ALL, *BEFORE.values())
    table = {name: integers(values) for name, values in collected(chosen).items()}
    order = np.lexsort((table[CODE], table[SPAN]))
    table = {name: values[order] for name, values in table.items()}
    ends = np.searchsorted(table[SPAN], np.arange(len(wanted) + 1)).tolist()
    for place, (start, stop) in enumerate(pairwise(ends)):
        if start == stop:
            continue
        one, at = wanted[place], {name: int(values[start]) for name, values in table.items()}
        if at[ALL] != one.inside:
            raise changed(subject)
        ahead, high, low = (at[name] for name in BEFORE.values())
        answers[place] = (
            table[CODE][start:stop],
            table[ROWS][start:stop],
            one.rows + ahead,
            one.total + ahead * one.first + (high << 20) + low,
        )
    return answers


def _run(
    one: _Wanted,
    codes: Codes,
    counts: Codes,
    ahead: int,
    total: int,
    found: dict[Key, _Group],
    top: int,
    subject: str,
) -> Run:
    """The codes of a window, rank by rank."""
    until = ahead + np.cumsum(counts)
    taken = np.minimum(until, one.high) - np.maximum(until - counts, one.low - 1)
    if int(np.maximum(taken, 0).sum()) != one.high - one.low + 1:
        raise changed(subject)
    before = np.clip(one.low - 1 - (until - counts), 0, counts)
    below = total + sum(code * many for code, many in zip(codes.tolist(), before.tolist(), strict=True))
    rows = int(found[one.group].rows.sum())
    return Run(one.low, np.repeat(codes, np.maximum(taken, 0)), below, rows, top)


def _small(frame: Frame, columns: Mapping[str, Any]) -> Frame:
    """A small table of public and paid-for numbers in the engine of another one."""
    import pyarrow as pa

    table, native = pa.table(columns), nw.to_native(frame)
    if frame.implementation.is_pyspark():
        from pyspark.sql import functions

        sent: Any = native
        return nw.from_native(functions.broadcast(sent.sparkSession.createDataFrame(table))).lazy()
    return nw.from_native(table, eager_only=True).lazy(backend=frame.implementation)
