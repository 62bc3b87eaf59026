"""A SQLite ledger and its file: one name, one place, everything in it when a spend returns, for its owner alone."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from sordino.errors import BudgetExceeded, LedgerError, ParameterError
from sordino.ledger import Ledger
from sordino.privacy import Pure


@pytest.fixture
def path(tmp_path):
    """The file of a new ledger of two epsilons."""
    place = tmp_path / "people.ledger"
    Ledger.create(place, Pure(2), reason="place").close()
    return place


def spend_until_refused(ledger, event):
    done = 0
    while True:
        try:
            ledger.spend(event)
        except (LedgerError, BudgetExceeded):
            return done
        done += 1


def test_two_hard_links_are_refused_on_both_sides_and_nothing_is_spent(path, ask):
    with Ledger(path) as first:
        first.spend(ask(Pure(0.1)))
        other = path.with_name("other.ledger")
        os.link(path, other)
        with Ledger(other) as second:
            for ledger in (first, second):
                with pytest.raises(LedgerError, match="2 names") as refusal:
                    ledger.spend(ask(Pure(0.1)))
                assert "Nothing was spent" in str(refusal.value)
            assert any("2 names" in fault for fault in second.verify().faults)
        other.unlink()
        assert first.spent == Pure(0.1)
        first.spend(ask(Pure(0.1)))
        assert first.verify().holds


def test_the_name_under_which_a_ledger_was_built_is_taken_away_when_its_maker_died(path, ask):
    os.link(path, path.with_name(f".{path.name}.123.abcd.new"))
    with Ledger(path) as ledger:
        ledger.spend(ask(Pure(0.1)))
    assert {file.name for file in path.parent.iterdir()} == {path.name, path.name + "-journal"}


@pytest.mark.parametrize("fate", ["deleted", "moved", "replaced"])
def test_a_ledger_that_was_taken_away_while_open_refuses(path, ask, fate):
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    with Ledger(path) as ledger:
        ledger.spend(ask(Pure(0.1)))
        if fate == "deleted":
            path.unlink()
        elif fate == "moved":
            path.rename(path.with_name("elsewhere"))
        else:
            copy.replace(path)
        assert spend_until_refused(ledger, ask(Pure(0.1))) == 0
        with pytest.raises(LedgerError, match="moved, replaced or deleted"):
            ledger.spend(ask(Pure(0.1)))
        with pytest.raises(LedgerError, match="moved, replaced or deleted"):
            ledger.remaining  # noqa: B018


def test_taken_away_between_the_first_read_and_the_commit(path, ask):
    with Ledger(path) as ledger:

        def spend_and_lose_the_file():
            with ledger._store.write() as page:
                ledger._tail.checked(page)
                path.rename(path.with_name("elsewhere"))

        with pytest.raises(LedgerError, match="moved, replaced or deleted"):
            spend_and_lose_the_file()


def test_every_spend_is_in_the_file_itself_when_it_returns(path, tmp_path, ask):
    with Ledger(path) as ledger:
        for number in range(1, 6):
            ledger.spend(ask(Pure(0.1)))
            shutil.copy(path, tmp_path / "copy")
            with Ledger(tmp_path / "copy") as copy:
                assert len(copy.history) == number
                assert copy.verify().holds
        (mode,) = ledger._store._connection().execute("PRAGMA journal_mode").fetchone()
        (synchronous,) = ledger._store._connection().execute("PRAGMA synchronous").fetchone()
    assert (mode, synchronous) == ("persist", 2)


def test_a_write_ahead_log_that_somebody_switched_on_is_left_again(path, ask):
    with Ledger(path) as ledger:
        ledger.spend(ask(Pure(0.1)))
        other = sqlite3.connect(path)
        assert other.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        other.close()
        ledger.spend(ask(Pure(0.1)))
        assert not path.with_name(path.name + "-wal").exists()
        assert len(ledger.history) == 2


HALF_COMMITTED = textwrap.dedent("""
    import os, sqlite3, sys
    connection = sqlite3.connect(sys.argv[1], isolation_level=None)
    connection.execute("PRAGMA journal_mode=PERSIST")
    connection.execute("PRAGMA cache_size=1")  # dirty pages spill into the file before the commit
    connection.execute("BEGIN IMMEDIATE")
    for name in ("entries_keep", "entries_stay"):
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DELETE FROM entries WHERE number > 1")
    connection.execute("CREATE TABLE filler (x)")
    for _ in range(200):
        connection.execute("INSERT INTO filler VALUES (randomblob(4000))")
    os._exit(9)
