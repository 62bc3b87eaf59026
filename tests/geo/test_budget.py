"""A device's budget in a file: processes share it, its total is kept, nobody else may read it."""

import multiprocessing
import os
import stat

import pytest

from sordino.errors import BudgetExceeded, LedgerDamaged, LedgerError, ParameterError
from sordino.geo import DeviceBudget
from sordino.privacy import Geo

FORK = multiprocessing.get_context("fork")
TOTAL = Geo(1, per=50)


def spend_often(path, budget, gate, results):
    budget = budget or DeviceBudget(TOTAL, path)
    gate.wait()
    done = 0
    for _ in range(40):
        try:
            budget.spend(Geo(0.01, per=50), "report")
            done += 1
        except BudgetExceeded:
            continue
    results.put(done)


@pytest.mark.few(1)
@pytest.mark.parametrize("opened", ["before the fork", "by each", "when there is none yet"])
def test_processes_cannot_overspend(tmp_path, opened):
    path = tmp_path / "device.json"
    shared = DeviceBudget(TOTAL, path) if opened != "when there is none yet" else None
    gate, results = FORK.Barrier(4), FORK.Queue()
    given = shared if opened == "before the fork" else None
    workers = [FORK.Process(target=spend_often, args=(path, given, gate, results)) for _ in range(4)]
    for worker in workers:
        worker.start()
    done = [results.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert sum(done) == 100  # a hundred hundredths are exactly one
    last = DeviceBudget(TOTAL, path)
    assert last.left == Geo(0, per=50)
    assert len(last.log) == 100
    assert [file.name for file in tmp_path.iterdir()] == ["device.json"]


def test_an_object_that_was_opened_long_ago_sees_what_others_spent(tmp_path):
    path = tmp_path / "device.json"
    first, second = DeviceBudget(TOTAL, path), DeviceBudget(TOTAL, path)
    first.spend(Geo(0.7, per=50), "one")
    assert second.left == Geo(0.3, per=50)
    with pytest.raises(BudgetExceeded):
        second.spend(Geo(0.7, per=50), "two")
    assert first.left == second.left == Geo(0.3, per=50)


def test_the_total_is_kept(tmp_path):
    path = tmp_path / "device.json"
    DeviceBudget(TOTAL, path).spend(Geo(0.5, per=50), "one")
    for larger in (Geo(2, per=50), Geo(1, per=49), Geo(1.000001, per=50)):
        with pytest.raises(LedgerError, match="smaller total"):
            DeviceBudget(larger, path)
    assert DeviceBudget(Geo(2, per=100), path).left == Geo(1, per=100)  # the same per metre
    less = DeviceBudget(Geo(0.6, per=50), path)
    with pytest.raises(BudgetExceeded):
        less.spend(Geo(0.2, per=50), "two")
    assert DeviceBudget(Geo(0.1, per=50), path).left == Geo(0, per=50)
    DeviceBudget(TOTAL, path).spend(Geo(0.5, per=50), "two")


def test_a_file_of_before_is_read(tmp_path):
    path = tmp_path / "device.json"
    path.write_text('{"total": {"kind": "geo", "epsilon": "1", "per": "50"}, "spent": "1/100", '
                    '"log": [{"what": "a", "rate": "1/100"}]}')  # fmt: skip
    assert DeviceBudget(TOTAL, path).left == Geo(0.5, per=50)


def test_a_lost_damaged_or_doubled_file_reports_nothing(tmp_path):
    path = tmp_path / "device.json"
    budget = DeviceBudget(TOTAL, path)
    budget.spend(Geo(0.5, per=50), "one")
    os.link(path, tmp_path / "second")
    with pytest.raises(LedgerError, match="several names"):
        budget.spend(Geo(0.1, per=50), "two")
    (tmp_path / "second").unlink()
    whole = path.read_text()
    path.write_text(whole.replace('"spent": "1/100"', '"spent": "1/1000"'))
    with pytest.raises(LedgerDamaged, match="add up"):
        budget.spend(Geo(0.1, per=50), "two")
    path.write_text("{")
    with pytest.raises(LedgerDamaged):
        budget.spend(Geo(0.1, per=50), "two")
    path.unlink()
    with pytest.raises(LedgerError, match="cannot be read"):
        budget.spend(Geo(0.1, per=50), "two")
    assert not path.exists()


def test_the_file_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "device.json"
    before = os.umask(0)
    try:
        DeviceBudget(TOTAL, path).spend(Geo(0.5, per=50), "one")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(ParameterError, match="price must be Geo"):
        DeviceBudget(TOTAL, path).spend(0.5, "one")
