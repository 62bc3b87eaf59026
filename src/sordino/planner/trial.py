"""Trying a candidate on public columns: its exact error laws where there are any, simulated answers otherwise.

Columns are generated from a seed, so a plan is the same whenever it is made. Seeded random words are fine here because
nothing that is drawn is about anybody; a release never uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.memory import Memory
from sordino.exact.bits import SeededBits
from sordino.planner.subject import Subject
from sordino.planner.table import drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sordino.mechanisms.parts.error_law import Errors
    from sordino.planner.assumed import Assumed
    from sordino.reading.profile import Reading
    from sordino.reading.requests import Ask, Summary
    from sordino.session.quote import Part
    from sordino.statistics import Statistic

    Asking = Callable[[Ask], Summary]


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

    def laws(self, part: Part, *, tables: int, draws: int) -> Sequence[Errors] | None:
        """Error laws on several tables, or None where no law is known and answers must be simulated.

        A clipped mean or variance has a law given its clipping interval, which is released; intervals are simulated,
        ``draws`` in all and from the tables in turn, and what is left is exact.
        """
        bits = SeededBits(self.seed)
        found: list[Errors] = []
        for place in range(draws if part.mechanism.searches else tables):
            laws = self.law(part, place % max(tables, 1), bits=bits)
            if laws is None:
                return None
            found += laws
        return found

    def law(self, part: Part, table: int, *, bits: SeededBits | None = None) -> Sequence[Errors] | None:
        """The error laws of one candidate on one table, where the mechanism has them."""
        return part.mechanism.error_laws(
            part.statistic,
            self.ask(table),
            part.grid,
            self.truth(table),
            contribution=part.contribution,
            bits=bits,
        )

    def errors(self, part: Part, *, draws: int, tables: int) -> NDArray[np.float64]:
        """Errors of simulated answers, over several tables; every coordinate of a vector counts."""
        bits, found = SeededBits(self.seed + 1), []
        readings: dict[int, Reading] = {}
        for place in range(draws):
            table = place % tables
            if part.mechanism.reads_once:  # one reading serves many draws
                if table not in readings:
                    readings[table] = part.mechanism.reading(
                        part.statistic, self.ask(table), part.contribution
                    )
                answer = part.mechanism.draw(readings[table], part.grid, bits=bits)
            else:
                answer = part.mechanism.answer(
                    part.statistic, self.ask(table), part.grid, contribution=part.contribution, bits=bits
                )
            value = np.atleast_1d(np.asarray(self._floats(answer.value), dtype=np.float64))
            found.append(value - np.atleast_1d(np.asarray(self._floats(self.truth(table)))))
        return np.array(found)

    def width(self, part: Part, *, draws: int, tables: int) -> tuple[float, float] | tuple[None, None]:
        """What half and what nine tenths of simulated error bars are narrower than; None where none is asked for."""
        if part.bar is None:
            return None, None
        bits, found = SeededBits(self.seed + 2), []
        for place in range(draws):
            ask = self.ask(place % tables)
            answer = part.mechanism.answer(
                part.statistic, ask, part.grid, contribution=part.contribution, bits=bits
            )
            bar = part.bar.around(answer)
            if bar is not None:
                found.append(np.mean(np.subtract(bar.high, bar.low)))
        if not found:
            return None, None
        return float(np.median(found)), float(np.quantile(found, 0.9))

    def worth_smoothing(self, part: Part) -> bool:
        """Whether the local sensitivity is so far below the global one that smooth noise can win at all."""
        opened = part.statistic.read(self.ask(0)(part.statistic.request(depth=1))).open()
        return 2 * opened.profile.at(0) < opened.profile.ceiling
