"""How often the bar of plain-or-cut misses the clipped mean, exactly: over all outcomes and the law of their noise."""

import math
from fractions import Fraction

import numpy as np

from sordino.lattice import Lattice
from sordino.mechanisms.clip.clipped_bar import ClippedBar, JointReach
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.clip.cut_tails import CutTails
from sordino.mechanisms.clip.family import exact_chances
from sordino.mechanisms.clip.noisy_mean import Settled
from tests.support.plain_or_cut_worlds import weighed_rows


def flat_tail(flat, reach):
    """Probability that noise with a flat top of so many nats is off by more than the reach."""
    if reach >= flat:
        return math.exp(flat - reach) / (1 + flat)
    return 1 - reach / (1 + flat)


def exact_miss(family, rows, miss, *, narrower=1.0, rate=None):
    """The probability that the bar misses the clipped mean of a column."""
    plan = family.plan
    tails = CutTails.of(family, miss)
    weighed = weighed_rows(family, rows)
    rate = plan.whole.epsilon if rate is None else rate
    whole, flat, cells = exact_chances(weighed, joint=True, exponent=plan.flatness(rate))
    assert flat == 0 or math.isclose(whole, float(1 - plan.share.part) * (1 + flat) * math.exp(-flat))
    found = whole * flat_tail(flat, narrower * tails.whole)
    for level, places, chance, charge in zip(
        weighed.level, weighed.places, cells, weighed.charges, strict=True
    ):
        favoured = places is not None and bool(np.isin(places, family.favoured(level)).all())
        reach = (tails.favoured if favoured else tails.others)[level]
        found += chance * flat_tail(charge / weighed.unit, narrower * reach)
    return found


def hostile_columns(top, random, size, count):
    """Rows that fill a short interval, at an end or inside, with others far away: one heap, or a tail of any weight."""
    for _ in range(count):
        level = random.integers(2, 14)
        start = random.choice([0.0, 0.5, random.random() * 0.9])
        inside = start + random.random(size) * 2.0**-level * random.choice([0.3, 0.6, 0.95])
        away = int(random.integers(0, max(size // 3, 2)))
        kind = random.integers(3)
        if kind == 0:
            far = np.full(away, 0.999)
        elif kind == 1:
            far = start + 2.0 ** (-random.random(away) * level)
        else:
            steps = np.sort(random.integers(1, level + 1, away))
            far = start + 2.0**-steps
        kept = np.concatenate([inside[: size - away], far])
        yield np.sort(np.clip(kept, 0, 1) * top).astype(np.int64)


def law_miss(mechanism, statistic, data, miss, *, narrower=1.0, draws=20_000):
    """How often the bar of a mean misses that of the rows as they were cut, from the laws of all that is drawn.

    Exact with a public number of rows. With a private one the noise of sum and count is convolved by so many draws.
    What all rare outcomes together weigh counts as missed.
    """
    grid = statistic.grid
    units = grid.endless
    codes = np.rint((np.asarray(data) - float(units.origin)) / float(units.step)).clip(0, grid.last)
    column, family = SortedColumn(codes.astype(np.int64), grid), mechanism.family(grid, 1)
    plan, step = family.plan, Fraction(1, 2**40)
    random = np.random.default_rng(3)

    def missed(low, high, price, flat, level):
        part = mechanism.summand(column.clipped(low, high), price, 1)
        scale = part.sensitivity / mechanism.rate(part.price)
        if level is None and not plan.searches:
            reach = ClippedBar.public_reach(part, Lattice.dyadic(-40))
        else:
            priors = (False,) if level is None else family.priors_of(level, low, high)
            reach = JointReach(family, level, priors, scale, step)
        if part.counting is None:
            return flat_tail(flat, narrower * float(reach.half(miss) / scale))
        settled = Settled(part.origin, Fraction(0), Fraction(part.rows))
        bar = ClippedBar.of(
            part, settled, reach, bounds=part.ends, public={"low": part.ends[0], "high": part.ends[1]}, rows=None,
            step=step, averages="mean",
        )  # fmt: skip
        away = abs(float(part.value) / part.rows)
        width = narrower * (bar._half(away * float(bar.counting.scale), 0.0, miss) + away / 2)
        edge = random.random(draws) * (1 + flat)
        own = np.where(edge < flat, edge, flat + random.exponential(size=draws)) * random.choice(
            [-1, 1], draws
        )
        count = np.rint(random.laplace(scale=float(bar.counting.scale), size=draws))
        return float(np.mean(np.abs(float(scale) * own - away * count) > width))

    if not plan.searches:
        return missed(0, grid.last, plan.whole, 0.0, None)
    weighed = weighed_rows(family, codes.astype(np.int64))
    whole_part = mechanism.summand(column.clipped(0, grid.last), plan.whole, 1)
    rate = mechanism.rate(whole_part.price)
    whole, flat, cells = exact_chances(weighed, joint=plan.joint, exponent=plan.flatness(rate))
    found, seen = whole * missed(0, grid.last, plan.whole, flat, None), whole
    for level, places, chance, charge in sorted(
        zip(weighed.level, weighed.places, cells, weighed.charges, strict=True), key=lambda one: -one[2]
    ):
        if chance < 1e-4 or places is None:
            continue
        some = places[:: max(len(places) // 3, 1)]
        each = [
            missed(*family.interval(level, int(place)), plan.cut, charge / weighed.unit, level)
            for place in some
        ]
        found, seen = found + chance * float(np.mean(each)), seen + chance
    return found + max(1 - seen, 0.0)
