"""The pages of an organisation in a real browser, role by role: they fit a phone, and axe finds nothing."""

import pytest

import sordino as sd
from sordino.web.accounts import Accounts
from sordino.web.signin import SignIn
from tests.support.browser import LONG, violations
from tests.support.web import organisation, running

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    office = organisation(tmp_path_factory.mktemp("service"), policy="auto-below", auto_below=sd.Pure(0.2))
    (ledger,) = office.ledgers().values()
    ledger.limit(sd.Pure(2), who_asks="ana", reason="a fair part", user="olga")
    Accounts(office.desk).make_token("ana", "laptop", ("quote", "release"))
    with running(office, SignIn(office, secure=False)) as (address, door):
        yield address, door, office


def signed_in(browser, service, name, **options):
    address, door, office = service
    context = browser.new_context(base_url=address, **options)
    context.set_default_timeout(LONG)
    context.add_cookies([{"name": door.cookie, "value": office.desk.begin(name), "url": address}])
    return context.new_page()


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
    assert "approved by olga" in (olga.goto("/ledger/survey") and olga.inner_text("table.stack"))
    ana.context.close()
    olga.context.close()


PAGES = {
    "owen": ("/people", "/requests"), "olga": ("/people", "/requests", "/ledger/survey"),
    "cora": ("/ledger/survey/releases/1",), "ana": ("/people", "/requests", "/data", "/ask"),
    "vera": ("/ask", "/reports", "/ledger/survey", "/sign-in"),
}  # fmt: skip
"""What looks different to each role."""


def test_pages_of_every_role_fit_a_phone_and_a_reader(browser, service):
    found = []
    for name, addresses in PAGES.items():
        page = signed_in(browser, service, name, viewport={"width": 360, "height": 740}, color_scheme="dark")
        for address in addresses:
            page.goto(address)
            found += [(name, address, *one) for one in violations(page)]
        page.context.close()
    assert found == []


def test_an_answer_is_published_and_a_token_is_shown_once(browser, service):
    office = service[2]
    cora, vera = (signed_in(browser, service, name) for name in ("cora", "vera"))
    cora.goto("/ask?data=households&column=income&epsilon=0.1")
    cora.click("text=Look at the cost")
    cora.click("text=Release and spend 0.1")
    cora.wait_for_url("**/releases/*")
    answer = cora.url
    assert vera.goto(answer).status == 404
    cora.click("text=Publish to viewers")
    cora.wait_for_selector("text=Published by cora")
    assert vera.goto(answer).status == 200
    cora.click("text=Take it back")
    cora.wait_for_selector("text=Publish to viewers")
    assert vera.goto(answer).status == 404
    cora.goto("/people")
    cora.fill("#token-name", "notebook")
    cora.click("text=Make it")
    shown = cora.inner_text(".note code >> nth=0")
    assert shown.startswith("sdn_")
    cora.goto("/people")
    assert shown not in cora.content()
    assert office.desk.log_holds()
    for page in (cora, vera):
        page.context.close()
