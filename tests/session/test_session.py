"""The one door: check, debit, read, draw, record, in this order, and nothing but the answer comes out."""

import json
import traceback
from dataclasses import fields

import numpy as np
import pytest

import sordino as sd
from sordino.catalogue import statistics
from sordino.data.memory import Memory
from sordino.ledger import Ledger
from sordino.privacy import replace_one_from_add_remove
from sordino.session.quote import prepare
from sordino.session.release import Release
from tests.support.schemas import valid

AGES = {"age": np.array([31.0, 45.0, 28.0, 60.0, 17.0]), "region": np.array(["n", "s", "n", "s", "n"])}
MEDIAN = sd.Median("age", low=0, high=120, step=1)


class Spy:
    """A source that notes what is done with it."""

    def __init__(self, columns, notes, fail=None):
        self.inner, self.notes, self.fail = Memory(columns), notes, fail
        self.assumptions = ()

    def ready(self):
        self.inner.ready()

    def snapshot(self):
        return self.inner.snapshot()

    def check(self, *requests):
        self.notes.append("check")
        self.inner.check(*requests)

    def summary(self, *requests):
        self.notes.append("read")
        if self.fail is not None:
            raise self.fail
        return self.inner.summary(*requests)

    def summaries(self, by, keys, *requests):
        self.notes.append("read groups")
        return self.inner.summaries(by, keys, *requests)

    def where(self, *conditions):
        return self.inner.where(*conditions)


@pytest.fixture
def people():
    return sd.open(AGES, budget=sd.Pure(3))


def test_the_price_is_in_the_ledger_before_anything_is_read(tmp_path):
    notes = []
    ledger = Ledger.create(tmp_path / "b", sd.Pure(1), reason="order")
    spend, record = ledger.spend_all, ledger.record
    ledger.spend_all = lambda *a, **b: (notes.append("debit"), spend(*a, **b))[1]
    ledger.record = lambda *a: (notes.append("record"), record(*a))[1]
    session = sd.Session(Spy(AGES, notes), ledger)
    session.release(MEDIAN, sd.Pure(0.5))
    assert notes == ["check", "debit", "read", "record"]


def test_a_refused_release_has_not_looked_at_the_data():
    notes = []
    session = sd.Session(Spy(AGES, notes), Ledger.create(None, sd.Pure(1), reason="order"))
    with pytest.raises(sd.BudgetExceeded):
        session.release(MEDIAN, sd.Pure(2))
    assert notes == ["check"]


def test_the_same_token_returns_the_stored_answer_without_reading():
    notes = []
    session = sd.Session(Spy(AGES, notes), Ledger.create(None, sd.Pure(1), reason="order"))
    first = session.release(MEDIAN, sd.Pure(0.5), token="t")
    assert session.release(MEDIAN, sd.Pure(0.5), token="t") == first
    assert notes.count("read") == 1
    assert session.remaining == sd.Pure(0.5)
    with pytest.raises(sd.LedgerError, match="another question"):
        session.release(sd.Median("age", low=0, high=121, step=1), sd.Pure(0.5), token="t")


def test_an_error_in_the_closed_room_tells_nothing_and_the_token_finishes_the_release():
    canary = 987654.321
    notes = []
    ledger = Ledger.create(None, sd.Pure(1), reason="canary")
    broken = sd.Session(Spy(AGES, notes, fail=ArithmeticError(f"bad value {canary}")), ledger)
    with pytest.raises(sd.LedgerError) as failure:
        broken.release(MEDIAN, sd.Pure(0.5), token="t")
    error = failure.value
    assert error.__context__ is None
    assert error.__cause__ is None
    text = "".join(traceback.format_exception(error)) + repr(error.__dict__)
    assert "987654" not in text
    assert "ArithmeticError" not in text
    assert ledger.spent == sd.Pure(0.5)
    answer = sd.Session(Memory(AGES), ledger).release(MEDIAN, sd.Pure(0.5), token="t")
    assert 0 <= answer.value <= 120
    assert ledger.spent == sd.Pure(0.5)


