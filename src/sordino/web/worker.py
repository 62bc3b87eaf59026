"""Plans and other public figures, worked out in one process of their own (`tasks`), newest questions first.

A plan costs seconds and would hold the interpreter. One that nobody waits for any more is given up at its next step;
one that does not listen is ended. Nothing private ever comes here.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from collections import OrderedDict
from typing import Any

from sordino.errors import SordinoError

KEPT = 128
DEAF = 1.0
"""Seconds after which a worker that does not listen is ended."""


class _Stale(Exception):
    """Nobody waits for this any more."""


def work(pipe: Any, polite: bool = False) -> None:
    """The worker: takes the newest question, tells what it finds, gives up what is stale."""
    if polite:
        os.nice(5)
    from sordino.web.tasks import TASKS

    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError, OSError):
        pipe.send(("", "ready", None))
        while True:
            key, task, arguments = pipe.recv()
            while pipe.poll():
                key, task, arguments = pipe.recv()

            def tell(stage: str, what: Any, key: str = key) -> None:
                pipe.send((key, stage, what))

            def progress(done: int, total: int, key: str = key) -> None:
                if pipe.poll():
                    raise _Stale
                pipe.send((key, "progress", (done, total)))

            tell("progress", (0, 1))  # it listens; how long the first step takes is another matter
            try:
                TASKS[task](tell, progress, *arguments)
                tell("end", None)
            except _Stale:
                tell("stale", None)
            except SordinoError as problem:
                tell("error", problem.bare())
            except Exception as problem:  # noqa: BLE001  a bug of ours must not end the worker
                tell("bug", type(problem).__name__)


class PlanWorker:
    """Results by their question; the newest ones are kept.

    Args:
        polite: Whether it leaves the processor to releases, where many ask.
    """

    def __init__(self, *, polite: bool = False) -> None:
        self._polite = polite
        self._found: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._alone = threading.Condition()
        self._process: Any = None
        self._pipe: Any = None
        self._doing: str | None = None
        self._queue: OrderedDict[str, tuple[str, Any, Any]] = OrderedDict()
        self._sent = 0.0
        self._closed = False

    def warm(self) -> None:
        """Start the worker before it is needed."""
        with self._alone:
            self._worker()

    def ask(self, key: str, owner: str, task: str, *arguments: Any) -> dict[str, Any]:
        """What is known so far; asked for the first time it is begun, and the owner's older question given up."""
        with self._alone:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
                return dict(found)
            self._found[key] = {"progress": (0, 1)}
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
            self._queue[owner] = (key, task, arguments)
            self._next()
            return dict(self._found[key])

    def wait(self, key: str, stage: str, seconds: float) -> dict[str, Any]:
        """What is known once it has come to a stage, or after so many seconds."""
        ends = {stage, "error", "bug", "full", "end"}
        deadline = time.monotonic() + seconds
        with self._alone:
            while not ends & set(self._found.get(key, {"bug": "forgotten"})):
                left = deadline - time.monotonic()
                if left <= 0:
                    break
                self._alone.wait(min(left, 0.25))
                self._prod()
            return dict(self._found.get(key, {}))

    def _worker(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, self._polite), daemon=True, name="sordino-worker"
        )
        self._ready = False
        self._process.start()
        theirs.close()
        threading.Thread(target=self._listen, args=(self._pipe,), daemon=True, name="sordino-worker").start()

    def _next(self) -> None:
        """Send the next question, if the worker is idle or does the stale one of the same owner."""
        if not self._queue or self._closed:
            return
        self._worker()
        owner, (key, task, arguments) = next(iter(self._queue.items()))
        if self._doing is not None and self._doing_owner != owner:
            return
        del self._queue[owner]
        if self._doing is not None:
            self._found.pop(self._doing, None)
        self._doing, self._doing_owner, self._sent, self._heard = key, owner, time.monotonic(), False
        self._asked = (key, task, arguments)
        with contextlib.suppress(BrokenPipeError, OSError):
            self._pipe.send((key, task, arguments))

    _doing_owner = ""
    _asked: Any = None
    _heard = _ready = False

    def _prod(self) -> None:
        """End a worker that works on what is stale and does not listen."""
        if (
            self._ready
            and self._doing is not None
            and not self._heard
            and time.monotonic() - self._sent > 8 * DEAF
        ):
            self._restart()

    def _restart(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join(1)
        if (
            self._doing is not None
        ):  # it was not the question that was deaf: it is put again, unless a newer one waits
            self._queue.setdefault(self._doing_owner, self._asked)
            self._queue.move_to_end(self._doing_owner, last=False)
        self._process, self._doing = None, None
        self._next()

    def _listen(self, pipe: Any) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                key, stage, what = pipe.recv()
                with self._alone:
                    if stage == "ready":  # from now on it should answer; until then it was being loaded
                        self._ready, self._sent = True, time.monotonic()
                    if key == self._doing:
                        self._heard = True
                    if key in self._found and stage != "stale":
                        self._found[key][stage] = what
                    if stage in ("stale", "error", "bug", "end") and key == self._doing:
                        self._doing = None
                        self._next()
                    self._alone.notify_all()

    def close(self) -> None:
        """End the worker."""
        with self._alone:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.join(2)
