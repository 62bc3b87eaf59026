"""Edges of which each vertex counts so many: the flow against a linear program, and what one vertex moves."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import sordino as sd
from sordino.statistics.degree_cap import capped_edges

SETTINGS = [(6, 0.5, 1), (6, 0.8, 2), (9, 0.4, 2), (30, 0.3, 4), (60, 0.2, 7), (60, 0.2, 30)]


def drawn(vertices, chance, seed):
    """A random graph in which one vertex is joined to nearly all others."""
    random = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(vertices), 2)), np.int64)
    return pairs[random.random(len(pairs)) < np.where(pairs[:, 0] == 0, 0.9, chance)]


def by_linear_program(links, vertices, cap):
    """The largest total weight, by a general solver."""
    ends = (links.T.ravel(), np.tile(np.arange(len(links)), 2))
    touching = coo_array((np.ones(2 * len(links)), ends), shape=(vertices, len(links)))
    found = linprog(-np.ones(len(links)), A_ub=touching.tocsr(), b_ub=np.full(vertices, cap), bounds=(0, 1))
    return -found.fun


@pytest.mark.parametrize(("vertices", "chance", "cap"), SETTINGS)
def test_the_flow_is_the_largest_total_of_weights(vertices, chance, cap):
    for seed in range(4):
        links = drawn(vertices, chance, seed)
        total = by_linear_program(links, vertices, cap)
        assert capped_edges(links, vertices, cap) == int(total + 1e-6)


@pytest.mark.parametrize(("vertices", "chance", "cap"), SETTINGS)
def test_all_edges_of_a_vertex_move_it_by_the_cap_at_most(vertices, chance, cap):
    """And without the cap they would move it by more: the hub is what is added."""
    with_hub = drawn(vertices, chance, 1)
    without = with_hub[with_hub[:, 0] != 0]
    moved = capped_edges(with_hub, vertices, cap) - capped_edges(without, vertices, cap)
    assert 0 <= moved <= cap
    assert len(with_hub) - len(without) > cap or cap == SETTINGS[-1][2]


def test_a_hub_that_meets_free_neighbours_moves_it_by_the_whole_cap():
    hub = np.array([(0, other) for other in range(1, 9)], np.int64)
    nobody = np.empty((0, 2), np.int64)
    assert [capped_edges(hub, 9, cap) - capped_edges(nobody, 9, cap) for cap in (1, 3, 8)] == [1, 3, 8]


def test_nobody_above_the_cap_leaves_all_edges():
    links = drawn(30, 0.1, 3)
    assert capped_edges(links, 30, 29) == len(links)


def test_edges_are_published_under_node_privacy():
    hub = np.array([(0, other) for other in range(1, 40)] + [(k, k + 1) for k in range(1, 39)])
    session = sd.open({"left": hub[:, 0], "right": hub[:, 1]}, budget=sd.Pure(20_000), neighbors="node")
    release = session.release(sd.Edges(vertices=40, max_degree=4), sd.Pure(10_000))
    assert release.value == 42  # 38 on the path, 4 at the hub
    assert release.event.neighbors is sd.Neighbors.NODE
    told = release.explain()
    assert "one vertex of the graph, with all of its edges" in told
    assert "Of the edges of one vertex at most 4 count" in told
    assert "of the same law whatever the data" in told
    assert "How much was used here" not in told


def test_node_privacy_needs_a_cap_and_refuses_what_has_no_proof():
    session = sd.open({"left": [0, 1], "right": [1, 2]}, budget=sd.Pure(3), neighbors="node")
    with pytest.raises(sd.ParameterError, match="needs max_degree under node privacy"):
        session.release(sd.Edges(vertices=3), sd.Pure(1))
    for statistic in (sd.Triangles(vertices=3), sd.MaximumDegree(vertices=3), sd.Count("left")):
        with pytest.raises(sd.Unsupported, match="neighbours of this session"):
            session.release(statistic, sd.Pure(1))
    assert session.remaining == sd.Pure(3)


def test_a_ledger_of_vertices_takes_no_price_about_edges(tmp_path):
    path = tmp_path / "friends.ledger"
    sd.Ledger.create(path, budget=sd.Pure(3), neighbors="node", reason="friends")
    table = {"left": [0, 1], "right": [1, 2]}
    with pytest.raises(sd.SordinoError, match="edge"):
        sd.open(table, ledger=path, neighbors="edge").release(sd.Edges(vertices=3), sd.Pure(1))
    assert (
        sd.open(table, ledger=path).release(sd.Edges(vertices=3, max_degree=2), sd.Pure(1)).value is not None
    )
