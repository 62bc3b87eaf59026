"""A restored old copy, a rewritten end, a lowered total: noticed at the next release, at a constant cost."""

import shutil
from pathlib import Path

import pytest

from sordino.errors import LedgerDamaged, LedgerError, ParameterError
from sordino.ledger import Ledger, remembered
from sordino.ledger.chain import ChainRow, digest
from sordino.ledger.replay import TAIL
from sordino.privacy import Pure


def test_a_restored_old_copy_is_noticed_at_the_next_release(tmp_path, ask):
    path, backup = tmp_path / "people.ledger", tmp_path / "backup"
    with Ledger.create(path, Pure(1), reason="backups") as ledger:
        ledger.spend(ask(Pure(0.1)))
    shutil.copy(path, backup)
    with Ledger(path) as ledger:
        ledger.spend(ask(Pure(0.9)))
    shutil.copy(backup, path)
    with Ledger(path) as ledger:
        assert ledger.spent == Pure(0.1)  # whole in itself
        with pytest.raises(LedgerDamaged, match="row 3 is missing") as refusal:
            ledger.spend(ask(Pure(0.9)))
        assert any("row 3" in fault for fault in ledger.verify().faults)
        assert ledger.spent == Pure(0.1)
    with Ledger(backup) as elsewhere, pytest.raises(LedgerDamaged, match="row 3 is missing"):
        elsewhere.spend(ask(Pure(0.9)))
    # The hint names the file to delete by whoever wants to go on nevertheless.
    Path(refusal.value.hint.split("'")[1]).unlink()
    with Ledger(path) as ledger:
        ledger.spend(ask(Pure(0.5)))


def test_one_switch_turns_remembering_off(tmp_path, ask, monkeypatch):
    monkeypatch.setenv("SORDINO_STATE", "off")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path, backup = tmp_path / "people.ledger", tmp_path / "backup"
    with Ledger.create(path, Pure(1), reason="backups") as ledger:
        shutil.copy(path, backup)
        ledger.spend(ask(Pure(0.9)))
    assert not (tmp_path / "state").exists()
    with Ledger(backup) as ledger:
        ledger.spend(ask(Pure(0.9)))


def test_what_is_remembered_is_the_owners_alone_and_may_be_impossible(tmp_path, ask, monkeypatch):
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    with Ledger.create(tmp_path / "a.ledger", Pure(1), reason="rights") as ledger:
        ledger.spend(ask(Pure(0.1)))
    (file,) = (state / "sordino" / "ledgers").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    file.write_text("rubbish")
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    with Ledger(tmp_path / "a.ledger") as ledger:
        ledger.spend(ask(Pure(0.1)))
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    with Ledger(tmp_path / "a.ledger") as ledger:
        ledger.spend(ask(Pure(0.1)))
    assert file.read_text().startswith("4:")


def test_a_ledger_can_be_told_a_row_that_was_noted(location, ask, monkeypatch):
    monkeypatch.setenv("SORDINO_STATE", "off")
    with Ledger.create(location, Pure(1), reason="noted") as ledger:
        ledger.spend(ask(Pure(0.1)))
        report = ledger.verify()
        noted = f"{report.rows}:{report.head}"
        ledger.spend(ask(Pure(0.1)))
    with Ledger(location, known=noted) as ledger:
        ledger.spend(ask(Pure(0.1)))
        assert ledger.verify(known=noted).holds
    for wrong in (f"9:{report.head}", f"2:{'0' * 64}"):
        with Ledger(location, known=wrong) as ledger:
            with pytest.raises(LedgerDamaged, match="not the one that was seen"):
                ledger.spend(ask(Pure(0.1)))
            assert not ledger.verify().holds
    for wrong in ("", "5", "x:y", "²:ab", ":ab", "1" * 30 + ":ab"):
        with pytest.raises(ParameterError, match="ROW:HASH"):
            Ledger(location, known=wrong)
    with Ledger(location) as ledger:
        assert ledger.spent == Pure(Pure(0.1).epsilon * 3)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_an_end_written_anew_with_right_hashes_is_refused(tmp_path, ask, tampered, monkeypatch, depth):
    """The total of a row near the end is lowered and every hash after it repaired: a new client still refuses."""
    monkeypatch.setenv("SORDINO_STATE", "off")
    path = tmp_path / "people.ledger"
    with Ledger.create(path, Pure(3), reason="rewritten") as ledger:
        for _ in range(8):
            ledger.spend(ask(Pure(0.25)))
        with ledger._store.read() as page:
            rows = page.tail(depth)
    fresh, before = [], rows[0].before
    for row in rows:
        parts = (row.number, row.paid, row.kind, row.token, row.body, '{"epsilon":"1/4","kind":"pure"}', row.ceiling,
                 row.at, before, row.state)  # fmt: skip
        before = digest(*parts)
        fresh.append((*parts, before))
    statements = [
        f"UPDATE entries SET spent = '{row[5]}', before = '{row[8]}', hash = '{row[10]}' WHERE number = {row[0]}"
        for row in fresh
    ]
    tampered(path, *statements, f"UPDATE head SET hash = '{before}'")
    with Ledger(path) as ledger:
        assert not ledger.verify().holds
        with pytest.raises(LedgerDamaged, match="running total"):
            ledger.spend(ask(Pure(0.25)))
        with pytest.raises(LedgerDamaged, match="running total"):
            ledger.remaining  # noqa: B018


