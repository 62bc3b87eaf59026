"""The threat table, row by row, without a browser: hosts, forms from elsewhere, sizes, paths, markup, secrets."""

import re
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

import sordino as sd
from sordino.web.office import Office
from tests.support.web import HOST, ORIGIN, Walker, running, seal_of, walker, write_households

ADDRESSES = (
    "/",
    "/plan?refresh=1",
    "/data",
    "/ask",
    "/ledger",
    "/reports",
    "/explain",
    "/glossary",
    "/static/style.css",
)


@pytest.fixture
def page(tmp_path):
    made = walker(tmp_path)
    yield made
    made.office.close()


def stranger(page):
    """Somebody without the cookie."""
    page.cookies.clear()
    return page


def test_nobody_comes_in_without_the_link(page):
    stranger(page)
    for address in ADDRESSES[:-1]:
        assert page.get(address).status_code == 403
    assert page.submit("/ask", data="households").status_code == 403


def test_a_link_works_once_and_is_not_in_the_address_bar(page):
    link = stranger(page).door.link()
    answer = page.get(link)
    assert answer.url.path == "/plan"
    page.cookies.clear()
    assert page.get(link).status_code == 403
    assert page.get("/open/guessed").status_code == 403


def test_the_cookie_is_for_this_host_and_for_no_script(page):
    answer = stranger(page).get(page.door.link(), follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", "localhost.evil:8765", ""]
)
def test_a_foreign_host_gets_nothing_on_any_route(page, host):
    for address in ADDRESSES:
        assert page.get(address, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "null"}, {"origin": "http://evil.example"}, {"origin": "http://127.0.0.1:9999"},
     {"origin": f"http://{HOST}.evil"}, {"origin": f"https://{HOST}"}, ORIGIN | {"sec-fetch-site": "cross-site"}],
)  # fmt: skip
def test_a_form_from_elsewhere_pays_nothing(page, headers):
    page.describe()
    address, check = page.draft()
    answer = page.post(f"{address}/release", data={"seal": seal_of(check)}, headers=headers)
    assert answer.status_code == 403
    (ledger,) = page.office.ledgers().values()
    assert ledger.releases == 0


def test_every_answer_has_its_headers(page):
    page.describe()
    for address in (*ADDRESSES, "/nothing", "/ledger/households/export.json"):
        found = page.get(address).headers
        assert found["cache-control"] == "no-store"
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "same-origin"
        assert "default-src 'none'" in found["content-security-policy"]
        assert "frame-ancestors 'none'" in found["content-security-policy"]
        assert "unsafe" not in found["content-security-policy"]
        assert not {"server", "server-timing", "etag"} & {name for name in found if "static" not in address}


def test_large_requests_are_refused(page):
    page.describe()
    assert page.submit("/ask", data="households", column="x" * 70_000).status_code == 413
    assert page.submit("/explain", text="x" * 6_000_000).status_code == 413
    chunks = (b"x" * 10_000 for _ in range(20))  # no length is told
    answer = page.post(
        "/ask", content=chunks, headers=ORIGIN | {"content-type": "application/x-www-form-urlencoded"}
    )
    assert answer.status_code in (400, 413, 500)


@pytest.mark.parametrize(
    "path",
    ["/data/../../etc/passwd", "/data/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/data/file:%2f%2f%2fetc%2fpasswd",
     "/data/http:%2f%2fevil", "/data/postgresql:%2f%2fx", "/data/households.csv", "/ledger/..%2f..%2fx", "/ledger/etc",
     "/static/../app.py", "/static/%2e%2e/desk.py", "/reports/..%2fx/boss", "/ask/..%2f..",
     "/ledger/households/releases/0"],
)  # fmt: skip
def test_no_path_or_address_comes_over_http(page, path):
    page.describe()
    answer = page.get(path)
    assert answer.status_code == 404, answer.url
    assert "root:" not in answer.text


def test_a_path_in_a_form_is_refused(page):
    page.describe()
    assert page.submit("/ask", data="../../etc/passwd", statistic="count").status_code == 422
    for ledger in ("../out.ledger", "/tmp/out.ledger", "a/b.ledger", "postgresql://x/y"):
        (key,) = page.office.files()
        answer = page.describe(ledger=ledger, name="other")
        assert answer.status_code == 422, ledger
        assert key
    assert set(page.office.datasets()) == {"households"}


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    write_households(outside)
    (inside / "link.csv").symlink_to(outside / "households.csv")
    (inside / "folder").symlink_to(outside)
    assert Office(inside).files() == {}


HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "{{ 7 * 7 }}",
    "</title><b>",
    "\u202eabc", "&lt;b&gt;", "javascript:alert(1)", "x" * 10_000,
)  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_on_every_page(tmp_path, name):
    quoted = '"' + name.replace('"', '""') + '"'
    (tmp_path / "t.csv").write_text(f"{quoted},region\n1,a\n2,b\n3,a\n")
    page = Walker(Office(tmp_path))
    (key,) = page.office.files()
    texts = [page.get(f"/data/{key}")]
    short = name[:100].replace(",", "")
    given = {"name": "t", "whom": "rows", "budget_epsilon": "9", "reason": name[:900], "keys:region": short}
    given |= {f"low:{name}": "0", f"high:{name}": "9", f"label:{name}": name}
    texts.append(page.submit(f"/data/{key}", **given))
    address, check = page.draft(data="t", column=name, by="region", by_keys=f"{short},b", purpose=name[:150])
    texts += [
        check,
        page.get("/ask?data=t&column=" + quote(name[:2000])),
        page.get("/plan?refresh=1&column=" + quote(name[:2000])),
    ]
    if "Release and spend" in check.text:
        texts.append(page.submit(f"{address}/release", seal=seal_of(check)))
        texts += [
            page.get("/ledger/t"),
            page.get("/reports/t/auditor"),
            page.get("/reports/t/public"),
            page.get("/data"),
        ]
    for text in texts:
        assert text.status_code < 500
        assert foreign(text.text) == []


def foreign(text):
    """Elements and attributes that no page of ours has."""
    found = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            own = tag == "script" and dict(attrs).get("src", "").startswith("/static/")
            if (tag in ("script", "img", "b", "iframe") and not own) or any(
                name.startswith("on") for name, _ in attrs
            ):
                found.append((tag, attrs))
            found.extend(
                (tag, attrs)
                for name, value in attrs
                if name in ("href", "src") and "javascript:" in (value or "")
            )

    Reader().feed(text)
    return found


def test_no_style_or_handler_stands_in_a_page(page):
    """The policy refuses them; shapes would turn black and buttons do nothing."""
    page.describe()
    page.release(by="region")
    for address in (
        *ADDRESSES[1:-1],
        "/ledger/households",
        "/ledger/households/releases/1",
        "/audit",
        "/geo",
        "/smoothed",
        "/verifier",
    ):
        text = page.get(address).text
        assert "style=" not in text
        assert "<style" not in text
        assert not re.search(r"\son\w+=", text)
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', text)


def test_the_style_is_small_and_nothing_comes_from_elsewhere(page):
    style, script = (page.get(f"/static/{name}").text for name in ("style.css", "live.js"))
    assert len(style.encode()) < 16_000
    assert "http" not in style + script
    assert "eval(" not in script
    assert "innerHTML" not in script


def test_an_older_copy_of_the_ledger_is_found_by_a_receipt(page, tmp_path):
    page.describe()
    page.release()
    (ledger,) = page.office.ledgers().values()
    old = (tmp_path / "households.ledger").read_bytes()
    receipt_of_second = None
    page.release(column="age")
    receipt_of_second = ledger.receipt(2)
    ledger.close()
    page.office._ledgers.clear()
    (tmp_path / "households.ledger").write_bytes(old)
    assert "Damaged:" in page.get("/ledger/households", params={"known": receipt_of_second}).text


def test_a_session_ends_after_a_day(page, monkeypatch):
    import time

    later = time.time() + 13 * 3600
    monkeypatch.setattr("sordino.web.desk.time.time", lambda: later)
    assert page.get("/data").status_code == 403


def test_ten_presses_at_once_pay_once(page):
    from concurrent.futures import ThreadPoolExecutor

    page.describe()
    address, check = page.draft()
    seal = seal_of(check)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: page.submit(f"{address}/release", seal=seal), range(10)))
    assert {answer.url.path for answer in answers} == {"/ledger/households/releases/1"}
    (ledger,) = page.office.ledgers().values()
    assert (ledger.releases, ledger.spent) == (1, sd.Pure(0.5))


def test_ninety_slow_requests_leave_others_served_and_go_away(tmp_path, monkeypatch):
    """Half of them stop in the headers, half in the body; all are closed when their time is over."""
    import socket
    from urllib.parse import urlsplit
    from urllib.request import Request, urlopen

    write_households(tmp_path)
    office = Office(tmp_path)
    with running(office) as (address, _):
        place = urlsplit(address)
        head = f"POST /ask HTTP/1.1\r\nHost: {place.netloc}\r\nOrigin: {address}\r\nContent-Length: 900\r\n"
        slow = []
        for number in range(90):
            slow.append(socket.create_connection((place.hostname, place.port)))
            slow[-1].sendall((head if number % 2 else head + "\r\nstatistic=").encode())
        for _ in range(5):
            with urlopen(Request(f"{address}/static/mark.svg"), timeout=30) as answer:
                assert answer.status == 200
        monkeypatch.setattr("sordino.web.server.WHOLE", 0.05)
        late = socket.create_connection((place.hostname, place.port))
        late.settimeout(30)
        assert late.recv(1) == b""  # it was closed, and nothing was said
        for one in [*slow, late]:
            one.close()
