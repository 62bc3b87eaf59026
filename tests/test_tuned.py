"""Tuned constants live in one place, each with a reason and an experiment that can be run again."""

import ast
import inspect
from pathlib import Path

import pytest

import sordino as sd
from benchmarks.tuning import moved
from sordino.mechanisms import tuned, tuned_means, tuned_tables

MODULES = (tuned, tuned_means, tuned_tables)
GROUPS = [
    group
    for module in MODULES
    for _, group in inspect.getmembers(module, inspect.isclass)
    if hasattr(group, "experiment")
]
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_every_group_has_an_experiment_that_is_there(group):
    command, path = group.experiment.rsplit(" ", 1)
    assert command == "python -m benchmarks"
    text = (ROOT / "benchmarks" / f"{path}.py").read_text(encoding="utf-8")
    assert f"sweep({group.__name__}" in text


def test_every_constant_says_why():
    trees = [ast.parse(Path(module.__file__).read_text(encoding="utf-8")) for module in MODULES]
    for group in (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)):
        for place, node in enumerate(group.body):
            if isinstance(node, ast.Assign):
                reason = group.body[place + 1]
                assert isinstance(reason, ast.Expr), ast.unparse(node)
                assert len(str(ast.literal_eval(reason.value)).split()) >= 2, ast.unparse(node)


def test_a_constant_that_is_moved_moves_the_error_and_comes_back():
    column = moved.shapes(201)["skewed"]
    cell = moved.Cell("skewed", sd.Median("x", low=0, high=100), sd.Pure(0.3), column, (("interval", 0.95),))
    shipped = cell.error()
    with moved.set_to(tuned.ForQuantileBar, "ANSWER", tuned.ForQuantileBar.ANSWER / 2):
        assert cell.error() > 1.3 * shipped
    assert cell.error() == shipped
