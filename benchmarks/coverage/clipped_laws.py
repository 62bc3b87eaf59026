"""How often bars of means, sums and squares miss, by the laws of all that is drawn: interval, value, count, mean."""

import math
from fractions import Fraction

import numpy as np

from sordino.lattice import Lattice
from sordino.mechanisms.clip.clipped_bar import ClippedBar, JointReach
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.family import Ends, exact_chances
from sordino.mechanisms.clip.noisy_mean import Settled
from sordino.mechanisms.clip.plain_or_cut_plan import rate_of
from sordino.mechanisms.clip.slants import apart, missed
from sordino.mechanisms.clip.three_sums import ThreeSums, slopes
from sordino.mechanisms.parts.drawing import noise_for
from sordino.mechanisms.tuned_means import ForMeanBar

MEANS = 200  # places of the law of a released mean about which squares are taken
RARE = 1e-4  # what rarer outcomes weigh together counts as missed
STEP = Fraction(1, 2**40)


def flat_tail(flat, reach):
    """Probability that noise with a flat top of so many nats is off by more than the reach."""
    if reach >= flat:
        return math.exp(flat - reach) / (1 + flat)
    return 1 - reach / (1 + flat)


def beyond(flat, distance):
    """Probability that such noise exceeds this, which may be negative."""
    one_side = flat_tail(flat, abs(distance)) / 2
    return one_side if distance >= 0 else 1 - one_side


def weighed_rows(family, rows):
    """The exact weights of all intervals on a column."""
    codes, reach = np.array(sorted(rows), dtype=np.int64), family.reach + 1
    return family.weigh(Ends.of(codes[:reach], codes[max(len(codes) - reach, 0) :], len(codes)))


