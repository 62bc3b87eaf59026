"""Every tuned constant of the mechanisms, why it has its value, and the experiment that set it.

Public numbers all: no constant here is private or is needed for privacy; a wrong one costs accuracy. They were chosen
on generated shapes, never on the columns by which accuracy is judged. Each class names the experiment that set its
constants: it moves them one by one, both ways, and prints what becomes of the error.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar


class ForQuantile:
    """One quantile: the base measure of its answers, and when a magnitude is looked for first."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_quantile"

    WEAK = 20
    """Nats that hold an answer from one side, below which the base measure decides how far it errs."""
    BARELY = 33.0
    """The same where a tenth of the strong side pays for a fall over the range (docs/proofs/mechanism_quantile)."""
    STEEPEST = 3.0
    """Power of the fall beyond a weak side."""
    FLATTEST = 2.25
    """With less than this the squared error of an overshoot would not converge."""
    FLAT = Fraction(1, 3)
    """Of the spread measure, uniform: the rest is flat in the logarithm."""
    SPREAD = Fraction(1, 64)
    """Share of the spread measure beside a rise, at most: for columns far below their bounds."""
    TRACE = Fraction(1, 2**20)
    """Share of the spread measure beside a rise, at least."""
    REACH = 35.0
    """Nats of the strong side that let a rise do without it for columns 2^20 times smaller than their bounds."""
    AWAY = 0.6
    """Of the rows on the strong side, those that pay for a lean from the end of the range; the others may be zeros."""
    ENOUGH = 30.0
    """Nats with which a lean finds a column in bounds a thousand times too wide: no more are asked of few rows."""
    PLENTY = 0.25
    """Of the rows, those that are asked for more than that: three quarters may be zeros where rows are many."""
    OCTAVES = 20
    """The magnitude step resolves the range down to 2^-20 of its length."""
    SHORT = 1024
    """Lattices up to this size are short lists."""
    HEAPS = Fraction(1, 20)
    """Share of the decimals: half a per cent of accuracy for a dozen nats on heaped columns."""
    FOUND = Fraction(1, 2**14)
    """The same where nobody says how many rows there are: whole numbers err less, others hardly more."""
    ROUND = Fraction(1, 50)
    """Of any planned mass, moved to the nearest round number: with 1/33 columns beside one err up to 4 % more."""
    HELD = 100.0
    """Nats on the weaker side from which that share falls; with 300 narrow columns beside one err up to 7 % more."""


class ForCounted:
    """Far quantiles, minima and maxima where the number of rows is private: when rows are counted first, and how."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_counted"

    SHARE = Fraction(1, 16)
    """Of the price, for the count: the answer errs seven per cent more. With half of it its tails are felt."""
    FAR = Fraction(3, 10)
    """From the median, in ranks: nearer quantiles are held by rows on both sides, however many there are."""
    FEW = Fraction(1)
    """Noise scales below which declared rows are not counted: the largest of few rows was answered by zero."""
    TOLD = Fraction(6)
    """Noise scales above which a count is believed, and for which smaller tables are planned; with 2 they err more."""


class ForAnchored:
    """Far quantiles of columns that may lie far from zero: when their middle is released first, and how it is used."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_anchored"

    NEEDED = 20.0
    """Nats that hold the middle on either side: with 12 columns in bounds a thousand times too wide are not found."""
    LEAST = 15.0
    """The same where that would be dear."""
    DEAR = Fraction(5, 128)
    """Of the price, for the middle: what columns near zero lose in bounds that fit; with twice as much 10 % quantiles
    of 500 rows times the strength err a seventh more in bounds that are ten times too wide.
    """
    DEAREST = Fraction(20, 128)
    """The same where the answer is hardly held from its weak side: the measure decides how far it errs there."""
    COUNTED = 540.0
    """Private rows times the strength from which on: a count that is off by a dozen scales still leaves an anchor to
    the rows. With half of it 10 % quantiles of 1000 zeros at epsilon .1 were not found in wide bounds.
    """
    LOOSE = 8.0
    """Nats on the weak side below which that is so."""
    OUTER_FALL = Fraction(3, 2)
    """Power of its fall over the last octaves of the range: with 0 near columns, with 3 far ones are not found."""
    FALL = Fraction(3)
    """Power with which answers fall from the middle: an overshoot then has a finite second moment."""
    PAID = 0.4
    """Of the nats between middle and answer, those that the fall may cost: an anchor may lie halfway between them."""
    SURE = (0.75, 30.0)
    """The same up to so many nats: with 0.4 columns in bounds a thousand times too wide are not found by few rows."""


