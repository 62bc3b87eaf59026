"""`Combinations`: how many people have each combination of keys of some columns; over public levels, or all there are.

A public request, as those of `sordino.reading.requests`. Its answer is private: above all the keys that nobody listed
beforehand, which leave the closed room only through a mechanism that may show them.
"""

from __future__ import annotations

from dataclasses import dataclass

from sordino import checks

Key = str | int
Keys = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Combinations:
    """What is counted.

    Args:
        columns: The columns of keys.
        levels: Public keys of each column; a cell of the table is then numbered in mixed radix, last column fastest.
            Without levels every combination that occurs is answered, in sorted order.
        other: Rows with a key that is not listed, or none, count under one more level of that column.
        present: Columns in which a row must have a number to be counted.
        most: Without levels: of each person at most so many combinations count.
        weights: Without levels: what each of t combinations of one person counts, in whole units, for t = 1, 2, ...
        without: Combinations that are left out before people are bounded.
    """

    columns: tuple[str, ...]
    levels: tuple[Keys, ...] | None = None
    other: bool = False
    present: tuple[str, ...] = ()
    most: int = 1
    weights: tuple[int, ...] = (1,)
    without: tuple[Keys, ...] = ()
    depth: int = 0

    def __post_init__(self) -> None:
        checks.texts("column", self.columns)
        for level in self.levels or ():
            checks.texts("keys", level)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many levels each column has, with the one for all others."""
        assert self.levels is not None
        return tuple(len(level) + int(self.other) for level in self.levels)
