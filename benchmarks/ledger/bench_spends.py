"""Spends per second on SQLite in one process, beside bare commits on the same disk; whole releases; verification.

A commit waits for the disk four times: on a disk the bare commit is the limit, in memory our own work is.
The number per CPU second leaves out both the disk and other programs.
"""

import os
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np

import sordino as sd
from sordino.ledger import Ledger
from sordino.session.quote import prepare

COUNT = 400


def bare(path):
    """One small row per commit, with the same settings and nothing else."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=PERSIST")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE t (body TEXT)")
    begun = time.perf_counter()
    for _ in range(COUNT):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 700,))
        connection.execute("COMMIT")
    rate = COUNT / (time.perf_counter() - begun)
    connection.close()
    return rate


def rows(folder):
    """What one place can do."""
    median = sd.Median("x", low=0, high=1)
    event = prepare(
        median, sd.Pure(0.001), neighbors=sd.Neighbors.REPLACE_ONE, unit=sd.Unit(), rows=1000
    ).event
    limit = bare(folder / "bare.db")
    with Ledger.create(folder / "b.ledger", sd.Pure(1000), reason="bench") as ledger:
        begun, worked = time.perf_counter(), time.process_time()
        for _ in range(COUNT):
            ledger.spend(event)
        single, own = COUNT / (time.perf_counter() - begun), COUNT / (time.process_time() - worked)
        begun = time.perf_counter()
        for _ in range(10):
            ledger.spend_all([(event, None)] * 200)
        together = 2000 / (time.perf_counter() - begun)
        begun = time.perf_counter()
        report = ledger.verify()
        verified = report.rows / (time.perf_counter() - begun)
        session = sd.open({"x": np.linspace(0, 1, 1000)}, ledger=ledger)
        session.release(median, sd.Pure(0.001))
        begun = time.perf_counter()
        for _ in range(50):
            session.release(median, sd.Pure(0.001))
        releases = 50 / (time.perf_counter() - begun)
    return [
        round(limit),
        round(single),
        round(single / limit, 2),
        round(own),
        round(together),
        round(verified),
        round(releases),
    ]


def tables():
    """One row per kind of storage."""
    found = []
    places = {"disk": tempfile.gettempdir(), "memory-backed": "/dev/shm"}
    for name, parent in places.items():
        if os.access(parent, os.W_OK):
            with tempfile.TemporaryDirectory(dir=parent) as folder:
                found.append([name, *rows(Path(folder))])
    columns = (
        "storage",
        "bare commits/s",
        "spends/s",
        "ratio",
        "spends per CPU second",
        "spends/s, 200 at once",
        "rows verified/s",
        "releases/s",
    )
    yield "Ledger on SQLite, one process", columns, found
