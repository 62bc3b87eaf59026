"""Tuned constants of means, sums and variances; what tuned.py says holds here."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar


class ForMeanInterval:
    """Intervals for the mean of a population: what the answer keeps of the price."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_mean_interval"

    ANSWER = Fraction(4, 5)
    """Of the price, for the answer; the rest is for the spread of the rows. Where bounds fit, the width is within 2 %
    of the best of six splits; where they are twenty times too wide, 9/10 is up to 15 % narrower."""


class ForCut:
    """Means, sums and variances within bounds that may be far too wide: plain noise, or a cut to an interval."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_cut"

    TILT = 2.5
    """S for a mean: an overshoot by a factor r costs r^2 in squared error, so s > 2; overlooked rows grow with s."""
    SQUARES_TILT = 4.5
    """S for squares, whose noise goes with the square of the length: s > 4; with 5 more far rows are overlooked."""
    HEAD_START = (Fraction(7, 2), Fraction(3))
    """B: nats by which a cut must win, of few rows and of others; with 3/2, zeros and top codes within fitting bounds
    cost 1.5 times plain noise, with 3 those of few rows 1.3 times.
    """
    FEW = 250.0
    """Rows times price below which rows are few."""
    SQUARES_START = (Fraction(2), Fraction(5, 2))
    """Further nats for squares: their longest cut gains 64, and with 0 zeros and top codes cost 1.5 to 1.9 times
    plain.
    """
    APART = (Fraction(5, 2), 3.0)
    """B, and what M has less, where the interval is drawn apart from its value (concentrated): no flat top
    weighs 1 + x.
    """
    LONGEST = 3
    """The longest cut is a 2^-3 of the range: up to there no theorem forbids 1.15 times plain noise inside the
    bounds.
    """
    MARGIN = (2.0, 6.0, 19.0)
    """M = min(2 ln(rows price) + 6, 19): nats by which unfilled intervals lose; 3 less cost 1.9 on two values."""
    DISTANT = 13.0
    """Intervals that miss so many rows that they lose by 2 ln(rows price) + 13 nats count alike; with 8 all of them
    together cost plain noise 2 %.
    """
    SLOPE = (0.4, 0.25, 1000.0, 0.06)
    """Of the price: at most, at least, and from so many rows times price on it falls with this power of them. With less
    more rows are overlooked (a Pareto tail of index 1.5 within fitting bounds), with more the noise is larger.
    """
    STEEPEST_SLOPE = 0.47
    """Of the price where rows are few: the whole range costs 1.1 times as much. With 0.45 bounds 1000 times too wide
    are found half as well by 100 rows times price; 10 times too wide 4 % better."""
    GENTLE = 0.36
    """Up to this part of the price the whole range keeps less of its chance: bounds 10 times too wide cost a third
    less.
    """
    PAIRED = (Fraction(1, 4), 2.0, 3.0)
    """Added to B and to M where two numbers are drawn together, whose flat tops weigh more, and nats of all rows beyond
    M: with nothing two values within fitting bounds cost 1.6 times plain noise, a constant column 1.2 times."""
    THREE = (Fraction(3, 4), 4.0, -2.0)
    """The same for three numbers: with a B of 1/4 wages with top codes in fitting bounds cost 1.24 times plain, with an
    M of 0 two values 1.5 times, with 2 unfilled intervals weigh too much for a bar of 99 %; more nats of all rows only
    delay cuts of a hundred.
    """
    FINE = (2500.0, 0.5, Fraction(3, 2))
    """Rows times price from which lengths are twice as dense, and what is added to tilt and head start then."""
    NEAR = 2
    """Intervals beside those at the anchor have a prior of 2^-2, less by their distance in binary digits: with 2^-4
    narrow columns far from zero err twice as far, columns in bounds 30 times too wide and off centre 3 % less.
    """
    LOOSE_NATS = 100.0
    """Nats of all rows, where the caller calls the bounds far too wide: less for the search, more for the noise."""
    LOOSE_LEAST = 0.2
    """The same two where the caller calls the bounds far too wide: less for the search, more for the noise."""
    LOOSE_MARGIN = 1.0
    """M - 2 ln(rows price) there: it only keeps the prior from outbidding all rows, and a heap of equal rows may
    win.
    """
    MEAN_FIRST = 1000.0
    """Rows times price from which squares within the whole range are taken about a mean that is released first."""
    MEAN_SHARE = 10.0
    """Of a pure price it gets the root of this over rows times price: its squared noise is then a third of plain
    noise.
    """
    MEAN_SHARE_GAUSSIAN = (60.0, 6.0)
    """The same for concentrated prices, where a mean is cheap: from when on, and this over rows times price."""
    MOST_MEAN = 0.3
    """No more than this for a mean."""
    THREE_TIGHT = 150.0
    """Rows times a pure price from which three sums answer a variance of a private number of rows whose bounds are
    known to fit: with 50 smooth noise errs up to a quarter less on narrow columns, with more up to half again as much.
    """
    MEAN_TIGHT = 75.0
    """Within bounds that are known to fit a mean is released from so many rows times price on; with fewer its own noise
    costs up to 1.4 times the error, with more up to 1.15 where the mean is far from the middle.
    """
    SHARE = Fraction(1, 10)
    """Of a concentrated price, for the search: whole then costs 1.054."""
    DEEPEST = 24
    """The shortest interval is a 2^-24 of the range: beyond it codes of 31 bits have no cells left."""
    SPREADS = 6
    """No interval is shorter than a hinted spread divided by this: half a spread if it is three times too large."""
    ORIGIN = Fraction(1, 8)
    """Of the squared length: from where squared deviations are counted under add/remove; variances are below a
    quarter.
    """
    MOMENT_ORIGIN = Fraction(1, 4)
    """Of the largest square: the same about a public point; squares pile up near zero."""


class ForMeanBar:
    """Error bars of clipped means, sums and variances: how the probability of a miss is shared; it covers anyway."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_mean_bar"

    WHOLE = 0.75
    """For the whole range: with more, its bar is narrower and those of intervals are wider."""
    FAVOURED = 0.6
    """Of the rest, for intervals with prior 1; the others have lower weights already."""
    NEXT = 0.75
    """What a level has of the level before: the long intervals come first."""
    REMOTE = 0.01
    """Of a level's part, for intervals that lack so many rows that hardly anybody draws them."""
    MOST_REMOTE = 0.75
    """Of what all intervals have, for those: where they would take more, as for levels of .999, none is left out."""
    FLAT = 0.7
    """For noise with a flat top, where something else is off too: with 0.3 whole ranges have a sixth wider bars."""
    WHOLE_FLAT = 0.8
    """Of that, for the whole range: with half of it its bars are an eighth wider, those of intervals 7 % narrower."""
    ABOUT = 0.4
    """For a released mean about which squares are taken: its square alone counts. With 0.2 bars of columns in the
    middle of their range are an eighth wider.
    """
    SQUARE = 0.1
    """For the mean of three sums of a variance, which moves it by its square alone."""


