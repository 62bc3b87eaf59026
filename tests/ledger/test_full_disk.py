"""A PostgreSQL server whose disk is really full: the ledger is in a tablespace on a small file system in memory."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from sordino.errors import LedgerError
from sordino.lattice import Lattice
from sordino.ledger import Ledger
from sordino.privacy import Pure
from sordino.session.release import Release


@pytest.fixture
def small_disk():
    """A folder of six megabytes that the server may write to."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a file system in memory needs the rights to do so")
    folder = Path(tempfile.mkdtemp(prefix="small", dir="/tmp"))
    nobody = pwd.getpwnam("nobody")
    options = f"size=6m,uid={nobody.pw_uid},gid={nobody.pw_gid},mode=700"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        folder.rmdir()
        pytest.skip("mounting a file system in memory is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
        folder.rmdir()


def test_a_full_disk_of_the_server_gives_a_clear_error_and_no_release(small_disk, postgres_server, ask):
    """What was paid stays paid, nothing is half written, and with room again the same token goes on."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as server:
        server.execute(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
        server.execute("ALTER ROLE tester SET default_tablespace = 'small'")
        location = f"{postgres_server}&ledger=cramped_{os.getpid()}"
        try:
            with Ledger.create(location, Pure(30), reason="a small disk") as ledger:
                released = _release(ledger, ask(Pure(0.01)), "first")
                server.execute("CREATE TABLE filler (x text) TABLESPACE small")
                server.execute("ALTER TABLE filler ALTER COLUMN x SET STORAGE EXTERNAL")
                with pytest.raises(psycopg.errors.DiskFull):
                    _fill(server)
                paid = []
                with pytest.raises(LedgerError, match="the disk is full") as refused:
                    _spend(ledger, ask(Pure(0.01)), paid)
                assert len(paid) < 199
                said = str(refused.value)
                assert "Nothing is released" in said
                assert "same token" in said
                assert "PASSWORD" not in said.upper()
                assert ledger.verify().holds
                assert ledger.spent == Pure((1 + len(paid)) * ledger.paid("first").cost.epsilon)
                assert ledger.paid(f"token {len(paid)}") is None
                with pytest.raises(LedgerError, match="the disk is full"):
                    _release_all(ledger, ask(Pure(0.01)), paid)
                server.execute("DROP TABLE filler")
                spent = ledger.spent
                answers = _release_all(ledger, ask(Pure(0.01)), paid)
                assert all(answer["event"] == released["event"] for answer in answers)
                assert ledger.spent == spent
                _release(ledger, ask(Pure(0.01)), f"token {len(paid)}")
                assert ledger.verify().holds
        finally:
            server.execute("ALTER ROLE tester RESET default_tablespace")
            server.execute("DROP TABLE IF EXISTS filler")
            server.execute(f"DROP SCHEMA IF EXISTS cramped_{os.getpid()} CASCADE")
            server.execute("DROP TABLESPACE small")


def _fill(server):
    while True:
        server.execute("INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 4)")


def _spend(ledger, event, paid):
    """Spend until it is refused: what still fits into pages that are there."""
    for number in range(200):
        ledger.spend(event, f"token {number}")
        paid.append(f"token {number}")


def _release_all(ledger, event, tokens):
    return [_release(ledger, event, token) for token in tokens]


def _release(ledger, event, token):
    """Pay, draw, record."""
    entry = ledger.spend(event, token)
    if entry.release is not None:
        return entry.release
    return ledger.record(
        entry, Release(value=0.5, event=event, grid=Lattice.dyadic(-30), at=entry.at, version="0")
    )
