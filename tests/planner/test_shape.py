"""Public data of plans: shapes follow the bounds, parameters are checked, private data are refused."""

from pathlib import Path

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.errors import ParameterError, Unsupported
from sordino.planner import SHAPES, PublicSample, Shape, plan
from sordino.planner.assumed import assumed
from sordino.planner.subject import Subject, range_of
from sordino.planner.table import drawn

MEDIAN = sd.Median("x", low=0, high=1000)


COLUMNS = sorted(name for name, kind in SHAPES.items() if kind.of == "column")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_shape_lies_mostly_inside_the_bounds_and_follows_them(name):
    for low, high in ((0.0, 1000.0), (-300.0, -100.0)):
        drawn = Shape(name).on(low, high).draw(4000, np.random.default_rng(1))
        assert len(drawn) == 4000
        assert np.mean((drawn >= low) & (drawn <= high)) > 0.98
        assert np.std(np.clip(drawn, low, high)) > (high - low) / 200


def test_the_parameters_of_a_shape_are_those_of_its_law():
    random = np.random.default_rng(2)
    normal = Shape("normal", {"centre": 7, "spread": 2}).on(0, 100).draw(40_000, random)
    assert abs(normal.mean() - 7) < 0.05
    assert abs(normal.std() - 2) < 0.05
    pay = Shape.read("log-normal:median=50,sigma=0.3").on(0, 1000).draw(40_000, random)
    assert abs(np.median(pay) - 50) < 0.5
    assert abs(np.std(np.log(pay)) - 0.3) < 0.01
    tail = Shape("heavy-tail", {"scale": 1, "tail": 2}).on(0, 1000).draw(40_000, random)
    assert abs(np.mean(tail > 10) - 0.01) < 0.002
    ages = Shape("ages").on(0, 120).draw(1000, random)
    assert np.array_equal(ages, np.rint(ages))
    heaped = Shape("heaped-pay", {"share": 0.5, "heap": 100}).on(0, 10_000).draw(10_000, random)
    assert abs(np.mean(heaped % 100 == 0) - 0.5) < 0.03
    two = Shape("bimodal", {"share": 0.25}).on(0, 100).draw(10_000, random)
    assert abs(np.mean(two < 50) - 0.25) < 0.02


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lognormal", "the name must be one of"),
        ("normal:width=3", "has no parameter 'width'"),
        ("normal:spread=-1", "spread must be positive"),
        ("normal:spread=wide", "a parameter is name=number"),
        ("bimodal:share=2", "share must be between"),
    ],
)
def test_a_wrong_shape_is_named(text, words):
    with pytest.raises(ParameterError, match=words):
        plan(MEDIAN, sd.Pure(1), rows=100, assume=text)


def private_things(folder):
    np.save(folder / "people.npy", np.arange(10.0))
    data = {"x": np.arange(10.0)}
    return [
        sd.open(data, budget=sd.Pure(1)),
        Memory(data),
        data,
        str(folder / "people.npy"),
        "people.parquet",
        Path("people.csv"),
        ["a", "b"],
        object(),
    ]


@pytest.mark.parametrize("place", range(8))
def test_whatever_could_be_private_is_refused_in_three_lines(place, tmp_path):
    given = private_things(tmp_path)[place]
    with pytest.raises(ParameterError) as caught:
        plan(MEDIAN, sd.Pure(1), rows=100, assume=given)
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert "A plan never reads private data" in lines[1]
    assert lines[2].strip().startswith("Hint:")


def test_a_session_is_no_statistic():
    people = sd.open({"x": [1.0, 2.0]}, budget=sd.Pure(1))
    with pytest.raises(ParameterError, match="never reads private data"):
        plan(people, sd.Pure(1), rows=10)
    assert people.remaining == sd.Pure(1)


def test_a_public_sample_is_drawn_from_with_replacement():
    sample = PublicSample(np.array([1.0, 2.0, 3.0]))
    drawn = sample.draw(300, np.random.default_rng(0))
    assert set(drawn) == {1.0, 2.0, 3.0}
    assert plan(sd.Count("x"), sd.Pure(1), assume=[1.0, 2.0, 5.0]).rows == 3
    for wrong in ([], [[1.0, 2.0]], [np.nan]):
        with pytest.raises(ParameterError, match="list of finite numbers"):
            assumed(wrong, MEDIAN)


def test_the_default_shape_suits_the_bounds():
    assert assumed(None, MEDIAN).name == "log-normal"
    assert assumed(None, sd.Mean("x", low=-5, high=5)).name == "normal"
    ages = assumed(None, sd.Median("x", low=0, high=120, step=1))
    assert (ages.name, ages.parameters["step"]) == ("ages", 1)


def test_ranges_are_the_bounds_or_what_takes_their_place():
    assert range_of(sd.Histogram("x", edges=(1, 2, 9))) == (1, 9)
    assert range_of(sd.CountAbove("x", threshold=-4)) == (-8, 0)
    assert range_of(sd.Count("x")) == (0, 1)
    both = sd.Vector((sd.Mean("a", low=0, high=1), sd.Mean("b", low=-2, high=0.5)), order=1)
    assert Subject.of(both).ranges == ((0, 1), (-2, 0.5))


