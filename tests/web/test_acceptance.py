"""What page and service were accepted by, where no other file shows it: weight, threads, whole reports, errors."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import html5lib
import jsonschema
import pytest

import sordino as sd
from sordino import errors, web
from sordino.ledger import Ledger
from sordino.session.card import SCHEMA
from sordino.web.api_parts import problem_of
from sordino.web.view import status_of
from sordino.web.worker import PlanWorker
from tests.support.web import (
    Member,
    Walker,
    api,
    named_ledger,
    organisation,
    put,
    seal_of,
    walker,
    write_households,
)

HOME = Path(web.__file__).parent


def cpu(process):
    """Seconds of CPU and megabytes of a process."""
    said = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    resident = next(
        line for line in Path(f"/proc/{process}/status").read_text().splitlines() if "VmRSS" in line
    )
    return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK"), int(resident.split()[1]) / 1024


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_the_link_is_printed_within_a_second_and_a_half_of_cpu_and_120_megabytes(tmp_path):
    write_households(tmp_path)
    words = [sys.executable, "-m", "sordino", "app", str(tmp_path), "--no-browser"]
    made = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert "/open/" in made.stdout.readline()
        seconds, megabytes = cpu(made.pid)
    finally:
        made.kill()
        made.wait()
        made.stdout.close()
    assert seconds < 1.5
    assert megabytes < 120


def test_files_are_short_and_markup_is_made_in_few():
    """Under 300 lines each; only pictures write markup, which escape what they are given."""
    long = {file.name for file in HOME.glob("*.py") if len(file.read_text().splitlines()) >= 300}
    assert long == set()
    writing = {file.stem for file in HOME.glob("*.py") if "Markup" in file.read_text()}
    assert writing == {"svg", "charts", "maps"}
    assert not [file.name for file in (HOME / "templates").iterdir() if "|safe" in file.read_text()]


def test_eight_threads_with_six_questions_each_get_48_answers(tmp_path):
    write_households(tmp_path)
    people = sd.open(tmp_path / "households.csv", ledger=tmp_path / "b.ledger", budget=sd.Pure(100))
    answers = []

    def ask():
        answers.extend(people.release(sd.Count("age"), sd.Pure(0.25)) for _ in range(6))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 48
    assert people.ledger.spent == sd.Pure(12)


def test_two_workers_and_one_token_are_one_debit_and_one_answer(tmp_path):
    """Both begin before either has paid; each has an office, a desk connection and lanes of its own."""
    first, second = organisation(tmp_path), organisation(tmp_path)
    programs = [api(office) for office in (first, second)]
    found, gate = [], threading.Barrier(6)

    def ask(program):
        gate.wait()
        found.append(put(program, "one-token-of-ana"))

    threads = [threading.Thread(target=ask, args=(programs[place % 2],)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = put(programs[0], "one-token-of-ana")
    assert {answer.status_code for answer in found} <= {201, 202, 429}
    assert [answer.json() for answer in found if answer.status_code == 201] != []
    assert all(answer.json() == final.json() for answer in found if answer.status_code == 201)
    assert (named_ledger(first).releases, named_ledger(first).spent) == (1, sd.Pure(0.5))
    # By page: the draft of one worker is pressed at the other.
    here, there = Member(first, "ana"), Member(second, "ana")
    there.cookies = here.cookies
    address, check = here.draft()
    answers = [one.submit(f"{address}/release", seal=seal_of(check)) for one in (there, here, there)]
    assert {answer.url.path for answer in answers} == {"/ledger/survey/releases/2"}
    assert named_ledger(second).releases == 2
    for office in (first, second):
        office.close()


def every_error(kind=errors.SordinoError):
    return [kind, *(deeper for one in kind.__subclasses__() for deeper in every_error(one))]


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_reaches_page_and_interface_with_rule_why_and_hint(tmp_path_factory, monkeypatch, kind):
    problem = kind(
        "release", "this rule was broken", got={"x": 1}, why="Because of that.", hint="do this instead"
    )
    answer = problem_of(problem)
    assert answer.status_code == status_of(problem) != 500
    told = json.loads(answer.body)
    assert (told["rule"], told["why"], told["hint"]) == (
        "this rule was broken",
        "Because of that.",
        "do this instead",
    )
    page = _page(tmp_path_factory)

    def broken(*_, **__):
        raise problem

    monkeypatch.setattr("sordino.web.office.Office.ledgers", broken)
    shown = page.get("/ledger")
    assert shown.status_code == status_of(problem)
    assert "This rule was broken." in shown.text
    assert "Because of that." in shown.text
    assert "do this instead" in shown.text


_PAGES = []


def _page(factory):
    if not _PAGES:
        _PAGES.append(walker(factory.mktemp("errors")))
    return _PAGES[0]


def test_pages_reports_and_cards_are_well_formed(tmp_path):
    """html5lib refuses what is not HTML; a card keeps to its schema."""
    page = walker(tmp_path)
    page.describe()
    page.release(by="region")
    page.release(statistic="count", column="age", bar="sample")
    strict = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    addresses = ["/plan?refresh=1", "/data", "/ask", "/ledger/households", "/ledger/households/releases/1", "/reports",
                 "/explain", "/audit", "/geo", "/smoothed", "/glossary", "/verifier", "/nothing"]  # fmt: skip
    for address in (*addresses, *(f"/reports/households/{name}" for name in ("boss", "auditor", "public"))):
        strict.parse(page.get(address).text)
    card = page.get("/reports/households/card.json").json()
    jsonschema.validate(card, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(card | {"epsilon": "three"}, SCHEMA)
    with Ledger.create(None, sd.Approx(1, 1e-6), reason="x") as ledger:
        from sordino.session.card import card as card_of

        jsonschema.validate(card_of(ledger), SCHEMA)


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", '"><b>', "=cmd()", "a``` <b>", "\u202eabc", "x" * 10_000],
)
def test_hostile_names_are_text_in_notebooks_scripts_and_tables(tmp_path, name):
    from sordino.web.office import Office

    quoted = '"' + name.replace('"', '""') + '"'
    (tmp_path / "t.csv").write_text(f"{quoted},region\n" + "1,a\n2,b\n" * 20)
    page = Walker(Office(tmp_path))
    (key,) = page.office.files()
    page.submit(
        f"/data/{key}", name="t", whom="rows", budget_epsilon="9", **{f"low:{name}": "0", f"high:{name}": "9"}
    )
    answer = page.release(data="t", column=name)
    if "/releases/" not in answer.url.path:  # a name of ten thousand letters is refused in words
        assert answer.status_code == 422
        return
    files = {kind: page.get(f"{answer.url.path}.{kind}").text for kind in ("ipynb", "py", "csv", "json")}
    compile(files["py"], "script", "exec")
    compile("".join(json.loads(files["ipynb"])["cells"][1]["source"]), "cell", "exec")
    heading, _, told = json.loads(files["ipynb"])["cells"]
    assert not {"<", '"><'} & set("".join(heading["source"]))
    assert all(line.startswith("    ") for line in told["source"])  # a block of code: nothing in it is markup
    assert not any(line.startswith(("=", "+", "@")) for line in files["csv"].splitlines())
    assert json.loads(files["json"])["event"]["statistic"]["column"] == name


@pytest.mark.thorough
def test_a_plan_that_nobody_waits_for_is_given_up_for_the_next():
    """The owner's older question is dropped; the newer one is answered although the older would take for ever."""
    worker = PlanWorker()
    try:
        worker.ask("old", "ana", "audit", "median", sd.Pure(1).to_dict(), 10**9)
        worker.wait("old", "progress", 0)
        worker.ask("new", "ana", "certificate", "student-t", sd.Pure(1).to_dict(), "0.1")
        found = {}
        while "full" not in found:
            found = worker.wait("new", "full", 60)
            assert not {"bug", "error"} & set(found), found
        assert found["full"]["proved"] == "epsilon 1"
        assert worker.wait("old", "full", 0) == {}
    finally:
        worker.close()
