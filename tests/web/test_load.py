"""Many at once: fifty analysts, two workers, kill -9 at any instant. No share is exceeded, nothing is paid twice."""

import http.client
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
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import sordino as sd
from sordino import client
from sordino.ledger import Ledger
from sordino.web.accounts import Accounts
from tests.support.web import organisation

MEDIAN = sd.Median("income", low=0, high=200000)
SECONDS = float(os.environ.get("SORDINO_LOAD_SECONDS", "15"))
WORKER = """
import sys
from sordino.web.server import listen, serve
from sordino.web import application
from sordino.web.desk import Desk
from sordino.web.office import Office
from sordino.web.signin import SignIn
folder, desk = sys.argv[1:3]
sys.modules["sordino.web.application"].THREADS = 3  # the database of the tests has 40 connections
office = Office(folder, Desk(desk), shared=True)
office.rates = {"release": 10**6, "quote": 10**6}
socket = listen(0)
host = f"127.0.0.1:{socket.getsockname()[1]}"
app = application(office, hosts=(host,), origins=(f"http://{host}",), entry=SignIn(office, secure=False))
print(f"http://{host}", flush=True)
serve(app, socket)
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

    def cpu(self):
        """Seconds of CPU that all of them have used."""
        ticks = 0
        for process, _ in self.running:
            said = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(said[11]) + int(said[12])
        return ticks / os.sysconf("SC_CLK_TCK")

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


@pytest.fixture
def begin():
    """Begins workers, and ends them however the test ends."""
    made = []

    def begin(*given):
        made.append(Workers(*given))
        return made[-1]

    yield begin
    for workers in made:
        workers.close()


def analysts(office, many):
    """Programs of so many analysts."""
    accounts = Accounts(office.desk)
    made = []
    for place in range(many):
        accounts.add(f"a{place}", ("analyst",))
        made.append((f"a{place}", accounts.make_token(f"a{place}", "t", ("quote", "release", "history"))))
    return made


def offered(workers, tokens, rate, seconds):
    """Ask so many questions a second, spread over all analysts and workers; what was answered, and after how long."""
    every, found = len(tokens) / rate, []
    asked = json.dumps({"statistic": MEDIAN.to_dict(), "price": sd.Pure(0.25).to_dict()})
    begun = time.monotonic() + 0.5

    def ask(numbered):
        place, (name, token) = numbered
        host = workers.running[place % len(workers.running)][1].removeprefix("http://")
        line = http.client.HTTPConnection(host, timeout=60)
        for number in range(round(seconds / every)):
            due = begun + (number + place / len(tokens)) * every
            time.sleep(max(0.0, due - time.monotonic()))
            start = max(
                due, time.monotonic() - every
            )  # whoever is late by more asks later, and is counted so
            path = f"/api/v1/datasets/households/releases/load-{rate}-{number:04}"
            line.request(
                "PUT", path, asked, {"authorization": f"Bearer {token}", "content-type": "application/json"}
            )
            answer = line.getresponse()
            answer.read()
            found.append((answer.status, time.monotonic() - start, name))
        line.close()

    with ThreadPoolExecutor(len(tokens)) as pool:
        list(pool.map(ask, enumerate(tokens)))
    return found, time.monotonic() - begun


@pytest.mark.slow
def test_fifty_analysts_and_two_workers_exceed_nothing(shared, begin):
    """Twenty questions a second: 95 % within three seconds. Four times as many: some are told to come again."""
    folder, ledger, desk, kind = shared
    office = organisation(folder, ledger=ledger, desk=desk, budget=1000, rates=10**6)
    made = random.Random(5)
    ledger = next(iter(office.ledgers().values()))
    tokens = analysts(office, 50)
    shares = {name: made.choice([2, *[100] * 9]) for name, _ in tokens}  # one in ten runs out
    for name, most in shares.items():
        ledger.limit(sd.Pure(most), who_asks=name, reason="load")
    workers = begin(folder, desk, 2)
    offered(workers, tokens, 19, 3)  # every thread opens its connections
    before = workers.cpu()
    calm, _ = offered(workers, tokens, 20, SECONDS)
    work = 1000 * (workers.cpu() - before) / len(calm)
    rush, took = offered(workers, tokens, 80, SECONDS / 3)
    workers.close()
    waits = sorted(wait for _, wait, _ in calm)
    found = {
        "database": kind, "asked": len(calm), "released": sum(status == 201 for status, *_ in calm),
        "half within": round(statistics.median(waits), 2), "95 % within": round(waits[int(0.95 * len(waits))], 2),
        "rush": dict(Counter(status for status, *_ in rush)), "rush per second": round(len(rush) / took, 1),
        "CPU ms of the service per question": round(work, 1), "load": os.getloadavg()[0],
    }  # fmt: skip
    print(json.dumps(found))
    paid = Counter(name for status, _, name in (*calm, *rush) if status == 201)
    assert ledger.verify().holds
    assert ledger.releases >= paid.total()  # an answer may be on its way when its asker has left
    assert {status for status, *_ in calm} <= {201, 202, 409}
    assert {status for status, *_ in rush} <= {201, 202, 409, 429}
    for share, spent in ledger.shares:
        assert spent.within(share.ceiling)
        assert sd.Pure(Fraction(1, 4) * paid[share.subject.user]).within(spent)
    assert {name for status, _, name in calm if status == 409} <= {
        name for name, most in shares.items() if most < 50
    }
    assert found["95 % within"] < 3
    office.close()


@pytest.mark.slow
def test_killed_at_any_instant_every_question_is_paid_once_and_answered_once(shared, begin):
    folder, ledger, desk, _ = shared
    office = organisation(folder, ledger=ledger, desk=desk, budget=1000, rates=10**6)
    made = random.Random(11)
    tokens = analysts(office, 4)
    workers = begin(folder, desk, 1)
    answers, stop = {}, threading.Event()

    def ask(place):
        for number in range(8):
            token = f"killed-{place}-{number}"
            while token not in answers and not stop.is_set():
                try:
                    there = client.Service(workers.running[0][1], tokens[place][1], 10.0)
                    found = there.open("households").release(MEDIAN, sd.Pure(0.25), token=token)
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
    place = ledger or folder / "survey.ledger"
    with Ledger(place) as ledger:
        assert ledger.verify().holds
        assert len(answers) == 32
        assert ledger.releases == 32
        assert ledger.spent == sd.Pure(8)
        stored = {entry.token: entry.release for entry in ledger.entries()}
        assert all(stored[answer.token] == json.loads(answer.to_json()) for answer in answers.values())
    office.close()
