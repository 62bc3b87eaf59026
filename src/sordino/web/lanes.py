"""Lanes and the answer clock: releases wait in order, one per dataset, and are handed out at public times.

How long a release takes may depend on the data. An answer is therefore handed out at 1, 2, 4, ... times the dataset's
public ``answer_after``, counted from the moment it was asked, so nearly always at the first. It coarsens the channel
and does not close it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

WIDTH = 4
"""Releases that run at once, over all datasets."""


@dataclass(slots=True)
class LaneJob:
    """A release on its way.

    Attributes:
        begun: When it was asked.
        after: The public time of its dataset.
        future: Its outcome: nothing, or an error that may be shown.
        done: When it was done; never shown.
    """

    begun: float
    after: float
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


class Lanes:
    """Runs releases in the order in which they come, each dataset's one after the other."""

    def __init__(self, width: int = WIDTH) -> None:
        self._pool = ThreadPoolExecutor(width, thread_name_prefix="sordino-lane")
        self._jobs: dict[str, LaneJob] = {}
        self._alone = threading.Lock()
        self._lanes: dict[str, threading.Lock] = {}

    def submit(self, token: str, lane: str, after: float, work: Callable[[], Any]) -> LaneJob:
        """Begin a release, or find the one that is on its way under the same token."""
        with self._alone:
            self._forget()
            kept = self._jobs.get(token)
            if kept is not None and (kept.done is None or not kept.ready):
                return kept
            job = self._jobs[token] = LaneJob(time.monotonic(), after)
            alone = self._lanes.setdefault(lane, threading.Lock())

        def run() -> None:
            with alone:
                try:
                    outcome = work()
                except BaseException as problem:  # noqa: BLE001  handed to whoever waits
                    job.done = time.monotonic()
                    job.future.set_exception(problem)
                else:
                    job.done = time.monotonic()
                    job.future.set_result(outcome)

        self._pool.submit(run)
        return job

    def job(self, token: str) -> LaneJob | None:
        """The release under a token, when it is on its way in this process."""
        return self._jobs.get(token)

    def busy(self, prefix: str) -> bool:
        """Whether somebody has a release in flight; the tokens of a person begin alike."""
        with self._alone:
            return any(token.startswith(prefix) and not job.ready for token, job in self._jobs.items())

    def _forget(self) -> None:
        now = time.monotonic()
        for token, job in list(self._jobs.items()):
            if job.done is not None and now - job.done > 600:
                del self._jobs[token]

    def close(self) -> None:
        """Finish what was begun."""
        self._pool.shutdown(wait=True, cancel_futures=False)
