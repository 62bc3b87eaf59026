"""An office with data of its own, its app, and a client or a browser that has come in."""

import csv
import random
import re
import threading
import time
from contextlib import contextmanager

import uvicorn
from starlette.testclient import TestClient

from sordino.web import application
from sordino.web.entrance import Link
from sordino.web.office import Office
from sordino.web.server import configured, listen

HOST = "127.0.0.1:8765"
ORIGIN = {"origin": f"http://{HOST}"}
CANARY = 73519.0
"""Stands in the data and must stand nowhere else."""


def write_households(folder, rows=400):
    """A table of households, one of them a canary."""
    made = random.Random(7)
    with (folder / "households.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["household", "income", "age", "region"])
        for row in range(rows):
            pay = CANARY if row == 17 else round(made.lognormvariate(10.4, 0.5))
            out.writerow([row, pay, made.randint(18, 90), made.choice(["north", "south"])])


class Idle:
    """Stands for the worker where nobody looks at expected errors: a process for every test takes too long."""

    def ask(self, *_):
        return {}

    def wait(self, *_):
        return {}

    def warm(self):
        pass

    close = warm


class Walker(TestClient):
    """A client that has come in by the link, and sends forms as our own pages do."""

    def __init__(self, office, *, planning=False):
        self.office = office
        self.door = Link(office, cookie="sordino-8765")
        self.made = application(office, hosts=(HOST,), origins=(ORIGIN["origin"],), entry=self.door)
        self.starlette = self.made.app.app.app
        if not planning:
            self.starlette.state.worker = Idle()
        super().__init__(self.made, base_url=f"http://{HOST}", follow_redirects=True)
        assert self.get(self.door.link()).status_code == 200

    def submit(self, address, **fields):
        return self.post(address, data=fields, headers=ORIGIN)

    def describe(self, budget="3", **more):
        """Describe the households, and begin their ledger."""
        (key,) = self.office.files()
        given = {
            "name": "households", "whom": "rows", "budget_epsilon": budget, "low:income": "0", "high:income": "200000",
            "keys:region": "north, south", "low:age": "0", "high:age": "120", "step:age": "1",
        }  # fmt: skip
        return self.submit(f"/data/{key}", **(given | more))

    def draft(self, **fields):
        """A question as far as its cost; the address of the draft and the page."""
        page = self.submit(
            "/ask",
            **{"data": "households", "statistic": "median", "column": "income", "epsilon": "0.5"} | fields,
        )
        return str(page.url.path), page

    def release(self, **fields):
        """A question as far as its answer."""
        address, page = self.draft(**fields)
        return self.submit(f"{address}/release", seal=seal_of(page))


def seal_of(page):
    """The seal of the one button."""
    return re.search(r'name="seal" value="([0-9a-f]*)"', page.text)[1]


def walker(folder):
    write_households(folder)
    office = Office(folder)
    office.owner = "jane"
    return Walker(office)


@contextmanager
def running(office, entry=None):
    """The app on a port of its own; gives its address and the link."""
    socket = listen(0)
    host = f"127.0.0.1:{socket.getsockname()[1]}"
    door = entry or Link(office, cookie="sordino-test")
    app = application(office, hosts=(host,), origins=(f"http://{host}",), entry=door)
    server = uvicorn.Server(configured(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://{host}", door
    finally:
        server.should_exit = True
        thread.join(20)


PASSWORD = "correct horse battery"
PEOPLE = {"olga": ("officer",), "otto": ("officer",), "ana": ("analyst",), "ben": ("analyst",), "cora": ("curator",),
          "vera": ("viewer",), "owen": ("owner",)}  # fmt: skip


def organisation(folder, *, ledger=None, desk=None, budget=5, rates=1000, **rules):
    """An office of an organisation: one declared dataset, people of every role, and no limit on rates."""
    import sordino as sd
    from sordino.ledger import Ledger
    from sordino.web.accounts import Accounts
    from sordino.web.dataset import ColumnDescription, Dataset
    from sordino.web.desk import Desk

    if not (folder / "households.csv").exists():  # a file that changes under a running service is refused
        write_households(folder)
    place = ledger or str(folder / "survey.ledger")
    dataset = Dataset(
        name="households", data="households.csv", ledger=ledger or "survey.ledger", answer_after=0.02,
        columns={"income": ColumnDescription(low=0, high=200000), "region": ColumnDescription(keys=("north", "south"))},
        **rules,
    )  # fmt: skip
    (folder / "households.dataset.toml").write_text(dataset.to_toml())
    fresh = not Ledger.exists(place)
    if fresh:
        Ledger.create(place, sd.Pure(budget), reason="a test").close()
    office = Office(folder, Desk(desk or folder / "desk.db"), shared=True)
    if fresh:
        made = office.dataset("households")
        office.ledger_of(made).declare(office.rules(made), reason="agreed")
    office.rates = {"release": rates, "quote": rates}
    accounts = Accounts(office.desk)
    known = {name for name, *_ in accounts.everybody()}
    for name, roles in PEOPLE.items():
        if name not in known:
            accounts.add(name, roles)
    return office


class Member(TestClient):
    """Somebody of an organisation who has signed in, without the slow hash of a password."""

    def __init__(self, office, name, app=None):
        from sordino.web.signin import SignIn

        self.office, self.name = office, name
        self.door = SignIn(office, secure=False)
        self.made = app or application(office, hosts=(HOST,), origins=(ORIGIN["origin"],), entry=self.door)
        self.made.app.app.app.state.worker = Idle()
        super().__init__(self.made, base_url=f"http://{HOST}", follow_redirects=True)
        self.cookies.set(self.door.cookie, office.desk.begin(name))

    def submit(self, address, **fields):
        return self.post(address, data=fields, headers=ORIGIN)

    def draft(self, **fields):
        given = {"data": "households", "statistic": "median", "column": "income", "epsilon": "0.5"} | fields
        page = self.submit("/ask", **given)
        return str(page.url.path), page

    def release(self, **fields):
        address, page = self.draft(**fields)
        return self.submit(f"{address}/release", seal=seal_of(page))


PUT = {"kind": "median", "column": "income", "low": 0, "high": 200000}
"""A question as a program puts it."""


def named_ledger(office):
    (ledger,) = office.ledgers().values()
    return ledger


def api(
    office, name="ana", scopes=("quote", "release", "history", "verify", "decide", "plan"), app=None, **given
):
    """A program of somebody."""
    from sordino.web.accounts import Accounts

    made = Member(office, name, app)
    made.cookies.clear()
    token = Accounts(office.desk).make_token(name, "laptop", scopes, **given)
    made.headers["authorization"] = f"Bearer {token}"
    return made


def put(program, token, **changed):
    """A question under a token."""
    asked = {"statistic": PUT, "price": {"kind": "pure", "epsilon": "1/2"}} | changed
    return program.put(f"/api/v1/datasets/households/releases/{token}", json=asked)
