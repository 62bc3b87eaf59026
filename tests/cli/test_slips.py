"""A newcomer's slips, at the command line and in Python: each is refused in our words, with something to type.

No traceback, no password, no value, no exit code but the right one, and nothing is spent.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys

import click
import numpy as np
import pytest

import sordino as sd
from sordino.address import pasted
from sordino.cli import EXIT_BUG, exit_code, program
from sordino.cli.hints import spoken
from sordino.errors import LedgerDamaged, LedgerError, MissingExtra, Unanswered, without_secrets
from sordino.ledger import Ledger

CANARY = "7391462853"
SECRET = "hunter2"
LONG = "a" * 5000
ASK = "release median income --low 0 --high 1000 --epsilon 0.1 --data people.csv --ledger people.ledger --yes"
COUNT = "release count x --epsilon 0.1 --ledger people.ledger --yes --data"
DRY = "release median income --epsilon 0.1 --dry-run"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a table, a ledger and things that are neither."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"p{i},{i * 10},north\n" for i in range(60))
    (tmp_path / "people.csv").write_text(f"person,income,region\n{rows}p99,{CANARY},{CANARY}\n")
    (tmp_path / "bytes.json").write_bytes(bytes(range(256)))
    (tmp_path / "part.json").write_text('{"value": 1}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    Ledger.create("people.ledger", sd.Pure(3), reason="slips").close()
    Ledger.create("a file.ledger", sd.Pure(0.2), reason="slips").close()
    return tmp_path


def said_well(text):
    """Three lines at most: what must hold; why; a hint."""
    lines = text.strip("\n").split("\n")
    assert 2 <= len(lines) <= 3, text
    assert re.match(r"\S.*: .*\.$", lines[0]), text
    assert all(line.startswith("    ") for line in lines[1:]), text
    assert lines[-1].startswith("    Hint: "), text
    silent(text)


def silent(text):
    assert "Traceback" not in text
    assert CANARY not in text
    assert SECRET not in text
    assert "bug of ours" not in text


TYPED = {
    "a bound beyond all numbers": (f"{DRY} --low 0 --high 1e400", 2, "--high 500000"),
    "a bound of a billion digits": (f"{DRY} --low 0 --high 1e999999999", 2, "--high 500000"),
    "a bound of thousands of digits": (f"{DRY} --low 0 --high {'9' * 5000}", 2, "--high 500000"),
    "a step beyond all numbers": (f"{DRY} --low 0 --high 9 --step 1e400", 2, "--step 1"),
    "a price beyond all numbers": ("release count x --dry-run --epsilon 1e400", 2, "--epsilon 0.5"),
    "a division by nothing": (f"{DRY} --low 1/0 --high 9", 2, "--low 0"),
    "no rows of each person": (f"{ASK} --max-rows 0", 2, "max_rows"),
    "no rows of each person, dry": (f"{DRY} --low 0 --high 1 --max-rows 0", 2, "max_rows"),
    "numbers of no column": (f"{ASK} --numbers nope", 2, "head -n 1"),
    "a list with commas": (f"{ASK} --where 'income in 1,2'", 2, "--where 'income in 1|2'"),
    "a list in brackets": (f"{ASK} --where 'region in (north, south)'", 2, "--where 'region in north|south'"),
    "no value": (f"{ASK} --where 'income=='", 2, "--where 'income==18'"),
    "no column": (f"{ASK} --where '>5'", 2, "--where 'age>5'"),
    "three signs": (f"{ASK} --where 'income===5'", 2, "--where 'income==5'"),
    "an arrow": (f"{ASK} --where 'income=>5'", 2, "--where 'income>5'"),
    "a value beyond all numbers": (f"{ASK} --where 'income<{'9' * 390}'", 2, "age"),
    "rows beyond all tables": (f"{ASK} --rows 1{'0' * 21} --neighbors add-remove-one", 2, "--rows 1000"),
    "a plan beyond all tables": (f"plan median --low 0 --high 1 --epsilon 1 --rows 1{'0' * 21}", 2, "--rows 100000000"),
    "a digit that is none": ("explain ² --ledger people.ledger", 2, "sordino explain 1"),
    "a release of no ledger": (f"explain {'9' * 30} --ledger people.ledger", 2, "sordino ledger show people.ledger"),
    "bytes": ("explain bytes.json", 2, "sordino explain 1 --ledger bytes.json"),
    "half a release": ("explain part.json", 2, "sordino explain"),
    "brackets": ("explain deep.json", 2, "sordino explain"),
    "a file of a long name": (f"explain {LONG}", 2, "release.json"),
    "a ledger of a long name": (f"ledger show {LONG}", 2, "people.ledger"),
    "data of a long name": (f"{COUNT} {LONG}", 2, "people.csv"),
    "half an address of a ledger": ("ledger show postgres://[::1", 2, "postgresql://user@host"),
    "half an address of data": (
        f"{COUNT} postgres://[::1", 2, "postgresql://user@host"),
    "a port that is none": ("ledger show postgresql://me@host:port/db", 2, "postgresql://user@host/database"),
    "another database": (f"ledger show mysql://me:{SECRET}@host/db", 2, "people.ledger"),
    "an address in capitals": (f"ledger show Postgresql://me:{SECRET}@localhost:1/db", 2, "token"),
    "an address of data in capitals": (
        f"{COUNT} Postgresql://me:{SECRET}@localhost:1/db?table=x",
        2, "postgresql://user@host/database?table=people"),
    "an address without a table": (
        f"{COUNT} POSTGRES://me:{SECRET}@h/db", 2, "?table="),
    "a web address": (
        f"{COUNT} http://me:{SECRET}@h/x.csv", 2, "download"),
    "an export into no folder": ("ledger export people.ledger nowhere/x.json", 2, "a folder that exists"),
    "an export onto the ledger": ("ledger export people.ledger people.ledger", 2, "people.ledger.json"),
    "tables beyond all time": (
        f"plan median --low 0 --high 9 --epsilon 1 --rows 30 --tables 1{'0' * 30}", 2, "--tables 100"),
    "a ledger that is there": ("ledger create people.ledger --epsilon 1 --reason x", 2, "ledger raise people.ledger"),
    "a ledger that is not there": ("ledger show 'my ledger'", 2, "sordino ledger create 'my ledger'"),
    "a file that is not a ledger": ("ledger show people.csv", 5, "backup"),
}  # fmt: skip


@pytest.mark.few(20)
@pytest.mark.parametrize("name", TYPED)
def test_a_slip_at_the_command_line(name, place, call):
    line, code, words = TYPED[name]
    found, out, err = call(*shlex.split(line))
    assert found == code, err
    silent(out)
    said_well(
        "\n".join(line for line in err.split("\n") if not line.startswith("  ") or line.startswith("    "))
    )
    assert words in err
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == sd.Pure(0)


def test_a_hint_can_be_pasted(place, call):
    """With the ledger's name as one word, whatever it is called."""
    ask = [
        "release",
        "count",
        "income",
        "--epsilon",
        "1",
        "--data",
        "people.csv",
        "--ledger",
        "a file.ledger",
        "--yes",
    ]
    code, _, err = call(*ask)
    assert code == 3
    line = shlex.split(re.search(r"sordino (ledger raise .*)", err)[1])
    assert line[2] == "a file.ledger"
    assert call(*line)[0] == 0
    code, _, err = call(*ask)
    assert code == 0
    assert call(*shlex.split(err.split("next: sordino ")[1]))[0] == 0


