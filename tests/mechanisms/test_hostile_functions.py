"""A function may do what it likes: its own block's value is all that changes, and nothing comes out."""

import os
import sys
import time

import numpy as np
import pytest

import sordino as sd
from sordino.errors import ParameterError, Unsupported
from sordino.exact.bits import SeededBits
from sordino.mechanisms.blocks.dealing import block_values, deal
from sordino.running import pool
from sordino.running.block import Block, Plain, Rows
from sordino.running.evaluate import Task, value
from sordino.running.rehearsal import Rehearsal

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes of their own need Linux")

CANARY = "7777.25"
COUNT, ROWS = 8, 80


def table():
    numbers = np.arange(ROWS, dtype=float)
    numbers[5] = float(CANARY)
    return Rows({"x": Plain(numbers)})


def plain_mean(block):
    return float(np.minimum(block["x"], 100.0).mean())


def raises(block):
    raise ValueError(block["x"])


def sleeps(block):
    time.sleep(60)


def loops(block):
    while True:
        pass


def prints(block):
    print(block["x"].tolist(), flush=True)
    print(block["x"].tolist(), file=sys.stderr, flush=True)
    os.write(1, repr(block["x"].tolist()).encode())
    return plain_mean(block)


def writes(block):
    with open(os.path.expanduser("~/sordino_hostile"), "w") as stream:  # noqa: PTH123, PTH111
        stream.write(repr(block["x"].tolist()))
    return plain_mean(block)


def forks(block):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
    return plain_mean(block)


def eats(block):
    return float(len(bytearray(8 << 30)))


def exits(block):
    sys.exit(3)


def vanishes(block):
    os._exit(0)


def strikes(block):
    os.kill(os.getppid(), 9)
    return plain_mean(block)


def shouts(block):
    for number in range(3, 200):
        try:
            os.write(number, b"x" * 1000)
        except OSError:
            continue
    return plain_mean(block)


def several(block):
    return block["x"]


def text(block):
    return "17"


def imaginary(block):
    return 1j


def connects(block):
    import socket

    socket.create_connection(("127.0.0.1", 9), timeout=5)
    return plain_mean(block)


def spoils(block):
    found = plain_mean(block)
    block["x"][:] = 0
    block.clear()
    return found


HOSTILE = [raises, sleeps, loops, prints, writes, forks, eats, exits, vanishes, strikes, shouts, several, text,
           imaginary, connects, spoils]  # fmt: skip


@pytest.fixture
def expected():
    """What every block says when the function is harmless, and which block holds the canary."""
    function = sd.Function(plain_mean, columns=["x"], low=0, high=100, frame="numpy", isolation="none")
    values = block_values(function, table(), COUNT, 0, SeededBits(3))[0]
    dealt = deal(ROWS, None, COUNT, SeededBits(3), fixed=False)
    (held,) = [place for place in range(COUNT) if 5 in dealt.rows(place)]
    return values, held


@pytest.mark.few(2)
@pytest.mark.parametrize("attack", HOSTILE, ids=lambda f: f.__name__)
def test_only_the_value_of_its_own_block_changes(attack, expected, capfd):
    def hostile(block):
        return attack(block) if float(CANARY) in block["x"] else plain_mean(block)

    psutil = pytest.importorskip("psutil")
    pool.end()
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    function = sd.Function(hostile, columns=["x"], low=0, high=100, frame="numpy", seconds=1, memory=2**30)
    start = time.monotonic()
    values = block_values(function, table(), COUNT, 0, SeededBits(3))[0]
    assert time.monotonic() - start < 40
    usual, held = expected
    assert np.delete(values, held).tolist() == np.delete(usual, held).tolist()
    failed = (0.0, 100.0)[held % 2]
    assert values[held] in (failed, usual[held])
    if attack in {raises, sleeps, loops, eats, exits, vanishes, several, text, imaginary, writes, connects}:
        assert values[held] == failed
    if attack in {prints, spoils, forks}:
        assert values[held] == usual[held]
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err
    assert not os.path.exists(os.path.expanduser("~/sordino_hostile"))  # noqa: PTH110, PTH111
    pool.end()  # the process from which workers are forked is kept, and has seen no row
    left = {child.pid for child in psutil.Process().children(recursive=True)} - before
    assert not left


STATE = []


def counts(block):
    STATE.append(block["x"])
    os.environ["SORDINO_STATE"] = os.environ.get("SORDINO_STATE", "") + "x"
    return len(STATE) + len(os.environ["SORDINO_STATE"])


