"""The language of a page: the first that the reader's browser asks for and that has a translation; English else.

A translation is a file of gettext, ``locale/LANGUAGE/LC_MESSAGES/sordino.mo`` beside this one. Texts that it lacks stay
English.
"""

from __future__ import annotations

import functools
import gettext
from pathlib import Path

ENGLISH = "en"
FOLDER = Path(__file__).parent / "locale"
FROM_RIGHT = {"ar", "fa", "he", "ur", "yi"}
"""Languages that are written from right to left."""


@functools.cache
def known(folder: Path) -> frozenset[str]:
    """Languages with a translation in a folder."""
    return frozenset(path.parts[-3] for path in folder.glob("*/LC_MESSAGES/sordino.mo"))


def chosen(accepted: str) -> str:
    """The language for a header ``Accept-Language``; only ever the name of a folder that is there, or English.

    Example:
        >>> chosen("xx-YY, en;q=0.5"), chosen("")
        ('en', 'en')
    """
    for tag in _wanted(accepted):
        for one in (tag, tag.partition("-")[0]):
            if one == ENGLISH or one in known(FOLDER):
                return one
    return ENGLISH


def _wanted(accepted: str) -> list[str]:
    """Tags of a header, the dearest first."""
    weighed = []
    for part in accepted[:1000].split(","):
        tag, _, weight = part.partition(";")
        try:
            share = float(weight.strip().removeprefix("q=") or 1)
        except ValueError:
            share = 0.0
        if share > 0:
            weighed.append((-share, tag.strip()))
    return [tag for _, tag in sorted(weighed, key=lambda pair: pair[0])]


def translation(language: str) -> gettext.NullTranslations:
    """Texts in a language; the English ones are those of the pages."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    return gettext.translation("sordino", FOLDER, [language], fallback=True)


def direction(language: str) -> str:
    """Where a line of a language begins.

    Example:
        >>> direction("en"), direction("ar-EG")
        ('ltr', 'rtl')
    """
    return "rtl" if language.partition("-")[0] in FROM_RIGHT else "ltr"
