"""Notebook sugar: one line, one column, no ledger, names and arguments as numpy has them."""

import inspect

import numpy as np
import pytest

import sordino as sd
from sordino.catalogue import statistics
from sordino.session import oneline

X = np.linspace(0, 100, 1001)
CLOSE = {"epsilon": 50, "bounds": (0, 100)}
NAMES = sorted(oneline.CALLS)


@pytest.mark.parametrize(
    ("ask", "truth"),
    [
        (lambda: sd.count(X, epsilon=50), 1001),
        (lambda: sd.sum(X, **CLOSE), X.sum()), (lambda: sd.mean(X, **CLOSE), 50),
        (lambda: sd.median(X, **CLOSE), 50),
        (lambda: sd.quantile(X, 0.9, **CLOSE), 90), (lambda: sd.min(X, **CLOSE), 0),
        (lambda: sd.max(X, **CLOSE), 100), (lambda: sd.std(X, **CLOSE), X.std()), (lambda: sd.var(X, **CLOSE), X.var()),
        (lambda: sd.trimmed_mean(X, 0.1, **CLOSE), 50),
    ],
    ids=["count", "sum", "mean", "median", "quantile", "min", "max", "std", "var", "trimmed_mean"],
)  # fmt: skip
def test_answers_are_near_the_truth_at_a_high_price_and_in_no_ledger(ask, truth):
    answer = ask()
    assert float(answer) == pytest.approx(truth, rel=0.05, abs=1)
    assert answer.ledger_id is None
    assert "in no ledger" in answer.explain()


def test_answers_of_several_numbers():
    assert np.allclose(sd.quantiles(X, np.array([0.1, 0.5]), **CLOSE).value, [10, 50], atol=2)
    assert np.allclose(sd.histogram(X, 4, **CLOSE).value, [250, 250, 250, 251], atol=3)
    assert np.allclose(sd.histogram(X, np.int64(4), **CLOSE).value, [250, 250, 250, 251], atol=3)
    assert np.allclose(sd.histogram(X, np.array([0, 50, 100]), epsilon=50).value, [500, 501], atol=3)
    assert len(sd.histogram(X, epsilon=50, low=0, high=100).value) == 10


def test_a_price_is_named_in_one_of_four_ways():
    ask = {"low": 0, "high": 100}
    assert sd.median(X, epsilon=1, **ask).guarantee == sd.Pure(1)
    assert sd.median(X, epsilon=1, delta=1e-6, **ask).guarantee == sd.Approx(1, 1e-6)
    assert sd.median(X, rho=0.5, **ask).guarantee == sd.Concentrated(0.5)
    assert sd.median(X, price=sd.Pure(2), **ask).guarantee == sd.Pure(2)


def test_options_reach_the_release():
    barred = sd.trimmed_mean(X, 0.1, interval=0.95, **CLOSE)
    assert barred.interval.low < 50.5
    assert barred.interval.high > 49.5
    release = sd.median(X, low=0, high=100, price=sd.Pure(1), neighbors="add-remove-one", step=1)
    assert release.event.neighbors is sd.Neighbors.ADD_REMOVE_ONE
    assert float(release).is_integer()


SLIPS = {
    "no price": (lambda: sd.median(X, bounds=(0, 1)), "one price must be given"),
    "two prices": (lambda: sd.median(X, bounds=(0, 1), epsilon=1, rho=1), "one price must be given"),
    "a price and an epsilon": (lambda: sd.median(X, bounds=(0, 1), epsilon=1, price=sd.Pure(1)), "one price must be"),
    "a delta alone": (lambda: sd.median(X, bounds=(0, 1), delta=1e-6), "one price must be given"),
    "no bounds": (lambda: sd.median(X, epsilon=1), "bounds must be given"),
    "one bound": (lambda: sd.median(X, epsilon=1, low=0), "bounds must be given"),
    "bounds twice": (lambda: sd.median(X, epsilon=1, bounds=(0, 1), low=0), "bounds must be given, once"),
    "bounds that are a number": (lambda: sd.median(X, epsilon=1, bounds=100), "bounds must be two numbers"),
    "three bounds": (lambda: sd.median(X, epsilon=1, bounds=(0, 1, 2)), "bounds must be two numbers"),
    "a price by place": (lambda: sd.median(X, 1, (0, 100)), "takes 1 argument by place"),
    "a quantile and a price by place": (lambda: sd.quantile(X, 0.5, 1), "takes 2 arguments by place"),
    "diffprivlib's range": (lambda: sd.mean(X, epsilon=1, range=(0, 1)), "has no option 'range'"),
    "a token": (lambda: sd.mean(X, epsilon=1, bounds=(0, 1), token="t"), "has no option 'token'"),
    "bounds of a count": (lambda: sd.count(X, epsilon=1, bounds=(0, 1)), "has no option 'bounds'"),
    "no data": (lambda: sd.max(epsilon=1, bounds=(0, 1)), "x must be given"),
    "cells without bounds": (lambda: sd.histogram(X, 4, epsilon=1), "bounds must be given"),
    "no cells": (lambda: sd.histogram(X, 0, epsilon=1, bounds=(0, 1)), "bins must be"),
    "a number as a price": (lambda: sd.mean(X, price=1.0, bounds=(0, 1)), "one price must be given"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS.values(), ids=SLIPS)
def test_a_slip_is_answered_in_three_lines_with_something_to_paste(slip):
    ask, words = slip
    with pytest.raises(sd.ParameterError, match=words) as refused:
        ask()
    lines = str(refused.value).splitlines()
    assert 2 <= len(lines) <= 3
    assert lines[-1].startswith("    Hint: ")


@pytest.mark.parametrize("name", NAMES)
def test_the_call_in_a_hint_works(name):
    names = {"sd": sd, "ages": X, "pay": X}
    assert isinstance(eval(oneline.CALLS[name], names), sd.Release)


@pytest.mark.parametrize("name", NAMES)
def test_help_explains_every_argument(name):
    function = getattr(sd, name)
    text = inspect.getdoc(function)
    for parameter in inspect.signature(function).parameters:
        assert f"\n    {parameter}: " in text, parameter
    assert "Example:" in text


@pytest.mark.parametrize("kind", statistics().values(), ids=lambda kind: kind.name)
def test_help_explains_every_field_of_a_statistic(kind):
    text = inspect.getdoc(kind)
    for parameter in inspect.signature(kind).parameters:
        assert f"\n    {parameter}: " in text, parameter
    assert text.count("\nArgs:\n") == 1
