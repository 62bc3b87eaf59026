"""The pages in a real browser: a newcomer's walk, the keyboard, no script, two tabs, the back button."""

from pathlib import Path

import pytest

AXE = (Path(__file__).parent / "axe.min.js").read_text()
PAGES = (
    "/plan", "/data", "/ask?data=households", "/ledger/households", "/ledger/households/releases/1", "/reports",
    "/explain", "/audit", "/geo", "/smoothed", "/glossary", "/verifier",
)  # fmt: skip


def walk(page):
    """From the first page to a median by region of one's own file; returns how many times something was pressed."""
    steps = 0

    def did(result=None):
        nonlocal steps
        steps += 1
        return result

    page.click("nav >> text=Data")
    did()
    page.click("a:has-text('Describe'), a:has-text('Change its description')")
    did()
    page.check("input[value=rows]")
    did()
    if page.locator("#ledger").count() == 0:
        page.fill("#budget_epsilon", "30")
        did()
    page.fill("[name='low:income']", "0")
    page.fill("[name='high:income']", "200000")
    did()
    did()
    page.fill("[name='keys:region']", "north, south")
    did()
    page.click("text=Save and ask")
    did()
    page.select_option("#column", "income")
    did()
    page.wait_for_url("**column=income**")
    page.select_option("#by", "region")
    did()
    page.wait_for_url("**by=region**")
    page.fill("#epsilon", "0.5")
    did()
    page.press("#epsilon", "Enter")
    did()
    page.click("text=Release and spend 0.5")
    page.wait_for_url("**/releases/*")
    did()
    return steps


@pytest.fixture
def released(came_in):
    """A page of somebody who has released something."""
    page = came_in()
    if not page.office.datasets():
        walk(page)
    return page


def test_a_newcomer_publishes_a_median_by_region(came_in):
    page = came_in()
    assert walk(page) <= 13  # three of them fill in what is described once
    assert page.locator("table.answers tbody tr").count() == 2
    with page.expect_download() as saved:
        page.click("a[href*='save=1']")
    assert "<h1>" in Path(saved.value.path()).read_text()
    assert page.elsewhere == []
    assert page.problems == []


def test_a_plan_gives_its_first_figure_then_its_table_and_the_slider_moves_the_mark(came_in):
    page = came_in()
    page.wait_for_selector(".big strong")
    page.wait_for_selector("table.ranked", timeout=60_000)
    page.wait_for_selector("svg[data-points]", timeout=60_000)
    before = page.get_attribute(".wide .here", "cx")
    page.eval_on_selector(
        "[data-slider]", "each => { each.value = 0.5; each.dispatchEvent(new Event('input')) }"
    )
    assert page.get_attribute(".wide .here", "cx") != before
    assert page.input_value("#epsilon") == "3.2"
    assert "about" in page.inner_text(".big strong")
    assert page.problems == []


def test_the_back_button_a_reload_and_two_tabs_pay_nothing_again(released):
    page, office = released, released.office
    (book,) = office.ledgers().values()
    page.goto(f"{page.address}/ask?data=households&column=income&epsilon=0.25")
    page.click("text=Look at the cost")
    page.wait_for_selector("text=Release and spend 0.25")
    draft, before = page.url, book.releases
    other = page.context.new_page()
    other.goto(draft)
    page.dblclick("text=Release and spend 0.25")
    page.wait_for_url("**/releases/*")
    answer = page.url
    page.go_back()
    page.wait_for_load_state()
    page.reload()
    assert page.url in (answer, draft)
    assert book.releases == before + 1
    other.click("text=Release and spend 0.25")
    other.wait_for_url("**/releases/*")
    assert other.url == answer
    assert book.releases == before + 1


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


def test_everything_works_without_javascript(came_in, released):
    page = came_in(java_script_enabled=False)
    for _ in range(10):  # without scripts a page that is not ready is loaded again by hand
        page.goto(f"{page.address}/plan?statistic=mean&column=age&low=0&high=120&epsilon=1&rows=1000")
        if page.locator(".big strong").count():
            break
    assert page.locator(".big strong").count() == 1
    page.goto(f"{page.address}/ask?data=households&statistic=count")
    page.select_option("#column", "age")
    page.fill("#epsilon", "0.1")
    page.click("text=Look at the cost")
    page.click("text=Release and spend 0.1")
    page.wait_for_url("**/releases/*")
    assert page.locator(".answer .big, .answer table").count() >= 1


@pytest.mark.parametrize("address", PAGES)
def test_pages_fit_a_phone_and_a_reader(released, address):
    """No page scrolls sideways at 360 pixels, and axe finds nothing, light and dark."""
    page = released
    page.set_viewport_size({"width": 360, "height": 740})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(page.address + address)
        wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1]
        page.evaluate(AXE) if not page.evaluate("'axe' in window") else None
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert page.elsewhere == []
    assert page.problems == []


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
        while "Checking" in (found := page.inner_text("#verdict")):
            page.wait_for_timeout(10)
        return found

    assert verdict(text).startswith("Holds")
    places = [place for place, sign in enumerate(text) if sign.isdigit() and place > text.index('"rows"')]
    for place in places[:: max(1, len(places) // 25)]:
        other = str((int(text[place]) + 1) % 10)
        assert verdict(text[:place] + other + text[place + 1 :]).startswith("Damaged"), text[
            place - 30 : place + 5
        ]


def test_no_page_can_be_framed(released, browser):
    context = browser.new_context()
    page = context.new_page()
    page.set_content(f'<iframe src="{released.address}/plan" width="400" height="300"></iframe>')
    page.wait_for_timeout(300)
    assert all(
        "Sordino" not in (frame.content() if frame.url.startswith("http") else "")
        for frame in page.frames[1:]
    )
    context.close()