def test_a_row_that_was_seen_binds_everything_before_it(tmp_path, ask):
    """Rewritten deeper than the rows that are replayed: whoever wrote to the ledger before notices all the same."""
    path = tmp_path / "people.ledger"
    with Ledger.create(path, Pure(30), reason="rewritten") as ledger:
        for _ in range(2 * TAIL):
            ledger.spend(ask(Pure(0.25)))
        with ledger._store.read() as page:
            rows = page.rows(1, 100)
            last = page.at(1)
    (path).unlink()
    path.with_name(path.name + "-journal").unlink()
    from sordino.ledger import sqlite_file

    sqlite_file.create(path, last)
    with Ledger(path) as forged:
        with forged._store.write() as page:  # half as many releases, every hash right
            for row in rows[: TAIL + 2]:
                body = row.content
                last = ChainRow.after(
                    last, "spend", row.token + "x", body, spent=row.spent, ceiling=row.ceiling, at=row.at
                )
                page.append(last)
        with pytest.raises(LedgerDamaged, match="not the one that was seen"):
            forged.spend(ask(Pure(0.25)))


def test_the_cost_of_the_check_does_not_grow_with_the_ledger(tmp_path, ask, monkeypatch):
    monkeypatch.setenv("SORDINO_STATE", "off")
    path = tmp_path / "people.ledger"
    counts = []
    sealed = ChainRow.sealed.fget
    with Ledger.create(path, Pure(300), reason="long") as ledger:
        for _ in range(3 * TAIL):
            ledger.spend(ask(Pure(0.1)))

        def counting(row):
            counts.append(row.number)
            return sealed(row)

        monkeypatch.setattr(ChainRow, "sealed", property(counting))
        ledger.spend(ask(Pure(0.1)))
        assert len(counts) <= 5
        counts.clear()
        with Ledger(path) as fresh:
            fresh.spend(ask(Pure(0.1)))
        assert len(counts) <= TAIL + 5


def test_an_identity_follows_the_ledger_and_not_its_place(tmp_path, ask):
    with (
        Ledger.create(tmp_path / "a", Pure(1), reason="same") as first,
        Ledger.create(tmp_path / "b", Pure(1), reason="same") as second,
    ):
        first.spend(ask(Pure(0.1)))
        second.spend(ask(Pure(0.2)))  # another ledger of the same words and second
        first.spend(ask(Pure(0.1)))
        assert first.opening["id"] != second.opening["id"]
    (tmp_path / "a").rename(tmp_path / "c")
    with Ledger(tmp_path / "c") as moved:
        moved.spend(ask(Pure(0.1)))
    assert remembered.recall(f"ledger {first_id(tmp_path / 'c')}")[0] == 4


def first_id(path):
    with Ledger(path) as ledger:
        return ledger.opening["id"]


def test_a_missing_trigger_stops_releases_too(tmp_path, ask):
    import sqlite3

    path = tmp_path / "people.ledger"
    with Ledger.create(path, Pure(1), reason="triggers") as ledger:
        ledger.spend(ask(Pure(0.1)))
        connection = sqlite3.connect(path)
        connection.execute("DROP TRIGGER entries_stay")
        connection.close()
        with pytest.raises(LedgerError, match="tables or triggers"):
            ledger.spend(ask(Pure(0.1)))
        assert ledger.spent == Pure(0.1)
