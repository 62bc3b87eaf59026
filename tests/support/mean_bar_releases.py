"""How often bars of means, sums and variances cover, over releases."""

import numpy as np

import sordino as sd
from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.session.quote import prepare


def covered(statistic, data, price, asked, draws, *, seed, hints=None, truth=None, narrower=1.0, fresh=None):
    """How often bars cover the statistic of the rows as they were cut, or of a population."""
    rows = len(data)
    part = prepare(
        statistic, price, neighbors=statistic.neighbors, unit=sd.Unit(), rows=rows, interval=asked,
        hints=hints or {},
    ).parts[0]  # fmt: skip
    bits, hits, widths = SeededBits(seed), 0, []
    for place in range(draws):
        values = np.asarray(data if fresh is None else fresh(place), float)
        source = Memory({"x": values})
        answer = part.mechanism.answer(
            part.statistic, lambda request, source=source: source.summary(request)[0], part.grid, bits=bits
        )
        bar = part.bar.around(answer)
        cut = bar.cut or (statistic.low, statistic.high)
        target = truth(*cut) if truth is not None else _clipped(statistic, values, *cut)
        middle, half = (bar.low + bar.high) / 2, narrower * (bar.high - bar.low) / 2
        slack = (
            1e-9 * max(abs(statistic.low), abs(statistic.high), 1) * (rows if statistic.name == "sum" else 1)
        )
        hits += middle - half - slack <= target <= middle + half + slack
        widths.append(bar.high - bar.low)
    return hits / draws, float(np.median(widths))


def _clipped(statistic, values, low, high):
    units = statistic.grid
    step = float(units.step)
    rounded = np.rint((np.clip(values, statistic.low, statistic.high) - float(units.origin)) / step)
    kept = np.clip(rounded * step + float(units.origin), low, high)
    centre = getattr(statistic, "centre", 0) or 0
    known = {
        "mean": np.mean, "sum": np.sum, "variance": np.var, "standard-deviation": np.std,
        "second-moment": lambda values: np.mean((values - centre) ** 2),
    }  # fmt: skip
    return float(known[statistic.name](kept))
