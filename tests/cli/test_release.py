"""The verb `release`: it shows the price, asks, spends, prints; and nothing private appears anywhere."""

import contextlib
import json
import subprocess
import sys

import numpy as np
import pytest

from sordino.catalogue import statistics
from sordino.cli import main, render
from sordino.data import open_source
from sordino.ledger import Ledger
from sordino.privacy import Pure
from tests.support.schemas import valid

CANARY = 73914628.53  # one row, far from all others; its digits are too many to appear by chance
TRACES = (
    "73914628",
    "73,914,628",
    "73914629",
    "73,914,629",
    "739146",
    "7.391462",
    "7.391463",
    "7.39146",
    "7.3915e",
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with data that hold a unique value, and a ledger."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    income = np.append(rng.uniform(100, 900, 999), CANARY)
    np.savez(
        "people.npz",
        income=income,
        age=rng.integers(18, 90, 1000),
        region=rng.choice(["north", "south"], 1000),
        left=rng.integers(0, 20, 1000),
        right=rng.integers(0, 20, 1000),
    )
    with Ledger.create("people.ledger", Pure(3), reason="tests"):
        pass
    return tmp_path


@pytest.fixture
def run(place, capsys):
    """Run the command line in the folder: exit code, stdout, stderr."""

    def call(line):
        code = 0
        try:
            main(line if isinstance(line, list) else line.split())
        except SystemExit as stop:
            code = stop.code or 0
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


DATA = "--data people.npz --ledger people.ledger"
MEDIAN = "release median income --low 0 --high 100000000"


def spent():
    with Ledger("people.ledger") as ledger:
        return ledger.spent


def test_a_release_shows_cost_and_remainder_and_prints_the_answer(run):
    code, out, err = run(f"{MEDIAN} --epsilon 0.5 {DATA} --yes")
    assert code == 0
    assert "median income" in out
    assert "costs       Pure(epsilon=0.5)" in err
    assert "leaves      Pure(epsilon=2.5) of Pure(epsilon=3)" in err
    assert "release 1, token" in err
    assert spent() == Pure(0.5)


def test_without_yes_it_asks_and_no_means_no(run, monkeypatch):
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text: "n")
    code, out, err = run(f"{MEDIAN} --epsilon 0.5 {DATA}")
    assert code == 130
    assert out == ""
    assert "nothing was released" in err
    assert spent() == Pure(0)
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text: "y")
    assert run(f"{MEDIAN} --epsilon 0.5 {DATA}")[0] == 0


def test_json_follows_the_schema_and_a_token_costs_once(run):
    _, first, _ = run(f"{MEDIAN} --epsilon 0.5 {DATA} --yes --json --token t1")
    record = json.loads(first)
    valid(record)
    code, again, err = run(f"{MEDIAN} --epsilon 0.5 {DATA} --yes --json --token t1")
    assert (code, again) == (0, first)
    assert "costs       nothing" in err
    assert spent() == Pure(0.5)
    code, _, err = run(f"{MEDIAN} --epsilon 0.6 {DATA} --yes --token t1")
    assert code == 2
    assert "another question" in err


def test_too_little_left_is_exit_code_three_and_spends_nothing(run):
    code, out, err = run(f"{MEDIAN} --epsilon 3.5 {DATA} --yes")
    assert (code, out) == (3, "")
    assert "not enough left" in err
    assert spent() == Pure(0)