def test_next_lines_keep_the_user_and_lose_the_password():
    """And the options that find the server."""
    ledger = Ledger(f"Postgres://me:{SECRET}@host:5433/db?ledger=people&sslmode=require&password={SECRET}")
    assert ledger.name == "postgresql://me@host:5433/db?sslmode=require&ledger=people"
    assert shlex.split(pasted(ledger.name)) == [ledger.name]
    assert Ledger("postgresql:///db?host=/tmp/x&ledger=y").name == "postgresql:///db?host=/tmp/x&ledger=y"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@host/db", f"Postgresql:/me:{SECRET}@host", f"postgres://me:a@{SECRET}@host",
        f"postgresql://host/db?user=me&password={SECRET}", f"postgresql://:{SECRET}@host", f"pg+ssl://a:{SECRET}/b@host",
    ],
)  # fmt: skip
def test_no_message_holds_a_password(address):
    """Whatever part of it an address is in, however it is spelt, and in what is attached to the error."""
    long = address.replace(SECRET, SECRET + " with a blank")
    for given in (address, long):
        error = sd.ParameterError("open", "no such thing", got={"path": given})
        assert SECRET not in str(error) + spoken(error)
    error = sd.ParameterError(
        f"ledger {address}", f"no {address}", why=address, hint=f"sordino ledger show {address}"
    )
    assert SECRET not in str(error) + repr(vars(error)) + spoken(error)
    assert "host" in str(error)
    assert SECRET not in without_secrets(f"got unexpected extra argument ({address})")


