"""Groups of several key columns: what is asked, refused, stored and shown."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sordino as sd
from sordino.errors import ParameterError
from sordino.reading.split import MOST, Split
from sordino.session.release import Release
from tests.support.schemas import valid

REGIONS, SEXES = ["north", "south"], ["f", "m"]
PEOPLE = {
    "region": ["north"] * 30 + ["south"] * 20 + ["east"] * 5,
    "sex": (["f"] * 10 + ["m"] * 20) + ["f"] * 20 + ["m"] * 5,
    "age": np.arange(20, 75),
}
PRODUCT = {"region": REGIONS, "sex": SEXES}


@pytest.fixture
def people():
    return sd.open(PEOPLE, budget=sd.Pure(100_000), neighbors="add-remove-one")


def test_a_product_and_a_list_ask_the_same(people):
    wanted = {("north", "f"): 10, ("north", "m"): 20, ("south", "f"): 20, ("south", "m"): 0}
    product = people.release_by(["region", "sex"], PRODUCT, sd.Count("age"), sd.Pure(1000))
    listed = people.release_by(
        ["region", "sex"], [("south", "m"), ["north", "f"]], sd.Count("age"), sd.Pure(1000)
    )
    assert product.groups == wanted
    assert listed.groups == {key: wanted[key] for key in (("south", "m"), ("north", "f"))}
    assert product.by_key["south"]["f"] == {"count age": 20}


def test_combinations_cost_what_one_column_costs(people):
    one = people.quote(sd.Count("age"), sd.Pure(1), by=("region", REGIONS))
    two = people.quote(sd.Count("age"), sd.Pure(1), by=(["region", "sex"], PRODUCT))
    assert one.guarantee == two.guarantee == sd.Pure(1)
    assert one.mechanism == two.mechanism


def test_the_record_is_kept_and_read_back(people):
    for keys in (PRODUCT, [("south", "m"), ("north", "f")]):
        release = people.release_by(["region", "sex"], keys, [sd.Count("age"), sd.Median("age", low=0, high=120)],
                                    sd.Pure(1000))  # fmt: skip
        again = Release.from_json(release.to_json())
        assert again.groups == release.groups
        valid(release.to_dict())
        assert "by region, sex" in repr(release)
        assert "keys of region, sex came with the question" in release.explain(10_000)
        frame = release.to_frame("polars")
        assert set(zip(frame["region"], frame["sex"], strict=True)) == set(release.groups)
        header, *lines = release.text().splitlines()
        assert header.split()[:2] == ["region", "sex"]
        assert len(lines) == len(release.groups)


REFUSED = {
    "no columns": ([], [("a",)]),
    "a column twice": (["region", "region"], [("a", "b")]),
    "seven columns": (list("abcdefg"), [tuple("abcdefg")]),
    "a key too few": (["region", "sex"], [("north",)]),
    "not combined": (["region", "sex"], ["north", "south"]),
    "one list for both": (["region", "sex"], [REGIONS, SEXES, ["x", "y", "z"]]),
    "combinations twice": (["region", "sex"], [("north", "f"), ("north", "f")]),
    "mixed types": (["region", "sex"], [("north", "f"), ("north", 1)]),
    "a list as a key": (["region", "sex"], [("north", ["f"])]),
    "a column without keys": (["region", "sex"], {"region": REGIONS}),
    "keys of another column": (["region", "sex"], {"region": REGIONS, "town": SEXES}),
    "no keys": (["region", "sex"], {"region": REGIONS, "sex": []}),
    "keys twice": (["region", "sex"], {"region": ["n", "n"], "sex": SEXES}),
    "yes and no": (["region", "sex"], {"region": [True, False], "sex": SEXES}),
    "half characters": (["region", "sex"], {"region": ["\ud800"], "sex": SEXES}),
    "more than a million": (["region", "sex"], {"region": range(1001), "sex": range(1000)}),
    "a column that is not there": (["region", "town"], {"region": REGIONS, "town": SEXES}),
    "texts for numbers": (["region", "age"], {"region": REGIONS, "age": SEXES}),
    "mixed types of one column": ("region", ["north", 1]),
    "one key twice": ("region", ["north", "south", "north"]),
    "a number and its double": ("age", [1, 1.0]),
    "fractions": ("age", [1.5]),
    "nothing": ("region", [None]),
    "not a number": ("age", [float("nan")]),
    "no key at all": ("region", []),
    "a text for a list": ("region", "north"),
    "a million and one": ("age", range(1_000_001)),
    "nowhere": ("town", ["Ulm"]),
    "a quotient": ("(age / 0)", [1]),
    "a quotient of columns": ("(age / (age - age))", [1]),
    "a group that no bin has": ("bin(age, 0, 18, 65)", ["0-18"]),
    "a mapping of numbers": ("map(age, {'1': 'one'})", ["one"]),
}


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory):
    """The same table in every kind of source that is read here."""
    import duckdb
    import pandas as pd
    import polars as pl

    folder = tmp_path_factory.mktemp("keys")
    frame = pl.DataFrame(PEOPLE)
    frame.write_parquet(folder / "people.parquet")
    frame.write_csv(folder / "people.csv")
    connection = duckdb.connect()
    connection.register("people", frame.to_arrow())
    sources = {
        "memory": PEOPLE, "csv": str(folder / "people.csv"), "parquet": str(folder / "people.parquet"), "polars": frame,
        "lazy polars": frame.lazy(), "pandas": pd.DataFrame(PEOPLE), "duckdb": connection.table("people"),
    }  # fmt: skip
    yield {
        name: sd.open(one, budget=sd.Approx(100, 1e-3), neighbors="add-remove-one")
        for name, one in sources.items()
    }
    connection.close()


IN_TEXT = ("texts for numbers", "a mapping of numbers")
"""In a CSV file every column holds texts: none of them is one of these keys, and the counts are near 0."""


@pytest.mark.parametrize("case", REFUSED)
def test_bad_keys_are_refused_before_the_debit_by_every_source(everywhere, case):
    for name, people in everywhere.items():
        if name == "csv" and case in IN_TEXT:
            continue
        with pytest.raises(sd.SordinoError, match=r"key|group|column|divisor") as refused:
            people.release_by(*REFUSED[case], sd.Count("age"), sd.Pure(1))
        assert "Traceback" not in str(refused.value)
        assert people.history == ()


UNKNOWN = {
    "a pure price": ("region", {}, sd.Pure(1), "delta"),
    "a concentrated price": ("region", {}, sd.Concentrated(1), "delta"),
    "no delta": ("region", {}, sd.Approx(1, 0), "delta"),
    "nowhere": ("town", {}, None, "column"),
    "a quotient": ("(age / (age - age))", {}, None, "column"),
    "a filter in the wrong place": ("region", {"where": "age < 40"}, None, "where"),
    "a slip": ("region", {"tigth": True}, None, "tigth"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_bad_discoveries_are_refused_by_every_source(everywhere, case):
    """Whether keys come with their counts or a statistic is asked of each."""
    column, options, price, words = UNKNOWN[case]
    for people in everywhere.values():
        for statistic in (sd.Count("age"), sd.Mean("age", low=0, high=100)):
            with pytest.raises(sd.SordinoError, match=words):
                people.release_by(column, sd.discover(), statistic, price or sd.Approx(1, 1e-6), **options)
        assert people.history == ()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (["north", "north"], "'north' is there twice"), (["north", 1], "some are numbers"), ([], "There is none"),
        ([None], "missing"), ([float("nan")], "missing"), ([1.5], "a float"), ([True], "a bool"),
        ([np.array([1, 2])], "a ndarray"), ("north", "no list"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_wrong(people, keys, words):
    with pytest.raises(ParameterError, match=words):
        people.release_by("region", keys, sd.Count("age"), sd.Pure(1))


def test_whole_numbers_find_texts_that_read_as_them(tmp_path):
    """The stated rule, in every source alike; a text finds itself alone."""
    import pandas as pd
    import polars as pl

    frame = pl.DataFrame({"k": ["1", "01", " 1", "2", "x"], "age": [1, 2, 3, 4, 5]})
    frame.write_csv(tmp_path / "k.csv")
    frame.write_parquet(tmp_path / "k.parquet")
    files = [str(tmp_path / "k.csv"), str(tmp_path / "k.parquet")]
    for source in (*files, frame, frame.lazy(), pd.DataFrame(frame.to_dict(as_series=False))):
        people = sd.open(source, budget=sd.Pure(1e6), neighbors="add-remove-one")
        assert people.release_by("k", [1, 2], sd.Count("age"), sd.Pure(1000)).value == (3, 1)
        assert people.release_by("k", ["1", "2"], sd.Count("age"), sd.Pure(1000)).value == (1, 1)


def test_a_million_groups_are_named_and_one_more_is_not():
    assert len(Split.of(["a", "b"], {"a": range(1000), "b": range(1000)})) == MOST
    with pytest.raises(ParameterError, match="at most 1,000,000 groups"):
        Split.of("a", range(MOST + 1))


def test_places_of_rows_by_their_definition():
    """Every combination of places, for products and for lists, one to three columns."""
    rng = np.random.default_rng(1)
    for width in (1, 2, 3):
        levels = {f"c{place}": tuple(range(2 + place)) for place in range(width)}
        every = list(itertools.product(*levels.values()))
        some = [every[place] for place in rng.permutation(len(every))[: max(1, len(every) // 2)]]
        for split in (Split.of(list(levels), levels), Split.plain(tuple(levels), some)):
            rows = list(itertools.product(*((-1, *range(len(level))) for level in split.levels)))
            found = split.places([np.array(column) for column in zip(*rows, strict=True)]).tolist()
            for row, place in zip(rows, found, strict=True):
                named = tuple(level[at] for level, at in zip(split.levels, row, strict=True))
                inside = -1 not in row and named in split.combinations
                assert place == (split.combinations.index(named) if inside else -1)
        assert [one for part in split.chunks(2) for one in part.combinations] == some