def draws(block):
    import random

    return np.random.random() + random.random()


def test_nothing_is_remembered_from_block_to_block():
    function = sd.Function(counts, columns=["x"], low=0, high=100, frame="numpy", workers=1)
    assert block_values(function, table(), COUNT, 0, SeededBits(3)).tolist() == [[2.0] * COUNT]


def test_what_a_function_imports_is_loaded_once():
    def f(block):
        import sys

        there = "colorsys" in sys.modules  # nothing else imports it
        import colorsys

        return float(there and colorsys is not None)

    function = sd.Function(f, columns=["x"], low=0, high=1, frame="numpy")
    assert block_values(function, table(), COUNT, 0, SeededBits(3)).tolist() == [[1.0] * COUNT]


def test_a_block_says_the_same_whenever_it_is_asked():
    function = sd.Function(draws, columns=["x"], low=0, high=2, frame="numpy")
    first, second = (block_values(function, table(), COUNT, 0, SeededBits(3))[0] for _ in range(2))
    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) == COUNT


def draws_late(block):
    """Draws only where the rows are not made up, so that numpy's random numbers are loaded inside the block."""
    return np.random.random() if len(block["x"]) < 40 else 0.0


def test_random_numbers_that_are_loaded_late_are_seeded_too():
    function = sd.Function(draws_late, columns=["x"], low=0, high=1, frame="numpy")
    first, second = (block_values(function, table(), COUNT, 0, SeededBits(3))[0] for _ in range(2))
    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) == COUNT


