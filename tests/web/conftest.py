"""A running app and one browser for all tests that need one; without Chromium they skip and say so."""

import pytest

from sordino.web.office import Office
from tests.support.browser import LONG, chromium
from tests.support.web import running, write_households


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    program = chromium()
    with sync_playwright() as driver:
        made = driver.chromium.launch(
            executable_path=program,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield made
        made.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The app of one person, with its folder."""
    folder = tmp_path_factory.mktemp("office")
    write_households(folder)
    office = Office(folder)
    office.owner = "jane"
    with running(office) as (address, door):
        yield address, door, office


@pytest.fixture(scope="module")
def come(browser, place):
    """Makes pages of somebody who came in; everything that is asked of other hosts is written down."""
    address, door, office = place
    contexts = []

    def come(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(LONG)
        contexts.append(context)
        page = context.new_page()
        page.elsewhere, page.problems = [], []
        page.on(
            "request",
            lambda request: (
                page.elsewhere.append(request.url) if not request.url.startswith(address) else None
            ),
        )
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("console", lambda said: page.problems.append(said.text) if said.type == "error" else None)
        page.goto(address + door.link())
        page.office, page.address = office, address
        return page

    yield come
    for context in contexts:
        context.close()
