"""Audits from outside: they refute what should be refuted, see what is published, and refuse what cannot be meant."""

import dataclasses
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import sordino as sd
from sordino.cli import main, program
from sordino.errors import ParameterError
from sordino.exact.bits import SeededBits
from sordino.statistics.categories import Categories
from sordino.statistics.median import Median
from sordino.statistics.sparse_table import SparseTable
from sordino.testing import audit_plan
from sordino.testing.audit import audit_default


def test_an_audit_says_not_refuted_and_how_much_it_would_notice():
    run = CliRunner()
    told = run.invoke(program, ["audit", "count", "--epsilon", "1", "--runs", "2000"])
    assert told.exit_code == 0, told.output
    assert "not refuted" in told.output
    assert "would refute" in told.output
    assert "private" not in told.output
    assert "releasing" not in told.output  # progress is for terminals


def test_an_audit_takes_the_hints_of_a_release(monkeypatch):
    asked = []
    honest = audit_plan.choose
    monkeypatch.setattr(
        audit_plan, "choose", lambda *given, **hints: asked.append(hints) or honest(*given, **hints)
    )
    told = CliRunner().invoke(
        program, ["audit", "variance", "--epsilon", "2", "--rows", "80", "--loose", "--runs", "200"]
    )
    assert told.exit_code == 0, told.output
    assert "plain-or-cut-squares" in told.output
    assert asked
    assert all(hints == {"rows": 80, "loose": True} for hints in asked)


def refused_audit(capsys, words):
    with pytest.raises(SystemExit) as left:
        main(["audit", *words.split()])
    assert left.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "rule", "hint"),
    [
        ("count --epsilon 1 --confidence 95", "confidence must be between 0 and 1", "--confidence 0.95"),
        ("count --epsilon 1 --runs 0", "runs must be a whole number of at least 100", "--runs 4000"),
        ("count --epsilon 1 --runs 3", "runs must be a whole number of at least 100", "--runs 4000"),
        ("count --epsilon 1 --rows 0", "rows must be a whole number of at least 1", "--rows 80"),
        ("count --epsilon 0", "epsilon must be positive", "--epsilon 1"),
        ("count --epsilon nan", "epsilon must be a finite number", "--epsilon 1"),
        ("count --epsilon 1 --delta 3", "delta must be at least 0 and below 1", "--delta 1e-6"),
        ("triangles --epsilon 1 --neighbors replace-one", "must be edge,", "--neighbors edge"),
        ("function --epsilon 1", "no tables of its own", "sd.audit"),
    ],
)
def test_an_audit_refuses_numbers_that_cannot_be_meant(words, rule, hint, capsys):
    said = refused_audit(capsys, words)
    assert rule in said
    assert hint in said


@pytest.mark.parametrize(
    ("named", "rule"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": 1, "delta": 3}, "delta must be at least 0 and below 1"),
        ({"epsilon": 1, "runs": 3}, "runs must be a whole number of at least 100"),
        ({"epsilon": 1, "confidence": 95}, "confidence must be between 0 and 1"),
        ({}, "epsilon must be given"),
        ({"epsilon": 1, "release": sd.Count("x")}, "can be called with a table"),
        ({"epsilon": 1, "release": lambda table: "north"}, "an answer must be a number or several"),
        ({"epsilon": 1, "release": lambda table: ("3", 1)}, "keys.index(answer)"),
        ({"epsilon": 1, "release": lambda table: {"north": 1}}, "keys.index(answer)"),
        ({"epsilon": 1, "release": lambda table: ()}, "an answer must be a number or several"),
        ({"epsilon": 1, "release": lambda table: table["x"]}, "as many numbers"),
    ],
)
def test_an_audit_of_something_else_refuses_the_same(named, rule):
    named = {"release": lambda table: len(table["x"]), **named}
    with pytest.raises(ParameterError, match=re.escape(rule)) as refused:
        sd.audit(table={"x": [1]}, neighbour={"x": [1, 2]}, **named)
    assert refused.value.hint