def test_several_statistics_share_one_pass_and_one_entry():
    notes = []
    session = sd.Session(Spy(AGES, notes), Ledger.create(None, sd.Pure(3), reason="batch"), rows=5)
    release = session.release([MEDIAN, sd.Count("age"), sd.CountAbove("age", threshold=30)], sd.Pure(0.9))
    assert notes == ["check", "read"]
    assert len(release.value) == 3
    assert release.guarantee == sd.Pure(0.9)
    assert len(session.history) == 1
    priced = session.release([MEDIAN, sd.Count("age")], [sd.Pure(0.5), sd.Pure(0.1)])
    assert priced.guarantee == sd.Pure(0.6)


def test_an_interval_is_bought_and_shown(people):
    release = people.release(
        sd.TrimmedMean("age", trim=0.2, low=0, high=120), sd.Pure(1), interval=0.9, smoothing=0.1
    )
    assert release.interval.low < release.value < release.interval.high
    assert release.interval.level == 0.9
    assert "90 of 100" in release.explain()
    with pytest.raises(sd.Unsupported, match="error bar"):
        people.release(sd.Mode("region", keys=("n", "s")), sd.Pure(0.1), interval=0.9)


@pytest.mark.parametrize("price", [sd.Pure(1), sd.Concentrated(0.3), sd.Approx(1, 1e-6)])
@pytest.mark.parametrize("moved", [1, 2, 3, 6])
def test_the_price_per_row_of_groups_composes_to_the_price(price, moved):
    part = price.per_row(moved)
    assert (part if moved == 1 else part.for_group(moved)).within(price)
    more = {field.name: getattr(part, field.name) * 10001 / 10000 for field in fields(part)}
    assert not type(part)(**more).for_group(moved).within(price)
    for first in range(1, moved):  # rows of one person spread over two groups cost no more than in one
        spread = part.for_group(first) + part.for_group(moved - first)
        assert spread.within(price)


def test_a_bounded_range_pays_for_groups_only_where_a_person_moves_one_row():
    assert sd.BoundedRange(1).per_row(1) == sd.BoundedRange(1)
    with pytest.raises(sd.Unsupported, match="several rows per person"):
        sd.BoundedRange(1).per_row(2)


def test_groups_cost_one_price_under_add_remove_and_half_of_it_per_row_under_replace_one():
    for relation, each in (
        (sd.Neighbors.ADD_REMOVE_ONE, sd.Pure(1)),
        (sd.Neighbors.REPLACE_ONE, sd.Pure(0.5)),
    ):
        session = sd.open(AGES, budget=sd.Pure(3), neighbors=relation, rows=5)
        release = session.release_by("region", ["n", "s", "elsewhere"], MEDIAN, sd.Pure(1))
        assert release.guarantee == sd.Pure(1)
        assert session.remaining == sd.Pure(2)
        assert list(release.groups) == ["n", "s", "elsewhere"]
        described = json.dumps(release.event.to_dict())
        assert f'"epsilon": "{each.epsilon}"' in described
        if relation is sd.Neighbors.REPLACE_ONE:
            assert replace_one_from_add_remove(each) == release.guarantee


