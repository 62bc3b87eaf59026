"""The laws of sources: memory keeps them, and a source that breaks one is told which."""

import math

import pytest

from sordino.data.memory import Memory
from sordino.testing import check


class Kept(Memory):
    """A source that is built as its author says."""

    @staticmethod
    def spoilt(values):
        """What it makes of a column."""
        return values

    @classmethod
    def of_columns(cls, columns, folder, *, unit=None):
        return cls({name: cls.spoilt(values) for name, values in columns.items()}, unit=unit)


def number(value):
    return isinstance(value, float) and math.isfinite(value)


class Neighbourly(Kept):
    """Where a number is missing, it takes the mean of the others."""

    @staticmethod
    def spoilt(values):
        known = [value for value in values if number(value) and abs(value) < 1e9]
        if not known:
            return values
        mean = sum(known) / len(known)
        return [mean if isinstance(value, float) and math.isnan(value) else value for value in values]


class Filling(Kept):
    """Where a number is missing, it takes the largest of the others."""

    @staticmethod
    def spoilt(values):
        known = [value for value in values if number(value)]
        return [max(known) if value is None and known else value for value in values]


class Shifted(Kept):
    """Every number moves with the number of rows."""

    @staticmethod
    def spoilt(values):
        return [value + len(values) / 1024 if number(value) else value for value in values]


class Rounded(Kept):
    """Numbers lose what comes after the sixth digit."""

    @staticmethod
    def spoilt(values):
        return [round(value, 6) if number(value) else value for value in values]


class Dropping(Kept):
    """Rows without a number are not there, whatever the grid says."""

    @classmethod
    def of_columns(cls, columns, folder, *, unit=None):
        rows = [
            row for row in zip(*columns.values(), strict=True) if not any(value != value for value in row)
        ]
        return cls(
            dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)) if rows else columns,
            unit=unit,
        )


class Generous(Kept):
    """People have as many rows as they like."""

    @classmethod
    def of_columns(cls, columns, folder, *, unit=None):
        return cls(columns)


class Unfiltered(Kept):
    """Conditions are not looked at."""

    def where(self, *conditions):
        return self


class Chatty(Kept):
    """It says what it reads."""

    def summary(self, *requests):
        print("rows:", self.rows)
        return super().summary(*requests)


def broken(kind):
    return {verdict.law for verdict in check(kind) if not verdict.holds}


def test_memory_keeps_every_law():
    assert [verdict.problems for verdict in check(Kept) if not verdict.holds] == []


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Neighbourly, "missing values are dropped or replaced"),
        (Filling, "one row moves that row alone"),
        (Shifted, "one row moves that row alone"),
        (Shifted, "reads as the reference does"),
        (Rounded, "reads as the reference does"),
        (Dropping, "missing values are dropped or replaced"),
        (Generous, "people have no more rows than allowed"),
        (Unfiltered, "groups, counts and conditions are as in memory"),
        (Chatty, "one row moves that row alone"),
    ],
)
def test_a_wrong_source_is_told(kind, law):
    assert law in broken(kind)


def test_a_class_that_does_not_say_how_it_is_built_is_told():
    (verdict,) = check(Memory)
    assert not verdict.holds
    assert "of_columns(columns, folder, *, unit=None)" in verdict.problems[0]
