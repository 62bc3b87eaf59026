"""Answers are whole and labelled: tables, frames, CSV, Markdown, JSON, comparisons; and old records are read."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import sordino as sd
from sordino.explain import intervals_in_words
from sordino.mechanisms.choose import choose
from sordino.session.release import Interval, Release
from tests.support.schemas import valid

RECORDS = Path(__file__).parent / "records"
OLD = json.loads((RECORDS / "releases_version_2.json").read_text())
EDGES = (0, 10, 20, 30, 40, 50, 60, 120)
INCOME = {"low": 0, "high": 1e6}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    data = {
        "age": rng.integers(0, 100, 3000).astype(float),
        "income": rng.lognormal(10, 1, 3000),
        "region": rng.choice(["north", "south"], 3000),
    }
    return sd.open(data, budget=sd.Pure(500))


@pytest.fixture(scope="module")
def answers(people):
    """One of every form: single, vector, batch, groups, groups of a batch with cells, intervals, a word."""
    histogram, median = sd.Histogram("age", edges=EDGES), sd.Median("income", **INCOME)
    quarters = [sd.Quantile("income", q=q, **INCOME) for q in (0.25, 0.75)]
    keys = ("region", ["north", "south"])
    return {
        "single": people.release(median, sd.Pure(1)),
        "vector": people.release(histogram, sd.Pure(1)),
        "quantiles": people.release(sd.Quantiles("income", qs=(0.25, 0.5, 0.75), **INCOME), sd.Pure(1)),
        "batch": people.release([*quarters, histogram, sd.Count("age")], sd.Pure(2)),
        "interval": people.release(quarters[0], sd.Pure(1), interval=0.9),
        "groups": people.release_by(*keys, median, sd.Pure(2), interval=0.9),
        "many": people.release_by(*keys, [histogram, *quarters, sd.Mean("age", low=0, high=120)], sd.Pure(4)),
        "word": people.release(sd.Mode("region", keys=("north", "south")), sd.Pure(1)),
    }


FORMS = ("single", "vector", "quantiles", "batch", "interval", "groups", "many", "word")


def numbers(value):
    """Every number of a released value, in order."""
    if isinstance(value, tuple):
        return [number for part in value for number in numbers(part)]
    return [value]


@pytest.mark.parametrize("form", FORMS)
def test_every_number_is_a_row_of_its_own_with_a_label_that_no_other_has(answers, form):
    table = answers[form].table
    assert [row.value for row in table] == numbers(answers[form].value)
    names = [(row.label, row.cell, *row.group.values()) for row in table]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_left_out_where_people_read(answers, form):
    """In the text, the words, the notebook and the representation, at any width."""
    from sordino.labels import shown

    answer = answers[form]
    notebook = answer._repr_html_()
    for said in (answer.text(80), answer.text(200), answer.explain(), notebook, repr(answer), str(answer)):
        for row in answer.table:
            assert shown(row.value) in said
        assert "in all" not in said.replace("price in all", "")
    for row in answer.table:
        if row.level is not None:
            assert row.interval in notebook
    assert max(map(len, answer.text(80).splitlines())) <= 80
    assert max(map(len, answer.explain(80).splitlines())) <= 80


@pytest.mark.parametrize("form", FORMS)
def test_every_format_holds_the_same_numbers(answers, form):
    answer = answers[form]
    table = answer.table
    read = list(csv.DictReader(io.StringIO(answer.to_csv())))
    assert len(read) == len(table)
    for line, row in zip(read, table, strict=True):
        assert (float(line["value"]) if form != "word" else line["value"]) == row.value
        assert line["label"] == row.label
        assert line["cell"] == (row.cell or "")
        assert (float(line["low"]) if line["low"] else None) == row.low
        for column, key in row.group.items():
            assert line[column] == key
    record = json.loads(answer.to_json())
    valid(record)
    assert [row["value"] for row in record["table"]] == [row.value for row in table]
    assert Release.from_json(answer.to_json()) == answer
    assert answer.to_markdown().count("|") >= 3 * len({row.label for row in table})


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("form", FORMS)
def test_frames_of_every_backend_hold_every_row(answers, form, backend):
    pytest.importorskip(backend)
    import narwhals as nw

    frame = nw.from_native(answers[form].to_frame(backend))
    assert frame["value"].to_list() == [row.value for row in answers[form].table]
    assert frame["label"].to_list() == [row.label for row in answers[form].table]
    if form in ("groups", "many"):
        assert set(frame["region"].to_list()) == {"north", "south"}


def test_a_frame_of_another_backend_is_refused(answers):
    with pytest.raises(sd.ParameterError, match="pandas, polars or pyarrow"):
        answers["single"].to_frame("excel")


def test_answers_stand_by_their_keys(answers):
    many = answers["many"].by_key
    assert list(many) == ["north", "south"]
    assert list(many["north"]["histogram age"])[:2] == ["0 to 10", "10 to 20"]
    assert "quantile income (q 0.25)" in many["south"]
    assert answers["single"].by_key == {"median income": answers["single"].value}


def test_a_group_column_whose_name_is_taken_keeps_its_keys():
    people = sd.open({"value": ["a", "b"] * 50, "x": np.arange(100.0)}, budget=sd.Pure(9))
    answer = people.release_by("value", ["a", "b"], sd.Count("x"), sd.Pure(1))
    assert next(csv.DictReader(io.StringIO(answer.to_csv())))["group value"] == "a"


def test_a_single_number_formats_and_compares_as_that_number(answers):
    answer = answers["single"]
    value = answer.value
    assert f"{answer:.0f}" == f"{value:.0f}"
    assert f"{answer:,.2f}" == f"{value:,.2f}"
    assert f"{answer}" == str(answer)
    assert answer == value
    assert answer != value + 1
    assert value - 1 < answer < value + 1
    assert answer <= value <= answer
    assert (round(answer, 1), int(answer)) == (round(value, 1), int(value))
    assert answer > answers["interval"] or answer <= answers["interval"]
    assert f"{answers['vector']:.1f}".count(".") == len(EDGES) - 1
    with pytest.raises(TypeError, match="to_frame"):
        assert answers["vector"] > 3
    with pytest.raises(TypeError):
        assert answer > "3"


def test_two_statistics_that_differ_in_their_bounds_alone_are_told_apart(people):
    wide, narrow = sd.Mean("age", low=0, high=1000), sd.Mean("age", low=0, high=100)
    answer = people.release([wide, narrow, narrow], sd.Pure(1))
    labels = [row.label for row in answer.table]
    assert len(set(labels)) == 3
    assert "high 1,000" in labels[0]


def test_records_hold_no_python(answers):
    for answer in answers.values():
        assert not re.search(r"<\w+[.:]|object at 0x|Fraction\(", answer.to_json())


@pytest.mark.parametrize("record", OLD, ids=[record["event"]["statistic"]["kind"] for record in OLD])
def test_records_of_version_2_are_read_and_written_as_version_3(record):
    release = Release.from_dict(record)
    assert json.loads(json.dumps(release.to_dict()))["value"] == record["value"]
    assert "What was published" in release.explain()
    written = json.loads(release.to_json())
    assert written["version"] == 3
    valid(written)
    assert "<Neighbors" not in release.to_json()
    assert Release.from_dict(written) == release


def test_a_ledger_of_version_2_records_gives_its_answers_back_and_charges_nothing(tmp_path):
    """Also for a token whose question was written down with Python's words."""
    shutil.copy(RECORDS / "ledger_version_2.sqlite", tmp_path / "old.ledger")
    rng = np.random.default_rng(0)
    data = {
        "income": rng.lognormal(10, 1, 4000),
        "region": ["north", "south"] * 2000,
        "age": np.arange(4000.0) % 99,
    }
    people = sd.open(data, ledger=tmp_path / "old.ledger")
    assert [type(one) for one in people.history] == [Release] * len(OLD)
    before = people.remaining
    asked = sd.Quantile("income", q=0.25, **INCOME)
    lattice, half = asked.grid.answers, sd.Pure(0.5)
    once = sd.OrderInterval(
        price=half, lattice=lattice, level=0.9, radius=lattice.step * (lattice.last >> 31), rows=4000,
        point=choose(asked, half, rows=4000),
    )  # fmt: skip
    again = people.release(asked, sd.Pure(1), mechanism=once, token="quantile")
    assert again.to_dict()["value"] == OLD[2]["value"]
    assert people.remaining == before
    people.ledger.close()