class ClippedLaws:
    """The laws of a mean, sum, variance or moment on one column, and the bars that go with its outcomes.

    Exact with a public number of rows; with a private one the noise of sum and count is convolved by so many draws.

    Args:
        mechanism: What answers, at a pure price.
        statistic: What is asked.
        data: Rows of one column.
        miss: How often a bar may fail.
        narrower: Share of the half width that the bar keeps.
        draws: For private numbers of rows.
    """

    def __init__(self, mechanism, statistic, data, miss, *, narrower=1.0, draws=20_000):
        self.mechanism, self.grid, self.asked = mechanism, statistic.grid, miss
        self.narrower, self.draws, self.random = narrower, draws, np.random.default_rng(3)
        units = self.grid.endless
        codes = np.rint((np.asarray(data) - float(units.origin)) / float(units.step))
        self.codes = codes.clip(0, self.grid.last).astype(np.int64)
        self.column = SortedColumn(self.codes, self.grid)
        self.family = mechanism.family(self.grid, 1)
        self.plan = self.family.plan

    def miss(self):
        """How often the bar misses the number of the rows as they were cut."""
        everything = (0, self.grid.last)
        if not self.plan.searches:
            return self._whole(*everything, 0.0)
        weighed = weighed_rows(self.family, self.codes)
        part = self._summand(*everything, self.plan.whole)
        rate = rate_of(part.price)
        chance, flat, cells = exact_chances(
            weighed, numbers=self.plan.whole_drawn, exponent=self.plan.flatness(rate)
        )
        found, seen = chance * self._whole(*everything, flat), chance
        outcomes = zip(weighed.level, weighed.places, cells, weighed.charges, strict=True)
        for level, places, likely, charge in sorted(outcomes, key=lambda one: -one[2]):
            if likely < RARE or places is None:
                continue
            some = places[:: max(len(places) // 3, 1)]
            each = [
                self._cut(level, *self.family.interval(level, int(place)), charge / weighed.unit)
                for place in some
            ]
            found, seen = found + likely * float(np.mean(each)), seen + likely
        return found + max(1 - seen, 0.0)

    def _summand(self, low, high, price):
        squares = bool(self.mechanism.squares)
        return self.mechanism.summand(self.column.clipped(low, high, squares=squares), price, 1)

    def _whole(self, low, high, flat):
        """Of the outcome that nothing is cut."""
        part = getattr(self.mechanism, "mean_part", lambda: 0)()
        if part:
            return self._about_a_mean(self.column.clipped(low, high, squares=True), part, flat)
        summand = self._summand(low, high, self.plan.whole)
        return self._missed(summand, self._reach(summand, None, (False,)), flat)

    def _cut(self, level, low, high, flat):
        """Of one interval."""
        summand = self._summand(low, high, self.plan.cut)
        return self._missed(
            summand, self._reach(summand, level, self.family.priors_of(level, low, high)), flat
        )

    def _reach(self, part, level, priors):
        if level is None and not self.plan.searches:
            return ClippedBar.public_reach(part, Lattice.dyadic(-40))
        scale = part.sensitivity / rate_of(part.price)
        return JointReach(self.family, level, priors, scale, STEP)

    def _missed(self, part, reach, flat):
        scale = part.sensitivity / rate_of(part.price)
        if not scale:
            return 0.0
        if isinstance(part, ThreeSums):
            return self._missed_of_three(part, reach, flat)
        if part.counting is None and not part.paired:
            return flat_tail(flat, self.narrower * float(reach.half(self.asked) / scale))
        settled = Settled(part.origin, Fraction(0), Fraction(part.rows))
        bar = ClippedBar.of(
            part, settled, reach, ClippedBar.noise_of_count(part), bounds=part.ends,
            public={"low": part.ends[0], "high": part.ends[1]}, rows=None, step=STEP, averages="mean",
        )  # fmt: skip
        counted = abs(float(part.value) / part.rows) * float(bar.counting.scale)
        width = bar._half(counted, 0.0, self.asked)
        width = self.narrower * (width + counted * float(bar.counting.step / bar.counting.scale) / 2)
        if part.paired:
            return float(np.mean(np.abs(self._pair_noise(scale, counted, flat)) > width))
        edge = self.random.random(self.draws) * (1 + flat)
        tops = np.where(edge < flat, edge, flat + self.random.exponential(size=self.draws))
        own = tops * self.random.choice([-1, 1], self.draws)
        count = np.rint(self.random.laplace(scale=float(bar.counting.scale), size=self.draws))
        away = counted / float(bar.counting.scale)
        return float(np.mean(np.abs(float(scale) * own - away * count) > width))

    def _missed_of_three(self, part, reach, flat):
        """At most: the noise of the variance, or that of the mean, beyond the width for the true mean and variance."""
        bar = ClippedBar(
            cut=part.ends, bounds=part.ends, value=part.origin, noisy=part.value, reach=reach, step=STEP,
        )  # fmt: skip
        low, between, high = (float(one) / max(part.rows, 1) for one in part.sums)
        mean = between / 2 + high
        found = 0.0
        for weights, some, kept in (
            (slopes(mean, low * high - between**2 / 4), 1 - ForMeanBar.SQUARE, self.narrower),
            ((-mean, 0.5 - mean, 1 - mean), ForMeanBar.SQUARE, 1.0),
        ):
            width = kept * bar._slanted([weights], self.asked, some)
            found += float(missed(apart(np.array([weights])), np.array([flat]), width)[0, 0])
        return found

    def _pair_noise(self, scale, counted, flat):
        """Of a sum less what a count that is drawn with it moves: both lie evenly in squares, `R^2 exp(-R)` beyond."""
        chances = np.array([flat * flat, 2 * flat, 2.0])
        terms = self.random.choice([1, 2, 3], self.draws, p=chances / chances.sum())
        own, count = self.random.uniform(-1, 1, (2, self.draws)) * (flat + self.random.gamma(terms))
        return float(scale) * own - counted * count

    def _missed_about(self, part, flat, square, moved):
        """The same for squares about a released mean whose own square is off by so much, and at most by moved^2."""
        scale = part.sensitivity / rate_of(part.price)
        known = ClippedBar.of(
            part, Settled(part.origin, Fraction(0), Fraction(part.rows)), self._reach(part, None, (False,)),
            ClippedBar.noise_of_count(part), bounds=part.ends, rows=None, step=STEP, averages="squares",
            public={"low": part.ends[0], "high": part.ends[1]},
        )  # fmt: skip
        counted = abs(float(part.value) / part.rows) * float(known.counting.scale)
        reach = known._half(counted, 0.0, (1 - ForMeanBar.ABOUT) * self.asked) / part.rows
        noise = self._pair_noise(scale, counted, flat) / part.rows
        middle, half = moved**2 / 2, self.narrower * (reach + moved**2 / 2)
        return float(np.mean(np.abs(noise + square - middle) > half))

    def _about_a_mean(self, sums, part, flat):
        """Squares about a released mean that is off by d: V is about s^2 + d^2, and the bar is V-w-w_m^2..V+w."""
        mechanism = self.mechanism
        rows = Fraction(max(sums.rows, 1))
        law = mechanism._mean_law(sums, rows, 1)
        centre, found = sums.total / max(sums.rows, 1), []
        moved = float(law.half(ForMeanBar.ABOUT * self.asked))
        noise = noise_for(mechanism.price.share(part)).noise
        for off in np.asarray(noise.ppf((np.arange(MEANS) + 0.5) / MEANS)).tolist():
            mean = min(max(centre + law.scale * Fraction(off), sums.low), sums.high)
            about = mechanism._about(sums, mean, rows, self.plan.whole, 1)
            square = float(mean - centre) ** 2
            if about.paired:
                found.append(self._missed_about(about, flat, square, moved))
                continue
            scale = float(about.sensitivity / rate_of(about.price))
            reach = float(self._reach(about, None, (False,)).half((1 - ForMeanBar.ABOUT) * self.asked))
            low, high = reach + moved**2, reach  # below and above V
            middle, half = (high - low) / 2, self.narrower * (high + low) / 2
            found.append(
                beyond(flat, (half - middle - square) / scale)
                + beyond(flat, (half + middle + square) / scale)
            )
        return float(np.mean(found))
