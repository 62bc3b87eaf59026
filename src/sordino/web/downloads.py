"""Answers as files: JSON, CSV, a notebook, a script. Nothing is executed: a notebook holds the stored answer."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from sordino.explain import asked
from sordino.statistics import Statistic
from sordino.web.question import Inquiry

if TYPE_CHECKING:
    from sordino.session.release import Release
    from sordino.web.dataset import Dataset

RUN = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for the beginning of a formula."""


def file(text: str, name: str, media: str) -> Response:
    """A file to be saved, never shown."""
    return Response(text, media_type=media, headers={"content-disposition": f'attachment; filename="{name}"'})


def table(made: Release, datasets: Sequence[Dataset]) -> str:
    """The answers as CSV; text that a spreadsheet would run is kept from it.

    Example:
        >>> safe("=1+1"), safe("-5.5"), safe("north")
        ("'=1+1", '-5.5', 'north')
    """
    del datasets
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    for row in csv.reader(io.StringIO(made.to_csv())):
        writer.writerow([safe(cell) for cell in row])
    return written.getvalue()


def safe(cell: str) -> str:
    """A cell that is shown and not run; numbers stay numbers."""
    try:
        float(cell)
    except ValueError:
        return "'" + cell if cell.startswith(RUN) else cell
    return cell


def record(made: Release, datasets: Sequence[Dataset]) -> str:
    """The release as JSON."""
    del datasets
    return made.to_json()


def script(made: Release, datasets: Sequence[Dataset]) -> str:
    """The same release in Python."""
    event = made.event
    name = str((event.data or {}).get("name", ""))
    dataset = next((one for one in datasets if one.name == name), None)
    statistics = event.statistic
    if statistics.get("kind") == "batch":
        return (
            f"# {' '.join(asked(event).split())}: several statistics in one release, see the JSON document\n"
        )
    # The relation is the session's to decide: groups and filters are read in another than they are asked in.
    plain = {name: value for name, value in statistics.items() if name != "neighbors"}
    question = Inquiry(
        statistic=Statistic.from_dict(plain),
        price=event.guarantee,
        by=None if event.by is None else groups(event.by),
        where=tuple(f"{each['column']} {each['op']} {each['value']}" for each in event.where),
        scale="shared" if event.by is not None and "shared" in event.by else "own",
    )
    return question.python(dataset, token=made.token)


def groups(by: Mapping[str, Any]) -> tuple[Any, Any]:
    """Columns and keys of a split, as they were asked.

    Example:
        >>> groups({"columns": ["a", "b"], "levels": [["x", "y"], [1]], "listed": [[1, 0]]})
        (['a', 'b'], (('y', 1),))
    """
    columns = by["column"] if "column" in by else list(by["columns"])
    if by.get("discovery") is not None:
        from sordino import discover

        return columns, discover(**by["discovery"])
    if "column" in by:
        return columns, tuple(by["keys"])
    if by.get("listed") is None:
        return columns, dict(zip(by["columns"], map(list, by["levels"]), strict=True))
    listed = (zip(by["levels"], one, strict=True) for one in by["listed"])
    return columns, tuple(tuple(level[place] for level, place in pairs) for pairs in listed)


def notebook(made: Release, datasets: Sequence[Dataset]) -> str:
    """A notebook with the code and, as its output, the answer that was released; run with its token it pays nothing."""
    code, told, title = script(made, datasets), str(made) + "\n", escaped(asked(made.event))
    cells: list[dict[str, Any]] = [
        _words(f"# {title}\n\nRelease {made.ledger_id}, paid {made.at[:16]} UTC. The output below is the "
               "stored answer; nothing was executed to write this notebook."),
        {"cell_type": "code", "execution_count": None, "metadata": {}, "source": code.splitlines(keepends=True),
         "outputs": [{"name": "stdout", "output_type": "stream", "text": told.splitlines(keepends=True)}]},
        _words("\n".join(f"    {line}" for line in made.explain().splitlines())),
    ]  # fmt: skip
    return json.dumps(
        {
            "cells": cells,
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 4,
        },
        indent=1,
    )


def escaped(text: str) -> str:
    r"""A text on one line of Markdown that is shown as it is: no markup, no links, no pictures.

    Example:
        >>> escaped("<b>[a](x)")
        '&lt;b&gt;\\[a\\]\\(x\\)'
    """
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


KINDS: dict[str, Callable[[Any, Any], str]] = {"json": record, "csv": table, "py": script, "ipynb": notebook}
MEDIA = {
    "json": "application/json",
    "csv": "text/csv",
    "py": "text/x-python",
    "ipynb": "application/x-ipynb+json",
}
