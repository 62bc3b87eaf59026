"""The docs cannot rot: examples run, every verb and every theorem has its page."""

import re
from pathlib import Path

import pytest

from sordino.catalogue import noise_families
from sordino.errors import Unsupported
from sordino.privacy import Approx, Concentrated, Geo, Pure, TruncatedConcentrated

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PAGES = [page for page in PAGES if "_build" not in page.parts]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TARGETS = (Pure(1), Pure(4), Approx(1, 1e-6), Concentrated(0.5), TruncatedConcentrated(0.5, 10), Geo(1, 1))


def runnable(page):
    """Blocks that stand for themselves: they import what they use and elide nothing."""
    return [
        block
        for block in BLOCK.findall(page.read_text(encoding="utf-8"))
        if "import sordino" in block and "..." not in block
    ]


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=lambda page: page.stem)
def test_the_examples_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in runnable(page):
        exec(compile(block, str(page), "exec"), names)


def test_the_readme_has_an_example_that_runs():
    assert runnable(ROOT / "README.md")


def test_every_verb_is_documented():
    from sordino.cli import program

    written = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for verb in program.list_commands(None):
        assert f"sordino {verb}" in written, f"no page shows `sordino {verb}`"


@pytest.mark.parametrize("family", noise_families().values(), ids=lambda family: family.name)
def test_every_calibration_names_a_page_that_exists(family):
    named = set()
    for target in TARGETS:
        if type(target) in family.promises():
            for options in ({}, {"smoothing": 0}, {"method": "plateau"}):
                try:
                    named.add(family.calibrate(target, **options).proof)
                except (Unsupported, ValueError):
                    continue
    assert named
    for page in named:
        text = (ROOT / "docs" / "proofs" / f"{page}.md").read_text(encoding="utf-8")
        assert "Checked by" in text or "checked by" in text or "tests/" in text


def test_pictures_of_the_readme_exist():
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), path


def test_no_page_speaks_of_machines():
    for page in PAGES:
        assert not re.search(r"/(?:home|root|work)/", page.read_text(encoding="utf-8")), page
