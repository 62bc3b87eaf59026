"""Triangles, largest degree, spanning trees and edges of public graphs, under edge and node privacy.

Errors are exact: of our default by its output law, of the ladder mechanism (Zhang, Cormode, Procopiuc, Srivastava and
Xiao 2015) and of smooth sensitivity with Cauchy noise (Nissim, Raskhodnikova and Smith 2007) by theirs, all from the
same local sensitivities at a distance. Without the graphs' files a graph with heavy-tailed degrees is drawn.
"""

import math
import os
from pathlib import Path

import numpy as np

import sordino as sd
from sordino.data.memory import Memory
from sordino.mechanisms.choose import choose, output_grid
from sordino.planner.spread import summarise

DATA = (
    Path(os.environ.get("SORDINO_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "graphs"
)
GRAPHS = ("ca_grqc", "facebook", "email_enron", "soc_slashdot")
EPSILONS = (1, 0.1)
CAPS = (20, 100, 500, 2000)  # of the edges of one vertex under node privacy
SIDE, NEAR = 12, 25  # of the spanning trees: reading one looks for detours about every edge
NATS = 80  # rungs beyond so many nats do not show
WEIGHTS = {
    "uniform": lambda random, many: random.random(many),
    "skewed": lambda random, many: random.beta(0.5, 4, many),
}


def edges(name):
    """Two columns of vertices: a public graph, or a drawn one with heavy-tailed degrees where its file is absent."""
    path = DATA / f"{name}.parquet"
    if path.exists():
        import polars as pl

        frame = pl.read_parquet(path)
        return frame["u"].to_numpy(), frame["v"].to_numpy()
    random = np.random.default_rng(sum(map(ord, name)))
    attraction = random.pareto(1.2, 4000) + 1
    left, right = random.choice(4000, size=(2, 40_000), p=attraction / attraction.sum())
    pairs = np.unique(np.sort(np.stack([left, right], axis=1)[left != right], axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def once(source):
    """Ask a source, and remember what it said."""
    known = {}

    def ask(request):
        if request not in known:
            (known[request],) = source.summary(request)
        return known[request]

    return ask


def ours(statistic, ask, epsilon):
    """Median and root mean square error of the default, and the local sensitivities that it read."""
    mechanism = choose(statistic, sd.Pure(epsilon))
    opened = statistic.read(ask(statistic.request(depth=mechanism.depth))).open()
    truth = opened.units.real(opened.value)
    found = summarise(mechanism.error_laws(statistic, ask, output_grid(statistic), truth))
    return found.median, found.rms


def sensitivities(statistic, ask, epsilon):
    """How much one edge can change the answer when so many others have changed, in units of the answer."""
    many = math.ceil(2 * NATS / epsilon)
    opened = statistic.read(ask(statistic.request(depth=many))).open()
    return np.array([float(opened.profile.at(distance) * opened.units.step) for distance in range(many)])


def ladder(steps, epsilon, unit):
    """Median and root mean square error of the ladder mechanism: rung t has weight exp(-epsilon t / 2) per answer.

    Args:
        steps: Local sensitivities at distances 0, 1, ...: rung t + 1 is so much wider than rung t, on either side.
        epsilon: The price.
        unit: Distance between answers.
    """
    ends = np.concatenate([[0.0], np.cumsum(steps)])
    weight = np.exp(-epsilon / 2 * np.arange(1, len(steps) + 1)) * 2 * steps / unit
    low, high = ends[:-1], ends[1:]
    squares = weight * (low * low + low * high + high * high) / 3
    total = 1 + weight.sum()
    within = (1 + np.cumsum(weight)) / total
    rung = int(np.searchsorted(within, 0.5))
    before = (1 + weight[:rung].sum()) / total
    inside = (0.5 - before) / (weight[rung] / total) if weight[rung] else 0.0
    return max(low[rung] + inside * (high[rung] - low[rung]), 0.0), math.sqrt(squares.sum() / total)


def cauchy(steps, epsilon):
    """Median error of smooth sensitivity with Cauchy noise: 6/epsilon times the bound with smoothing epsilon/6."""
    smooth = float(np.max(np.exp(-epsilon / 6 * np.arange(len(steps))) * steps))
    return 6 / epsilon * smooth


def triangles():
    """One line a graph and price."""
    for name in GRAPHS:
        left, right = edges(name)
        vertices = int(max(left.max(), right.max())) + 1
        statistic, ask = sd.Triangles(vertices=vertices), once(Memory({"left": left, "right": right}))
        truth = int(statistic.read(ask(statistic.request(depth=1))).open().value)
        for epsilon in EPSILONS:
            steps = sensitivities(statistic, ask, epsilon)
            mine, rms = ours(statistic, ask, epsilon)
            rung, rung_rms = ladder(steps, epsilon, 1.0)
            line = [mine, rung, cauchy(steps, epsilon), (vertices - 2) * math.log(2) / epsilon]
            yield (name, epsilon, truth, int(steps[0]), *(100 * one / truth for one in line), rms / rung_rms)


def degrees():
    """The largest degree and the number of edges move by one: geometric noise."""
    for name in GRAPHS:
        left, right = edges(name)
        vertices = int(max(left.max(), right.max())) + 1
        ask = once(Memory({"left": left, "right": right}))
        for epsilon in EPSILONS:
            found = []
            for statistic in (sd.MaximumDegree(vertices=vertices), sd.Edges(vertices=vertices)):
                truth = int(statistic.read(ask(statistic.request(depth=1))).open().value)
                found += [truth, ours(statistic, ask, epsilon)[1]]
            yield (name, epsilon, *found, math.sqrt(2) / epsilon)


def nodes():
    """Edges under node privacy: what is not counted, and with the noise how far an answer errs, in per cent."""
    for name in GRAPHS:
        left, right = edges(name)
        vertices = int(max(left.max(), right.max())) + 1
        source = Memory({"left": left, "right": right})
        truth = int(source.summary(sd.Edges(vertices=vertices).request(depth=1))[0].rows)
        for epsilon in EPSILONS:
            found = []
            for cap in CAPS:
                statistic = sd.Edges(vertices=vertices, max_degree=cap, neighbors="node")
                mechanism = choose(statistic, sd.Pure(epsilon))
                ask = once(source)
                laws = mechanism.error_laws(statistic, ask, output_grid(statistic), truth)
                found.append(100 * summarise(laws).rms / truth)
            yield (name, epsilon, truth, *found, 100 * math.sqrt(2) * (vertices - 1) / epsilon / truth)


def topologies():
    """Public topologies: streets that cross at right angles, and the first neighbours of the hub of a public graph."""
    places = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    streets = np.concatenate([
        np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()]), np.stack([places[:-1].ravel(), places[1:].ravel()]),
    ], axis=1)  # fmt: skip
    yield f"{SIDE} x {SIDE} streets", streets
    left, right = edges(GRAPHS[0])
    hub = np.bincount(np.concatenate([left, right])).argmax()
    near = np.concatenate([[hub], right[left == hub], left[right == hub]])[:NEAR]
    kept = np.isin(left, near) & np.isin(right, near)
    _, ends = np.unique(np.stack([left[kept], right[kept]]), return_inverse=True)
    yield f"{GRAPHS[0]}, a hub and {NEAR - 1} neighbours", ends.reshape(2, -1)


def trees():
    """Weights in [0, 1] drawn on a public topology; neighbours differ in one weight."""
    for name, ends in topologies():
        topology, vertices = tuple(map(tuple, ends.T.tolist())), int(ends.max()) + 1
        for shape, draw in WEIGHTS.items():
            weights = draw(np.random.default_rng(3), len(topology))
            ask = once(Memory({"left": ends[0], "right": ends[1], "weight": weights}))
            statistic = sd.MinimumSpanningTree(topology=topology, vertices=vertices, high=1, flows=4)
            opened = statistic.read(ask(statistic.request(depth=1))).open()
            for epsilon in EPSILONS:
                median, rms = ours(statistic, ask, epsilon)
                laplace = math.log(2) / epsilon, math.sqrt(2) / epsilon
                truth = float(opened.units.real(opened.value))
                yield (f"{name}, {shape}", epsilon, truth, median, laplace[0], rms, laplace[1])


def tables():
    """Everything, a table a statistic."""
    names = (
        "graph",
        "epsilon",
        "triangles",
        "local",
        "ours",
        "ladder",
        "Cauchy",
        "global Laplace",
        "rms / ladder's",
    )
    yield (
        "Triangles: median error in per cent of the count (last: root mean square errors)",
        names,
        triangles(),
    )
    names = ("graph", "epsilon", "largest degree", "rms", "edges", "rms", "Laplace")
    yield "Largest degree and edges", names, degrees()
    names = ("graph", "epsilon", "edges", *(f"cap {cap}" for cap in CAPS), "Laplace without a cap")
    yield "Edges under node privacy: root mean square error in per cent", names, nodes()
    names = ("weights", "epsilon", "cost", "median error", "Laplace's", "rms error", "Laplace's")
    yield "Minimum spanning tree", names, trees()
