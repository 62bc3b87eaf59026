"""Functions in a session: every relation, people with several rows, filters, groups, sources, ledger, plan, words."""

import json

import numpy as np
import pytest

import sordino as sd
from sordino.cli import program
from sordino.data.memory import Memory
from sordino.errors import DataError, ParameterError, Unsupported
from sordino.privacy import Neighbors, Unit
from sordino.reading.requests import Blocks
from sordino.session.quote import prepare
from sordino.statistics import Statistic

ROWS = 3000


def middle(block):
    return float(np.median(block["x"]))


def both(block):
    return {"low": block["x"].min(), "middle": np.median(block["x"])}


def asked(f=middle, **options):
    given = {"columns": ["x"], "low": -100, "high": 100, "frame": "numpy", "isolation": "none", **options}
    return sd.Function(f, **given)


def rows(seed=1):
    random = np.random.default_rng(seed)
    return {
        "x": random.normal(5, 1, ROWS),
        "region": np.array(["north", "south"])[random.integers(0, 2, ROWS)],
        "person": random.integers(0, 1500, ROWS),
    }


@pytest.mark.parametrize("price", [sd.Pure(1), sd.Concentrated(0.5)])
@pytest.mark.parametrize("aggregate", [None, "median", "mean"])
def test_a_release_is_near_the_value(price, aggregate):
    people = sd.open(rows(), budget=price.scaled(3))
    options = {"spread": 0.5} if aggregate == "mean" else {}
    found = people.release(asked(aggregate=aggregate, unbiased=True, block_rows=10, **options), price)
    assert abs(float(found) - 5) < 0.5
    assert people.remaining.within(price.scaled(2))


def test_an_interval_is_for_the_population_and_says_so(monkeypatch):
    monkeypatch.setattr("sordino.mechanisms.blocks.pivot.RUNS", 60)
    people = sd.open(rows(), budget=sd.Pure(5))
    found = people.release(asked(unbiased=True, spread=0.5), sd.Pure(3), interval=0.9)
    assert found.interval.low < float(found) < found.interval.high
    assert found.interval.high - found.interval.low < 1
    assert "in the population" in found.explain()
    assert sd.Release.from_json(found.to_json()) == found


@pytest.mark.parametrize("relation", [Neighbors.REPLACE_ONE, Neighbors.ADD_REMOVE_ONE])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
def test_one_person_costs_the_price_whatever_they_have(relation, several, filtered):
    unit = sd.Unit("person", max_rows=4) if several else None
    people = sd.open(rows(), budget=sd.Pure(5), neighbors=relation, unit=unit, rows=None)
    if filtered:
        people = people.where(("region", "==", "north"))
    function = asked(block_rows=5)
    event = people.quote(function, sd.Pure(1), rows=1500)
    assert event.contribution == 1
    assert event.guarantee == sd.Pure(1)
    assert event.mechanism["price"] == sd.Pure(1).to_dict()


@pytest.mark.parametrize(("relation", "moved"), [(Neighbors.REPLACE_ONE, 8), (Neighbors.ADD_REMOVE_ONE, 4)])
def test_groups_share_the_price_by_the_rows_that_one_person_may_have(relation, moved):
    asking = prepare(
        asked(), sd.Pure(8), neighbors=relation, unit=Unit("person", max_rows=4), rows=40_000,
        by=("region", ("north", "south")),
    )  # fmt: skip
    assert asking.event.contribution == moved
    assert asking.parts[0].mechanism.guarantee == sd.Pure(8).share(sd.Pure(1).per_row(moved).epsilon)
    assert asking.parts[0].first == Blocks(("x",), whole=False)


def test_groups_are_answered_each():
    people = sd.open({**rows(), "x": np.where(rows()["region"] == "north", 1.0, 9.0)}, budget=sd.Pure(9))
    found = people.release_by("region", ["north", "south"], asked(block_rows=5), sd.Pure(6))
    assert found.groups["north"] == pytest.approx(1, abs=0.5)
    assert found.groups["south"] == pytest.approx(9, abs=0.5)


