"""The dry run of a release: the question as the ledger would put it, its price and its expected error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.cli import render
from sordino.cli.answers import chosen

if TYPE_CHECKING:
    from sordino.privacy import Neighbors, Unit


def dry_run(
    statistic: Any,
    price: Any,
    conditions: tuple[Any, ...],
    asking: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """Show the question with the ledger's own unit and relation; nothing is spent and no value is read."""
    from sordino.explain import asked, whom
    from sordino.labels import statistics
    from sordino.planner.expected import expected, named
    from sordino.planner.report import short
    from sordino.session.quote import prepare

    unit, neighbors, account = _ledger(options)
    hints = dict(asking)
    by, interval = hints.pop("by"), hints.pop("interval")
    rows, counted = _rows(options, unit, neighbors, hints.pop("rows", None))
    given: dict[str, Any] = {
        "neighbors": neighbors,
        "unit": unit,
        "rows": rows,
        "where": conditions,
        "by": by,
        "interval": interval,
        "hints": hints,
    }
    question = prepare(statistic, price, **given)
    if options.get("mechanism"):
        mechanism = named(options["mechanism"], question, price, rows, {**hints, **_bar(interval)})
        question = prepare(statistic, price, mechanism=mechanism, **given)
    event = question.event
    errors = []
    if rows is not None:
        with render.progress("expected error", 100) as advance:
            errors = expected(question, rows, progress=render.percent(advance))
    if chosen(options) == "json":
        figures = [None if one is None else {"rms": one.rms, "quantile_90": one.most} for one in errors]
        render.as_json(
            {
                "event": event.to_dict(),
                "assumptions": question.assumptions,
                "rows": rows,
                "expected_error": figures,
            }
        )
        return
    each = " in each group" if event.by is not None else ""
    told = [
        f"{name}: rms {short(one.rms)}, 9 in 10 within {short(one.most)}{each}"
        if one
        else f"{name}: not known"
        for name, one in zip(statistics(event), errors, strict=False)
    ] or [
        "not known without the number of rows, roughly: --rows 20000 (that of the data is private)"
        if options["data"] and not counted
        else "not known without the number of rows: --rows 20000, or --data FILE"
    ]
    render.block(
        [
            ("asks", asked(event)),
            ("protects", whom(event.unit, event.neighbors)),
            ("promises", event.guarantee.words),
            ("costs", repr(event.guarantee)),
            *account(event),
            ("mechanism", ", ".join(part.mechanism.label for part in question.parts)),
            *(("expected error", line) for line in told),
            *([("", "on generated columns that suit the bounds, not on these data")] if errors else []),
            *(("rests on", sentence) for sentence in question.assumptions),
        ],
        title="dry run: nothing was spent, "
        + (
            "and of the data only the public number of rows was read"
            if counted
            else "and no data were touched"
        ),
    )


def _bar(interval: float | None) -> dict[str, Any]:
    return {} if interval is None else {"interval": interval}


def _ledger(options: dict[str, Any]) -> tuple[Unit, Neighbors, Any]:
    """The unit and the relation of the ledger, unless the line names others; and what the ledger would have left."""
    from sordino.ledger import Ledger
    from sordino.ledger.account import left
    from sordino.privacy import Neighbors, Unit

    unit, neighbors = Unit(), Neighbors.REPLACE_ONE

    def account(event: Any) -> list[tuple[str, Any]]:
        del event
        return [("ledger", "none was found: one row is taken to be one person unless --unit says otherwise")]

    if options["location"] and Ledger.exists(options["location"]):
        with Ledger(options["location"]) as ledger:
            unit, neighbors, budget, remaining = (
                ledger.unit,
                ledger.neighbors,
                ledger.budget,
                ledger.remaining,
            )

        def account(event: Any) -> list[tuple[str, Any]]:
            with Ledger(options["location"]) as ledger:
                cost = ledger.cost(event)
            enough = cost.within(remaining)
            after = (
                f"{left(remaining, cost)!r} of {budget!r}" if enough else f"not enough: {remaining!r} is left"
            )
            return [("leaves", after)]

    rows = unit.max_rows if options["max_rows"] is None else options["max_rows"]
    unit = Unit(options["unit"] or unit.column, max_rows=rows)
    return unit, Neighbors(options["neighbors"]) if options["neighbors"] else neighbors, account


def _rows(
    options: dict[str, Any], unit: Unit, neighbors: Neighbors, rows: int | None
) -> tuple[int | None, bool]:
    """The number of rows: as told, or counted where it is public and the file is there."""
    from sordino.session.opening import counting, rows_for, source_for

    data = options["data"]
    if rows is not None or not data or not Path(data).is_file() or not counting(neighbors, unit):
        return rows, False
    _, counted = source_for(
        data,
        unit,
        counting=True,
        row=options["row_order"],
        numbers=options["numbers"].split(",") if options["numbers"] else (),
        decimal=options["decimal"],
        quoted_line_breaks=options["quoted_line_breaks"],
    )
    return rows_for(None, counted, neighbors), counted is not None
