"""A plan over a family of columns: the span holds narrow and wide ones, and says what it depends on."""

import numpy as np
import pytest

from sordino.planner import plan
from sordino.planner.family import FORMS, SCALES, Member
from sordino.privacy import Pure
from sordino.statistics.count import Count
from sordino.statistics.mean import Mean
from sordino.statistics.median import Median

WIDE = 1_000_000


@pytest.fixture(scope="module")
def median():
    return plan(Median("x", low=0, high=WIDE), Pure(1), rows=800, tables=2)


def test_the_span_tells_bounds_that_are_much_too_wide(median):
    """A column that fills a thousandth of the range errs about a hundred times less than the usual one."""
    narrow = plan(
        Median("x", low=0, high=WIDE), Pure(1), rows=800, tables=4, only_default=True,
        assume="log-normal:median=1000,sigma=0.7",
    ).default.rms  # fmt: skip
    assert narrow < median.default.rms / 10
    (_, least), (_, most) = median.span.best, median.span.worst
    assert least < narrow < most
    assert "scale" in median.span.depends_on
    assert "narrower bounds" in str(median)
    assert "over other columns" in str(median)


def test_what_does_not_depend_on_the_column_says_so():
    found = plan(Count("x"), Pure(1), rows=300)
    assert found.span.depends_on == ()
    assert "about the same" in str(found)


def test_who_says_what_the_column_is_like_gets_no_span(median):
    assert plan(Count("x"), Pure(1), rows=300, assume="uniform").span is None
    record = median.to_dict()["span"]
    assert len(record["columns"]) == len(SCALES) + len(FORMS)


@pytest.mark.parametrize("low", [0, -500])
@pytest.mark.parametrize("form", ["", *FORMS])
def test_members_stay_in_the_range_and_have_their_form(form, low):
    column = Member(1e-2, form, low, 1000).draw(4000, np.random.default_rng(0))
    assert low <= column.min() <= column.max() <= 1000
    commonest = np.unique(column, return_counts=True)[1].max() / len(column)
    least, most = {"": (0, 0.01), "zeros": (0.4, 0.6), "heaps": (0.005, 0.2), "top code": (0.09, 0.11)}[form]
    assert least <= commonest <= most


@pytest.mark.thorough
def test_the_choice_is_named_and_explained(median):
    assert "a release takes quantile" in median.choice
    mean = plan(Mean("x", low=0, high=1), Pure(1), rows=500)
    assert f"a release takes {mean.default.name}" in mean.choice
    if mean.options[0] is not mean.default:
        assert mean.options[0].name in mean.choice


def test_the_text_fits_the_terminal_but_for_lines_to_paste(median):
    for line in median.text(80).splitlines():
        assert len(line) <= 80 or line.startswith(("in Python", "on the command line"))
