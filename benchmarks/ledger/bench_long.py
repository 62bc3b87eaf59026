"""A ledger of a hundred thousand releases, read whole in a process of its own; eight writers on one file.

Bars: verify, history and export take at most 5 CPU seconds and 60 MB; no writer gets twice the answers of another.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sordino as sd
from sordino.ledger import Ledger
from sordino.ledger.chain import ChainRow, amount, written
from sordino.ledger.entry import who

RELEASES, WRITERS, SECONDS = 100_000, 8, 3.0
CPU_BAR, MEMORY_BAR, FAIR_BAR = 5.0, 60.0, 2.0
PRICE = sd.Pure(0.001)
READ = r"""
import re, sys, time
from sordino.ledger import Ledger
begun = time.process_time()
with Ledger(sys.argv[1]) as ledger, open("/dev/null", "w") as nowhere:
    {
        "verify": lambda: ledger.verify(),
        "history": lambda: sum(1 for _ in ledger.entries()),
        "export": lambda: ledger.export_to(nowhere),
        "export as CSV": lambda: ledger.export_to(nowhere, table=True),
    }[sys.argv[2]]()
peak = re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]  # of this program alone
print(time.process_time() - begun, int(peak) / 1024)
"""


def long_ledger(path):
    """A ledger with many releases and their answers, written in one transaction."""
    release = sd.open({"x": np.linspace(0, 1, 50)}, budget=sd.Pure(1)).release(
        sd.Median("x", low=0, high=1, step=0.01), PRICE
    )
    event, answer, told = release.event.to_dict(), release.to_dict(), who()
    with Ledger.create(path, sd.Pure(1000), reason="long") as ledger, ledger._store.write() as page:
        (last,) = page.tail(1)
        total = amount(last.spent)
        for number in range(RELEASES):
            total += PRICE
            body = {"event": event, "cost": PRICE.to_dict(), "who": told}
            for kind, text in (("spend", body), ("record", {"release": answer})):
                last = ChainRow.after(last, kind, f"token {number}", text, spent=written(total), ceiling=last.ceiling,
                                 at=release.at)  # fmt: skip
                page.append(last)


def spend(path, event, gate, results):
    gate.wait()
    end, done = time.monotonic() + SECONDS, 0
    with Ledger(path) as ledger:
        while time.monotonic() < end:
            ledger.spend(event)
            done += 1
    results.put(done)


def shares(path):
    """The answers that each of several writers got."""
    fork = multiprocessing.get_context("fork")
    event = sd.open({"x": np.linspace(0, 1, 50)}, budget=sd.Pure(1)).quote(sd.Count("x"), PRICE)
    Ledger.create(path, sd.Pure(10**6), reason="fair").close()
    gate, results = fork.Barrier(WRITERS), fork.Queue()
    workers = [fork.Process(target=spend, args=(path, event, gate, results)) for _ in range(WRITERS)]
    for worker in workers:
        worker.start()
    found = sorted(results.get() for _ in workers)
    for worker in workers:
        worker.join()
    return found


def tables():
    """Reading, then waiting."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        path = Path(folder) / "long.ledger"
        long_ledger(path)
        found = []
        for name in ("verify", "history", "export", "export as CSV"):
            done = subprocess.run(
                [sys.executable, "-c", READ, path, name], check=True, capture_output=True, text=True
            )
            seconds, megabytes = map(float, done.stdout.split()[-2:])
            fits = seconds <= CPU_BAR and megabytes <= MEMORY_BAR
            found.append(
                [name, round(seconds, 2), CPU_BAR, round(megabytes), MEMORY_BAR, "yes" if fits else "no"]
            )
    yield "A ledger of 100,000 releases", ("what", "CPU s", "bar", "MB", "bar", "within"), found
    found = []
    for name, parent in {"disk": tempfile.gettempdir(), "memory-backed": memory}.items():
        if parent is not None:
            with tempfile.TemporaryDirectory(dir=parent) as folder:
                least, *_, most = shares(Path(folder) / "fair.ledger")
            ratio = round(most / max(least, 1), 2)
            found.append([name, least, most, ratio, FAIR_BAR, "yes" if ratio <= FAIR_BAR else "no"])
    yield "Eight writers, three seconds", ("storage", "least", "most", "ratio", "bar", "within"), found
