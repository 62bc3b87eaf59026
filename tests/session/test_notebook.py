"""Notebook sugar: one line, one column, no ledger."""

import numpy as np
import pytest

import sordino as sd

X = np.linspace(0, 100, 1001)


def test_answers_are_near_the_truth_at_a_high_price_and_in_no_ledger():
    options = {"low": 0, "high": 100, "price": sd.Pure(50)}
    assert float(sd.median(X, **options)) == pytest.approx(50, abs=1)
    assert float(sd.mean(X, **options)) == pytest.approx(50, abs=1)
    assert float(sd.quantile(X, 0.9, **options)) == pytest.approx(90, abs=1)
    assert float(sd.variance(X, **options)) == pytest.approx(X.var(), rel=0.05)
    assert float(sd.standard_deviation(X, **options)) == pytest.approx(X.std(), rel=0.05)
    assert float(sd.count(X, price=sd.Pure(50))) == pytest.approx(1001, abs=1)
    barred = sd.trimmed_mean(X, 0.1, interval=0.95, **options)
    assert barred.interval.low < 50.5
    assert barred.interval.high > 49.5
    assert barred.ledger_id is None
    assert "in no ledger" in barred.explain()


def test_bounds_and_price_must_be_given():
    with pytest.raises(sd.ParameterError, match="price must be given"):
        sd.median(X, low=0, high=1)
    with pytest.raises(sd.ParameterError):
        sd.median(X, price=sd.Pure(1))
    with pytest.raises(sd.ParameterError, match="without a ledger"):
        sd.median(X, low=0, high=1, price=sd.Pure(1), token="t")
    with pytest.raises(sd.ParameterError, match="no option"):
        sd.median(X, low=0, high=1, price=sd.Pure(1), scale=3)
    with pytest.raises(sd.ParameterError):
        sd.median(X, low=0, high=1, price=1.0)


def test_the_number_of_rows_can_be_private():
    release = sd.median(X, low=0, high=100, price=sd.Pure(1), neighbors=sd.Neighbors.ADD_REMOVE_ONE)
    assert release.event.neighbors is sd.Neighbors.ADD_REMOVE_ONE