def test_a_dry_run_touches_neither_data_nor_ledger(run, place):
    for name in ("people.npz", "people.ledger"):
        (place / name).unlink()
    code, out, _ = run(f"{MEDIAN} --epsilon 0.5 {DATA} --dry-run")
    assert code == 0
    assert "nothing was spent" in out
    code, out, _ = run(f"{MEDIAN} --epsilon 0.5 --dry-run --json --by region --by-keys north,south")
    assert json.loads(out)["event"]["rows_moved"] == 2
    assert not list(place.iterdir())


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (f"release median income --low 5 --high 5 --epsilon 1 {DATA} --yes", 2, "high must be greater than low"),
        (f"release median income --low 9 --high 5 --epsilon 1 {DATA} --yes", 2, "high must be greater than low"),
        (f"release median income --low nan --high 5 --epsilon 1 {DATA} --yes", 2, "finite"),
        (f"{MEDIAN} --epsilon -1 {DATA} --yes", 2, "must not be negative"),
        (f"{MEDIAN} --epsilon 0 {DATA} --yes", 2, "positive"),
        (f"{MEDIAN} --epsilon nan {DATA} --yes", 2, "finite"),
        (f"{MEDIAN} --epsilon inf {DATA} --yes", 2, "finite"),
        (f"{MEDIAN} {DATA} --yes", 2, "no default price"),
        (f"release median income --high 5 --epsilon 1 {DATA} --yes", 2, "--low"),
        (f"release median --low 0 --high 5 --epsilon 1 {DATA} --yes", 2, "COLUMN"),
        (f"release median height --low 0 --high 5 --epsilon 1 {DATA} --yes", 2, "must exist"),
        (f"release median region --low 0 --high 5 --epsilon 1 {DATA} --yes", 2, "must hold numbers"),
        (f"release meridian income --epsilon 1 {DATA} --yes", 2, "median"),
        (f"release quantile income --q 1.5 --low 0 --high 5 --epsilon 1 {DATA} --yes", 2, "q"),
        (f"{MEDIAN} --epsilon 1 --ledger people.ledger --yes", 2, "--data"),
        (f"{MEDIAN} --epsilon 1 --data people.npz --ledger nowhere.ledger --yes", 2, "ledger create"),
        (f"{MEDIAN} --epsilon 1 --data nothing.npz --ledger people.ledger --yes", 2, "cannot be read"),
        (f"{MEDIAN} --epsilon 1 {DATA} --by region --yes", 2, "go together"),
        (f"{MEDIAN} --epsilon 1 {DATA} --where age --yes", 2, "compares a column"),
        (f"{MEDIAN} --rho 0.1 {DATA} --yes", 2, "cannot be counted"),
        (f"{MEDIAN} --epsilon 1 {DATA} --neighbors edge --yes", 2, "neighbours"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_is_spent(run, line, code, words):
    found, out, err = run(line)
    assert (found, out) == (code, "")
    assert words in err
    assert "Traceback" not in err
    assert spent() == Pure(0)


def example(kind):
    """A command line for every statistic that can be written on one."""
    fields = {
        "low": "--low 0", "high": "--high 100000000", "keys": "--keys north,south", "threshold": "--threshold 500",
        "edges": "--edges 0,300,600,1000", "lower": "--lower 0.25", "upper": "--upper 0.75", "trim": "--trim 0.05",
        "answer_low": "--answer-low 0", "answer_high": "--answer-high 1000", "qs": "--qs 0.25,0.75",
        "centre": "--centre 500", "radii": "--radii 100,200", "vertices": "--vertices 20",
        "x_low": "--x-low 0", "x_high": "--x-high 100", "y_low": "--y-low 0", "y_high": "--y-high 1000",
        "topology": "--topology 0-1,1-2", "q": "--q 0.9", "levels": "--levels north,south",
        "leaves": "--leaves north;south",
    }  # fmt: skip
    import dataclasses

    words = ["release", kind.name]
    for field in dataclasses.fields(kind):
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            if field.name == "column":
                words.append("region" if "keys" in kind.__dataclass_fields__ else "income")
            elif field.name == "columns":
                words.append("age,income" if "low" in kind.__dataclass_fields__ else "region")
            elif field.name in ("x", "y"):
                words.append({"x": "age", "y": "income"}[field.name])
            else:
                words += fields[field.name].split()
    if kind.name == "minimum-spanning-tree":
        chain = ",".join(f"{v}-{v + 1}" for v in range(19))
        words = [*" ".join(words).replace("0-1,1-2", chain).split(), "--weight", "income"]
    if kind.name == "theil-sen":
        words += ["--low", "-50", "--high", "50"]
    return " ".join(words)


NAMES = [name for name in statistics() if name not in ("vector", "function")]


@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_is_released_from_options_made_of_its_fields_and_leaks_nothing(run, place, name):
    kind = statistics()[name]
    location = f"{name}.ledger"
    relation = "edge" if kind.relations[0].value == "edge" else "replace-one"
    price = (
        "--epsilon 1 --delta 0.001" if name == "keys" else "--epsilon 1"
    )  # keys that are found need a delta
    run(["ledger", "create", location, *price.split(), "--reason", "all", "--neighbors", relation])
    code, out, err = run(f"{example(kind)} {price} --data people.npz --ledger {location} --yes --json")
    assert code == 0, err
    record = json.loads(out)
    valid(record)
    told = out + err + run(f"explain 1 --ledger {location}")[1] + run(f"ledger export {location}")[1]
    # The answer itself is noise about the data; every other word must be free of the unique value.
    for answer in (record["value"], *record["public"].values(), record["interval"] or {}):
        told = told.replace(json.dumps(answer), "")
    if name not in ("maximum", "sum", "mean", "variance", "standard-deviation", "second-moment"):
        assert not [trace for trace in TRACES if trace in told]


def test_the_canary_is_nowhere(run, place):
    """Every verb, every error, the file of the ledger: no digit of a unique value."""
    lines = [
        f"{MEDIAN} --epsilon 0.5 {DATA} --yes",
        f"{MEDIAN} --epsilon 0.2 {DATA} --yes --json --by region --by-keys north,south",
        f"release trimmed-mean income --trim 0.05 --low 0 --high 100000000 --epsilon 0.5 --interval 0.95 {DATA} --yes",
        f"release count income --epsilon 0.1 --where income>50000000 {DATA} --yes",
        f"release mode region --keys north,south --epsilon 0.1 {DATA} --yes",
        f"{MEDIAN} --epsilon 50 {DATA} --yes",
        f"release median region --low 0 --high 1 --epsilon 0.1 {DATA} --yes",
        f"{MEDIAN} --epsilon 0.1 {DATA} --dry-run",
        "ledger show people.ledger",
        "ledger show people.ledger --json",
        "ledger verify people.ledger",
        "ledger export people.ledger",
        "explain 1 --ledger people.ledger",
        "explain 2 --ledger people.ledger --json",
        "explain 99 --ledger people.ledger",
        "show noise",
    ]
    told = "".join("".join(map(str, run(line))) for line in lines)
    told += (place / "people.ledger").read_bytes().decode("latin-1")
    assert "median income" in told
    assert not [trace for trace in TRACES if trace in told]


def test_a_traceback_of_the_installed_program_hides_values(place):
    """A bug after the debit, in a fresh process: the error is ours, short and without values."""
    script = (
        "import sordino.data.memory as m, sordino.cli as c\n"
        "real = m.Memory.summary\n"
        "def broken(self, *requests):\n"
        "    if self.rows:\n"
        f"        raise ValueError('the value is {CANARY}')\n"
        "    return real(self, *requests)\n"
        "m.Memory.summary = broken\n"
        f"c.main('{MEDIAN} --epsilon 0.5 {DATA} --yes --token t'.split())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=place, check=False
    )
    assert done.returncode == 1
    assert "same token" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [trace for trace in TRACES if trace in done.stderr + done.stdout]


def test_groups_with_error_bars_are_a_table(run):
    line = (
        "release trimmed-mean age --trim 0.1 --low 0 --high 120 --epsilon 2 --by region --by-keys north,south"
    )
    code, out, _ = run(f"{line} --interval 0.9 {DATA} --yes")
    assert code == 0
    assert "90 % interval" in out
    assert out.count(" to ") == 2


def test_a_text_file_with_bad_cells_is_released_and_none_of_them_is_told(run, place):
    pytest.importorskip("duckdb")
    cells = [str(300 + i % 400) for i in range(400)]
    cells[7], cells[9], cells[11], cells[13] = str(CANARY), f"oops{CANARY}", "", "NaN"
    rows = "".join(f"{i // 2},{cell},{'north' if i % 3 else 'south'}\n" for i, cell in enumerate(cells))
    (place / "people.csv").write_text("person,income,region\n" + rows)
    run("ledger create csv.ledger --epsilon 3 --reason text --unit person --max-rows 2")
    told = ""
    for more in ("", "--by region --by-keys north,south", "--where region==north", "--missing drop"):
        code, out, err = run(
            f"{MEDIAN} --epsilon 0.5 --data people.csv --ledger csv.ledger --yes --json {more}"
        )
        assert code == 0, err
        told += out + err
    told += run("ledger show csv.ledger")[1] + run("ledger export csv.ledger")[1]
    assert not [trace for trace in TRACES if trace in told]


def test_a_wrong_column_is_refused_before_the_question(run, monkeypatch):
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text: pytest.fail("it asked"))
    code, _, err = run(f"release median incme --low 0 --high 9 --epsilon 1 {DATA}")
    assert code == 2
    assert "income" in err


