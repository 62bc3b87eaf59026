"""Runs an experiment and keeps it: CSV, picture, and a JSON record of settings, version and time.

Each finished part is kept in a file named by a digest of its settings and of the modules that it depends on, so an
interrupted run goes on where it stopped, changed code is never mistaken for a finished part, and code that has nothing
to do with it makes nothing stale.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproductions.dependencies import digests
from reproductions.experiment import SCALES, Experiment, Part, Result, Row
from sordino import __version__, checks
from sordino.errors import ParameterError

PICTURES = ("svg", "png")


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run and where it lies.

    Attributes:
        result: Rows, finding and figure.
        files: CSV, JSON record and pictures.
        seconds: How long the parts took that were computed now.
        resumed: How many parts were found finished.
    """

    result: Result
    files: tuple[Path, ...]
    seconds: float
    resumed: int


def run(
    experiment: Experiment,
    *,
    scale: str,
    out: Path,
    data: Path | None = None,
    jobs: int = 1,
    progress: Callable[[int], None] | None = None,
) -> FinishedRun:
    """Run an experiment into a folder, going on where an earlier run stopped.

    Args:
        experiment: What to run.
        scale: ``smoke`` or ``full``.
        out: An existing folder.
        data: Folder of public data files, for the experiments that can use them.
        jobs: Processes.
        progress: Told of every finished part.
    """
    checks.one_of("paper", SCALES, scale=scale)
    checks.whole("paper", at_least=1, jobs=jobs)
    if not out.is_dir():
        raise ParameterError("paper", "the folder for the results must exist", got={"out": str(out)})
    started = time.time()
    parts = experiment.parts(scale, data)
    paths = [_place(out, experiment, part) for part in parts]
    todo = [index for index, path in enumerate(paths) if not path.exists()]
    clock = time.perf_counter()
    if progress is not None:
        progress(len(parts) - len(todo))
    for index, rows in _computed(experiment, [(index, parts[index]) for index in todo], jobs):
        _write(paths[index], json.dumps({"settings": parts[index], "rows": rows}))
        if progress is not None:
            progress(1)
    kept = [json.loads(path.read_text(encoding="utf-8"))["rows"] for path in paths]
    seconds = time.perf_counter() - clock
    result = Result(experiment, scale, tuple(parts), tuple(kept))
    files = _files(result, out, started=started, seconds=seconds, resumed=len(parts) - len(todo))
    return FinishedRun(result, files, seconds, len(parts) - len(todo))


def _computed(
    experiment: Experiment, todo: list[tuple[int, Part]], jobs: int
) -> Iterator[tuple[int, list[Row]]]:
    """Yield the rows of the parts as they are finished."""
    if jobs == 1 or len(todo) < 2:
        for index, part in todo:
            yield index, experiment.compute(part)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    with ProcessPoolExecutor(min(jobs, len(todo)), mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(experiment.compute, part): index for index, part in todo}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _place(out: Path, experiment: Experiment, part: Part) -> Path:
    """Name the file of a part by its settings and by the code that computes it, other modules of ours included."""
    said = json.dumps([experiment.name, part, _code(experiment.compute.__module__)], sort_keys=True)
    return out / "parts" / experiment.name / f"{hashlib.sha256(said.encode()).hexdigest()[:20]}.json"


@functools.cache
def _code(module: str) -> list[str]:
    """Digests of all that a module depends on."""
    return sorted(digests(module).values())


def _write(path: Path, text: str) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.partial")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _files(result: Result, out: Path, *, started: float, seconds: float, resumed: int) -> tuple[Path, ...]:
    """Write the table, the pictures and the record."""
    from sordino import plots

    name = result.experiment.name
    table = out / f"{name}.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(result.columns)
        writer.writerows(result.rows)
    pictures = [plots.save(result.figure(), out / f"{name}.{ending}") for ending in PICTURES]
    record = out / f"{name}.json"
    _write(record, json.dumps(_record(result, started, seconds, resumed), indent=2) + "\n")
    return (table, record, *pictures)


def _record(result: Result, started: float, seconds: float, resumed: int) -> dict[str, Any]:
    """Say what was run, how, when and what came out."""
    import numpy as np

    experiment = result.experiment
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "title": experiment.title,
        "claim": experiment.claim,
        "finding": result.finding,
        "scale": result.scale,
        "settings": list(result.settings),
        "seeds": sorted({part["seed"] for part in result.settings if "seed" in part}),
        "version": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "seconds": round(seconds, 3),
        "parts_resumed": resumed,
        "columns": list(result.columns),
        "rows": [[_plain(cell) for cell in row] for row in result.rows],
    }


def _plain(cell: Any) -> Any:
    """Write infinities as words: JSON has no number for them."""
    return str(cell) if isinstance(cell, float) and not math.isfinite(cell) else cell