""")


def half_committed(path):
    """A transaction that died in the middle of writing into the file."""
    done = subprocess.run([sys.executable, "-c", HALF_COMMITTED, path], check=False)
    assert done.returncode == 9
    assert path.with_name(path.name + "-journal").read_bytes()[:4] == b"\xd9\xd5\x05\xf9"  # hot


def test_a_reader_rolls_a_hot_journal_back_and_misses_nothing(path, ask):
    with Ledger(path) as ledger:
        for _ in range(5):
            ledger.spend(ask(Pure(0.1)))
    half_committed(path)
    with Ledger(path) as ledger:
        assert ledger.spent == Pure(0.5)
        assert ledger.verify().holds


@pytest.mark.skipif(os.getuid() != 0, reason="takes another user's rights")
def test_a_reader_who_may_not_roll_back_is_refused_rather_than_told_less(ask):
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())  # outside pytest's own folder, which only its owner may enter
    path = folder / "people.ledger"
    try:
        with Ledger.create(path, Pure(2), reason="read-only") as ledger:
            for _ in range(5):
                ledger.spend(ask(Pure(0.1)))
        half_committed(path)
        path.chmod(0o444)
        path.with_name(path.name + "-journal").chmod(0o444)
        folder.chmod(0o555)
        script = (
            "import os, sys\n"
            "import sordino.ledger.sqlite\n"  # before the rights to read the library may be gone
            "from sordino.ledger import Ledger\n"
            "from sordino.errors import LedgerError\n"
            "os.setgid(65534); os.setuid(65534)\n"
            "try:\n    print(Ledger(sys.argv[1]).spent)\n"
            "except LedgerError as error:\n    print('refused', error.rule)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, path], check=False, capture_output=True, text=True
        )
        assert done.stdout.startswith("refused"), done.stdout + done.stderr
        folder.chmod(0o755)
        path.chmod(0o644)
        path.with_name(path.name + "-journal").chmod(0o644)
        with Ledger(path) as ledger:
            assert ledger.spent == Pure(0.5)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_ledgers_and_their_journals_are_for_their_owner_alone(tmp_path, ask):
    before = os.umask(0)
    try:
        with Ledger.create(tmp_path / "people.ledger", Pure(1), reason="rights") as ledger:
            ledger.spend(ask(Pure(0.1)))
    finally:
        os.umask(before)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("people*")}
    assert modes == {"people.ledger": 0o600, "people.ledger-journal": 0o600}


def test_a_long_reading_does_not_keep_writers_waiting(path, ask):
    with Ledger(path) as ledger, Ledger(path) as other:
        ledger.spend(ask(Pure(0.1)))
        entries = ledger.entries()
        next(entries)
        begun = time.monotonic()
        other.spend(ask(Pure(0.1)))
        assert time.monotonic() - begun < 5
        entries.close()


def test_writers_queue_in_the_order_in_which_they_come(tmp_path):
    from sordino.ledger.turn import turn

    place = tmp_path / "file"
    place.touch()
    order, workers = [], []

    def work(number):
        with turn(place):
            order.append(number)
            time.sleep(0.02)

    with turn(place):
        for number in range(6):
            workers.append(threading.Thread(target=work, args=(number,)))
            workers[-1].start()
            time.sleep(0.03)
    for worker in workers:
        worker.join()
    assert sorted(order) == list(range(6))


def test_a_turn_that_somebody_holds_for_too_long_is_passed_by(tmp_path):
    from sordino.ledger.turn import turn

    place = tmp_path / "file"
    place.touch()
    with turn(place):
        begun = time.monotonic()
        with turn(place, patience=0.2):
            assert 0.1 < time.monotonic() - begun < 5
    begun = time.monotonic()
    with turn(place):
        assert time.monotonic() - begun < 5
    with turn(tmp_path / "not there"):
        pass
    assert {file.name for file in tmp_path.iterdir()} == {"file", "file-journal"}


def test_a_ledger_in_memory_is_asked_for_by_none_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=r"memory is asked for by None"):
        Ledger.create(":memory:", Pure(2), reason="place")
    Ledger.create(None, Pure(2), reason="place").close()
    assert list(tmp_path.iterdir()) == []
