"""Releasing: the one button, the rates, the lane of a question, and what was paid when the program stopped."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from sordino.errors import BudgetExceeded, Frozen, NotApproved, ParameterError, SordinoError, Unanswered
from sordino.ledger.entry import Debit, Stamp
from sordino.session import Session
from sordino.web.accounts import Accounts
from sordino.web.locks import fits, seal
from sordino.web.person import TooMany
from sordino.web.question import Inquiry
from sordino.web.view import office, person, see
from sordino.web.view import typed as read_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from sordino.web.dataset import Dataset
    from sordino.web.office import Office
    from sordino.web.person import Person

PATIENCE = 3.0
"""Seconds that the button waits for an answer before it shows the page that waits."""


def kept_draft(request: Request) -> tuple[dict[str, Any], Dataset, Inquiry]:
    """The draft of an address; another person's is not there."""
    house, who = office(request), person(request)
    kept = house.desk.drafted(request.path_params["token"])
    if kept is None or (kept["person"] != who.name and not who.may("decide")):
        raise HTTPException(404)
    return kept, house.dataset(kept["dataset"]), Inquiry.from_dict(kept["asked"])


def of_person(house: Office, name: str) -> str:
    """What the tokens of a person begin with: not their name, since releases show their token."""
    return house.sealed(f"person {name}")[:12] + "-"


def ledger_token(house: Office, kept: dict[str, Any]) -> str:
    """The token in the ledger: nobody meets another's."""
    return of_person(house, kept["person"]) + str(kept["token"])


async def release(request: Request) -> Response:
    """The one button: pays for what was shown, once, and leads to the answer."""
    who = person(request)
    who.must("ask")
    typed = await read_form(request)
    kept, dataset, asked = await run_in_threadpool(kept_draft, request)
    if kept["person"] != who.name:
        raise HTTPException(404)
    house = office(request)
    same = await run_in_threadpool(_same, house, who, kept, dataset, asked, typed.get("seal", ""))
    if not same:
        from sordino.web.ask import quoted

        return await run_in_threadpool(lambda: quoted(request, kept, dataset, asked, who, changed=True))
    await run_in_threadpool(_fresh, request, kept)
    return await begin(
        request, who, kept, dataset, asked, Stamp(who.name, via=None if who.via == "page" else who.via)
    )


def _same(
    house: Office, who: Person, kept: dict[str, Any], dataset: Dataset, asked: Inquiry, given: str
) -> bool:
    """Whether the button belongs to the question as it stands now."""
    if house.ledger_of(dataset).paid(ledger_token(house, kept)) is not None:
        return True  # paid already: asking again costs nothing
    _, question = asked.of(house.session(dataset))
    return fits(given, seal(house, who.session, kept["token"], question.event.to_dict()))


def _fresh(request: Request, kept: dict[str, Any]) -> None:
    """Hold a new release to the rates; one that was paid or is on its way is the same question again."""
    house, token = office(request), ledger_token(office(request), kept)
    job = request.app.state.lanes.job(token)
    if job is not None and not job.ready:
        return
    if house.ledger_of(house.dataset(kept["dataset"])).paid(token) is None:
        free(request)


@dataclass(frozen=True, slots=True)
class LaneTask:
    """One question for its lane: debit, read, draw, record.

    Attributes:
        house: Where it is asked.
        kept: The draft.
        dataset: What it is about.
        asked: The question.
        stamp: Who asks, as the ledger keeps it.
        address: From where, for the log.
        key: What the desk calls the token of a program; empty for a browser.
    """

    house: Office
    kept: dict[str, Any]
    dataset: Dataset
    asked: Inquiry
    stamp: Stamp
    address: str = ""
    key: str = ""

    def prepared(self) -> tuple[Session, Any, Debit]:
        """The question as its session puts it; the desk knows from now on that it may have been paid."""
        people, question = self.asked.of(self.house.session(self.dataset))
        if self.key:
            Accounts(self.house.desk).charge(self.key, self.kept["token"], people.ledger.cost(question.event))
        self.house.desk.mark(self.kept["token"], "paying", paid=time.time())
        token = ledger_token(self.house, self.kept)
        return people, question, Debit(question.event, token, self.asked.purpose, self.stamp)

    def settled(self, outcome: Any) -> Any:
        """Note what became of it: the number in the ledger, or the refusal."""
        desk, unpaid = self.house.desk, (NotApproved, BudgetExceeded, ParameterError, Frozen)
        subject, said = self.dataset.name, "paid"
        if isinstance(outcome, SordinoError):
            said = type(outcome).__name__
            if isinstance(outcome, unpaid):
                desk.mark(self.kept["token"], "draft")
                if self.key:
                    Accounts(desk).refund(self.key, self.kept["token"])
        else:
            desk.mark(self.kept["token"], "answered")
            subject, outcome = f"{subject} {outcome.ledger_id}", outcome.ledger_id
        desk.note(self.kept["person"], self.stamp.via or "page", self.address, "release", subject, said)
        return outcome


