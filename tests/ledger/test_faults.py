"""What can go wrong for real: killed processes, flipped bytes, lost rows, full disks, files that cannot be written."""

import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.errors import LedgerDamaged, LedgerError, SordinoError
from sordino.lattice import Lattice
from sordino.ledger import Ledger
from sordino.ledger.migrations import MIGRATIONS
from sordino.privacy import Pure
from sordino.session.release import Release


def release_once(location, event, token, pause=0.0):
    """What a session does around the ledger: pay, draw (it takes a while), record."""
    with Ledger(location) as ledger:
        entry = ledger.spend(event, token)
        if entry.release is None:
            time.sleep(pause)
            value = random.SystemRandom().random()
            release = Release(value=value, event=event, grid=Lattice.dyadic(-30), at=entry.at, version="0")
            return ledger.record(entry, release)
        return entry.release


def forked(job):
    """Run a job in a child that ends without cleaning up; the exit code says whether it raised."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        job()
        code = 0
    finally:
        os._exit(code)
    return child


PEOPLE = {"x": np.linspace(0, 1, 50)}
QUESTION = sd.Median("x", low=0, high=1, step=0.01)


def whole_release(location, token):
    """A release through the front door: check, pay, read, draw, record."""
    with Ledger(location) as ledger:
        session = sd.Session(Memory(PEOPLE), ledger, rows=50)
        return session.release(QUESTION, Pure(0.01), token=token)


def kill_at_random(location, releases, seed):
    chance = random.Random(seed)
    kills = finished = 0
    # What is public is worked out once, here: a child that has to begin with it is seldom killed at anything else.
    sd.open(PEOPLE, budget=Pure(1), rows=50).release(QUESTION, Pure(0.01))
    begun = time.perf_counter()
    for number in range(5):
        os.waitpid(forked(lambda number=number: whole_release(location, f"timing {number}")), 0)
    usual = (time.perf_counter() - begun) / 5
    for number in range(releases):
        token = f"release {number}"
        for _ in range(3):  # a stopped release is tried again with its token
            child = forked(lambda token=token: whole_release(location, token))
            time.sleep(chance.uniform(0, 1.5 * usual))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if os.WIFEXITED(status):
                assert os.WEXITSTATUS(status) == 0
                finished += 1
                usual /= 1.2  # machines are loaded now and then: as many are killed as finish
                break
            kills += 1
            usual *= 1.2
    return kills, finished


def check_after_kills(location, releases):
    with Ledger(location) as ledger:
        before = {entry.token: entry.release for entry in ledger.history}
        for number in range(releases):
            token = f"release {number}"
            first = whole_release(location, token)
            assert whole_release(location, token) == first
            if before.get(token) is not None:
                assert first.to_dict() == before[token]
        history = ledger.history
        assert len(history) == releases + 5 == len({entry.token for entry in history})
        assert all(entry.release is not None for entry in history)
        assert ledger.spent == Pure(0.01).times(releases + 5)
        assert ledger.verify().holds
        unfinished = sum(release is None for release in before.values())
        return unfinished, releases + 5 - len(before)


@pytest.mark.thorough
def test_killed_releases_lose_no_privacy_and_are_finished_with_their_token(location):
    Ledger.create(location, Pure(10), reason="kills").close()
    kills, finished = kill_at_random(location, 40, seed=1)
    assert kills >= 10
    assert finished >= 10
    check_after_kills(location, 40)


@pytest.mark.slow
def test_three_hundred_killed_releases(location):
    Ledger.create(location, Pure(10), reason="kills").close()
    kills, _ = kill_at_random(location, 300, seed=2)
    assert kills >= 100
    unfinished, unpaid = check_after_kills(location, 300)
    print(f"{kills} kills: {unfinished} paid without an answer and {unpaid} unpaid before the last try")


@pytest.fixture
def filled(tmp_path, ask):
    """A SQLite ledger with a few releases, closed."""
    path = tmp_path / "filled.ledger"
    with Ledger.create(path, Pure(30), reason="faults") as ledger:
        for number in range(12):
            release_once(path, ask(Pure(0.1 * (number + 1))), f"t{number}")
        ledger.raise_to(Pure(40), reason="more")
    assert not path.with_name(path.name + "-wal").exists()
    return path


def rows_of(path):
    with Ledger(path) as ledger:
        return ledger.export()


def test_a_flipped_byte_is_reported_or_changes_nothing(filled, tmp_path, ask):
    """Everywhere in the file: verification speaks up, or every row reads as before and the sum is right."""
    whole, before = filled.read_bytes(), rows_of(filled)
    chance, reported = random.Random(3), 0
    places = chance.sample(range(len(whole)), 300)
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        path = tmp_path / "flipped.ledger"
        path.write_bytes(damaged)
        with Ledger(path) as ledger:
            try:
                held = ledger.verify().holds
            except LedgerError:
                held = False
            if held:
                assert ledger.export() == before, f"a flipped byte at {place} went unnoticed"
            else:
                reported += 1
        for end in ("", "-journal"):
            path.with_name(path.name + end).unlink(missing_ok=True)
    assert reported > 100


def test_a_flipped_byte_in_any_row_is_reported(filled):
    """Text of a row, byte by byte at random places."""
    whole = filled.read_bytes()
    chance = random.Random(4)
    for sought in (b'"epsilon":"1/10"', b'"value":0.', b'"kind":"median"', b"2026", b'"reason":"more"'):
        place = whole.find(sought)
        if place < 0:
            continue
        damaged = bytearray(whole)
        damaged[place + chance.randrange(1, len(sought))] ^= 1
        filled.write_bytes(damaged)
        with Ledger(filled) as ledger:
            assert not ledger.verify().holds
    filled.write_bytes(whole)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM entries WHERE number = 5",
        "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)",
        "DELETE FROM entries WHERE number > 9",
        "DELETE FROM entries WHERE number = 1",
        "DELETE FROM entries",
        "DELETE FROM head",
        'UPDATE entries SET spent = \'{"epsilon":"0","kind":"pure"}\' WHERE number = (SELECT max(number) FROM entries)',
        "UPDATE entries SET token = 'other' WHERE number = 4",
        "UPDATE entries SET at = '2020-01-01T00:00:00+00:00' WHERE number = 4",
        "UPDATE head SET number = number - 1",
    ],
)
def test_a_changed_or_deleted_row_is_reported_and_nothing_is_spent_from_a_broken_end(
    filled, ask, tampered, statement
):
    tampered(filled, statement)
    with Ledger(filled) as ledger:
        assert not ledger.verify().holds
        if "max(number)" in statement or "> 9" in statement or "head" in statement:
            with pytest.raises(LedgerError, match="damaged"):
                ledger.spend(ask())


def test_a_consistently_rehashed_total_is_reported_and_nothing_is_released(
    filled, ask, tampered, monkeypatch
):
    """Someone lowers the total and repairs the hash of the last row: the replay of the events notices."""
    monkeypatch.setenv("SORDINO_STATE", "off")
    from sordino.ledger.chain import digest

    connection = sqlite3.connect(filled)
    row = list(
        connection.execute(
            "SELECT number, paid, kind, token, body, spent, ceiling, at, before, state "
            "FROM entries ORDER BY number DESC"
        ).fetchone()
    )
    connection.close()
    row[5] = '{"epsilon":"1/10","kind":"pure"}'
    tampered(
        filled,
        f"UPDATE entries SET spent = '{row[5]}', hash = '{digest(*row)}' WHERE number = {row[0]}",
        f"UPDATE head SET hash = '{digest(*row)}'",
    )
    with Ledger(filled) as ledger:
        assert any("running total" in fault for fault in ledger.verify().faults)
        with pytest.raises(LedgerDamaged, match="running total"):
            ledger.spend(ask())


def test_a_trigger_that_was_taken_away_is_reported(filled):
    connection = sqlite3.connect(filled)
    connection.execute("DROP TRIGGER entries_stay")
    connection.close()
    with Ledger(filled) as ledger:
        assert ledger.verify().faults == ("its tables or triggers are not those of a ledger",)


def test_rows_cannot_be_changed_or_deleted(ledger, ask):
    ledger.spend(ask())
    for statement in (
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries",
        "UPDATE head SET number = 1",
        "DELETE FROM head",
    ):
        with (
            pytest.raises(Exception, match=r"append-only|the database refused"),
            ledger._store.write() as page,
        ):
            page._connection.execute(statement)
    assert ledger.verify().holds


def test_on_postgres_deleted_rows_are_reported(postgres_server, ask):
    import psycopg

    location = f"{postgres_server}&ledger=tampered_{os.getpid()}"
    with Ledger.create(location, Pure(3), reason="tamper") as ledger:
        for _ in range(3):
            ledger.spend(ask(Pure(0.1)))
        assert ledger.verify().holds
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            schema = ledger._store.schema
            connection.execute(f"ALTER TABLE {schema}.entries DISABLE TRIGGER entries_keep")
            connection.execute(f"DELETE FROM {schema}.entries WHERE number = 4")
        assert len(ledger.verify().faults) == 3  # the trigger, the row, and that it was seen before
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"ALTER TABLE {schema}.entries ENABLE TRIGGER entries_keep")
        assert "missing at the end" in ledger.verify().faults[0]
        with pytest.raises(LedgerError, match="damaged"):
            ledger.spend(ask(Pure(0.1)))


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, 5000, 0.5, 0.9])
def test_a_truncated_file_is_reported_and_never_begun_anew(filled, ask, keep):
    whole = filled.read_bytes()
    filled.write_bytes(whole[: keep if isinstance(keep, int) else int(keep * len(whole))])
    with Ledger(filled) as ledger:
        assert not ledger.verify().holds
        with pytest.raises(LedgerError):
            ledger.spend(ask())
    with pytest.raises(LedgerError, match="already"):
        Ledger.create(filled, Pure(30), reason="again")


def test_a_file_of_another_kind_is_refused(tmp_path, ask):
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n" * 500)
    with Ledger(path) as ledger, pytest.raises(LedgerError, match="damaged"):
        ledger.spend(ask())
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (a)").connection.close()
    with Ledger(tmp_path / "other.db") as ledger:
        assert not ledger.verify().holds


def in_child(job):
    """Run a job in a forked child and bring back what it said."""
    inlet, outlet = os.pipe()

    def report():
        try:
            job()
            text = "released"
        except SordinoError as error:
            text = f"{type(error).__name__}: {error}"
        except BaseException as error:  # noqa: BLE001
            text = f"raw {error!r}"
        os.write(outlet, text.encode())

    child = forked(report)
    os.waitpid(child, 0)
    os.close(outlet)
    with os.fdopen(inlet) as pipe:
        return pipe.read()


def test_a_full_disk_gives_a_clear_error_and_no_release(filled, ask):
    before = rows_of(filled)

    def fill():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        release_once(filled, ask(Pure(0.1)), "no room")

    said = in_child(fill)
    assert said.startswith("LedgerError")
    assert "disk is full" in said
    assert "Nothing is released" in said
    assert rows_of(filled) == before
    assert release_once(filled, ask(Pure(0.1)), "no room")["value"] > 0


def test_a_file_that_cannot_be_written_gives_a_clear_error_and_no_release(filled, ask):
    before = rows_of(filled)
    folder = tempfile.mkdtemp()  # outside pytest's own folder, which only its owner may enter
    path = Path(folder) / filled.name
    shutil.copy(filled, path)
    path.chmod(0o444)
    path.parent.chmod(0o555)

    def as_reader():
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        with Ledger(path) as ledger:
            assert ledger.verify().holds  # reading is allowed
            assert len(ledger.history) == 12
        release_once(path, ask(Pure(0.1)), "no way")

    try:
        said = in_child(as_reader)
        path.parent.chmod(0o755)
        after = rows_of(path)
    finally:
        path.parent.chmod(0o755)
        shutil.rmtree(folder)
    assert said.startswith("LedgerError")
    assert "cannot be" in said
    assert after == before


def test_a_later_format_is_not_touched(filled, ask):
    connection = sqlite3.connect(filled)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    connection.close()
    with Ledger(filled) as ledger, pytest.raises(LedgerError, match="later version"):
        ledger.spend(ask())


def test_an_old_ledger_is_brought_up_to_date_when_it_is_opened(ledger, location, ask, monkeypatch):
    ledger.spend(ask(), "before")

    def more(page):
        page.run("CREATE TABLE notes (text TEXT NOT NULL)")

    monkeypatch.setattr("sordino.ledger.migrations.MIGRATIONS", MIGRATIONS)
    MIGRATIONS.append(more)
    try:
        with Ledger(location) as later:
            later.spend(ask(), "after")
            assert later.spent == Pure(1)
            assert later.verify().holds
    finally:
        MIGRATIONS.pop()


def test_a_password_never_appears(tmp_path):
    with pytest.raises(LedgerError) as refusal:
        Ledger(f"postgresql://me:hunter2@/db?host={tmp_path}").remaining  # noqa: B018
    assert "cannot be reached" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)
    assert "hunter2" not in repr(Ledger("postgresql://me:hunter2@host/db"))


def test_a_copy_of_a_ledger_in_use_is_whole(filled, tmp_path, ask):
    """When a spend returns it is in the file itself: a copy of that alone has it."""
    with Ledger(filled) as ledger:
        ledger.spend(ask(Pure(0.1)), "late")
        assert not filled.with_name(filled.name + "-wal").exists()
        shutil.copy(filled, tmp_path / "copy.ledger")
    with Ledger(tmp_path / "copy.ledger") as copy:
        assert copy.verify().holds
        assert any(entry.token == "late" for entry in copy.history)


def test_on_postgres_an_analyst_with_few_rights_can_spend_but_not_change(postgres_server, ask):
    """The grants that the refusal names are enough, and no more than appending comes of them."""
    import psycopg

    location = f"{postgres_server}&ledger=granted_{os.getpid()}"
    with Ledger.create(location, Pure(1), reason="grants") as owner:
        role = f"analyst_{os.getpid()}"
        theirs = location.replace("tester@", f"{role}@")
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN")
            with pytest.raises(LedgerError, match="cannot be written") as refused:
                Ledger(theirs).spend(ask(Pure(0.5)))
            connection.execute(refused.value.hint)
        with pytest.raises(LedgerError, match="GRANT CREATE ON DATABASE"):
            Ledger.create(theirs.replace("granted", "another"), Pure(1), reason="grants")
        with Ledger(theirs) as analyst:
            analyst.spend(ask(Pure(0.5)))
            with pytest.raises(LedgerError, match="cannot be written"), analyst._store.write() as page:
                page._connection.execute("UPDATE entries SET body = '{}'")
            with pytest.raises(LedgerError), analyst._store.write() as page:
                page._connection.execute("UPDATE head SET number = 1")
            assert analyst.verify().holds
        assert owner.remaining == Pure(0.5)
