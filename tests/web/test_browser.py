"""The pages in a real browser: a newcomer's walk, the keyboard, no script, two tabs, the back button."""

import re
from pathlib import Path

import pytest

from tests.support.browser import AXE, LONG, violations

pytestmark = pytest.mark.thorough

PAGES = (
    "/plan", "/plan/budget", "/data", "/ask?data=households", "/ledger/households", "/ledger/households/releases/1",
    "/reports",
    "/explain", "/audit", "/geo", "/smoothed", "/glossary", "/verifier", "/nothing",
)  # fmt: skip
STATES = (
    "/plan?statistic=median&column=income&low=5&high=1&epsilon=0.5", "/ledger/households?verify=1",
    "/ledger/households?known=nonsense", "/audit?kind=proof&family=student-t",
    "/smoothed?counts=a+1%0Ab+2&published=50%25",
)  # fmt: skip
"""Pages after something was asked of them."""
MOST = 12
"""What a newcomer does between the first page and an answer by region."""


def walk(page):
    """From the first page to a median by region of one's own file; returns how often something was done."""
    steps = 0

    def do(what, *given):
        nonlocal steps
        steps += 1
        what(*given)

    do(page.click, "nav >> text=Data")
    do(page.click, "a:has-text('Describe')")
    do(page.check, "input[value=rows]")
    do(page.fill, "#budget_epsilon", "30")
    do(page.fill, "[name='low:income']", "0")
    do(page.fill, "[name='high:income']", "200000")
    do(page.fill, "[name='keys:region']", "north, south")
    do(page.click, "text=Save and ask")
    page.wait_for_selector("#by")
    assert page.input_value("#column") == "income"  # the only column whose bounds are described
    do(page.select_option, "#by", "region")
    page.wait_for_url("**by=region**")
    do(page.fill, "#epsilon", "0.5")
    do(page.press, "#epsilon", "Enter")
    do(page.click, "text=Release and spend 0.5")
    page.wait_for_url("**/releases/*")
    return steps


@pytest.fixture(scope="module")
def newcomer(come):
    """Somebody who has walked through the page once; and how often they did something."""
    page = come()
    page.steps = walk(page)
    page.goto(f"{page.address}/reports/households/boss")  # before others release more
    page.printed = [page.pdf(format=paper) for paper in ("A4", "Letter")]
    return page


@pytest.fixture
def released(newcomer, come):
    """A page of its own, in an app in which something was released."""
    page = come()
    yield page
    page.context.close()


def test_a_newcomer_publishes_a_median_by_region_and_saves_a_report(newcomer):
    page = newcomer
    assert page.steps <= MOST
    page.goto(f"{page.address}/ledger/households/releases/1")
    assert page.locator("table.answers tbody tr").count() == 2
    with page.expect_download() as saved:
        page.click("a[href*='save=1']")
    assert "<h1>" in Path(saved.value.path()).read_text()
    assert page.elsewhere == []
    assert page.problems == []


def test_the_report_for_the_boss_prints_on_two_pages_and_hides_what_cannot_be_printed(newcomer):
    page = newcomer
    for printed in page.printed:
        assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 2
    page.goto(f"{page.address}/ledger/households/releases/1")
    page.emulate_media(media="print")
    assert not page.is_visible("nav")
    assert page.is_visible("table.answers")
    page.emulate_media(media="screen")


def test_a_plan_gives_its_first_figure_then_its_table_and_the_slider_moves_the_mark(released):
    page = released
    page.goto(f"{page.address}/plan")
    page.wait_for_selector(".big strong", timeout=LONG)
    page.wait_for_selector("table.ranked", timeout=LONG)
    page.wait_for_selector("svg[data-points]", timeout=LONG)
    before = page.get_attribute(".wide .here", "cx")
    page.eval_on_selector(
        "[data-slider]", "each => { each.value = 0.5; each.dispatchEvent(new Event('input')) }"
    )
    assert page.get_attribute(".wide .here", "cx") != before
    assert page.input_value("#epsilon") == "3.2"
    assert "about" in page.inner_text(".big strong")
    assert page.problems == []


def test_a_budget_is_shared_among_several_questions(released):
    page = released
    page.goto(f"{page.address}/plan/budget?epsilon=1&rows=500&statistic1=count&column1=age&statistic2=mean&column2=age"
              "&low2=0&high2=120")  # fmt: skip
    page.wait_for_selector("#result tbody tr")
    assert page.locator("#result tbody tr").count() == 2
    assert "people.release(sd.Mean" in page.text_content("#result pre")
    page.fill("#high2", "-1")
    page.wait_for_selector("#result .trouble")
    assert page.problems == [] or all("status of 4" in said for said in page.problems)