BATCH = ["--and", "mean age --low 0 --high 120 --step 1", "--and", "count income"]


def test_several_statistics_are_one_entry_and_share_one_pass(run, monkeypatch):
    """One price for all of them, a row each; JSON and tokens as for one."""
    from sordino.data.memory import Memory

    asked, honest = [], Memory.summary
    monkeypatch.setattr(Memory, "summary", lambda self, *some: asked.append(len(some)) or honest(self, *some))
    line = [*f"{MEDIAN} {DATA} --epsilon 1.5 --yes --token three".split(), *BATCH]
    code, out, err = run(line)
    assert code == 0
    assert [row.split()[:2] for row in out.splitlines()] == [
        ["median", "income"], ["mean", "age"], ["count", "income"],
    ]  # fmt: skip
    assert 40 < float(out.splitlines()[1].split()[2]) < 70
    assert "costs       Pure(epsilon=1.5)" in err
    assert 3 in asked
    assert spent() == Pure(1.5)
    code, out, _ = run([*line, "--json"])
    document = json.loads(out)
    assert [part["kind"] for part in document["event"]["statistic"]["parts"]] == ["median", "mean", "count"]
    assert len(document["value"]) == 3
    assert spent() == Pure(1.5)  # the token had paid
    with Ledger("people.ledger") as ledger:
        assert len(ledger.history) == 1
    assert "mean age: " in run("explain 1 --ledger people.ledger")[1]