def test_what_makes_the_number_of_rows_private_is_answered_at_distance_two(people):
    plain = people.quote(MEDIAN, sd.Pure(1))
    assert plain.contribution == 1
    assert plain.statistic["neighbors"] == {"neighbors": "replace-one"}
    dropping = sd.Median("age", low=0, high=120, step=1, missing="drop")
    for event in (
        people.where(("region", "==", "n")).quote(MEDIAN, sd.Pure(1)),
        people.quote(dropping, sd.Pure(1)),
        people.quote(MEDIAN, sd.Pure(1), by=("region", ["n", "s"])),
    ):
        assert event.contribution == 2
        assert event.statistic["neighbors"] == {"neighbors": "add-remove-one"}
        assert event.neighbors is sd.Neighbors.REPLACE_ONE
        assert event.guarantee == sd.Pure(1)
    several = prepare(
        MEDIAN, sd.Pure(1), neighbors=sd.Neighbors.REPLACE_ONE, unit=sd.Unit("person", max_rows=3)
    )
    assert several.event.contribution == 6
    slope = sd.TheilSen("age", "age", x_low=0, x_high=1, y_low=0, y_high=1, low=-1, high=1)
    with pytest.raises(sd.Unsupported, match="replace-one"):
        people.where(("region", "==", "n")).quote(slope, sd.Pure(1))


def test_the_question_does_not_depend_on_the_data():
    """Under add/remove the whole public record is the same whatever the rows are, their number included."""
    events = []
    for rows in (0, 3, 1000):
        data = {"age": np.arange(rows, dtype=float)}
        session = sd.open(data, budget=sd.Pure(3), neighbors=sd.Neighbors.ADD_REMOVE_ONE)
        asked = (MEDIAN, sd.Mean("age", low=0, high=120), sd.Count("age"))
        events += [json.dumps(session.quote(statistic, sd.Pure(1)).to_dict()) for statistic in asked]
    assert len(set(events)) == 3
    filtered = [
        sd.open({"age": np.array(ages)}, budget=sd.Pure(3)).where(("age", ">", 50)).quote(MEDIAN, sd.Pure(1))
        for ages in ([1.0, 2.0], [60.0, 70.0])
    ]
    assert filtered[0] == filtered[1]


def hostile():
    nan, inf = np.nan, np.inf
    return {
        "ordinary": np.array([0.2, 0.4, 0.9]),
        "nan": np.array([0.2, nan, 0.9]),
        "all nan": np.array([nan, nan, nan]),
        "infinite": np.array([0.2, inf, -inf]),
        "huge": np.array([1e308, -1e308, 5e-324]),
        "empty": np.empty(0),
        "integers": np.array([2**62, -(2**62), 1]),
        "booleans": np.array([True, False, True]),
    }


def numeric_questions():
    for kind in ("mean", "median", "sum", "variance", "standard-deviation", "minimum", "maximum"):
        yield statistics()[kind]("x", low=0, high=1)
        yield statistics()[kind]("x", low=0, high=1, missing="drop")
    yield sd.Quantile("x", q=0.9, low=0, high=1)
    yield sd.Quantiles("x", qs=(0.25, 0.75), low=0, high=1)
    yield sd.WinsorizedMean("x", trim=0.1, low=0, high=1)
    yield sd.InterquantileRange("x", lower=0.25, upper=0.75, low=0, high=1)
    yield sd.Count("x")
    yield sd.CountAbove("x", threshold=0.5)
    yield sd.Histogram("x", edges=(0, 0.5, 1))
    yield sd.SecondMoment("x", centre=0.5, low=0, high=1)


@pytest.mark.few(15)
@pytest.mark.parametrize(
    "statistic", list(numeric_questions()), ids=lambda s: f"{s.name}-{getattr(s, 'missing', '')}"
)
@pytest.mark.parametrize("relation", [sd.Neighbors.REPLACE_ONE, sd.Neighbors.ADD_REMOVE_ONE], ids=str)
def test_no_value_raises_after_the_debit(statistic, relation):
    for name, column in hostile().items():
        session = sd.open({"x": column}, budget=sd.Pure(1), neighbors=relation)
        release = session.release(statistic, sd.Pure(1))
        assert session.remaining == sd.Pure(0), name
        valid(release.to_dict())
        assert Release.from_json(release.to_json()) == release


