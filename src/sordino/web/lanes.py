"""Lanes and the answer clock: releases wait in order, one lane per dataset, and are handed out at public times.

Whoever waits in a lane goes through the door together with the others who wait there: the disk is waited for once for
all of them (`Session.release_each`). How long that takes may depend on the data. An answer is therefore handed out at
1, 2, 4, ... times the dataset's public ``answer_after``, counted from the moment it was asked, so nearly always at the
first. That coarsens the channel and does not close it. A strict lane also begins the next turn at such a time only, so
that nobody's waiting tells how long the turn before took.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from sordino.web.person import TooMany

WIDTH = 4
"""Turns that run at once, over all datasets."""
TOGETHER = 16
"""Questions of one turn at most."""
WAITING = 64
"""Questions that may wait in a lane; whoever comes then is told to come again, and has paid nothing."""
KEPT = 60.0
"""Seconds that an outcome is kept after it was done."""

Together = Callable[[Sequence[Any]], Sequence[Any]]
"""Works on the tasks of a turn; gives an outcome or an error for each."""


@dataclass(slots=True)
class LaneJob:
    """A release on its way.

    Attributes:
        begun: When it was asked.
        after: The public time of its dataset.
        task: What is to be done.
        future: Its outcome: nothing, or an error that may be shown.
        done: When it was done; never shown.
    """

    begun: float
    after: float
    task: Any = None
    future: Future[Any] = field(default_factory=Future)
    done: float | None = None

    @property
    def due(self) -> float | None:
        """When it may be handed out; None while it is not known yet.

        Example:
            >>> job = LaneJob(begun=100.0, after=0.25, done=100.3)
            >>> job.due
            100.5
        """
        if self.done is None:
            return None
        tick = max(self.after, 1e-3)
        while self.begun + tick < self.done:
            tick *= 2
        return self.begun + tick

    @property
    def ready(self) -> bool:
        """Whether it may be handed out."""
        return self.due is not None and time.monotonic() >= self.due

    def next_tick(self) -> float:
        """Seconds until the next public time."""
        tick, now = max(self.after, 1e-3), time.monotonic()
        while self.begun + tick <= now:
            tick *= 2
        return self.begun + tick - now


@dataclass(slots=True)
class _Lane:
    waiting: deque[LaneJob] = field(default_factory=deque)
    running: bool = False


def one_by_one(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call each; what goes wrong stands in its place."""
    outcomes: list[Any] = []
    for task in tasks:
        try:
            outcomes.append(task())
        except BaseException as problem:  # noqa: BLE001  handed to whoever waits
            outcomes.append(problem)
    return outcomes


class Lanes:
    """Runs releases in the order in which they come, each dataset's turn after the one before.

    Args:
        together: Works on the tasks of a turn.
        strict: Whether a lane is kept until its answers may be handed out.
    """

    def __init__(self, together: Together = one_by_one, *, strict: bool = False) -> None:
        self._together, self.strict = together, strict
        self._pool = ThreadPoolExecutor(WIDTH, thread_name_prefix="sordino-lane")
        self._jobs: dict[str, LaneJob] = {}  # in the order in which they were asked
        self._flying: dict[str, list[LaneJob]] = {}
        self._alone = threading.Condition()
        self._lanes: dict[str, _Lane] = {}

    def submit(
        self, token: str, lane: str, after: float, task: Any, *, owner: str = "", must: bool = False
    ) -> LaneJob:
        """Begin a release, or find the one that is on its way under the same token.

        Args:
            token: Names it.
            lane: The dataset.
            after: Its public time.
            task: What is to be done.
            owner: Whose it is.
            must: Whether it is taken however many wait.
        """
        with self._alone:
            self._forget()
            kept = self._jobs.get(token)
            if kept is not None and (kept.done is None or not kept.ready):
                return kept
            here = self._lanes.setdefault(lane, _Lane())
            if len(here.waiting) >= WAITING and not must:
                raise TooMany(
                    "release", "too many questions wait already", why="Nothing was read and nothing was spent.",
                    hint="wait a little, ask again with the token",
                )  # fmt: skip
            self._jobs.pop(token, None)
            job = self._jobs[token] = LaneJob(time.monotonic(), after, task)
            self._flying.setdefault(owner, []).append(job)
            here.waiting.append(job)
            if not here.running:
                here.running = True
                self._pool.submit(self._turn, here)
        return job

    def _turn(self, lane: _Lane) -> None:
        """One turn: everybody who waits, up to so many; then the next."""
        with self._alone:
            turn = [lane.waiting.popleft() for _ in range(min(TOGETHER, len(lane.waiting)))]
        try:
            outcomes = self._together([job.task for job in turn])
        except BaseException as problem:  # noqa: BLE001  handed to whoever waits
            outcomes = [problem] * len(turn)
        now = time.monotonic()
        for job, outcome in zip(turn, outcomes, strict=True):
            job.done, job.task = now, None
            if isinstance(outcome, BaseException):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        held = max((job.due or now) for job in turn) - now if self.strict else 0.0
        if held > 0:
            timer = threading.Timer(held, self._again, (lane,))
            timer.daemon = True
            timer.start()
        else:
            self._again(lane)

    def _again(self, lane: _Lane) -> None:
        with self._alone:
            lane.running = bool(lane.waiting)
            if lane.running:
                self._pool.submit(self._turn, lane)
            self._alone.notify_all()

    def job(self, token: str) -> LaneJob | None:
        """The release under a token, when it is on its way in this process."""
        return self._jobs.get(token)

    def busy(self, owner: str) -> bool:
        """Whether somebody has a release in flight."""
        with self._alone:
            flying = [job for job in self._flying.pop(owner, ()) if not job.ready]
            if flying:
                self._flying[owner] = flying
            return bool(flying)

    def _forget(self) -> None:
        """Drop what was handed out a while ago: from then on the ledger knows."""
        now = time.monotonic()
        while self._jobs:
            token, job = next(iter(self._jobs.items()))
            if job.done is None or now - job.done < KEPT or not job.ready:
                return
            del self._jobs[token]

    def close(self) -> None:
        """Finish what was begun."""
        with self._alone:
            self.strict = False
            self._alone.wait_for(lambda: not any(lane.running for lane in self._lanes.values()), timeout=30)
        self._pool.shutdown(wait=True, cancel_futures=False)
