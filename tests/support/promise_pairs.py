"""Every mechanism of the catalogue built for any statistic, and its output laws as tables."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np

from sordino import catalogue
from sordino.coverage import Sample
from sordino.errors import SordinoError
from sordino.hints import Hints
from sordino.lattice import FiniteLattice
from sordino.mechanisms.additive.additive import Additive
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.plain_or_cut import PlainOrCut
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.quantile.recursive_quantiles import RecursiveQuantiles
from sordino.mechanisms.table.levels import LevelNoise
from sordino.mechanisms.table.margins import Margins
from sordino.noise.laplace import Laplace
from sordino.noise.polyplace import PolyPlace
from sordino.privacy import Approx, Neighbors, Pure
from sordino.statistics.crosstab import Crosstab
from sordino.statistics.hierarchy import Hierarchy
from sordino.testing.worlds import World, drops

SMOOTH = Additive(calibration=PolyPlace.calibrate(Pure(1), smoothing=Fraction(1, 4)))
PLAIN = Additive(calibration=Laplace.calibrate(Pure(1), smoothing=0))


def options(statistic, field):
    """What a field of a mechanism may be, by its name; the statistic's own numbers where it has them."""
    grid = getattr(statistic, "grid", None)
    lattice = FiniteLattice(Fraction(0), Fraction(1), 5) if grid is None else FiniteLattice(*_lattice(grid))
    low, high = (0, 5) if grid is None else (grid.low, grid.high)
    centre = getattr(statistic, "centre", None)
    known = {
        "price": [Approx(1, Fraction(1, 1000)) if "Approx" in field.type else Pure(1)],
        "lattice": [lattice],
        "low": [low],
        "high": [high],
        "rows": [3],
        "rank": [3],
        "share": [Fraction(1, 4)],
        "qs": [getattr(statistic, "qs", (Fraction(1, 4), Fraction(1, 2)))],
        "upper": [True, False],
        "norm": [1, 2, math.inf],
        "total": [False, True],
        "root": [False, True],
        "about": [None] if centre is None else [None, centre, centre + 1],
        "radii": [False, True],
        "dither": [0],
        "calibration": [PLAIN.calibration, SMOOTH.calibration],
        "mechanism": [PLAIN],
        "inner": [PLAIN, SMOOTH],
        "trimmed": [1],
        "bound": [Fraction(1, 2)],
        "coverage": [Sample(0.9)],
        "blocks": [2],
    }
    if field.name == "amounts":
        return _amounts(statistic) if "Axes" in field.type else _levels(statistic)
    if field.name == "point" and field.type == "Mechanism":
        mean = {"rows": 3, "low": low, "high": high, "step": getattr(statistic, "step", None)}
        return [PlainOrCut(price=Pure(1), neighbors=statistic.neighbors, tight=True, **mean)]
    if field.name == "point":
        kind = RecursiveQuantiles if field.type == "RecursiveQuantiles" else PrivateQuantile
        several = {"qs": known["qs"][0], "dither": 0} if kind is RecursiveQuantiles else {}
        return [kind(price=Pure(1), lattice=lattice, rows=3, neighbors=statistic.neighbors, **several)]
    return known.get(field.name)


def _amounts(statistic):
    """Noise for the parts of a table: its own, and of another table."""
    table = Crosstab(("x",), levels=((1, 2),), neighbors=Neighbors.ADD_REMOVE_ONE)
    tables_ = (statistic, table) if isinstance(statistic, Crosstab) else (table,)
    return [next(iter(Margins.offers(one, Pure(1), Hints()))).amounts for one in tables_]


def _levels(statistic):
    """Noise for the levels of a hierarchy: its own, and of another one."""
    other = Hierarchy(("x",), leaves=(1, 2), neighbors=Neighbors.ADD_REMOVE_ONE)
    both = (statistic, other) if isinstance(statistic, Hierarchy) else (other,)
    return [next(iter(LevelNoise.offers(one, Pure(1), Hints()))).amounts for one in both]


def _lattice(grid):
    return grid.endless.origin, grid.endless.step, grid.last


