"""A newcomer's walk with their own file: every refusal says what to type, and nothing is spent on the way."""

from __future__ import annotations

import gzip
import re

import pytest

from sordino.cli.hints import typed
from sordino.ledger import Ledger
from sordino.privacy import Pure, Unit

FILES = {
    "plain.csv": "person,income,region\n"
    + "".join(f"p{i // 3},{20000 + i % 900},north\n" for i in range(900)),
    "semicolons.csv": "person;income\n" + "".join(f"p{i};{2000 + i % 90},50\n" for i in range(900)),
    "no header.csv": "".join(f"p{i},{2000 + i % 90},north\n" for i in range(9)),
    "dates first.csv": "2024-01-01,north\n2024-01-02,south\n",
    "quoted.csv": '"person","income"\n' + "".join(f'"p{i}","{20000 + i % 90}"\n' for i in range(900)),
    "twice.csv": "income,Income\n1,2\n",
    "empty.csv": "",
    "data.txt": "income\n1\n",
    "sheet.xlsx": "PK",
}
RELEASE = ["release", "median", "income", "--low", "0", "--high", "200000"]
PAID = ["--epsilon", "0.5", "--ledger", "people.ledger", "--yes"]


@pytest.fixture
def walk(tmp_path, monkeypatch, call):
    """Type a command in a folder with these files: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "wide.csv").write_text("person,income\na,1\n", encoding="utf-16")
    (tmp_path / "latin.csv").write_bytes("prénom,income\n".encode("latin-1"))
    (tmp_path / "old.csv").write_bytes(b"person,income\ra,1\rb,2\r")
    with gzip.open(tmp_path / "cut.csv.gz", "wt") as file:
        file.write(FILES["plain.csv"])
    (tmp_path / "cut.csv.gz").write_bytes((tmp_path / "cut.csv.gz").read_bytes()[:-200])
    Ledger.create("people.ledger", Pure(3), reason="a walk").close()
    Ledger.create("persons.ledger", Pure(3), reason="a walk", unit=Unit("person", 3)).close()
    return call


REFUSED = {
    "no bounds": (["release", "median", "income", "--data", "plain.csv"],
                  "sordino release median income --low 0 --high 500000 --epsilon 0.5 --data people.csv"),
    "no price": ([*RELEASE, "--data", "plain.csv", "--ledger", "people.ledger"], "--epsilon 1"),
    "no ledger": ([*RELEASE, "--data", "plain.csv", "--epsilon", "1"], "--ledger people.ledger"),
    "a ledger that is not there": ([*RELEASE, "--data", "plain.csv", "--epsilon", "1", "--ledger", "new.ledger"],
                                 "sordino ledger create new.ledger --epsilon 3"),
    "no reason": (["ledger", "create", "x.ledger"], "sordino ledger create people.ledger --epsilon 3"),
    "a wrong column": ([*RELEASE[:2], "incom", *RELEASE[3:], "--data", "plain.csv", *PAID], "cat plain.csv | head -n"),
    "a wrong file": ([*RELEASE, "--data", "plain.cvs", *PAID], "plain.csv"),
    "an address": ([*RELEASE, "--data", "https://host/people.csv", *PAID], "download it first"),
    "no header": ([*RELEASE, "--data", "no header.csv", *PAID], "sed -i '1i income,age,region' no header.csv"),
    "dates in the first line": ([*RELEASE, "--data", "dates first.csv", *PAID], "sed -i '1i"),
    "a name twice": ([*RELEASE, "--data", "twice.csv", *PAID], "income_before"),
    "an empty file": ([*RELEASE, "--data", "empty.csv", *PAID], "sed -i '1c"),
    "sixteen bits": ([*RELEASE, "--data", "wide.csv", *PAID], "iconv -f utf-16 -t utf-8 wide.csv"),
    "another encoding": ([*RELEASE, "--data", "latin.csv", *PAID], "iconv -f latin1 -t utf-8 latin.csv"),
    "old line ends": ([*RELEASE, "--data", "old.csv", *PAID], "tr '\\r' '\\n' < old.csv"),
    "a text file": ([*RELEASE, "--data", "data.txt", *PAID], "mv data.txt data.csv"),
    "a spreadsheet": ([*RELEASE, "--data", "sheet.xlsx", *PAID], "save a spreadsheet as CSV"),
    "keys missing": ([*RELEASE, "--data", "plain.csv", *PAID, "--by", "region"], "--by-keys north,south"),
    "one equals sign": ([*RELEASE, "--data", "plain.csv", *PAID, "--where", "region=north"],
                        "--where 'region==north'"),
    "a comma in a bound": (["release", "median", "income", "--low", "0,5", "--high", "9", *PAID], "--low 0"),
    "column before statistic": (["release", "income", "median", *PAID], "sordino show statistics"),
    "bounds in the wrong order": ([*RELEASE[:3], "--low", "9", "--high", "1", "--data", "plain.csv", *PAID],
                                  "--low 0, --high 500000"),
    "another unit than the ledger": ([*RELEASE, "--data", "plain.csv", *PAID, "--unit", "person"],
                                   "sordino ledger create other.ledger --unit person --epsilon 3"),
    "too dear": ([*RELEASE, "--data", "plain.csv", "--epsilon", "4", *PAID[2:]],
                 "sordino ledger raise people.ledger --epsilon 7 --reason"),
    "a number of people that is not known": (
        ["release", "trimmed-mean", *RELEASE[2:], "--trim", "0.05", "--data", "plain.csv", "--epsilon", "1",
         "--ledger", "persons.ledger", "--yes"], "--rows 1000, or --smoothing 0.1"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_to_type(walk, name):
    """In its hint, in options rather than in Python; and nothing is spent."""
    line, words = REFUSED[name]
    code, out, err = walk(*line)
    assert code in (2, 3, 5)
    assert out == ""
    hint = err[err.index("Hint: ") :]
    assert words in hint
    assert not re.search(r"\bsd\.|[a-z]=[\"'(\d]", hint.replace("==", " "))
    for place in ("people.ledger", "persons.ledger"):
        with Ledger(place) as ledger:
            assert ledger.spent == Pure(0)


def test_a_file_without_a_header_is_not_echoed(walk):
    """Its first line is somebody's record."""
    for file in ("no header.csv", "dates first.csv"):
        code, out, err = walk(*RELEASE, "--data", file, *PAID)
        assert code == 2
        assert not any(word in out + err for word in ("p0", "2000", "north", "2024"))


