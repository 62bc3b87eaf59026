"""What tests in a browser share: axe, a patience that a busy machine does not exhaust, what is wrong with a page."""

import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = (Path(__file__).parents[1] / "web" / "axe.min.js").read_text()
LONG = 240_000
"""Milliseconds until a state that must come is given up: no test waits so long on a quiet machine."""


def chromium():
    """Where the browser is; without one a test skips and says so, and fails where there must be one, as in CI."""
    if CHROMIUM is None:
        told = pytest.fail if os.environ.get("SORDINO_BROWSER") == "required" else pytest.skip
        told("Chromium is not installed: apt-get install chromium")
    return CHROMIUM


def violations(page):
    """What axe finds, and whether the page scrolls sideways."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    told = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    found = [(one["id"], one["nodes"][0]["html"]) for one in told["violations"]]
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return found + ([("sideways", f"{wide} > {inner}")] if wide > inner else [])
