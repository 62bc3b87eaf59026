"""Audit a release from outside: real runs on the worst pair of tables that the replay finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sordino.cli import render
from sordino.cli.options import hint_options, hints_of, json_option
from sordino.errors import AuditFailed, ParameterError

if TYPE_CHECKING:
    from sordino.statistics import Case, Statistic


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
    default=None,
    help="Which tables are compared: replace-one, add-remove-one, edge or node; the statistic's first if not said.",
)
@json_option
def command(
    statistic: str,
    epsilon: float,
    delta: float,
    rows: int,
    runs: int | None,
    confidence: float,
    relation: str | None,
    as_json: bool,
    **hints: Any,
) -> None:
    """Release STATISTIC many times from two neighbouring tables and bound epsilon from below.

    Prints "not refuted" or "REFUTED", never "private". Exit code 4 where the promise is refuted. Runs that would not
    refute 20 % less noise, which the last line says, have no power.
    """
    from sordino import catalogue
    from sordino.privacy import Approx, Pure
    from sordino.testing.audit import audit_default, checked

    checked(epsilon=epsilon, delta=delta, runs=runs, confidence=confidence, rows=rows)
    case = _case(statistic, catalogue.statistic(statistic), relation)
    price = Approx(epsilon, delta) if delta else Pure(epsilon)

    with render.progress("releasing", 100) as advance:
        found = audit_default(
            case, price, rows=rows, runs=runs, confidence=confidence, hints=hints_of(hints),
            progress=render.percent(advance),
        )  # fmt: skip
    if as_json:
        neighbors = case.statistic.neighbors.value
        render.as_json({"statistic": statistic, "neighbors": neighbors, **found.to_dict()})
    else:
        click.echo(str(found))
    if found.refuted:
        raise AuditFailed(statistic, "its promise is refuted", hint="sordino check says which law is broken")


def _case(name: str, kind: type[Statistic], relation: str | None) -> Case:
    """The tiny world of a statistic in a relation, the first that it has where none is named."""
    known = {case.statistic.neighbors.value: case for case in reversed(list(kind.cases()))}
    known = {one.value: known[one.value] for one in kind.relations if one.value in known}
    if not known:
        raise ParameterError(
            "audit", "the statistic has no tables of its own", got={"statistic": name},
            why="Its author has not said on which small tables it can be tried.",
            hint="sd.audit of Python takes two tables and anything that can be called with them",
        )  # fmt: skip
    if relation is not None and relation not in known:
        raise ParameterError(
            "audit", f"neighbors of {name} must be {' or '.join(known)}", got={"neighbors": relation},
            why="They are the pairs of tables that its promise is about.", hint=f"--neighbors {next(iter(known))}",
        )  # fmt: skip
    return known[relation or next(iter(known))]


for option in reversed(hint_options({"rows"})):
    command = option(command)
