"""US presidential elections as facts, and the series behind Figures 1 and 2 of Liu, Wang and Xia 2023.

National popular votes of the two main candidates, 1920-2020, as published (sources differ by up to one percent where a
candidate stood on two parties' lines). States and districts of 2020 are read from a user's file; the three that the
figures name are here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sordino.smoothed.tally import Tally, sampling

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOST = 0.002
"""Share of ballots lost in the paper's Example 1 (USPS, 2020)."""

EPSILON = math.log(0.51 / 0.49)
"""The paper does not state the epsilon of Figure 1; a threshold of 51 % (epsilon 0.04) fits the range it reports."""


@dataclass(frozen=True, slots=True)
class Election:
    """One presidential election: the two main candidates and their votes."""

    year: int
    democrat: str
    democratic_votes: int
    republican: str
    republican_votes: int

    @property
    def votes(self) -> int:
        """Votes for the two main candidates together."""
        return self.democratic_votes + self.republican_votes

    def sampled(self, *, lost: float = LOST) -> Tally:
        """Return the tally with a share of the votes lost at random."""
        records = {self.democrat: self.democratic_votes, self.republican: self.republican_votes}
        result: Tally = sampling(records=records, held_back=lost)
        return result


POPULAR_VOTES = (
    Election(1920, "James M. Cox", 9_140_864, "Warren G. Harding", 16_147_249),
    Election(1924, "John W. Davis", 8_386_503, "Calvin Coolidge", 15_725_016),
    Election(1928, "Al Smith", 15_016_443, "Herbert Hoover", 21_392_190),
    Election(1932, "Franklin D. Roosevelt", 22_821_857, "Herbert Hoover", 15_761_841),
    Election(1936, "Franklin D. Roosevelt", 27_476_673, "Alf Landon", 16_679_583),
    Election(1940, "Franklin D. Roosevelt", 27_243_466, "Wendell Willkie", 22_304_755),
    Election(1944, "Franklin D. Roosevelt", 25_602_505, "Thomas E. Dewey", 22_006_278),
    Election(1948, "Harry S. Truman", 24_105_695, "Thomas E. Dewey", 21_969_170),
    Election(1952, "Adlai E. Stevenson", 27_314_992, "Dwight D. Eisenhower", 33_778_963),
    Election(1956, "Adlai E. Stevenson", 25_738_765, "Dwight D. Eisenhower", 35_581_003),
    Election(1960, "John F. Kennedy", 34_227_096, "Richard Nixon", 34_107_646),
    Election(1964, "Lyndon B. Johnson", 42_825_463, "Barry Goldwater", 27_146_969),
    Election(1968, "Hubert Humphrey", 30_898_055, "Richard Nixon", 31_710_470),
    Election(1972, "George McGovern", 28_901_598, "Richard Nixon", 46_740_323),
    Election(1976, "Jimmy Carter", 40_825_839, "Gerald Ford", 39_147_770),
    Election(1980, "Jimmy Carter", 35_480_948, "Ronald Reagan", 43_642_639),
    Election(1984, "Walter Mondale", 37_577_185, "Ronald Reagan", 54_455_075),
    Election(1988, "Michael Dukakis", 41_809_074, "George H.W. Bush", 48_886_097),
    Election(1992, "Bill Clinton", 44_909_889, "George H.W. Bush", 39_104_545),
    Election(1996, "Bill Clinton", 47_402_357, "Bob Dole", 39_198_755),
    Election(2000, "Al Gore", 50_992_335, "George W. Bush", 50_455_156),
    Election(2004, "John Kerry", 59_028_444, "George W. Bush", 62_040_610),
    Election(2008, "Barack Obama", 69_498_516, "John McCain", 59_948_323),
    Election(2012, "Barack Obama", 65_915_795, "Mitt Romney", 60_933_504),
    Election(2016, "Hillary Clinton", 65_853_514, "Donald Trump", 62_984_828),
    Election(2020, "Joe Biden", 81_283_501, "Donald Trump", 74_223_975),
)

UNITS_2020 = {"DC": (317_323, 18_586), "NE-2": (176_563, 154_282), "NE-3": (65_836, 222_197)}
"""Democratic and Republican votes in 2020: the ends of all 56 units by two-party share, and the one the paper names."""


@dataclass(frozen=True, slots=True)
class YearFigure:
    """One point of Figure 1, natural logarithms."""

    election: Election
    log_delta: float
    log_utility: float
    log_worst: float

    @property
    def below_one_over_n(self) -> bool:
        """Whether delta is below one over the number of votes."""
        return self.log_delta < -math.log(self.election.votes)


def figure_one(*, lost: float = LOST, epsilon: float = EPSILON) -> list[YearFigure]:
    """Return delta(x) and the adversary's utility for every election since 1920, a share of the votes lost.

    Example:
        >>> last = figure_one()[-1]
        >>> last.election.year, round(last.log_delta / math.log(10), 2), last.below_one_over_n
        (2020, -31.92, True)
    """
    result = []
    for election in POPULAR_VOTES:
        tally = election.sampled(lost=lost)
        leak = tally.delta(epsilon=epsilon)
        result.append(YearFigure(election, leak.log_delta, tally.utility(epsilon=epsilon), leak.log_worst))
    return result


