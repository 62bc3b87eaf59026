"""Events that an audit counts: sets of answers that may be likelier on one of two tables, found on some of the runs.

By size: half-lines, single answers, ranges. By the last bits: multiples of powers of two, because a sum of floats is
rounded to the precision of its size, and the doubles that can come out depend on the value beneath the noise (Mironov
2012, "On significance of the least significant bits for differential privacy"). Where several numbers are published,
each of them by itself, the first beside what the others are, and what several of them say together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Answers = NDArray[np.float64]
    Event = tuple[str, Callable[[Answers], NDArray[np.bool_]]]

ATOMS = 200  # different answers at most that are put together one by one
REPEATED = 2  # times that they are seen on average: single ones would be told apart by luck alone
FULL = 20  # answers of a range, where there are few
BESIDE = 20  # different by-products at most that are told apart beside an answer
RANGES = 8  # of every number whose log ratios are added up
TINY = 1e-6  # quantiles lie between sums
DIGITS = 53  # of the mantissa of a double


def events(one: Answers, other: Answers, *, low_bits: bool = True) -> list[Event]:
    """Every event that is tried: no answer at all, by size, and by the last bits.

    Example:
        >>> [words for words, _ in events(np.array([0.5]), np.array([3.0])) if "multiple" in words]
        ['a multiple of 2^0', 'no multiple of 2^0']
    """
    found: list[Event] = [("no answer", np.isnan)]
    both = np.concatenate([one, other])
    both = both[~np.isnan(both)]
    if not len(both):
        return found
    found += _by_size(one, other, both)
    return found + _by_last_bits(both) if low_bits else found


def published(one: Answers, other: Answers, *, low_bits: bool = True) -> list[Event]:
    """Every event of answers with by-products: one run a line, the answer first and then what comes with it.

    Example:
        >>> here, there = np.array([[1.0, 0.0], [2.0, 5.0]]), np.array([[1.0, 0.0], [2.0, 0.0]])
        >>> {words.split(", ")[0] for words, _ in published(here, there) if "exactly 5" in words}
        {'by-product 1'}
    """
    found: list[Event] = []
    for place in range(one.shape[1]):
        which = f"by-product {place}, " if place else ""
        found += [
            (which + words, partial(_of, place, event))
            for words, event in events(one[:, place], other[:, place], low_bits=low_bits)
        ]
    return [*found, *_together(one, other), *_summed(one, other)] if one.shape[1] > 1 else found


def _of(place: int, event: Callable[[Answers], NDArray[np.bool_]], answers: Answers) -> NDArray[np.bool_]:
    return event(answers[:, place])


def _together(one: Answers, other: Answers) -> list[Event]:
    """Ranges of the answer, beside each of the commonest by-products, put together by how much likelier they are."""
    both = np.concatenate([one, other])
    known, counts = np.unique(np.nan_to_num(both[:, 1:]), axis=0, return_counts=True)
    known = known[np.argsort(-counts)][: min(BESIDE, int((counts >= FULL).sum()))]
    if not len(known):
        return []
    numbers = both[~np.isnan(both[:, 0]), 0]
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, 30))) if len(numbers) else np.zeros(1)
    cells = (len(known) + 1) * (len(edges) + 1)
    many, few = (np.bincount(_cell_of(known, edges, side), minlength=cells) for side in (one, other))
    order = np.argsort(-(many + 1.0) / (few + 1.0))
    sizes = np.unique(np.linspace(1, len(order) - 1, 60).astype(int)).tolist()
    return [
        (f"in one of {size} ranges beside by-products", partial(_in_cells, known, edges, order[:size]))
        for size in sizes
    ]


def _summed(one: Answers, other: Answers) -> list[Event]:
    """How much likelier the numbers make one table, added up: a person who moves several of them is seen in their sum.

    The numbers that tell most, two of them and more: each has the log ratio of its own few ranges.
    """
    both = np.nan_to_num(np.concatenate([one, other]))
    edges = [np.unique(np.quantile(number, np.linspace(0, 1, RANGES + 1))[1:-1]) for number in both.T]
    ratios = []
    for place, cuts in enumerate(edges):
        many, few = (
            np.bincount(_range_of(cuts, np.nan_to_num(side[:, place])), minlength=len(cuts) + 1)
            for side in (one, other)
        )
        ratios.append(np.log((many + 1.0) / (few + 1.0)))
    telling = np.argsort([-np.abs(ratio).mean() for ratio in ratios])
    found: list[Event] = []
    for size in sorted({2, min(4, len(telling)), len(telling)}):
        places = telling[:size].tolist()
        sums = _log_ratio(places, edges, ratios, both)
        found += [
            (
                f"{size} numbers whose log ratios add up to at least {cut:.3g}",
                partial(_at_least, places, edges, ratios, cut),
            )
            for cut in np.unique(np.quantile(sums, np.linspace(0.02, 0.98, 40)))
        ]
    return found


def _log_ratio(places: list[int], edges: list[Answers], ratios: list[Answers], answers: Answers) -> Answers:
    parts = [ratios[one][_range_of(edges[one], np.nan_to_num(answers[:, one]))] for one in places]
    return np.sum(parts, axis=0).round(9)


def _at_least(
    places: list[int], edges: list[Answers], ratios: list[Answers], cut: float, answers: Answers
) -> NDArray[np.bool_]:
    return np.asarray(_log_ratio(places, edges, ratios, answers) >= cut - TINY)


def _cell_of(known: Answers, edges: Answers, answers: Answers) -> NDArray[np.int64]:
    """Numbers of the cells of answers: which by-products, and which range."""
    same = (np.nan_to_num(answers[:, None, 1:]) == known[None]).all(axis=2)
    beside = np.where(same.any(axis=1), same.argmax(axis=1), len(known))
    return np.asarray(beside * (len(edges) + 1) + _range_of(edges, answers[:, 0]), np.int64)


def _in_cells(
    known: Answers, edges: Answers, wanted: NDArray[np.int64], answers: Answers
) -> NDArray[np.bool_]:
    return np.isin(_cell_of(known, edges, answers), wanted)


def _by_size(one: Answers, other: Answers, both: Answers) -> list[Event]:
    """Half-lines at quantiles, the most frequent answers, and those that tell most together."""
    found: list[Event] = []
    for cut in np.unique(np.quantile(both, np.linspace(0.01, 0.99, 60))):
        found += [
            (f"at most {cut:.6g}", partial(np.greater_equal, cut)),
            (f"at least {cut:.6g}", partial(np.less_equal, cut)),
        ]
    values, counts = np.unique(both, return_counts=True)
    if len(values) <= min(
        ATOMS, len(both) / REPEATED
    ):  # answers by how much likelier they are on one table, the likeliest together
        many, few = (np.array([np.sum(side == value) for value in values]) for side in (one, other))
        ranked = values[np.argsort(-(many + 1.0) / (few + 1.0))]
        found += [
            (f"one of {size} answers", partial(_among, ranked[:size])) for size in range(1, len(ranked))
        ]
    else:  # ranges of answers, put together in the same way
        edges = np.unique(np.quantile(both, np.linspace(0, 1, max(min(60, len(both) // FULL), 3))))
        many, few = (np.bincount(_range_of(edges, side), minlength=len(edges) + 1) for side in (one, other))
        order = np.argsort(-(many + 1.0) / (few + 1.0))
        found += [
            (f"in one of {size} ranges", partial(_within, edges, order[:size]))
            for size in range(1, len(order))
        ]
    frequent = values[np.argsort(-counts)][:20]
    return [*found, *((f"exactly {value:.6g}", partial(np.equal, value)) for value in frequent)]


def _among(wanted: Answers, answers: Answers) -> NDArray[np.bool_]:
    return np.isin(answers, wanted)


def _range_of(edges: Answers, answers: Answers) -> NDArray[np.int64]:
    return np.searchsorted(edges, answers, side="right").astype(np.int64)


def _within(edges: Answers, wanted: NDArray[np.int64], answers: Answers) -> NDArray[np.bool_]:
    return np.isin(_range_of(edges, answers), wanted)


def _by_last_bits(both: Answers) -> list[Event]:
    """Answers that are multiples of a power of two, and those that are not, for every power that tells some apart."""
    seen = np.unique(last_bit(both))
    powers = seen[np.isfinite(seen)][-2 * DIGITS :]
    return [
        event
        for power in powers.astype(int).tolist()
        for event in (
            (f"a multiple of 2^{power}", partial(_multiple, power)),
            (f"no multiple of 2^{power}", partial(_no_multiple, power)),
        )
        if power > seen[0]
    ]


def last_bit(answers: Answers) -> Answers:
    """The exponent of the last binary digit of every answer; 0 is a multiple of everything.

    Example:
        >>> last_bit(np.array([3.0, 0.75, 96.0, 0.0, np.nan])).tolist()
        [0.0, -2.0, 5.0, inf, nan]
    """
    found = np.full(len(answers), np.nan)
    found[answers == 0] = np.inf
    plain = np.isfinite(answers) & (answers != 0)
    mantissa, exponent = np.frexp(answers[plain])
    digits = np.ldexp(mantissa, DIGITS).astype(np.int64)
    found[plain] = exponent - DIGITS + np.frexp((digits & -digits).astype(np.float64))[1] - 1
    return found


def _multiple(power: int, answers: Answers) -> NDArray[np.bool_]:
    return last_bit(answers) >= power


def _no_multiple(power: int, answers: Answers) -> NDArray[np.bool_]:
    return last_bit(answers) < power
