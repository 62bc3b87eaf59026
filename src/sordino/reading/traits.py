"""What a statistic is, as far as a theorem may rest on it.

A statistic says which traits it has, a mechanism which it needs. Public words without mathematics: the chooser, the
planner and the door ask one and the same declaration.
"""

from __future__ import annotations

import enum


class Trait(enum.Enum):
    """One thing that a theorem may ask of a statistic; the value completes "Its theorem is about ..."."""

    NUMBER = "a single number with a local sensitivity at every distance"
    VECTOR = "several numbers with one local sensitivity in a norm"
    REACH = "a number with reachable intervals"
    RANGE = "a number in a range that is public before it is read"
    COLUMN = "a number between the first and the last code of its column"
    WHOLE = "a count: a whole number that one row moves by a whole number"
    ROW = "one row of a sorted column, at a public rank"
    QUANTILE = "a quantile of one column"
    QUANTILES = "several quantiles of one column"
    SMALLEST = "the smallest row, which a row moves in one direction only"
    LARGEST = "the largest row, which a row moves in one direction only"
    MEAN = "the mean of a column"
    TOTAL = "the sum of a column"
    VARIANCE = "the variance of a column"
    DEVIATION = "the standard deviation of a column"
    MOMENT = "the second moment of a column about a public point"
    BLOCKS = "a function that is taken block by block, each person in one block"
    KEY = "the most frequent of public keys, whose counts a row moves by one"
    KEYS = "keys that nobody lists beforehand, each with its people"
    MARGINS = "the cells of a public table and the sums over its axes"
    LEVELS = "the counts of a public hierarchy, level by level"
    CELLS = "the cells of a public table most of which are empty"
    CUBE = "several numbers that one row moves by at most one unit each, all at once"