def together(tasks: Sequence[LaneTask]) -> list[Any]:
    """One turn of a lane: what cannot be asked any more is refused, the rest goes through the door at once."""
    outcomes: list[Any] = [None] * len(tasks)
    ready: dict[int, tuple[Session, Any, Debit]] = {}
    for place, task in enumerate(tasks):
        try:
            ready[place] = task.prepared()
        except SordinoError as problem:
            outcomes[place] = problem
    if ready:
        try:
            found: Sequence[Any] = Session.release_each(list(ready.values()))
        except SordinoError as problem:
            found = [problem] * len(ready)
        for place, outcome in zip(ready, found, strict=True):
            outcomes[place] = outcome
    return [task.settled(outcome) for task, outcome in zip(tasks, outcomes, strict=True)]


def allow(request: Request, what: str) -> None:
    """Count a use; refuse beyond so many a minute. One person alone is not counted."""
    house, who = office(request), person(request)
    if house.shared and not house.desk.allow(f"{what} {who.name}", house.rates[what]):
        raise TooMany(
            what, f"at most {house.rates[what]} {what}s a minute", hint="wait a little, then ask again"
        )


def free(request: Request) -> None:
    """Refuse a second release in flight, and too many in a minute."""
    if office(request).shared and request.app.state.lanes.busy(person(request).name):
        raise TooMany("release", "one release at a time", hint="wait for the answer, then ask the next")
    allow(request, "release")


async def begin(
    request: Request, who: Person, kept: dict[str, Any], dataset: Dataset, asked: Inquiry, stamp: Stamp
) -> Response:
    """Send a question through its lane and wait for it a little, at public times."""
    house = office(request)
    job = request.app.state.lanes.submit(
        ledger_token(house, kept),
        dataset.name,
        dataset.answer_after,
        LaneTask(house, kept, dataset, asked, stamp, who.address),
        owner=kept["person"],
    )
    for _ in range(4):  # 1, 2, 4, 8 times the public time
        if job.ready or (wait := job.next_tick() + 0.005) > PATIENCE:
            break
        await asyncio.sleep(wait)
    if job.ready and (problem := job.future.exception()) is not None and not isinstance(problem, Unanswered):
        raise problem
    return see(f"/ask/{kept['token']}")


def finish(app: Starlette) -> None:
    """What was paid and not answered when the program stopped is answered now, with its token and at no cost."""
    house: Office = app.state.office
    for token in house.desk.marked("paying"):
        kept = house.desk.drafted(token)
        assert kept is not None
        try:
            dataset, asked = house.dataset(kept["dataset"]), Inquiry.from_dict(kept["asked"])
            paid = house.ledger_of(dataset).paid(ledger_token(house, kept))
        except SordinoError:
            continue
        if paid is None:
            house.desk.mark(token, "draft")
        elif paid.release is not None:
            house.desk.mark(token, "answered")
        else:
            stamp = Stamp(kept["person"], approved_by=paid.who.get("approved_by"))
            app.state.lanes.submit(
                ledger_token(house, kept),
                dataset.name,
                dataset.answer_after,
                LaneTask(house, kept, dataset, asked, stamp),
                must=True,
            )
