"""Data: which files are there, what their columns are called, and the public description of each. No row is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from sordino import fields
from sordino.errors import LedgerError, ParameterError, SordinoError
from sordino.explain import odds, whom
from sordino.ledger import Ledger
from sordino.privacy import Neighbors, Unit
from sordino.web import forms
from sordino.web.dataset import ColumnDescription, Dataset
from sordino.web.office import LEDGER, Office, _slug
from sordino.web.view import office, page, person, see
from sordino.web.view import typed as read_form

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_COLUMNS = 200


def show(request: Request) -> Response:
    """The files of the folder and the datasets that are declared."""
    house = office(request)
    declared = house.datasets()
    by_path = {made.data: made for made in declared.values()}
    files = [] if house.shared else [
        {"id": key, "name": str(path.relative_to(house.folder)), "dataset": by_path.get(str(path))}
        for key, path in house.files().items()
    ]  # fmt: skip
    listed = [{"dataset": made, "whom": whom(made.unit, made.neighbors)} for made in declared.values()]
    return page(
        request, "data.html", files=files, listed=listed, problems=house.problems(), folder=house.folder.name
    )


def describe(request: Request) -> Response:
    """The form that describes a file."""
    house = office(request)
    path = _file(house, request)
    kept = next((made for made in house.datasets().values() if made.data == str(path)), None)
    return _form(request, path, _typed(kept, path), None)


def _typed(kept: Dataset | None, path: Path) -> dict[str, str]:
    """What stands in the form at first: nothing that would have to be guessed."""
    if kept is None:
        return {"name": _slug(path.name.partition(".")[0])}
    given = {
        "name": kept.name,
        "whom": "rows" if kept.unit.column is None else "column",
        "unit": kept.unit.column or "",
        "max_rows": str(kept.unit.max_rows),
        "neighbors": kept.neighbors.value,
        "rows": "" if kept.rows is None else str(kept.rows),
        "row": kept.row or "",
        "decimal": kept.decimal,
        "ledger": Path(kept.ledger).name,
    }
    for name, column in kept.columns.items():
        for part, value in column.to_dict().items():
            given[f"{part}:{name}"] = forms.spelled(value)
    return given


def _form(request: Request, path: Path, typed: dict[str, str], problem: SordinoError | None) -> Response:
    house = office(request)
    missing: SordinoError | None = None
    try:
        found = list(house.columns(path).items())[:MOST_COLUMNS]
    except SordinoError as error:
        found, missing = [], error
    ledgers = [(Path(one.name).name, one) for one in house.ledgers().values() if "://" not in one.name]
    return page(
        request,
        "describe.html",
        status=200 if problem is None else 422,
        file=path.name,
        id=request.path_params["id"],
        columns=found,
        missing=missing,
        typed=typed,
        problem=problem,
        ledgers=ledgers,
        text=path.name.lower().endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")),
        odds=odds,
    )


async def save(request: Request) -> Response:
    """Keep the description, and begin the ledger when it is new."""
    typed = await read_form(request)
    return await run_in_threadpool(_save, request, typed)


def _save(request: Request, typed: dict[str, str]) -> Response:
    house, who = office(request), person(request)
    who.must("declare")
    path = _file(house, request)
    try:
        made = _dataset(house, path, typed)
        _check_columns(house, path, made)
        _ledger(house, made, typed)
        house.save(made, path)
    except SordinoError as error:
        return _form(request, path, typed, error)
    house.desk.note(who.name, who.via, who.address, "describe", made.name, "saved")
    return see(f"/ask?data={made.name}")


def _dataset(house: Office, path: Path, typed: dict[str, str]) -> Dataset:
    """The declaration that was filled in."""
    kind = typed.get("whom", "")
    if kind not in ("rows", "column") or (kind == "column" and not typed.get("unit")):
        raise ParameterError(
            "unit", "say whom to protect", got={"whom": kind}, hint="tick one of the two",
            why="There is no default: it decides what the promise means.",
        )  # fmt: skip
    unit = Unit()
    if kind == "column":
        unit = Unit(
            typed["unit"], max_rows=forms.whole("max_rows", typed.get("max_rows", "") or "1", most=10**9)
        )
    columns = {}
    for name in {key.partition(":")[2] for key in typed if ":" in key}:
        found = _column(name, typed)
        if found != ColumnDescription():
            columns[name] = found
    rows = typed.get("rows", "").strip()
    ledger = typed.get("ledger", "")
    name = typed.get("name", "").strip()
    if ledger not in ("", "new") and ledger not in {Path(one.name).name for one in house.ledgers().values()}:
        raise ParameterError(
            "ledger", "there is no such ledger here", got={"ledger": ledger}, hint="begin a new one"
        )
    place = house.folder / (ledger if ledger and ledger != "new" else f"{_slug(name)}{LEDGER}")
    return Dataset(
        name=name,
        data=str(path.relative_to(house.folder)),
        ledger=str(place.relative_to(house.folder)),
        unit=unit,
        neighbors=Neighbors.of(typed.get("neighbors") or "replace-one"),
        rows=forms.whole("rows", rows, most=10**12) if rows else None,
        row=typed.get("row") or None,
        decimal="," if typed.get("decimal") == "," else ".",
        columns=dict(sorted(columns.items())),
    )


def _column(name: str, typed: dict[str, str]) -> ColumnDescription:
    def number(part: str) -> float | None:
        text = typed.get(f"{part}:{name}", "").strip()
        return fields.real(f"{part}:{name}", text) if text else None

    keys: tuple[Any, ...] = tuple(
        key.strip() for key in typed.get(f"keys:{name}", "").split(",") if key.strip()
    )
    if keys and all(key.lstrip("-").isdigit() for key in keys):
        keys = tuple(int(key) for key in keys)
    made = ColumnDescription(
        typed.get(f"label:{name}", "").strip()[:200], number("low"), number("high"), number("step"), keys
    )
    if made.low is not None and made.high is not None and not made.low < made.high:
        raise ParameterError(
            name, "high must be greater than low", got={f"low:{name}": made.low, f"high:{name}": made.high},
            why="The range is public and fixes how far one person can move the answer.",
        )  # fmt: skip
    return made


def _check_columns(house: Office, path: Path, made: Dataset) -> None:
    known = house.columns(path)
    named = [
        *made.columns,
        *([made.unit.column] if made.unit.column else []),
        *([made.row] if made.row else []),
    ]
    if unknown := [name for name in named if name not in known]:
        raise ParameterError(
            "data", "there is no such column", got={"column": unknown[0]}, hint="reload the page"
        )


def _ledger(house: Office, made: Dataset, typed: dict[str, str]) -> None:
    """Begin the ledger, when it is new; one that exists must protect the same unit."""
    place = house.folder / made.ledger
    if place.resolve().parent != house.folder:
        raise ParameterError("ledger", "a ledger lies in the folder itself", got={"ledger": made.ledger})
    if Ledger.exists(place):
        with Ledger(place) as kept:
            if kept.unit.column != made.unit.column:
                raise LedgerError(
                    "ledger", "this ledger protects others", why="Prices about different units do not add up.",
                    got={"ledger": kept.unit.column or "one row", "asked": made.unit.column or "one row"},
                    hint="begin a new ledger",
                )  # fmt: skip
        return
    budget = {name: typed.get(f"budget_{name}", "").strip() or None for name in forms.PRICES}
    if not any(budget.values()):
        raise ParameterError(
            "ledger", "how much may ever be spent must be filled in", got={"budget_epsilon": ""},
            why="There is no default budget: what may be spent in all is yours to say.", hint="3",
        )  # fmt: skip
    reason = typed.get("reason", "").strip() or f"releases from {made.name}"
    Ledger.create(
        place, fields.guarantee(dict(budget)), reason=reason, neighbors=made.neighbors, unit=made.unit,
        user=house.owner,
    ).close()  # fmt: skip


def _file(house: Office, request: Request) -> Path:
    found = None if house.shared else house.files().get(request.path_params["id"])
    if found is None:
        raise HTTPException(404)
    return found


ROUTES = [
    Route("/data", show),
    Route("/data/{id}", describe),
    Route("/data/{id}", save, methods=["POST"]),
]