class ForLoose:
    """Means within bounds that the caller calls far too wide: the search for a centre and a radius."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_loose"

    OUTER_EXPONENT = 2
    """Prior of the outer radius, radius^-2."""
    GUARDED = 350
    """Rows times strength from which the count of rows away from the centre is worth its price."""
    CHEAP = 0.06
    """Of the price: what finding the centre may cost at most."""
    RESOLUTION = 2.0**-20
    """The smallest radius, as a share of the largest."""
    FINER = 4
    """The lattice of the centre, and what counts as away from it, as a part of the smallest radius."""
    NARROW = 1.5
    """Logarithm of largest over smallest radius below which a search has nothing to find."""
    LOOSENESS = 3
    """Nats, beyond what the width costs, by which bounds taken wrongly must be unlikely."""
    STEEPEST = 4.5
    """Prior exponent of the radius for pure prices; steeper ones cut off clusters of far rows."""
    SPARSE = 0.25
    """Share of rows away from the centre below which the column counts as mostly one value."""
    GROWTH = Fraction(33, 20)
    """About e^(1/2): no loss was seen against a continuous radius."""
    ROOT_GROWTH = Fraction(9, 7)
    """About e^(1/4): the same table for squares of radii."""
    CENTRE_STEP = Fraction(1, 2)
    """Where the staircase of the centre steps inside a gap."""
    COUNT_PART = Fraction(7, 20)
    """Of the noise, for the number of rows when it is private and many: a fifth costs 1.2 times less where the mean
    lies in the middle of the interval, and 1.5 times more where it lies at an end.
    """
    SQUARES_PART = Fraction(1, 5)
    """The same for squares, which are counted about an eighth of the largest."""
    NEAR_PART = Fraction(1, 10)
    """The same when rows are counted about a released centre, from which the mean is not far."""
    HALFWAY_PART = Fraction(3, 10)
    """The same about a point between the anchor and the middle of the interval."""
    MOST_COUNT = Fraction(7, 20)
    """The largest share for a private number of rows."""
    SAFETY = 4
    """Scales of its noise by which a count of rows is taken to be too large."""
    GAUSSIAN_SAFETY = Fraction(5, 2)
    """The same for Gaussian noise, whose tails are thin."""


class ForSymmetric:
    """Means of columns that are said to be symmetric."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_symmetric"

    LEAST_EFFORT = 20
    """Rows times the strength of the price from which trimming pays, over seven shapes (geometric mean, in bounds of
    100 and of 1000): the error is 0.71 and 0.75 times that of the mean at 16, 0.39 and 0.06 at 40; at 10 it is 1.13
    and 1.57 times as large.
    """
    FEW = 600
    """The same number, below which the noise must be held back most."""
    MANY = 3000
    """The same number, from which rows are many."""
    NATS = (0.25, 0.16, 0.12)
    """Of the strength: nats that a trimmed row weighs against the width of the bounds: few rows, more, many."""
    MOST = 0.4
    """At most so much of the rows is trimmed on each side."""
    WIDE = (1000, 100_000, 10_000_000)
    """How many spreads the bounds are taken to be wide when nothing is said: with little effort, more, and enough."""
    ENOUGH = (80, 140)
    """Rows times the strength of the price from which it looks farther, and farthest: with (200, 200) bounds a million
    times too wide cost 288 times the error of the mean at 150, now 0.29; bounds that fit cost 0.35, now 0.42."""
    ENOUGH_GAUSSIAN = (80, 200)
    """The same for concentrated prices, at which looking farther at 150 doubles the error where bounds fit."""
