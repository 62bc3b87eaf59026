"""Values, envelopes, profiles and smooth bounds against vectors computed elsewhere in high precision."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sordino.data.memory import Memory
from sordino.privacy import Neighbors
from sordino.statistics.edges import Edges
from sordino.statistics.maximum_degree import MaximumDegree
from sordino.statistics.minimum_spanning_tree import MinimumSpanningTree
from sordino.statistics.mode_count import ModeCount
from sordino.statistics.output_trimmed_mean import OutputTrimmedMean
from sordino.statistics.triangles import Triangles
from sordino.statistics.trimmed_mean import TrimmedMean
from tests.support.statistics_references import FULL, RELATION, both, close, read, statistic


def test_all_vectors_are_there():
    """Say so when only the copied few were tested."""
    if not FULL.exists():
        pytest.skip("the full reference vectors are not beside the repository")
    assert len(both("statistics", lambda case: True)) > 200


ENVELOPES = both("statistics", lambda c: "upper" in c) + both("piecewise", lambda c: "upper" in c)


@pytest.mark.parametrize("case", ENVELOPES)
def test_envelopes(case):
    """The reach of the exact statistics is the supremum and infimum of the vectors."""
    plan = statistic(case)
    depth = len(case["upper"]) - 1
    opened = read(plan, case["x"], depth)
    real = plan.units.real
    assert close(real(opened.value), case.get("value", case.get("center")))
    for l in range(depth + 1):
        low, high = (real(end) for end in opened.reach.at(l))
        assert close(high, case["upper"][l]), l
        assert close(low, case["lower"][l]), l


@pytest.mark.parametrize("case", both("statistics", lambda c: c.get("kind") == "sensitivity"))
def test_profiles_and_smooth_sensitivities(case):
    """The profile is the local sensitivity by distance, and its smooth bound the smooth sensitivity."""
    plan = statistic(case)
    depth = len(case["local_sensitivity_at_distance"]) + 60
    opened = read(plan, case["x"], depth)
    for k, expected in enumerate(case["local_sensitivity_at_distance"]):
        assert close(plan.units.length(opened.profile.at(k)), expected), k
    for smoothing, expected in case["smooth_sensitivity"].items():
        found = Fraction(opened.profile.smooth(float(smoothing))) * plan.units.step
        assert close(found, expected), smoothing


@pytest.mark.parametrize("case", both("statistics", lambda c: c["statistic"] == "max_cell_count"))
@pytest.mark.parametrize("relation", ["swap", "addrem"])
def test_largest_cell(case, relation):
    """Both envelopes of the largest count."""
    keys = tuple(range(case["params"]["cells"]))
    rows = [key for key, count in zip(keys, case["counts"], strict=True) for _ in range(count)]
    plan = ModeCount("x", keys=keys, outside="last", neighbors=RELATION[relation])
    depth = len(case[f"{relation}_upper"]) - 1
    opened = plan.read(*Memory({"x": rows}).summary(plan.request(depth=depth))).open()
    assert opened.value == case["value"]
    for l in range(depth + 1):
        assert opened.reach.at(l) == (case[f"{relation}_lower"][l], case[f"{relation}_upper"][l])


@pytest.mark.parametrize(
    "case", both("trimmed_mean", lambda c: c["kind"] == "trimmed_mean_smooth_sensitivity")
)
def test_trimmed_mean(case):
    """Value, local sensitivities and smooth sensitivity of the input-clipped trimmed mean."""
    given, expected = case["input"], case["expected"]
    n = len(given["x"])
    plan = TrimmedMean(
        "x", trim=Fraction(given["m"], n), low=given["a"], high=given["b"], step=Fraction(1, 10**6)
    )
    opened = read(plan, given["x"], n + 3)
    assert close(plan.units.real(opened.value), expected["trimmed_mean"])
    length = plan.units.length
    assert close(length(opened.profile.at(0)), expected["local_sensitivity"])
    for k, bound in enumerate(expected["local_sensitivity_at_distance"]):
        assert close(length(opened.profile.at(k)), bound), k
    smooth = Fraction(opened.profile.smooth(given["t"])) * plan.units.step
    assert close(smooth, expected["smooth_sensitivity"])


@pytest.mark.parametrize("case", both("trimmed_mean", lambda c: c["kind"] == "output_truncated_smooth_bound"))
def test_output_trimmed_mean(case):
    """The tight smooth bound with inputs so wide that they are as good as unbounded."""
    given, expected = case["input"], case["expected"]
    n, width = len(given["x"]), given["b"] - given["a"]
    far = 2 * n * width
    plan = OutputTrimmedMean(
        "x", trim=Fraction(given["m"], n), low=given["a"] - far, high=given["b"] + far,
        answer_low=given["a"], answer_high=given["b"], step=Fraction(1, 10**6),
    )  # fmt: skip
    opened = read(plan, given["x"], n + 3)
    smooth = Fraction(opened.profile.smooth(given["t"])) * plan.units.step
    assert close(smooth, expected["tight_upper_bound"])
    assert smooth <= Fraction(expected["lemma50_upper_bound"]) * Fraction(1 + 1e-12)


GRAPHS = both("graphs", lambda c: c["kind"] == "simple_graph")


def graph(case, plan, depth):
    """Read a graph; the table repeats some edges backwards and has loops, which must not count."""
    edges = [*case["edges"], *(edge[::-1] for edge in case["edges"][::3]), [0, 0], [1, case["n"]]]
    table = {"left": [a for a, _ in edges], "right": [b for _, b in edges]}
    return plan.read(*Memory(table).summary(plan.request(depth=depth))).open()


@pytest.mark.parametrize("case", GRAPHS)
def test_triangles(case):
    """Count, profile, smooth sensitivity and one-sided radii."""
    plan = Triangles(vertices=case["n"])
    opened = graph(case, plan, 80)
    assert opened.value == case["triangles"]
    assert [opened.profile.at(k) for k in range(len(case["triangle_ls_at_distance"]))] == case[
        "triangle_ls_at_distance"
    ]
    for smoothing, expected in case["triangle_smooth_sensitivity"].items():
        assert close(opened.profile.smooth(float(smoothing)), expected)
    for l, radius in enumerate(case["triangle_radius_cor52"], start=1):
        assert opened.profile.at(l - 1) <= radius
    low = high = opened.value
    for l, (up, down) in enumerate(
        zip(case["triangle_up_radius"], case["triangle_down_radius"], strict=True), start=1
    ):
        low, high = max(0, low - down), min(opened.top, high + up)
        assert opened.reach.at(l) == (low, high)


@pytest.mark.parametrize("case", GRAPHS)
def test_edges_and_degrees(case):
    """Counts, and both envelopes of the largest degree."""
    assert graph(case, Edges(vertices=case["n"]), 3).value == case["edge_count"]
    depth = len(case["max_degree_upper"]) - 1
    exact = graph(case, MaximumDegree(vertices=case["n"], envelope="exact"), depth)
    fast = graph(case, MaximumDegree(vertices=case["n"]), depth)
    assert exact.value == fast.value == case["max_degree"]
    for l in range(depth + 1):
        assert exact.reach.at(l)[1] == fast.reach.at(l)[1] == case["max_degree_upper"][l]
        if "max_degree_lower" in case:
            assert exact.reach.at(l)[0] == case["max_degree_lower"][l]
        assert fast.reach.at(l)[0] <= exact.reach.at(l)[0]


@pytest.mark.parametrize("case", both("graphs", lambda c: c["kind"] == "mst"))
def test_minimum_spanning_tree(case):
    """Cost, profile, smooth sensitivity, lower envelope and upward radii."""
    topology = tuple(map(tuple, case["edges"]))
    plan = MinimumSpanningTree(
        topology=topology, vertices=case["n"], high=float(case["weight_bound"]), flows=len(topology)
    )
    table = {
        "left": [a for a, _ in topology],
        "right": [b for _, b in topology],
        "weight": [float(w) for w in case["weights"]],
    }
    opened = plan.read(*Memory(table).summary(plan.request(depth=30))).open()
    assert close(plan.units.real(opened.value), case["cost"])
    for k, bound in enumerate(case["ls_at_distance"]):
        assert close(plan.units.length(opened.profile.at(k)), bound), k
    for k, radius in enumerate(case["up_radius"]):
        assert plan.units.length(opened.profile.at(k)) >= Fraction(radius) * Fraction(1 - 1e-12), k
    for l, low in enumerate(case["lower_envelope"]):
        assert close(plan.units.real(opened.reach.at(l)[0]), low), l
    for smoothing, expected in case["smooth_sensitivity"].items():
        assert close(Fraction(opened.profile.smooth(float(smoothing))) * plan.units.step, expected)


def test_the_comparison_can_fail():
    """A relative error of 1e-10 is noticed, and so is a neighbour relation mixed up."""
    assert not close(1, 1 + 1e-10)
    case = next(p.values[0] for p in ENVELOPES if p.values[0]["neighbouring"] == "addrem")
    wrong = read(statistic({**case, "neighbouring": "swap"}), case["x"], 3)
    right = read(statistic(case), case["x"], 3)
    assert right.reach.at(3) != wrong.reach.at(3)
    assert statistic(case).neighbors is Neighbors.ADD_REMOVE_ONE