@pytest.mark.parametrize(
    "column", [np.array(["a", "b"]), np.array(["1", "2"]), np.array(["2020-01-01"], dtype="M8[D]")]
)
def test_a_column_without_numbers_is_refused_before_anything_is_spent(column):
    session = sd.open({"x": column}, budget=sd.Pure(1))
    with pytest.raises(sd.DataError, match="Hint"):
        session.release(sd.Median("x", low=0, high=1), sd.Pure(1))
    assert session.remaining == sd.Pure(1)


NAN, INF = float("nan"), float("inf")
BAD = {
    "bounds reversed": lambda s: s.release(sd.Mean("age", low=10, high=0), sd.Pure(1)),
    "bounds equal": lambda s: s.release(sd.Mean("age", low=5, high=5), sd.Pure(1)),
    "bounds nan": lambda s: s.release(sd.Median("age", low=NAN, high=5), sd.Pure(1)),
    "bounds infinite": lambda s: s.release(sd.Median("age", low=0, high=INF), sd.Pure(1)),
    "epsilon negative": lambda s: s.release(MEDIAN, sd.Pure(-1)),
    "epsilon zero": lambda s: s.release(MEDIAN, sd.Pure(0)),
    "epsilon nan": lambda s: s.release(MEDIAN, sd.Pure(NAN)),
    "epsilon infinite": lambda s: s.release(MEDIAN, sd.Pure(INF)),
    "no price": lambda s: s.release(MEDIAN, None),
    "a number for a price": lambda s: s.release(MEDIAN, 1.0),
    "a name for a statistic": lambda s: s.release("median", sd.Pure(1)),
    "no statistic": lambda s: s.release([], sd.Pure(1)),
    "two prices for one": lambda s: s.release(MEDIAN, [sd.Pure(1), sd.Pure(1)]),
    "quantile 1.5": lambda s: s.release(sd.Quantile("age", q=1.5, low=0, high=1), sd.Pure(1)),
    "no such column": lambda s: s.release(sd.Median("height", low=0, high=1), sd.Pure(1)),
    "strings": lambda s: s.release(sd.Median("region", low=0, high=1), sd.Pure(1)),
    "data none": lambda s: sd.open(None, budget=sd.Pure(1)),
    "two-dimensional": lambda s: sd.open(np.zeros((3, 3)), budget=sd.Pure(1)),
    "two-dimensional column": lambda s: sd.open({"x": np.zeros((3, 3))}, budget=sd.Pure(1)),
    "columns of two lengths": lambda s: sd.open({"x": [1.0], "y": [1.0, 2.0]}, budget=sd.Pure(1)),
    "no budget": lambda s: sd.open(AGES),
    "budget zero": lambda s: sd.open(AGES, budget=sd.Pure(0)),
    "keys from nowhere": lambda s: s.release_by("region", [], MEDIAN, sd.Pure(1)),
    "keys twice": lambda s: s.release_by("region", ["n", "n"], MEDIAN, sd.Pure(1)),
    "a text for keys": lambda s: s.release_by("region", "ns", MEDIAN, sd.Pure(1)),
    "no such split": lambda s: s.release_by("town", ["n"], MEDIAN, sd.Pure(1)),
    "texts for a column of numbers": lambda s: s.release_by("age", ["n"], MEDIAN, sd.Pure(1)),
    "an option that is none": lambda s: s.release(MEDIAN, sd.Pure(1), scale=3),
    "a level above one": lambda s: s.release(
        sd.TrimmedMean("age", trim=0.1, low=0, high=1), sd.Pure(1), interval=95, smoothing=0.1
    ),
    "wrong number of rows": lambda s: sd.open(AGES, budget=sd.Pure(1), rows=7),
    "unknown condition": lambda s: s.where(("age", "~", 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_before_anything_is_spent(people, name):
    with pytest.raises(sd.SordinoError) as refusal:
        BAD[name](people)
    head, *rest = str(refusal.value).splitlines()
    assert ": " in head
    assert head.endswith(".")
    assert all(line.startswith("    ") for line in rest)
    assert people.remaining == sd.Pure(3)
    assert people.history == ()


def test_bounds_and_prices_have_no_defaults(people):
    with pytest.raises(sd.ParameterError, match="low and high must be given"):
        sd.Median("age")
    with pytest.raises(sd.ParameterError):
        people.release(MEDIAN)


def test_a_budget_is_only_for_a_new_ledger(tmp_path):
    path = tmp_path / "people.ledger"
    sd.open(AGES, ledger=path, budget=sd.Pure(3)).release(MEDIAN, sd.Pure(1))
    again = sd.open(AGES, ledger=path, budget=sd.Pure(3))
    assert again.remaining == sd.Pure(2)
    again.ledger.raise_to(sd.Pure(4), reason="more")
    assert sd.open(AGES, ledger=path, budget=sd.Pure(3)).remaining == sd.Pure(3)
    with pytest.raises(sd.LedgerError, match="another budget"):
        sd.open(AGES, ledger=path, budget=sd.Pure(100))
    with pytest.raises(sd.LedgerError, match="no ledger"):
        sd.open(AGES, ledger=tmp_path / "nowhere")


def test_the_record_has_no_field_from_which_scale_or_truth_follow(people):
    forbidden = {
        "std",
        "stderr",
        "standard_error",
        "seed",
        "true",
        "truth",
        "sensitivity",
        "profile",
        "reading",
    }

    def names(value):
        if isinstance(value, dict):
            for key, entry in value.items():
                yield key
                yield from names(entry)
        elif isinstance(value, list):
            for entry in value:
                yield from names(entry)

    release = people.release(sd.TrimmedMean("age", trim=0.2, low=0, high=120), sd.Pure(1), smoothing=0.1)
    # A calibration may name the multiplier of the noise, which is public; the release itself names no scale.
    record = release.to_dict()
    del record["event"]["mechanism"]
    assert not (forbidden | {"scale"}) & set(names(record))
    assert set(release.__dataclass_fields__) == set(Release.__dataclass_fields__)


def test_what_a_release_says_of_two_datasets_differs_only_in_its_answer():
    """Everything but value, token and time is a function of the question."""
    records = []
    for ages in ([31.0, 45.0, 28.0, 60.0, 17.0], [119.0, 118.0, 117.0, 116.0, 115.0]):
        session = sd.open({"age": np.array(ages)}, budget=sd.Pure(3))
        record = session.release(MEDIAN, sd.Pure(0.1)).to_dict()
        for row in record["table"]:
            row.pop("value")
        records.append({key: record[key] for key in record if key not in ("value", "token", "at")})
    assert records[0] == records[1]


def test_explanations_and_pages_are_for_people(people):
    release = people.release_by("region", ["n", "<script>"], MEDIAN, sd.Pure(1))
    text = release.explain()
    for title in ("What was published", "What one person's data can change", "What is not protected"):
        assert title in text
    assert "73.2 %" in text  # e / (1 + e), rounded up
    page = release._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_release_document_of_another_kind_is_refused():
    for text in ("{}", "[]", "not json", '{"format": "sordino-release", "version": 99}'):
        with pytest.raises(sd.ParameterError):
            Release.from_json(text)


def test_graphs_are_asked_under_edge_privacy():
    edges = {"left": np.array([0, 1, 2]), "right": np.array([1, 2, 0])}
    session = sd.open(edges, budget=sd.Pure(3), neighbors=sd.Neighbors.EDGE)
    release = session.release(sd.Triangles(vertices=4), sd.Pure(1))
    assert release.event.neighbors is sd.Neighbors.EDGE
    with pytest.raises(sd.Unsupported, match="neighbours of this session"):
        session.release(sd.Count("left"), sd.Pure(1))
    with pytest.raises(sd.Unsupported):
        sd.open(edges, budget=sd.Pure(3)).release(sd.Triangles(vertices=4), sd.Pure(1))


def test_history_and_html_survive_the_ledger(tmp_path):
    path = tmp_path / "people.ledger"
    session = sd.open(AGES, ledger=path, budget=sd.Pure(3))
    first = session.release(MEDIAN, sd.Pure(1))
    assert sd.open(AGES, ledger=path).history == (first,)


def test_an_error_about_the_schema_after_the_debit_carries_no_cause():
    """A source may say that the data changed while they were read; what it was made from stays inside."""

    class Changing(Spy):
        def summary(self, *requests):
            inner = ValueError("the value is 987654.321")
            raise sd.DataError("table", "the data changed while they were read") from inner

    session = sd.Session(Changing(AGES, []), Ledger.create(None, sd.Pure(1), reason="changes"))
    with pytest.raises(sd.DataError, match="changed") as failure:
        session.release(MEDIAN, sd.Pure(0.5))
    assert "987654" not in "".join(traceback.format_exception(failure.value))
    assert failure.value.__context__ is None


@pytest.mark.parametrize(
    ("unit", "neighbors", "counts"),
    [
        (sd.Unit("person"), sd.Neighbors.REPLACE_ONE, 0),
        (sd.Unit("person", max_rows=3), sd.Neighbors.REPLACE_ONE, 0),
        (sd.Unit(), sd.Neighbors.ADD_REMOVE_ONE, 0),
        (sd.Unit(), sd.Neighbors.REPLACE_ONE, 1),
    ],
)
def test_rows_are_counted_only_where_their_number_is_public(unit, neighbors, counts):
    counted = []

    class Counted(Memory):
        @property
        def rows(self):
            counted.append(self)
            return 4321

    people = Counted({**AGES, "person": [1, 2, 3, 4, 5]}, unit=unit)
    session = sd.open(people, budget=sd.Pure(1), unit=unit, neighbors=neighbors)
    assert len(counted) == counts
    assert ("4321" in json.dumps(session.quote(MEDIAN, sd.Pure(1)).to_dict())) == bool(counts)


def test_groups_can_have_error_bars():
    rng = np.random.default_rng(3)
    data = {"x": rng.uniform(0, 1, 4000), "g": rng.choice(["a", "b"], 4000)}
    people = sd.open(data, budget=sd.Pure(5))
    mean = sd.TrimmedMean("x", trim=0.1, low=0, high=1)
    release = people.release_by("g", ["a", "b"], mean, sd.Pure(4), interval=0.95)
    assert len(release.interval) == 2
    assert all(bar.low < 0.55 and bar.high > 0.45 for bar in release.interval)
    assert people.remaining == sd.Pure(1)


def test_work_that_grows_with_the_square_of_the_rows_is_refused_before_the_debit():
    rows = sd.TheilSen.most_rows + 1
    people = sd.open({"t": np.zeros(rows), "y": np.zeros(rows)}, budget=sd.Pure(1))
    slope = sd.TheilSen("t", "y", x_low=0, x_high=1, y_low=0, y_high=1, low=-1, high=1)
    with pytest.raises(sd.SordinoError, match=r"20,000 rows at most"):
        people.release(slope, sd.Pure(1))
    assert people.remaining == sd.Pure(1)


def test_a_question_is_rehearsed_once_and_a_function_every_time():
    from sordino.session import form

    form._remembered.cache_clear()
    people = sd.open({"x": np.arange(100.0)}, budget=sd.Pure(9))
    for low in (0, 0, 1):
        people.release(sd.Median("x", low=low, high=100), sd.Pure(1))
    assert form._remembered.cache_info().misses == 2
    function = sd.Function(
        lambda block: 1.0, columns=["x"], low=0, high=2, frame="numpy", isolation="none", blocks=5
    )
    people.release(function, sd.Pure(1))
    assert form._remembered.cache_info().currsize == 2
