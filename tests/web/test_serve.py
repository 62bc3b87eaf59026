"""The service of an organisation: roles, shares, approvals, tokens, the interface, the client."""

import json
import threading

import pytest
from openapi_spec_validator import validate

import sordino as sd
from sordino import client
from sordino.ledger import Ledger
from sordino.session.release import Release
from sordino.web.accounts import Accounts
from sordino.web.signin import Proxy, SignIn
from tests.support.web import CANARY, PASSWORD, PEOPLE, Member, organisation, running, seal_of

PUT = {"statistic": sd.Median("income", low=0, high=200000).to_dict(), "price": sd.Pure(0.5).to_dict()}


@pytest.fixture
def office(tmp_path):
    made = organisation(tmp_path)
    yield made
    made.close()


def book_of(office):
    (book,) = office.ledgers().values()
    return book


def api(office, name="ana", scopes=("quote", "release", "history", "verify", "decide"), app=None, **given):
    """A program of somebody."""
    made = Member(office, name, app)
    made.cookies.clear()
    made.headers["authorization"] = "Bearer " + Accounts(office.desk).make_token(
        name, "laptop", scopes, **given
    )
    return made


def put(program, token, **changed):
    return program.put(f"/api/v1/datasets/households/releases/{token}", json=PUT | changed)


ROUTES = {
    "/plan?refresh=1": set(PEOPLE), "/data": set(PEOPLE), "/ask": set(PEOPLE), "/ledger": set(PEOPLE),
    "/requests": set(PEOPLE), "/people": set(PEOPLE), "/ledger/book/export.json": {"owen", "olga", "otto"},
    "/reports/book/auditor": {"owen", "olga", "otto", "cora"},
}  # fmt: skip


@pytest.mark.parametrize("name", PEOPLE)
def test_every_role_sees_what_it_may(office, name):
    member = Member(office, name)
    for address, allowed in ROUTES.items():
        assert (member.get(address).status_code == 200) == (name in allowed), (name, address)


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [("invite", {"owen"}), ("stop", {"owen"}), ("limit", {"olga", "otto"}), ("freeze", {"olga", "otto"})],
)
def test_every_role_changes_what_it_may(office, kind, allowed):
    for name in PEOPLE:
        given = {
            "kind": kind,
            "name": "new",
            "roles": "viewer",
            "ledger": "book",
            "who_asks": "ana",
            "epsilon": "2",
            "reason": "x",
        }
        answer = Member(office, name).submit("/people", **given)
        assert (answer.status_code == 200) == (name in allowed), (name, answer.status_code)


def test_analysts_see_their_own_answers_alone(office):
    ana, ben = Member(office, "ana"), Member(office, "ben")
    answer = ana.release()
    assert "/releases/1" in answer.url.path
    assert ben.get(answer.url.path).status_code == 404
    assert "median income" not in ben.get("/ledger/book").text
    assert Member(office, "olga").get(answer.url.path).status_code == 200
    assert api(office, "ben").get("/api/v1/datasets/households/ledger/entries").json()["entries"] == []


def test_viewers_and_officers_ask_nothing(office):
    for name in ("vera", "olga", "owen"):
        assert Member(office, name).draft()[1].status_code == 403
        assert put(api(office, name), "token-0001").status_code == 403
    assert book_of(office).releases == 0


def test_a_password_signs_in_and_five_wrong_ones_wait(office):
    accounts = Accounts(office.desk)
    accounts.set_password("ana", PASSWORD)
    page = Member(office, "ana")
    page.cookies.clear()
    assert page.get("/data").url.path == "/sign-in"
    assert page.submit("/sign-in", name="ana", password=PASSWORD).url.path == "/plan"
    page.cookies.clear()
    for _ in range(5):
        assert page.submit("/sign-in", name="ana", password="wrong").status_code == 401
    assert page.submit("/sign-in", name="ana", password=PASSWORD).status_code == 401  # wait a minute
    assert PASSWORD not in str(office.desk.run("SELECT * FROM people").fetchall())


