"""The wire: how reports travel, and the collector that takes nothing on trust.

One JSON object per line, or a Parquet table, with a version, the name of the mechanism and the exponent of its grid.
The collector rejects what is malformed, foreign, out of range, duplicated or replayed, says why, counts it, goes on.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import DataError, MissingExtra
from sordino.geo.blocks import BlockMechanism
from sordino.geo.mechanism import Mechanism
from sordino.geo.reporting import Reports, mechanism_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

FORMAT = "sordino.geo.report"
VERSION = 1
REASONS = ("malformed", "foreign", "out-of-range", "duplicated", "replayed")
_FIELDS = {"format", "version", "mechanism", "grid", "device", "round", "block", "answers"}
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Received:
    """What a batch came to.

    Attributes:
        reports: The accepted ones.
        rejected: How many were rejected, by reason.
        examples: For each reason, where in the batch it first happened.
    """

    reports: Reports
    rejected: dict[str, int] = field(default_factory=dict)
    examples: dict[str, int] = field(default_factory=dict)


def to_records(
    reports: Reports, *, devices: Sequence[str] | None = None, round_: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield one record per report.

    Args:
        reports: What to send.
        devices: Names under which each device may report once per round; by default fresh random ones.
        round_: The number of the collection round.

    Example:
        >>> from sordino.geo import Threshold, report
        >>> from sordino.privacy import Geo
        >>> made = report([120.0], Threshold(at=100, width=20), Geo(1, per=50))
        >>> sorted(next(to_records(made, devices=["a"])))
        ['answers', 'block', 'device', 'format', 'grid', 'mechanism', 'round', 'version']
    """
    import secrets

    made = reports.mechanism
    head = {"format": FORMAT, "version": VERSION, "mechanism": made.id, "grid": made.grid.exponent}
    for i, codes in enumerate(reports.codes.tolist()):
        device = secrets.token_hex(16) if devices is None else devices[i]
        block = None if reports.block is None else int(reports.block[i])
        if block is not None:
            codes = codes[: len(made.blocks[block])]  # type: ignore[union-attr]  # noqa: PLW2901
        answers = codes if isinstance(codes, list) else [codes]
        yield {**head, "device": device, "round": int(round_), "block": block, "answers": answers}


def write(
    path: str | Path,
    made: Mechanism | BlockMechanism,
    parts: Iterable[Reports],
    *,
    devices: Sequence[str] | None = None,
    round_: int = 0,
) -> int:
    """Write reports to a file, part by part: Parquet if its name ends so, else one JSON object per line.

    Args:
        path: The file.
        made: The mechanism of all parts; it is described in the head of the file.
        parts: Reports, in as many pieces as memory asks for.
        devices: Names of the devices, in order; by default fresh random ones.
        round_: The number of the collection round.

    Returns:
        How many reports were written.
    """
    path = Path(path)
    return (_write_parquet if path.suffix == ".parquet" else _write_lines)(path, made, parts, devices, round_)


def _named(reports: Reports, devices: Sequence[str] | None, done: int) -> Sequence[str] | None:
    return None if devices is None else devices[done : done + len(reports)]


def _write_lines(path: Path, made: Any, parts: Any, devices: Any, round_: int) -> int:
    done = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"sordino": describe(made)}) + "\n")
        for reports in parts:
            for record in to_records(reports, devices=_named(reports, devices, done), round_=round_):
                file.write(json.dumps(record) + "\n")
            done += len(reports)
    return done


def _write_parquet(path: Path, made: Any, parts: Any, devices: Any, round_: int) -> int:
    pa = _pyarrow()
    from pyarrow import parquet

    schema = pa.schema(
        [
            ("format", pa.string()),
            ("version", pa.int32()),
            ("mechanism", pa.string()),
            ("grid", pa.int32()),
            ("device", pa.string()),
            ("round", pa.int64()),
            ("block", pa.int64()),
            ("answers", pa.list_(pa.int64())),
        ],
        metadata={"sordino": json.dumps(describe(made))},
    )
    done = 0
    with parquet.ParquetWriter(path, schema) as file:
        for reports in parts:
            records = to_records(reports, devices=_named(reports, devices, done), round_=round_)
            file.write_table(pa.Table.from_pylist(list(records), schema=schema))
            done += len(reports)
    return done


def describe(made: Mechanism | BlockMechanism) -> dict[str, Any]:
    """Describe a mechanism for the head of a file; the collector compares it with its own, never trusts it."""
    return {"format": FORMAT, "version": VERSION, "id": made.id, "mechanism": made.to_dict()}


def read(path: str | Path) -> tuple[dict[str, Any] | None, Iterator[Any]]:
    """Read the head and the raw records of a file; lines that are no JSON come out as None."""
    path = Path(path)
    if not path.is_file():
        raise DataError("reports", "the file does not exist", got={"path": str(path)})
    if path.suffix == ".parquet":
        return _read_parquet(path)
    return _read_lines(path)


