"""Take files of reports into a store that remembers who has reported, whatever happens to the machine."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from sordino.cli import render
from sordino.cli.geo_verbs.options import counted, read_head
from sordino.cli.options import json_option
from sordino.errors import ParameterError


@click.command(name="collect")
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("--into", required=True, type=click.Path(dir_okay=False), help="The store, an SQLite file.")
@click.option(
    "--head", "head_file", type=click.Path(dir_okay=False), help="The mechanism the devices were given."
)
@click.option(
    "--quarantine", type=click.Path(dir_okay=False), help="Where rejected lines go, with reason and place."
)
@json_option
def command(
    files: tuple[str, ...], into: str, head_file: str | None, quarantine: str | None, as_json: bool
) -> None:
    """Check files of reports and add them to a store; each device counts once per round, across restarts.

    Without --head the files' own heads are believed.
    """
    from sordino.geo.collector import Collector, collect
    from sordino.geo.head import mechanism_from
    from sordino.geo.reading import read
    from sordino.geo.seen import SeenReports

    given = None if head_file is None else read_head(head_file)
    opened = [(path, *read(path)) for path in files]  # a missing file is named before anything is made
    store = SeenReports(into)
    rejected: Counter[str] = Counter()
    accepted = 0
    with ExitStack() as stack:
        keep = None
        if quarantine is not None:
            file = stack.enter_context(Path(quarantine).open("w", encoding="utf-8"))

            def keep(name: str, line: int, reason: str, text: bytes) -> None:
                entry = {
                    "file": name,
                    "line": line,
                    "reason": reason,
                    "text": text.decode("utf-8", "replace"),
                }
                file.write(json.dumps(entry) + "\n")

        for path, head, batches in opened:
            if given is None and head is None:
                raise ParameterError(
                    "collect",
                    "the file has no head, so its mechanism must be named",
                    got={"path": path},
                    hint="--head",
                )
            made = given if given is not None else mechanism_from(head)
            with render.progress(Path(path).name, total=100) as advance:
                told = [0]

                def progress(done: int, total: int, advance: Any = advance, told: list[int] = told) -> None:
                    now = 100 * done // max(total, 1)
                    advance(now - told[0])
                    told[0] = now

                aside = None if keep is None else (lambda *rest, name=path, keep=keep: keep(name, *rest))
                parts, counts = collect(
                    Collector(made, store=store), batches, progress=progress, quarantine=aside
                )
            accepted += sum(len(part) for part in parts)
            rejected.update(counts)
    store.close()
    if as_json:
        render.as_json(
            {"accepted": accepted, "rejected": dict(rejected), "store": into, "quarantine": quarantine}
        )
        return
    rows = [("accepted", f"{accepted:,} reports"), ("rejected", counted(rejected)), ("store", into)]
    if quarantine is not None and rejected:
        rows.append(("quarantine", f"{sum(rejected.values()):,} lines in {quarantine}"))
    render.block(rows)
