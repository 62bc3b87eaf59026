"""What one person can move: the number of rows that a session makes its noise for, against brute force."""

import itertools

import numpy as np
import pytest

import sordino as sd
from sordino.lattice import RowLattice
from sordino.reading.requests import Condition, Request


def table(people):
    """Rows of persons: each person is a tuple of (group, value) rows."""
    rows = [(person, group, value) for person, own in enumerate(people) for group, value in own]
    return {
        "person": np.array([row[0] for row in rows], dtype=np.int64),
        "group": np.array([row[1] for row in rows], dtype=object),
        "x": np.array([row[2] for row in rows], dtype=float),
    }


def persons(most, *, least=1):
    """Everyone there can be with so many rows over two groups and a missing value."""
    rows = [("a", 1.0), ("b", 1.0), ("a", np.nan)]
    return [own for size in range(least, most + 1) for own in itertools.product(rows, repeat=size)]


def counts(people, unit, *, by=None, where=(), missing=None):
    """How many rows each group has after filter, missing policy and bounding."""
    source = sd.open(table(people), budget=sd.Pure(1), unit=unit)._source
    request = Request("x", RowLattice(0, 1, step=1, missing=missing))
    if where:
        source = source.where(*where)
    if by is None:
        return np.array([source.summary(request)[0].rows])
    return np.array([summary.rows for (summary,) in source.summaries("group", by, request)])


def moved(event_options, unit, relation=sd.Neighbors.REPLACE_ONE):
    """The number of rows that a session says one person moves."""
    data = table([(("a", 1.0),)])
    session = sd.open(data, budget=sd.Pure(9), unit=unit, neighbors=relation)
    if event_options.get("where"):
        session = session.where(*event_options["where"])
    by = ("group", event_options["by"]) if event_options.get("by") else None
    statistic = sd.Median("x", low=0, high=1, step=1, missing=event_options.get("missing"))
    return session.quote(statistic, sd.Pure(1), by=by).contribution


CASES = {
    "groups": {"by": ("a", "b")},
    "one group of two": {"by": ("a",)},
    "a filter": {"where": (Condition("group", "==", "a"),)},
    "dropped rows": {"missing": "drop"},
    "nothing": {},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("max_rows", [1, 2])
def test_a_replaced_person_moves_at_most_the_rows_that_the_noise_is_made_for(case, max_rows):
    options, unit = CASES[case], sd.Unit("person", max_rows=max_rows)
    claim = moved(options, unit)
    other = (("a", 1.0), ("b", 1.0))
    most = 0
    found = {own: counts([other, own], unit, **options) for own in persons(max_rows + 1)}
    for before, after in itertools.combinations(found.values(), 2):
        # Rows that appear and rows that vanish; rows that only change are no more than that in every group.
        most = max(most, int(np.abs(before - after).sum()))
    assert most <= claim
    if case == "groups":
        assert most == claim == 2 * max_rows


@pytest.mark.parametrize("max_rows", [1, 2])
def test_an_added_person_moves_at_most_max_rows(max_rows):
    unit = sd.Unit("person", max_rows=max_rows)
    for options in CASES.values():
        claim = moved(options, unit, sd.Neighbors.ADD_REMOVE_ONE)
        assert claim == max_rows
        other = (("a", 1.0), ("b", 1.0))
        without = counts([other], unit, **options)
        changes = [
            np.abs(counts([other, own], unit, **options) - without).sum() for own in persons(max_rows + 1)
        ]
        assert max(changes) == claim


def test_a_release_with_units_counts_people_and_says_so():
    data = table([(("a", 1.0),) * 5, (("b", 1.0),) * 3])
    session = sd.open(data, budget=sd.Pure(200), unit=sd.Unit("person", max_rows=2))
    release = session.release(sd.Count("x"), sd.Pure(100))
    assert abs(release.value - 4) <= 1
    assert "at most 2 rows" in release.explain()
    groups = session.release_by("group", ["a", "b", "c"], sd.Count("x"), sd.Pure(100)).groups
    assert [round(value) for value in groups.values()] == [2, 2, 0]


def test_a_source_that_bounds_others_is_refused():
    from sordino.data.memory import Memory

    with pytest.raises(sd.DataError, match="other units"):
        sd.open(Memory({"x": [1.0]}), budget=sd.Pure(1), unit=sd.Unit("person"))
