"""The release file: checked strictly, planned, paid at once or not at all, and never paid twice, whatever kills it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sordino.errors import ParameterError
from sordino.ledger import Ledger
from sordino.privacy import Pure
from sordino.session.release import Release
from sordino.session.release_file import ReleaseFile

FILE = """
title = "Incomes by region"
period = "2026"
data = "people.npz"
ledger = "people.ledger"
budget = { epsilon = 3 }
price = { epsilon = 2 }
interval = 0.9
report = "report.html"

[bounds]
income = { low = 0, high = 1000 }

[[tables]]
name = "by region"
by = { region = ["north", "south"] }
weight = 3
statistics = [
    { statistic = "trimmed-mean", column = "income", trim = 0.1 },
    { statistic = "quantiles", column = "income", qs = [0.25, 0.75] },
]

[[tables]]
name = "the rich"
where = "income >= 500"
statistics = ["count income"]
"""

PLAIN = FILE.replace('report = "report.html"', "")  # pictures take longer than everything else


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    np.savez("people.npz", income=rng.uniform(50, 950, 500), region=rng.choice(["north", "south"], 500))
    Path("tables.toml").write_text(PLAIN)
    return tmp_path


@pytest.mark.thorough
def test_a_file_is_checked_without_data_and_planned_without_spending(place, call):
    Path("people.npz").rename("elsewhere.npz")
    code, out, _ = call("run", "tables.toml", "--check")
    assert code == 0
    assert "no data were touched" in out
    assert "quantiles income" in out
    assert not Path("people.ledger").exists()
    Path("elsewhere.npz").rename("people.npz")
    code, out, _ = call("run", "tables.toml", "--plan")
    assert code == 0
    assert "rms" in out
    assert "500 rows" in out
    assert not Path("people.ledger").exists()


def test_a_run_is_one_batch_that_ends_with_a_report_and_costs_once(place, call):
    Path("tables.toml").write_text(FILE)
    code, out, err = call("run", "tables.toml", "--yes")
    assert code == 0, err
    assert "the rich" in out
    assert "Incomes by region, 2026" in Path("report.html").read_text()
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(2)
        paid = ledger.releases
    again, second, err = call("run", "tables.toml", "--yes")
    assert (again, second) == (0, out)
    assert "costs       nothing" in err
    with Ledger("people.ledger") as ledger:
        assert (ledger.spent, ledger.releases) == (Pure(2), paid)


def test_another_period_is_paid_and_without_enough_left_nothing_is(place, call):
    call("run", "tables.toml", "--yes")
    Path("tables.toml").write_text(PLAIN.replace('"2026"', '"2027"'))
    code, _, _ = call("run", "tables.toml", "--yes")
    assert code == 3
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(2)
    Path("tables.toml").write_text(PLAIN.replace('"2026"', '"2027"').replace("epsilon = 2", "epsilon = 1"))
    assert call("run", "tables.toml", "--yes")[0] == 0
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(3)


def test_a_table_that_was_changed_after_it_was_published_is_refused(place, call):
    call("run", "tables.toml", "--yes")
    Path("tables.toml").write_text(PLAIN.replace("trim = 0.1", "trim = 0.2"))
    code, _, err = call("run", "tables.toml", "--yes")
    assert code == 2
    assert "another question" in err
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(2)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('period = "2026"', "", "period must be given"),
        ("title =", "tilte =", "title"),
        ("price = { epsilon = 2 }", "price = 2", "a price is"),
        ("weight = 3", "weigth = 3", "weight"),
        ("trim = 0.1", "trimm = 0.1", "has no trimm"),
        ('"trimmed-mean"', '"trimed-mean"', "no such statistic"),
        ("income = { low = 0, high = 1000 }", "", "needs more"),
        ('["north", "south"]', '["north", "north"]', "different"),
        ('name = "the rich"', 'name = "by region"', "name of its own"),
        ("[bounds]", "[bounds", "not TOML"),
        ('report = "report.html"', 'report = "people.pdf"', ".html"),
        ('"count income"', "3", "a text or a table"),
    ],
)
def test_a_slip_in_the_file_is_named_before_anything_is_touched(place, call, old, new, words):
    Path("tables.toml").write_text(FILE.replace(old, new))
    code, out, err = call("run", "tables.toml", "--yes")
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert not Path("people.ledger").exists()


def test_tokens_come_from_the_file_the_period_and_the_table(place):
    first = [job.token for job in ReleaseFile.read("tables.toml").jobs]
    assert len(set(first)) == len(first) == 2
    assert [job.token for job in ReleaseFile.read("tables.toml").jobs] == first
    Path("tables.toml").write_text(PLAIN.replace('"2026"', '"2027"'))
    assert not set(first) & {job.token for job in ReleaseFile.read("tables.toml").jobs}
    with pytest.raises(ParameterError):
        ReleaseFile.read("nowhere.toml")


KILLER = """
import os, signal, sys
import sordino.cli
from sordino.ledger import Ledger
point, left = sys.argv[1], int(sys.argv[2])
name = "spend_all" if "spend" in point else "record"
honest = getattr(Ledger, name)
def wrapped(self, *given, **named):
    global left
    if point.startswith("before") and left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    found = honest(self, *given, **named)
    if point.startswith("after") and left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return found
