"""The interface for programs and its client: the laws of a session from afar, over a line that breaks."""

import inspect
import json
import threading

import pytest
from openapi_spec_validator import validate

import sordino as sd
from sordino import client
from sordino.ledger import Ledger
from sordino.session import Session
from sordino.session.release import Release
from sordino.web.accounts import Accounts
from sordino.web.signin import SignIn
from tests.support.web import PUT, Member, api, named_ledger, organisation, put, running


@pytest.fixture
def office(tmp_path):
    made = organisation(tmp_path)
    yield made
    made.close()


def test_a_token_is_one_question_and_nobody_meets_anothers(office):
    ana, ben = api(office), api(office, "ben")
    first = put(ana, "token-0001")
    assert put(ana, "token-0001").json() == first.json()
    assert ana.get("/api/v1/datasets/households/releases/token-0001").json() == first.json()
    assert put(ana, "token-0001", price=sd.Pure(1).to_dict()).status_code == 409
    assert ben.get("/api/v1/datasets/households/releases/token-0001").status_code == 404
    assert put(ben, "token-0001").json() != first.json()
    assert named_ledger(office).releases == 2


def test_rates_are_429_with_a_time(office):
    office.rates = {"release": 2, "quote": 2}
    ana = api(office)
    codes = [put(ana, f"token-000{place}").status_code for place in range(4)]
    assert codes == [201, 201, 429, 429]
    assert put(ana, "token-0000").status_code == 201  # asking again is free
    assert put(ana, "token-0009").headers["retry-after"]
    assert named_ledger(office).releases == 2


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


def test_officers_and_owners_decide_by_the_interface_as_by_the_page(office):
    ana, olga, owen = (api(office, name) for name in ("ana", "olga", "owen"))
    base = "/api/v1/datasets/households"
    share = {"person": "ana", "ceiling": sd.Pure(1).to_dict(), "reason": "a part"}
    assert ana.post(f"{base}/limits", json=share).status_code == 403
    assert olga.post(f"{base}/limits", json=share).status_code == 200
    assert put(ana, "token-0001", price=sd.Pure(2).to_dict()).json()["code"] == "LimitExceeded"
    assert olga.post(f"{base}/freezes", json={"person": "ana", "reason": "x"}).status_code == 200
    assert put(ana, "token-0002").status_code == 423
    assert (
        olga.post(f"{base}/freezes", json={"person": "ana", "frozen": False, "reason": "x"}).status_code
        == 200
    )
    assert olga.post(f"{base}/freezes", json={"reason": "all of it"}).json() == {"state": "frozen"}
    assert put(ana, "token-0003").status_code == 423
    assert olga.post(f"{base}/freezes", json={"reason": "x", "frozen": False}).json() == {"state": "open"}
    assert put(ana, "token-0004").status_code == 201
    higher = {"budget": sd.Pure(9).to_dict(), "reason": "more tables"}
    assert (
        olga.post(f"{base}/raises", json=higher).status_code == 403
    )  # proposes nothing, and alone raises nothing
    proposed = owen.post(f"{base}/raises", json=higher)
    assert proposed.status_code == 202
    decision = f"/api/v1/requests/{proposed.json()['request']}/decision"
    assert owen.post(decision, json={"decision": "approve"}).status_code == 403
    assert named_ledger(office).budget == sd.Pure(5)
    (listed,) = olga.get("/api/v1/requests").json()["requests"]
    assert (listed["state"], listed["person"]) == ("waiting", "owen")
    assert olga.post(decision, json={"decision": "approve"}).json() == {"state": "approved"}
    assert named_ledger(office).budget == sd.Pure(9)
    assert named_ledger(office).verify().holds
    for wrong in ({"ceiling": {"kind": "?"}}, {"person": "x" * 999, **share}, [], "x"):
        assert olga.post(f"{base}/limits", json=wrong).status_code in (200, 422)