def test_a_usage_error_of_the_parser_holds_no_password(place, call):
    code, _, err = call("ledger", "show", "people.ledger", f"postgresql://me:{SECRET}@host/db")
    assert code == 2
    silent(err)
    assert "me@host" in err


def test_control_characters_are_shown_escaped(place, call):
    reason = "a\x1b[2J\r\nb"
    Ledger.create("other.ledger", sd.Pure(1), reason=reason).close()
    for words in ("ledger show other.ledger", "ledger verify other.ledger"):
        _, out, err = call(*words.split())
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", out + err)
    _, _, err = call("ledger", "show", "no\x1b[2Jbook")
    assert "\x1b" not in err


def test_arguments_that_are_no_text(place):
    """As the operating system hands them over."""
    done = subprocess.run(
        [sys.executable, "-m", "sordino.cli", "ledger", "show", b"\xff\xfe"],
        capture_output=True, check=False, env=dict(os.environ), cwd=place,
    )  # fmt: skip
    assert done.returncode == 2
    said_well(done.stderr.decode())


def test_a_bug_of_ours_tells_where_and_not_what(place, call, monkeypatch):
    """Nothing of its words: they may hold what was read."""

    def broken(*_, **__):
        raise ZeroDivisionError(CANARY)

    monkeypatch.setattr("sordino.ledger.Ledger.verify", broken)
    code, out, err = call("ledger", "verify", "people.ledger")
    assert code == EXIT_BUG
    assert CANARY not in out + err
    assert "ZeroDivisionError" in err
    assert "cli/ledger.py:" in err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MissingExtra.named("open", "duckdb", "duckdb"), 2), (LedgerError("ledger", "there is a ledger already"), 2),
        (LedgerDamaged("ledger", "the ledger is damaged"), 5), (Unanswered("release", "no answer"), 1),
        (sd.BudgetExceeded("ledger", "not enough"), 3), (sd.DataError("open", "no"), 2), (sd.Unsupported("x", "no"), 2),
    ],
)  # fmt: skip
def test_exit_codes(error, code):
    """Five is for damage alone; a missing extra is the user's to install, and says how."""
    assert exit_code(error) == code
    if isinstance(error, MissingExtra):
        assert "pip install 'sordino[duckdb]'" in spoken(error)


X = [31, 45, 28, 60]
PEOPLE = {"age": np.array(X), "region": np.array(["n", "s", "n", "s"])}
MEDIAN = sd.Median("age", low=0, high=120, step=1)


def people(**options):
    return sd.open(PEOPLE, **{"budget": sd.Pure(3), **options})