def test_the_back_button_a_reload_and_two_tabs_pay_nothing_again(released):
    page, office = released, released.office
    (ledger,) = office.ledgers().values()
    page.goto(f"{page.address}/ask?data=households&column=income&epsilon=0.25")
    page.click("text=Look at the cost")
    page.wait_for_selector("text=Release and spend 0.25")
    draft, before = page.url, ledger.releases
    other = page.context.new_page()
    other.goto(draft)
    page.dblclick("text=Release and spend 0.25")
    page.wait_for_url("**/releases/*")
    answer = page.url
    page.go_back()
    page.reload()
    page.wait_for_url("**/releases/*")
    assert page.url == answer
    assert ledger.releases == before + 1
    other.click("text=Release and spend 0.25")
    other.wait_for_url("**/releases/*")
    assert other.url == answer
    assert ledger.releases == before + 1


def test_a_question_by_keyboard_alone(released):
    page = released
    page.goto(f"{page.address}/ask?data=households&column=income")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "epsilon":
            break
    page.keyboard.type("0.1")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Release and spend 0.1")
    for _ in range(40):
        page.keyboard.press("Tab")
        if "spend" in page.evaluate("document.activeElement.className"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/releases/*")


def test_everything_works_without_javascript(newcomer, come):
    page = come(java_script_enabled=False)
    page.goto(f"{page.address}/ask?data=households&statistic=count")
    page.select_option("#column", "age")
    page.fill("#epsilon", "0.1")
    page.click("text=Look at the cost")
    page.click("text=Release and spend 0.1")
    while "/releases/" not in page.url:  # without scripts a page that is not ready is loaded again by hand
        page.reload()
    page.wait_for_load_state("load")  # the address is there before the page is
    page.wait_for_selector(".answer .big, .answer table", timeout=LONG)
    address = f"{page.address}/plan?statistic=mean&column=age&low=0&high=120&epsilon=1&rows=1000"
    page.goto(address)
    while not page.locator(".big strong").count():
        page.goto(address)
    page.context.close()


VIEWS = ((360, "light"), (1280, "dark"))


@pytest.mark.parametrize("turn", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_pages_and_states_fit_a_phone_and_a_reader(released, turn):
    """No page scrolls sideways at 360 pixels, and axe finds nothing: narrow and light, wide and dark, in turns."""
    page, found = released, []
    page.add_init_script(AXE)
    for place, address in enumerate((*PAGES, *STATES)):
        width, scheme = VIEWS[(place + turn) % 2]
        page.set_viewport_size({"width": width, "height": 740})
        page.emulate_media(color_scheme=scheme)
        page.goto(page.address + address)
        page.wait_for_selector("[data-poll]", state="detached")  # as it is when all is worked out
        found += [(address, width, *one) for one in violations(page)]
    assert found == []
    assert page.elsewhere == []
    # The policy refuses nothing that the pages ask for; what is absent or wrong says so by its status.
    assert [said for said in page.problems if "status of 4" not in said] == []


def test_the_browser_verifies_an_export_and_finds_a_changed_digit(released, tmp_path):
    page = released
    text = page.request.get(f"{page.address}/ledger/households/export.json").text()
    page.goto(f"{page.address}/verifier")

    def verdict(document):
        file = tmp_path / "export.json"
        file.write_text(document)
        page.evaluate("document.getElementById('verdict').textContent = 'Checking'")
        page.set_input_files("#export", [])
        page.set_input_files("#export", str(file))
        page.locator("#verdict", has_not_text="Checking").wait_for()
        return page.inner_text("#verdict")

    assert verdict(text).startswith("Holds")
    places = [place for place, sign in enumerate(text) if sign.isdigit() and place > text.index('"rows"')]
    for place in places[:: max(1, len(places) // 12)]:
        other = str((int(text[place]) + 1) % 10)
        assert verdict(text[:place] + other + text[place + 1 :]).startswith("Damaged"), text[
            place - 30 : place + 5
        ]


def test_no_page_can_be_framed(released, browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_content(f'<iframe src="{released.address}/plan" width="400" height="300"></iframe>')
    page.wait_for_load_state("networkidle")
    assert all("Sordino" not in frame.content() for frame in page.frames[1:])
    context.close()
