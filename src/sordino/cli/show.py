"""List what can be asked for: statistics, mechanisms, noise families and what each promises."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import click

from sordino.cli import render
from sordino.cli.options import json_option


@click.group(name="show")
def command() -> None:
    """List what can be asked for, by name."""


def _summary(kind: type[Any]) -> str:
    """Take the first line of a class's docstring."""
    return (kind.__doc__ or "").strip().split("\n")[0].replace("``", "")


@command.command()
@json_option
def noise(as_json: bool) -> None:
    """List the noise families, their shapes and the guarantees they are calibrated for."""
    from sordino.catalogue import noise_families

    entries = [
        {
            "name": name,
            "shape": [field.name for field in fields(family)],
            "guarantees": [kind.__name__ for kind in family.promises()],
            "summary": family.summary,
        }
        for name, family in noise_families().items()
    ]
    if as_json:
        render.as_json(entries)
        return
    render.table(
        ["noise", "shape", "guarantees", "what it is"],
        [
            [e["name"], ", ".join(e["shape"]) or "-", ", ".join(e["guarantees"]), e["summary"]]
            for e in entries
        ],
        note="next: sordino noise polyplace --epsilon 1 --smoothing 0.2",
    )


@command.command()
@json_option
def statistics(as_json: bool) -> None:
    """List the statistics, what each must be told, and the neighbours it protects."""
    from sordino.catalogue import statistics as kinds

    entries = []
    catalogue: dict[str, Any] = dict(kinds())
    for name, kind in catalogue.items():
        needed = [
            f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING and f.init
        ]
        entries.append(
            {
                "name": name,
                "needs": needed,
                "neighbors": [relation.value for relation in kind.relations],
                "summary": _summary(kind),
            }
        )
    if as_json:
        render.as_json(entries)
        return
    render.table(
        ["statistic", "must be told", "neighbours", "what it is"],
        [[e["name"], ", ".join(e["needs"]) or "-", ", ".join(e["neighbors"]), e["summary"]] for e in entries],
    )


@command.command()
@json_option
def mechanisms(as_json: bool) -> None:
    """List the mechanisms, what each reads of the data, and the page of its proof."""
    from sordino.catalogue import mechanisms as kinds

    entries = [
        {"name": name, "reads": list(kind.needs), "proof": kind.proof, "summary": _summary(kind)}
        for name, kind in kinds().items()
    ]
    if as_json:
        render.as_json(entries)
        return
    render.table(
        ["mechanism", "reads", "proof", "what it is"],
        [[e["name"], ", ".join(e["reads"]), f"docs/proofs/{e['proof']}.md", e["summary"]] for e in entries],
    )


@command.command()
def schema() -> None:
    """Print the JSON schema of a release, with its version."""
    from sordino.session.release import Release

    render.as_json(Release.schema())