def test_an_audit_takes_what_can_be_meant():
    """Arrays; and a delta that no event of so few runs exceeds."""
    found = sd.audit(lambda table: np.ones(2), {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=100, delta=0.9)
    assert not found.refuted
    assert found.lower == 0


def test_a_refuted_promise_has_no_more_to_say():
    random = np.random.default_rng(7)
    found = sd.audit(
        lambda table: 9 * len(table["x"]) + random.laplace(), {"x": []}, {"x": [1]}, epsilon=1, runs=200
    )
    assert not found.strong
    assert "would NOT refute" in str(dataclasses.replace(found, lower=0.0))
    assert str(found).startswith("REFUTED")
    assert "would" not in str(found)
    assert found.to_dict()["power"] is None


def test_an_audit_for_machines_says_what_it_would_have_noticed():
    told = CliRunner().invoke(program, ["audit", "triangles", "--epsilon", "1", "--runs", "300", "--json"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.output)
    assert found["neighbors"] == "edge"  # the first that it has
    assert (found["epsilon"], found["delta"], found["confidence"], found["runs"]) == (1, 0, 0.95, 300)
    assert found["event"]
    assert found["mechanism"] == "additive"
    assert found["power"]["would_refute"] is False
    assert found["power"]["bound"] < 1


def test_few_runs_are_not_told_apart_by_luck():
    """An event of answers that were seen once each holds of no others."""
    random = np.random.default_rng(7)
    few, more = {"x": []}, {"x": [1]}
    for many in (1, 2):
        found = sd.audit(
            lambda table, many=many: tuple(9 * len(table["x"]) + random.laplace(size=many)),
            few, more, epsilon=1, runs=200, low_bits=False,
        )  # fmt: skip
        assert found.refuted
        assert "answers" not in found.event
        assert "beside" not in found.event


def test_numbers_that_tell_half_each_are_seen_together():
    random = np.random.default_rng(7)
    for scale, refuted in ((1.6, True), (2.0, False)):

        def noisy(table, scale=scale):
            moved = len(table["x"])
            return moved + random.laplace(scale=scale), random.laplace(scale=scale) - moved

        found = sd.audit(noisy, {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=6000, low_bits=False)
        assert found.refuted is refuted
        assert not refuted or "2 numbers" in found.event


@pytest.mark.thorough
@pytest.mark.statistical
def test_a_person_who_moves_two_counts_is_seen():
    """Each count alone tells half: the pair of tables and the event must be of both."""
    case = next(iter(Categories.cases()))
    assert case.statistic.neighbors is sd.Neighbors.REPLACE_ONE
    found = audit_default(case, sd.Pure(1), bits=SeededBits(1))
    assert found.strong
    assert found.runs <= 16000
    assert not found.refuted


def test_answers_that_say_their_keys_are_audited_key_by_key():
    """Of a different number of keys each time."""
    case = next(iter(SparseTable.cases()))
    found = audit_default(case, sd.Approx(1, 1e-3), runs=300, bits=SeededBits(1))
    assert not found.refuted


@pytest.mark.thorough
@pytest.mark.statistical
def test_the_default_audit_of_a_median_would_refute_a_fifth_less_noise():
    case = next(case for case in Median.cases() if case.statistic.neighbors is sd.Neighbors.REPLACE_ONE)
    found = audit_default(case, sd.Pure(1), bits=SeededBits(1))
    assert found.strong
    assert not found.refuted


def test_an_audit_refutes_noise_that_is_too_small():
    random = np.random.default_rng(7)
    for scale, refuted in ((0.8, True), (1.0, False)):

        def noisy(table, scale=scale):
            return len(table["x"]) + random.laplace(scale=scale)

        found = sd.audit(noisy, {"x": [1]}, {"x": [1, 2]}, epsilon=1, runs=6000, low_bits=False)
        assert found.refuted is refuted


def test_what_comes_with_an_answer_is_audited_too():
    """The answer is innocent and so is its by-product; both together tell the tables apart."""
    random = np.random.default_rng(7)

    def crossed(table):
        place = random.laplace()
        return place, place + len(table["x"]) if random.random() < 0.5 else random.laplace()

    found = sd.audit(crossed, {"x": []}, {"x": [1] * 4}, epsilon=1, runs=3000, low_bits=False)
    assert found.refuted

    def told(table):
        return random.laplace(), float(random.random() < 0.1 * len(table["x"]))

    found = sd.audit(told, {"x": [1]}, {"x": [1] * 9}, epsilon=1, runs=3000, low_bits=False)
    assert found.refuted
    assert "by-product" in found.event


def test_the_last_bits_of_float_noise_are_seen():
    """The size of the answers keeps the promise; which doubles come out does not (Mironov 2012)."""
    random = np.random.default_rng(7)

    def floats(table):
        return table["x"][0] + random.laplace()

    def on_a_lattice(table):  # the value is on the lattice, and so is the noise
        return (2**20 * table["x"][0] + np.rint(2**20 * random.laplace())) / 2**20

    zero, one = {"x": [0.0]}, {"x": [1.0]}
    found = sd.audit(floats, zero, one, epsilon=1, runs=3000)
    assert found.refuted
    assert found.lower > 3
    assert found.event == "no multiple of 2^-53"
    assert not sd.audit(floats, zero, one, epsilon=1, runs=3000, low_bits=False).refuted
    assert not sd.audit(on_a_lattice, zero, one, epsilon=1, runs=3000).refuted


@pytest.mark.statistical
def test_the_last_bits_of_our_answers_tell_nothing():
    people = {value: sd.open({"x": [value]}, budget=sd.Pure(10**6)) for value in (0.0, 1.0)}
    asked = sd.Mean("x", low=0, high=1)

    def released(table):
        return people[table["x"][0]].release(asked, sd.Pure(1)).value

    assert not sd.audit(released, {"x": [0.0]}, {"x": [1.0]}, epsilon=1, runs=300).refuted
