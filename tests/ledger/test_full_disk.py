"""A PostgreSQL server whose disk is really full: the book is in a tablespace on a small file system in memory."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from sordino.errors import LedgerError
from sordino.exact.grid import Grid
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
            with Ledger.create(location, Pure(30), reason="a small disk") as book:
                released = _release(book, ask(Pure(0.01)), "first")
                server.execute("CREATE TABLE filler (x text) TABLESPACE small")
                server.execute("ALTER TABLE filler ALTER COLUMN x SET STORAGE EXTERNAL")
                with pytest.raises(psycopg.errors.DiskFull):
                    _fill(server)
                paid = []
                with pytest.raises(LedgerError, match="the disk is full") as refused:
                    _spend(book, ask(Pure(0.01)), paid)
                assert len(paid) < 199
                said = str(refused.value)
                assert "Nothing is released" in said
                assert "same token" in said
                assert "PASSWORD" not in said.upper()
                assert book.verify().holds
                assert book.spent == Pure((1 + len(paid)) * book.paid("first").cost.epsilon)
                assert book.paid(f"token {len(paid)}") is None
                with pytest.raises(LedgerError, match="the disk is full"):
                    _release_all(book, ask(Pure(0.01)), paid)
                server.execute("DROP TABLE filler")
                spent = book.spent
                answers = _release_all(book, ask(Pure(0.01)), paid)
                assert all(answer["event"] == released["event"] for answer in answers)
                assert book.spent == spent
                _release(book, ask(Pure(0.01)), f"token {len(paid)}")
                assert book.verify().holds
        finally:
            server.execute("ALTER ROLE tester RESET default_tablespace")
            server.execute("DROP TABLE IF EXISTS filler")
            server.execute(f"DROP SCHEMA IF EXISTS cramped_{os.getpid()} CASCADE")
            server.execute("DROP TABLESPACE small")


def _fill(server):
    while True:
        server.execute("INSERT INTO filler SELECT repeat('x', 7000) FROM generate_series(1, 4)")


def _spend(book, event, paid):
    """Spend until it is refused: what still fits into pages that are there."""
    for number in range(200):
        book.spend(event, f"token {number}")
        paid.append(f"token {number}")


def _release_all(book, event, tokens):
    return [_release(book, event, token) for token in tokens]


def _release(book, event, token):
    """Pay, draw, record."""
    entry = book.spend(event, token)
    if entry.release is not None:
        return entry.release
    return book.record(entry, Release(value=0.5, event=event, grid=Grid(-30), at=entry.at, version="0"))
