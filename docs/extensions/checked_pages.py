"""The finished pages, read as a browser reads them: links and anchors lead somewhere, no formula is left as TeX.

What is found is a warning, and `make docs` takes warnings for errors.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urlsplit

QUIET = {"pre", "code", "script", "style", "math", "title"}
RAW = re.compile(r"\\[()\[\]]|\\[a-z]{2,}|\$\$|\$[\\\w]|[\w})]\$|\{doc\}|\]\(|```|\*\*\w[^*]*\*\*")


class Page(HTMLParser):
    """The anchors, the links and the words of a page; words outside code and formulas."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what can be pointed to and what points."""
        named = dict(attrs)
        self.anchors.update(str(named[key]) for key in ("id", "name") if named.get(key))
        if tag == "a" and named.get("href"):
            self.links.append(str(named["href"]))
        if tag == "img" and not (named.get("alt") or "").strip():
            self.pictures.append(str(named.get("src", ""))[:80])
        if tag in QUIET:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Leave code, a formula or a script."""
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        """Keep words that a reader sees as prose."""
        if not self._inside:
            self.words.append(data)

    @property
    def raw(self) -> list[str]:
        """Prose that looks like TeX or Markdown."""
        return [words.strip()[:80] for words in self.words if RAW.search(words)]


def faults(pages: dict[str, str]) -> list[str]:
    """What is wrong with the pages of a site, by name.

    Example:
        >>> faults({"a.html": '<p id="x">x_1$</p><a href="b.html#y">b</a>', "b.html": "<p>b</p>"})
        ['a.html: not rendered: x_1$', 'a.html: b.html#y leads nowhere']
    """
    read = {name: Page(html) for name, html in pages.items()}
    found = []
    for name, page in read.items():
        found += [f"{name}: not rendered: {words}" for words in page.raw]
        found += [f"{name}: a picture without a description: {source}" for source in page.pictures]
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = normpath(join(dirname(name), unquote(parts.path))) if parts.path else name
            known = target in read
            lost = known and parts.fragment and unquote(parts.fragment) not in read[target].anchors
            if lost or (target.endswith(".html") and not known):
                found.append(f"{name}: {link} leads nowhere")
    return found


def _check(app: Any, failure: Exception | None) -> None:
    from sphinx.util import logging

    if failure is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    names = [app.builder.get_target_uri(page) for page in app.env.found_docs]
    pages = {name: (folder / name).read_text(encoding="utf-8") for name in names} | {"search.html": ""}
    for fault in faults(pages):
        logging.getLogger(__name__).warning(fault)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("build-finished", _check, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
