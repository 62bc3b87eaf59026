"""Runs of a mechanism that stop at every choice until they are told its outcome: a path is walked in one run.

A run has a thread of its own, and only one of all threads is ever awake: the caller waits while a run works, a run
waits while the caller decides. What a mechanism has worked out before a choice need not be worked out again after it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sordino.data.memory import Memory
from sordino.privacy import Unit
from sordino.testing.forced import ForcedDraws, Pending
from sordino.testing.steps import Step

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sordino.reading.profile import Reading
    from sordino.reading.requests import Ask, Summary

PERSON = "person"  # the column that says whose a row is


class Side:
    """One of the two tables, and all that was ever read of it.

    Args:
        table: Columns by name.
        unit: To whom rows belong.
        person: How many rows one person has at most, where rows are given to people here.
        others: How many rows before those of the one person belong to somebody else each.
        pausing: Whether runs wait at their choices; otherwise each begins anew, which is quicker where many paths of
            few choices are walked.
    """

    def __init__(
        self,
        table: Mapping[str, Sequence[Any]],
        unit: Unit | None = None,
        person: int = 0,
        others: int = 0,
        *,
        pausing: bool = True,
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
        self.pausing = pausing
        self.reading: Reading | None = None
        self.steps: dict[tuple[Any, ...], Step] = {}
        self.ordered = False  # whether anything was drawn for single rows by their places
        self._known: dict[Any, Summary] = {}
        self._looked: dict[tuple[Any, ...], tuple[tuple[Ask, ...], Any]] = {}
        self._paused: dict[tuple[Any, ...], ForcedRun] = {}

    def ask(self, request: Ask) -> Summary:
        """Answer a request; the same one is read once."""
        try:
            if request not in self._known:
                self._known[request] = self.source.summary(request)[0]
            return self._known[request]
        except TypeError:  # a request that cannot be remembered
            return self.source.summary(request)[0]

    def look(
        self, path: tuple[Any, ...], seed: int, work: Callable[[Any], Any]
    ) -> tuple[tuple[Ask, ...], Any]:
        """What was asked of the source along a path, and the choice or the answer at its end; worked out once.

        A run goes on from where it waits, or from the beginning where it has gone on elsewhere.
        """
        if path not in self._looked and not self.pausing:
            self._looked[path] = self._begun(path, seed, work)
        if path not in self._looked:
            run = self._paused.pop(path[:-1], None) if path else None
            run = run.tell(path[-1]) if run is not None else ForcedRun(path, seed, self.steps, work).start()
            if run.waits:
                self._paused[path] = run
            self.ordered |= run.dithered
            self._looked[path] = tuple(run.asked_for), run.found
        return self._looked[path]

    def _begun(
        self, path: tuple[Any, ...], seed: int, work: Callable[[Any], Any]
    ) -> tuple[tuple[Ask, ...], Any]:
        """The same from a run of its own, which ends at the first choice beyond the path."""
        run = ForcedDraws(path, seed, self.steps)
        try:
            found = work(run)
        except Pending as pending:
            found = pending.step
        self.ordered |= run.dithered
        return tuple(run.asked_for), found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End the runs that wait."""
        while self._paused:
            self._paused.popitem()[1].close()


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
        return isinstance(self.found, Step)

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