def test_one_process_is_kept_from_run_to_run_until_the_code_is_edited(tmp_path, monkeypatch):
    module = tmp_path / "edited_by_somebody.py"
    module.write_text("def f(block):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    from edited_by_somebody import f

    function = sd.Function(f, columns=["x"], low=0, high=9, frame="numpy")

    def run():
        values = set(block_values(function, table(), COUNT, 0, SeededBits(3))[0].tolist())
        return values, pool._FIRST._kept[1].process.pid

    values, first = run()
    assert values == {1.0}
    assert run() == (values, first)
    module.write_text("def f(block):\n    return 2.0\n")
    os.utime(module, (1, 1))
    values, second = run()
    assert values == {2.0}
    assert second != first


def test_nothing_of_a_value_is_in_the_release_the_ledger_or_a_message(tmp_path, capfd, caplog):
    def hostile(block):
        print(block["x"].tolist())
        raise ValueError(block["x"].tolist())

    rows = {"x": np.full(400, float(CANARY))}
    people = sd.open(rows, ledger=tmp_path / "people.ledger", budget=sd.Pure(5))
    function = sd.Function(hostile, columns=["x"], low=0, high=10, frame="numpy", blocks=20)
    release = people.release(function, sd.Pure(1), purpose="all blocks fail and there is an answer")
    assert 0 <= float(release) <= 10
    shown = capfd.readouterr()
    kept = (tmp_path / "people.ledger").read_bytes().decode("latin-1")
    everything = (
        shown.out + shown.err + caplog.text + release.to_json() + release.explain() + repr(release) + kept
    )
    assert CANARY not in everything
    assert "ValueError" not in everything
    assert function.digest in release.to_json()


def test_failing_blocks_shift_nothing_when_they_take_the_ends_in_turn():
    def fails_sometimes(block):
        if block["x"].sum() % 10 < 1:
            raise ValueError
        return 50.0

    random = np.random.default_rng(4)
    rows = Rows({"x": Plain(np.floor(random.random(4000) * 1000))})
    function = sd.Function(fails_sometimes, columns=["x"], low=0, high=100, frame="numpy", isolation="none")
    values = block_values(function, rows, 200, 0, SeededBits(1))[0]
    failed = values[values != 50.0]
    assert 5 < len(failed) < 45
    assert set(failed.tolist()) == {0.0, 100.0}
    declared = sd.Function(
        fails_sometimes, columns=["x"], low=0, high=100, frame="numpy", isolation="none", otherwise=50
    )
    assert set(block_values(declared, rows, 200, 0, SeededBits(1))[0].tolist()) == {50.0}


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow", "numpy"])
def test_a_block_shows_nothing_of_other_rows(frame):
    pytest.importorskip(frame)
    texts = np.array([None, "a", "b", None], object)
    rows = Rows({"x": Plain(np.array([1.0, np.nan, 3.0, 4.0])), "w": Plain(np.full(4, np.nan), texts, words=True),
                 "m": Plain(np.array([1.0, np.nan, 2.0, 3.0]), texts)})  # fmt: skip
    block = rows.block(np.array([0, 3]))
    made = block.frame(frame)
    if frame == "pandas":
        assert made.index.tolist() == [0, 1]
        assert made.index.start == 0
        assert not made.attrs
        assert [str(kind) for kind in made.dtypes] == [
            "float64",
            "object",
            "float64",
        ]  # no text is in this block
        made.iloc[0, 0] = 9
    elif frame == "polars":
        assert [str(kind) for kind in made.dtypes] == ["Float64", "String", "Float64"]
    elif frame == "pyarrow":
        assert made.schema.metadata is None
        assert made["x"].chunk(0).buffers()[1].size <= 64
    else:
        assert all(column.base is None and len(column) == 2 for column in made.values())
        made["x"][0] = 9
    assert block.columns["x"].tolist() == [1.0, 4.0]


def test_the_jackknife_takes_the_bias_of_a_variance_away():
    block = Block({"x": np.arange(10.0)}, 10)
    spread = lambda one: float(np.var(one["x"]))  # noqa: E731  divides by n: biased
    (plain,) = value(spread, block, Task("numpy"), 0)
    (bent,) = value(spread, block, Task("numpy", (), 10), 0)
    assert plain == pytest.approx(8.25)
    assert bent == pytest.approx(np.var(block.columns["x"], ddof=1))


@pytest.mark.parametrize(
    "result", [True, 3, np.float32(2.5), np.array(2.0), np.int64(7), float("inf")], ids=repr
)
def test_numbers_of_every_kind_are_numbers(result):
    assert value(lambda block: result, Block({"x": np.ones(2)}, 2), Task("numpy"), 0) == (float(result),)


@pytest.mark.parametrize(
    "result", [None, "3", [3.0], np.array([3.0]), float("nan"), 2j, {}, (1, 2)], ids=repr
)
def test_what_is_no_number_is_none(result):
    assert value(lambda block: result, Block({"x": np.ones(2)}, 2), Task("numpy"), 0) is None


def test_several_numbers_come_by_place_or_by_name():
    block, task = Block({"x": np.ones(2)}, 2), Task("numpy", ("a", "b"))
    for result in [(1, 2), [1.0, 2.0], np.array([1, 2]), {"b": 2, "a": 1, "c": 3}]:
        assert value(lambda _, result=result: result, block, task, 0) == (1.0, 2.0)
    for result in [3.0, (1, 2, 3), {"a": 1}, "ab"]:
        assert value(lambda _, result=result: result, block, task, 0) is None


def test_a_function_that_holds_a_table_is_refused():
    pandas = pytest.importorskip("pandas")
    held = pandas.DataFrame({"x": [1.0]})
    with pytest.raises(ParameterError, match="must not hold a table"):
        sd.Function(lambda block: held.x.mean(), columns=["x"], low=0, high=1)
    array = np.zeros(2000)
    with pytest.raises(ParameterError, match="must not hold a table"):
        sd.Function(lambda block: array.mean(), columns=["x"], low=0, high=1)


def test_a_function_that_cannot_be_loaded_elsewhere_is_refused_before_the_debit(monkeypatch):
    people = sd.open({"x": np.arange(400.0)}, budget=sd.Pure(5))

    class Broken:
        __name__ = "broken"

        def __reduce__(self):
            return (__import__, ("no_such_module_anywhere",))

        def __call__(self, block):
            return 1.0

    with pytest.raises(Unsupported, match="cannot be loaded"):
        people.release(sd.Function(Broken(), columns=["x"], low=0, high=1, blocks=20), sd.Pure(1))
    assert people.remaining == sd.Pure(5)


def test_a_rehearsal_on_public_rows_shows_everything():
    def fails(block):
        return 1 / 0

    example = {"x": np.arange(200.0)}
    shown = sd.Function(fails, columns=["x"], low=0, high=1, frame="numpy").rehearse(example, blocks=2)
    assert isinstance(shown, Rehearsal)
    assert "ZeroDivisionError" in str(shown)
    good = sd.Function(plain_mean, columns=["x"], low=0, high=1, frame="numpy").rehearse(example, blocks=4)
    assert good.spread > 0
    assert "4 gave a number" in str(good)
