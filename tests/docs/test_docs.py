"""The docs cannot rot: examples run, every verb and every theorem has its page."""

import re

import pytest

from sordino.catalogue import noise_families
from sordino.errors import Unsupported
from sordino.privacy import Approx, Concentrated, Geo, Pure, TruncatedConcentrated
from tests.support.places import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PAGES = [page for page in PAGES if "_build" not in page.parts]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TARGETS = (Pure(1), Pure(4), Approx(1, 1e-6), Concentrated(0.5), TruncatedConcentrated(0.5, 10), Geo(1, 1))


def runnable(page):
    """All Python blocks of a page; what is another library's is fenced as ``py`` and is not ours to run."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


LONG = {"function_examples"}
"""Pages whose examples fit models to hundreds of blocks."""
PLANS = ("plan", "any_function", "geo")
"""Pages whose examples plan or simulate for seconds."""


def of_page(page):
    """A case, and when it runs."""
    tiers = {"slow": LONG, "thorough": PLANS}
    marks = [getattr(pytest.mark, tier) for tier, pages in tiers.items() if page.stem in pages]
    return pytest.param(page, id=page.stem, marks=marks)


@pytest.mark.few(12)
@pytest.mark.parametrize("page", [of_page(page) for page in PAGES if runnable(page)])
def test_the_examples_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Simulations behind the interval of a function: fewer here, since pages need not be exact.
    monkeypatch.setattr("sordino.mechanisms.blocks.pivot.RUNS", 60)
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


@pytest.mark.few(5)
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


def test_the_version_is_written_in_one_place():
    import tomllib
    from importlib.metadata import version

    import sordino

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dynamic"] == ["version"]
    assert version("sordino") == sordino.__version__
    for page in ("CITATION.cff", "README.md", "docs/conf.py"):
        assert sordino.__version__ not in (ROOT / page).read_text(encoding="utf-8"), page


def test_the_changelog_begins_with_what_comes_next():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", heading) for heading in headings[1:])


def test_links_between_the_pages_of_the_repository_lead_somewhere():
    for page in ROOT.glob("*.md"):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (ROOT / link).exists(), f"{page.name}: {link}"
        for name in re.findall(r"`((?:docs|tests|src|\.ci)/[\w./]+)`", page.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_five_papers_are_cited():
    said = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for author, year in (("Hladík", 2022), ("Xia", 2023), ("Liang", 2024), ("Durfee", 2025), ("Bun", 2019)):
        (one,) = [part for part in said.split("  - type:")[1:] if f"family-names: {author}" in part]
        assert f"year: {year}" in one


def test_only_other_libraries_have_blocks_that_are_not_run():
    for page in PAGES:
        if re.search(r"^```py\n", page.read_text(encoding="utf-8"), re.MULTILINE):
            assert page.stem.startswith("coming_from_"), page


def test_the_release_file_to_copy_is_one(tmp_path):
    from sordino.session.release_file import ReleaseFile

    text = (ROOT / "docs/howto/release_file.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (more,) = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    options, table = more.split("\n\n", 1)
    file = tmp_path / "tables.toml"
    for whole in (told, told.replace("[bounds]", f"{options}\n\n[bounds]", 1) + "\n" + table):
        file.write_text(whole, encoding="utf-8")
        asked = ReleaseFile.read(file)
        assert sum(share for job in asked.jobs for share in job.shares) == 1


def test_the_papers_have_bibtex():
    said = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "papers" / "citing.md").read_text(encoding="utf-8")
    for part in said.split("  - type:")[1:]:
        title = re.search(r'title: "(.*)"', part).group(1)
        (entry,) = [one for one in page.split("\n@") if f"{{{title}}}" in one]
        assert f"{{{re.search(r'year: (.*)', part).group(1)}}}" in entry