def test_each_statistic_of_a_batch_may_have_its_own_price(run):
    """Or none has; a dry run shows the sum."""
    line = [*f"{MEDIAN} {DATA} --epsilon 1 --dry-run".split()]
    code, out, _ = run([*line, "--and", "mean age --low 0 --high 120 --epsilon 0.25"])
    assert code == 0
    assert "Pure(epsilon=1.25)" in out
    assert "quantile, " in out
    code, _, err = run([*line, "--and", "mean age --low 0 --high 120 --epsilon 0.25", "--and", "count age"])
    assert code == 2
    assert "every --and has its own" in err
    assert spent() == Pure(0)


def test_groups_of_a_batch_have_a_column_for_each_statistic(run):
    """With error bars where they were bought."""
    line = [*f"{MEDIAN} {DATA} --epsilon 1 --yes --by region --by-keys north,south,east".split(), *BATCH]
    code, out, _ = run(line)
    assert code == 0
    header, *rows = out.splitlines()
    assert header.split() == ["region", "median", "income", "mean", "age", "count", "income"]
    assert [len(row.split()) for row in rows] == [4, 4, 4]
    line = "release trimmed-mean age --trim 0.1 --low 0 --high 120 --epsilon 2 --yes --interval 0.9 " + DATA
    code, out, _ = run([*line.split(), "--and", "trimmed-mean age --trim 0.2 --low 0 --high 120"])
    assert code == 0
    assert out.count(" to ") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "--and names a statistic"),
        ("mean 'age", "--and names a statistic"),
        ("mena age --low 0 --high 1", "Hint: mean"),
        ("mean age --low 0", "--high"),
        ("mean --low 0 --high 1", "COLUMN"),
        ("mean age --low 0 --high 1 --data other.csv", "--data"),
        ("mean age --low 0 --high 1 --help", "--help"),
        ("mean nothing --low 0 --high 1", "must exist"),
    ],
)
def test_a_wrong_part_of_a_batch_is_refused_before_anything_is_spent(run, text, words):
    code, _, err = run([*f"{MEDIAN} {DATA} --epsilon 1 --yes".split(), "--and", text])
    assert code == 2
    assert words in err
    assert spent() == Pure(0)


