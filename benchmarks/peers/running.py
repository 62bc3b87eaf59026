"""Asking: one process per library answers what is not yet in the cache. Knows nothing of scores."""

import contextlib
import json
import math
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.peers import cell_laws
from benchmarks.peers.answers import Answers
from benchmarks.peers.cells import truth
from benchmarks.peers.columns import COLUMNS
from benchmarks.peers.libraries import OURS, QUANTILES

LAW = "|law"  # the suffix of an answer that is an exact error, not a draw
EXACT = 3  # numbers of an exact error: root mean square, median, and how well the first is known
CHECKS = 20  # our draws beside an exact law, in the cells of the first size within fitting bounds
CHECKED = (
    60  # a peer's draws beside the law of its mechanism, in the cells of the first size within fitting bounds
)
SECONDS = 25.0  # CPU seconds a cell may take at most; three repetitions are always made


def column_file(cache, cell, values):
    """The rows of a cell on disk, where every environment can read them."""
    path = Path(cache) / "columns" / f"{cell.column.replace(' ', '_')}-{cell.rows}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        np.save(path, values)
    return path


def wanted(library, cell, share):
    """How many repetitions a cell gets; a share of the full number for a first look.

    Where the law is known draws only check it: in a few cells, and none elsewhere.
    """
    known = library.repeats[cell.rows]
    most = min(library.fewer.get(cell.query, known), known)
    if cell_laws.settled(library.name, cell):
        if (cell.rows, cell.regime, cell.epsilon) != (201, "fit", 1):
            return 0
        most = min(most, CHECKED)
    return max(3, math.ceil(most * share))


def questions(library, chosen, relations):
    """Every cell in every way in which the library can be asked it."""
    for cell in chosen:
        regimes = ("fit",) if cell.query in library.boundless else library.regimes
        if cell.query not in library.queries or cell.regime not in (regimes or (cell.regime,)):
            continue
        for variant, kept in library.variants.items():
            for relation in kept:
                if relation in relations and says(variant, cell):
                    yield cell, variant, relation


def says(variant, cell):
    """Whether what a variant of ours adds would be true of the column, and changes the question."""
    if (
        variant == "half"
    ):  # half of the price for what others answer with the whole: behind in every inner quantile
        return cell.query not in ("median", "q10", "q90", "q99")
    if variant == "tight":
        return cell.regime == "fit" and cell.query != "count"
    if variant == "loose":
        return cell.regime != "fit" and cell.query in ("mean", "variance")
    if variant == "rough":
        hinted = cell.regime != "fit" and cell.column in COLUMNS and cell.rows == 1001
        return hinted and cell.query in (*QUANTILES, "mean")
    return True


def ask(library, environment, cache, chosen, relations, *, share=1.0, seconds=SECONDS, progress=None):
    """Ask one library everything that is missing; answers go to the cache as they come.

    Of ours the exact law is asked first; where there is one, a few draws are enough to check it.
    """
    kept = Answers(cache, library, environment.version)
    if library.name == OURS.name:
        laws = []
        for cell, variant, relation in questions(library, chosen, relations):
            name = cell.name(library.name, variant, relation) + LAW
            if kept.missing(name, EXACT) and (values := cell.values()) is not None:
                task = cell.task(name, column_file(cache, cell, values), variant, relation, EXACT, seconds)
                laws.append(task | {"law": True, "truth": truth(cell.query, values, cell.public.threshold)})
        _converse(library, environment, kept, laws, progress)
    tasks = []
    for cell, variant, relation in questions(library, chosen, relations):
        name = cell.name(library.name, variant, relation)
        repeats = wanted(library, cell, share)
        if (kept.get(name + LAW) or {"values": []})["values"]:
            repeats = CHECKS if (cell.rows, cell.regime) == (201, "fit") else 0
        repeats = kept.missing(name, repeats) if repeats else 0
        spent = (kept.get(name) or {"seconds": 0.0})["seconds"]
        if not repeats or spent > seconds or (values := cell.values()) is None:
            continue
        tasks.append(
            cell.task(name, column_file(cache, cell, values), variant, relation, repeats, seconds - spent)
        )
    tasks.sort(
        key=lambda task: bool((kept.get(task["id"] + LAW) or {"values": []})["values"])
    )  # checks come last
    _converse(library, environment, kept, tasks, progress)
    return kept


def _converse(library, environment, kept, tasks, progress):
    """Give tasks to one process and keep what it answers."""
    if not tasks:
        return
    started = time.monotonic()
    process = subprocess.Popen(
        environment.command(library.adapter), env=environment.variables(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    # all tasks at once: on a busy machine a conversation would wait for its turn twice a task
    feeder = threading.Thread(target=_feed, args=(process.stdin, tasks), daemon=True)
    feeder.start()
    try:
        for count in range(1, len(tasks) + 1):
            kept.add(_reply(library, process))
            if progress:
                progress(library.name, count, len(tasks), time.monotonic() - started)
    except BaseException:
        process.kill()
        raise
    finally:
        process.wait(timeout=60)
        feeder.join(timeout=10)
        process.stdout.close()
        process.stderr.close()


def _reply(library, process):
    """The next reply; a peer may raise, but ours answers or is broken."""
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{library.name}: the adapter stopped: {process.stderr.read()[-500:]}")
    reply = json.loads(line)
    if library.name == OURS.name and reply["raised"]:
        raise RuntimeError(f"{reply['id']}: {next(iter(reply['raised']))}")
    return reply


def _feed(stream, tasks):
    with contextlib.suppress(BrokenPipeError), stream:
        for task in tasks:
            stream.write(json.dumps(task) + "\n")


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
