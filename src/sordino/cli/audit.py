"""Audit a release from outside: real runs on the worst pair of tables that the replay finds."""

from __future__ import annotations

from typing import Any

import click

from sordino.cli import render
from sordino.cli.options import hint_options, hints_of, json_option
from sordino.errors import AuditFailed, ParameterError


@click.command(name="audit", epilog="Example: sordino audit median --epsilon 1")
@click.argument("statistic")
@click.option("--epsilon", type=float, required=True, help="The promise that is audited.")
@click.option(
    "--delta",
    type=float,
    default=0.0,
    show_default=True,
    help="The delta of the promise that is audited; 0 for a pure one.",
)
@click.option(
    "--rows",
    type=int,
    default=80,
    show_default=True,
    help="Rows that are declared, and of the longest tables.",
)
@click.option(
    "--runs", type=int, default=None, help="Releases from each table; as many as refute 20 % less noise."
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence of the lower bound on epsilon.",
)
@click.option(
    "--neighbors",
    "relation",
    default="replace-one",
    show_default=True,
    help="Which tables are compared: replace-one or add-remove-one.",
)
@json_option
def command(
    statistic: str,
    epsilon: float,
    delta: float,
    rows: int,
    runs: int | None,
    confidence: float,
    relation: str,
    as_json: bool,
    **hints: Any,
) -> None:
    """Release STATISTIC many times from two neighbouring tables and bound epsilon from below.

    Prints "not refuted" or "REFUTED", never "private". Exit code 4 where the promise is refuted.
    """
    from sordino import catalogue
    from sordino.privacy import Approx, Pure
    from sordino.testing.audit import audit_default

    kind = catalogue.statistic(statistic)
    cases = [case for case in kind.cases() if case.statistic.neighbors.value == relation]
    if not cases:
        raise ParameterError("audit", "the statistic has no such relation", got={"neighbors": relation})
    price = Approx(epsilon, delta) if delta else Pure(epsilon)

    with render.progress("releasing", 100) as advance:
        found = audit_default(
            cases[0], price, rows=rows, runs=runs, confidence=confidence, hints=hints_of(hints),
            progress=render.percent(advance),
        )  # fmt: skip
    if as_json:
        render.as_json(
            {"refuted": found.refuted, "lower": found.lower, "epsilon": found.epsilon, "runs": found.runs}
        )
    else:
        click.echo(str(found))
    if found.refuted:
        raise AuditFailed(statistic, "its promise is refuted", hint="sordino check says which law is broken")


for option in reversed(hint_options({"rows"})):
    command = option(command)
