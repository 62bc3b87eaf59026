"""Many conversations in step: what all groups ask next goes to a source elsewhere as one question.

A mechanism asks about one group at a time, and its next question depends on what was released. Here every group has a
thread of its own, of which one runs at a time; when all of them wait for an answer, their questions are put together.
What is asked, and how often, is public: it follows from what was released.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from sordino.errors import SordinoError
from sordino.reading.room import inside

if TYPE_CHECKING:
    from sordino.reading.requests import Ask, Summary

T = TypeVar("T")


class _Stopped(BaseException):
    """Ends the thread of a group when another one has failed."""


class _Talk:
    """One group: its thread, what it asks, what it was told, what became of it; private."""

    def __init__(self) -> None:
        self.turn, self.done = threading.Event(), threading.Event()
        self.question: Any = None
        self.answer: Any = None
        self.result: Any = None
        self.problem: BaseException | None = None
        self.ended = self.stopped = False

    def ask(self, request: Ask) -> Summary:
        """Wait until the questions of all groups have been answered."""
        self.question = request
        self.done.set()
        self.turn.wait()
        self.turn.clear()
        if self.stopped:
            raise _Stopped
        answer: Summary = self.answer
        return answer

    def proceed(self) -> None:
        """Let the group run until it asks again or ends."""
        self.turn.set()
        self.done.wait()
        self.done.clear()


def in_step(
    works: Sequence[Callable[[Callable[[Ask], Summary]], T]],
    many: Callable[[list[tuple[int, Ask]]], list[Summary]],
) -> list[T]:
    """Run conversations in step, and give back what each returns.

    Args:
        works: One per group; it is given a function that answers a request.
        many: Answers the requests of some groups at once, each with the place of its group.

    Example:
        >>> in_step([lambda ask: ask(1) + ask(2), lambda ask: ask(3)],
        ...         lambda asked: [10 * place + request for place, request in asked])
        [3, 13]
    """
    talks = [_Talk() for _ in works]
    threads = []
    for talk, work in zip(talks, works, strict=True):
        run = contextvars.copy_context().run
        thread = threading.Thread(target=run, args=(_held, talk, work), daemon=True)
        threads.append(thread)
        thread.start()
    try:
        for talk in talks:
            talk.proceed()
            _told(talk)
        while waiting := [place for place, talk in enumerate(talks) if not talk.ended]:
            answers = many([(place, talks[place].question) for place in waiting])
            for place, answer in zip(waiting, answers, strict=True):
                talks[place].answer = answer
                talks[place].proceed()
                _told(talks[place])
    finally:
        for talk in talks:
            if not talk.ended:
                talk.stopped = True
                talk.proceed()
        for thread in threads:
            thread.join()
    return [talk.result for talk in talks]


def _held(talk: _Talk, work: Callable[[Callable[[Ask], Summary]], Any]) -> None:
    """One conversation, in its own thread and in the closed room: nothing that a thread says is heard."""
    talk.turn.wait()
    talk.turn.clear()
    try:
        if not talk.stopped:
            talk.result = inside(lambda: work(talk.ask), otherwise=_failed, passing=(SordinoError,))
    except BaseException as problem:  # noqa: BLE001  it is raised again where all conversations are held
        talk.problem = problem
    finally:
        talk.ended = True
        talk.done.set()


def _failed() -> SordinoError:
    return SordinoError("release", "the answer could not be drawn")


def _told(talk: _Talk) -> None:
    if talk.problem is not None:
        raise talk.problem
