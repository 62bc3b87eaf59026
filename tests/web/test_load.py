"""Many at once: fifty analysts, two workers, kill -9 at any instant. No share is exceeded, nothing is paid twice."""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

import sordino as sd
from sordino import client
from sordino.ledger import Ledger
from sordino.web.accounts import Accounts
from tests.support.web import organisation

WORKER = """
import sys
from sordino.cli.app import listen, serve
from sordino.web import application
from sordino.web.desk import Desk
from sordino.web.office import Office
from sordino.web.signin import SignIn
import uvicorn
folder, desk = sys.argv[1:3]
sys.modules["sordino.web.application"].THREADS = 3  # the database of the tests has 40 connections
office = Office(folder, Desk(desk), shared=True)
office.rates = {"release": 10**6, "quote": 10**6}
socket = listen(0)
host = f"127.0.0.1:{socket.getsockname()[1]}"
app = application(office, hosts=(host,), origins=(f"http://{host}",), entry=SignIn(office, secure=False))
print(f"http://{host}", flush=True)
serve(uvicorn, app, socket)
"""


class Workers:
    """Processes that serve one office."""

    def __init__(self, folder, desk, count):
        self.arguments = [sys.executable, "-c", WORKER, str(folder), str(desk)]
        self.running = []
        for _ in range(count):
            self.begin()

    def begin(self):
        process = subprocess.Popen(self.arguments, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        self.running.append((process, process.stdout.readline().strip()))
        for _ in range(100):
            try:
                urllib.request.urlopen(self.running[-1][1] + "/static/mark.svg", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)

    def kill(self, place):
        process, _ = self.running.pop(place)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()

    def close(self):
        while self.running:
            self.kill(0)


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request, tmp_path):
    """An office of an organisation, on either database."""
    if request.param == "sqlite":
        yield tmp_path, None, str(tmp_path / "desk.db"), request.param
        return
    server = request.getfixturevalue("postgres_server")
    name = f"load{uuid.uuid4().hex[:8]}"
    address = f"{server}{'&' if '?' in server else '?'}ledger={name}"
    yield tmp_path, address, address, request.param


def analysts(office, many):
    """Programs of so many analysts."""
    accounts = Accounts(office.desk)
    made = []
    for place in range(many):
        accounts.add(f"a{place}", ("analyst",))
        made.append((f"a{place}", accounts.make_token(f"a{place}", "t", ("quote", "release", "history"))))
    return made


@pytest.mark.slow
def test_fifty_analysts_and_two_workers_exceed_nothing(shared):
    folder, ledger, desk, kind = shared
    office = organisation(folder, ledger=ledger, desk=desk, budget=100, rates=10**6)
    made = random.Random(5)
    book = next(iter(office.ledgers().values()))
    tokens = analysts(office, 50)
    shares = {}
    for name, _ in tokens:
        shares[name] = made.choice([1, 2, 3])
        book.limit(sd.Pure(shares[name]), who_asks=name, reason="load")
    workers = Workers(folder, desk, 2)
    median = sd.Median("income", low=0, high=200000)
    waits, refused = [], []
    begun = time.monotonic()

    def ask(numbered):
        place, (_, token) = numbered
        session = client.Service(workers.running[place % 2][1], token, 60.0).open("households")
        for _ in range(10):
            start = time.monotonic()
            try:
                session.release(median, sd.Pure(0.25))
                waits.append(time.monotonic() - start)
            except sd.BudgetExceeded as problem:
                refused.append(type(problem).__name__)
            time.sleep(1.0)

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(ask, enumerate(tokens)))
    took = time.monotonic() - begun
    workers.close()
    report = book.verify()
    waits.sort()
    found = {
        "database": kind, "releases": len(waits), "refused": len(refused), "seconds": round(took, 1),
        "per_second": round(len(waits) / took, 1), "median": round(statistics.median(waits), 2),
        "p95": round(waits[int(0.95 * len(waits))], 2),
    }  # fmt: skip
    print(json.dumps(found))
    assert report.holds
    assert book.releases == len(waits)
    for share, spent in book.shares:
        assert spent.within(share.ceiling)
        assert spent == sd.Pure(min(10 * 0.25, shares[share.subject.user]))
    assert refused
    office.close()


@pytest.mark.slow
def test_killed_at_any_instant_every_question_is_paid_once_and_answered_once(shared):
    folder, ledger, desk, _ = shared
    office = organisation(folder, ledger=ledger, desk=desk, budget=1000, rates=10**6)
    made = random.Random(11)
    tokens = analysts(office, 4)
    workers = Workers(folder, desk, 1)
    median, answers, stop = sd.Median("income", low=0, high=200000), {}, threading.Event()

    def ask(place):
        for number in range(8):
            token = f"killed-{place}-{number}"
            while token not in answers and not stop.is_set():
                try:
                    there = client.Service(workers.running[0][1], tokens[place][1], 10.0)
                    found = there.open("households").release(median, sd.Pure(0.25), token=token)
                    if isinstance(found, sd.Release):
                        answers[token] = found
                except (sd.SordinoError, IndexError):
                    time.sleep(0.05)

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    [thread.start() for thread in threads]
    for _ in range(6):
        time.sleep(made.uniform(0.3, 1.2))
        workers.kill(0)
        workers.begin()
    [thread.join(120) for thread in threads]
    stop.set()
    workers.close()
    place = ledger or folder / "book.ledger"
    with Ledger(place) as book:
        assert book.verify().holds
        assert len(answers) == 32
        assert book.releases == 32
        assert book.spent == sd.Pure(8)
        stored = {entry.token: entry.release for entry in book.entries()}
        assert all(stored[answer.token] == json.loads(answer.to_json()) for answer in answers.values())
    office.close()
