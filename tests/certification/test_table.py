"""The shipped table: every node it holds can be certified again, and lookups err on the safe side."""

import math
from importlib.resources import files

import numpy as np
import pytest

from reproductions.certification_table import generate
from sordino.certification import calibrate, certify
from sordino.certification.certificate import make_shape
from sordino.certification.shape import certified_families
from sordino.certification.table import PRICES, RATIOS, lookup, node_smoothing, nodes, starting_point


def std(family, shape, shift):
    return make_shape(family, float(shape)).std() / float(shift)


@pytest.mark.parametrize("family", certified_families())
def test_the_table_is_complete_and_small(family):
    known = nodes(family)
    assert len(known) >= 0.97 * len(PRICES) * len(RATIOS)
    assert all(node.rho_hi <= node.rho for node in known.values())
    assert len(files("sordino.certification").joinpath("table.json").read_bytes()) < 300_000


@pytest.mark.few(1)
@pytest.mark.parametrize("family", certified_families())
def test_random_nodes_are_certified_again(family):
    rng = np.random.default_rng(len(family))
    known = list(nodes(family).values())
    for index in rng.choice(len(known), 12, replace=False):
        node = known[index]
        again = certify(family, node.shape, smoothing=node.smoothing, shift=node.shift)
        assert again.rho_hi <= node.rho
        assert again.rho_hi == pytest.approx(node.rho_hi, rel=1e-6)
        if node.rho <= 1:  # at large prices the cost of heavy-tailed noise hardly moves with the shift
            larger = certify(family, node.shape, smoothing=node.smoothing, shift=1.02 * node.shift)
            assert larger.rho_lo > node.rho_hi  # a planted error of 2 % is refuted


@pytest.mark.slow
def test_a_node_is_found_again_from_scratch():
    row = generate((0.5,), (0.2,))
    for family, rows in row.items():
        node = nodes(family)[(0.5, 0.2)]
        assert std(family, rows[0][2], rows[0][3]) == pytest.approx(
            std(family, node.shape, node.shift), rel=5e-3
        )


@pytest.mark.parametrize("family", certified_families())
def test_lookup_keeps_the_promise(family):
    for rho, smoothing in ((0.5, 0.1), (0.3, 0.07), (0.013, 0.02)):
        node = lookup(family, rho, smoothing)
        assert node.rho <= rho
        assert node.smoothing >= smoothing
        assert certify(family, node.shape, smoothing=smoothing, shift=node.shift).rho_hi <= rho
    assert lookup(family, 1e-6, 0.1) is None


@pytest.mark.parametrize("family", certified_families())
def test_hits_start_at_their_node_and_points_between_start_well(family):
    node = nodes(family)[(0.5, 0.2)]
    assert starting_point(family, 0.5, node_smoothing(0.5, 0.2)) == (node.shape, node.shift)
    found = calibrate(family, 0.5, 0.2)
    assert float(found.shape) == node.shape
    assert std(family, found.shape, found.shift) <= std(family, node.shape, node.shift) * 1.0005
    for rho, ratio in ((0.3, 0.17), (0.03, 0.35)):
        smoothing = ratio * math.sqrt(2 * rho)
        found = calibrate(family, rho, smoothing)
        assert found.certificate.rho_hi <= rho
        # between nodes a calibration costs no more than the safe node above it
        node = lookup(family, rho, smoothing)
        assert std(family, found.shape, found.shift) <= std(family, node.shape, node.shift) * 1.002
    low = starting_point(family, 1e-6, 2e-4 * math.sqrt(2))
    node = starting_point(family, 1e-4, 2e-3 * math.sqrt(2))
    assert low == pytest.approx((node[0], node[1] / 10), rel=1e-9)  # small prices scale
    assert starting_point(family, 20, 0.1) is None
