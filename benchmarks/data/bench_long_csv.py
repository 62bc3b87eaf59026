"""A CSV file that is longer than what is kept of one: processor seconds and peak memory of whole processes.

    SORDINO_RECORDS=184000000 python -m benchmarks bench_long_csv

Needs DuckDB, which writes the file (4.9 GB with so many records; 1.3 GB by default) and is the other reader. Every line
is a process of its own that opens the file and takes one statistic. Limits: four times DuckDB's processor time, and
memory that does not grow with the file.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

RECORDS = int(os.environ.get("SORDINO_RECORDS", "48_000_000"))
COLUMNS = """range as person,
    round(exp(10 + sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())), 2) as income,
    18 + cast(floor(72 * random()) as int) as age,
    (['north', 'south', 'east', 'west'])[1 + cast(floor(4 * random()) as int)] as region"""
OURS = """
import sys
import sordino as sd
people = sd.open(sys.argv[1], budget=sd.Pure(10))
people.release(sd.{}("income", low=0, high=1_000_000), sd.Pure(1))
"""
OTHER = """
import sys
import duckdb
duckdb.connect().sql(f"set threads=1; select {}(income) from '{{sys.argv[1]}}'").fetchall()
"""
LIMIT = 4


def used(script, path):
    """Processor seconds and peak megabytes of a process."""
    child = subprocess.Popen([sys.executable, "-c", script, str(path)])
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError(script)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def tables():
    """For the runner."""
    with tempfile.TemporaryDirectory() as folder:
        path, rows = Path(folder) / "people.csv", []
        write = (
            f'import duckdb; duckdb.sql("""copy (select {COLUMNS} from range({RECORDS})) to \'{path}\'""")'
        )
        used(write, path)
        for name, ours, other in (("median", "Median", "median"), ("default mean", "Mean", "avg")):
            mine, memory = used(OURS.format(ours), path)
            theirs, more = used(OTHER.format(other), path)
            rows.append((name, mine, theirs, mine / theirs, LIMIT, memory, more))
        names = ("statistic", "CPU s", "DuckDB", "times", "at most", "peak MB", "DuckDB's")
        yield f"A CSV file of {path.stat().st_size / 1e9:.1f} GB, {RECORDS:,} records", names, rows
