"""Speed of point reports: a million draws, files, checks, maps and questions; CPU seconds of one core.

The bars: a million reports read and de-duplicated in ten seconds, and drawn on 1000 x 1000 cells in seconds.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

from sordino.geo import Box, Collector, Points, Reference, answer, map_of
from sordino.geo.collector import collect
from sordino.geo.head import mechanism_from
from sordino.geo.reading import read
from sordino.geo.wire import write
from sordino.privacy import Geo

PEOPLE = 1_000_000


def timed(function):
    """What a call gives, and its CPU time."""
    begin = time.process_time()
    result = function()
    return result, time.process_time() - begin


def tables():
    """Yield one table."""
    made = Points(Reference.around(longitude=4.9, latitude=52.4, radius=40_000), Geo(1, per=500))
    degrees = made.reference.to_degrees(np.random.default_rng(0).normal(0, 5000, (PEOPLE, 2)))
    rows = []
    reports, spent = timed(lambda: made.report(degrees=degrees))
    rows.append(("project, snap and draw", spent))
    names = [f"device-{i}" for i in range(PEOPLE)]
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("jsonl", "parquet"):
            path = Path(folder) / f"reports.{ending}"
            _, spent = timed(lambda path=path: write(path, made, [reports], devices=names))
            rows.append((f"write {ending}", spent))

            def take(path=path, ending=ending):
                head, batches = read(path)
                store = Path(folder) / f"{ending}.sqlite"
                return collect(Collector(mechanism_from(head), store=store), batches)

            (accepted, rejected), spent = timed(take)
            assert sum(map(len, accepted)) == PEOPLE
            assert not rejected
            rows.append((f"read, check and store {ending}", spent))
    square = {"low": (-20_000, -20_000), "high": (20_000, 20_000), "shape": (1000, 1000)}
    found, spent = timed(lambda: map_of(reports, bandwidth=500, **square))
    rows.append(("map of 1000 x 1000 cells with errors", spent))
    rows.append(("its band for all places at once", timed(lambda: found.band)[1]))
    rows.append(("smallest-error map", timed(lambda: map_of(reports, bandwidth=250, best=True, **square))[1]))
    boxes = [Box(low=(x, y), high=(x + 1500, y + 1500), width=1.0)
             for x in range(-15_000, 15_000, 1500) for y in range(-7500, 7500, 1500)]  # fmt: skip
    rows.append(("people in 200 districts", timed(lambda: answer(reports, boxes, edge_width=350))[1]))
    yield "a million point reports", ("step", "CPU seconds"), rows
