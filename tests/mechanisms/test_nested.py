"""The nested-interval theorem by enumeration: score sensitivity, privacy loss, and what breaks it."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sordino.mechanisms.nested.intervals import Interpolation, Intervals, held, lattice_cells, line_pieces
from sordino.mechanisms.parts.law import LatticeLaw, PieceLaw
from sordino.mechanisms.parts.loss import loss_range
from sordino.mechanisms.parts.measure import Measure, decimals, mixture, shells
from tests.support.mechanism_worlds import STATISTICS, WORLDS, envelopes, median, trimmed

SHAPES = {
    "linear": Interpolation.linear(),
    "inverse": Interpolation.step(0),
    "staircase": Interpolation.step(Fraction(3, 8)),
    "uniform": Interpolation.step(1),
}


def neighbours(statistic, world):
    kind, domain, size = world
    sets, near, found = envelopes(statistic, kind, domain, size)
    families = {rows: Intervals.of(*found[rows], first=min(domain), last=max(domain)) for rows in sets}
    pairs = [(rows, other) for rows in sets for other in near[rows]]
    return families, pairs


def worst(laws, pairs):
    pure = spread = 0.0
    for one, other in pairs:
        low, high = loss_range(laws[one], laws[other])
        pure, spread = max(pure, high, -low), max(spread, high - low)
    return pure, spread


@pytest.mark.few(8)
@pytest.mark.pairwise
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world[0]}-{len(world[1])}")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("radius", [0, Fraction(1, 4)])
def test_line_mechanisms_keep_their_bounded_range(world, statistic, shape, radius):
    families, pairs = neighbours(statistic, world)
    for epsilon in (3.0,):
        laws = {
            rows: PieceLaw(line_pieces(family.widened(radius), SHAPES[shape]), epsilon / 2)
            for rows, family in families.items()
        }
        # Data sets on which the whole range is one point have no density at all without widening.
        usable = [(one, other) for one, other in pairs if laws[one].pieces and laws[other].pieces]
        pure, spread = worst(laws, usable)
        assert pure <= epsilon * (1 + 1e-9)
        assert spread <= epsilon * (1 + 1e-9)


def test_the_price_is_reached_where_the_theorem_is_tight():
    families, pairs = neighbours(trimmed, ("add-remove", (0, 2, 3, 7), (2, 3, 4)))
    laws = {
        rows: PieceLaw(line_pieces(family, Interpolation.linear()), 0.5) for rows, family in families.items()
    }
    pure, spread = worst(laws, pairs)
    assert spread == pytest.approx(1.0, abs=1e-9)
    assert pure > 0.7


@pytest.mark.few(32)
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world[0]}-{len(world[1])}")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)
@pytest.mark.parametrize("threshold", [0, Fraction(3, 10), Fraction(1, 2), 1])
@pytest.mark.parametrize("cut", [None, 1])
def test_lattice_mechanisms_keep_their_bounded_range(world, statistic, threshold, cut):
    families, pairs = neighbours(statistic, world)
    last = max(world[1])
    heaps = decimals(low=Fraction(0), step=Fraction(1), last=last)
    measures = {
        "uniform": Measure.uniform(last),
        "shells": shells(last=last, centre=3, core=1, tilt=2),
        "mixed": mixture(
            [
                (Fraction(1, 3), Measure.uniform(last)),
                (Fraction(2, 3), heaps),
            ]
        ),
    }
    for measure in measures.values():
        laws = {}
        for rows, family in families.items():
            kept = family
            if cut is not None:  # a window that bites: the range end comes after `cut` levels
                kept = Intervals.of(family.low[: cut + 1], family.high[: cut + 1], first=0, last=last)
            laws[rows] = LatticeLaw(lattice_cells(kept, Fraction(threshold)), measure, 0.5)
        pure, spread = worst(laws, pairs)
        assert pure <= 1 + 1e-9
        assert spread <= 1 + 1e-9


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world[0]}-{len(world[1])}")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)
@pytest.mark.parametrize("levels", [2, 20])
def test_a_tied_answer_that_is_held_keeps_the_bounded_range(world, statistic, levels):
    families, pairs = neighbours(statistic, world)
    last = max(world[1])
    for measure in (Measure.uniform(last), shells(last=last, centre=3, core=1, tilt=2)):
        laws = {
            rows: LatticeLaw(lattice_cells(cut(family, levels).held(levels), Fraction(1, 2)), measure, 0.5)
            for rows, family in families.items()
        }
        assert max(worst(laws, pairs)) <= 1 + 1e-9


def cut(family, levels):
    """The family with the whole range at a public level."""
    return Intervals.of(family.low[:levels], family.high[:levels], first=family.first, last=family.last)


def test_an_answer_held_one_row_too_far_is_refuted():
    """A tie needs two rows: were every answer held, two neighbours with different answers would be two levels apart."""
    families, pairs = neighbours(median, ("replace", (0, 1, 5), 3))
    laws = {}
    for rows, family in families.items():
        held = family.held(20)
        farther = Intervals(held.low[:1] + held.low, held.high[:1] + held.high, held.first, held.last)
        laws[rows] = LatticeLaw(lattice_cells(farther, Fraction(1, 2)), Measure.uniform(5), 0.5)
    assert worst(laws, pairs)[0] > 1.1


@pytest.mark.parametrize(
    "rows", [(4, 4, 4, 4, 4), (0, 4, 4, 4, 9), (4, 4, 4, 9, 9), (0, 2, 4, 9, 9), (4, 4, 9, 9, 9)]
)
def test_many_groups_hold_ties_as_one_does(rows):
    low = np.array([[sorted(rows)[max(2 - level, 0)] if level < 3 else 0 for level in range(5)]])
    high = np.array([[sorted(rows)[min(2 + level, 4)] if level < 3 else 9 for level in range(5)]])
    for levels in (4, 5, 20):
        one = Intervals(tuple(low[0].tolist()), tuple(high[0].tolist()), 0, 9).held(levels)
        ends = [side[0].tolist() for side in held(low, high, levels=levels)]
        short = len(one.low)
        assert [tuple(side[:short]) for side in ends] == [one.low, one.high]
        assert all(
            side[short:] == [end] * (len(side) - short) for side, end in zip(ends, (0, 9), strict=True)
        )


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: f"{world[0]}-{len(world[1])}")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.__name__)
def test_score_sensitivity_is_exactly_one(world, statistic):
    families, pairs = neighbours(statistic, world)
    last = max(world[1])
    levels = {}
    for rows, family in families.items():
        law = LatticeLaw(lattice_cells(family, Fraction(1, 2)), Measure.uniform(last), 1)
        levels[rows] = [law.level(point) for point in range(last + 1)]
    gaps = {abs(a - b) for one, other in pairs for a, b in zip(levels[one], levels[other], strict=True)}
    assert max(gaps) == 1


def test_cells_cover_the_lattice_once():
    families, _ = neighbours(median, WORLDS[0])
    for family in families.values():
        cells = lattice_cells(family, Fraction(1, 2))
        assert cells[0].first == 0
        assert cells[-1].last == 13
        assert all(one.last + 1 == other.first for one, other in pairwise(cells))


def literal_flat_top(family, radius):
    """The definition of Durfee 2025 read literally: score 0 on the flat top, then 1 to 2 on the first interval."""
    pieces = line_pieces(family.widened(radius), Interpolation.linear())
    from dataclasses import replace

    return [piece if piece.side == 0 else replace(piece, level=piece.level + 1) for piece in pieces]


def test_the_literal_flat_top_is_refuted():
    families, pairs = neighbours(trimmed, WORLDS[2])
    radius = Fraction(1, 100)
    laws = {rows: PieceLaw(literal_flat_top(family, radius), 0.5) for rows, family in families.items()}
    _, spread = worst(laws, pairs)
    assert spread > 1.1


def test_a_falling_interpolation_is_refuted():
    families, pairs = neighbours(median, WORLDS[0])
    laws = {}
    for rows, family in families.items():
        cells = lattice_cells(family, Fraction(1, 2))
        flipped = []
        for cell in cells:  # swap the two halves of every gap: h(t) = 1{t <= 1/2}
            inner = any(
                (other.level == cell.level + 1 and abs(other.first - cell.last) <= 1)
                or (other.level == cell.level + 1 and abs(cell.first - other.last) <= 1)
                for other in cells
            )
            flipped.append(
                type(cell)(cell.first, cell.last, cell.level + (1 if inner else -1) * (cell.level > 0))
            )
        laws[rows] = LatticeLaw(flipped, Measure.uniform(13), 0.5)
    _, spread = worst(laws, pairs)
    assert spread > 1.1


def test_noise_scaled_to_the_local_sensitivity_is_refuted():
    families, pairs = neighbours(median, WORLDS[0])
    laws = {}
    for rows, family in families.items():
        centre = family.high[0]
        radius = max(family.high[1] - centre, centre - family.low[1], Fraction(1, 100))
        low, high = [centre - radius * l for l in range(60)], [centre + radius * l for l in range(60)]
        kept = Intervals.of(low, high, first=0, last=13)
        laws[rows] = PieceLaw(line_pieces(kept, Interpolation.linear()), 0.5)
    pure, _ = worst(laws, pairs)
    assert pure > 1.5
    assert not math.isinf(pure)
