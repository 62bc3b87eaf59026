"""Links, anchors and formulas of all pages; slow: the whole site built without a warning, offline, and narrow."""

import html
import json
import re
import subprocess
import sys

import pytest

from docs.extensions.checked_pages import faults
from docs.extensions.mathml import mathml
from docs.notebooks.run import notebooks
from docs.wrapped import pages
from tests.support.browser import chromium
from tests.support.places import ROOT

DOCS = ROOT / "docs"
MADE = {DOCS / "reference/commands.md", DOCS / "reference/theorems.md"}


def texts(path):
    """The Markdown of a page or of a notebook."""
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return path.read_text(encoding="utf-8")


SITE = [path for path in pages() if path.is_relative_to(DOCS)] + notebooks()
PLAIN = {path: re.sub(r"(?ms)^(`{3,}|~{3,})(?!\{).*?^\1", "", texts(path)) for path in SITE}


def slug(title):
    """The anchor of a heading."""
    words = re.sub(r"`|\*|\{doc\}|\$", "", title).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


@pytest.mark.parametrize("path", SITE, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_links_and_anchors_lead_somewhere(path):
    text = PLAIN[path]
    for target in re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]+)>?`", text):
        place = (path.parent / target).resolve()
        found = [place.with_suffix(ending) for ending in (".md", ".ipynb")]
        assert any(one.exists() or one in MADE for one in found), f"{path}: {target}"
    bare = re.sub(r"`[^`]*`", "", text)
    for target in re.findall(r"(?<!!)\]\((?!https?:|mailto:)([^)\s]+)\)", bare):
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        assert place.exists(), f"{path}: {target}"
        if anchor and place.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", place.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), f"{path}: {target}"
    for picture in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)|\{image\} (\S+)", bare):
        assert (path.parent / "".join(picture)).exists(), f"{path}: {picture}"


def formulas(text):
    """Formulas as the site reads them: inline, and on lines of their own."""
    from markdown_it.renderer import RendererHTML
    from myst_parser.config.main import MdParserConfig
    from myst_parser.parsers.mdit import create_md_parser

    config = MdParserConfig(enable_extensions={"dollarmath", "amsmath", "colon_fence", "deflist"})

    def walk(tokens):
        for token in tokens:
            if token.type.startswith(("math", "amsmath")):
                yield token.content
            elif token.type == "text":
                assert not re.search(r"\$|\\[a-z(\[]", token.content), f"not a formula: {token.content}"
            yield from walk(token.children or ())

    return list(walk(create_md_parser(config, RendererHTML).parse(text)))


@pytest.mark.few(48)
@pytest.mark.parametrize("path", SITE, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_formulas_become_mathml(path):
    for formula in formulas(texts(path)):
        assert mathml(formula).startswith("<math")


def test_a_formula_that_is_not_understood_is_refused():
    with pytest.raises(ValueError, match="nonsense"):
        mathml(r"\nonsense{x}")
    assert "<mn>10,000</mn>" in mathml("10{,}000")
    assert "ℝ" in mathml(r"\mathbb R")
    assert "<mi>LS</mi>" in mathml(r"\mathrm{LS}_j")
    assert "⌈" in mathml(r"\Bigl\lceil x\Bigr\rceil")
    assert "<mpadded" in mathml(r"\sqrt n")
    assert "<mpadded" not in mathml(r"\sqrt{x^2}")


@pytest.mark.parametrize(
    "planted",
    [
        r"<p>\(x\)</p>",
        "<p>the cut $k$ is</p>",
        r"<p>at most \alpha</p>",
        "<p>see {doc}<code>x</code></p>",
        "<p>**bold**</p>",
        '<a href="b.html#nowhere">b</a>',
        '<a href="c.html">c</a>',
        '<a href="#nowhere">here</a>',
        '<img src="x.svg" alt="">',
    ],
)
def test_a_fault_of_a_finished_page_is_found(planted):
    sound = '<p id="here">It costs 3 $ to <code>$x</code></p><math>\\alpha</math><a href="#here">up</a>'
    other = '<a href="../a.html#here">a</a><img src="x.svg" alt="a picture">'
    assert faults({"a.html": sound, "b/c.html": other}) == []
    assert len(faults({"a.html": sound + planted, "b.html": ""})) == 1


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The whole site, without a warning."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, folder]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_site_fetches_nothing_and_search_has_its_texts(built):
    for page in built.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//', text), page
    script = (built / "_static" / "search_texts.js").read_text(encoding="utf-8")
    assert '"proofs/polyplace.html"' in script
    assert "<math" in (built / "proofs" / "polyplace.html").read_text(encoding="utf-8")


WIDTHS = """<body><script>
const pages = PAGES, out = [];
(async () => {
  for (const width of [390, 1280]) {
    const frame = document.createElement("iframe");
    frame.style.width = width + "px"; frame.style.height = "900px"; document.body.appendChild(frame);
    for (const page of pages) {
      await new Promise((done) => { frame.onload = done; frame.src = page; });
      await new Promise((done) => setTimeout(done, 30));
      const wide = frame.contentDocument.documentElement.scrollWidth;
      if (wide > width) out.push([page, width, wide]);
    }
  }
  document.body.innerHTML = "<pre id=done></pre>";
  document.getElementById("done").textContent = JSON.stringify(out);
})();
</script></body>"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_page_is_wider_than_the_screen(built):
    browser = chromium()
    names = [
        page.relative_to(built).as_posix() for page in built.rglob("*.html") if "_static" not in page.parts
    ]
    (built / "widths.html").write_text(WIDTHS.replace("PAGES", json.dumps(names)))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
               "--disable-web-security", "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=240000",
               "--dump-dom", (built / "widths.html").as_uri()]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900).stdout
    found = re.search(r'<pre id="done">(.*?)</pre>', shown, re.DOTALL)
    assert found, shown[:300]
    assert json.loads(html.unescape(found.group(1))) == []
