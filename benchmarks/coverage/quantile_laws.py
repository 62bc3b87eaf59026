"""How often the bar of a quantile misses, by the laws of all that is drawn: answer, worth of a rank, rung."""

from fractions import Fraction

import numpy as np

from sordino.data.memory import Memory
from sordino.hints import Hints
from sordino.mechanisms.clip.column import SortedColumn
from sordino.mechanisms.quantile.ladder import rung_chances
from sordino.mechanisms.quantile.quantile_interval import QuantileInterval

RARE = 1e-3  # radii rarer than this are left out


def answered(mechanism, statistic, data, places):
    """Codes at so many places of the law of the answer, evenly in probability."""
    source = Memory({"x": data})
    (error,) = mechanism.point.error_laws(
        statistic, lambda request: source.summary(request)[0], None, Fraction(0)
    )
    lattice = mechanism.lattice
    for place in range(places):
        low, high = 0, lattice.last
        while low < high:
            middle = (low + high) // 2
            if error.law.cdf(lattice.real(middle)) >= (place + 0.5) / places:
                high = middle
            else:
                low = middle + 1
        yield low


def misses(statistic, data, price, coverage, *, rows, places=20, narrower=0.8):
    """How often a bar misses the quantile of the rows, and one that is narrower does.

    The rung is exact given the answer and the worth of a rank; the answer is taken at some places of its law.

    Args:
        statistic: The quantile.
        data: Rows of one column.
        price: Of the answer with its bar.
        coverage: What is promised.
        rows: Their public number, or the declared one.
        places: At how many places of the law of the answer.
        narrower: Share of the half width that a planted bar keeps.

    Returns:
        The miss, the largest around any of the answers, and both for the planted bar.
    """
    (mechanism,) = QuantileInterval.offers(statistic, price, Hints(interval=coverage, rows=rows))
    units = statistic.grid.endless
    codes = np.rint((np.asarray(data) - float(units.origin)) / float(units.step))
    codes = np.sort(codes.clip(0, statistic.grid.last).astype(np.int64))
    column, plan = SortedColumn(codes, statistic.grid), mechanism.plan(statistic, 1)
    truth = int(statistic.define(codes.tolist())) if len(codes) else 0
    found = []
    for centre in answered(mechanism, statistic, np.asarray(data, float), places):
        radii = [(None, 1.0)]
        if plan.mass is not None:
            chances = rung_chances(mechanism.radius_short(column, centre, plan), flip=price.pointwise)
            radii = [
                (radius, one) for radius, one in zip(mechanism.radii, chances, strict=True) if one > RARE
            ]
        total, missed, planted = sum(one for _, one in radii), 0.0, 0.0
        for radius, likely in radii:
            rungs = mechanism.rungs(plan, centre, radius)
            chances = plan.choice.chances(mechanism.spare(statistic, column, rungs), plan.target)
            for place, chance in enumerate(chances):
                low, high = rungs.ends(place)
                missed += chance * likely / total * (not low <= truth <= high)
                low, high = centre - narrower * (centre - low), centre + narrower * (high - centre)
                planted += chance * likely / total * (not low <= truth <= high)
        found.append((missed, planted))
    each = np.array(found)
    return (*each.mean(axis=0).tolist(), *each.max(axis=0).tolist())
