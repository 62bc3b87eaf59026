"""Tuned constants of keys, groups, several means and functions by blocks; what tuned.py says holds here."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar


class ForDiscovery:
    """Keys that are found in the data: what each of two passes gets, and when people are counted."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_discovery"

    FIRST = Fraction(1, 10)
    """Of the price, for the first of two passes: it finds the popular keys, whose weight goes to rarer ones."""
    GEOMETRIC = 2
    """Up to so many keys per person truncated geometric noise finds as many keys, and counts them."""


class ForBall:
    """Means of many columns within a ball: from how many columns on, and what its centre and its radius cost."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_ball"

    LEAST_COLUMNS = 10
    """With fewer columns the ball saves less than its centre and its radius cost."""
    CENTRE = Fraction(1, 25)
    """Of what the intervals leave, for a rough centre."""
    RADIUS = Fraction(1, 50)
    """Of the same, for the radius; with twice as much rows that tell little of it pay more for the answer."""
    ROWS = Fraction(1, 50)
    """Of the same, for the number of rows where it is private."""
    EXPONENT = 12
    """How much small radii are preferred before any row counts: with 4 the error is a fifth larger."""
    SMALLEST = Fraction(1, 256)
    """The first radius, in diagonals of the box."""


class ForShared:
    """One interval for the values of all groups: where it ends, and the part of the price that finds it."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_shared"

    BEYOND = Fraction(2)
    """Rows of a group beyond the interval on either side, times the price of the groups in nats, at least."""
    ROWS = Fraction(80)
    """Rows of all groups beyond it, times the price that finds it: with 30, one release in thirty missed an end."""
    LEAST = Fraction(1, 25)
    """The part of the price that finds the interval, at least."""
    MOST = Fraction(1, 5)
    """The same at most: with fewer groups more rows are left out instead."""
    OUTER = Fraction(1, 4)
    """The part of all rows beyond the interval, on either side, at most."""


class ForBlocks:
    """Functions of a table: how many blocks, and the centre of their values."""

    experiment: ClassVar[str] = "python -m benchmarks tuning/bench_blocks"

    CLIP = Fraction(5, 2)
    """Spreads at which block values are clipped."""
    MIDDLE = Fraction(3, 5)
    """The share of distances below the spread's point."""
    OCTAVES = 24
    """Below the range, in which a spread is looked for."""
    KEPT = Fraction(2, 5)
    """At most so much of the blocks is trimmed on each side."""
    TRIMMED = 18
    """Over the strength of the price: blocks trimmed on each side for nested intervals."""
    SPREADS = 1000
    """How many spreads the range is taken to be wide when nothing is said."""
    LEAST = 40
    """Blocks times the price: without a range to search, and per nat of it."""
    NATS = 14.4
    """Blocks times the price: without a range to search, and per nat of it."""
    JACKKNIFE = 5
    """Parts of a block that are left out in turn."""
    DEBIASED = 60
    """Rows of a block from which the jackknife pays."""
    SETTLED = 60
    """Rows of a block below which an interval would not cover, for want of knowing the bias."""
    HEAVY = 1.07
    """Block values have slightly heavier tails than normal ones; measured on fresh samples."""
