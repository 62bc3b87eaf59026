"""Runs of a mechanism that stop at every choice until they are told its outcome: a path is walked in one run.

A run has a thread of its own, and only one of all threads is ever awake: the caller waits while a run works, a run
waits while the caller decides. What a mechanism has worked out before a choice need not be worked out again after it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.data.memory import Memory
from sordino.privacy import Unit
from sordino.testing.forced import ForcedDraws

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sordino.reading.profile import Reading
    from sordino.reading.requests import Ask, Summary
    from sordino.testing.steps import Step

PERSON = "person"  # the column that says whose a row is


class Side:
    """One of the two tables, and all that was ever read of it.

    Args:
        table: Columns by name.
        unit: To whom rows belong.
        person: How many rows one person has at most, where rows are given to people here.
        others: How many rows before those of the one person belong to somebody else each.
    """

    def __init__(
        self, table: Mapping[str, Sequence[Any]], unit: Unit | None = None, person: int = 0, others: int = 0
    ) -> None:
        columns = {
            name: np.asarray(column, None if len(column) or hasattr(column, "dtype") else float)
            for name, column in table.items()
        }
        if person and unit is None:  # the rows after the others are one person's
            size = len(next(iter(columns.values())))
            columns[PERSON] = np.minimum(np.arange(size), others)
            unit = Unit(PERSON, max_rows=person)
        self.source = Memory(columns, unit=unit)
        self.reading: Reading | None = None
        self.steps: dict[tuple[Any, ...], Step] = {}
        self._known: dict[Any, Summary] = {}

    def ask(self, request: Ask) -> Summary:
        """Answer a request; the same one is read once."""
        try:
            if request not in self._known:
                self._known[request] = self.source.summary(request)[0]
            return self._known[request]
        except TypeError:  # a request that cannot be remembered
            return self.source.summary(request)[0]


class Abandoned(BaseException):
    """A run is not needed any more; no mechanism can catch it by mistake."""


class ForcedRun(ForcedDraws):
    """One run along a path, paused at its first choice beyond it.

    Args:
        path: Outcomes of the first choices.
        seed: Of the dither.
        steps: Of the side, by the path that leads to them.
        work: Takes the draws and gives an answer.

    Attributes:
        asked_for: What was asked of the source so far.
        found: The choice at which it waits, or the answer.
    """

    def __init__(
        self,
        path: Sequence[Any],
        seed: int,
        steps: dict[tuple[Any, ...], Step],
        work: Callable[[ForcedRun], Any],
    ) -> None:
        super().__init__(path, seed, steps)
        self.asked_for: list[Ask] = []
        self.found: Any = None
        self._problem: BaseException | None = None
        self._work = work
        self._told, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._closing = False

    def start(self) -> ForcedRun:
        """Run to the first choice beyond the path."""
        self._thread.start()
        return self._wait()

    def tell(self, outcome: Any) -> ForcedRun:
        """Go on with this outcome of the choice at which it waits, to the next one."""
        self.path = (*self.path, outcome)
        self._told.release()
        return self._wait()

    def close(self) -> None:
        """End a run that waits."""
        self._closing = True
        self._told.release()
        self._thread.join()

    @property
    def waits(self) -> bool:
        """Whether it stands at a choice."""
        return self._thread.is_alive()

    def _wait(self) -> ForcedRun:
        self._stopped.acquire()
        if self._problem is not None:
            self._thread.join()
            raise self._problem
        return self

    def _run(self) -> None:
        try:
            self.found = self._work(self)
        except Abandoned:
            return
        except BaseException as problem:  # noqa: BLE001 - raised again where the run is waited for
            self._problem = problem
        finally:
            self._stopped.release()

    def _pause(self, step: Step) -> None:
        self.found = step
        self._stopped.release()
        self._told.acquire()
        if self._closing:
            raise Abandoned
