"""Run every law of a statistic, noise family, mechanism, sampler or source: ours, or a plug-in's."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import click

from sordino.cli import render
from sordino.cli.options import json_option
from sordino.errors import AuditFailed


@click.command(
    name="check",
    epilog="Example: sordino check my_package.MyStatistic, or: sordino check median",
)
@click.argument("name", metavar="CLASS")
@json_option
def command(name: str, as_json: bool) -> None:
    """Run the laws of CLASS, given as package.Class or by its name in the catalogue.

    The package is looked for in the working folder too. Exit code 0 where all hold, 4 where one does not.
    """
    from sordino.testing.check import check

    if "." in name:
        sys.path.insert(0, str(Path.cwd()))  # a console script does not look beside itself for my_package
    found = []
    for verdict in check(name):
        found.append(verdict)
        if not as_json:
            mark = "holds" if verdict.holds else "BROKEN"
            click.echo(f"{mark:7} {verdict.seconds:6.1f} s  {verdict.law}")
            for problem in verdict.problems:
                click.echo(textwrap.indent(problem, " " * 18))
    if as_json:
        render.as_json(
            [
                {"law": one.law, "holds": one.holds, "problems": list(one.problems), "seconds": one.seconds}
                for one in found
            ]
        )
    broken = [one.law for one in found if not one.holds]
    if broken:
        raise AuditFailed(
            name, f"{len(broken)} of {len(found)} laws do not hold", hint="the lines above say where"
        )
