"""What it costs to open and to ask CSV files, with a million records or wide: processor seconds of all threads."""

import csv
import gzip
import tempfile
from pathlib import Path

import numpy as np

import sordino as sd
from benchmarks.data.clock import seconds

ROWS = 1_000_000
MEDIAN = sd.Median("income", low=0, high=500_000)
REGIONS = ("north", "south", "east", "west")


def write(path, quoting, fault=""):
    """Four columns: person, income, age, region."""
    rng = np.random.default_rng(0)
    columns = (
        range(ROWS),
        np.round(rng.lognormal(10, 1, ROWS), 2).tolist(),
        rng.integers(18, 90, ROWS).tolist(),
        rng.choice(REGIONS, ROWS).tolist(),
    )
    with gzip.open(path, "wt", 1, newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        writer = csv.writer(file, quoting=quoting)
        writer.writerow(("person", "income", "age", "region"))
        writer.writerows(zip(*columns, strict=True))
        file.write(fault)


def opened(path):
    """A session with a budget of its own."""
    return sd.open(path, budget=sd.Pure(10**6))


def tables():
    """Opening, a first and a further median, medians by region."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = {
            "plain": ("plain.csv", csv.QUOTE_MINIMAL, ""),
            "plain, one record ragged": ("ragged.csv", csv.QUOTE_MINIMAL, "1,2,3,north,5\n"),
            "texts quoted": ("quoted.csv", csv.QUOTE_NONNUMERIC, ""),
            "plain, gzipped": ("plain.csv.gz", csv.QUOTE_MINIMAL, ""),
        }
        rows = []
        for name, (file, quoting, fault) in kinds.items():
            path = Path(folder) / file
            write(path, quoting, fault)
            people = opened(path)
            first = seconds(lambda: people.release(MEDIAN, sd.Pure(1)), 1)
            again = seconds(lambda: people.release(MEDIAN, sd.Pure(1)))
            groups = seconds(lambda: people.release_by("region", REGIONS, MEDIAN, sd.Pure(1)))
            rows.append((name, seconds(lambda: opened(path)), first, again, groups))
        yield f"CSV files of {ROWS:,} records", ("file", "open", "median", "again", "4 groups"), rows
        wide = []
        for width in (1000, 2000, 4000, 8000):
            path = Path(folder) / f"{width}.csv"
            line = ",".join(map(str, range(width)))
            path.write_text(",".join(f"c{place}" for place in range(width)) + "\n" + f"{line}\n" * 100)
            cost = seconds(lambda: opened(path))
            wide.append((width, 1e3 * cost, 1e6 * cost / width))
        yield "Wide files of 100 records", ("columns", "ms", "microseconds per column"), wide
