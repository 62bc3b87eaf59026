"""The JavaScript client, in Node and in a real browser, held to the vectors that Python is held to."""

import functools
import http.server
import json
import re
import shutil
import subprocess
import threading

import numpy as np
import pytest

from sordino.geo import Collector, Points, Reference
from sordino.privacy import Geo
from tests.support.browser import chromium
from tests.support.geo_vectors import CLIENT, vectors

needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="Node is not installed: apt-get install nodejs"
)
KINDS = ("noise", "project", "snap", "head", "refuse")
MADE = Points(Reference.around(longitude=-73.97, latitude=40.74, radius=50_000), Geo(1, per=500))


def node(*arguments, stdin=None):
    done = subprocess.run(
        ["node", *arguments], input=stdin, capture_output=True, text=True, check=True, timeout=120, cwd=CLIENT
    )
    return done.stdout


def expected():
    return {kind: len(vectors(kind)) for kind in KINDS}


@needs_node
def test_vectors_in_node():
    result = json.loads(node("vectors.js"))
    assert result["wrong"] == []
    assert result["right"] == expected()


@needs_node
def test_vectors_notice_a_wrong_client(tmp_path):
    """Mutants: a float square root in the acceptance, minus zero kept, the far rule left out, a head not checked."""
    source = (CLIENT / "sordino-geo.js").read_text()
    changes = {
        "noise": ("if (low * low >= far) return k % 2n === 1n;",
                  "if (Number(low) / 2 ** 32 >= Math.fround(Number(goal) ** .5)) return k % 2n === 1n; else break;"),
        "project": ("Math.min(angle, c0) / Math.sin(angle) : c0", "angle / Math.sin(angle) : angle / Math.sin(angle)"),
        "snap": ("Math.floor(v / step + 0.5)", "Math.round(v / step - 0.5)"),
        "head": ("Object.keys(value).sort()", "Object.keys(value)"),
        "refuse": ("!(Number(head.step) >= least * (1 - 1e-9))", "false"),
    }  # fmt: skip
    for name in ("vectors.js", "vectors.json"):
        shutil.copy(CLIENT / name, tmp_path / name)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for kind, (old, new) in changes.items():
        assert source.count(old) == 1
        (tmp_path / "sordino-geo.js").write_text(source.replace(old, new))
        done = subprocess.run(
            ["node", "vectors.js"], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 1
        assert kind in {wrong["kind"] for wrong in json.loads(done.stdout)["wrong"]}


@needs_node
def test_reports_of_the_client_are_accepted_and_have_the_law():
    """Two thousand reports drawn by WebCrypto in Node, through the collector: mean and spread of planar Laplace."""
    program = """
        import { report } from "./sordino-geo.js";
        let text = ""; for await (const part of process.stdin) text += part;
        const head = JSON.parse(text);
        let spent = 0;
        for (let i = 0; i < 2000; i++) {
          const options = { device: `d${i}`, debit: () => { spent += 1; } };
          const record = await report(head, { longitude: -73.98, latitude: 40.75 }, options);
          console.log(JSON.stringify(record));
        }
        if (spent !== 2000) throw new Error("not debited");
    """
    out = node("--input-type=module", "-e", program, stdin=json.dumps(MADE.head()))
    received = Collector(MADE).receive([json.loads(line) for line in out.splitlines()])
    assert received.rejected == {}
    moved = received.reports.metres - MADE.reference.to_metres([[-73.98, 40.75]])
    unit = MADE.unit_loss
    assert np.abs(moved.mean(axis=0)).max() < 5 * unit * (3 / 2000) ** 0.5
    np.testing.assert_allclose((moved**2).mean(axis=0), 3 * unit**2, rtol=0.25)
    assert np.linalg.norm(moved, axis=1).mean() == pytest.approx(2 * unit, rel=0.1)


@needs_node
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("head.step = '0.001'", "too fine"),
        ("options.expectedId = '0'.repeat(32)", "does not fit its name"),
        ("options.debit = () => { throw new Error('not affordable'); }", "not affordable"),
        ("delete options.debit", "debit function"),
        ("options.device = ''", "device"),
        ("options.round = -1", "round"),
        ("position.latitude = NaN", "no position"),
        ("position.latitude = 91", "no position"),
        ("options.word = () => 0n", "repeats itself"),
    ],
)
def test_the_client_sends_nothing_when_something_is_wrong(change, message):
    program = f"""
        import {{ report }} from "./sordino-geo.js";
        let text = ""; for await (const part of process.stdin) text += part;
        const head = JSON.parse(text), position = {{ longitude: -73.98, latitude: 40.75 }};
        const options = {{ device: "d", debit() {{}} }};
        {change};
        try {{ await report(head, position, options); console.log("sent"); }}
        catch (error) {{ console.log(error.message); }}
    """
    assert message in node("--input-type=module", "-e", program, stdin=json.dumps(MADE.head()))


def test_the_client_is_small_and_ready_for_npm():
    source = (CLIENT / "sordino-geo.js").read_text()
    assert len(source.splitlines()) < 300
    assert "import " not in re.sub(r"//.*|/\*.*?\*/", "", source, flags=re.DOTALL)
    assert "Math.random" not in source
    package = json.loads((CLIENT / "package.json").read_text())
    assert "dependencies" not in package
    for name in package["files"]:
        assert (CLIENT / name).is_file()
    exported = set(re.findall(r"^export (?:async )?(?:function|class) (\w+)", source, flags=re.MULTILINE))
    typed = (CLIENT / "sordino-geo.d.ts").read_text()
    assert exported == set(re.findall(r"^export (?:function|class) (\w+)", typed, flags=re.MULTILINE))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The client's folder and a page that runs the vectors, served on this machine."""
    folder = tmp_path_factory.mktemp("site")
    for path in CLIENT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    (folder / "check.html").write_text("""<!doctype html><pre id="out">waiting</pre><script type="module">
        import { check } from "./vectors.js";
        const { vectors } = await (await fetch("vectors.json")).json();
        document.getElementById("out").textContent = JSON.stringify(await check(vectors));
    </script>""")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def browse(address, tmp_path):
    """The page as a real browser leaves it."""
    done = subprocess.run(
        [
            chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000", "--dump-dom", address,
        ],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout


def test_vectors_in_a_browser(site, tmp_path):
    page = browse(f"{site}/check.html", tmp_path)
    result = json.loads(
        re.search(r'<pre id="out">(.*?)</pre>', page, flags=re.DOTALL)[1].replace("&quot;", '"')
    )
    assert result["wrong"] == []
    assert result["right"] == expected()


def test_the_demo_page_shows_what_would_be_sent(site, tmp_path):
    page = browse(f"{site}/demo.html?longitude=-73.98&latitude=40.75", tmp_path)
    sent = json.loads(re.search(r'<pre id="report"[^>]*>(.*?)</pre>', page, flags=re.DOTALL)[1])
    assert Collector(MADE).receive([sent]).rejected == {}
    assert "moved by" in page
    assert "-73.98000, 40.75000 (stays here)" in page
