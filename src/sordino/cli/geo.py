"""Statistics of points that were never collected: plan, report on a device, collect, estimate, map.

A question is named by its kind and fields: disc centre=0,0 radius=1km; threshold at=100000; kernel-density at=0,0
bandwidth=500m. Places are metres on the map, or degrees that end so: at=-73.97deg,40.74deg.
"""

from __future__ import annotations

import importlib

import click

_VERBS = {
    "plan": "plan",
    "head": "head",
    "report": "report",
    "collect": "collect",
    "estimate": "estimate",
    "map": "map",
    "check-client": "check_client",
}


class GeoVerbs(click.Group):
    """The commands of `geo_verbs`, imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands in the order of their use."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in _VERBS:
            return None
        made = importlib.import_module(f"sordino.cli.geo_verbs.{_VERBS[cmd_name]}").command
        assert isinstance(made, click.Command)
        return made


@click.command(cls=GeoVerbs)
def command() -> None:
    """Statistics of points that were never collected, with a promise per distance.

    Each device sends its point once, moved by noise; maps, counts and any smooth question are answered from the same
    reports later. A question fixed beforehand can be answered by the device instead, with noise fitted to it.
    """
