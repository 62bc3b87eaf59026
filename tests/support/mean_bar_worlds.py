"""How often the bar of plain-or-cut misses the clipped mean, exactly: over all outcomes and the law of their noise."""

import math

import numpy as np

from benchmarks.coverage.clipped_laws import flat_tail, weighed_rows
from sordino.mechanisms.clip.cut_tails import CutTails
from sordino.mechanisms.clip.family import exact_chances


def exact_miss(family, rows, miss, *, narrower=1.0, rate=None):
    """The probability that the bar misses the clipped mean of a column."""
    plan = family.plan
    tails = CutTails.of(family, miss)
    weighed = weighed_rows(family, rows)
    rate = plan.whole.epsilon if rate is None else rate
    whole, flat, cells = exact_chances(weighed, numbers=1, exponent=plan.flatness(rate))
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
