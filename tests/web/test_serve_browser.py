"""The pages of an organisation in a real browser, role by role: they fit a phone, and axe finds nothing."""

from pathlib import Path

import pytest

import sordino as sd
from sordino.web.accounts import Accounts
from sordino.web.signin import SignIn
from tests.support.web import organisation, running

AXE = (Path(__file__).parent / "axe.min.js").read_text()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    office = organisation(tmp_path_factory.mktemp("service"), policy="auto-below", auto_below=sd.Pure(0.2))
    (book,) = office.ledgers().values()
    book.limit(sd.Pure(2), who_asks="ana", reason="a fair part", user="olga")
    Accounts(office.desk).make_token("ana", "laptop", ("quote", "release"))
    with running(office, SignIn(office, secure=False)) as (address, door):
        yield address, door, office


def signed_in(browser, service, name, **options):
    address, door, office = service
    context = browser.new_context(base_url=address, **options)
    context.add_cookies([{"name": door.cookie, "value": office.desk.begin(name), "url": address}])
    return context.new_page()


def check(page):
    wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1], page.url
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == [], page.url


def test_a_request_goes_from_the_analyst_to_the_officer_and_back(browser, service):
    ana, olga = (signed_in(browser, service, name) for name in ("ana", "olga"))
    ana.goto("/ask?data=households&column=income&epsilon=0.5")
    ana.click("text=Look at the cost")
    ana.click("text=Ask for approval")
    ana.wait_for_selector("text=Waiting for an officer")
    olga.goto("/requests")
    olga.click("text=Approve and spend 0.5")
    olga.wait_for_selector("text=approved")
    ana.reload()
    ana.wait_for_url("**/releases/*")
    assert "approved by olga" in (olga.goto("/ledger/book") and olga.inner_text("table.stack"))
    ana.context.close()
    olga.context.close()


@pytest.mark.parametrize("name", ["owen", "olga", "ana", "vera"])
def test_pages_of_every_role_fit_a_phone_and_a_reader(browser, service, name):
    page = signed_in(browser, service, name, viewport={"width": 360, "height": 740}, color_scheme="dark")
    for address in ("/people", "/requests", "/data", "/ledger/book"):
        page.goto(address)
        check(page)
    page.context.clear_cookies()
    page.goto("/sign-in")
    check(page)
    page.context.close()
