"""The report: one file without network, whole and true to the ledger; looked at in a real browser if there is one."""

import html
import re
import subprocess

import numpy as np
import pytest

import sordino as sd
from sordino.labels import shown
from sordino.session.report import chosen, report
from tests.support.browser import chromium


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    rng = np.random.default_rng(2)
    data = {"income": rng.lognormal(10, 1, 2000), "region": rng.choice(["north", "south <b>"], 2000)}
    place = tmp_path_factory.mktemp("report") / "people.ledger"
    people = sd.open(data, ledger=place, budget=sd.Pure(9), reason="incomes <i>by</i> region")
    income = {"low": 0, "high": 1_000_000}
    batch = [
        sd.Median("income", **income),
        sd.Histogram("income", edges=(0, 1e4, 2e4, 4e4, 8e4, 1.6e5, 3.2e5, 1e6)),
    ]
    people.release_by("region", ["north", "south <b>"], batch, sd.Pure(2), purpose="the annual <report>")
    people.release(sd.Quantile("income", q=0.25, **income), sd.Pure(1), interval=0.9)
    people.release(sd.Mean("income", low=0, high=1e8), sd.Pure(1))
    return people


def words(page):
    """What a reader sees, with tags as spaces."""
    return html.unescape(re.sub(r"<[^>]+>", " ", page.partition("</style>")[2]))


@pytest.fixture(scope="module")
def page(people):
    return report(people.ledger, title="Incomes & regions")


def test_every_answer_and_the_whole_account_are_on_the_page(people, page):
    said = words(page)
    for release in people.history:
        for row in release.table:
            assert shown(row.value) in said
            assert row.interval in said
    verdict = people.ledger.verify()
    for fact in (
        "Incomes & regions", "incomes <i>by</i> region", "one row", "replace-one", repr(people.ledger.budget),
        repr(people.ledger.spent), repr(people.remaining), f"{verdict.rows}:{verdict.head}", "the annual <report>",
        "0 to 100,000,000", "docs/proofs/", "chain", "amounts add up", people.ledger.history[0].who["user"],
    ):  # fmt: skip
        assert fact in said, fact


def test_the_page_needs_no_network_and_runs_no_script(page):
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", page)
    assert "url(" not in page.replace("url(#", "").lower()
    assert "@import" not in page
    assert "<script" not in page


def test_what_people_wrote_is_text_and_not_markup(page):
    assert "<i>by</i>" not in page
    assert "<report>" not in page
    assert "south <b>" not in page


def test_some_releases_are_shown_and_the_account_stays_whole(people):
    said = words(report(people.ledger, releases="2", pictures=False))
    assert "2. quantile income (q 0.25)" in said
    assert "1. median income" not in said
    assert repr(people.ledger.spent) in said
    for wrong in ("0", "9", "a", "", "-", "3-1"):
        with pytest.raises(sd.ParameterError):
            chosen(wrong, 3)


def test_a_session_writes_its_report(people, tmp_path):
    assert "Results" in people.report(tmp_path / "report.html", releases="3").read_text()


def look(page, tmp_path, *options):
    """Open the page in Chromium and measure it."""
    measured = page.replace(
        "</body>",
        "<script>document.title = [innerWidth, document.documentElement.scrollWidth, "
        "document.querySelectorAll('svg').length].join(' ')</script></body>",
    )
    file = tmp_path / "page.html"
    file.write_text(measured, encoding="utf-8")
    base = [
        chromium(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    done = subprocess.run([*base, *options, file.as_uri()], capture_output=True, timeout=120, check=False)
    return done.stdout.decode()


@pytest.mark.few(1)
@pytest.mark.timeout(180)
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_runs_over_the_edge_of_a_screen(page, tmp_path, width):
    dom = look(page, tmp_path, f"--window-size={width},900", "--dump-dom")
    inner, scrolled, pictures = map(int, re.search(r"<title>(\d+) (\d+) (\d+)</title>", dom).groups())
    assert scrolled <= inner <= 1280
    assert pictures >= 2


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_page_prints(page, tmp_path):
    printed = tmp_path / "page.pdf"
    look(page, tmp_path, f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    assert printed.read_bytes().startswith(b"%PDF")
    assert printed.stat().st_size > 20_000