setattr(Ledger, name, wrapped)
sordino.cli.main(["run", "tables.toml", "--yes"])
"""


def killed(point, left):
    done = subprocess.run([sys.executable, "-c", KILLER, point, str(left)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def resumed(call, kept):
    """Go on in this process: one price, every answer, and those that were there are still the same."""
    code, _, err = call("run", "tables.toml", "--yes")
    assert code == 0, err
    with Ledger("people.ledger") as ledger:
        assert ledger.spent == Pure(2)
        assert ledger.releases == 2
        assert ledger.verify().holds
        answers = [Release.from_dict(entry.release) for entry in ledger.history]
    assert answers[: len(kept)] == kept


def stored():
    with Ledger("people.ledger") as ledger:
        return [Release.from_dict(entry.release) for entry in ledger.history if entry.release is not None]


@pytest.mark.few(1)
@pytest.mark.parametrize(("point", "left"), [("after spend", 0), ("after record", 0)])
def test_killed_between_payment_and_answers_it_goes_on_and_pays_nothing_twice(place, call, point, left):
    killed(point, left)
    kept = stored()
    assert len(kept) == (point == "after record")
    resumed(call, kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "left"),
    [
        ("before spend", 0),
        ("before record", 0),
        ("before record", 1),
        ("after record", 1),
        ("after record", 2),
    ],
)
def test_killed_at_every_other_step_too(place, call, point, left):
    killed(point, left)
    resumed(call, stored())


@pytest.mark.slow
def test_killed_at_random_instants_again_and_again(place, call):
    """Twelve kills by the clock, wherever they fall: start-up, debit, reading, drawing, writing."""
    random = np.random.default_rng(11)
    for _ in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", "import sordino.cli as c; c.main(['run', 'tables.toml', '--yes'])"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as child:
            try:
                child.wait(timeout=float(random.uniform(0.3, 2.5)))
            except subprocess.TimeoutExpired:
                os.kill(child.pid, signal.SIGKILL)
    resumed(call, stored() if Path("people.ledger").exists() else [])


def test_statistics_have_weights_of_their_own_and_the_shares_add_up(place):
    Path("tables.toml").write_text(
        PLAIN.replace('{ statistic = "trimmed-mean", column = "income", trim = 0.1 }',
                      '{ statistic = "trimmed-mean", column = "income", trim = 0.1, weight = 12 }')
    )  # fmt: skip
    jobs = ReleaseFile.read("tables.toml").jobs
    shares = {one.name: share for job in jobs for one, share in zip(job.statistics, job.shares, strict=True)}
    assert shares == {"trimmed-mean": 0.75, "quantiles": 0.1875, "count": 0.0625}
    assert sum(shares.values()) == 1
    assert {price for job in jobs for price in job.prices} == {
        Pure(2).share(share) for share in shares.values()
    }
    Path("tables.toml").write_text(PLAIN.replace("trim = 0.1 }", "trim = 0.1, weight = 0 }"))
    with pytest.raises(ParameterError, match="weight"):
        ReleaseFile.read("tables.toml")


SMALL = """
period = "2026"
data = "people.npz"
ledger = "people.ledger"
budget = { epsilon = 3 }
price = { epsilon = 2 }

[bounds]
income = { low = 0, high = 1000 }

[[tables]]
name = "by region"
by = { region = ["north", "south"] }
statistics = [{ statistic = "median", column = "income" }, { statistic = "count", column = "income", weight = 300 }]
"""


def test_a_plan_proposes_a_split_by_the_errors_that_can_be_pasted(place, call, monkeypatch):
    """A count that has nearly all of the price is told to give it away, and the pasted weights are balanced."""
    monkeypatch.setenv("COLUMNS", "80")
    Path("tables.toml").write_text(SMALL)
    _, out, _ = call("run", "tables.toml", "--plan", "--rows", "500")
    assert "A split by the errors" in out
    assert max(len(line) for line in out.splitlines() if "{ statistic" not in line) <= 80
    median, count = [line.strip() for line in out.splitlines() if line.strip().startswith("{ statistic")]
    assert "median" in median
    head, _, _ = SMALL.partition("statistics = [")
    Path("tables.toml").write_text(f"{head}statistics = [{median} {count}]\n")
    code, out, err = call("run", "tables.toml", "--plan", "--rows", "500")
    assert code == 0, err
    assert "The shares suit the errors" in out


def test_tokens_are_made_of_the_name_of_the_file_the_period_and_the_table(place):
    first = [job.token for job in ReleaseFile.read("tables.toml").jobs]
    Path("tables.toml").write_text(
        PLAIN.replace("epsilon = 2", "epsilon = 1")
    )  # the same tables, otherwise paid
    assert [job.token for job in ReleaseFile.read("tables.toml").jobs] == first
    for changed in (PLAIN.replace('"2026"', '"2027"'), PLAIN.replace('"the rich"', '"the others"')):
        Path("tables.toml").write_text(changed)
        assert [job.token for job in ReleaseFile.read("tables.toml").jobs] != first
    Path("others.toml").write_text(PLAIN)
    assert not set(first) & {job.token for job in ReleaseFile.read("others.toml").jobs}


def test_a_slip_about_the_data_leaves_no_ledger_behind(place, call):
    """Otherwise the ledger keeps the unit of the slip, and the mended file is refused."""
    Path("tables.toml").write_text(
        SMALL.replace("[bounds]", 'unit = { column = "person", max_rows = 1 }\n[bounds]')
    )
    code, _, err = call("run", "tables.toml", "--yes")
    assert code == 2
    assert "person" in err
    assert not Path("people.ledger").exists()
    Path("tables.toml").write_text(SMALL)
    code, _, err = call("run", "tables.toml", "--yes")
    assert code == 0, err
