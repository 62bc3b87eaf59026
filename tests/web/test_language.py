"""Pages in the reader's language: a translation that is put beside them is used, whatever the header says."""

import struct

import pytest

from sordino.web import language, view
from tests.support.web import walker

GERMAN = {"Plan": "Planen", "Ledger": "Kontenbuch", "More": "Mehr", "Skip to the page": "Zum Inhalt"}


def write_translation(folder, lang, texts):
    """A file of gettext: a head, two tables of lengths and places, the texts."""
    pairs = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **texts}.items())
    sides = [[pair[side].encode() for pair in pairs] for side in (0, 1)]
    tables, texts_ = b"", b""
    begin = 28 + 16 * len(pairs)
    for side in sides:
        for one in side:
            tables += struct.pack("<II", len(one), begin + len(texts_))
            texts_ += one + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
    place = folder / lang / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "sordino.mo").write_bytes(head + tables + texts_)


@pytest.fixture
def page(tmp_path, monkeypatch):
    write_translation(tmp_path / "locale", "de", GERMAN)
    write_translation(tmp_path / "locale", "ar", {"Plan": "\u062e\u0637\u0629"})
    monkeypatch.setattr(language, "FOLDER", tmp_path / "locale")
    view._templates.cache_clear()
    made = walker(tmp_path)
    yield made
    made.office.close()
    view._templates.cache_clear()


def test_a_translation_beside_the_pages_changes_the_navigation(page):
    english = page.get("/glossary").text
    german = page.get("/glossary", headers={"accept-language": "fr, de-CH;q=0.9, en;q=0.5"}).text
    assert '<html lang="en" dir="ltr">' in english
    assert '<html lang="de" dir="ltr">' in german
    for one, other in GERMAN.items():
        assert f">{one}</" in english
        assert f">{other}</" in german
        assert f">{other}</" not in english
    assert ">Data</a>" in german  # what a translation lacks stays English
    arabic = page.get("/glossary", headers={"accept-language": "ar"}).text
    assert '<html lang="ar" dir="rtl">' in arabic


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        ("de", "de"),
        ("en, de;q=0.9", "en"),
        ("de;q=0.1, en;q=0.8", "en"),
        ("de;q=0", "en"),
        ("de;q=x", "en"),
        ("fr", "en"),
        ("../../locale/de", "en"),
        ('"><script>', "en"),
        (",;=" * 1000, "en"),
    ],
)
def test_only_a_language_that_is_there_is_chosen(page, header, lang):
    assert language.chosen(header) == lang
    assert f'<html lang="{lang}"' in page.get("/glossary", headers={"accept-language": header}).text
