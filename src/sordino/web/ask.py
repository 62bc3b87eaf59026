"""Ask: the question, its cost, one button. The draft's token is in the address, so that nothing is ever paid twice."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from sordino import fields
from sordino.errors import ParameterError, SordinoError
from sordino.explain import asked as in_words
from sordino.explain import odds, whom
from sordino.labels import parts
from sordino.ledger import account
from sordino.ledger.account import data_of
from sordino.made import drawn_by
from sordino.web import charts, forms, plan, releasing, requests
from sordino.web.locks import seal
from sordino.web.question import Inquiry
from sordino.web.releasing import kept_draft, ledger_token
from sordino.web.view import amount, office, page, person, see
from sordino.web.view import typed as read_form

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from sordino.web.dataset import Dataset
    from sordino.web.office import Office
    from sordino.web.person import Person


def show(request: Request) -> Response:
    """The form."""
    house = office(request)
    datasets = house.datasets()
    if not datasets or not person(request).may("ask"):
        return page(request, "ask_none.html")
    name = request.query_params.get("data") or (next(iter(datasets)) if len(datasets) == 1 else "")
    if name not in datasets:
        return page(request, "ask_choose.html", listed=list(datasets.values()))
    return _form(request, datasets[name], dict(request.query_params), None)


def _form(
    request: Request, dataset: Dataset, typed: dict[str, str], problem: SordinoError | None
) -> Response:
    house = office(request)
    allowed = forms.statistics(dataset.statistics)
    first = allowed[0][1][0] if allowed else "median"
    typed = {"statistic": first, **typed}
    bounded = [name for name, about in dataset.columns.items() if about.low is not None]
    if "column" not in typed and len(bounded) == 1:  # the only one whose bounds somebody has filled in
        typed["column"] = bounded[0]
    context: dict[str, Any] = {"columns": {}, "missing": None, "ledger": None, "whom": ""}
    try:
        context["columns"] = _columns(house, dataset)
        ledger = house.ledger_of(dataset)
        context |= {
            "ledger": ledger,
            "slug": house.slug(ledger),
            "whom": whom(dataset.unit, ledger.neighbors),
        }
        context["gauge"] = charts.gauge(amount(ledger.budget), amount(ledger.spent), title="The budget")
    except SordinoError as error:
        context["missing"] = error
    return page(
        request,
        "ask.html",
        status=200 if problem is None else 422,
        dataset=dataset,
        statistics=allowed,
        inputs=forms.inputs(typed["statistic"], typed, problem, dataset),
        typed=typed,
        problem=problem,
        operators=forms.OPERATORS,
        **context,
    )


def _columns(house: Office, dataset: Dataset) -> dict[str, str]:
    """Names of columns and what people call them."""
    names = house.columns(dataset.data) if "://" not in dataset.data else dict.fromkeys(dataset.columns, "")
    return {name: dataset.describe(name).label or name for name in names}


async def draft(request: Request) -> Response:
    """Keep a question under a new token, and look at its cost."""
    typed = await read_form(request)
    return await run_in_threadpool(_draft, request, typed)


def _draft(request: Request, typed: dict[str, str]) -> Response:
    house, who = office(request), person(request)
    who.must("ask")
    dataset = house.dataset(typed.get("data", ""))
    try:
        asked = forms.question(typed, dataset)
        _check_allowed(dataset, asked)
    except SordinoError as error:
        house.desk.note(who.name, who.via, who.address, "draft", dataset.name, type(error).__name__)
        return _form(request, dataset, typed, error)
    releasing.allow(request, "quote")
    token = secrets.token_hex(16)
    house.desk.draft(token, who.name, dataset.name, asked.to_dict())
    return see(f"/ask/{token}")


def _check_allowed(dataset: Dataset, asked: Inquiry) -> None:
    if dataset.statistics and asked.statistic.name not in dataset.statistics:
        raise ParameterError(
            "question", "this statistic may not be asked here", got={"statistic": asked.statistic.name},
            hint=", ".join(dataset.statistics),
        )  # fmt: skip


def check(request: Request) -> Response:
    """What would be asked, promised and paid; or the answer, once it is due."""
    kept, dataset, asked = kept_draft(request)
    house, who = office(request), person(request)
    token = ledger_token(house, kept)
    ledger = house.ledger_of(dataset)
    job = request.app.state.lanes.job(token)
    if job is not None and not job.ready:
        return page(request, "ask_waiting.html", token=kept["token"], dataset=dataset)
    paid = ledger.paid(token)
    if paid is not None and paid.release is not None:
        return see(f"/ledger/{house.slug(ledger)}/releases/{paid.number}")
    if paid is not None:
        return page(request, "ask_again.html", token=kept["token"], dataset=dataset, entry=paid)
    return quoted(request, kept, dataset, asked, who)


def quoted(
    request: Request,
    kept: dict[str, Any],
    dataset: Dataset,
    asked: Inquiry,
    who: Person,
    *,
    changed: bool = False,
) -> Response:
    """The check: question, promise, cost, what is left; and the button, where it fits."""
    house = office(request)
    ledger = house.ledger_of(dataset)
    try:
        _, question = asked.of(house.session(dataset))
        event = question.event
        cost = ledger.cost(event)
    except SordinoError as error:
        return _form(request, dataset, {**_retyped(asked), "data": dataset.name}, error)
    left = ledger.remaining
    enough = cost.within(left)
    shares: list[dict[str, Any]] = [
        {"share": share, "spent": spent, "left": account.left(share.ceiling, spent)}
        for share, spent in ledger.shares
        if share.ceiling is not None and share.subject.covers(who.name, data_of(event.to_dict()))
    ]
    options = plan_options(house, dataset, asked)
    expected = plan.started(request, _planned(asked), options, wait=0.0) if options.get("rows") else {}
    declared = dataset.declared
    agreed = {rules.name: rules.schema for rules in ledger.datasets}.get(dataset.name)
    return page(
        request,
        "ask_check.html",
        status=409 if changed else 200,
        dataset=dataset,
        token=kept["token"],
        asked=in_words(event),
        where=[f"{each['column']} {each['op']} {each['value']}" for each in event.where],
        keys=None if event.by is None else event.by["keys"],
        whom=whom(event.unit, event.neighbors),
        neighbors=event.neighbors.words,
        promise=event.guarantee,
        odds=odds(event.guarantee),
        cost=cost,
        left=left,
        after=account.left(left, cost) if enough else None,
        budget=ledger.budget,
        state=ledger.state,
        changes=ledger.changes,
        fits=enough,
        shares=shares,
        short=[each for each in shares if not cost.within(each["left"])],
        frozen=[s for s, _ in ledger.shares if s.frozen and s.subject.covers(who.name, dataset.name)],
        mechanism=", ".join(dict.fromkeys(drawn_by(part) for part in parts(event.mechanism))),
        assumptions=question.assumptions,
        seal=seal(house, who.session, kept["token"], event.to_dict()),
        gauge=charts.gauge(
            amount(ledger.budget), amount(ledger.spent), amount(cost), title="What this leaves"
        ),
        expected=expected,
        expecting=bool(options.get("rows")),
        approval=declared.needs_approval(cost) or bool(declared.approved and declared.approved_above is None),
        other_columns=agreed is not None and agreed != event.to_dict()["data"].get("schema"),
        own=kept["person"] == who.name,
        changed=changed,
        python=asked.python(dataset),
        command=asked.command(dataset),
        ledger=ledger,
        slug=house.slug(ledger),
        wanted=requests.kept(house, kept["token"]) if house.shared else None,
    )


def plan_options(house: Office, dataset: Dataset, asked: Inquiry) -> dict[str, Any]:
    """What a plan may assume: the number of rows where it is public, or the rough one that was declared."""
    rows = house.session(dataset).rows or dataset.rows
    options: dict[str, Any] = {} if rows is None else {"rows": min(rows, plan.MOST_ROWS)}
    if asked.by is not None:
        options["groups"] = len(asked.by[1])
    if dataset.neighbors.value == "add-remove-one":
        options["neighbors"] = dataset.neighbors.value
    return options


def _planned(asked: Inquiry) -> Inquiry:
    return Inquiry(statistic=asked.statistic, price=asked.price, interval=asked.interval, hints=asked.hints)


def expected(request: Request) -> Response:
    """The expected error of a draft, once it is known."""
    _, dataset, asked = kept_draft(request)
    options = plan_options(office(request), dataset, asked)
    found = plan.started(request, _planned(asked), options) if options.get("rows") else {}
    return page(request, "ask_expected.html", found=found, token=request.path_params["token"], polled=True)


def _retyped(asked: Inquiry) -> dict[str, str]:
    """A question as it was typed."""
    from sordino.planner.code import typed

    given = {"statistic": asked.statistic.name}
    for field in fields.asked(type(asked.statistic)):
        value = getattr(asked.statistic, field.name)
        if value is not None and (fields.required(field) or value != field.default):
            given[field.name] = typed(value)
    for name, value in asked.price.to_dict().items():
        if name != "kind":
            given[name] = str(value)
    if asked.by is not None:
        given |= {"by": asked.by[0], "by_keys": ",".join(map(str, asked.by[1]))}
    if asked.interval is not None:
        given |= {"bar": asked.interval.target, "interval": f"{100 * asked.interval.level:g}"}
    return given | ({"purpose": asked.purpose} if asked.purpose else {})


ROUTES = [
    Route("/ask", show),
    Route("/ask", draft, methods=["POST"]),
    Route("/ask/{token}", check),
    Route("/ask/{token}/expected", expected),
    Route("/ask/{token}/release", releasing.release, methods=["POST"]),
]