PASTED = {
    "no bounds": (lambda: sd.Median("age"), "low and high must be given"),
    "one bound": (lambda: sd.Mean("age", low=0), "high must be given"),
    "no column": (sd.Count, "column must be given"),
    "bounds by place": (lambda: sd.Median("age", 0, 120), "low and high must be given"),
    "a misspelt bound": (lambda: sd.Median("age", lo=0, high=120), "has no option 'lo'"),
    "no keys": (lambda: sd.Categories("region"), "keys must be given"),
    "no amount": (sd.Pure, "epsilon must be given"),
    "no delta": (lambda: sd.Approx(1), "delta must be given"),
    "one line without bounds": (lambda: sd.median(X, price=sd.Pure(1)), "bounds must be given"),
    "one line without a price": (lambda: sd.mean(X, low=0, high=9), "one price must be given"),
    "one line with nothing": (sd.trimmed_mean, "x and trim must be given"),
    "one line, bounds by place": (lambda: sd.var(X, 0, 9, sd.Pure(1)), "takes 1 argument by place, the others by name"),
    "a release without a price": (lambda: people().release(MEDIAN), "price must be given"),
    "groups without a price": (lambda: people().release_by("region", ["n"], MEDIAN), "price must be given"),
    "a quote without a price": (lambda: people().quote(MEDIAN), "price must be given"),
    "a plan without a price": (lambda: sd.plan(MEDIAN), "price must be given"),
    "a split without a budget": (lambda: sd.plan_budget([MEDIAN]), "budget must be given"),
    "a smoothing by place": (lambda: sd.Laplace.calibrate(sd.Pure(1), 0.1), "takes 1 argument by place"),
    "a calibration to an epsilon": (lambda: sd.Laplace.calibrate(epsilon=1), "has no option 'epsilon'"),
    "noise that nobody pays": (
        lambda: sd.Laplace.calibrate(sd.Pure(1), smoothing=0).release(4.5, 1), "grid and session must be given"),
    "half a check of a bound": (lambda: sd.check_bound(len), "bound and domain must be given"),
    "a number as a price": (lambda: people().release(MEDIAN, 0.5), "the second argument is a price"),
    "a name as a statistic": (lambda: people().release("median", sd.Pure(1)), "the first argument is a statistic"),
    "no data": (sd.open, "data must be given"),
    "a misspelt budget": (lambda: sd.open(PEOPLE, bugdet=sd.Pure(1)), "has no option 'bugdet'"),
    "a number as a budget": (lambda: sd.open(PEOPLE, budget=1), "budget must be a guarantee"),
    "a name as a unit": (lambda: people(unit="age"), "a unit has a column and a number of rows"),
    "a name as a unit of a ledger": (
        lambda: Ledger.create(None, sd.Pure(1), reason="x", unit="age"), "a unit has a column and a number of rows"),
    "neighbours of no name": (lambda: people(neighbors="add"), "neighbors must be one of replace-one"),
    "a name as a mechanism": (
        lambda: people().release(MEDIAN, sd.Pure(1), mechanism="polyplace"), "a mechanism, not its name"),
    "a ledger that is a number": (lambda: people(ledger=5), "a place is a file"),
    "a ledger of a long name": (lambda: people(ledger=LONG), "no file can have this name"),
    "a file of a long name": (lambda: sd.open(LONG, budget=sd.Pure(1)), "no file can have this name"),
    "a file with a zero byte": (lambda: sd.open("a\0b.csv", budget=sd.Pure(1)), "no file can have this name"),
    "half an address": (lambda: sd.open("postgres://[::1", budget=sd.Pure(1)), "the address cannot be read"),
    "a huge price": (lambda: sd.Pure(10**400), "of ordinary size"),
    "a price of thousands of digits": (lambda: sd.Pure(10**5000), "of ordinary size"),
    "a huge bound": (lambda: sd.Median("age", low=0, high=10**400), "of ordinary size"),
    "a huge step": (lambda: sd.Median("age", low=0, high=9, step=10**400), "of ordinary size"),
    "an infinite bound": (lambda: sd.Mean("age", low=0, high=float("inf")), "a finite number"),
    "a text as a bound": (lambda: sd.Mean("age", low="0", high=9), "low must be a number"),
    "rows beyond all tables": (lambda: people(rows=10**21, neighbors="add-remove-one"), "rows must be at most 1e15"),
    "a plan beyond all tables": (lambda: sd.plan(MEDIAN, sd.Pure(1), rows=10**21), "at most 100,000,000 rows"),
    "a unit of no rows": (lambda: sd.Unit("age", max_rows=0), "at least 1"),
    "a unit of all rows": (lambda: sd.Unit("age", max_rows=10**30), "at most 1e9"),
    "numbers of no column": (lambda: people(numbers=["nope"]), "the column must exist"),
    "three arguments to where": (lambda: people().where("age", ">", 5), "a condition compares"),
    "two parts of a condition": (lambda: people().where(("age", ">")), "a column, a comparison and a value"),
    "a condition on an object": (lambda: people().where(("age", ">", object())), "a text or a finite number"),
    "an infinite condition": (lambda: people().where(("age", ">", 10**400)), "a text or a finite number"),
    "a zero byte in a condition": (lambda: people().where(("region", "==", "n\0")), "without zero bytes"),
    "half a character in a key": (
        lambda: people().release_by("region", ["n", "\ud800"], sd.Count("age"), sd.Pure(1)), "without zero bytes"),
    "a tiny price": (lambda: people().quote(MEDIAN, sd.Pure(1e-320)), "cannot be answered"),
}  # fmt: skip