class ForHints:
    """What a hinted centre and spread are worth beside what is planned without them."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_hints"

    WRONG = 3
    """A hint may be wrong by this factor and must not cost accuracy then."""
    FARTHEST = 10
    """Deviations from the mean that a far quantile may lie away."""
    FALL = 4
    """Octaves by which the favour falls where the distance doubles: faster than squared errors grow."""
    FALLS = 4
    """So often: a hint that is wrong altogether costs 16 octaves, eleven nats."""


class ForExtreme:
    """Minima and maxima: how answers fall beyond the data, and the anchor that is looked for first."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_extreme"

    FALL = Fraction(4)
    """Tail of the answers beyond the data: with 3 or less the overshoot would dominate the error."""
    STEADY = Fraction(6)
    """The same beyond an anchor (bench_edges): sharp edges err half as far, a Pareto tail of index 2 1.2 times."""
    STEEP = 3
    """Nats of one row for each power of the fall: where a row counts more than 18, answers fall faster than that."""
    ROOM = 15.0
    """Nats of the rows beyond an anchor for each power of their fall, which then reaches 22 octaves inwards."""
    RISE = Fraction(2)
    """How fast answers gain towards the data on the side where the range ends."""
    ENDS = Fraction(1, 4096)
    """Mass on the bound itself when the caller says that the bounds fit."""
    FEW = 64
    """Rows times the bounded range below which no scale can be found."""
    AWAY = 0.4
    """Of the rows, those that pay for a lean: the others may sit on the anchor or beyond it."""
    ENOUGH = 39.0
    """Nats with which a lean finds a column in bounds a thousand times too wide: no more are asked of few rows."""
    PLENTY = 0.2
    """Of the rows, those that are asked for more than that: four fifths may be zeros where rows are many."""
    FITTED = Fraction(9, 8)
    """Power of the rise from a bound that fits: a little less mass next to it than everywhere."""
    SIXTH = 6
    """The anchor is a sixth of the rows inside, or less where a smaller share of the price will do."""
    QUARTER = 4
    """Where rows are few, a quarter of the rows inside: with fewer rows columns far from zero are not found better."""
    BIDDING = 45.0
    """Nats that the rows beyond an anchor bid for the fall: with 30 heavy tails of 300 rows erred ten times as far."""
    DEEPEST = 0.4
    """Of the rows, those that lie beyond the anchor at most."""
    CHEAPEST = Fraction(1, 10)
    """Of the price, for the anchor: with half of it sharp edges far inside their bounds err up to four times."""
    DEAREST = Fraction(1, 3)
    """Of the price, for the anchor: with a fifth columns far from zero were not found by 500 rows at epsilon 1."""
    NEEDED = 12.0
    """Nats beside ln(rows) by which the anchor must outbid the range beyond the data."""
    FINEST = 36
    """Octaves of the range within which an anchor is told apart from its surroundings."""
    OUTER = 8
    """Octaves over which mass falls when an anchor is looked for."""
    INWARDS = Fraction(1, 2)
    """Power of that fall, at most, for a minimum above zero (a maximum below): with 2 minima of narrow columns far from
    zero were not found by 5000 rows at epsilon 1, with 0 those of 300 rows err three times as far.
    """
    PILE = Fraction(1, 32)
    """On the bound, of the quarter next to it, beyond an anchor: with half of it uniform columns err a third more."""
    BOUND = Fraction(1, 256)
    """The same without one, where fewer rows hold an answer: with 1/64 uniform columns err 8 % more."""
    BENT = Fraction(-1)
    """How fast mass falls in the outer part of the range, where an overshoot cannot go far."""
    LEAN = 4
    """Levels per missing row for one per row too many: outside the data nothing else holds the anchor."""


class ForQuantileBar:
    """Error bars of quantiles: what the answer keeps of the price, and the rungs among which a bar is drawn."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_quantile_bar"

    ANSWER = Fraction(3, 5)
    """Of the price, for the answer: it errs about 1.6 times as far as without a bar."""
    SCALES = (Fraction(1, 100), Fraction(1, 10))
    """Of the rest, for what a rank is worth: at least, and at most."""
    FEW = 2
    """Part of the rows among which that is sought."""
    MASS = (8, 16)
    """Nats that these rows weigh: at least, or it is not sought; and no more than so many."""
    GROWTH = Fraction(1)
    """Nats by which a rung is favoured over the one inside it; with 11/10 wide bars are a third wider."""
    RATIO = Fraction(7, 6)
    """Of the radii among which the worth of a rank is sought."""
    FIRST = (Fraction(3, 2), Fraction(21, 20))
    """The first rung, in targets and usual errors of the answer: by weights, and with one noise for all rungs."""
    GAP = 3.4
    """Nats between two rungs that one noise tells apart: with fewer the noise is larger, with more rungs are fewer."""
    SPACING = Fraction(23, 20)
    """Between the first few rungs, in gaps."""
    EVEN = 4
    """So many rungs are evenly spaced; the others double."""
    FAR = 4
    """Steps from the last of those to everything."""
    MOST = 40
    """At most so many rungs."""
    FINE = 24
    """Without a scale, the innermost rung is so many octaves inside the range."""


class ForScaleBar:
    """Error bars of smooth noise: what the answer keeps of the price."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_scale_bar"

    ANSWER_SHARE = Fraction(4, 5)
    """Of the price, for the answer; the rest is for its scale."""
