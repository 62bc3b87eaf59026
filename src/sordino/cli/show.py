"""List what can be asked for: noise families and what each promises."""

from __future__ import annotations

import click

from sordino.cli import render
from sordino.cli.options import json_option


@click.group(name="show")
def command() -> None:
    """List what can be asked for, by name."""


@command.command()
@json_option
def noise(as_json: bool) -> None:
    """List the noise families, their shapes and the guarantees they are calibrated for."""
    from dataclasses import fields

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
