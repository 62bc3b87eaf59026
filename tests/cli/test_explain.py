"""The verb `explain`: from a file or from a ledger, for readers who are not specialists."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest

import sordino as sd


@pytest.fixture
def run(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    people = sd.open({"age": np.arange(90.0)}, ledger="people.ledger", budget=sd.Pure(3))
    release = people.release(sd.Median("age", low=0, high=120, step=1), sd.Pure(1))
    Path("release.json").write_text(release.to_json())
    return functools.partial(call, "explain")


def test_a_file_and_a_number_say_the_same(run):
    code, out, _ = run("release.json")
    assert code == 0
    assert run("1", "--ledger", "people.ledger") == (0, out, "")
    for words in ("median age", "73.2 %", "What is not protected", "nearer bound", "Release 1"):
        assert words in " ".join(out.split())
    record = json.loads(run("release.json", "--json")[1])
    assert record["explanation"].split() == out.split()  # lines break where the terminal ends


def test_what_cannot_be_explained_is_said(run):
    assert run("nothing.json")[0] == 2
    assert "--ledger" in run("1")[2]
    assert run("2", "--ledger", "people.ledger")[0] == 2
    Path("other.json").write_text('{"a": 1}')
    code, _, err = run("other.json")
    assert code == 2
    assert "not a release" in err


def test_a_paid_question_without_an_answer_is_explained_as_such(run):
    with sd.Ledger("people.ledger") as ledger:
        people = sd.open({"age": np.arange(90.0)}, ledger=ledger)
        ledger.spend(people.quote(sd.Count("age"), sd.Pure(0.1)), "t")
    code, _, err = run("2", "--ledger", "people.ledger")
    assert code == 2
    assert "no answer yet" in err
