"""The planner's promise: predicted errors agree with real releases on fresh data; a planted error is noticed."""

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.planner import Shape, plan
from sordino.privacy import Neighbors, Unit
from sordino.question import prepare

LOW, HIGH = 0, 500_000
BOUNDS = {"low": LOW, "high": HIGH}
ROWS = 400
TRUTHS = {
    "median": lambda x: np.sort(x)[(len(x) + 1) // 2 - 1],
    "quantile": lambda x: np.sort(x)[int(np.ceil(0.9 * len(x))) - 1],
    "mean": np.mean,
    "trimmed-mean": lambda x: np.mean(np.sort(x)[int(0.05 * len(x)) : len(x) - int(0.05 * len(x))]),
    "sum": np.sum,
    "count": len,
    "maximum": np.max,
    "variance": np.var,
    "winsorized-mean": lambda x: np.mean(
        np.clip(x, *np.sort(x)[[int(0.05 * len(x)), -int(0.05 * len(x)) - 1]])
    ),
}
CASES = [
    (sd.Median("x", **BOUNDS), sd.Pure(1), "log-normal", {}),
    (sd.Median("x", **BOUNDS), sd.Concentrated(0.125), "bimodal", {}),
    (sd.Quantile("x", q=0.9, **BOUNDS), sd.Pure(1), "log-normal", {}),
    (sd.Mean("x", **BOUNDS), sd.Pure(1), "heaped-pay", {}),
    (sd.Mean("x", **BOUNDS), sd.Pure(1), "uniform", {"tight": True}),
    (sd.TrimmedMean("x", trim=0.05, **BOUNDS), sd.Pure(1), "log-normal", {}),
    (sd.TrimmedMean("x", trim=0.05, **BOUNDS), sd.Concentrated(0.5), "normal", {}),
    (sd.Sum("x", **BOUNDS), sd.Pure(1), "log-normal", {}),
    (sd.Count("x"), sd.Pure(0.2), "uniform", {}),
    (sd.Maximum("x", **BOUNDS), sd.Pure(0.25), "uniform", {}),
    (sd.Variance("x", **BOUNDS), sd.Pure(1), "normal", {}),
    (sd.WinsorizedMean("x", trim=0.05, **BOUNDS), sd.Pure(1), "normal", {}),
]
WITHIN = 0.10


def measured(statistic, price, shape, hints, *, draws=1000):
    """Errors of real answers, each on a fresh column, judged by numpy's own statistic."""
    question = prepare(statistic, price, neighbors=Neighbors.REPLACE_ONE, unit=Unit(), rows=ROWS, hints=hints)
    (part,) = question.parts
    bits, random, errors = SeededBits(987), np.random.default_rng(654), []
    source = Shape(shape).on(LOW, HIGH)
    for _ in range(draws):
        column = source.draw(ROWS, random)
        table = Memory({"x": column})
        answer = part.mechanism.answer(
            part.statistic, lambda ask, table=table: table.summary(ask)[0], part.grid, bits=bits
        )
        errors.append(float(answer) - TRUTHS[statistic.name](np.clip(column, LOW, HIGH)))
    return np.abs(errors)


def agrees(predicted, errors, *, probability):
    """Whether the predicted quantile of the error is within ten per cent of the measured one.

    The measured quantile is known to a few per cent only: both its ends at two standard errors must be out of reach
    for a disagreement.
    """
    slack = 2 * np.sqrt(probability * (1 - probability) / len(errors))
    low, high = np.quantile(errors, [probability - slack, probability + slack])
    return low / (1 + WITHIN) <= predicted <= high * (1 + WITHIN)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("statistic", "price", "shape", "hints"), CASES, ids=lambda v: getattr(v, "name", None) or str(v)[:20]
)
def test_predicted_errors_are_those_of_real_answers_on_fresh_data(statistic, price, shape, hints):
    option = plan(
        statistic, price, rows=ROWS, assume=shape, tables=60, draws=200, only_default=True, **hints
    ).default
    errors = measured(statistic, price, shape, hints)
    assert agrees(option.median, errors, probability=0.5)
    assert agrees(option.most, errors, probability=0.9)
    for planted in (1.3, 1 / 1.3):
        assert not (
            agrees(planted * option.median, errors, probability=0.5)
            and agrees(planted * option.most, errors, probability=0.9)
        )
    # The root mean square hangs on rare answers far away, so it is compared where they are cut off alike.
    rms = float(np.sqrt(np.mean(errors**2)))
    error = float(np.std(errors**2) / np.sqrt(len(errors)) / (2 * rms))
    assert abs(option.rms - rms) <= WITHIN * rms + 2 * error + 2 * option.uncertainty[1]


@pytest.mark.statistical
def test_a_session_has_the_errors_of_its_plan():
    statistic = sd.Median("x", **BOUNDS)
    option = plan(statistic, sd.Pure(1), rows=400, tables=60, only_default=True).default
    random = np.random.default_rng(99)
    source, errors = Shape("log-normal").on(LOW, HIGH), []
    for _ in range(300):
        column = source.draw(400, random)
        people = sd.open({"x": column}, budget=sd.Pure(1))
        errors.append(
            people.release(statistic, sd.Pure(1)).value - TRUTHS["median"](np.clip(column, LOW, HIGH))
        )
        people.ledger.close()
    # Fresh random words: a probability of about one in a million to fail.
    inside = np.mean(np.abs(errors) <= option.median)
    assert 0.5 - 0.15 < inside < 0.5 + 0.15
    assert np.mean(np.abs(errors) <= option.most) > 0.8
