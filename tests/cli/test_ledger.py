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
    with Ledger("people.ledger") as ledger:
        assert ledger.budget == Pure(3)
        assert (ledger.unit, ledger.neighbors) == (Unit("person_id", max_rows=2), Neighbors.ADD_REMOVE_ONE)


def test_create_does_not_replace_a_ledger_and_needs_a_reason_and_a_price(run):
    assert run(*CREATE)[0] == 0
    code, _, err = run(*CREATE)
    assert code == 2
    assert "there is a ledger already" in err
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
    with Ledger("a.ledger") as ledger:
        assert isinstance(ledger.remaining, Concentrated)


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
    assert run("ledger", "export", "people.ledger", "ledger.json")[0] == 0
    assert json.loads(Path("ledger.json").read_text()) == json.loads(out)


def test_a_damaged_ledger_is_exit_code_five(run):
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


CSV = "x,region\n" + "".join(f"{number},{'ns'[number % 2]}\n" for number in range(60))
COUNT = ("release", "count", "x", "--epsilon", "0.5", "--ledger", "people.ledger", "--yes")


def test_a_token_for_other_data_or_another_schema_is_exit_code_two_and_is_not_answered(run):
    run(*CREATE)
    Path("people.csv").write_text(CSV)
    Path("others.csv").write_text(CSV)
    code, first, _ = run(*COUNT, "--data", "people.csv", "--token", "t", "--json")
    assert code == 0
    assert run(*COUNT, "--data", "./people.csv", "--token", "t", "--json")[1] == first
    Path("people.csv").write_text(CSV.replace("x,region", "x,county"))
    for data in ("others.csv", "people.csv"):
        code, out, err = run(*COUNT, "--data", data, "--token", "t")
        assert (code, out) == (2, "")
        assert "other data" in err
    Path("people.csv").write_text(CSV.replace("1", "2"))  # other values, the same data
    assert run(*COUNT, "--data", "people.csv", "--token", "t", "--json")[1] == first
    code, _, err = run(*COUNT, "--data", "people.csv", "--token", "t", "--epsilon", "0.25")
    assert code == 2
    assert "another question" in err
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(0.5)


def test_a_data_name_stands_for_the_data_wherever_they_lie(run):
    run(*CREATE)
    Path("a.csv").write_text(CSV)
    Path("b.csv").write_text(CSV)
    named = ("--data-name", "people 2026", "--token", "t", "--json")
    _, first, _ = run(*COUNT, "--data", "a.csv", *named)
    assert json.loads(first)["event"]["data"]["name"] == "people 2026"
    assert run(*COUNT, "--data", "b.csv", *named)[:2] == (0, first)
    assert run(*COUNT, "--data", "b.csv", "--data-name", "x" * 201)[0] == 2


def test_show_says_who_asked_and_why_the_ledger_was_changed(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    run(*CREATE)
    Path("people.csv").write_text(CSV)
    run(*COUNT, "--data", "people.csv", "--user", "alice", "--purpose", "annual\x1b report")
    run(*COUNT, "--data", "people.csv", "--user", "bob")
    run(*COUNT, "--data", "people.csv", "--user", "alice")
    run(
        "ledger",
        "raise",
        "people.ledger",
        "--epsilon",
        "4",
        "--reason",
        "the board\x1b[2J agreed",
        "--user",
        "carol",
    )
    code, out, _ = run("ledger", "show", "people.ledger")
    assert code == 0
    assert "\x1b" not in out
    assert "the board\\x1b[2J agreed" in out
    assert "count x (annual\\x1b report)" in out
    for text in ("alice@", "bob@", "carol@", "people.csv", "raised", "Pure(epsilon=4)"):
        assert text in out
    code, out, _ = run("ledger", "show", "people.ledger", "--by", "user")
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["alice", "2", "Pure(epsilon=1)"], ["bob", "1", "Pure(epsilon=0.5)"],
    ]  # fmt: skip
    found = json.loads(run("ledger", "show", "people.ledger", "--by", "user", "--json")[1])
    assert [line["releases"] for line in found] == [2, 1]
    code, out, err = run("ledger", "show", "people.ledger", "--last", "1")
    assert "bob@" not in out
    assert "2 earlier" in err
    shown = json.loads(run("ledger", "show", "people.ledger", "--json")[1])
    assert [change["kind"] for change in shown["changes"]] == ["open", "raise"]
    assert shown["releases"][0]["who"]["user"] == "alice"


def test_freeze_lower_and_close_with_reasons(run):
    run(*CREATE)
    Path("people.csv").write_text(CSV)
    assert run("ledger", "freeze", "people.ledger")[0] == 2
    code, out, _ = run("ledger", "freeze", "people.ledger", "--reason", "looks wrong")
    assert code == 0
    assert "frozen: looks wrong" in out
    code, _, err = run(*COUNT, "--data", "people.csv")
    assert code == 3
    assert "ledger unfreeze" in err
    assert run("ledger", "unfreeze", "people.ledger", "--reason", "was right")[0] == 0
    assert run(*COUNT, "--data", "people.csv")[0] == 0
    assert run("ledger", "lower", "people.ledger", "--epsilon", "0.25", "--reason", "less")[0] == 2
    assert run("ledger", "lower", "people.ledger", "--epsilon", "1", "--reason", "less")[0] == 0
    assert run("ledger", "close", "people.ledger", "--reason", "over", "--json")[0] == 0
    code, _, err = run("ledger", "unfreeze", "people.ledger", "--reason", "again")
    assert code == 2
    assert "stays closed" in err
    assert run("ledger", "verify", "people.ledger")[0] == 0
    assert run("ledger", "raise", "people.ledger", "--epsilon", "9", "--reason", "x" * 1001)[0] == 2


def test_a_release_notices_an_older_copy(run, monkeypatch):
    run(*CREATE)
    Path("people.csv").write_text(CSV)
    older = Path("people.ledger").read_bytes()
    run(*COUNT, "--data", "people.csv")
    head = json.loads(run("ledger", "verify", "people.ledger", "--json")[1])
    noted = f"{head['rows']}:{head['head']}"
    assert run(*COUNT, "--data", "people.csv", "--known", noted)[0] == 0
    Path("people.ledger").write_bytes(older)
    code, out, err = run(*COUNT, "--data", "people.csv")
    assert (code, out) == (5, "")
    assert "older copy" in err
    monkeypatch.setenv("SORDINO_STATE", "off")
    assert run(*COUNT, "--data", "people.csv", "--known", noted)[0] == 5
    assert run(*COUNT, "--data", "people.csv", "--known", "rubbish")[0] == 2


def test_exports_have_tables_and_say_what_cannot_be_written(run):
    run(*CREATE)
    code, out, _ = run("ledger", "export", "people.ledger", "--csv")
    assert code == 0
    assert out.splitlines()[0].startswith("row,release,kind,at,user")
    assert run("ledger", "export", "people.ledger", "all.csv")[0] == 0
    assert Path("all.csv").read_text() == out
    code, _, err = run("ledger", "export", "people.ledger", "nowhere/all.csv")
    assert code == 2
    assert "cannot be written" in err
