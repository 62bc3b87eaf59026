"""Works are cited by authors and year, in one form, and each is in the bibliography; nothing outside is referred to."""

import re

import pytest

from docs.wrapped import pages
from tests.support.places import ROOT

WORDS = "The|Theorems?|Lemmas?|Figures?|Table|Section|Survey|For|In|From|Votes|Since"
NAME = rf"(?!(?:{WORDS})\b)[A-Z][A-Za-zà-ž]+"
CITED = re.compile(
    rf"({NAME}(?:, {NAME})* and {NAME}|{NAME} et al\.|Durfee|Hoeffding|Mironov|Owen) ((?:19|20)\d\d)\b"
)
SOURCES = sorted(
    [
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "benchmarks").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *pages(),
    ]
)
SOURCES = [path for path in SOURCES if path.name not in ("bibliography.md", "test_citations.py")]
BIBLIOGRAPHY = (ROOT / "docs/reference/bibliography.md").read_text(encoding="utf-8")
LISTED = set(re.findall(r"^\* \*\*(.*?)\.?\*\*", re.sub(r"\n  ", " ", BIBLIOGRAPHY), re.MULTILINE))


def flat(path):
    return re.sub(r"\s+#?\s*", " ", path.read_text(encoding="utf-8"))


def cited():
    return {f"{who} {year}" for path in SOURCES for who, year in CITED.findall(flat(path))}


def test_every_cited_work_is_listed_and_every_listed_one_is_cited():
    assert cited() == LISTED


@pytest.mark.parametrize("paper", ["Bun and Steinke 2019", "Durfee 2025", "Hladík and Tětek 2022", "Liang and Yi 2024",
                                   "Liu, Wang and Xia 2023"])  # fmt: skip
def test_the_five_papers_are_listed(paper):
    assert paper in LISTED


@pytest.mark.parametrize("folder", ["src", "docs", "tests", "benchmarks"])
def test_no_paper_is_a_number_and_no_document_is_elsewhere(folder):
    number = re.compile(r"\bpapers? 00[0-4]\b|(?<![\d.])00[0-4]-(?:figure|table|theorem)")
    elsewhere = re.compile(r"(?<![\w/`.-])(?:noise|piecewise|quantiles|means|means_again|sources|exact_sampling|"
                           r"tables|intervals|functions|house|users|walk)\.md\b")  # fmt: skip
    for path in SOURCES:
        if path.is_relative_to(ROOT / folder):
            text = path.read_text(encoding="utf-8")
            assert not number.search(text), path
            assert not elsewhere.search(text), path


def test_a_planted_citation_would_be_noticed(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("as Smith and Jones\n1999 show, in Theorem 3 and Table 2020", encoding="utf-8")
    monkeypatch.setitem(globals(), "SOURCES", [page])
    assert cited() == {"Smith and Jones 1999"}