def test_an_invitation_works_once(office):
    page = Member(office, "ana")
    page.cookies.clear()
    key = Accounts(office.desk).add("nina", ("analyst",))
    assert "Welcome, nina" in page.get(f"/invite/{key}").text
    assert page.submit(f"/invite/{key}", password="short").status_code == 422
    assert page.submit(f"/invite/{key}", password=PASSWORD).url.path == "/plan"
    page.cookies.clear()
    assert page.get(f"/invite/{key}").status_code == 403
    assert page.submit(f"/invite/{key}", password=PASSWORD).status_code == 403


def test_somebody_shut_out_is_out_at_once(office):
    ana, program = Member(office, "ana"), api(office)
    Member(office, "owen").submit("/people", kind="stop", name="ana")
    assert ana.get("/data").url.path == "/sign-in"
    assert put(program, "token-0001").status_code == 401


def test_a_revoked_token_is_refused_and_a_scope_holds(office):
    program = api(office, scopes=("quote",))
    assert program.post("/api/v1/datasets/households/quote", json=PUT).status_code == 200
    assert put(program, "token-0001").status_code == 403
    (token,) = Accounts(office.desk).tokens("ana")
    Member(office, "olga").submit("/people", kind="revoke", token=token["hash"])
    assert program.post("/api/v1/datasets/households/quote", json=PUT).status_code == 401
    assert put(api(office, datasets=("others",)), "token-0001").status_code == 403
    assert (
        Member(office, "ana")
        .get("/people", headers={"authorization": program.headers["authorization"]})
        .status_code
        == 200
    )


def test_a_token_is_stored_as_a_hash_and_shown_once(office):
    page = Member(office, "ana").submit("/people", kind="token", name="laptop", scopes="quote", days="30")
    secret = page.text.partition("<code>sdn_")[2].partition("<")[0]
    assert len(secret) == 49
    assert secret not in str(office.desk.run("SELECT * FROM tokens").fetchall())
    assert secret not in Member(office, "ana").get("/people").text


def test_a_proxy_is_believed_from_its_address_and_with_its_secret(tmp_path):
    office = organisation(tmp_path)
    secret = "s" * 20
    page = Member(office, "ana")
    page.cookies.clear()
    door = Proxy(office, address="testclient", secret=secret, secure=False)
    page.made.app.app.app.user_middleware[0].kwargs["door"] = door
    right = {"remote-user": "ana", "x-sordino-proxy": secret}
    assert page.get("/data", headers=right).status_code == 200
    for wrong in (
        {"remote-user": "ana"},
        right | {"x-sordino-proxy": "guess"},
        {"x-sordino-proxy": secret},
        right | {"remote-user": "x"},
    ):
        assert page.get("/data", headers=wrong).status_code == 401
    door.address = "10.0.0.9"
    assert page.get("/data", headers=right).status_code == 401


REFUSED = {
    "over the share": ("LimitExceeded", 409, lambda book: book.limit(sd.Pure(0.3), who_asks="ana", reason="x"), {}),
    "dataset over its share": (
        "LimitExceeded", 409, lambda book: book.limit(sd.Pure(0.3), data="households", reason="x"), {},
    ),
    "over the ceiling": ("BudgetExceeded", 409, lambda book: None, {"price": sd.Pure(9).to_dict()}),
    "frozen": ("Frozen", 423, lambda book: book.freeze(reason="an error"), {}),
    "person frozen": ("Frozen", 423, lambda book: book.limit(None, who_asks="ana", frozen=True, reason="left"), {}),
    "wrong": (
        "ParameterError", 422, lambda book: None, {"statistic": {"kind": "median", "column": "x", "low": 5, "high": 1}},
    ),
    "no such column": ("DataError", 422, lambda book: None, {"statistic": sd.Count("nothing").to_dict()}),
    "code": ("ParameterError", 422, lambda book: None, {"statistic": {"kind": "function", "f": "os:system"}}),
    "nonsense": ("ParameterError", 422, lambda book: None, {"statistic": [1, {"a": None}], "price": 3}),
}  # fmt: skip