@pytest.mark.parametrize("file", ["plain.csv", "quoted.csv", "semicolons.csv"])
def test_one_command_releases_from_an_own_file(walk, file):
    """And says how numbers are read, since whether a field is one stays private."""
    options = ["--decimal", ","] if file == "semicolons.csv" else []
    code, out, err = walk(*RELEASE, "--data", file, *PAID, *options)
    assert code == 0
    assert 2000 < float(out.split()[-1].replace(",", "")) < 22000
    assert "reads       numbers like " + ("1234,5" if options else "1234.5") in err


def test_a_damaged_archive_is_refused_before_anything_is_spent(walk):
    code, _, err = walk(*RELEASE, "--data", "cut.csv.gz", *PAID)
    assert code == 2
    assert "must be readable" in err


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        ("sd.Pure(0.5)", "--epsilon 0.5"),
        ("Approx(3, 1e-6), or a Pure budget", "--epsilon 3 --delta 1e-6, or a Pure budget"),
        ('ledger="people.ledger", budget=sd.Pure(3)', "--ledger people.ledger, --epsilon 3"),
        ('release_by("region", ["north", "south"], ...)', "--by region --by-keys north,south"),
        ("leave rows out, or open with neighbors=sd.Neighbors.ADD_REMOVE_ONE",
         "leave rows out, or open with --neighbors add-remove-one"),
        ("missing=<a number> instead of missing='drop'", "--missing <a number> instead of --missing drop"),
        ('sd.open("people.parquet", ...) or sd.open({"income": values}, ...)', "--data people.parquet"),
        ("qs=(0.25, 0.5, 0.75)", "--qs 0.25,0.5,0.75"),
        ("use bounds between 1e-290 and 1e290 apart", "use bounds between 1e-290 and 1e290 apart"),
        ("sordino ledger show x=1", "sordino ledger show x=1"),
    ],
)  # fmt: skip
def test_hints_become_options(hint, words):
    assert typed(hint) == words