def test_explain_says_what_was_clamped_what_changed_and_why_a_count_is_negative(people):
    mean = people.release(sd.Mean("income", low=0, high=1e9), sd.Pure(1))
    said = " ".join(mean.explain().split())
    if "high" in mean.public:  # an interval was searched for
        from sordino.labels import shown

        assert "clamped to an interval that was found privately, is public and was paid for" in said
        assert f"{shown(mean.public['low'])} to {shown(mean.public['high'])}" in said
    rich = people.where(("income", ">", 1e12))
    counts = [rich.release(sd.Count("income"), sd.Pure(0.05)) for _ in range(30)]
    below = next(count for count in counts if count < 0)
    above = next(count for count in counts if count >= 0)
    assert "A negative count is noise" in below.explain()
    assert "A negative count is noise" not in above.explain()
    assert "Because of the filter one person can move 2 rows" in " ".join(below.explain().split())


def test_explain_says_that_nothing_was_looked_for_and_whose_noise_is_public():
    """Without a number of rows a mean trusts its bounds: no interval was found, and none was paid for."""
    told = sd.open({"x": np.arange(500.0)}, budget=sd.Pure(9), neighbors="add-remove-one")
    mean = sd.Mean("x", low=0, high=10**6)
    said = " ".join(told.release(mean, sd.Pure(1)).explain().split())
    assert "no interval was looked for" in said
    assert "found privately" not in said
    assert "No number of rows was declared" in said
    with pytest.raises(sd.ParameterError, match="needs the number of rows"):
        told.release(mean, sd.Pure(1), loose=True)
    people = sd.open({"x": np.arange(500.0)}, budget=sd.Pure(9))
    tight = " ".join(people.release(mean, sd.Pure(1), tight=True).explain().split())
    assert "of the same law whatever the data" in tight
    loose = " ".join(people.release(mean, sd.Pure(1), loose=True).explain().split())
    assert "how many rows lie beyond is not known" in loose


