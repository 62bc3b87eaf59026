"""A table in PostgreSQL, times the server's own aggregates: processor time of this process and of the server."""

import contextlib
import os
import time
from pathlib import Path

import psycopg

import sordino as sd
from benchmarks.bars.columns import BOUNDS, PRICE
from tests.support.servers import postgres_server

ROWS, TURNS = 10**7, 5
TICKS = os.sysconf("SC_CLK_TCK")
FILL = (
    "create table people as select exp(10 + sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as x "
    f"from generate_series(1, {ROWS})"
)


def worked():
    """Processor seconds so far, of this process and of all servers on this machine with the workers that have ended."""
    ticks = 0
    for process in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = process.read_text().rpartition(")")
            if "postgres" in name:
                ticks += sum(map(int, rest.split()[11:15]))
    return ticks / TICKS + time.process_time()


def least(*works):
    """The least of several runs that take turns."""
    best = [float("inf")] * len(works)
    for _ in range(TURNS):
        for place, work in enumerate(works):
            start = worked()
            work()
            best[place] = min(best[place], worked() - start)
    return best


def lines():
    """Name, ratio, bar."""
    server = contextlib.contextmanager(postgres_server.__wrapped__)
    with server() as address, psycopg.connect(address, autocommit=True) as connection:
        connection.execute(FILL)
        connection.execute("analyze people")
        people = sd.open(f"{address}&table=people", budget=sd.Pure(10**9), rows=ROWS)
        for name, statistic, hints, sql, bar in (
            ("tight mean, times avg", sd.Mean("x", **BOUNDS), {"tight": True}, "avg(x)", 2.0),
            ("median, times percentile_disc", sd.Median("x", **BOUNDS), {},
             "percentile_disc(0.5) within group (order by x)", 2.0),
        ):  # fmt: skip

            def ours(statistic=statistic, hints=hints):
                people.release(statistic, PRICE, **hints)

            ours()
            mine, other = least(
                ours, lambda sql=sql: connection.execute(f"select {sql} from people").fetchall()
            )
            yield f"{name}, PostgreSQL table of {ROWS:,}", mine / other, bar