def table(statistic, assume, rows, seed=5):
    return drawn(Subject.of(statistic), assumed(assume, statistic), rows, np.random.default_rng(seed))


def test_every_column_of_several_lies_on_its_own_bounds():
    both = sd.Vector((sd.Mean("a", low=0, high=1), sd.Mean("b", low=-2000, high=-1000)), order=1)
    for assume in (None, "normal", "correlated:correlation=-0.5"):
        found = table(both, assume, 4000)
        assert np.mean((found["a"] > 0) & (found["a"] < 1)) > 0.99
        assert np.mean((found["b"] > -2000) & (found["b"] < -1000)) > 0.99
        correlation = np.corrcoef(found["a"], found["b"])[0, 1]
        wanted = {None: 0.7, "normal": 0.0}.get(assume, -0.5)
        assert abs(correlation - wanted) < 0.06
    rows = np.array([[0.1, -1100.0], [0.9, -1900.0]])
    sample = table(both, rows, 50)
    assert set(zip(sample["a"], sample["b"], strict=True)) == {(0.1, -1100.0), (0.9, -1900.0)}


def test_categories_have_the_weights_that_were_named():
    keys = ("north", "south", "east")
    found = table(sd.Categories("c", keys=keys), "zipf:exponent=2,outside=0.1", 40_000)["c"]
    shares = [np.mean(found == key) for key in keys]
    weights = np.array([1, 1 / 4, 1 / 9])
    assert np.allclose(shares, 0.9 * weights / weights.sum(), atol=0.01)
    assert abs(1 - sum(shares) - 0.1) < 0.01
    found = table(sd.Mode("c", keys=keys), "weights:south=3,east=1", 40_000)["c"]
    assert np.allclose([np.mean(found == key) for key in keys], [0, 0.75, 0.25], atol=0.01)
    whole = table(sd.Mode("c", keys=(4, 7)), "zipf:outside=0.5", 1000)["c"]
    assert whole.dtype == np.int64
    assert set(whole.tolist()) == {4, 7, 8}
    assert set(table(sd.Mode("c", keys=keys), ["north", "west"], 100)["c"]) == {"north", "west"}


def test_graphs_have_the_degrees_that_were_named():
    statistic = sd.Edges(vertices=400)

    def edges(assume):
        found = table(statistic, assume, None)
        pairs = {(min(a, b), max(a, b)) for a, b in zip(found["left"], found["right"], strict=True)}
        assert len(pairs) == len(found["left"])  # simple
        assert all(0 <= a < b < 400 for a, b in pairs)
        return pairs

    assert abs(2 * len(edges("random-graph:degree=12")) / 400 - 12) < 0.8
    free = edges("scale-free:attach=3")
    assert len(free) == 3 * (400 - 3)
    degrees = np.bincount(np.array(list(free)).ravel(), minlength=400)
    assert degrees.max() > 5 * degrees.mean()
    blocks = edges("communities:size=20,inside=0.5,outside=0.01")
    inside = sum(a // 20 == b // 20 for a, b in blocks)
    assert abs(inside / (20 * 190) - 0.5) < 0.04
    assert abs((len(blocks) - inside) / (400 * 399 / 2 - 20 * 190) - 0.01) < 0.002
    assert edges([[0, 1], [5, 9]]) == {(0, 1), (5, 9)}
    assert len(edges("random-graph:degree=399")) == 400 * 399 / 2


def test_the_weights_of_a_public_graph_are_a_column():
    tree = sd.MinimumSpanningTree(topology=((0, 1), (1, 2), (0, 2)), vertices=3, high=9)
    found = table(tree, "uniform", 3)
    assert found["left"].tolist() == [0, 0, 1] or found["left"].tolist() == [0, 1, 0]
    assert ((found["weight"] >= 0) & (found["weight"] <= 9)).all()


@pytest.mark.parametrize(
    ("statistic", "assume", "words"),
    [
        (MEDIAN, "random-graph", "does not suit the median"),
        (sd.Edges(vertices=5), "normal", "one of random-graph, scale-free, communities"),
        (sd.Mode("c", keys=("a", "b")), "weights:c=1", "weights are given to the public keys"),
        (sd.Mode("c", keys=("a", "b")), [0.5], "a list of texts or whole numbers"),
        (sd.Edges(vertices=5), [[0, 1, 2]], "a list of edges"),
        (sd.Edges(vertices=5), "random-graph:degree=-1", "degree must not be negative"),
    ],
)
def test_a_shape_that_does_not_suit_is_refused(statistic, assume, words):
    with pytest.raises(ParameterError, match=words):
        assumed(assume, statistic)


def test_too_many_pairs_of_rows_are_refused_with_a_way_out():
    slope = sd.TheilSen("x", "y", x_low=0, x_high=1, y_low=0, y_high=1, low=-2, high=2)
    with pytest.raises(Unsupported, match=r"rows=4000; with more rows"):
        plan(slope, sd.Pure(1), rows=5000)