@pytest.mark.parametrize("said", REFUSED)
def test_refusals_come_before_reading_with_their_own_words(office, said, monkeypatch):
    code, status, prepare, changed = REFUSED[said]
    book = book_of(office)
    prepare(book)

    def read(*_):
        raise AssertionError("data were read")

    monkeypatch.setattr("sordino.session.door.Session._closed_room", read)
    answer = put(api(office), "token-0001", **changed)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert {"subject", "rule", "why", "hint", "got"} <= set(answer.json())
    assert answer.headers["content-type"] == "application/problem+json"
    assert book.releases == 0


def test_rules_of_a_dataset_and_approval(tmp_path):
    office = organisation(
        tmp_path,
        statistics=("median", "count"),
        cost_max=sd.Pure(2),
        policy="auto-below",
        auto_below=sd.Pure(0.2),
    )
    ana, olga = api(office), Member(office, "olga")
    assert put(ana, "token-0001", statistic=sd.Mean("income", low=0, high=9).to_dict()).status_code == 422
    assert put(ana, "token-0002", price=sd.Pure(3).to_dict()).status_code == 422
    assert put(ana, "token-0003", price=sd.Pure(0.1).to_dict()).status_code == 201
    waiting = put(ana, "token-0004")
    assert (waiting.status_code, waiting.json()["state"]) == (202, "waiting")
    assert put(ana, "token-0004").status_code == 202
    assert book_of(office).releases == 1
    (request,) = office.desk.run("SELECT token FROM requests").fetchone()
    assert "Approve and spend 0.5" in olga.get("/requests").text
    assert "Approve" not in Member(office, "ana").get("/requests").text
    assert olga.submit(f"/requests/{request}", decision="approve").status_code == 200
    assert put(ana, "token-0004").status_code == 201
    assert book_of(office).entry(2).who["approved_by"] == "olga"
    assert put(ana, "token-0005").status_code == 202
    (request,) = office.desk.run("SELECT token FROM requests WHERE state = 'waiting'").fetchone()
    assert olga.submit(f"/requests/{request}", decision="refuse").status_code == 422  # a reason is needed
    olga.submit(f"/requests/{request}", decision="refuse", reason="too dear")
    refused = put(ana, "token-0005")
    assert refused.status_code == 409
    assert "too dear" in refused.text
    assert book_of(office).verify().holds
    assert [line[7] for line in office.desk.lines() if line[5] == "decide"] == ["refused", "approved"]


def test_nobody_approves_their_own_request(tmp_path):
    office = organisation(tmp_path, policy="ask")
    Accounts(office.desk).add("olga", ("officer", "analyst"))
    olga = Member(office, "olga")
    address, page = olga.draft()
    assert "Ask for approval" in page.text
    olga.submit(f"{address}/request", seal=seal_of(page))
    token = address.rpartition("/")[2]
    assert olga.submit(f"/requests/{token}", decision="approve").status_code == 403
    answer = api(office, "olga").post(f"/api/v1/requests/{token}/decision", json={"decision": "approve"})
    assert answer.status_code == 403
    assert olga.submit(f"{address}/release", seal=seal_of(page)).status_code == 202
    assert book_of(office).releases == 0
    assert (
        api(office, "otto")
        .post(f"/api/v1/requests/{token}/decision", json={"decision": "approve"})
        .status_code
        == 200
    )
    assert book_of(office).releases == 1
    assert "/releases/1" in olga.get(address).url.path


def test_a_ceiling_is_raised_by_two(office):
    owen, olga = Member(office, "owen"), Member(office, "olga")
    assert olga.submit("/ledger/book/change", kind="raise", epsilon="9", reason="x").status_code == 422
    owen.submit("/requests", ledger="book", epsilon="9", reason="more tables")
    (token,) = office.desk.run("SELECT token FROM requests").fetchone()
    assert owen.submit(f"/requests/{token}", decision="approve").status_code == 403
    assert book_of(office).budget == sd.Pure(5)
    olga.submit(f"/requests/{token}", decision="approve")
    assert book_of(office).budget == sd.Pure(9)
    assert book_of(office).verify().holds


def test_a_token_is_one_question_and_nobody_meets_anothers(office):
    ana, ben = api(office), api(office, "ben")
    first = put(ana, "token-0001")
    assert put(ana, "token-0001").json() == first.json()
    assert ana.get("/api/v1/datasets/households/releases/token-0001").json() == first.json()
    assert put(ana, "token-0001", price=sd.Pure(1).to_dict()).status_code == 409
    assert ben.get("/api/v1/datasets/households/releases/token-0001").status_code == 404
    assert put(ben, "token-0001").json() != first.json()
    assert book_of(office).releases == 2