def test_all_rows_of_a_person_are_read_unless_groups_limit_them():
    source = Memory({"x": [1.0, 2.0, 3.0, 4.0], "who": ["a", "a", None, "b"]}, unit=Unit("who", max_rows=1))
    (whole,) = source.summary(Blocks(("x",)))
    (bounded,) = source.summary(Blocks(("x",), whole=False))
    assert whole.table.columns["x"].numbers.tolist() == [1, 2, 4]
    assert len(set(whole.table.units.tolist())) == 2
    assert len(bounded.table) == 2
    north = source.where(sd.Condition("x", ">", 1)).summary(Blocks(("x",)))[0]
    assert north.table.columns["x"].numbers.tolist() == [2, 4]


def _sorted(summary):
    columns = summary.table.columns
    texts = columns["w"].texts.tolist()
    numbers = [None if number != number else number for number in columns["x"].numbers.tolist()]
    return sorted(zip(numbers, texts, summary.table.units.tolist(), strict=True), key=repr)


def test_every_source_hands_out_the_same_plain_rows(tmp_path):
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    table = {"x": [1.5, None, 3.0, 4.0], "w": ["a", None, "c", "a"], "who": [7, 7, 9, 8], "id": [1, 2, 3, 4]}
    frame = polars.DataFrame(table)
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    unit, request = Unit("who", max_rows=2), Blocks(("x", "w"))
    from sordino.data import open_source

    expected = _sorted(Memory(frame, unit=unit).summary(request)[0])
    connection = duckdb.connect()
    for given in (
        table,
        pandas.DataFrame(table).astype({"w": "category"}),
        frame.lazy(),
        str(tmp_path / "rows.parquet"),
        connection.from_arrow(frame.to_arrow()),
        str(tmp_path / "rows.csv"),
    ):
        source = open_source(given, unit=unit, row=None if str(given).endswith("csv") else "id")
        source.check(request)
        found = _sorted(source.summary(request)[0])
        assert [(row[0], row[1]) for row in found] == [(row[0], row[1]) for row in expected], given


def test_an_engine_elsewhere_refuses_before_the_debit():
    polars = pytest.importorskip("polars")
    from sordino.data.lazy import Lazy

    people = sd.open(
        Lazy(polars.LazyFrame({"x": np.arange(400.0)}), nearby=False, name="far"), budget=sd.Pure(3)
    )
    with pytest.raises(Unsupported, match="cannot cut rows into blocks"):
        people.release(asked(blocks=10), sd.Pure(1))
    assert people.remaining == sd.Pure(3)


def test_a_function_and_a_median_are_one_batch():
    people = sd.open(rows(), budget=sd.Pure(3))
    found = people.release([asked(block_rows=5), sd.Median("x", low=-100, high=100)], sd.Pure(2))
    assert found.value[0] == pytest.approx(found.value[1], abs=0.6)


def test_two_neighbours_are_asked_the_same_byte_for_byte():
    table = rows()
    other = {**table, "x": np.where(np.arange(ROWS) == 7, 99.0, table["x"])}
    events = [sd.open(one, budget=sd.Pure(3)).quote(asked(), sd.Pure(1)).to_dict() for one in (table, other)]
    assert json.dumps(events[0], default=str) == json.dumps(events[1], default=str)


def test_dates_and_missing_columns_are_refused_before_the_debit():
    people = sd.open(
        {"x": np.arange(400.0), "d": np.full(400, "2020-01-01", "datetime64[D]")}, budget=sd.Pure(3)
    )
    for column, problem in (("d", "numbers and text"), ("nothing", "must exist")):
        with pytest.raises(DataError, match=problem):
            people.release(asked(columns=[column], blocks=10), sd.Pure(1))
    assert people.remaining == sd.Pure(3)


def test_several_outputs_come_with_their_names():
    people = sd.open(rows(), budget=sd.Concentrated(5))
    function = asked(both, outputs=("low", "middle"), low=(-10, 0), high=(10, 100), block_rows=5)
    found = people.release(function, sd.Concentrated(1))
    assert found.outputs["middle"] == pytest.approx(5, abs=0.5)
    assert found.outputs["low"] < found.outputs["middle"]
    with pytest.raises(ParameterError, match="one per output"):
        asked(both, outputs=("low", "middle"), low=(0, 0, 0), high=1)


def test_a_record_can_be_read_and_priced_and_not_run():
    function = asked()
    record = json.loads(json.dumps(function.to_dict()))
    again = Statistic.from_dict(record)
    assert again.to_dict() == function.to_dict()
    assert again.digest == function.digest
    people = sd.open(rows(), budget=sd.Pure(3))
    with pytest.raises(Unsupported, match="holds no code"):
        people.release(again, sd.Pure(1))
    assert people.remaining == sd.Pure(3)


