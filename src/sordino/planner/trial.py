"""Trying a candidate on public columns: its exact error laws where there are any, simulated answers otherwise.

Columns are generated from a seed, so a plan is the same whenever it is made. Seeded random words are fine here because
nothing that is drawn is about anybody; a release never uses them.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sordino.data.memory import Memory
from sordino.errors import Unsupported
from sordino.exact.bits import SeededBits
from sordino.mechanisms import Mechanism, matched
from sordino.mechanisms.additive.additive import Additive, AdditiveLaw
from sordino.mechanisms.additive.additive_vector import AdditiveVector
from sordino.mechanisms.additive.geometric import Geometric
from sordino.mechanisms.additive.radial import RadialLaplace
from sordino.mechanisms.clip.auto_clip import AutoClip
from sordino.mechanisms.clip.column import AskedColumn
from sordino.mechanisms.clip.symmetric_mean import SymmetricMean
from sordino.mechanisms.clip.variance_clip import VarianceClip
from sordino.mechanisms.parts.law import LatticeLaw, MixtureLaw
from sordino.mechanisms.quantile.order_interval import OrderInterval
from sordino.mechanisms.quantile.private_quantile import PrivateQuantile
from sordino.mechanisms.selection.selection import Selection
from sordino.planner.clipped_error import clipped_error
from sordino.planner.error_law import ErrorLaw, ShortfallLaw
from sordino.planner.radial_error import RadialError
from sordino.planner.squares_error import SquaresError, squares_error
from sordino.planner.subject import Subject
from sordino.planner.table import drawn
from sordino.reading.profile import Opened, Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.planner.assumed import Assumed
    from sordino.reading.requests import Ask, Summary
    from sordino.session.quote import Part
    from sordino.statistics import Statistic

    Asking = Callable[[Ask], Summary]

BARRED = ("error-bar", "order-interval")  # mechanisms that answer with an interval


class Trial:
    """Public columns of one shape, each drawn when it is first needed.

    Args:
        statistic: What is asked; names the columns.
        assumed: Where columns come from.
        rows: How many rows each has; None where the statistic says it.
        seed: Names the columns; the same seed gives the same ones.
    """

    def __init__(self, statistic: Statistic, assumed: Assumed, *, rows: int | None, seed: int = 0) -> None:
        self.statistic, self.assumed, self.rows, self.seed = statistic, assumed, rows, seed
        self.subject = Subject.of(statistic)
        self._tables: dict[int, Asking] = {}
        self._truths: dict[int, Any] = {}

    def ask(self, place: int) -> Asking:
        """Answers requests about one table."""
        if place not in self._tables:
            random = np.random.default_rng([self.seed, place, self.rows or 0])
            table = Memory(drawn(self.subject, self.assumed, self.rows, random))
            if place >= 64:
                return lambda request: table.summary(request)[0]
            known: dict[Ask, Summary] = {}

            def ask(request: Ask) -> Summary:
                if request not in known:
                    if len(known) >= 64:
                        known.clear()
                    known[request] = table.summary(request)[0]
                return known[request]

            self._tables[place] = ask
        return self._tables[place]

    def truth(self, place: int) -> Any:
        """The statistic itself on one table."""
        if place not in self._truths:
            opened = self.statistic.read(self.ask(place)(self.statistic.request(depth=1))).open()
            real = opened.units.real
            vector = isinstance(opened.value, tuple)
            self._truths[place] = tuple(map(real, opened.value)) if vector else real(opened.value)
        return self._truths[place]

    def sampling_error(self, tables: int) -> float:
        """How much the statistic itself varies between tables, without any privacy (root mean square)."""
        values = np.array([np.atleast_1d(self._floats(self.truth(place))) for place in range(tables)])
        if self.statistic.name == "mode":  # by how many rows the key of one table is not the key of all
            usual = values.mean(axis=0)
            return float(np.sqrt(np.mean((usual.max() - usual[values.argmax(axis=1)]) ** 2)))
        return float(np.sqrt(np.mean(np.var(values, axis=0, ddof=1))))

    @staticmethod
    def _floats(value: Any) -> Any:
        return [float(one) for one in value] if isinstance(value, tuple) else float(value)

    def laws(
        self, part: Part, *, tables: int, draws: int
    ) -> Sequence[ErrorLaw | ShortfallLaw | RadialError | SquaresError] | None:
        """Error laws on several tables, or None where no law is known and answers must be simulated.

        A clipped mean or variance has a law given its clipping interval, which is released; intervals are simulated,
        ``draws`` in all and from the tables in turn, and what is left is exact.
        """
        if isinstance(part.mechanism, Selection) and part.contribution == 1:
            return [self._shortfall(part, place) for place in range(tables)]
        if part.statistic.vector:
            return self._coordinates(part, tables=tables)
        if isinstance(part.mechanism, AutoClip | VarianceClip):
            return self._clipped(part, tables=tables, draws=draws)
        found = []
        for place in range(tables):
            law = self.law(part, place)
            if law is None:
                return None
            found.append(law)
        return found

    def law(self, part: Part, place: int) -> ErrorLaw | None:
        """The error law of one candidate on one table, where the mechanism has a law."""
        if isinstance(part.mechanism, OrderInterval) and part.mechanism.point is not None:
            part = dataclasses.replace(
                part, mechanism=part.mechanism.point
            )  # the bar stands beside the answer
        answer = type(part.mechanism).answer
        if not isinstance(part.mechanism, PrivateQuantile | SymmetricMean) and answer is not Mechanism.answer:
            return None
        mechanism, reading = _read(part, self.ask(place))
        try:
            law: Any = (
                mechanism.law(reading, contribution=part.contribution)
                if isinstance(mechanism, PrivateQuantile)
                else mechanism.law(reading)
            )
        except Unsupported:
            return None
        low, high = _range(mechanism, reading.open())
        own = isinstance(law, LatticeLaw | MixtureLaw)
        step = None if own else float(part.grid.step)
        return ErrorLaw(law, truth=Fraction(self.truth(place)), step=step, low=low, high=high)

    def _coordinates(self, part: Part, *, tables: int) -> list[ErrorLaw] | list[RadialError] | None:
        """Laws of single coordinates, for noise that is independent of them or alike on all."""
        mechanism, step = part.mechanism, float(part.grid.step)
        if isinstance(mechanism, AdditiveVector):
            return [law for place in range(tables) for law in self._independent(part, mechanism, place)]
        if not isinstance(mechanism, RadialLaplace) or type(mechanism).answer is not Mechanism.answer:
            return None
        found = []
        for place in range(tables):
            reading = _read(part, self.ask(place))[1]
            law = RadialError(mechanism.law(reading), norm=mechanism.norm, step=step)
            opened = reading.open()
            if law.coarse and any(opened.units.real(one) % part.grid.step for one in opened.value):
                return None  # rounding moves every coordinate by its own amount
            found.append(law)
        return found

    def _independent(self, part: Part, mechanism: AdditiveVector, place: int) -> list[ErrorLaw]:
        reading = part.statistic.read(self.ask(place)(part.statistic.request(depth=0)))
        law, opened = mechanism.law(reading), reading.open()
        values = [Fraction(opened.units.real(one)) for one in opened.value]
        if len({value % part.grid.step for value in values}) == 1:
            values = values[:1]  # all are rounded alike
        scale = law.scale * part.contribution
        return [
            ErrorLaw(
                AdditiveLaw(law.noise, value=float(value), scale=scale),
                truth=value,
                step=float(part.grid.step),
            )
            for value in values
        ]

    def _shortfall(self, part: Part, place: int) -> ShortfallLaw:
        """By how many rows the chosen category is rarer than the most frequent one."""
        reading = part.statistic.read(self.ask(place)(part.statistic.request(depth=0)))
        mechanism = matched(part.mechanism, part.statistic)
        counts = np.array(reading.open().counts)
        return ShortfallLaw(np.array(mechanism.law(reading).chances), counts.max() - counts)  # type: ignore[attr-defined]

    def _clipped(self, part: Part, *, tables: int, draws: int) -> list[ErrorLaw] | list[SquaresError]:
        bits, found, statistic = SeededBits(self.seed), [], cast("Any", part.statistic)
        given: Any = clipped_error if isinstance(part.mechanism, AutoClip) else squares_error
        mechanism = matched(part.mechanism, statistic)
        for place in range(draws):
            table = place % max(tables, 1)
            column = AskedColumn(statistic.column, statistic.grid, self.ask(table))
            found.append(
                given(
                    mechanism,
                    column,
                    part.grid,
                    Fraction(self.truth(table)),
                    contribution=part.contribution,
                    bits=bits,
                )
            )
        return found

    def errors(self, part: Part, *, draws: int, tables: int) -> NDArray[np.float64]:
        """Errors of simulated answers, over several tables; every coordinate of a vector counts."""
        bits, found = SeededBits(self.seed + 1), []
        plain = type(part.mechanism).answer is Mechanism.answer
        readings: dict[int, Reading] = {}
        for place in range(draws):
            table = place % tables
            if plain:  # reads once and draws: one reading serves many draws
                if table not in readings:
                    readings[table] = _read(part, self.ask(table))[1]
                answer = part.mechanism.draw(readings[table], part.grid, bits=bits)
            else:
                answer = part.mechanism.answer(
                    part.statistic, self.ask(table), part.grid, contribution=part.contribution, bits=bits
                )
            value = np.atleast_1d(np.asarray(self._floats(answer.value), dtype=np.float64))
            found.append(value - np.atleast_1d(np.asarray(self._floats(self.truth(table)))))
        return np.array(found)

    def width(self, part: Part, *, draws: int, tables: int) -> float | None:
        """The median width of the error bars of simulated answers; None where none is bought."""
        bits, found = SeededBits(self.seed + 2), []
        for place in range(draws if part.mechanism.name in BARRED else 0):
            ask = self.ask(place % tables)
            public = part.mechanism.answer(
                part.statistic, ask, part.grid, contribution=part.contribution, bits=bits
            ).public
            found.append(float(public["high"] - public["low"]))
        return float(np.median(found)) if found else None

    def worth_smoothing(self, part: Part) -> bool:
        """Whether the local sensitivity is so far below the global one that smooth noise can win at all."""
        opened = part.statistic.read(self.ask(0)(part.statistic.request(depth=1))).open()
        return 2 * opened.profile.at(0) < opened.profile.ceiling


def _read(part: Part, ask: Asking) -> tuple[Mechanism, Reading]:
    """The reading that the mechanism would draw from, as its `answer` asks for it."""
    mechanism: Any = part.mechanism
    statistic: Any = part.statistic
    if isinstance(mechanism, SymmetricMean):
        statistic, mechanism = mechanism.substitute(statistic), mechanism.inner
    cuts: tuple[int, ...] = ()
    if isinstance(mechanism, PrivateQuantile):
        if mechanism.shift is not None:
            statistic = dataclasses.replace(statistic, shift=mechanism.shift)
        mechanism = matched(mechanism, statistic)
        cuts = mechanism.cuts
    request = statistic.request(depth=mechanism.depth * part.contribution)
    summary = ask(dataclasses.replace(request, cuts=cuts) if cuts else request)
    reading = statistic.read(summary).by(part.contribution)
    if cuts:
        reading = Reading(dataclasses.replace(reading.open(), below=summary.below))
    return mechanism, reading


def _range(mechanism: Mechanism, opened: Opened) -> tuple[float, float]:
    """Where answers are clipped."""
    clips = isinstance(mechanism, Geometric) or (isinstance(mechanism, Additive) and mechanism.clip)
    if clips and None not in (opened.bottom, opened.top):
        assert opened.bottom is not None
        assert opened.top is not None
        return float(opened.units.real(opened.bottom)), float(opened.units.real(opened.top))
    return -math.inf, math.inf
