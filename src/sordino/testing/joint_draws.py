"""Choices that are drawn for many groups at once, held against the laws of single ones.

One real joint answer of a few groups is watched. Each joint choice that it makes is then made for the same groups over
and over, in one call, so that the code for arrays is what draws. Every group must have the law of its own single choice
(a distribution function each), and no two groups may share their noise. That the choices are the right ones is
group_laws.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.errors import SordinoError
from sordino.exact.bits import SeededBits
from sordino.mechanisms.choose import output_grid
from sordino.mechanisms.clip.plain_or_cut_plan import STARTS
from sordino.mechanisms.clip.whole_or_interval import Chosen
from sordino.mechanisms.parts.draws import Draws, ForcedBits
from sordino.mechanisms.parts.rings import Rings
from sordino.testing.cut_steps import WHOLE, WholeOrIntervalStep
from sordino.testing.draw_laws import LIMIT, Made, from_uniform, gap
from sordino.testing.flat_steps import PairStep, flat_topped
from sordino.testing.group_laws import KeyedDraws, groups, joint, some_cases
from sordino.testing.noise_steps import GeometricStep, NoiseStep
from sordino.testing.runs import Side
from sordino.testing.survey import asked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sordino.mechanisms import Mechanism
    from sordino.testing.steps import Step

    Floats = NDArray[np.float64]

TRIES = 1500
"""Draws of each group: half the noise moves a distribution function by an eighth, five times what is allowed."""
WEIGHED = 250
"""The same where the intervals of every group are weighed first, which takes long: values are looked at together."""
NEAR = 9
"""Whole numbers above the value that are looked at one by one."""
SHARED = 5.0
"""Largest correlation of two groups times the root of the draws: passed once in a million by chance."""
JOINT = ("noisy_each", "geometrics", "wholes_or_intervals", "flips", "lattice", "flip_lattice")
"""The methods of `Draws` that choose for many groups; the first argument, or the second, is a list of groups."""


def repeated(made: Made, tries: int) -> Made:
    """The same choice for the same groups so many times over, in one call.

    Example:
        >>> repeated(Made("geometrics", ([1, 2],), {}), 2).given
        ([1, 2, 1, 2],)
    """
    first, *rest = made.given
    if made.method == "wholes_or_intervals":
        ends, wholes = rest
        return replace(
            made, given=(first, list(ends) * tries, None if wholes is None else list(wholes) * tries)
        )
    if isinstance(first, Rings):
        return replace(
            made, given=(Rings(*(np.tile(one, (tries, 1)) for one in (first.low, first.high))), *rest)
        )
    again = np.tile(first, (tries, 1)) if isinstance(first, np.ndarray) else list(first) * tries
    return replace(made, given=(again, *rest))


class WatchedTogether(Draws):
    """Real draws from seeded words that write down what is asked for several groups at once."""

    def __init__(self, seed: int) -> None:
        super().__init__(SeededBits(seed))
        self.made: list[Made] = []

    def __getattribute__(self, name: str) -> Any:
        if name not in JOINT:
            return super().__getattribute__(name)
        real = Draws(self.bits)

        def choose(*given: Any, **named: Any) -> Any:
            found = getattr(real, name)(*given, **named)
            if len(found) > 1:
                self.made.append(Made(name, given, named))
            return found

        return choose


def watched_together(kind: type[Mechanism], seed: int = 0) -> Iterator[tuple[str, Made]]:
    """The joint choices of real answers of a few groups: of each method the one in which chance decides most."""
    best: dict[str, tuple[float, str, Made]] = {}
    for case in some_cases(kind):
        statistic, draws = case.world.statistic, WatchedTogether(seed)
        asks = [Side(table).ask for table in groups(case.world)]
        try:
            case.mechanism.answers(statistic, asks, output_grid(statistic), bits=ForcedBits(draws))
        except SordinoError:
            if asked(case, 1):
                raise
        for made in draws.made:
            chance = sum(map(_undecided, single_steps(made)))
            if chance > best.get(made.method, (-1.0,))[0]:
                best[made.method] = chance, case.label, made
    for _, label, made in best.values():
        yield label, made


def _undecided(step: Any) -> float:
    """How far a choice is from being decided beforehand: the chance of anything but the likeliest outcome."""
    if isinstance(step, WholeOrIntervalStep):
        chance = math.exp(step.chances()[0])
        return min(chance, 1 - chance)
    here = step.parts(step).here
    return 0.0 if here is None else 1.0 - math.exp(float(here.max()))


def single_steps(made: Made) -> list[Step]:
    """The choice of every group as the replay sees it."""
    draws = KeyedDraws({})
    getattr(draws, made.method)(*made.given, **made.named)
    return draws.asked


def deviations(made: Made, tries: int | None = None, seed: int = 1) -> Iterator[tuple[str, float]]:
    """How far joint draws are from their laws, group by group, and from being independent; each against its limit.

    Example:
        >>> from fractions import Fraction
        >>> from sordino.privacy import Pure
        >>> made = Made("geometrics", ([5, 9],), {"scale": Fraction(1), "price": Pure(1)})
        >>> max(found for _, found in deviations(made)) < 1
        True
    """
    steps = single_steps(made)
    if tries is None:
        tries = WEIGHED if made.method == "wholes_or_intervals" else TRIES
    again = repeated(made, tries)
    drawn = getattr(Draws(SeededBits(seed)), made.method)(*again.given, **again.named)
    by_group = [drawn[place :: len(steps)] for place in range(len(steps))]
    numbers: list[Floats] = []
    ranks: list[Floats] = []
    for step, some in zip(steps, by_group, strict=True):
        if isinstance(step, WholeOrIntervalStep):
            yield from _cut_deviations(step, some)
            numbers.append(np.array([_number(one) for one in some]))
            ranks.append(_ranks(step, some))
            continue
        points = [round(one / step.grid.step) for one in some] if isinstance(step, NoiseStep) else some
        numbers.append(np.array(points, float))
        yield "another law", _distance(step, points) / LIMIT
    if ranks:
        together = np.concatenate(ranks)
        yield "another law of values", from_uniform(together) * math.sqrt(len(together)) / LIMIT
    yield "shared noise", _correlation(numbers) * math.sqrt(tries) / SHARED


def _number(drawn: Any) -> float:
    """The first code of an interval, or the value of the whole range, as one number that chance decides."""
    return float(drawn.low) if isinstance(drawn, Chosen) else -1.0 if drawn is None else float(drawn[0])


def _distance(step: Any, drawn: Sequence[Any]) -> float:
    # Whole numbers are told apart one by one between two values, and only there.
    other = replace(step, value=step.value + NEAR) if isinstance(step, GeometricStep) else step
    parts = step.parts(other)
    if parts.here is None:  # nothing random: no noise where nothing can move the value
        return 0.0 if len(set(drawn)) == 1 else math.inf
    found = gap(
        [float(one) for one in parts.outcomes], parts.here, [float(one) for one in drawn],
        cells=isinstance(step, NoiseStep),
    )  # fmt: skip
    return found * math.sqrt(len(drawn))


def _class(step: WholeOrIntervalStep, drawn: Any) -> tuple[int, int]:
    """The level and the charge of an interval, times their unit; the whole range comes before all of them."""
    return (drawn.level, int(drawn.charge * step.weighed.unit)) if isinstance(drawn, Chosen) else (-1, 0)


def _places(step: WholeOrIntervalStep, drawn: Chosen) -> Iterator[int]:
    """The starts of all intervals of a level with these ends."""
    family = step.family
    times, shift = family.scale(drawn.level)
    unit, first, last = Fraction(family.top * times, 2 ** (shift + STARTS)), *family.places(drawn.level)
    away = 3 + math.ceil(2 / unit)
    for end in (drawn.low, drawn.high):
        near = int((end - family.anchor) / unit) - (0 if end == drawn.low else 1 << STARTS)
        for place in range(max(near - away, first), min(near + away, last) + 1):
            if family.interval(drawn.level, place) == (drawn.low, drawn.high):
                yield place


def _cut_deviations(step: WholeOrIntervalStep, drawn: Sequence[Any]) -> Iterator[tuple[str, float]]:
    """Intervals by level and charge, and the whole range; its value where that is drawn too."""
    own, _, single = step.chances()
    weighed = step.weighed
    chances = {(-1, 0): math.exp(own)}
    cells = zip(weighed.level, weighed.charges, single + np.log(step.cell_priors), strict=True)
    for level, charge, log in cells:
        chances[level, charge] = chances.get((level, charge), 0.0) + math.exp(log)
    order = {one: place for place, one in enumerate(sorted(chances))}
    classes = [_class(step, one) for one in drawn]
    known = all(one in order for one in classes)
    known &= all(
        any(
            weighed.charges[step.cell(one.level, place)] == one.charge * weighed.unit
            for place in _places(step, one)
        )
        for one in {(one.level, one.low, one.high): one for one in drawn if isinstance(one, Chosen)}.values()
    )
    yield "an interval that is charged otherwise alone", 0.0 if known else math.inf
    if not known:
        return
    with np.errstate(divide="ignore"):
        logs = np.log([chances[one] for one in sorted(chances)])
    found = gap(list(map(float, order.values())), logs, [float(order[one]) for one in classes], cells=False)
    yield "another law of intervals", found * math.sqrt(len(drawn)) / LIMIT


def _ranks(step: WholeOrIntervalStep, drawn: Sequence[Any]) -> Floats:
    """Where the values of the whole range lie within their law, from 0 to 1."""
    values = [one for one in drawn if isinstance(one, tuple)]
    if step.whole is not None and len(step.whole.values) > 1:
        pair = flat_topped(step.whole, step.chances()[1], step.price)
        assert isinstance(pair, PairStep)
        return np.array([pair.rank(one) for one in values])
    parts = step.parts(step)
    kept = [place for place, one in enumerate(step.branches(parts.outcomes)) if one == WHOLE]
    if step.whole is None or parts.here is None or len(kept) < 3 or not values:
        return np.zeros(0)
    points = np.array([float(parts.outcomes[place][1]) for place in kept])
    chances = np.exp(parts.here[kept] - np.logaddexp.reduce(parts.here[kept]))
    # A cell has its middle halfway between its neighbours, so half of it lies below its point, about.
    below = np.cumsum(chances) - chances / 2
    return np.interp([float(one / step.whole.grid.step) for (one,) in values], points, below)


def _correlation(numbers: Sequence[Floats]) -> float:
    """The largest of any two groups in one draw, and of one group in two draws one after the other; of ranks."""
    from scipy.stats import rankdata

    ranks = [rankdata(one) for one in numbers if len(set(one.tolist())) > 1]
    pairs = [(ranks[a], ranks[b]) for a in range(len(ranks)) for b in range(a)]
    pairs += [(one[1:], one[:-1]) for one in ranks]
    return max((abs(float(np.corrcoef(one, other)[0, 1])) for one, other in pairs), default=0.0)


def drawn_together(kind: type[Mechanism]) -> Iterator[str]:
    """Draws for many groups at once have the laws of single draws, and groups share nothing."""
    if not joint(kind):
        return
    for label, made in watched_together(kind):
        for about, found in deviations(made):
            if found > 1:
                yield f"{label}: {made.method} for many groups has {about} ({found:.1f})"