@dataclass(frozen=True, slots=True)
class SizeFigure:
    """One point of Figure 2, natural logarithms; the interval is empty (equal ends) where the figure is exact."""

    records: int
    epsilon: float
    log_delta: float
    log_low: float
    log_worst: float


BATCHED_SIZES = (64, 256, 625, 1600, 2500, 4096)
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)


def figure_two_left(
    units: dict[str, tuple[int, int]] | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    epsilons: Sequence[float] = (7.0, 2.0, 1.0, 0.5),
    lost: float = LOST,
    certify: bool = False,
) -> list[SizeFigure]:
    """Return smoothed delta of electorates of growing size, drawn from the units' two-party shares.

    Args:
        units: Votes of the two parties by unit; by default the ends of 2020, DC and NE-3.
        sizes: Numbers of voters.
        epsilons: Privacy parameters.
        lost: Share of ballots lost.
        certify: Bracket the sizes above twenty thousand instead of taking the larger end.

    Example:
        >>> point = figure_two_left(sizes=[10_000], epsilons=[7.0])[0]
        >>> round(point.log_delta / math.log(10), 3)
        -0.494
    """
    given = units or {name: UNITS_2020[name] for name in ("DC", "NE-3")}
    shares = [one / (one + two) for one, two in given.values()]
    result = []
    for epsilon in epsilons:
        for n in sizes:
            model = sampling(size=n, electorates=shares, held_back=lost)
            method = "auto" if certify or n <= 20_000 else "ends"
            leak = model.delta(epsilon=epsilon, method=method)
            result.append(SizeFigure(n, epsilon, leak.log_delta, leak.log_lower, leak.log_worst))
    return result


def figure_two_right(
    *,
    sizes: Sequence[int] = BATCHED_SIZES,
    epsilons: Sequence[float] = (0.1, 0.5, 1.0, 2.0),
    samples: int = 12,
    seed: int = 1,
    means: Sequence[float] = (0.0, 0.2),
    deviation: float = 0.12,
) -> list[SizeFigure]:
    """Estimate smoothed delta of one gradient step with 8-bit quantised gradients, batch size sqrt(n).

    The paper's quantiser and epsilon are in appendices we do not have; levels k/128 for k = -128..127 with clipping are
    assumed. delta(x) is computed on extreme replacements, the outer mean is Monte Carlo with a 99 % interval, the
    largest of the pure and the even mixes is taken.

    Example:
        >>> figure_two_right(sizes=[16], epsilons=[1.0], samples=4)[0].records
        16
    """
    import numpy as np
    from scipy.special import ndtri

    from sordino.smoothed.average import SamplingAverage, quantise

    rng = np.random.default_rng(seed)
    wide = float(ndtri(0.995))
    result = []
    for n in sizes:
        T = math.isqrt(n)
        best: dict[float, tuple[float, float]] = {}
        mixes = [[mean] * n for mean in means] + [[means[i % len(means)] for i in range(n)]]
        for mix in mixes:
            draws = []
            for _ in range(samples):
                values = quantise(rng.normal(mix, deviation), low=-1.0, high=127 / 128, levels=256)
                average = SamplingAverage(tuple(int(v) for v in values), published=T, levels=256)
                draws.append(average.deltas(epsilons, search="extremes"))
            table = np.asarray(draws)
            for column, epsilon in enumerate(epsilons):
                mean = float(table[:, column].mean())
                half = wide * float(table[:, column].std(ddof=1)) / math.sqrt(samples)
                if mean > best.get(epsilon, (-1.0, 0.0))[0]:
                    best[epsilon] = mean, half
        for epsilon, (mean, half) in best.items():
            logs = [math.log(value) if value > 0.0 else -math.inf for value in (mean, mean - half)]
            result.append(SizeFigure(n, epsilon, logs[0], logs[1], math.log(T / n)))
    return result


def straight_line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Fit y = a + b x and return a, b and the share of the variance explained.

    Example:
        >>> straight_line([0.0, 1.0, 2.0], [1.0, 3.0, 5.0])
        (1.0, 2.0, 1.0)
    """
    n = len(x)
    mean_x, mean_y = math.fsum(x) / n, math.fsum(y) / n
    over = math.fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    spread = math.fsum((a - mean_x) ** 2 for a in x)
    total = math.fsum((b - mean_y) ** 2 for b in y)
    slope = over / spread
    return mean_y - slope * mean_x, slope, over * over / (spread * total)


def read_units(path: str | Path) -> dict[str, tuple[int, int]]:
    """Read the two parties' votes by unit from a CSV with columns unit, dem, rep (others are ignored)."""
    from sordino.smoothed.files import read_precincts

    table = read_precincts(path, categories=("dem", "rep"))
    return {name: (counts["dem"], counts["rep"]) for name, counts in table.items()}


def ends(units: dict[str, tuple[int, int]]) -> tuple[str, str]:
    """Return the units with the largest and the smallest share of the first party: the vertices of the hull.

    Example:
        >>> ends(UNITS_2020)
        ('DC', 'NE-3')
    """

    def share(name: str) -> Any:
        one, two = units[name]
        return one / (one + two)

    voting = [name for name, votes in units.items() if sum(votes) > 0]
    return max(voting, key=share), min(voting, key=share)
