"""Search results with their context, also for pages that are opened as files.

Sphinx fetches each page that was found to show a few words around the hit, which browsers forbid for files. So the
texts are written into a script beside the search page, and the script answers those requests.
"""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

SCRIPT = """\
(() => {
  const texts = %s;
  const ask = window.fetch;
  window.fetch = (url, ...rest) => {
    const name = decodeURIComponent(String(url).split(/[?#]/)[0]);
    const page = Object.keys(texts).find((one) => name === one || name.endsWith("/" + one));
    if (page === undefined || !ask || location.protocol !== "file:") return ask(url, ...rest);
    const body = document.createElement("div");
    body.textContent = texts[page];
    return Promise.resolve(new Response(`<div role="main"><p>${body.innerHTML}</p></div>`));
  };
})();
"""


def plain(html: str) -> str:
    """The words of a page, without its frame."""
    body = re.search(r'<article role="main"[^>]*>(.*)</article>', html, re.DOTALL)
    text = re.sub(
        r'<(script|style)\b.*?</\1>|<a class="headerlink".*?</a>',
        " ",
        body.group(1) if body else "",
        flags=re.DOTALL,
    )
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text))).strip()


def _write(app: Any, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    pages = {
        path.relative_to(folder).as_posix(): plain(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if path.name not in ("search.html", "genindex.html") and "_static" not in path.parts
    }
    written = json.dumps(pages, ensure_ascii=False).replace("<", "\\u003c")
    (folder / "_static" / "search_texts.js").write_text(SCRIPT % written, encoding="utf-8")


def _context(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:  # noqa: ARG001
    if page == "search":
        app.add_js_file("search_texts.js", priority=100)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("html-page-context", _context)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