def _read_lines(path: Path) -> tuple[dict[str, Any] | None, Iterator[Any]]:
    def lines() -> Iterator[Any]:
        with path.open("rb") as file:
            for line in file:
                if line.strip():
                    try:
                        yield json.loads(line)
                    except (ValueError, RecursionError):
                        yield None

    everything = lines()
    first = next(everything, None)
    if isinstance(first, dict) and set(first) == {"sordino"} and isinstance(first["sordino"], dict):
        return first["sordino"], everything

    def again() -> Iterator[Any]:
        yield first
        yield from everything

    return None, again() if first is not None or path.stat().st_size else iter(())


def _read_parquet(path: Path) -> tuple[dict[str, Any] | None, Iterator[Any]]:
    pa = _pyarrow()
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowException, OSError):
        raise DataError("reports", "the file is not Parquet", got={"path": str(path)}) from None
    metadata = (file.schema_arrow.metadata or {}).get(b"sordino")
    try:
        head = json.loads(metadata) if metadata else None
    except ValueError:
        head = None

    def rows() -> Iterator[Any]:
        for batch in file.iter_batches(batch_size=1 << 14):
            yield from batch.to_pylist()

    return head if isinstance(head, dict) else None, rows()


def mechanism_from(record: dict[str, Any]) -> Mechanism | BlockMechanism:
    """Make the mechanism that a head describes, for a collector that trusts the file's maker."""
    from sordino.geo.query import Query
    from sordino.privacy import Geo, Guarantee

    try:
        inner = record["mechanism"]
        if inner.get("noise") == "blocks":
            price = Guarantee.from_dict(inner["price"])
            assert isinstance(price, Geo)
            return mechanism_for(Query.from_dict(inner["query"]), price)
        return Mechanism.from_dict(inner)
    except (KeyError, TypeError, AttributeError, AssertionError, ZeroDivisionError) as error:
        raise DataError("reports", "the head of the file describes no mechanism") from error


class Collector:
    """Accepts batches of records for one mechanism and remembers who has reported in which round.

    Example:
        >>> from sordino.geo import Threshold, report
        >>> from sordino.privacy import Geo
        >>> reports = report([120.0, 5.0], Threshold(at=100, width=20), Geo(1, per=50))
        >>> collector = Collector(reports.mechanism)
        >>> batch = list(to_records(reports)) + [None, {"format": "other"}]
        >>> collector.receive(batch).rejected
        {'malformed': 2}
        >>> collector.receive(batch[:1]).rejected
        {'replayed': 1}
    """

    __slots__ = ("_seen", "mechanism")

    def __init__(self, mechanism: Mechanism | BlockMechanism) -> None:
        self.mechanism = mechanism
        self._seen: set[tuple[str, int]] = set()

    def receive(self, records: Iterable[Any]) -> Received:
        """Sort a batch into accepted reports and counted rejections. Nothing in a record can raise."""
        made = self.mechanism
        blocks = made.blocks if isinstance(made, BlockMechanism) else None
        rejected: Counter[str] = Counter()
        examples: dict[str, int] = {}
        batch: set[tuple[str, int]] = set()
        codes: list[list[int]] = []
        places: list[int] = []
        for i, record in enumerate(records):
            reason = self._judge(record, blocks)
            if reason is None:
                key = (record["device"], record["round"])
                reason = "replayed" if key in self._seen else "duplicated" if key in batch else None
            if reason is not None:
                rejected[reason] += 1
                examples.setdefault(reason, i)
                continue
            batch.add(key)
            codes.append(record["answers"])
            places.append(record["block"] or 0)
        self._seen |= batch
        return Received(self._pack(codes, places), dict(rejected), examples)

    def _judge(self, record: Any, blocks: Any) -> str | None:
        """Name what is wrong with a record, or None."""
        if not isinstance(record, dict) or set(record) != _FIELDS or record["format"] != FORMAT:
            return "malformed"
        whole = [record["version"], record["grid"], record["round"]]
        if not all(_whole(number) for number in whole) or record["round"] < 0:
            return "malformed"
        device, answers, block = record["device"], record["answers"], record["block"]
        if not isinstance(device, str) or not 0 < len(device) <= _LONGEST_NAME:
            return "malformed"
        if not isinstance(answers, list) or not all(_whole(answer) for answer in answers):
            return "malformed"
        made = self.mechanism
        named = (record["version"], record["mechanism"], record["grid"])
        if named != (VERSION, made.id, made.grid.exponent):
            return "foreign"
        if blocks is None:
            if block is not None or len(answers) != 1:
                return "malformed"
        elif not _whole(block):
            return "malformed"
        elif not 0 <= block < len(blocks):
            return "out-of-range"
        elif len(answers) != len(blocks[block]):
            return "malformed"
        limit = made.limit
        return None if all(-limit <= answer <= limit for answer in answers) else "out-of-range"

    def _pack(self, codes: list[list[int]], places: list[int]) -> Reports:
        made = self.mechanism
        if not isinstance(made, BlockMechanism):
            return Reports(made, np.array([row[0] for row in codes], dtype=np.int64))
        packed = np.zeros((len(codes), made.widest), dtype=np.int64)
        for row, answers in zip(packed, codes, strict=True):
            row[: len(answers)] = answers
        return Reports(made, packed, np.array(places, dtype=np.int64))


def _whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _pyarrow() -> Any:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra.named("parquet", "pyarrow", "geo") from None
    return pa
