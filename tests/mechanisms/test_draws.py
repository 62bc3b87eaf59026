"""Every random choice of every mechanism goes through `Draws`."""

import ast
from pathlib import Path

import pytest

import sordino.mechanisms
from sordino.exact.bits import SeededBits
from sordino.mechanisms.parts.draws import Draws, ForcedBits

FOLDER = Path(sordino.mechanisms.__file__).parent
OWNERS = {
    "parts/draws.py",
    "parts/drawing.py",
    "parts/rings.py",
    "additive/radial_draw.py",
    "additive/geometric.py",
    "clip/fit_test.py",
    "clip/whole_or_interval.py",
    "clip/whole_or_interval_groups.py",
    "additive/cube_draw.py",
    "discovery/mixed_cut.py",
    "discovery/threshold.py",
    "table/high_pass_law.py",
}
"""Where `Draws` sends its work; what they export is called by `Draws` alone."""
SAMPLERS = {
    "sordino.exact.sampler",
    "sordino.exact.choice",
    "sordino.exact.compare",
    "sordino.exact.uniforms",
}
DRAWING = {
    "pick",
    "permute_and_flip",
    "draw_lattice",
    "flip_rings",
    "draw_piece",
    "flip_lists",
    "two_sided",
    "draw_outcome",
    "draw_outcomes",
    "draw_flat_topped",
    "two_sided_many",
    "whole_exponential",
}
WORDS = {"word", "words", "below"}
METHODS = {"draw_points"}


def breaches(path):
    """Lines of a mechanism that draw without `Draws`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in SAMPLERS:
            yield f"{path.name}:{node.lineno} imports {node.module}"
        if isinstance(node, ast.ImportFrom) and DRAWING & {name.name for name in node.names}:
            yield f"{path.name}:{node.lineno} imports a sampler"
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            yield f"{path.name}:{node.lineno} draws by {node.attr}"
        if isinstance(node, ast.Attribute) and node.attr in WORDS and "bits" in ast.unparse(node.value):
            yield f"{path.name}:{node.lineno} takes {ast.unparse(node)}"


def test_no_mechanism_draws_by_itself():
    found = [
        line
        for path in sorted(FOLDER.rglob("*.py"))
        if path.relative_to(FOLDER).as_posix() not in OWNERS
        for line in breaches(path)
    ]
    assert found == []


def test_a_mechanism_that_draws_by_itself_is_noticed(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from sordino.exact.sampler import draw\nx = bits.below(3)\n")
    assert len(list(breaches(wrong))) == 2


def test_forced_bits_have_no_words():
    draws = Draws(SeededBits(1))
    forced = ForcedBits(draws)
    assert Draws.of(forced) is draws
    assert not forced.private
    for take in (forced.word, lambda: forced.words(2), lambda: forced.below(7)):
        with pytest.raises(AssertionError, match="goes through Draws"):
            take()
