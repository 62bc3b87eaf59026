"""A whole budget: the split balances what is wanted, and adds up as sessions add prices."""

import json
import shlex
from fractions import Fraction

import numpy as np
import pytest

import sordino as sd
from sordino.cli import main
from sordino.errors import ParameterError, Unsupported
from sordino.planner import plan_budget
from sordino.planner.split import _balanced, _curve, _rounded

PAY = {"low": 0, "high": 1000}
SET = [sd.TrimmedMean("pay", trim=0.1, **PAY), sd.CountAbove("pay", threshold=100), sd.Count("pay")]
QUICK = {"tables": 2, "draws": 8}


@pytest.fixture(scope="module")
def found():
    return plan_budget(SET, sd.Pure(2), rows=400, **QUICK)


def test_power_laws_are_balanced_as_algebra_says():
    # Errors c / share with measures m: at level t the shares are c / (m t), so t is the sum of c / m.
    shares = [1.0, 0.1, 0.01]
    curves = [_curve([(part, c / part) for part in shares]) for c in (1.0, 2.0, 5.0)]
    measures = [1.0, 1.0, 10.0]
    wanted = np.array([1.0, 2.0, 0.5]) / 3.5
    assert np.allclose(_balanced(curves, measures), wanted, rtol=1e-3)
    # Errors c / sqrt(share), as under concentrated prices: shares go with (c / m)^2.
    curves = [_curve([(part, c / part**0.5) for part in shares]) for c in (1.0, 2.0, 3.0)]
    wanted = np.array([1.0, 4.0, 9.0]) / 14
    assert np.allclose(_balanced(curves, [1.0] * 3), wanted, rtol=1e-3)


def test_shares_are_thousandths_that_add_up_to_one():
    for parts in ([0.5, 0.5], [1 / 3] * 3, [0.9985, 0.001, 0.0005], [1 / 120] * 120):
        shares = _rounded(parts)
        assert sum(shares) == 1
        assert min(shares) > 0
        assert max(abs(float(a) - b) for a, b in zip(shares, parts, strict=True)) < 0.003


@pytest.mark.parametrize("budget", [sd.Pure(2), sd.Concentrated(0.5), sd.Approx(2, 1e-6)], ids=repr)
def test_a_session_is_spent_exactly_by_the_proposed_prices(budget):
    split = plan_budget(SET[1:], budget, rows=200, **QUICK)
    assert split.total == budget
    table = {"pay": np.random.default_rng(0).lognormal(4, 0.7, 200)}
    people = sd.open(table, budget=budget)
    for line in split.lines:
        people.release(line.statistic, line.price)
    assert not getattr(people.remaining, "epsilon", None)
    assert not getattr(people.remaining, "rho", None)
    with pytest.raises(sd.BudgetExceeded):
        people.release(SET[2], type(budget)(*([Fraction(1, 10**6)] * (1 + hasattr(budget, "delta")))))
    batch = sd.open(table, budget=budget)
    batch.release([line.statistic for line in split.lines], split.prices)
    assert batch.remaining == people.remaining


def test_the_split_is_balanced_and_better_than_an_even_one(found):
    ratios = [line.ratio for line in found.lines]
    assert max(ratios) / min(ratios) < 1.6
    assert max(ratios) < max(line.even / line.measure for line in found.lines)
    assert found.lines[2].measure == pytest.approx(4)  # one per cent of 400 rows: a count does not vary
    assert found.lines[0].measure == found.lines[0].sampling_error


def test_a_wanted_error_draws_the_budget_to_itself(found):
    eager = plan_budget(SET, sd.Pure(2), rows=400, errors=[None, 1.0, None], **QUICK)
    assert eager.lines[1].share > found.lines[1].share
    assert eager.lines[1].option.rms < found.lines[1].option.rms
    assert "1 " in str(eager)
    poor = plan_budget(SET, sd.Pure(0.1), rows=400, errors=[None, 1.0, None], **QUICK)
    assert "the budget is too small for what is wanted of: count-above of pay" in poor.verdict


def test_the_text_says_the_rule_and_can_be_pasted(found):
    text = str(found)
    assert "no private data was read" in text
    assert (
        "split so that the largest ratio of privacy error (rms) to its measure is as small as possible"
        in text
    )
    table = {"pay": np.random.default_rng(1).lognormal(4, 0.7, 400)}
    code = found.python.replace('ledger="people.ledger", ', "")
    world = {"sd": sd, "table": table}
    exec(code, world)
    assert world["people"].remaining == sd.Pure(0)
    record = json.loads(json.dumps(found.to_dict()))
    assert sum(line["share"] for line in record["lines"]) == pytest.approx(1)
    assert "<caption>" in found._repr_html_()
    left, right = found.plot().axes
    assert len(left.patches) == 3
    assert right.get_xscale() == "log"


def test_what_cannot_be_split_is_refused():
    with pytest.raises(ParameterError, match="the first argument is a list of statistics"):
        plan_budget(sd.Count("x"), sd.Pure(1), rows=10)
    with pytest.raises(ParameterError, match="one entry of errors per statistic"):
        plan_budget(SET, sd.Pure(1), rows=10, errors=[1.0])
    with pytest.raises(Unsupported, match="shares pure, concentrated and approximate"):
        plan_budget(SET, sd.Geo(1, per=1), rows=10)
    with pytest.raises(Unsupported, match="rows and of edges do not share"):
        plan_budget([sd.Count("x"), sd.Edges(vertices=9)], sd.Pure(1), rows=10)
    with pytest.raises(ParameterError, match="never reads private data"):
        plan_budget(SET, sd.Pure(1), rows=10, assume=sd.open({"x": [1.0]}, budget=sd.Pure(1)))


def test_the_command_line_proposes_the_same(capsys):
    line = (
        "plan budget --epsilon 2 --rows 200 --tables 2 --draws 8 --ask 'count-above pay --threshold 100 --error 3' "
        "--ask 'count pay' --json"
    )
    main(shlex.split(line))
    record = json.loads(capsys.readouterr().out)
    again = plan_budget(SET[1:], sd.Pure(2), rows=200, errors=[3, None], **QUICK)
    assert [one["share"] for one in record["lines"]] == [float(one.share) for one in again.lines]
    assert record["command"].count("sordino release") == 2
    for wrong, words in (
        ("plan budget --epsilon 1 --rows 9 --ask 'median x'", "cannot be read"),
        ("plan budget --epsilon 1 --rows 9 --ask 'count x --epsilon 1'", "a price stands beside --ask"),
        ("plan budget --rows 9 --ask 'count x'", "There is no default price"),
    ):
        with pytest.raises(SystemExit):
            main(shlex.split(wrong))
        assert words in capsys.readouterr().err
