"""The wire: how reports travel. One JSON object per line, or a Parquet table, under a head that names the mechanism.

Two formats: `sordino.geo.point` carries a moved point, `sordino.geo.report` the answer to one question. Reading is in
`reading.py`, judging in `collector.py`; docs/reference/geo.md lists the fields.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.errors import MissingExtra, Unsupported
from sordino.geo.function_mechanism import FunctionMechanism
from sordino.geo.head import POINT, REPORT, VERSION, mechanism_from
from sordino.geo.points import PointReports, Points

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sordino.geo.head import AnyMechanism
    from sordino.geo.reporting import Reports

    AnyReports = Reports | PointReports

__all__ = ["FORMATS", "VERSION", "mechanism_from", "schema_of", "to_records", "write"]

FORMATS = (POINT, REPORT)
FIELDS = {
    POINT: ("format", "version", "mechanism", "device", "round", "at"),
    REPORT: ("format", "version", "mechanism", "grid", "device", "round", "block", "answers"),
}
LONGEST_NAME = 200


def format_of(made: AnyMechanism) -> str:
    """Which format a mechanism's reports have."""
    return POINT if isinstance(made, Points) else REPORT


def to_records(
    reports: AnyReports, *, devices: Sequence[str] | None = None, round_: int = 0
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
    made = reports.mechanism
    if isinstance(made, FunctionMechanism):
        raise Unsupported(
            made.query.name, "is not written to files of reports", got={"function": made.query.id},
            why="A head describes its mechanism whole, and a function of one's own is code.",
            hint="keep reports.codes beside the program that made them",
        )  # fmt: skip
    head = {"format": format_of(made), "version": VERSION, "mechanism": made.id}
    for i, values in enumerate(_values(reports)):
        device = secrets.token_hex(16) if devices is None else devices[i]
        yield {**head, **values, "device": device, "round": int(round_)}


def _values(reports: AnyReports) -> Iterator[dict[str, Any]]:
    """The part of each record that carries the report."""
    if isinstance(reports, PointReports):
        for at in reports.at.tolist():
            yield {"at": at}
        return
    made = reports.mechanism
    grid = made.grid.exponent
    for i, codes in enumerate(reports.codes.tolist()):
        block = None if reports.block is None else int(reports.block[i])
        if block is not None:
            codes = codes[: len(made.blocks[block])]  # type: ignore[union-attr]  # noqa: PLW2901
        yield {"grid": grid, "block": block, "answers": codes if isinstance(codes, list) else [codes]}


def write(
    path: str | Path,
    made: AnyMechanism,
    parts: Iterable[AnyReports],
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


def _named(reports: AnyReports, devices: Sequence[str] | None, done: int) -> Sequence[str] | None:
    return None if devices is None else devices[done : done + len(reports)]


def _write_lines(path: Path, made: Any, parts: Any, devices: Any, round_: int) -> int:
    done = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"sordino": made.head()}) + "\n")
        for reports in parts:
            records = to_records(reports, devices=_named(reports, devices, done), round_=round_)
            file.writelines(json.dumps(record) + "\n" for record in records)
            done += len(reports)
    return done


def _write_parquet(path: Path, made: Any, parts: Any, devices: Any, round_: int) -> int:
    pa = pyarrow()
    from pyarrow import parquet

    schema = schema_of(format_of(made)).with_metadata({"sordino": json.dumps(made.head())})
    done = 0
    with parquet.ParquetWriter(path, schema) as file:
        for reports in parts:
            records = to_records(reports, devices=_named(reports, devices, done), round_=round_)
            file.write_table(pa.Table.from_pylist(list(records), schema=schema))
            done += len(reports)
    return done


def schema_of(wire_format: str) -> Any:
    """The Arrow schema of a format's records."""
    pa = pyarrow()
    kinds = {
        "format": pa.string(),
        "version": pa.int64(),
        "mechanism": pa.string(),
        "grid": pa.int64(),
        "device": pa.string(),
        "round": pa.int64(),
        "block": pa.int64(),
        "answers": pa.list_(pa.int64()),
        "at": pa.list_(pa.int64()),
    }
    return pa.schema([(name, kinds[name]) for name in FIELDS[wire_format]])


def pyarrow() -> Any:
    """Import pyarrow, or say how to install it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra.named("parquet", "pyarrow", "geo") from None
    return pa