def built(kind, statistic):
    """All variants of a mechanism for a statistic; a required field that nobody knows is an error here."""
    fields = [field for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    chosen = {}
    for field in fields:
        values = options(statistic, field)
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if values is None and needed:
            raise KeyError(f"say in promise_pairs.options what {kind.__name__}.{field.name} may be")
        if values is not None and (needed or len(values) > 1 or field.name == "dither"):
            chosen[field.name] = values
    for values in itertools.product(*chosen.values()):
        try:
            yield kind(**dict(zip(chosen, values, strict=True)))
        except SordinoError:
            continue


def small(case, rows=2):
    """The same world with at most so many rows."""
    if case.places or case.statistic.neighbors.of_graphs:
        return World(case)
    return World(dataclasses.replace(case, sizes=(rows,)))


def cases():
    """One case for every kind, relation, norm, set of traits and form."""
    seen = set()
    for name, kind in sorted(catalogue.statistics().items()):
        for case in kind.cases():
            statistic = case.statistic
            form = tuple(getattr(statistic, name, None) for name in ("rule", "shift", "outside"))
            inside = 0 < getattr(statistic, "q", 0) < 1  # the first and the last row are rows by any rule
            key = name, statistic.neighbors, statistic.norm, statistic.traits, form, inside
            if key not in seen and not drops(statistic):
                seen.add(key)
                yield case


def tables(mechanism, world, depth=6):
    """For every dataset the log probabilities (or densities) of the same answers; None where there is no law."""
    statistic = world.statistic
    readings = [world.read(index, depth) for index in range(len(world.datasets))]
    if mechanism.name == "symmetric-mean":
        inner = dataclasses.replace(world.case, statistic=mechanism.substitute(statistic))
        return tables(mechanism.inner, small(inner, max(map(len, world.datasets))), depth)
    if mechanism.name == "recursive-quantiles":
        laws = [mechanism.joint_law(world.encoded(data)) for data in world.datasets]
        return [np.log([law[key] for key in sorted(law)]) for law in laws]
    if mechanism.name == "order-interval":
        return [_ends(mechanism, statistic, world.encoded(data)) for data in world.datasets]
    if mechanism.name == "propose-test-release":
        return [_tested(mechanism, reading) for reading in readings]
    try:
        laws = [mechanism.law(reading) for reading in readings]
    except SordinoError:
        return None
    if mechanism.name == "additive-vector":
        return [_coordinates(law, reading.open()) for law, reading in zip(laws, readings, strict=True)]
    if mechanism.name == "radial-laplace":
        return [
            _ball(law, reading.open(), mechanism.norm) for law, reading in zip(laws, readings, strict=True)
        ]
    points = answers(laws, statistic)
    return [np.array([law.logpdf(point) for point in points]) for law in laws]


def answers(laws, statistic):
    """Where laws are compared: all lattice points, both sides of every end of a piece, or a wide grid."""
    first = laws[0]
    if hasattr(first, "chances"):
        return range(len(first.chances))
    if hasattr(first, "pieces"):
        ends = sorted(
            {float(end) for law in laws for piece in law.pieces for end in (piece.left, piece.right)}
        )
        near = 1e-9 * (ends[-1] - ends[0])
        return [
            end + side * near for end in ends for side in (-1, 1) if ends[0] < end + side * near < ends[-1]
        ]
    if hasattr(first, "cells") and first.cells:
        last = max(law.cells[-1].last for law in laws)
        count = min(last, 400)
        return [float(first.low + first.step * (last * k // max(count, 1))) for k in range(count + 1)]
    if hasattr(first, "rate"):
        return [float(k) for k in range(-20, 30)]
    unit = float(statistic.units.step)
    far = np.geomspace(1e-3, 1e4, 40) * unit
    middle = float(statistic.units.origin) + np.linspace(-10, 17, 120) * unit
    return [*(-far[::-1]), *middle, *far]


def _coordinates(law, opened):
    """The joint density of independent coordinates on a small cube of answers."""
    side = np.linspace(-4, 8, 13)
    heights = [
        law.noise.logpdf((side - float(opened.units.real(value))) / law.scale) - math.log(law.scale)
        for value in opened.value
    ]
    return (
        np.add.outer(heights[0], sum(heights[1:])).ravel()
        if len(heights) == 2
        else sum(np.meshgrid(*heights, indexing="ij")).ravel()
    )


def _ball(law, opened, norm):
    """The density in space, up to a constant, at points around all values."""
    random = np.random.default_rng(5)
    dimension = len(opened.value)
    scale = float(opened.units.step) * 6
    points = random.uniform(-2 * scale, 3 * scale, size=(150, dimension))
    along = np.outer(np.geomspace(1, 1e3, 30) * scale, np.ones(dimension))
    points = np.concatenate([points, along, -along])
    radii = np.linalg.norm(
        points - np.array([float(opened.units.real(v)) for v in opened.value]), norm, axis=1
    )
    return np.array([law.logpdf(r) - (dimension - 1) * math.log(r) for r in radii])


def _ends(mechanism, statistic, codes):
    column = SortedColumn(codes, statistic.grid)
    (rank,) = statistic.ranks()
    low, high = (
        mechanism.end_law(column, dataclasses.replace(rank, offset=rank.offset + sign * mechanism.ranks))
        for sign in (-1, 1)
    )
    one, other = (
        [law.log_probability(point) for point in range(statistic.grid.last + 1)] for law in (low, high)
    )
    return np.add.outer(one, other).ravel()


def _tested(mechanism, reading):
    """Probability of declining, then of short intervals of answers."""
    chance = mechanism.release_probability(reading)
    law = mechanism.law(reading)
    edges = np.linspace(-40, 40, 1601)
    masses = chance * np.diff([law.cdf(edge) for edge in edges])
    return np.array([1 - chance, *masses])


def exceeded(mechanism, world, logs):
    """By how much the promise is exceeded between any two neighbours; zero or less where it is kept."""
    worst = -math.inf
    for one in range(len(logs)):
        for other, distance in world.near(one):
            if distance != 1:
                continue
            if mechanism.name == "propose-test-release":
                beyond = logs[one] - math.exp(float(mechanism.price.epsilon)) * logs[other]
                worst = max(worst, float(np.maximum(beyond, 0).sum()) - float(mechanism.price.delta))
                continue
            finite = np.isfinite(logs[one]) | np.isfinite(logs[other])
            loss = np.abs(logs[one][finite] - logs[other][finite])
            worst = max(worst, float(loss.max(initial=0.0)) - float(mechanism.guarantee.to(Pure).epsilon))
    return worst