def test_explain_counts_what_is_public_and_names_why_rows_are_private():
    data = {"x": np.arange(100.0), "who": np.arange(100) // 2}
    people = sd.open(data, budget=sd.Pure(9), unit=sd.Unit("who", max_rows=2))
    said = " ".join(people.release(sd.Median("x", low=0, high=100), sd.Pure(1)).explain().split())
    assert "the number of people in the table is public" in said
    assert "private (several rows per person)" in said


def test_sentences_about_bars_name_their_groups_where_they_differ():
    one = Interval(low=0.0, high=1.0, level=0.95)
    two = Interval(low=0.0, high=1.0, level=0.95, cut=(0.0, 9.0))
    said = intervals_in_words([one, two, two], ["north", "south", "east"])
    assert [sentence.split(":")[0] for sentence in said] == ["north", "south, east"]
    assert intervals_in_words([one, one], ["north", "south"])[0].startswith("In 95")


def test_pictures_are_drawn_for_every_form_and_shown_by_notebooks(answers, people):
    from sordino.session.figures import gauge, used

    for form in ("vector", "quantiles", "many", "groups"):
        assert "<svg" in answers[form].plot()._repr_svg_()
    with pytest.raises(sd.ParameterError, match="no number to draw"):
        answers["word"].plot()
    assert "<svg" in gauge(people.ledger.budget, people.ledger.spent, people.remaining)._repr_svg_()
    assert used(sd.Pure(4), sd.Pure(1)) == 0.25
    assert used(sd.Approx(4, 1e-6), sd.Approx(1, 5e-7)) == 0.5


def test_a_picture_does_not_change_the_backend_of_the_notebook(answers):
    mpl = pytest.importorskip("matplotlib")
    before = mpl.rcParams._get_backend_or_none() if hasattr(mpl.rcParams, "_get_backend_or_none") else None
    answers["vector"].plot()
    after = mpl.rcParams._get_backend_or_none() if hasattr(mpl.rcParams, "_get_backend_or_none") else None
    assert before == after


def test_every_form_says_what_an_interval_covers_and_what_it_cost():
    """Table, frame, CSV, JSON, text and picture: rows or population, each or at once, paid or free."""
    random = np.random.default_rng(1)
    people = sd.open({"x": random.lognormal(10, 0.5, 4000)}, budget=sd.Pure(50))
    median, pay = sd.Median("x", low=0, high=1e6), sd.Mean("x", low=0, high=1e8)
    asked = {
        ("rows", False, True): (median, sd.Sample(0.9)),
        ("population", False, True): (median, sd.Population(0.9)),
        ("clipped rows", False, False): (pay, sd.Sample(0.9)),
        ("rows", True, False): (
            sd.Histogram("x", edges=(0, 2e4, 4e4, 9e4)),
            sd.Sample(0.9, simultaneous=True),
        ),
    }
    for said, (statistic, interval) in asked.items():
        release = people.release(statistic, sd.Pure(1), interval=interval)
        names = ("covers", "simultaneous", "paid")
        for row in (*release.table.to_dicts(), *release.to_dict()["table"]):
            assert tuple(row[name] for name in names) == said
        frame = release.to_frame("pandas")
        assert tuple(frame[name].iloc[0] for name in names) == said
        assert said[0] in release.to_csv()
        cost = "paid for" if said[2] else "free"
        words = f"90 % interval for the {said[0]}{', all at once' if said[1] else ''}, {cost}"
        assert words in " ".join(release.text().split())
        drawn = release.plot()
        written = " ".join(
            " ".join(text.get_text() for text in drawn.findobj(lambda one: hasattr(one, "get_text"))).split()
        )
        assert f"intervals for the {said[0]}" in written


def test_a_ledger_keeps_no_labels_of_many_groups_and_they_come_back():
    table = {"x": list(range(600)), "g": [one % 150 for one in range(600)]}
    from sordino.web.api import _whole as labelled_again  # what a server sends

    people = sd.open(table, budget=sd.Pure(9))
    for keys, labelled in ((range(100), True), (range(150), False)):
        answer = people.release_by("g", keys, sd.Count("x"), sd.Pure(1))
        kept = people.ledger.history[-1].release
        assert ("table" in kept) is labelled
        again = people.history[-1]
        assert again == answer
        assert [row["value"] for row in again.to_dict()["table"]] == list(answer.value)
        assert set(again.to_dict()) == {*kept, "table"}
        assert [row["value"] for row in labelled_again(kept)["table"]] == list(answer.value)


def test_a_picture_of_very_many_numbers_is_drawn_when_asked_for_alone(monkeypatch):
    """A thousand groups would be a picture of ten metres."""
    from sordino.session import page

    monkeypatch.setattr(page, "PICTURED", 3)
    people = sd.open({"g": [0, 1, 2, 3], "x": [1.0, 2.0, 3.0, 4.0]}, budget=sd.Pure(3))
    few, many = (people.release_by("g", range(groups), sd.Count("x"), sd.Pure(1)) for groups in (3, 4))
    assert "<svg" in few._repr_html_()
    assert "<svg" not in many._repr_html_()
    assert "4 numbers are too many for a picture" in many._repr_html_()
    assert many.plot() is not None
