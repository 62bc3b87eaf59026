"""Many processes, one budget: never more than the ceiling, and one answer per token."""

import multiprocessing
import time

import pytest

from sordino.errors import BudgetExceeded
from sordino.lattice import Lattice
from sordino.ledger import Ledger
from sordino.privacy import Pure
from sordino.session.release import Release

FORK = multiprocessing.get_context("fork")


def spend_often(location, event, tries, gate, results):
    gate.wait()
    done = 0
    with Ledger(location) as ledger:
        for _ in range(tries):
            try:
                ledger.spend(event)
                done += 1
            except BudgetExceeded:
                continue
    results.put(done)


def run(target, count, *arguments):
    gate, results = FORK.Barrier(count), FORK.Queue()

    def work():
        try:
            target(*arguments, gate, results)
        except BaseException as error:
            results.put(error)
            raise

    workers = [FORK.Process(target=work) for _ in range(count)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    return found


@pytest.mark.few(1)
def test_eight_processes_with_two_hundred_spends_each_get_exactly_the_room_for_137(location, ask):
    # 0.01 is no dyadic number: 137 of them are exactly 1.37 and not one more fits.
    with Ledger.create(location, Pure(1.37), reason="race") as ledger:
        ledger.close()
        done = run(spend_often, 8, location, ask(Pure(0.01)), 200)
        assert sum(done) == 137
        assert len(ledger.history) == 137
        assert ledger.remaining == Pure(0)
        assert ledger.verify().holds


def finish_together(location, event, token, value, gate, results):
    gate.wait()
    with Ledger(location) as ledger:
        entry = ledger.spend(event, token)
        time.sleep(0.01)
        release = Release(
            value=value + time.time(), event=event, grid=Lattice.dyadic(0), at=entry.at, version="0"
        )
        kept = ledger.record(entry, release)
    results.put((entry.number, kept["value"]))


def test_one_token_in_many_processes_pays_once_and_has_one_answer(location, ask):
    with Ledger.create(location, Pure(3), reason="race") as ledger:
        ledger.close()
        found = run(finish_together, 6, location, ask(), "the table", 0.0)
        assert len(set(found)) == 1
        assert ledger.spent == Pure(0.5)
        assert ledger.verify().holds


def create_together(location, gate, results):
    from sordino.errors import LedgerError

    gate.wait()
    try:
        Ledger.create(location, Pure(3), reason="race").close()
        results.put(1)
    except LedgerError:
        results.put(0)


def test_only_one_of_many_can_begin_the_ledger(location):
    assert sum(run(create_together, 6, location)) == 1
    with Ledger(location) as ledger:
        assert ledger.verify().holds


def test_threads_share_one_ledger(location, ask):
    from concurrent.futures import ThreadPoolExecutor

    for where in (location, None):
        with Ledger.create(where, Pure(0.25), reason="threads") as ledger:

            def attempt(_, ledger=ledger):
                try:
                    ledger.spend(ask(Pure(0.01)))
                except BudgetExceeded:
                    return 0
                return 1

            with ThreadPoolExecutor(6) as pool:
                assert sum(pool.map(attempt, range(60))) == 25
            assert ledger.verify().holds


def test_a_ledger_in_memory_is_not_shared_with_a_child(ask):
    from sordino.errors import LedgerError

    with Ledger.create(None, Pure(1), reason="fork") as ledger:

        def in_child(gate, results):
            try:
                ledger.spend(ask())
                results.put("spent")
            except LedgerError as error:
                results.put(error.rule)

        assert run(in_child, 1) == ["cannot be shared between processes"]
        assert ledger.remaining == Pure(1)


def test_a_file_system_without_links_still_begins_a_ledger_only_once(tmp_path, monkeypatch):
    from sordino.errors import LedgerError

    def unable(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", unable)
    with Ledger.create(tmp_path / "b", Pure(1), reason="no links") as ledger:
        assert ledger.verify().holds
    with pytest.raises(LedgerError, match="already"):
        Ledger.create(tmp_path / "b", Pure(1), reason="again")
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
