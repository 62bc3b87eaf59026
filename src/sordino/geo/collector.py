"""The collector takes nothing on trust: it sorts records into accepted reports and counted rejections.

What is malformed, of another version, foreign, out of range, duplicated or replayed is rejected with its reason and may
be put in quarantine. Columns are judged at once; the mechanism's name and limits are worked out once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.geo.blocks import BlockMechanism
from sordino.geo.head import VERSION, mechanism_from
from sordino.geo.points import BEYOND, PointReports, Points
from sordino.geo.reading import no_cycles
from sordino.geo.reporting import Reports
from sordino.geo.seen import SeenReports
from sordino.geo.wire import FIELDS, LONGEST_NAME, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from sordino.geo.head import AnyMechanism
    from sordino.geo.reading import RecordBatch

    AnyReports = Reports | PointReports

REASONS = ("malformed", "other-version", "foreign", "out-of-range", "duplicated", "replayed")
_NUMBER = {reason: i for i, reason in enumerate(REASONS)}
_GOOD = -1


@dataclass(frozen=True, slots=True)
class Received:
    """What a batch came to.

    Attributes:
        reports: The accepted ones.
        rejected: How many were rejected, by reason.
        examples: For each reason, where in the batch it first happened.
        verdicts: For each record the number of its reason in REASONS, or -1.
    """

    reports: AnyReports
    rejected: dict[str, int] = field(default_factory=dict)
    examples: dict[str, int] = field(default_factory=dict)
    verdicts: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8), repr=False)


class Collector:
    """Accepts batches of records for one mechanism and remembers who has reported in which round.

    Args:
        mechanism: What devices were asked to use.
        store: A file that survives restarts and keeps the accepted reports; by default memory.

    Example:
        >>> from sordino.geo import Threshold, report
        >>> from sordino.geo.wire import to_records
        >>> from sordino.privacy import Geo
        >>> reports = report([120.0, 5.0], Threshold(at=100, width=20), Geo(1, per=50))
        >>> collector = Collector(reports.mechanism)
        >>> batch = list(to_records(reports)) + [None, {"format": "other"}]
        >>> collector.receive(batch).rejected
        {'malformed': 2}
        >>> collector.receive(batch[:1]).rejected
        {'replayed': 1}
    """

    __slots__ = ("_blocks", "_fields", "_format", "_high", "_id", "_low", "_store", "_values", "mechanism")

    def __init__(self, mechanism: AnyMechanism, *, store: str | Path | SeenReports | None = None) -> None:
        self.mechanism = mechanism
        self._id = mechanism.id
        self._format = format_of(mechanism)
        self._fields = set(FIELDS[self._format])
        self._values = "at" if isinstance(mechanism, Points) else "answers"
        self._store = store if isinstance(store, SeenReports) else SeenReports(store)
        self._store.describe(mechanism)
        self._blocks = mechanism.blocks if isinstance(mechanism, BlockMechanism) else None
        if isinstance(mechanism, Points):
            from sordino.geo.planar_laplace import T

            self._low = [edge - BEYOND * T for edge in mechanism.low]
            self._high = [edge + BEYOND * T for edge in mechanism.high]
        else:
            limit = mechanism.limit
            self._low, self._high = [-limit], [limit]

    def close(self) -> None:
        """Close the store; what was accepted is on disk already."""
        self._store.close()

    def receive(self, records: Iterable[Any]) -> Received:
        """Judge records: as columns if all have the right types, else one by one. Nothing in a record can raise."""
        listed = records if isinstance(records, list) else list(records)
        with no_cycles():
            found = self._columns(listed)
            return self._one_by_one(listed) if found is None else self._judged(*found)

    def _columns(self, records: list[Any]) -> tuple[Any, ...] | None:
        """Versions, names, devices, rounds and codes as columns, or None if anything is out of the ordinary."""
        if self._blocks is not None or not records or {*map(type, records)} != {dict}:
            return None
        wide, fields = len(self._low), FIELDS[self._format]
        try:
            if {*map(len, records)} != {len(fields)}:
                return None
            column = dict(zip(fields, zip(*map(itemgetter(*fields), records), strict=True), strict=True))
            values, versions, rounds = column[self._values], column["version"], column["round"]
            if (
                {*column["format"]} != {self._format}
                or {*map(type, values)} != {list}
                or {*map(len, values)} != {wide}
            ):
                return None
            flat = list(chain.from_iterable(values))
            whole = {
                *map(type, flat),
                *map(type, versions),
                *map(type, rounds),
                *map(type, column.get("grid", ())),
            }
            if whole != {int} or {*map(type, column["device"]), *map(type, column["mechanism"])} != {str}:
                return None
            if {*column.get("block", (None,))} != {None}:
                return None
            lengths = np.fromiter(map(len, column["device"]), np.int64, len(records))
            codes = np.array(flat, dtype=np.int64).reshape(-1, wide)
            when = np.array(rounds, dtype=np.int64)
            foreign = np.array(column["mechanism"]) != self._id
            other = np.array(versions, dtype=np.int64) != VERSION
            if "grid" in column:
                here = self.mechanism.grid.exponent  # type: ignore[union-attr]
                foreign |= np.array(column["grid"], dtype=np.int64) != here
        except (KeyError, TypeError, OverflowError):  # other fields, unhashable or enormous
            return None
        fine = (lengths > 0) & (lengths <= LONGEST_NAME) & (when >= 0)
        return fine, other, foreign, codes, column["device"], when

    def _judged(
        self, fine: Any, other: Any, foreign: Any, codes: Any, devices: Sequence[str], rounds: Any
    ) -> Received:
        """Verdicts from columns."""
        verdicts = np.full(len(codes), _NUMBER["malformed"], dtype=np.int8)
        verdicts[fine] = _GOOD
        verdicts[other] = _NUMBER["other-version"]
        self._mark(verdicts, foreign, "foreign")
        inside = ((codes >= self._low) & (codes <= self._high)).all(axis=1)
        self._mark(verdicts, ~inside, "out-of-range")
        good = verdicts == _GOOD
        names = devices if good.all() else [devices[i] for i in np.flatnonzero(good).tolist()]
        return self._accept(verdicts, rounds[good], names, codes[good], np.zeros(len(names), dtype=np.int64))

    def _one_by_one(self, records: list[Any]) -> Received:
        verdicts: list[int] = []
        rounds: list[int] = []
        devices: list[str] = []
        codes: list[list[int]] = []
        blocks: list[int] = []
        for record in records:
            reason = self._judge(record)
            verdicts.append(_GOOD if reason is None else _NUMBER[reason])
            if reason is None:
                rounds.append(record["round"])
                devices.append(record["device"])
                codes.append(record[self._values])
                blocks.append(record.get("block") or 0)
        wide = len(self._low) if self._blocks is None else max(len(block) for block in self._blocks)
        if self._blocks is None:
            packed = np.array(codes, dtype=np.int64).reshape(-1, wide)
        else:
            packed = np.zeros((len(codes), wide), dtype=np.int64)
            for row, values in zip(packed, codes, strict=True):
                row[: len(values)] = values
        return self._accept(
            np.array(verdicts, dtype=np.int8),
            np.array(rounds, dtype=np.int64),
            devices,
            packed,
            np.array(blocks, dtype=np.int64),
        )

    def receive_table(self, table: Any) -> Received:
        """Judge the columns of a table that fits the format's schema; blocks are judged record by record."""
        if self._blocks is not None or set(table.column_names) != self._fields:
            return self._one_by_one(table.to_pylist())
        import pyarrow.compute as pc

        def column(name: str) -> Any:
            return table.column(name).combine_chunks()

        def holds(mask: Any) -> NDArray[np.bool_]:
            return np.asarray(pc.fill_null(mask, fill_value=False).to_numpy(zero_copy_only=False), dtype=bool)

        values = column(self._values)
        device, round_ = column("device"), column("round")
        wide = len(self._low)
        length = pc.utf8_length(device)
        fine = holds(pc.equal(column("format"), self._format)) & holds(pc.is_valid(column("version")))
        fine &= holds(pc.and_(pc.greater(length, 0), pc.less_equal(length, LONGEST_NAME)))
        fine &= holds(pc.greater_equal(round_, 0)) & holds(pc.is_valid(column("mechanism")))
        lengths = np.asarray(pc.fill_null(pc.list_value_length(values), -1).to_numpy(zero_copy_only=False))
        fine &= lengths == wide
        if "block" in self._fields:
            fine &= holds(pc.is_null(column("block"))) & holds(pc.is_valid(column("grid")))
        flat = values.flatten()
        offsets = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])
        if flat.null_count:
            bad = np.flatnonzero(np.asarray(flat.is_null().to_numpy(zero_copy_only=False)))
            fine[np.searchsorted(offsets, bad, side="right") - 1] = False
            flat = pc.fill_null(flat, 0)
        numbers = np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.int64)
        places = np.where(fine, offsets[:-1], 0)[:, None] + np.arange(wide)
        codes = (
            numbers[np.minimum(places, max(len(numbers) - 1, 0))]
            if len(numbers)
            else np.zeros(places.shape, np.int64)
        )
        foreign = ~holds(pc.equal(column("mechanism"), self._id))
        if "grid" in self._fields:
            foreign |= ~holds(pc.equal(column("grid"), self.mechanism.grid.exponent))  # type: ignore[union-attr]
        version = column("version")
        other = holds(pc.is_valid(version)) & ~holds(pc.equal(version, VERSION))
        rounds = np.asarray(pc.fill_null(round_, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
        return self._judged(fine, other, foreign, codes, device.to_pylist(), rounds)

    @staticmethod
    def _mark(verdicts: NDArray[np.int8], wrong: NDArray[np.bool_], reason: str) -> None:
        verdicts[wrong & (verdicts == _GOOD)] = _NUMBER[reason]

    def receive_batch(self, batch: RecordBatch) -> Received:
        """Judge a batch of a file."""
        return self.receive_table(batch.table) if batch.records is None else self.receive(batch.records)

    def _accept(
        self, verdicts: Any, rounds: Any, devices: Sequence[str], codes: NDArray[np.int64], blocks: Any
    ) -> Received:
        """Leave out who reported before, store the rest, and count."""
        digests = np.array(
            [blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest() for name in devices],
            dtype="S16",
        )
        good = np.flatnonzero(verdicts == _GOOD)
        if len(digests):
            order = np.lexsort((digests, rounds))
            same = (digests[order][1:] == digests[order][:-1]) & (rounds[order][1:] == rounds[order][:-1])
            later = np.zeros(len(digests), dtype=bool)
            later[order[1:][same]] = True  # lexsort is stable: the first of equals stays
            single = ~later
            with_block = None if self._blocks is None else blocks[single]
            fresh = self._store.add(self._id, rounds[single], digests[single], codes[single], with_block)
            # Of a device's records in one batch the later ones are duplicates, unless it was seen before at all.
            keys = set(zip(rounds[single][~fresh].tolist(), digests[single][~fresh].tolist(), strict=True))
            for i in np.flatnonzero(later).tolist():
                known = (int(rounds[i]), bytes(digests[i])) in keys
                verdicts[good[i]] = _NUMBER["replayed" if known else "duplicated"]
            verdicts[good[single][~fresh]] = _NUMBER["replayed"]
            kept = np.flatnonzero(single)[fresh]
        else:
            kept = np.empty(0, dtype=np.int64)
        counted = Counter(verdicts[verdicts != _GOOD].tolist())
        rejected = {REASONS[number]: counted[number] for number in sorted(counted)}
        examples = {reason: int(np.argmax(verdicts == _NUMBER[reason])) for reason in rejected}
        return Received(self._reports(codes[kept], blocks[kept], rounds[kept]), rejected, examples, verdicts)

    def _reports(
        self, codes: NDArray[np.int64], blocks: NDArray[np.int64], rounds: NDArray[np.int64]
    ) -> AnyReports:
        made = self.mechanism
        if isinstance(made, Points):
            return PointReports(made, codes, rounds)
        return Reports(made, codes, blocks) if self._blocks is not None else Reports(made, codes[:, 0])

    def _judge(self, record: Any) -> str | None:
        """Name what is wrong with a record, or None."""
        if not isinstance(record, dict) or record.get("format") != self._format:
            return "malformed"
        version = record.get("version")
        if _whole(version) and version != VERSION:
            return "other-version"
        if set(record) != self._fields or not _whole(version) or not isinstance(record["mechanism"], str):
            return "malformed"
        device, values, block = record["device"], record[self._values], record.get("block")
        if not _whole(record["round"]) or not 0 <= record["round"] < 2**63:
            return "malformed"
        if not isinstance(device, str) or not 0 < len(device) <= LONGEST_NAME:
            return "malformed"
        if not isinstance(values, list) or not all(_whole(value) for value in values):
            return "malformed"
        if "grid" in record and not _whole(record["grid"]):
            return "malformed"
        grid = None if isinstance(self.mechanism, Points) else self.mechanism.grid.exponent
        if (record["mechanism"], record.get("grid")) != (self._id, grid):
            return "foreign"
        low, high = self._low, self._high
        if self._blocks is not None:
            if not _whole(block):
                return "malformed"
            assert isinstance(block, int)
            if not 0 <= block < len(self._blocks):
                return "out-of-range"
            low, high = low * len(self._blocks[block]), high * len(self._blocks[block])
        elif block is not None:
            return "malformed"
        if len(values) != len(low):
            return "malformed"
        inside = all(a <= value <= b for a, value, b in zip(low, values, high, strict=True))
        return None if inside else "out-of-range"


def stored_reports(path: str | Path) -> list[AnyReports]:
    """All accepted reports of a store, one entry per mechanism."""
    store = SeenReports(path)
    found: list[AnyReports] = []
    for head in store.heads():
        made = mechanism_from(head)
        parts = list(store.stored(made.id))
        nothing = np.empty(0, np.int64)
        flat = np.concatenate([codes for codes, _, _ in parts] or [nothing])
        if isinstance(made, Points):
            rounds = np.concatenate([part for _, part, _ in parts] or [nothing])
            found.append(PointReports(made, flat.reshape(-1, made.dimension), rounds))
        elif isinstance(made, BlockMechanism):
            blocks = np.concatenate([block for _, _, block in parts if block is not None] or [nothing])
            found.append(Reports(made, flat.reshape(-1, made.widest), blocks))
        else:
            found.append(Reports(made, flat))
    store.close()
    return found


def collect(
    collector: Collector,
    batches: Iterable[RecordBatch],
    *,
    progress: Callable[[int, int], None] | None = None,
    quarantine: Callable[[int, str, bytes], None] | None = None,
) -> tuple[list[AnyReports], Counter[str]]:
    """Receive all batches of a file.

    Args:
        collector: Whose mechanism the records must name.
        batches: From `reading.read`.
        progress: Told how much of how much has been read.
        quarantine: Told line, reason and raw line of each rejection.
    """
    accepted: list[AnyReports] = []
    rejected: Counter[str] = Counter()
    for batch in batches:
        received = collector.receive_batch(batch)
        accepted.append(received.reports)
        rejected.update(received.rejected)
        if quarantine is not None and received.rejected:
            for i in np.flatnonzero(received.verdicts != _GOOD).tolist():
                line = batch.lines[i] if batch.lines else b""
                quarantine(batch.first + i, REASONS[int(received.verdicts[i])], line)
        if progress is not None:
            progress(batch.done, batch.total)
    return accepted, rejected


def _whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