def test_the_exit_code_that_a_verb_asks_for_is_the_programs(monkeypatch):
    """Click hands it back as a value when it does not end the program itself."""
    import click

    import sordino.cli

    @click.command()
    @click.argument("code", type=int)
    @click.pass_context
    def program(ctx, code):
        ctx.exit(code)

    monkeypatch.setattr(sordino.cli, "program", program)
    with pytest.raises(SystemExit) as stop:
        main(["7"])
    assert stop.value.code == 7
    main(["0"])


def test_a_table_with_semicolons_and_decimal_commas(run, place):
    """As spreadsheets write them in half of the world."""
    (place / "pay.csv").write_text("name;pay\n" + "".join(f'"Doe; {i}";{20 + i % 9},5\n' for i in range(500)))
    line = (
        "release median pay --low 0 --high 100 --epsilon 2 --yes --data pay.csv --ledger people.ledger --json"
    )
    code, out, _ = run(line + " --decimal ,")
    assert code == 0
    assert 22 < json.loads(out)["value"] < 27


def test_groups_of_several_columns(run, place):
    """All combinations from the command line, or some of them from a file."""
    line = f"{MEDIAN} --epsilon 0.5 --dry-run --json --by region,sex"
    found = json.loads(run(f"{line} --by-keys north,south --by-keys 1,2")[1])
    assert found["event"]["by"] == {"columns": ["region", "sex"], "levels": [["north", "south"], [1, 2]]}
    (place / "groups.csv").write_text("region,sex\nnorth,1\nsouth,2\n")
    found = json.loads(run(f"{line} --by-file groups.csv")[1])
    assert found["event"]["by"]["listed"] == [[0, 0], [1, 1]]
    for wrong in (
        "--by-keys north,south",
        "--by-file nowhere.csv",
        "--by-keys a --by-keys b --by-keys c",
        "",
    ):
        code, _, told = run(f"{line} {wrong}")
        assert code == 2
        assert "Hint" in told or "cannot be read" in told
    (place / "groups.csv").write_text("region\nnorth\n")
    assert "header" in run(f"{line} --by-file groups.csv")[2]


def test_a_token_of_another_question_is_not_said_to_cost_nothing(run, place):
    """The preview says what the token has paid for, and the release is refused."""
    run(f"release count age {DATA} --yes --token t --epsilon 0.1")
    code, _, err = run(f"release median age --low 0 --high 120 {DATA} --yes --token t --epsilon 0.1")
    assert code == 2
    assert "has paid for count age" in err
    assert "costs       nothing" not in err


def test_a_large_file_is_shown_in_hundredths_of_its_bytes(tmp_path, monkeypatch):
    """Its name and how far it is read; nothing of what it holds, and nothing where nobody looks."""
    path, shown = tmp_path / "people.csv", []
    path.write_text("age\n" + "31\n" * 300_000)

    @contextlib.contextmanager
    def bar(words, total):
        shown.append((words, total))
        yield shown.append

    monkeypatch.setattr(render, "progress", bar)
    for terminal, large in ((False, 0), (True, 1 << 26)):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr(render, "LARGE", large)
        with render.reading(str(path)):
            open_source(path)
        assert shown == []
    monkeypatch.setattr(render, "LARGE", 0)
    with render.reading(str(path)):
        open_source(path)
    (words, total), *steps = shown
    assert (words, total) == ("reading people.csv", 100)
    assert sum(steps) == 100
    assert len([step for step in steps if step]) > 1
