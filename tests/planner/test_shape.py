"""Public data of plans: shapes follow the bounds, parameters are checked, private data are refused."""

from pathlib import Path

import numpy as np
import pytest

import sordino as sd
from sordino.data.memory import Memory
from sordino.errors import ParameterError, Unsupported
from sordino.planner import SHAPES, PublicSample, Shape, plan
from sordino.planner.shape import assumed, public_range

MEDIAN = sd.Median("x", low=0, high=1000)


@pytest.mark.parametrize("name", sorted(SHAPES))
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
        ("lognormal", "there is none of that name"),
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
    sample = PublicSample.of([1, 2, 3])
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


def test_statistics_without_one_column_of_numbers_have_no_plan():
    for statistic in (sd.Edges(vertices=5), sd.Categories("x", keys=("a", "b")), sd.Mode("x", keys=("a",))):
        with pytest.raises(Unsupported, match="has no plan"):
            public_range(statistic)
    assert public_range(sd.Histogram("x", edges=(1, 2, 9))) == (1, 9)
    assert public_range(sd.CountAbove("x", threshold=-4)) == (-8, 0)
    both = sd.Vector((sd.Mean("a", low=0, high=1), sd.Mean("b", low=-2, high=0.5)), order=1)
    assert public_range(both) == (-2, 1)
