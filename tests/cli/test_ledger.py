"""The verb `ledger`: create, show, verify, raise, export, and its exit codes."""

import json
from pathlib import Path

import pytest

from sordino.ledger import Ledger, verify_export
from sordino.privacy import Approx, Concentrated, Neighbors, Pure, Unit


@pytest.fixture
def run(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    return call


CREATE = ("ledger", "create", "people.ledger", "--epsilon", "3", "--reason", "2026 tables")


def test_create_says_what_was_begun(run):
    code, out, err = run(*CREATE, "--unit", "person_id", "--max-rows", "2", "--neighbors", "add-remove-one")
    assert code == 0
    assert "one person_id (at most 2 rows each), add-remove-one" in out
    assert "next: sordino release" in err
    with Ledger("people.ledger") as book:
        assert book.budget == Pure(3)
        assert (book.unit, book.neighbors) == (Unit("person_id", max_rows=2), Neighbors.ADD_REMOVE_ONE)


def test_create_does_not_replace_a_book_and_needs_a_reason_and_a_price(run):
    assert run(*CREATE)[0] == 0
    code, _, err = run(*CREATE)
    assert code == 2
    assert "there is a book already" in err
    assert run("ledger", "create", "b", "--epsilon", "3")[0] == 2
    assert run("ledger", "create", "b", "--reason", "x")[0] == 2
    assert run("ledger", "create", "nowhere/b", "--epsilon", "3", "--reason", "x")[0] == 2
    assert not Path("b").exists()


def test_an_approximate_budget_counts_rho_when_told(run):
    line = ("ledger", "create", "a.ledger", "--epsilon", "3", "--delta", "1e-6", "--reason", "x")
    code, out, _ = run(*line, "--counting", "concentrated", "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["budget"]["kind"] == "concentrated"
    assert facts["stated"] == Approx(3, 1e-6).to_dict()
    with Ledger("a.ledger") as book:
        assert isinstance(book.remaining, Concentrated)


def test_show_verify_raise_and_export(run):
    run(*CREATE)
    code, out, _ = run("ledger", "show", "people.ledger")
    assert code == 0
    assert "Pure(epsilon=3)" in out
    code, out, _ = run("ledger", "verify", "people.ledger", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["holds"]
    assert run("ledger", "verify", "people.ledger", "--known", f"1:{report['head']}")[0] == 0
    assert run("ledger", "verify", "people.ledger", "--known", "1:00")[0] == 5
    assert run("ledger", "verify", "people.ledger", "--known", "rubbish")[0] == 2
    assert run("ledger", "raise", "people.ledger", "--epsilon", "2", "--reason", "less")[0] == 2
    code, out, _ = run("ledger", "raise", "people.ledger", "--epsilon", "4", "--reason", "agreed")
    assert code == 0
    assert "Pure(epsilon=4)" in out
    code, out, _ = run("ledger", "export", "people.ledger")
    assert verify_export(json.loads(out)) == []
    assert run("ledger", "export", "people.ledger", "book.json")[0] == 0
    assert json.loads(Path("book.json").read_text()) == json.loads(out)


def test_a_damaged_book_is_exit_code_five(run):
    run(*CREATE)
    whole = Path("people.ledger").read_bytes()
    place = whole.find(b"2026 tables")
    Path("people.ledger").write_bytes(whole[:place] + b"2027" + whole[place + 4 :])
    code, out, _ = run("ledger", "verify", "people.ledger")
    assert code == 5
    assert "row 1 was changed" in out
    Path("people.ledger").write_bytes(whole[:100])
    assert run("ledger", "verify", "people.ledger")[0] == 5
    assert run("ledger", "show", "people.ledger")[0] == 5
    assert run("ledger", "show", "nowhere.ledger")[0] == 2