def test_a_plan_comes_by_the_interface_too(office):
    planned = {"quick": {"verdict": "so"}, "full": {"verdict": "so it is", "floor": float("inf")}}
    program = api(office)

    class Known:
        def ask(self, *_):
            return planned

        wait = ask

    program.made.app.app.app.state.worker = Known()
    asked = {"statistic": PUT, "price": sd.Pure(0.5).to_dict(), "assume": {"rows": 400}}
    assert program.post("/api/v1/plan", json=asked).json() == {
        "state": "done",
        "verdict": "so it is",
        "floor": None,
    }
    del planned["full"]
    assert program.post("/api/v1/plan", json=asked).status_code == 202
    planned["error"] = sd.ParameterError("plan", "no")
    assert program.post("/api/v1/plan", json=asked).status_code == 422
    assert program.post("/api/v1/plan", json=asked | {"assume": {"rows": "x"}}).status_code == 422
    assert api(office, scopes=("quote",)).post("/api/v1/plan", json=asked).status_code == 403


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
    assert named_ledger(office).spent == sd.Pure(1)


def test_a_remote_session_has_the_methods_of_a_session_and_they_take_the_same():
    """Mechanisms are objects and stay here; what debits for others is the service's own."""
    own = {"question", "release_all", "release_each"}
    for name, method in inspect.getmembers(Session):
        if name.startswith("_") or name in own:
            continue
        far = inspect.getattr_static(client.RemoteSession, name)
        if callable(method):
            names = set(inspect.signature(method).parameters) - {"interval", "purpose", "mechanism", "hints"}
            assert names <= set(inspect.signature(far).parameters) | {"token"}, name


def test_batches_combinations_discovery_and_reports_go_over_the_line(there, office, tmp_path):
    median = sd.Median("income", low=0, high=200000)
    both = there.release([median, sd.Count("age")], [sd.Pure(0.5), sd.Pure(0.25)])
    assert (len(both.value), both.guarantee) == (2, sd.Pure(0.75))
    keys = {"region": ["north", "south"], "age": [30, 40]}
    crossed = there.release_by(["region", "age"], keys, sd.Count("income"), sd.Pure(0.5))
    assert list(crossed.groups) == [("north", 30), ("north", 40), ("south", 30), ("south", 40)]
    listed = there.release_by(
        ["region", "age"], [("north", 30), ("south", 40)], sd.Count("income"), sd.Pure(0.5)
    )
    assert list(listed.groups) == [("north", 30), ("south", 40)]
    mean = sd.Mean("income", low=0, high=200000)
    shared = there.release_by("region", ["north", "south"], mean, sd.Pure(0.5), scale="shared")
    assert shared.event.by["shared"]["low"] < shared.event.by["shared"]["high"]
    with pytest.raises(sd.SordinoError, match="scale"):
        there.release_by("region", ["north", "south"], median, sd.Pure(0.5), scale="shared")
    officer = Member(office, "olga")
    for number in (1, 2, 3, 4):  # what is asked in Python alone has its page all the same
        assert officer.get(f"/ledger/survey/releases/{number}").status_code == 200
        compile(officer.get(f"/ledger/survey/releases/{number}.py").text, "script", "exec")
    with pytest.raises(sd.SordinoError, match="delta"):
        there.release_by("region", sd.discover(), sd.Count("income"), sd.Pure(0.5))
    with pytest.raises(sd.SordinoError, match="may not"):
        there.report(tmp_path / "report.html")
    token = Accounts(office.desk).make_token("olga", "t", ("history",))
    page = (
        client.connect(there._server.url, token)
        .open("households")
        .report(tmp_path / "report.html", title="Ours")
    )
    assert "Ours" in page.read_text()
    assert 'scale="shared"' in officer.get("/ledger/survey/releases/4.py").text
    assert named_ledger(office).spent == sd.Pure(2.25)


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
    with Ledger(tmp_path / "survey.ledger") as ledger:
        assert (ledger.releases, ledger.verify().holds) == (1, True)


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
    assert named_ledger(office).releases == 1
    assert there.release(sd.Median("income", low=0, high=200000), sd.Pure(0.5), token="cut-line-1") == answer


def test_an_address_in_the_clear_is_refused(monkeypatch):
    with pytest.raises(sd.ParameterError, match="https"):
        client.connect("http://dp.example.org", "sdn_x")
    monkeypatch.delenv("SORDINO_TOKEN", raising=False)
    with pytest.raises(sd.ParameterError, match="token"):
        client.connect("https://dp.example.org")