@pytest.mark.parametrize("name", PASTED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_slip_in_python(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work, words = PASTED[name]
    with pytest.raises(sd.SordinoError) as refusal:
        work()
    said_well(str(refusal.value))
    assert words in str(refusal.value)
    assert not isinstance(refusal.value.__context__, TypeError)
    assert not list(tmp_path.iterdir())


def test_every_statistic_and_price_explains_an_empty_call():
    from sordino.catalogue import statistics
    from sordino.privacy.kinds import KINDS

    for kind in (*statistics().values(), *KINDS):
        with pytest.raises(sd.ParameterError, match="must be given"):
            kind()


def test_a_type_error_inside_stays_what_it_is():
    """Only a call that does not fit is ours to explain."""

    class Odd:
        def __index__(self):
            raise TypeError("inside")

    with pytest.raises(TypeError, match="inside"):
        sd.Median("age", low=0, high=9, bits=Odd())


def test_texts_say_what_objects_say():
    """Relations by name, conditions as the command line reads them."""
    session = people(neighbors="add-remove-one")
    assert session.neighbors is sd.Neighbors.ADD_REMOVE_ONE
    assert (
        sd.Median("age", low=0, high=9, neighbors="add-remove-one").neighbors is sd.Neighbors.ADD_REMOVE_ONE
    )
    for text, said in {
        "age > 5": ("age", ">", 5), "age>=-1.5e1": ("age", ">=", -15.0), "region == north": ("region", "==", "north"),
        "region in n|s": ("region", "in", ("n", "s")), "zip == '01234'": ("zip", "==", "01234"),
        'a b != "x, y"': ("a b", "!=", "x, y"), "region in 'a, b'|c": ("region", "in", ("a, b", "c")),
        "age in 1|2": ("age", "in", (1, 2)), "in == 5": ("in", "==", 5), "name == in": ("name", "==", "in"),
    }.items():  # fmt: skip
        assert sd.Condition.of(text) == sd.Condition(*said)
    few = people(budget=sd.Pure(200)).where("age > 40", "region == s").release(sd.Count("age"), sd.Pure(100))
    assert round(float(few)) == 2


HOSTILE = (
    "", " ", "-1", "0", "1e400", "1e-320", "nan", "-inf", "1/0", "²", "9" * 5000, "1e999999999", "x" * 5000, "a\tb",
    "people.csv", "people.ledger", ".", "nowhere/x.json", "x.nope", "bytes.json", "deep.json", "postgres://[::1",
    f"Postgresql://me:{SECRET}@localhost:1/db?table=x", "income", "north,south", "a=b", "a==", "a in 1,2", ",", "--",
    "'", "\x1b[2J", "log-normal:median=x", "0-1,a-b", "🙂", "\udcff",
)  # fmt: skip
GIVEN = {
    "low": "0", "high": "1000", "epsilon": "0.1", "data": "people.csv", "location": "people.ledger", "column": "income",
    "q": "0.5", "qs": "0.25,0.5", "trim": "0.1", "threshold": "5", "edges": "0,1,2", "keys": "a,b", "reason": "x",
    "vertices": "5", "yes": None,
}  # fmt: skip


def commands(command, path=(), parent=None):
    """Every command of the program, with its words."""
    context = click.Context(command, info_name=path[-1] if path else "sordino", parent=parent)
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), (*path, name), context)


def hostile_lines(count):
    """Lines that are right but for one or two options."""
    draw = random.Random(14)
    known = [
        (path, c) for path, c in commands(program) if path[0] in ("release", "explain", "ledger", "show")
    ]
    for _ in range(count):
        path, command = draw.choice(known)
        options = [option for option in command.params if option.name != "help"]
        wrong = draw.sample(options, min(len(options), draw.choice((1, 1, 2))))
        words = list(path)
        for option in options:
            value = draw.choice(HOSTILE) if option in wrong else GIVEN.get(option.name, "1")
            if isinstance(option, click.Argument):
                words.append(value)
            elif option in wrong or option.required or option.name in GIVEN:
                words += [option.opts[0]] if option.is_flag else [option.opts[0], value]
        yield words


def test_no_line_of_nonsense_ends_in_a_traceback(place, call):
    """Every exit is one of the documented ones, and says what was wrong."""
    ledger = (place / "people.ledger").read_bytes()
    for words in hostile_lines(60):
        (place / "people.ledger").write_bytes(ledger)
        code, out, err = call(*words)
        assert code in (0, 2, 3, 5), (words, err)
        assert code == 0 or err, words
        assert "bug of ours" not in err, words
        assert SECRET not in out + err, words
        assert "\x1b[2J" not in out + err, words
        if code == 5:
            assert "damaged" in err or "older copy" in err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("audit count --epsilon 1", "Stopped."),
        ("check count", "Stopped."),
        ("plan count --epsilon 1 --rows 100", "Stopped."),
        ("release count x --epsilon 1", "Stopped. Whether it was paid says: sordino ledger show"),
    ],
)
def test_a_verb_that_is_stopped_says_no_more_than_it_knows(line, said, call, monkeypatch):
    def stopped(*_given, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr("sordino.catalogue.statistic", stopped)
    monkeypatch.setattr("sordino.catalogue.mechanisms", stopped)
    code, out, err = call(*line.split())
    assert code == 130
    assert out == ""
    assert err.strip() == said
