"""Asking: one process per library answers what is not yet in the cache. Knows nothing of scores."""

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.peers.answers import Answers
from benchmarks.peers.libraries import ADD_REMOVE

SECONDS = 25.0  # CPU seconds a cell may take at most; three repetitions are always made


def column_file(cache, cell, values):
    """The rows of a cell on disk, where every environment can read them."""
    path = Path(cache) / "columns" / f"{cell.table}-{cell.column.replace(' ', '_')}-{cell.rows}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        np.save(path, values)
    return path


def wanted(library, cell, share):
    """How many repetitions a cell gets; a share of the full number for a first look."""
    known = library.repeats.get(cell.rows) or library.repeats[10_001 if cell.rows > 3000 else 1001]
    return max(3, math.ceil(known * share))


def questions(library, chosen, relations):
    """Every cell in every way in which the library can be asked it."""
    for cell in chosen:
        if cell.query not in library.queries:
            continue
        for variant, kept in library.variants.items():
            for relation in kept:
                if relation not in relations or (cell.table != "main" and variant == "rough"):
                    continue
                yield cell, variant, relation


def ask(library, environment, cache, chosen, relations, *, share=1.0, seconds=SECONDS, progress=None):
    """Ask one library everything that is missing; answers go to the cache as they come."""
    kept = Answers(cache, library, environment.version)
    tasks = []
    for cell, variant, relation in questions(library, chosen, relations):
        name = cell.name(library.name, variant, relation)
        cap = (
            25 if library.name == "sordino" and relation == ADD_REMOVE and cell.query == "variance" else 10**9
        )
        repeats = kept.missing(name, min(cap if cell.rows > 3000 else 10**9, wanted(library, cell, share)))
        spent = (kept.get(name) or {"seconds": 0.0})["seconds"]
        if not repeats or spent > seconds:
            continue
        values = cell.values()
        if values is None:
            continue
        tasks.append(
            cell.task(name, column_file(cache, cell, values), variant, relation, repeats, seconds - spent)
        )
    if not tasks:
        return kept
    started = time.monotonic()
    process = subprocess.Popen(
        environment.command(library.adapter), env=environment.variables(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: os.nice(5),  # noqa: PLW1509 - no threads run here
    )  # fmt: skip
    try:
        for count, task in enumerate(tasks, 1):
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"{library.name}: the adapter stopped: {process.stderr.read()[-500:]}")
            kept.add(json.loads(line))
            if progress:
                progress(library.name, count, len(tasks), time.monotonic() - started)
    finally:
        process.stdin.close()
        process.wait(timeout=60)
        process.stdout.close()
        process.stderr.close()
    return kept


def bar(name, count, total, seconds):
    """One line of progress on stderr; a new line now and then where nobody watches."""
    watched = sys.stderr.isatty()
    if watched or count == total or count % max(1, total // 20) == 0:
        left = seconds / count * (total - count)
        end = "\r" if watched and count < total else "\n"
        print(
            f"{name:12s} {count}/{total}  {seconds:.0f} s, about {left:.0f} s left   ",
            end=end,
            file=sys.stderr,
        )