def test_rates_are_429_with_a_time(office):
    office.rates = {"release": 2, "quote": 2}
    ana = api(office)
    codes = [put(ana, f"token-000{place}").status_code for place in range(4)]
    assert codes == [201, 201, 429, 429]
    assert put(ana, "token-0000").status_code == 201  # asking again is free
    assert put(ana, "token-0009").headers["retry-after"]
    assert book_of(office).releases == 2


def test_the_interface_is_described(office):
    document = api(office).get("/api/v1/openapi.json").json()
    validate(document)
    assert "/api/v1/datasets/{name}/releases/{token}" in document["paths"]


def test_ledger_pages_of_the_interface(office):
    ana = api(office)
    put(ana, "token-0001")
    base = "/api/v1/datasets/households"
    assert ana.get(f"{base}/ledger").json()["left"]["epsilon"] == "9/2"
    assert len(ana.get(f"{base}/ledger/entries").json()["entries"]) == 1
    assert ana.get(f"{base}/ledger/verify").status_code == 403
    assert api(office, "olga").get(f"{base}/ledger/verify").json()["holds"]
    assert json.loads(api(office, "olga").get(f"{base}/ledger/export").text)["format"] == "sordino-ledger"
    assert ana.get(base).json()["columns"]["region"]["keys"] == ["north", "south"]
    assert "households.csv" not in ana.get(base).text
    assert ana.get("/api/v1/datasets/nothing").status_code == 404


def test_the_canary_is_nowhere(office, capfd):
    ana = api(office)
    texts = [put(ana, "token-0001").text, put(ana, "token-0002", price=sd.Pure(99).to_dict()).text]
    texts += [put(ana, "token-0003", statistic=sd.Count("nothing").to_dict()).text]
    for name in PEOPLE:
        texts += [Member(office, name).get(address).text for address in ROUTES]
    tables = ("drafts", "log", "requests", "tokens", "rates", "people")
    texts += [str(office.desk.run(f"SELECT * FROM {name}").fetchall()) for name in tables]
    assert all(str(int(CANARY)) not in text for text in (*texts, *capfd.readouterr()))


def test_the_log_is_chained(office):
    put(api(office), "token-0001")
    Member(office, "olga").submit(
        "/people", kind="limit", ledger="book", who_asks="ana", epsilon="2", reason="x"
    )
    assert office.desk.log_holds()
    assert {"release", "limit"} <= {line[5] for line in office.desk.lines()}
    office.desk.run("UPDATE log SET person = 'nobody' WHERE number = 1")
    assert not office.desk.log_holds()


@pytest.fixture
def there(office):
    """A running service and a client of ana's."""
    with running(office, SignIn(office, secure=False)) as (address, _):
        token = Accounts(office.desk).make_token("ana", "laptop", ("quote", "release", "history"))
        yield client.connect(address, token).open("households")


def test_a_remote_session_has_the_laws_of_a_session(there, office):
    median = there.median("income")
    assert median == sd.Median("income", low=0, high=200000)
    assert (there.rows, there.unit, there.neighbors) == (400, sd.Unit(), sd.Neighbors.REPLACE_ONE)
    assert there.quote(median, sd.Pure(0.5)).guarantee == sd.Pure(0.5)
    assert there.remaining == sd.Pure(5)
    first = there.release(median, sd.Pure(0.5), token="tables-1", purpose="a test")
    assert isinstance(first, Release)
    assert there.release(median, sd.Pure(0.5), token="tables-1") == first
    assert there.remaining == sd.Pure(4.5)
    assert there.history == (first,)
    by = there.where(("age", ">=", 30)).release_by(
        "region", ["north", "south"], median, sd.Pure(0.5), interval=0.9
    )
    assert set(by.groups) == {"north", "south"}
    with pytest.raises(sd.LedgerError, match="another question"):
        there.release(median, sd.Pure(0.25), token="tables-1")
    with pytest.raises(sd.BudgetExceeded):
        there.release(median, sd.Pure(50))
    with pytest.raises(sd.ParameterError, match="high must be"):
        there.median("income", low=5, high=1)
    with pytest.raises(sd.DataError):
        there.release(sd.Count("nothing"), sd.Pure(0.5))
    with pytest.raises(sd.ParameterError, match="stay here"):
        there.release(median, sd.Pure(0.5), mechanism=object())
    assert book_of(office).spent == sd.Pure(1)