def test_other_mechanisms_refuse_a_function():
    from sordino.mechanisms.nested.inverse_sensitivity import InverseSensitivity

    people = sd.open(rows(), budget=sd.Pure(3))
    with pytest.raises(Unsupported, match="not covered by the theorem"):
        people.release(asked(), sd.Pure(1), mechanism=InverseSensitivity(price=sd.Pure(1)))


def test_a_plan_says_how_many_blocks_and_what_they_cost():
    found = sd.plan(asked(), sd.Pure(1), rows=20_000)
    assert found.blocks == 282
    assert found.rows_per_block == 70
    assert found.evaluations == 282 * 6
    assert 1.05 < found.factor < 1.3
    assert "282 blocks of about 70 rows" in str(found)
    with pytest.raises(ParameterError, match="2,000 rows would do"):
        sd.plan(asked(), sd.Pure(1), rows=1500)
    json.dumps(found.to_dict())


def test_a_plan_by_groups_is_the_release_of_each():
    plan = sd.plan(asked(), sd.Pure(4), rows=ROWS, groups=2)
    question = prepare(
        asked(), sd.Pure(4), neighbors=Neighbors.REPLACE_ONE, unit=Unit(), by=("region", ("north", "south")),
        hints={"rows": ROWS // 2},
    )  # fmt: skip
    assert plan.blocks == question.parts[0].mechanism.blocks
    assert (plan.rows, plan.groups, plan.evaluations) == (ROWS // 2, 2, 2 * plan.blocks)
    assert "1,500 rows in each of 2 groups" in str(plan)
    for search in (sd.needed_rows, sd.needed_price):
        with pytest.raises(Unsupported, match="is not searched for a function"):
            search(
                asked(), error=1, **({"price": sd.Pure(1)} if search is sd.needed_rows else {"rows": ROWS})
            )


@pytest.mark.parametrize("price", [sd.Pure(20), sd.Concentrated(200)])
def test_the_number_of_failed_blocks_can_be_bought(price):
    def fails(block):
        if block["x"].min() < 3.5:
            raise ValueError
        return middle(block)

    people = sd.open(rows(), budget=price.scaled(3))
    bought = people.release(asked(fails, failures=True, blocks=100), price)
    assert 30 < bought.public["failed_blocks"] <= 100  # some 90 of 100
    assert "how many there were is said with noise" in " ".join(bought.explain().split())
    assert sd.Release.from_json(bought.to_json()) == bought
    free = people.release(asked(fails, blocks=100), price)
    assert "failed_blocks" not in free.public
    assert people.remaining == price  # it was paid from the same price
    event = people.quote(asked(failures=True), sd.Pure(1))
    assert event.mechanism["failures"] is True


def test_progress_counts_all_blocks():
    steps = []
    people = sd.open(rows(), budget=sd.Pure(3))
    people.release(asked(blocks=12, progress=lambda done, total: steps.append((done, total))), sd.Pure(1))
    assert steps[-1] == (12, 12)
    assert len(steps) == 12


def test_the_command_line_runs_a_function_of_a_module(tmp_path, monkeypatch, capfd):
    (tmp_path / "my_own_module.py").write_text("def half(block):\n    return block['x'].mean() / 2\n")
    (tmp_path / "people.csv").write_text("x\n" + "\n".join(["8"] * 2400))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with sd.Ledger.create("people.ledger", sd.Pure(3), reason="a test"):
        pass
    words = [
        "release", "function", "my_own_module:half", "--columns", "x", "--low", "0", "--high", "100", "--epsilon", "1",
        "--data", "people.csv", "--ledger", "people.ledger", "--yes", "--json", "--frame", "numpy", "--block-rows", "5",
        "--isolation", "none", "--failures", "--unbiased", "no",
    ]  # fmt: skip
    program.main(args=words, standalone_mode=False)
    release = json.loads(capfd.readouterr().out)
    assert 0 <= release["public"]["failed_blocks"] <= 100
    assert release["event"]["statistic"]["unbiased"] is False
    assert release["value"] == pytest.approx(4, abs=0.5)
    assert release["event"]["statistic"]["label"] == "half"
    plan = ["plan", *words[1 : words.index("--data")], "--rows", "2400", "--block-rows", "5"]
    program.main(args=plan, standalone_mode=False)
    assert "blocks of about" in capfd.readouterr().out