def test_waiting_is_an_answer(tmp_path):
    office = organisation(tmp_path, policy="ask")
    with running(office, SignIn(office, secure=False)) as (address, _):
        accounts = Accounts(office.desk)
        people = client.connect(address, accounts.make_token("ana", "t", ("quote", "release"))).open(
            "households"
        )
        officer = client.connect(address, accounts.make_token("olga", "t", ("decide",)))
        waiting = people.release(people.median("income"), sd.Pure(0.5))
        assert isinstance(waiting, client.Waiting)
        (request,) = office.desk.run("SELECT token FROM requests").fetchone()
        threading.Timer(0.2, officer.decide, (request, "approve")).start()
        assert waiting.wait(20).guarantee == sd.Pure(0.5)
    with Ledger(tmp_path / "book.ledger") as book:
        assert (book.releases, book.verify().holds) == (1, True)


def test_a_line_cut_at_any_byte_leads_to_one_debit_and_one_answer(there, office):
    """A relay that cuts the connection after so many bytes of the answer, or of the question."""
    import socket
    from urllib.parse import urlsplit

    target = urlsplit(there._server.url)
    cuts = iter(
        [("up", 0), ("up", 60), ("up", 400), ("down", 0), ("down", 10), ("down", 300), ("down", 2000)]
    )
    relay = socket.create_server(("127.0.0.1", 0))

    def carry():
        while True:
            try:
                here, _ = relay.accept()
            except OSError:
                return
            way, most = next(cuts, ("none", 10**9))
            far = socket.create_connection((target.hostname, target.port))
            sent = here.recv(65536)
            sent += here.recv(65536) if b"\r\n\r\n" in sent and not sent.split(b"\r\n\r\n", 1)[1] else b""
            sent = sent.replace(b"%d" % relay.getsockname()[1], b"%d" % target.port)  # the host is checked
            far.sendall(sent[:most] if way == "up" else sent)
            if way == "up":
                far.shutdown(socket.SHUT_WR)
            got = b""
            while way != "up" and (some := far.recv(65536)):
                got += some
                if way == "down" and len(got) > most:
                    break
                if b"\r\n\r\n" in got and got.rstrip().endswith(b"}"):
                    break
            here.sendall(got[:most] if way == "down" else got)
            here.close()
            far.close()

    threading.Thread(target=carry, daemon=True).start()
    cut = client.Service(f"http://127.0.0.1:{relay.getsockname()[1]}", there._server._token, 5.0)
    cut_session = cut.open("households")
    answer = None
    for _ in range(4):
        try:
            answer = cut_session.release(
                sd.Median("income", low=0, high=200000), sd.Pure(0.5), token="cut-line-1"
            )
            break
        except sd.LedgerError:
            continue
    relay.close()
    assert isinstance(answer, Release)
    assert book_of(office).releases == 1
    assert there.release(sd.Median("income", low=0, high=200000), sd.Pure(0.5), token="cut-line-1") == answer


def test_an_address_in_the_clear_is_refused(monkeypatch):
    with pytest.raises(sd.ParameterError, match="https"):
        client.connect("http://dp.example.org", "sdn_x")
    monkeypatch.delenv("SORDINO_TOKEN", raising=False)
    with pytest.raises(sd.ParameterError, match="token"):
        client.connect("https://dp.example.org")


def test_beyond_this_machine_tls_is_needed(tmp_path):
    from click.testing import CliRunner

    from sordino.cli.serve import command

    organisation(tmp_path).close()
    answer = CliRunner().invoke(command, [str(tmp_path), "--bind", "0.0.0.0", "--host", "dp.example.org"])
    assert "TLS is needed" in str(answer.exception)
